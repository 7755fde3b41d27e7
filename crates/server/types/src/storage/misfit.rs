//! Values that do not belong to their declared type.

use std::fmt;

use super::StorageClass;
use crate::DataType;

/// A value that does not belong to its declared type, and why. It contains no data of the value.
///
/// The file is at fault if a value was read, the caller if it was to be written. The message to a client has number
/// 50823 and names the table and column, which the caller knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Misfit {
    /// The storage class of the value.
    pub found: StorageClass,
    /// The declared type.
    pub declared: DataType,
    /// Why it does not fit.
    pub cause: MisfitCause,
}

/// Why a value does not belong to its declared type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum MisfitCause {
    /// The type has another storage class.
    Class,
    /// The number is out of the type's range or exceeds its precision.
    Range,
    /// The number is NaN or infinite, or is not exactly representable as real.
    NotFinite,
    /// The text or bytes are longer than declared.
    Length,
    /// The bytes do not have the type's size.
    Size,
    /// The text is not UTF-8.
    Encoding,
    /// The text has a character outside of code page 1252.
    CodePage,
    /// The text is not the storage form of a date or time of the type.
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
