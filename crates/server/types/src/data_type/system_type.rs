//! The description of a type in sys.types and sys.columns.

use crate::{DataType, Width};

/// The columns of sys.types and sys.columns that describe a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SystemType {
    /// `system_type_id`: also the wire's type byte of a fixed-length type that is not nullable.
    pub system_type_id: u8,
    /// `user_type_id`: the same number, except for alias types.
    pub user_type_id: u32,
    /// `max_length` in bytes; -1 for `max`.
    pub max_length: i16,
    /// `precision`: decimal digits, or characters of a date or time as text; 0 for text and binary.
    pub precision: u8,
    /// `scale`: fractional digits.
    pub scale: u8,
}

impl DataType {
    /// The columns for this type.
    #[must_use]
    pub fn describe(&self) -> SystemType {
        let (system_type_id, precision, scale) = match *self {
            Self::UniqueIdentifier => (36, 0, 0),
            Self::Date => (40, 10, 0),
            Self::Time(scale) => (41, 8 + point_and(scale), scale),
            Self::DateTime2(scale) => (42, 19 + point_and(scale), scale),
            Self::DateTimeOffset(scale) => (43, 26 + point_and(scale), scale),
            Self::TinyInt => (48, 3, 0),
            Self::SmallInt => (52, 5, 0),
            Self::Int => (56, 10, 0),
            Self::SmallDateTime => (58, 16, 0),
            Self::Real => (59, 24, 0),
            Self::Money => (60, 19, 4),
            Self::DateTime => (61, 23, 3),
            Self::Float => (62, 53, 0),
            Self::SqlVariant => (98, 0, 0),
            Self::Xml => (241, 0, 0),
            Self::Bit => (104, 1, 0),
            Self::Decimal { precision, scale } => (106, precision, scale),
            Self::Numeric { precision, scale } => (108, precision, scale),
            Self::SmallMoney => (122, 10, 4),
            Self::BigInt => (127, 19, 0),
            Self::VarBinary(_) => (165, 0, 0),
            Self::VarChar(_) | Self::Utf8VarChar(_) => (167, 0, 0),
            Self::Binary(_) => (173, 0, 0),
            Self::Char(_) | Self::Utf8Char(_) => (175, 0, 0),
            Self::RowVersion => (189, 0, 0),
            Self::NVarChar(_) => (231, 0, 0),
            Self::NChar(_) => (239, 0, 0),
        };
        let max_length = self
            .byte_length_max()
            .and_then(|length| i16::try_from(length).ok())
            .unwrap_or(-1);
        SystemType {
            system_type_id,
            user_type_id: u32::from(system_type_id),
            max_length,
            precision,
            scale,
        }
    }

    /// The maximum size in bytes of a value in SQL Server's storage; `None` for `max`.
    #[must_use]
    pub fn byte_length_max(&self) -> Option<u16> {
        let length = match *self {
            Self::Bit | Self::TinyInt => 1,
            Self::SmallInt => 2,
            Self::Int | Self::SmallMoney | Self::Real | Self::SmallDateTime => 4,
            Self::BigInt | Self::Money | Self::Float | Self::DateTime | Self::RowVersion => 8,
            Self::Decimal { precision, .. } | Self::Numeric { precision, .. } => match precision {
                0..=9 => 5,
                10..=19 => 9,
                20..=28 => 13,
                29.. => 17,
            },
            Self::Char(length)
            | Self::Utf8Char(length)
            | Self::Binary(length)
            | Self::VarChar(Width::Limited(length))
            | Self::Utf8VarChar(Width::Limited(length))
            | Self::VarBinary(Width::Limited(length)) => length,
            Self::NChar(length) | Self::NVarChar(Width::Limited(length)) => length.saturating_mul(2),
            Self::VarChar(Width::Max)
            | Self::Utf8VarChar(Width::Max)
            | Self::NVarChar(Width::Max)
            | Self::VarBinary(Width::Max)
            | Self::Xml => {
                return None;
            }
            Self::Date => 3,
            Self::Time(scale) => time_length(scale),
            Self::DateTime2(scale) => time_length(scale) + 3,
            Self::DateTimeOffset(scale) => time_length(scale) + 5,
            Self::UniqueIdentifier => 16,
            Self::SqlVariant => VARIANT_SIZE_MAX,
        };
        Some(length)
    }
}

/// The number of characters of fractional seconds, including the point.
fn point_and(scale: u8) -> u8 {
    if scale == 0 { 0 } else { scale.saturating_add(1) }
}

/// The size in bytes of a time of day with `scale` fractional digits.
fn time_length(scale: u8) -> u16 {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        5.. => 5,
    }
}

/// A value of 8000 bytes, and 16 bytes for its type.
const VARIANT_SIZE_MAX: u16 = 8016;
