//! A check that could not be made, or that failed.

use std::fmt;

/// Why a check did not pass, for the person who reads a test's output.
#[derive(Debug)]
pub struct Fault(String);

impl Fault {
    /// A fault in these words.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    /// Fails with these words unless it holds.
    ///
    /// # Errors
    /// It does not hold.
    pub fn unless(holds: bool, what: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self(what())) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Fault {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}
