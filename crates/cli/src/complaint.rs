//! How an error is shown: what happened, then what to do next.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use selenite::EngineError;
#[cfg(feature = "serve")]
use selenite_server::ServerError;

use crate::output::Output;
use crate::printable;
use crate::terminal;

/// What ends the command.
pub enum Complaint {
    /// The engine's error.
    Engine(EngineError),
    /// Bad pages were found, and are listed: what, and what to do.
    Found {
        /// What was found.
        what: String,
        /// What to do.
        next: &'static str,
    },
    /// The lab's error: what, what to do (nothing if that is empty), and the exit status.
    #[cfg(feature = "lab")]
    Lab {
        /// What happened.
        what: String,
        /// What to do.
        next: String,
        /// The exit status.
        status: u8,
    },
    /// The server's error.
    #[cfg(feature = "serve")]
    Server(ServerError),
    /// It was asked to stop: what is left of it, and how to go on.
    Interrupted(String),
    /// An exit status that is an answer, and was explained: no complaint at all.
    Answer(u8),
    /// Standard output was closed by who read it: no complaint at all.
    Closed,
}

impl Complaint {
    /// An error of an operation that leaves something, or has its own way to go on, where it was asked to stop.
    pub fn of(error: EngineError, interrupted: impl FnOnce() -> String) -> Self {
        if matches!(error, EngineError::Interrupted) {
            return Self::Interrupted(interrupted());
        }
        Self::Engine(error)
    }

    /// Shows it, and gives its exit status.
    pub fn show(self) -> ExitCode {
        // A message may contain input: none of its characters moves the cursor, and a name adds no line.
        let (what, next, status) = match self {
            Self::Engine(error) => {
                // Its slots stand one to a line; a summary has no line's end in it.
                let has_lines = matches!(error, EngineError::WouldDrop { .. });
                let shown = if has_lines { printable::lines } else { printable::line };
                let what = shown(&error.to_string());
                (what, printable::line(&error.advice()), error.class().exit_status())
            }
            Self::Found { what, next } => (printable::line(&what), next.to_owned(), 5),
            #[cfg(feature = "lab")]
            Self::Lab { what, next, status } => (printable::lines(&what), printable::lines(&next), status),
            #[cfg(feature = "serve")]
            Self::Server(error) => {
                let what = printable::lines(&error.to_string());
                (what, printable::line(&error.advice()), error.class().exit_status())
            }
            Self::Interrupted(next) => {
                let error = EngineError::Interrupted;
                (error.to_string(), printable::line(&next), error.class().exit_status())
            }
            Self::Answer(status) => return ExitCode::from(status),
            Self::Closed => return ExitCode::SUCCESS,
        };
        let colored = terminal::takes_colors(std::io::stderr().is_terminal());
        let (red, bold, plain) = if colored {
            ("\x1b[1;31m", "\x1b[1m", "\x1b[0m")
        } else {
            ("", "", "")
        };
        let mut text = format!("{red}error:{plain} {what}\n");
        if !next.is_empty() {
            text.push_str(&format!(" {bold}next:{plain} {next}\n"));
        }
        // Where standard error can't be written there is no one to tell.
        let _ = std::io::stderr().write_all(text.as_bytes());
        ExitCode::from(status)
    }
}

impl From<EngineError> for Complaint {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

#[cfg(feature = "serve")]
impl From<ServerError> for Complaint {
    fn from(error: ServerError) -> Self {
        Self::Server(error)
    }
}

impl From<std::io::Error> for Complaint {
    /// Of writing to standard output.
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        Self::Engine(Output::error(error))
    }
}
