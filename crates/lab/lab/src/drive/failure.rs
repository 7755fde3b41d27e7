//! What can go wrong with a worker.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a worker did not answer as it should have.
#[derive(Debug)]
#[non_exhaustive]
pub enum DriveError {
    /// The machine: it could not be started.
    NotStarted {
        /// The executable.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
        /// What to do.
        advice: String,
    },
    /// The worker: it ended instead of answering.
    Died {
        /// Which, and at what.
        at: Failure,
        /// How it ended: `exit status: 1`.
        status: String,
    },
    /// The worker: it was killed because it did not answer in time.
    Hung {
        /// Which, and at what.
        at: Failure,
        /// How long it was given.
        given: Duration,
    },
    /// The worker: it was killed because it answered what is no answer.
    Invalid {
        /// Which, and at what.
        at: Failure,
        /// What is wrong with it.
        what: String,
        /// The beginning of what it said.
        line: String,
    },
    /// The worker can't do it. It goes on.
    Refused {
        /// Which, and at what.
        at: Failure,
        /// Its words.
        text: String,
    },
    /// The worker: it is of another version.
    WrongProtocol {
        /// The executable.
        program: PathBuf,
        /// Its version.
        theirs: u32,
        /// Ours.
        ours: u32,
    },
}

/// Which worker failed at what, and what it had said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The executable.
    pub program: PathBuf,
    /// What it was asked: `run`.
    pub request: &'static str,
    /// The last lines of its standard error.
    pub stderr: Vec<String>,
}

impl DriveError {
    /// Whether the worker can be asked again.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// What to do next.
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
