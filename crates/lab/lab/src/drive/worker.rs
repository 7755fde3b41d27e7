//! A worker process.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use selenite_worker::protocol::{Hello, PROTOCOL, Request, Response};
use serde::de::DeserializeOwned;

use super::failure::{DriveError, Failure};
use super::output_reader::{OutputLine, OutputReader, beginning};

/// The command that starts a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that are added to this process's environment.
    pub environment: BTreeMap<String, String>,
}

/// A worker process, killed with its descendants on drop.
pub struct Worker {
    command: WorkerCommand,
    child: Child,
    stdin: Option<ChildStdin>,
    /// None after the process was killed.
    output: Option<OutputReader>,
    /// The current or last request.
    request: &'static str,
    /// Its exit status and last lines of standard error, once it has ended.
    end: Option<(String, Vec<String>)>,
}

impl WorkerCommand {
    /// An executable without arguments.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            ..Self::default()
        }
    }
}

impl Worker {
    /// Starts the process, in a process group of its own.
    ///
    /// # Errors
    /// [`DriveError::NotStarted`].
    pub fn start(command: &WorkerCommand) -> Result<Self, DriveError> {
        let spawned = Command::new(&command.program)
            .args(&command.args)
            .envs(&command.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let mut child = spawned.map_err(|source| not_started(command, source))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            kill(&mut child);
            return Err(not_started(command, io::ErrorKind::BrokenPipe.into()));
        };
        Ok(Self {
            command: command.clone(),
            child,
            stdin: Some(stdin),
            output: Some(OutputReader::new(stdout, stderr)),
            request: "hello",
            end: None,
        })
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Requests [`Hello`], and checks the version of the protocol.
    ///
    /// # Errors
    /// As for [`Worker::ask`], and [`DriveError::WrongProtocol`].
    pub fn hello(&mut self, limit: Duration) -> Result<Hello, DriveError> {
        let value: serde_json::Value = self.ask(&Request::Hello { protocol: PROTOCOL }, limit)?;
        // The hello of another version may have other fields, so its version is read first.
        let theirs = value.get("protocol").and_then(serde_json::Value::as_u64);
        if let Some(theirs) = theirs.and_then(|number| u32::try_from(number).ok())
            && theirs != PROTOCOL
        {
            self.kill();
            return Err(DriveError::WrongProtocol {
                program: self.command.program.clone(),
                theirs,
                ours: PROTOCOL,
            });
        }
        let line = value.to_string();
        serde_json::from_value(value).map_err(|error| self.invalid_answer(&error.to_string(), &line))
    }

    /// Sends a request, and waits for the answer.
    ///
    /// # Errors
    /// [`DriveError::Refused`]; after all others the worker accepts no further requests:
    /// [`DriveError::Died`], [`DriveError::Hung`] and [`DriveError::Invalid`].
    pub fn ask<T: DeserializeOwned>(&mut self, request: &Request, limit: Duration) -> Result<T, DriveError> {
        self.send(request)?;
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if let Some(answer) = self.answer(left)? {
                return Ok(answer);
            }
            if left.is_zero() {
                return Err(self.hung(limit));
            }
        }
    }

    /// Sends a request, and does not wait for an answer.
    ///
    /// # Errors
    /// [`DriveError::Died`]; [`DriveError::Invalid`] for output without a request.
    pub(super) fn send(&mut self, request: &Request) -> Result<(), DriveError> {
        if !matches!(request, Request::Control(_)) {
            self.request = name(request);
            self.check_silent()?;
        }
        let mut line = serde_json::to_vec(request).map_err(|error| self.invalid_answer(&error.to_string(), ""))?;
        line.push(b'\n');
        let written = self.stdin.as_mut().map(|stdin| stdin.write_all(&line));
        match written {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(self.died()),
        }
    }

    /// Waits for an answer, at most `limit`; none if there is none by then.
    ///
    /// # Errors
    /// As for [`Worker::ask`], without [`DriveError::Hung`].
    pub(super) fn answer<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<Option<T>, DriveError> {
        let word = self
            .output
            .as_ref()
            .map_or(OutputLine::End, |output| output.next(limit));
        match word {
            OutputLine::Timeout => Ok(None),
            OutputLine::End => Err(self.died()),
            OutputLine::Invalid(text) => Err(self.invalid_answer("no line of text", &text)),
            OutputLine::Line(line) => match serde_json::from_str::<Response<T>>(&line) {
                Ok(Response::Ok(answer)) => Ok(Some(answer)),
                Ok(Response::Error(text)) => Err(DriveError::Refused {
                    at: self.failure(),
                    text,
                }),
                Err(error) => Err(self.invalid_answer(&error.to_string(), &line)),
            },
        }
    }

