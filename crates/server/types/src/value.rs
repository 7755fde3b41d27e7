//! Values.

use std::sync::Arc;

use crate::{DataType, Encoding};

/// A value of a type, or NULL of any type.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// NULL.
    Null,
    /// bit.
    Bit(bool),
    /// tinyint.
    TinyInt(u8),
    /// smallint.
    SmallInt(i16),
    /// int.
    Int(i32),
    /// bigint.
    BigInt(i64),
    /// decimal and numeric.
    Decimal(Decimal),
    /// money and smallmoney, in units of 1/10,000.
    Money(i64),
    /// real.
    Real(f32),
    /// float.
    Float(f64),
    /// char, varchar, nchar, nvarchar. The padding of char and nchar is part of the text.
    Text(Arc<str>),
    /// binary and varbinary. The padding of binary is part of the bytes.
    Binary(Arc<[u8]>),
    /// date.
    Date(Date),
    /// time.
    Time(TimeOfDay),
    /// datetime, smalldatetime and datetime2; the first two are already rounded to their precision.
    DateTime(DateTime2),
    /// datetimeoffset.
    DateTimeOffset(DateTimeOffset),
    /// uniqueidentifier.
    Guid(Guid),
    /// sql_variant.
    SqlVariant(Arc<SqlVariant>),
}

impl Value {
    /// The number in a value of an integer type.
    #[must_use]
    pub fn as_whole(&self) -> Option<i64> {
        match self {
            Self::TinyInt(number) => Some(i64::from(*number)),
            Self::SmallInt(number) => Some(i64::from(*number)),
            Self::Int(number) => Some(i64::from(*number)),
            Self::BigInt(number) => Some(*number),
            Self::Null
            | Self::Bit(_)
            | Self::Decimal(_)
            | Self::Money(_)
            | Self::Real(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Binary(_)
            | Self::Date(_)
            | Self::Time(_)
            | Self::DateTime(_)
            | Self::DateTimeOffset(_)
            | Self::Guid(_)
            | Self::SqlVariant(_) => None,
        }
    }

    /// The digits of a decimal as an integer, or the number in a value of an integer type.
    #[must_use]
    pub fn unscaled(&self) -> Option<i128> {
        if let Self::Decimal(decimal) = self {
            return Some(decimal.unscaled);
        }
        self.as_whole().map(i128::from)
    }
}

/// A value other than NULL, and its type: NULL of sql_variant has no type.
///
/// Text has the server's collation.
#[derive(Clone, PartialEq, Debug)]
pub struct SqlVariant {
    data_type: DataType,
    value: Value,
}

impl SqlVariant {
    /// Whether a sql_variant holds values of the type: of all but `max` types, rowversion, sql_variant, xml and text in
    /// UTF-8.
    #[must_use]
    pub fn holds(data_type: &DataType) -> bool {
        let is_value = !matches!(data_type, DataType::RowVersion | DataType::SqlVariant | DataType::Xml);
        is_value && !data_type.is_max() && data_type.encoding() != Encoding::Utf8
    }

    /// `value` of type `data_type` as a sql_variant: NULL for NULL; `None` for a type that it does not hold.
    #[must_use]
    pub fn of(data_type: DataType, value: Value) -> Option<Value> {
        if value == Value::Null {
            return Some(Value::Null);
        }
        Self::holds(&data_type).then(|| Value::SqlVariant(Arc::new(Self { data_type, value })))
    }

    /// The type of the value.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The value, which is not NULL.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }
}

/// A decimal number: `unscaled` divided by 10^`scale`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimal {
    /// All digits: its absolute value is below 10^38.
    pub unscaled: i128,
    /// The number of fractional digits: 0 to 38.
    pub scale: u8,
}

/// The day number since 0001-01-01, which is 0; at most 3652058, 9999-12-31.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Date(pub u32);

/// Units of 100 ns since midnight: below 864,000,000,000.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TimeOfDay(pub u64);

/// A date and a time of day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DateTime2 {
    /// The date.
    pub date: Date,
    /// The time of day.
    pub time: TimeOfDay,
}

/// An instant with an offset from UTC.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DateTimeOffset {
    /// The instant in UTC.
    pub utc: DateTime2,
    /// Minutes east of UTC: -840 to 840.
    pub offset_minutes: i16,
}

/// 16 bytes in wire order (the first three groups are little-endian).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guid(pub [u8; 16]);
