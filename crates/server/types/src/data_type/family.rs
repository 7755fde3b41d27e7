//! Type families and type precedence.

use crate::{DataType, Width};

/// A group of types with the same rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// bit.
    Bit,
    /// tinyint, smallint, int, bigint.
    Integer,
    /// decimal and numeric.
    Decimal,
    /// smallmoney and money.
    Money,
    /// real and float.
    Approximate,
    /// char, varchar, nchar, nvarchar.
    Text,
    /// binary and varbinary.
    Binary,
    /// smalldatetime and datetime, which support `+` and `-`.
    OldDate,
    /// date, datetime2, datetimeoffset.
    NewDate,
    /// time.
    Time,
    /// uniqueidentifier.
    Guid,
    /// sql_variant.
    Variant,
    /// xml.
    Xml,
}

impl DataType {
    /// The type's family.
    #[must_use]
    pub fn family(&self) -> Family {
        match self {
            Self::Bit => Family::Bit,
            Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt => Family::Integer,
            Self::Decimal { .. } | Self::Numeric { .. } => Family::Decimal,
            Self::SmallMoney | Self::Money => Family::Money,
            Self::Real | Self::Float => Family::Approximate,
            Self::Char(_)
            | Self::Utf8Char(_)
            | Self::VarChar(_)
            | Self::Utf8VarChar(_)
            | Self::NChar(_)
            | Self::NVarChar(_) => Family::Text,
            Self::Binary(_) | Self::VarBinary(_) | Self::RowVersion => Family::Binary,
            Self::SmallDateTime | Self::DateTime => Family::OldDate,
            Self::Date | Self::DateTime2(_) | Self::DateTimeOffset(_) => Family::NewDate,
            Self::Time(_) => Family::Time,
            Self::UniqueIdentifier => Family::Guid,
            Self::SqlVariant => Family::Variant,
            Self::Xml => Family::Xml,
        }
    }

    /// The type's rank in T-SQL's data type precedence: of two types, the one with the higher number wins.
    ///
    /// decimal and numeric have the same rank.
    #[must_use]
    pub fn precedence(&self) -> u8 {
        match self {
            Self::Binary(_) => 1,
            Self::VarBinary(_) => 2,
            Self::Char(_) | Self::Utf8Char(_) => 3,
            Self::VarChar(_) | Self::Utf8VarChar(_) => 4,
            Self::NChar(_) => 5,
            Self::NVarChar(_) => 6,
            Self::UniqueIdentifier => 7,
            Self::RowVersion => 8,
            Self::Bit => 9,
            Self::TinyInt => 10,
            Self::SmallInt => 11,
            Self::Int => 12,
            Self::BigInt => 13,
            Self::SmallMoney => 14,
            Self::Money => 15,
            Self::Decimal { .. } | Self::Numeric { .. } => 16,
            Self::Real => 17,
            Self::Float => 18,
            Self::Time(_) => 19,
            Self::Date => 20,
            Self::SmallDateTime => 21,
            Self::DateTime => 22,
            Self::DateTime2(_) => 23,
            Self::DateTimeOffset(_) => 24,
            Self::Xml => 25,
            Self::SqlVariant => 26,
        }
    }

    /// Whether text of this type is UTF-16: nchar and nvarchar.
    #[must_use]
    pub fn is_national(&self) -> bool {
        matches!(self, Self::NChar(_) | Self::NVarChar(_))
    }

    /// Whether values are padded to their length: char, nchar, binary, rowversion.
    #[must_use]
    pub fn is_padded(&self) -> bool {
        matches!(
            self,
            Self::Char(_) | Self::Utf8Char(_) | Self::NChar(_) | Self::Binary(_) | Self::RowVersion
        )
    }

    /// Whether it is a `max` type.
    #[must_use]
    pub fn is_max(&self) -> bool {
        self.width() == Some(Width::Max)
    }

    /// The declared length of a text or binary type, in the unit of [`Width`]; `None` for any other type.
    #[must_use]
    pub fn width(&self) -> Option<Width> {
        match *self {
            Self::Char(length) | Self::Utf8Char(length) | Self::NChar(length) | Self::Binary(length) => {
                Some(Width::Limited(length))
            }
            Self::VarChar(width) | Self::Utf8VarChar(width) | Self::NVarChar(width) | Self::VarBinary(width) => {
                Some(width)
            }
            Self::RowVersion => Some(Width::Limited(ROW_VERSION_SIZE)),
            Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Decimal { .. }
            | Self::Numeric { .. }
            | Self::SmallMoney
            | Self::Money
            | Self::Real
            | Self::Float
            | Self::Date
            | Self::Time(_)
            | Self::SmallDateTime
            | Self::DateTime
            | Self::DateTime2(_)
            | Self::DateTimeOffset(_)
            | Self::UniqueIdentifier
            | Self::SqlVariant
            | Self::Xml => None,
        }
    }

    /// Precision and scale of decimal and numeric.
    #[must_use]
    pub fn decimal_digits(&self) -> Option<(u8, u8)> {
        match *self {
            Self::Decimal { precision, scale } | Self::Numeric { precision, scale } => Some((precision, scale)),
            Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::SmallMoney
            | Self::Money
            | Self::Real
            | Self::Float
            | Self::Char(_)
            | Self::Utf8Char(_)
            | Self::VarChar(_)
            | Self::Utf8VarChar(_)
            | Self::NChar(_)
            | Self::NVarChar(_)
            | Self::Binary(_)
            | Self::RowVersion
            | Self::VarBinary(_)
            | Self::Date
            | Self::Time(_)
            | Self::SmallDateTime
            | Self::DateTime
            | Self::DateTime2(_)
            | Self::DateTimeOffset(_)
            | Self::UniqueIdentifier
            | Self::SqlVariant
            | Self::Xml => None,
        }
    }
}

/// The bytes of a rowversion.
const ROW_VERSION_SIZE: u16 = 8;