    /// Kills it because it exceeded a time limit.
    pub(super) fn hung(&mut self, given: Duration) -> DriveError {
        self.kill();
        DriveError::Hung {
            at: self.failure(),
            given,
        }
    }

    /// Sends `quit` and waits; kills it after `limit`.
    pub fn quit(mut self, limit: Duration) {
        if self.send(&Request::Quit).is_ok() {
            self.stdin = None;
            self.wait_for_end(limit);
        }
    }

    /// Kills it and its descendants. Idempotent.
    pub fn kill(&mut self) {
        self.stdin = None;
        if self.end.is_some() {
            return;
        }
        let status = kill(&mut self.child);
        let output_file = self.output.take().map(OutputReader::close).unwrap_or_default();
        self.end = Some((status, output_file));
    }

    fn check_silent(&mut self) -> Result<(), DriveError> {
        match self.output.as_ref().map_or(OutputLine::End, OutputReader::pending) {
            OutputLine::Timeout => Ok(()),
            OutputLine::End => Err(self.died()),
            OutputLine::Line(line) | OutputLine::Invalid(line) => Err(self.invalid_answer("unexpected output", &line)),
        }
    }

    fn died(&mut self) -> DriveError {
        self.stdin = None;
        self.wait_for_end(EXIT_GRACE);
        self.kill();
        let status = self.end.as_ref().map(|end| end.0.clone()).unwrap_or_default();
        DriveError::Died {
            at: self.failure(),
            status,
        }
    }

    /// Kills it because its output is not a valid answer.
    pub(super) fn invalid_answer(&mut self, what: &str, line: &str) -> DriveError {
        self.kill();
        DriveError::Invalid {
            at: self.failure(),
            what: what.to_owned(),
            line: beginning(line),
        }
    }

    fn failure(&self) -> Failure {
        let so_far = || self.output.as_ref().map(OutputReader::last_errors).unwrap_or_default();
        Failure {
            program: self.command.program.clone(),
            request: self.request,
            stderr: self.end.as_ref().map_or_else(so_far, |end| end.1.clone()),
        }
    }

    /// Waits until the process has ended without reaping it: its id cannot be reused before its
    /// group was killed.
    fn wait_for_end(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while !has_ended(&self.child) && Instant::now() < deadline {
            std::thread::sleep(TICK);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("command", &self.command)
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

pub(super) fn not_started(command: &WorkerCommand, source: io::Error) -> DriveError {
    let program = command.program.clone();
    let advice = if source.kind() == io::ErrorKind::PermissionDenied {
        format!("chmod +x {}", program.display())
    } else {
        format!(
            "check that {} exists, and all libraries that it needs",
            program.display()
        )
    };
    DriveError::NotStarted {
        program,
        source,
        advice,
    }
}

pub(super) fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

pub(super) fn has_ended(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = pid_of(child).map(|pid| waitid(WaitId::Pid(pid), options));
    !matches!(status, Some(Ok(None)))
}

/// Kills the group before its first process is reaped, so that its id cannot have been reused.
pub(super) fn kill(child: &mut Child) -> String {
    if let Some(pid) = pid_of(child) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.kill();
    child
        .wait()
        .as_ref()
        .map_or_else(ToString::to_string, ExitStatus::to_string)
}

fn name(request: &Request) -> &'static str {
    match request {
        Request::Hello { .. } => "hello",
        Request::Load { .. } => "load",
        Request::Open { .. } => "open",
        Request::Close => "close",
        Request::Digest => "digest",
        Request::Run { .. } => "run",
        Request::Cipher { .. } => "cipher",
        Request::Control(_) => "control",
        Request::Quit => "quit",
    }
}

/// The polling interval for the end of a process.
const TICK: Duration = Duration::from_millis(2);
/// A process that closed its standard output has this much time to exit with its own status.
const EXIT_GRACE: Duration = Duration::from_millis(500);
