//! The types of dates and times.

use crate::DataType;

/// A type that has a day, a time or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MomentType {
    Date,
    /// With so many digits of a second.
    Time(u8),
    SmallDateTime,
    DateTime,
    /// With so many digits of a second.
    DateTime2(u8),
    /// With so many digits of a second.
    DateTimeOffset(u8),
}

impl MomentType {
    /// None of any other type. More than seven digits count as seven.
    pub fn of(data_type: &DataType) -> Option<Self> {
        match *data_type {
            DataType::Date => Some(Self::Date),
            DataType::Time(scale) => Some(Self::Time(scale.min(7))),
            DataType::SmallDateTime => Some(Self::SmallDateTime),
            DataType::DateTime => Some(Self::DateTime),
            DataType::DateTime2(scale) => Some(Self::DateTime2(scale.min(7))),
            DataType::DateTimeOffset(scale) => Some(Self::DateTimeOffset(scale.min(7))),
            DataType::Bit
            | DataType::TinyInt
            | DataType::SmallInt
            | DataType::Int
            | DataType::BigInt
            | DataType::Decimal { .. }
            | DataType::Numeric { .. }
            | DataType::SmallMoney
            | DataType::Money
            | DataType::Real
            | DataType::Float
            | DataType::Char(_)
            | DataType::VarChar(_)
            | DataType::NChar(_)
            | DataType::NVarChar(_)
            | DataType::Binary(_)
            | DataType::VarBinary(_)
            | DataType::UniqueIdentifier => None,
        }
    }

    /// How many digits of a second it has; datetime shows three, as smalldatetime does, all zero.
    pub fn scale(self) -> u8 {
        match self {
            Self::Time(scale) | Self::DateTime2(scale) | Self::DateTimeOffset(scale) => scale,
            Self::SmallDateTime | Self::DateTime => 3,
            Self::Date => 0,
        }
    }

    /// Whether it is datetime or smalldatetime.
    pub fn is_old(self) -> bool {
        matches!(self, Self::SmallDateTime | Self::DateTime)
    }
}
