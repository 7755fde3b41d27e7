//! A process without requests that prints lines until it ends.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::failure::{DriveError, Failure};
use super::output_reader::{OutputLine, OutputReader};
use super::worker::{WorkerCommand, has_ended, kill, not_started};

/// The process, killed with its descendants on drop.
pub struct LinePrinter {
    program: PathBuf,
    child: Child,
    /// None after the process was killed.
    output: Option<OutputReader>,
    /// Its task, for error messages.
    task: &'static str,
}

/// The output of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintedLine {
    /// A line, without its terminator.
    Line(String),
    /// No line within the time limit.
    Timeout,
    /// It ended with success.
    End,
}

impl LinePrinter {
    /// Starts the process in a process group of its own: Ctrl-C in the terminal reaches only the parent. It must read
    /// all of `input` from its standard input before it prints.
    ///
    /// # Errors
    /// [`DriveError::NotStarted`].
    pub fn start(command: &WorkerCommand, task: &'static str, input: &[u8]) -> Result<Self, DriveError> {
        let spawned = Command::new(&command.program)
            .args(&command.args)
            .envs(&command.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let mut child = spawned.map_err(|source| not_started(command, source))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            kill(&mut child);
            return Err(not_started(command, std::io::ErrorKind::BrokenPipe.into()));
        };
        // One that ends without reading it says why in its output.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
        Ok(Self {
            program: command.program.clone(),
            child,
            output: Some(OutputReader::new(stdout, stderr)),
            task,
        })
    }

    /// Waits for the next line, at most `limit`.
    ///
    /// # Errors
    /// [`DriveError::Died`] if it ended without success; [`DriveError::Invalid`] for output that is
    /// not a line of text.
    pub fn next(&mut self, limit: Duration) -> Result<PrintedLine, DriveError> {
        let line = self
            .output
            .as_ref()
            .map_or(OutputLine::End, |output| output.next(limit));
        match line {
            OutputLine::Line(line) => Ok(PrintedLine::Line(line)),
            OutputLine::Timeout => Ok(PrintedLine::Timeout),
            OutputLine::Invalid(line) => Err(self.invalid("no line of text", line)),
            OutputLine::End => self.end(),
        }
    }

    /// Kills it because a line does not conform to the protocol.
    #[must_use]
    pub fn invalid(&mut self, what: &str, line: String) -> DriveError {
        let at = self.kill();
        DriveError::Invalid {
            at,
            what: what.to_owned(),
            line,
        }
    }

    /// Kills it because it exceeded a time limit.
    #[must_use]
    pub fn hung(&mut self, given: Duration) -> DriveError {
        DriveError::Hung { at: self.kill(), given }
    }

    /// Its exit status, after it closed its output.
    fn end(&mut self) -> Result<PrintedLine, DriveError> {
        // It is not reaped before its group is killed: until then its id cannot be reused.
        let deadline = Instant::now() + END_LIMIT;
        while !has_ended(&self.child) && Instant::now() < deadline {
            std::thread::sleep(TICK);
        }
        let at = self.kill();
        match self.child.wait() {
            Ok(status) if status.success() => Ok(PrintedLine::End),
            status => Err(DriveError::Died {
                at,
                status: status.map_or_else(|error| error.to_string(), |status| status.to_string()),
            }),
        }
    }

    fn kill(&mut self) -> Failure {
        let mut stderr = Vec::new();
        if let Some(output) = self.output.take() {
            kill(&mut self.child);
            stderr = output.close();
        }
        Failure {
            program: self.program.clone(),
            request: self.task,
            stderr,
        }
    }
}

impl Drop for LinePrinter {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The polling interval for the end of a process.
const TICK: Duration = Duration::from_millis(2);
/// A process that closed its standard output removes its files before it ends.
const END_LIMIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> LinePrinter {
        let command = WorkerCommand {
            args: vec!["-c".to_owned(), script.to_owned()],
            ..WorkerCommand::new("/bin/sh")
        };
        LinePrinter::start(&command, "test", b"given\n").unwrap()
    }

    fn next(printer: &mut LinePrinter) -> Result<PrintedLine, DriveError> {
        printer.next(Duration::from_secs(60))
    }

    #[test]
    fn lines_come_in_order_and_then_the_end() {
        let mut printer = shell("echo one; echo two");
        assert_eq!(next(&mut printer).unwrap(), PrintedLine::Line("one".to_owned()));
        assert_eq!(next(&mut printer).unwrap(), PrintedLine::Line("two".to_owned()));
        assert_eq!(next(&mut printer).unwrap(), PrintedLine::End);
    }

    #[test]
    fn the_input_is_what_it_reads_and_ends() {
        let mut printer = shell("cat; echo end");
        for line in ["given", "end"] {
            assert_eq!(next(&mut printer).unwrap(), PrintedLine::Line(line.to_owned()));
        }
    }

    #[test]
    fn an_end_without_success_is_an_error_with_its_last_words() {
        let mut printer = shell("echo one; echo broken >&2; exit 3");
        assert_eq!(next(&mut printer).unwrap(), PrintedLine::Line("one".to_owned()));
        let error = next(&mut printer).unwrap_err().to_string();
        assert!(error.contains("broken") && error.contains('3'), "{error}");
    }

    #[test]
    fn one_that_prints_nothing_is_waited_for_and_killed() {
        let mut printer = shell("exec sleep 1000");
        assert_eq!(printer.next(Duration::ZERO).unwrap(), PrintedLine::Timeout);
        let error = printer.hung(Duration::from_secs(1));
        assert!(matches!(error, DriveError::Hung { .. }));
    }
}
