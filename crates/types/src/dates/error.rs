//! Why there is no such date.

use crate::{DataType, DatePart};

/// Why a function of dates gives none: [`std::fmt::Display`] is SQL Server's own text.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DateError {
    /// 289: arguments of a function such as DATEFROMPARTS that make no date.
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
        /// Whether it is DATEDIFF_BIG.
        big: bool,
    },
    /// 9806: a part that the function never takes.
    NoPart {
        /// The part.
        part: DatePart,
        /// The function, in lower case.
        function: &'static str,
    },
    /// 9810: a part that the function does not take for this type.
    NoPartOfType {
        /// The part.
        part: DatePart,
        /// The function, in lower case.
        function: &'static str,
        /// The value's type.
        of: DataType,
    },
    /// 9812: no offset between -14:00 and +14:00.
    Offset {
        /// The function, in lower case.
        function: &'static str,
    },
    /// 9813: an offset that takes the moment out of range.
    OffsetOverflow {
        /// The function, in lower case.
        function: &'static str,
    },
}

impl std::fmt::Display for DateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for DateError {}
