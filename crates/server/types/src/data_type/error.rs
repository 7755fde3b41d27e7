//! Errors of declared types.

use std::fmt;

/// An error in a declared type, with SQL Server's number, severity and text.
///
/// The caller is at fault in every variant. [`fmt::Display`] writes SQL Server's exact text: clients display it and
/// users search for it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DeclarationError {
    /// 102: `max` after a type that does not allow it.
    MaxNotAllowed,
    /// 131 for a column of char, varchar, binary or varbinary.
    ColumnTooWide {
        /// The column's name.
        column: Box<str>,
        /// The declared length.
        size: u64,
    },
    /// 131 for char, varchar, binary and varbinary anywhere else.
    TypeTooWide {
        /// The type's name.
        name: &'static str,
        /// The declared length.
        size: u64,
    },
    /// 131 in CAST and CONVERT to nchar or nvarchar.
    CastTooWide {
        /// The type's name.
        name: &'static str,
        /// The declared length.
        size: u64,
    },
    /// 183: a column's scale exceeds its precision.
    ColumnScale {
        /// The column's name.
        column: Box<str>,
        /// The declared scale.
        scale: u64,
        /// The highest valid scale.
        scale_max: u8,
    },
    /// 192: a scale exceeds the precision, outside of a column.
    ScaleAbovePrecision,
    /// 243: an unknown type in CAST or CONVERT.
    UnknownCastType {
        /// The unknown name.
        name: Box<str>,
    },
    /// 291: arguments after a type that accepts none, in CAST or CONVERT.
    CastWidthNotAllowed {
        /// The type's name.
        name: &'static str,
    },
    /// 1001: a length or precision of 0.
    LengthInvalid {
        /// The line of the batch, from 1.
        line: u32,
        /// The declared length or precision.
        given: u64,
    },
    /// 1002: more than 7 fractional second digits.
    ScaleInvalid {
        /// The line of the batch, from 1.
        line: u32,
        /// The declared scale.
        given: u64,
    },
    /// 2715: an unknown type.
    UnknownType {
        /// The number of the column, parameter or variable, from 1.
        number: u32,
        /// The unknown name.
        name: Box<str>,
    },
    /// 2716: arguments after a type that accepts none, or too many.
    WidthNotAllowed {
        /// The number of the column, parameter or variable, from 1.
        number: u32,
        /// The type's name.
        name: &'static str,
    },
    /// 2717 for a column, parameter or variable of nchar or nvarchar.
    ParameterTooWide {
        /// The name of the column, parameter or variable.
        parameter: Box<str>,
        /// The declared length.
        size: u64,
    },
    /// 2717 for decimal and numeric with a scale, outside of a column.
    PrecisionTooWide {
        /// The type's name.
        name: &'static str,
        /// The declared precision.
        precision: u64,
    },
    /// 2750: a precision above 38, or above 53 for float.
    PrecisionTooHigh {
        /// The number of the column, parameter or variable, from 1.
        number: u32,
        /// The declared precision.
        precision: u64,
        /// The highest valid precision.
        precision_max: u8,
    },
    /// 40510: a type of SQL Server that is not supported.
    Unsupported {
        /// The type's name.
        name: &'static str,
    },
}

impl DeclarationError {
    /// SQL Server's message number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.code().0
    }

    /// The severity: 15 or 16.
    #[must_use]
    pub fn severity(&self) -> u8 {
        self.code().1
    }

    /// The state, which identifies the origin of the message in SQL Server.
    #[must_use]
    pub fn state(&self) -> u8 {
        self.code().2
    }

    /// The number, severity and state.
    fn code(&self) -> (u16, u8, u8) {
        match self {
            Self::MaxNotAllowed => (102, 15, 1),
            Self::ColumnTooWide { .. } => (131, 15, 2),
            Self::TypeTooWide { .. } => (131, 15, 3),
            Self::CastTooWide { .. } => (131, 16, 1),
            Self::ColumnScale { .. } => (183, 15, 1),
            Self::ScaleAbovePrecision => (192, 15, 1),
            Self::UnknownCastType { .. } => (243, 16, 1),
            Self::CastWidthNotAllowed { .. } => (291, 16, 1),
            Self::LengthInvalid { .. } => (1001, 15, 1),
            Self::ScaleInvalid { .. } => (1002, 15, 1),
            Self::UnknownType { .. } => (2715, 16, 6),
            Self::WidthNotAllowed { .. } => (2716, 16, 1),
            Self::ParameterTooWide { .. } => (2717, 16, 2),
            Self::PrecisionTooWide { .. } => (2717, 16, 1),
            Self::PrecisionTooHigh { .. } => (2750, 16, 1),
            Self::Unsupported { .. } => (40510, 16, 1),
        }
    }
}

impl std::error::Error for DeclarationError {}

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MaxNotAllowed => f.write_str("Incorrect syntax near 'max'."),
            Self::ColumnTooWide { column, size } => too_wide(f, *size, "column", column, ANY_TYPE),
            Self::TypeTooWide { name, size } => too_wide(f, *size, "type", name, ANY_TYPE),
            Self::CastTooWide { name, size } => too_wide(f, *size, "convert specification", name, ANY_NATIONAL),
            Self::ColumnScale {
                column,
                scale,
                scale_max,
            } => {
                write!(
                    f,
                    "The scale ({scale}) for column '{column}' must be within the range 0 to {scale_max}."
                )
            }
            Self::ScaleAbovePrecision => f.write_str("The scale must be less than or equal to the precision."),
            Self::UnknownCastType { name } => write!(f, "Type {name} is not a defined system type."),
            Self::CastWidthNotAllowed { name } => {
                write!(f, "CAST or CONVERT: invalid attributes specified for type '{name}'")
            }
            Self::LengthInvalid { line, given } => {
                write!(f, "Line {line}: Length or precision specification {given} is invalid.")
            }
            Self::ScaleInvalid { line, given } => write!(f, "Line {line}: Specified scale {given} is invalid."),
            Self::UnknownType { number, name } => {
                write!(
                    f,
                    "Column, parameter, or variable #{number}: Cannot find data type {name}."
                )
            }
            Self::WidthNotAllowed { number, name } => {
                write!(
                    f,
                    "Column, parameter, or variable #{number}: Cannot specify a column width on data type {name}."
                )
            }
            Self::ParameterTooWide { parameter, size } => too_wide(f, *size, "parameter", parameter, " (4000)."),
            Self::PrecisionTooWide { name, precision } => too_wide(f, *precision, "type", name, " (38)."),
            Self::PrecisionTooHigh {
                number,
                precision,
                precision_max,
            } => {
                write!(
                    f,
                    "Column or parameter #{number}: Specified column precision {precision} "
                )?;
                write!(f, "is greater than the maximum precision of {precision_max}.")
            }
            Self::Unsupported { name } => write!(f, "Data type '{name}' is not supported."),
        }
    }
}

/// Messages 131 and 2717, which differ in the object that they name and in their last part.
fn too_wide(f: &mut fmt::Formatter<'_>, size: u64, of: &str, name: &str, end: &str) -> fmt::Result {
    write!(
        f,
        "The size ({size}) given to the {of} '{name}' exceeds the maximum allowed{end}"
    )
}

const ANY_TYPE: &str = " for any data type (8000).";
const ANY_NATIONAL: &str = " for any data type (4000).";
