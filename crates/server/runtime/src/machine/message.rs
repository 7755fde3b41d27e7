//! Errors and informational messages for a client.

/// An error, an informational message or a PRINT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message<'a> {
    /// The number; 0 for a PRINT.
    pub number: i32,
    /// The severity: up to 10 it is informational, above an error.
    pub severity: u8,
    /// Its state.
    pub state: u8,
    /// The line of the batch or procedure, from 1.
    pub line: u32,
    /// The procedure that raised it; empty in a batch.
    pub procedure: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whether it is also written to the server's log: RAISERROR WITH LOG.
    pub to_log: bool,
}

impl Message<'_> {
    /// Whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity > SEVERITY_INFO_MAX
    }
}

/// The highest severity of an informational message.
pub(crate) const SEVERITY_INFO_MAX: u8 = 10;
