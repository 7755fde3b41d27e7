//! The date and time types.

use crate::DataType;

/// A type with a date, a time or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MomentType {
    Date,
    /// The number of fractional second digits.
    Time(u8),
    SmallDateTime,
    DateTime,
    /// The number of fractional second digits.
    DateTime2(u8),
    /// The number of fractional second digits.
    DateTimeOffset(u8),
}

impl MomentType {
    /// `None` for any other type. A scale above seven is treated as seven.
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
            | DataType::Utf8Char(_)
            | DataType::VarChar(_)
            | DataType::Utf8VarChar(_)
            | DataType::NChar(_)
            | DataType::NVarChar(_)
            | DataType::Binary(_)
            | DataType::RowVersion
            | DataType::VarBinary(_)
            | DataType::UniqueIdentifier
            | DataType::SqlVariant
            | DataType::Xml => None,
        }
    }

    /// The number of displayed fractional second digits; datetime has three, and so has smalldatetime, always zero.
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
