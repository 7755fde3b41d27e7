//! Errors and messages as a client gets them.

/// An error, an information or a PRINT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message<'a> {
    /// Its number; 0 of a PRINT.
    pub number: i32,
    /// Its severity: up to 10 it is an information, above an error.
    pub severity: u8,
    /// Its state.
    pub state: u8,
    /// The line of the batch or procedure, from 1.
    pub line: u32,
    /// The procedure that it comes from; empty in a batch.
    pub procedure: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whether it goes to the server's log as well: RAISERROR WITH LOG.
    pub to_log: bool,
}

impl Message<'_> {
    /// Whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity > SEVERITY_INFO_MAX
    }
}

/// The highest severity of an information.
pub(crate) const SEVERITY_INFO_MAX: u8 = 10;
