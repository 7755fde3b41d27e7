//! Why there is no such date.

use std::fmt;

use crate::{DataType, DatePart};

/// Why a function of dates gives none: [`fmt::Display`] is SQL Server's own text.
///
/// The caller is at fault in every variant. `function` is the T-SQL function's name in lower case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DateError {
    /// 289: arguments of DATEFROMPARTS and related functions that make no date.
    Parts {
        /// What was to be made.
        to: DataType,
    },
    /// 517: DATEADD or EOMONTH leaves the type's range.
    AddOverflow {
        /// The type.
        of: DataType,
    },
    /// 535: more boundaries than int, or bigint for DATEDIFF_BIG, counts.
    DiffOverflow {
        /// datediff or datediff_big.
        function: &'static str,
    },
    /// 8116: an argument of a type that the function does not take.
    Argument {
        /// The argument's type.
        of: DataType,
        /// Which argument, from 1.
        argument: u8,
        /// The function.
        function: &'static str,
    },
    /// 9806: a part that the function never takes.
    NoPart {
        /// The part.
        part: DatePart,
        /// The function.
        function: &'static str,
    },
    /// 9810: a part that the function does not take for this type.
    NoPartOfType {
        /// The part.
        part: DatePart,
        /// The function.
        function: &'static str,
        /// The value's type.
        of: DataType,
    },
    /// 9812: no offset between -14:00 and +14:00.
    Offset {
        /// The function.
        function: &'static str,
    },
    /// 9813: an offset that takes the moment out of range.
    OffsetOverflow {
        /// The function.
        function: &'static str,
    },
    /// 10760: the last argument of TIMEFROMPARTS, DATETIME2FROMPARTS or DATETIMEOFFSETFROMPARTS is no number of digits.
    Scale {
        /// What was to be made.
        to: DataType,
    },
}

impl DateError {
    /// SQL Server's number of the message.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.code().0
    }

    /// The severity, which messages call the level: always 16.
    #[must_use]
    pub fn severity(&self) -> u8 {
        16
    }

    /// The state, which shows SQL Server's developers where the message came from.
    #[must_use]
    pub fn state(&self) -> u8 {
        self.code().1
    }

    /// Number and state.
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
            Self::Scale { .. } => (10760, 1),
        }
    }
}

/// The state of 289 identifies the type.
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
