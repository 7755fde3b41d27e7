//! Which types convert to which.

use crate::{
    DataType,
    convert::{ConversionError, ConversionFault},
};

/// What it takes to convert a type to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Conversion {
    /// Nothing.
    Implicit,
    /// CAST or CONVERT.
    Explicit,
    /// It can't be done.
    Never,
}

/// What it takes to convert `from` to `to`.
pub fn conversion(from: &DataType, to: &DataType) -> Conversion {
    let _ = (from, to);
    Conversion::Implicit
}

impl Conversion {
    /// Whether `from` becomes `to` without being asked for.
    ///
    /// Errors: 257 if a CAST would do it, 206 if nothing would.
    pub fn check_implicit(from: &DataType, to: &DataType) -> Result<(), ConversionError> {
        match conversion(from, to) {
            Self::Implicit => Ok(()),
            Self::Explicit => Err(ConversionError::new(ConversionFault::NotImplicit, from, to)),
            Self::Never => Err(ConversionError::new(ConversionFault::Clash, from, to)),
        }
    }

    /// Whether a CAST makes `to` of `from`.
    ///
    /// Errors: 529.
    pub fn check_explicit(from: &DataType, to: &DataType) -> Result<(), ConversionError> {
        match conversion(from, to) {
            Self::Implicit | Self::Explicit => Ok(()),
            Self::Never => Err(ConversionError::new(ConversionFault::Never, from, to)),
        }
    }
}
