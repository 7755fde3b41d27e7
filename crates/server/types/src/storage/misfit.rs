//! A value that is no value of its declared type.

use std::fmt;

use super::StorageClass;
use crate::DataType;

/// What was found where a value of a declared type should be, and what is wrong with it. It holds nothing of the value.
///
/// The file is at fault if a value was read; the caller if one was to be written. The message to a client has number
/// 50823 and names table and column, which the caller knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Misfit {
    /// The class of what was found.
    pub found: StorageClass,
    /// The type that was declared.
    pub declared: DataType,
    /// Why it does not fit.
    pub cause: MisfitCause,
}

/// Why a value does not fit its declared type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum MisfitCause {
    /// The type's values are stored in another class.
    Class,
    /// The number is out of the type's range, or has more digits than it.
    Range,
    /// The number is no number, or endless, or more exact than real.
    NotFinite,
    /// The text or bytes are longer than declared.
    Length,
    /// The bytes are not as many as the type has.
    Size,
    /// The text is not UTF-8.
    Encoding,
    /// The text has a character that code page 1252 has not.
    CodePage,
    /// The text is not a date or time in the one form of its type.
    Form,
}

impl std::error::Error for Misfit {}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.cause {
            MisfitCause::Class => "that class is not the type's",
            MisfitCause::Range => "out of range",
            MisfitCause::NotFinite => "not a number of the type",
            MisfitCause::Length => "too long",
            MisfitCause::Size => "of another size",
            MisfitCause::Encoding => "not UTF-8",
            MisfitCause::CodePage => "a character is not in code page 1252",
            MisfitCause::Form => "not in the type's form",
        };
        write!(f, "{} where {} is declared: {why}", self.found.name(), self.declared)
    }
}
