//! Runs an external command, which may hang, return wrong data, produce endless output or leave children behind.
//!
//! - returns-in-time: [`run`] returns within the time limit, whatever the command does. Three
//!   threads perform the blocking calls. The thread that waits for the command owns it, so that it
//!   is always reaped, and never before its group was killed or has ended: its process id cannot
//!   have been reused.
//! - group-is-killed: the command leads its own process group. Whenever the command is abandoned,
//!   the whole group is killed; descendants that left the group cannot be killed.
//! - answer-is-the-command's: its answer is what it wrote before it ended. A descendant that left
//!   the group and keeps stdout open delays it by a second, and adds nothing that counts.
//! - status-may-be-lost: where SIGCHLD is ignored, the system reaps the command, and keeps no status (wait(2)). Its id may
//!   then be another's: nothing is killed any more.
//! - buffers-zeroed: input and answer are held in buffers that do not move and are zeroed.

use std::io::{self, PipeReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use crate::key_error::ServiceFailure;
use crate::platform::{ProcessGroup, is_status_lost};
use crate::thread::spawn;

/// What a program answered.
pub struct Answer {
    /// Its stdout, and its stderr in the order in which they were written, if that was asked for.
    pub output: Zeroizing<Vec<u8>>,
    /// Its exit status; `None` if this process ignores SIGCHLD: the system keeps none then.
    pub status: Option<ExitStatus>,
    /// The last line of its stderr that is not empty, if that was asked for and it failed: printable, and cut at 200
    /// characters.
    pub last_line: String,
}

/// Whether a program's stderr belongs to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stderr {
    /// It does.
    Answer,
    /// It is not read.
    Ignored,
    /// Its last line is kept, apart from the answer.
    LastLine,
}

/// Runs a command and writes `input` to its stdin. The command's own streams are replaced.
///
/// # Errors
/// `Io`, `TimedOut`, `AnswerTooLong` (64 KiB).
pub fn run(command: Command, stderr: Stderr, input: &[u8], time_limit: Duration) -> Result<Answer, ServiceFailure> {
    let started = Instant::now();
    let mut running = Running::start(command, stderr, input).map_err(ServiceFailure::Io)?;
    let mut answer = Zeroizing::new(Vec::with_capacity(ANSWER_SIZE_MAX));
    let (mut is_whole, mut ended) = (false, None::<Instant>);
    loop {
        let left = time_limit.saturating_sub(started.elapsed());
        let left_open = ended.map(|ended| LEFT_OPEN.saturating_sub(ended.elapsed()));
        match running
            .events
            .recv_timeout(left_open.map_or(left, |open| open.min(left)))
        {
            Ok(Event::Read(part)) => {
                let part = part.map_err(ServiceFailure::Io)?;
                if answer.len() + part.len() > ANSWER_SIZE_MAX {
                    return Err(ServiceFailure::AnswerTooLong(ANSWER_SIZE_MAX));
                }
                is_whole = part.is_empty();
                answer.extend_from_slice(&part);
            }
            Ok(Event::Ended { is_reaped }) => {
                ended = Some(Instant::now());
                running.is_gone = is_reaped;
                // A remaining child may hold its stdout open forever.
                if !is_whole {
                    running.kill();
                }
            }
            Err(RecvTimeoutError::Timeout) if ended.is_some() => is_whole = true,
            Err(RecvTimeoutError::Timeout) => return Err(ServiceFailure::TimedOut(time_limit)),
            Err(RecvTimeoutError::Disconnected) => return Err(ServiceFailure::Io(lost())),
        }
        if is_whole && ended.is_some() {
            return running.finish(answer);
        }
    }
}

/// A running command. If it is dropped before [`Running::finish`], its group is killed.
struct Running {
    group: ProcessGroup,
    events: Receiver<Event>,
    /// The end of what it has written to stderr.
    messages: Arc<Mutex<Vec<u8>>>,
    /// Disconnected when stderr has ended.
    messages_ended: Receiver<()>,
    /// Signalled, or dropped, when the command may be reaped.
    reap: Sender<()>,
    status: Receiver<io::Result<Option<ExitStatus>>>,
    /// Its process id may be another's: it was reaped, or is about to be.
    is_gone: bool,
}

enum Event {
    /// What it has written since the last one; nothing at the end.
    Read(io::Result<Zeroizing<Vec<u8>>>),
    /// The command has exited, and can be reaped, unless the system has done that.
    Ended { is_reaped: bool },
}

impl Running {
    fn start(mut command: Command, stderr: Stderr, input: &[u8]) -> io::Result<Self> {
        let (answer, writer) = io::pipe()?;
        let (messages_open, messages_ended) = mpsc::channel();
        let mut message_pipe = None;
        match stderr {
            Stderr::Answer => command.stderr(writer.try_clone()?),
            Stderr::Ignored => command.stderr(Stdio::null()),
            Stderr::LastLine => {
                let (reader, writer) = io::pipe()?;
                message_pipe = Some(reader);
                command.stderr(writer)
            }
        };
        command.stdin(Stdio::piped()).stdout(writer);
        let (mut child, group) = ProcessGroup::spawn(&mut command)?;
        // It holds the end of the pipe for writing.
        drop(command);
        let stdin = child.stdin.take();
        let (sender, events) = mpsc::channel();
        let (reap, may_reap) = mpsc::channel();
        let (status_sender, status) = mpsc::channel();
        // A failure after this line drops `running`, which kills the group.
        let running = Self {
            group,
            events,
            messages: Arc::default(),
            messages_ended,
            reap,
            status,
            is_gone: false,
        };
        let ended = sender.clone();
        spawn(move || wait(child, group, &ended, &may_reap, &status_sender))?;
        let stdin = stdin.ok_or_else(lost)?;
        let input = Zeroizing::new(input.to_vec());
        spawn(move || feed(stdin, &input))?;
        spawn(move || drain(answer, &sender))?;
        if let Some(pipe) = message_pipe {
            let messages = Arc::clone(&running.messages);
            spawn(move || {
                let _open: Sender<()> = messages_open;
                keep_end(pipe, &messages);
            })?;
        }
        Ok(running)
    }

