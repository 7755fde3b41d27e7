//! Errors of date functions.

use std::fmt;

use crate::{DataType, DatePart};

/// An error of a date function; [`fmt::Display`] writes SQL Server's text.
///
/// The caller is at fault in every variant. `function` is the T-SQL function's name in lower case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DateError {
    /// 289: the arguments of DATEFROMPARTS or a similar function are not a valid date.
    Parts {
        /// The result type.
        to: DataType,
    },
    /// 517: the result of DATEADD or EOMONTH is out of the type's range.
    AddOverflow {
        /// The type.
        of: DataType,
    },
    /// 535: the difference is out of the range of int, or of bigint for DATEDIFF_BIG.
    DiffOverflow {
        /// datediff or datediff_big.
        function: &'static str,
    },
    /// 8116: the function does not accept an argument of this type.
    Argument {
        /// The argument's type.
        of: DataType,
        /// The argument's number, from 1.
        argument: u8,
        /// The function.
        function: &'static str,
    },
    /// 9806: the function does not support the part.
    NoPart {
        /// The part.
        part: DatePart,
        /// The function.
        function: &'static str,
    },
    /// 9810: the function does not support the part for this type.
    NoPartOfType {
        /// The part.
        part: DatePart,
        /// The function.
        function: &'static str,
        /// The value's type.
        of: DataType,
    },
    /// 9812: the offset is not between -14:00 and +14:00.
    Offset {
        /// The function.
        function: &'static str,
    },
    /// 9813: the offset moves the value out of range.
    OffsetOverflow {
        /// The function.
        function: &'static str,
    },
    /// 9834: the width of DATE_BUCKET is not positive.
    BucketWidth,
    /// 9837: DATETRUNC to a week that begins before the calendar.
    TooEarly,
    /// 10760: the last argument of TIMEFROMPARTS, DATETIME2FROMPARTS or DATETIMEOFFSETFROMPARTS is not a valid scale.
    Scale {
        /// The result type.
        to: DataType,
    },
}

impl DateError {
    /// SQL Server's message number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.code().0
    }

    /// The severity: always 16.
    #[must_use]
    pub fn severity(&self) -> u8 {
        16
    }

    /// The state, which identifies the origin of the message in SQL Server.
    #[must_use]
    pub fn state(&self) -> u8 {
        self.code().1
    }

    /// The number and state.
    fn code(&self) -> (u16, u8) {
        match self {
            Self::Parts { to } => (289, parts_state(to)),
            Self::AddOverflow { .. } => (517, 3),
            Self::DiffOverflow { .. } => (535, 0),
            Self::Argument { .. } => (8116, 1),
            Self::NoPart { .. } => (9806, 0),
            Self::NoPartOfType { .. } => (9810, 1),
            Self::Offset { .. } => (9812, 1),
            Self::OffsetOverflow { .. } => (9813, 1),
            Self::BucketWidth => (9834, 1),
            Self::TooEarly => (9837, 3),
            Self::Scale { .. } => (10760, 1),
        }
    }
}

/// The state of 289, which identifies the type.
fn parts_state(to: &DataType) -> u8 {
    if *to == DataType::Date {
        1
    } else if matches!(to, DataType::Time(_)) {
        2
    } else if *to == DataType::DateTime {
        3
    } else if *to == DataType::SmallDateTime {
        4
    } else if matches!(to, DataType::DateTime2(_)) {
        5
    } else {
        6
    }
}

impl fmt::Display for DateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parts { to } => {
                let to = to.keyword();
                write!(
                    f,
                    "Cannot construct data type {to}, some of the arguments have values which are not valid."
                )
            }
            Self::AddOverflow { of } => write!(f, "Adding a value to a '{}' column caused an overflow.", of.keyword()),
            Self::DiffOverflow { function } => write!(
                f,
                "The {function} function resulted in an overflow. The number of dateparts separating two date/time \
                 instances is too large. Try to use {function} with a less precise datepart."
            ),
            Self::Argument { of, argument, function } => {
                let of = of.bare_name();
                write!(
                    f,
                    "Argument data type {of} is invalid for argument {argument} of {function} function."
                )
            }
            Self::NoPart { part, function } => {
                write!(
                    f,
                    "The datepart {} is not supported by date function {function}.",
                    part.name()
                )
            }
            Self::NoPartOfType { part, function, of } => {
                let (part, of) = (part.name(), of.keyword());
                write!(
                    f,
                    "The datepart {part} is not supported by date function {function} for data type {of}."
                )
            }
            Self::Offset { function } => write!(f, "The timezone provided to builtin function {function} is invalid."),
            Self::OffsetOverflow { function } => write!(
                f,
                "The timezone provided to builtin function {function} would cause the datetimeoffset to overflow \
                 the range of valid date range in either UTC or local time."
            ),
            Self::BucketWidth => f.write_str(
                "Invalid bucket width value passed to date_bucket function. Only positive values are allowed.",
            ),
            Self::TooEarly => f.write_str(
                "An invalid date value was encountered: The date value is less than the minimum date value allowed for the \
                 data type.",
            ),
            Self::Scale { to } => write!(
                f,
                "Scale argument is not valid. Valid expressions for data type {} scale argument are integer \
                 constants and integer constant expressions.",
                to.keyword()
            ),
        }
    }
}

impl std::error::Error for DateError {}
