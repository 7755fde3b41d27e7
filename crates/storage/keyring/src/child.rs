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
//! - buffers-zeroed: input and answer are held in buffers that do not move and are zeroed.

use std::io::{self, PipeReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use crate::key_error::ServiceFailure;
use crate::platform::ProcessGroup;
use crate::thread::spawn;

/// What a program answered.
pub struct Answer {
    /// Its stdout, and its stderr in the order in which they were written, if that was asked for.
    pub output: Zeroizing<Vec<u8>>,
    /// Its exit status.
    pub status: ExitStatus,
}

/// Whether a program's stderr belongs to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stderr {
    /// It does.
    Answer,
    /// It is not read.
    Ignored,
}

/// Runs a command and writes `input` to its stdin. The command's own streams are replaced.
///
/// # Errors
/// `Io`, `TimedOut`, `AnswerTooLong` (64 KiB).
pub fn run(command: Command, stderr: Stderr, input: &[u8], time_limit: Duration) -> Result<Answer, ServiceFailure> {
    let started = Instant::now();
    let running = Running::start(command, stderr, input).map_err(ServiceFailure::Io)?;
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
            Ok(Event::Ended) => {
                ended = Some(Instant::now());
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
    /// Signalled, or dropped, when the command may be reaped.
    reap: Sender<()>,
    status: Receiver<io::Result<ExitStatus>>,
    is_finished: bool,
}

enum Event {
    /// What it has written since the last one; nothing at the end.
    Read(io::Result<Zeroizing<Vec<u8>>>),
    /// The command has exited, and can be reaped.
    Ended,
}

impl Running {
    fn start(mut command: Command, stderr: Stderr, input: &[u8]) -> io::Result<Self> {
        let (answer, writer) = io::pipe()?;
        match stderr {
            Stderr::Answer => command.stderr(writer.try_clone()?),
            Stderr::Ignored => command.stderr(Stdio::null()),
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
            reap,
            status,
            is_finished: false,
        };
        let ended = sender.clone();
        spawn(move || wait(child, group, &ended, &may_reap, &status_sender))?;
        let stdin = stdin.ok_or_else(lost)?;
        let input = Zeroizing::new(input.to_vec());
        spawn(move || feed(stdin, &input))?;
        spawn(move || drain(answer, &sender))?;
        Ok(running)
    }

    fn kill(&self) {
        self.group.kill();
    }

    /// Reaps a command that has exited.
    fn finish(mut self, output: Zeroizing<Vec<u8>>) -> Result<Answer, ServiceFailure> {
        self.is_finished = true;
        // If the thread has ended, the next line reports it.
        let _ = self.reap.send(());
        let status = self.status.recv().map_err(|_| ServiceFailure::Io(lost()))?;
        let status = status.map_err(ServiceFailure::Io)?;
        Ok(Answer { output, status })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_finished {
            self.kill();
        }
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

/// Waits for the command, reaps it when that is allowed, and sends its status.
fn wait(
    mut child: Child,
    group: ProcessGroup,
    ended: &Sender<Event>,
    may_reap: &Receiver<()>,
    status: &Sender<io::Result<ExitStatus>>,
) {
    group.wait_for_leader();
    let _ = ended.send(Event::Ended);
    let _ = may_reap.recv();
    let _ = status.send(child.wait());
}

fn lost() -> io::Error {
    io::Error::other("lost sight of it")
}

/// What a command wrote before it ended is read long before that.
const LEFT_OPEN: Duration = Duration::from_secs(1);

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
        assert_eq!(answer.status.code(), Some(3));
        assert_eq!(of(script, Stderr::Ignored).output.as_slice(), b"input\nout\n");
    }
}
