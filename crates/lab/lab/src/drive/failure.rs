//! Failures of a worker.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a worker's answer is missing or invalid.
#[derive(Debug)]
#[non_exhaustive]
pub enum DriveError {
    /// The machine: it could not be started.
    NotStarted {
        /// The executable.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
        /// Advice on what to do.
        advice: String,
    },
    /// The worker: it ended without an answer.
    Died {
        /// The worker and the request.
        at: Failure,
        /// Its exit status: `exit status: 1`.
        status: String,
    },
    /// The worker: it was killed because it exceeded a time limit.
    Hung {
        /// The worker and the request.
        at: Failure,
        /// The time limit.
        given: Duration,
    },
    /// The worker: it was killed because its output was not a valid answer.
    Invalid {
        /// The worker and the request.
        at: Failure,
        /// What is wrong with the output.
        what: String,
        /// The beginning of the output.
        line: String,
    },
    /// The worker cannot carry out the request. It remains usable.
    Refused {
        /// The worker and the request.
        at: Failure,
        /// Its message.
        text: String,
    },
    /// The worker: it has another version of the protocol.
    WrongProtocol {
        /// The executable.
        program: PathBuf,
        /// Its version.
        theirs: u32,
        /// This program's version.
        ours: u32,
    },
}

/// A worker, its request and its diagnostics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The executable.
    pub program: PathBuf,
    /// The request: `run`.
    pub request: &'static str,
    /// The last lines of its standard error.
    pub stderr: Vec<String>,
}

impl DriveError {
    /// Whether the worker can receive further requests.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// Advice on what to do next.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            Self::NotStarted { advice, .. } => advice.clone(),
            Self::Died { .. } => "start the worker by hand to see why; if it was killed, check the kernel's log for \
                    out-of-memory messages"
                .to_owned(),
            Self::Hung { .. } => "make the block smaller, or raise block_timeout in [study]".to_owned(),
            Self::Invalid { .. } | Self::WrongProtocol { .. } => {
                "build the worker from the same sources as this program".to_owned()
            }
            Self::Refused { .. } => "change the configuration of this engine".to_owned(),
        }
    }
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { program, source, .. } => {
                write!(f, "worker {} could not be started: {source}", program.display())
            }
            Self::Died { at, status } => {
                write!(f, "worker {} ended at {} ({status})", at.program.display(), at.request)?;
                at.show_stderr(f)
            }
            Self::Hung { at, given } => {
                let seconds = given.as_secs_f64();
                write!(
                    f,
                    "worker {} was killed: no answer to {} in {seconds:.1} s",
                    at.program.display(),
                    at.request
                )?;
                at.show_stderr(f)
            }
            Self::Invalid { at, what, line } => {
                write!(
                    f,
                    "worker {} did not answer {} with a line of the protocol: {what}: {line:?}",
                    at.program.display(),
                    at.request
                )?;
                at.show_stderr(f)
            }
            Self::Refused { at, text } => {
                write!(f, "worker {} refused {}: {text}", at.program.display(), at.request)
            }
            Self::WrongProtocol { program, theirs, ours } => write!(
                f,
                "worker {} uses protocol version {theirs}, this program {ours}",
                program.display()
            ),
        }
    }
}

impl Failure {
    fn show_stderr(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stderr.is_empty() {
            return Ok(());
        }
        write!(f, "; it said: {}", self.stderr.join(" / "))
    }
}

impl std::error::Error for DriveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotStarted { source, .. } => Some(source),
            Self::Died { .. }
            | Self::Hung { .. }
            | Self::Invalid { .. }
            | Self::Refused { .. }
            | Self::WrongProtocol { .. } => None,
        }
    }
}
