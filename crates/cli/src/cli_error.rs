//! The display of errors: what happened, then what to do next.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use selenite::EngineError;
#[cfg(feature = "serve")]
use selenite_server::ServerError;

use crate::output::Output;
use crate::printable;
use crate::terminal;

/// Why a command ends without success.
pub enum CliError {
    /// An error of the engine.
    Engine(EngineError),
    /// Bad pages were found and have been listed.
    Found {
        /// The summary.
        what: String,
        /// Advice on what to do.
        next: &'static str,
    },
    /// A key service or the store of anchors refused, or failed.
    KeyService {
        /// What happened.
        what: String,
        /// Advice on what to do; may be empty.
        next: &'static str,
        /// The exit status.
        status: u8,
    },
    /// An error of the lab.
    #[cfg(feature = "lab")]
    Lab {
        /// What happened.
        what: String,
        /// Advice on what to do; may be empty.
        next: String,
        /// The exit status.
        status: u8,
    },
    /// An error of the server.
    #[cfg(feature = "serve")]
    Server(ServerError),
    /// The command was interrupted: the state that it leaves, and how to continue.
    Interrupted(String),
    /// An exit status that is the answer, after an explanation: no message.
    Answer(u8),
    /// The reader closed standard output: no message.
    Closed,
}

impl CliError {
    /// Converts an error of an operation whose interruption has a message of its own: the state
    /// that it leaves, or how to continue.
    pub fn of(error: EngineError, interrupted: impl FnOnce() -> String) -> Self {
        if matches!(error, EngineError::Interrupted) {
            return Self::Interrupted(interrupted());
        }
        Self::Engine(error)
    }

    /// What happened, what to do next (may be empty), and the exit status.
    ///
    /// # Errors
    /// The exit status, if there is no message.
    pub fn message(self) -> Result<(String, String, u8), u8> {
        // A message may contain input: its characters must not move the cursor, and a name must not add a line.
        Ok(match self {
            Self::Engine(error) => {
                // Slots are listed one per line; a summary contains no line break.
                let has_lines = matches!(error, EngineError::WouldDrop { .. });
                let shown = if has_lines { printable::lines } else { printable::line };
                let what = shown(&error.to_string());
                (what, printable::line(&error.advice()), error.class().exit_status())
            }
            Self::Found { what, next } => (printable::line(&what), next.to_owned(), 5),
            Self::KeyService { what, next, status } => (printable::line(&what), next.to_owned(), status),
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
            Self::Answer(status) => return Err(status),
            Self::Closed => return Err(0),
        })
    }

    /// Prints the message, and returns the exit status.
    pub fn show(self) -> ExitCode {
        let (what, next, status) = match self.message() {
            Ok(message) => message,
            Err(status) => return ExitCode::from(status),
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
        // If standard error cannot be written, it has no reader.
        let _ = std::io::stderr().write_all(text.as_bytes());
        ExitCode::from(status)
    }
}

impl From<EngineError> for CliError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

#[cfg(feature = "serve")]
impl From<ServerError> for CliError {
    fn from(error: ServerError) -> Self {
        Self::Server(error)
    }
}

impl From<std::io::Error> for CliError {
    /// Converts an error of writing to standard output.
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        Self::Engine(Output::error(error))
    }
}
