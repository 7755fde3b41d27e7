//! One run of an external command, which may hang, lie, chatter or leave children behind.
//!
//! - returns-in-time: [`run`] returns within the time limit, whatever the command does. Three
//!   threads do what can block; the one that waits for the command owns it, so that it is always
//!   reaped, and never before its group was dealt with: its process id can't have become another's.
//! - group-is-killed: the command leads a process group of its own. Whenever it is given up, the
//!   whole group is killed; a descendant that left the group is beyond our reach.
//! - buffers-zeroed: stdin and stdout are held in buffers that do not move and are zeroed; stderr
//!   is not read at all.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use zeroize::Zeroizing;

use crate::key_error::ServiceFailure;
use crate::thread::spawn;

/// Runs `argv... verb`, gives it `input` on stdin, and returns its stdout if it ends with status 0.
pub fn run(
    argv: &[String],
    verb: &str,
    input: &[u8],
    time_limit: Duration,
) -> Result<Zeroizing<Vec<u8>>, ServiceFailure> {
    let started = Instant::now();
    let running = Running::start(argv, verb, input).map_err(ServiceFailure::Io)?;
    let mut answer = None;
    let mut has_ended = false;
    loop {
        match running
            .events
            .recv_timeout(time_limit.saturating_sub(started.elapsed()))
        {
            Ok(Event::Answer(read)) => {
                let bytes = read.map_err(ServiceFailure::Io)?;
                if bytes.len() > ANSWER_SIZE_MAX {
                    return Err(ServiceFailure::AnswerTooLong(ANSWER_SIZE_MAX));
                }
                answer = Some(bytes);
            }
            Ok(Event::Ended) => has_ended = true,
            Err(RecvTimeoutError::Timeout) => return Err(ServiceFailure::TimedOut(time_limit)),
            Err(RecvTimeoutError::Disconnected) => return Err(ServiceFailure::Io(lost())),
        }
        match answer.take() {
            Some(bytes) if has_ended => return running.finish(bytes),
            Some(bytes) => answer = Some(bytes),
            // A child that it left behind may hold its stdout open for ever.
            None if has_ended => running.kill(),
            None => {}
        }
    }
}

/// A command under way. Dropped before [`Running::finish`], its group is killed.
struct Running {
    group: Pid,
    events: Receiver<Event>,
    /// Told, or dropped, when the command may be reaped.
    reap: Sender<()>,
    status: Receiver<io::Result<ExitStatus>>,
    is_finished: bool,
}

enum Event {
    /// All of stdout, or one byte more than may be read of it.
    Answer(io::Result<Zeroizing<Vec<u8>>>),
    /// The command has ended, and can be reaped.
    Ended,
}

impl Running {
    fn start(argv: &[String], verb: &str, input: &[u8]) -> io::Result<Self> {
        let (program, words) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(words)
            .arg(verb)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&child);
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (sender, events) = mpsc::channel();
        let (reap, may_reap) = mpsc::channel();
        let (status_sender, status) = mpsc::channel();
        // From here on a failure drops this, which kills the group.
        let running = Self {
            group,
            events,
            reap,
            status,
            is_finished: false,
        };
        let ended = sender.clone();
        spawn(move || wait(child, group, &ended, &may_reap, &status_sender))?;
        let (stdin, stdout) = pipes.ok_or_else(lost)?;
        let input = Zeroizing::new(input.to_vec());
        spawn(move || feed(stdin, &input))?;
        spawn(move || drain(stdout, &sender))?;
        Ok(running)
    }

    fn kill(&self) {
        // If it has gone already, that is what was wanted.
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    /// The answer of a command that has ended, if it ended well.
    fn finish(mut self, answer: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>, ServiceFailure> {
        self.is_finished = true;
        // Should the thread be gone, the next line says so.
        let _ = self.reap.send(());
        let status = self.status.recv().map_err(|_| ServiceFailure::Io(lost()))?;
        let status = status.map_err(ServiceFailure::Io)?;
        if status.success() {
            Ok(answer)
        } else {
            Err(ServiceFailure::Exited(status))
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_finished {
            self.kill();
        }
    }
}

/// Writes the input. A command that does not read it to its end is judged by what it answers.
fn feed(mut stdin: ChildStdin, input: &[u8]) {
    let _ = stdin.write_all(input);
}

/// Reads the answer. No one may be there to take it, or the next two threads' news: it was given up, then.
fn drain(stdout: ChildStdout, sender: &Sender<Event>) {
    let mut answer = Zeroizing::new(Vec::with_capacity(ANSWER_SIZE_MAX + 64));
    let limit = u64::try_from(ANSWER_SIZE_MAX).expect("64 KiB fits") + 1;
    let read = stdout.take(limit).read_to_end(&mut answer).map(|_| answer);
    let _ = sender.send(Event::Answer(read));
}

/// Waits for the command, leaves it unreaped until that is allowed, then reaps it.
fn wait(
    mut child: Child,
    group: Pid,
    ended: &Sender<Event>,
    may_reap: &Receiver<()>,
    status: &Sender<io::Result<ExitStatus>>,
) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    // Any other error (a program that ignores SIGCHLD, say) shows itself again when the command is reaped.
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(group), options) {}
    let _ = ended.send(Event::Ended);
    let _ = may_reap.recv();
    let _ = status.send(child.wait());
}

fn lost() -> io::Error {
    io::Error::other("lost sight of it")
}

/// 64 KiB: a wrapped key has at most 8, and a command that answers more is not doing this work.
const ANSWER_SIZE_MAX: usize = 65536;
