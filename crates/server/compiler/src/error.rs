//! The error that a failed statement sends to the client.
//!
//! The table of numbers, states and texts is the constructors: those of names and types are in `error/binding.rs`,
//! those of values in `error/value.rs`, those of running programs in `error/running.rs`. A new number gets a
//! constructor.

use std::fmt;

mod binding;
mod cursor;
mod running;
mod value;

/// An error as SQL Server would send it: number, severity, state, text and line; and the scope that it ends.
///
/// Nearly all are errors of the caller; numbers 40510 and 40517 name an unsupported feature, 8624 is an internal error.
/// [`fmt::Display`] writes the text alone.
#[derive(Clone, PartialEq, Eq)]
pub struct SqlError(Box<Message>);

/// The scope that an error ends, outside TRY and with XACT_ABORT off.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ends {
    /// The statement: the batch continues after it.
    Statement,
    /// The batch, or the procedure's body: a compilation error. An open transaction stays.
    Batch,
    /// The batch, and the open transaction is rolled back.
    Transaction,
    /// The connection.
    Connection,
}

#[derive(Clone, PartialEq, Eq)]
struct Message {
    number: i32,
    severity: u8,
    state: u8,
    ends: Ends,
    line: u32,
    text: String,
}

impl SqlError {
    /// An error of severity 16, which the user can correct, state 1, on an unknown line.
    #[must_use]
    pub fn new(number: i32, ends: Ends, text: impl Into<String>) -> Self {
        let text = text.into();
        Self(Box::new(Message {
            number,
            severity: 16,
            state: 1,
            ends,
            line: 0,
            text,
        }))
    }

    /// Sets the severity.
    #[must_use]
    pub fn with_severity(mut self, severity: u8) -> Self {
        self.0.severity = severity;
        self
    }

    /// Sets the state.
    #[must_use]
    pub fn with_state(mut self, state: u8) -> Self {
        self.0.state = state;
        self
    }

    /// Sets the scope that it ends.
    #[must_use]
    pub fn with_ends(mut self, ends: Ends) -> Self {
        self.0.ends = ends;
        self
    }

    /// Sets the line of the batch, from 1, unless it has a line already.
    #[must_use]
    pub fn on_line(mut self, line: u32) -> Self {
        if self.0.line == 0 {
            self.0.line = line;
        }
        self
    }

    /// SQL Server's number.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.0.number
    }

    /// The severity, also called level: 11 to 25.
    #[must_use]
    pub fn severity(&self) -> u8 {
        self.0.severity
    }

    /// The state, which distinguishes the origins of a number in SQL Server.
    #[must_use]
    pub fn state(&self) -> u8 {
        self.0.state
    }

    /// The scope that it ends.
    #[must_use]
    pub fn ends(&self) -> Ends {
        self.0.ends
    }

    /// The line of the batch, from 1; 0 if it is unknown.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.0.line
    }

    /// The message text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Message {
            number,
            severity,
            state,
            ends,
            line,
            text,
        } = &*self.0;
        write!(
            f,
            "Msg {number}, Level {severity}, State {state}, Line {line}, ends {ends:?}: {text}"
        )
    }
}

impl std::error::Error for SqlError {}