    fn kill(&self) {
        if !self.is_gone {
            self.group.kill();
        }
    }

    /// Reaps a command that has exited.
    fn finish(mut self, output: Zeroizing<Vec<u8>>) -> Result<Answer, ServiceFailure> {
        self.is_gone = true;
        // If the thread has ended, the next line reports it.
        let _ = self.reap.send(());
        let status = self.status.recv().map_err(|_| ServiceFailure::Io(lost()))?;
        let status = status.map_err(ServiceFailure::Io)?;
        let last_line = match status.is_some_and(|status| status.success()) {
            true => String::new(),
            false => {
                // A descendant may hold stderr open: then the end is not waited for any longer.
                let _ = self.messages_ended.recv_timeout(LEFT_OPEN);
                last_line(&lock(&self.messages))
            }
        };
        Ok(Answer {
            output,
            status,
            last_line,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Writes the input. Errors are ignored: a command that does not read all of it is judged by its answer.
fn feed(mut stdin: ChildStdin, input: &[u8]) {
    let _ = stdin.write_all(input);
}

/// Reads the answer. If the receiver is gone, the command was abandoned.
fn drain(mut pipe: PipeReader, sender: &Sender<Event>) {
    let mut buffer = Zeroizing::new([0; 4096]);
    loop {
        let read = match pipe.read(&mut *buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map(|size| Zeroizing::new(buffer[..size].to_vec())),
        };
        let goes_on = read.as_ref().is_ok_and(|part| !part.is_empty());
        if sender.send(Event::Read(read)).is_err() || !goes_on {
            return;
        }
    }
}

/// Reads messages to their end, and keeps the last 4 KiB of them.
fn keep_end(mut pipe: PipeReader, messages: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    loop {
        match pipe.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return,
            Ok(size) => {
                let mut kept = lock(messages);
                kept.extend_from_slice(&buffer[..size]);
                let surplus = kept.len().saturating_sub(buffer.len());
                kept.drain(..surplus);
            }
        }
    }
}

/// The last line that is not empty: printable, and cut at 200 characters.
fn last_line(messages: &[u8]) -> String {
    let text = String::from_utf8_lossy(messages);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    let shown = last.unwrap_or_default().chars().take(LINE_SIZE_MAX);
    shown
        .map(|shown| if shown.is_control() { '?' } else { shown })
        .collect()
}

fn lock(messages: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    messages.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the command, reaps it when that is allowed, and sends its status.
fn wait(
    mut child: Child,
    group: ProcessGroup,
    ended: &Sender<Event>,
    may_reap: &Receiver<()>,
    status: &Sender<io::Result<Option<ExitStatus>>>,
) {
    let is_reaped = group.wait_for_leader();
    let _ = ended.send(Event::Ended { is_reaped });
    let _ = may_reap.recv();
    let _ = status.send(match child.wait() {
        Err(error) if is_status_lost(&error) => Ok(None),
        waited => waited.map(Some),
    });
}

fn lost() -> io::Error {
    io::Error::other("lost sight of it")
}

/// What a command wrote before it ended is read long before that.
const LEFT_OPEN: Duration = Duration::from_secs(1);

/// Characters of a message that is part of an error, which is one line.
const LINE_SIZE_MAX: usize = 200;

/// 64 KiB: a wrapped key has at most 8 KiB, what a program says of itself is a line.
const ANSWER_SIZE_MAX: usize = 65536;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str, stderr: Stderr) -> Answer {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, stderr, b"input\n", Duration::from_secs(60)).unwrap()
    }

    // `provider/command/tests.rs` has what goes wrong.
    #[test]
    fn an_answer_has_stderr_if_that_is_asked_for() {
        let script = "cat; echo error >&2; echo out; exit 3";
        let answer = of(script, Stderr::Answer);
        assert_eq!(answer.output.as_slice(), b"input\nerror\nout\n");
        assert_eq!(answer.status.and_then(|status| status.code()), Some(3));
        assert_eq!(of(script, Stderr::Ignored).output.as_slice(), b"input\nout\n");
    }

    #[test]
    fn the_last_line_of_stderr_is_kept_apart_and_is_printable_and_short() {
        for (script, expected) in [
            ("cat; echo first >&2; echo 'the last' >&2; echo >&2; exit 3", "the last"),
            ("cat; printf 'no\\033[2J end' >&2; exit 3", "no?[2J end"),
            ("cat; exit 3", ""),
            ("cat; seq 5000 >&2; exit 3", "5000"),
            ("cat; echo warning >&2", ""),
        ] {
            let answer = of(script, Stderr::LastLine);
            assert_eq!(
                (answer.output.as_slice(), answer.last_line.as_str()),
                (&b"input\n"[..], expected)
            );
        }
        let long = of("head -c 9000 /dev/zero | tr '\\0' x >&2; exit 3", Stderr::LastLine);
        assert_eq!(long.last_line, "x".repeat(200));
        // A child that keeps it open keeps neither the answer nor the line back.
        let open = of("echo said >&2; sleep 5 >/dev/null & exit 3", Stderr::LastLine);
        assert_eq!(
            (open.status.and_then(|status| status.code()), open.last_line.as_str()),
            (Some(3), "said")
        );
    }
}
