//! The declared type of a column or parameter, and the check of values against it.

use selenite_types::{DataType, Decimal, Encoding, Value, Width};

use super::type_info::IN_CHUNKS;
use super::{Collation, moment};
use crate::type_byte as byte;
use crate::{TdsError, utf16};

/// The type of a column or parameter, and whether it allows NULL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    data_type: DataType,
    is_nullable: bool,
    collation: Collation,
}

impl Cell {
    /// Errors: `Misfit` if the type's width, precision or scale is invalid.
    pub fn new(data_type: DataType, is_nullable: bool) -> Result<Self, TdsError> {
        let is_right = match data_type {
            DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale } => {
                (1..=38).contains(&precision) && scale <= precision
            }
            DataType::Char(size) | DataType::Utf8Char(size) | DataType::Binary(size) => (1..=8000).contains(&size),
            DataType::VarChar(Width::Limited(size))
            | DataType::Utf8VarChar(Width::Limited(size))
            | DataType::VarBinary(Width::Limited(size)) => (1..=8000).contains(&size),
            DataType::NChar(size) | DataType::NVarChar(Width::Limited(size)) => (1..=4000).contains(&size),
            DataType::Time(scale) | DataType::DateTime2(scale) | DataType::DateTimeOffset(scale) => scale <= 7,
            DataType::Bit
            | DataType::TinyInt
            | DataType::SmallInt
            | DataType::Int
            | DataType::BigInt
            | DataType::SmallMoney
            | DataType::Money
            | DataType::Real
            | DataType::Float
            | DataType::VarChar(Width::Max)
            | DataType::Utf8VarChar(Width::Max)
            | DataType::NVarChar(Width::Max)
            | DataType::VarBinary(Width::Max)
            | DataType::RowVersion
            | DataType::Date
            | DataType::SmallDateTime
            | DataType::DateTime
            | DataType::UniqueIdentifier
            | DataType::SqlVariant
            | DataType::Xml => true,
        };
        let cell = Self {
            data_type,
            is_nullable,
            collation: Collation::DEFAULT,
        };
        is_right.then_some(cell).ok_or(TdsError::Misfit { what: "a type" })
    }

    /// With the collation of its text.
    pub fn collated(self, collation: Collation) -> Self {
        Self { collation, ..self }
    }

    /// Appends TYPE_INFO: as in SQL Server, a fixed-length type if NULL is not allowed.
    pub fn type_info(&self, out: &mut Vec<u8>) {
        match self.data_type {
            DataType::Bit => self.fixed_or(byte::BIT, byte::BIT_N, 1, out),
            DataType::TinyInt => self.fixed_or(byte::INT1, byte::INT_N, 1, out),
            DataType::SmallInt => self.fixed_or(byte::INT2, byte::INT_N, 2, out),
            DataType::Int => self.fixed_or(byte::INT4, byte::INT_N, 4, out),
            DataType::BigInt => self.fixed_or(byte::INT8, byte::INT_N, 8, out),
            DataType::SmallMoney => self.fixed_or(byte::MONEY4, byte::MONEY_N, 4, out),
            DataType::Money => self.fixed_or(byte::MONEY8, byte::MONEY_N, 8, out),
            DataType::Real => self.fixed_or(byte::FLOAT4, byte::FLOAT_N, 4, out),
            DataType::Float => self.fixed_or(byte::FLOAT8, byte::FLOAT_N, 8, out),
            DataType::SmallDateTime => self.fixed_or(byte::DATETIME4, byte::DATETIME_N, 4, out),
            DataType::DateTime => self.fixed_or(byte::DATETIME8, byte::DATETIME_N, 8, out),
            DataType::Decimal { precision, scale } => {
                out.extend([byte::DECIMAL_N, decimal_size(precision), precision, scale]);
            }
            DataType::Numeric { precision, scale } => {
                out.extend([byte::NUMERIC_N, decimal_size(precision), precision, scale]);
            }
            DataType::Char(size) | DataType::Utf8Char(size) => string(byte::BIG_CHAR, size, self.narrow(), out),
            DataType::VarChar(width) | DataType::Utf8VarChar(width) => {
                string(byte::BIG_VARCHAR, size_of(width, 1), self.narrow(), out);
            }
            DataType::NChar(size) => string(byte::NCHAR, size * 2, Some(self.collation), out),
            DataType::NVarChar(width) => string(byte::NVARCHAR, size_of(width, 2), Some(self.collation), out),
            DataType::Binary(size) => string(byte::BIG_BINARY, size, None, out),
            DataType::RowVersion => string(byte::BIG_BINARY, ROW_VERSION_SIZE, None, out),
            DataType::VarBinary(width) => string(byte::BIG_VARBINARY, size_of(width, 1), None, out),
            DataType::Date => out.push(byte::DATE_N),
            DataType::Time(scale) => out.extend([byte::TIME_N, scale]),
            DataType::DateTime2(scale) => out.extend([byte::DATETIME2_N, scale]),
            DataType::DateTimeOffset(scale) => out.extend([byte::DATETIMEOFFSET_N, scale]),
            DataType::UniqueIdentifier => out.extend([byte::GUID, 16]),
            // MS-TDS 2.2.5.5.3: of no schema collection.
            DataType::Xml => out.extend([byte::XML, 0]),
            DataType::SqlVariant => {
                out.push(byte::VARIANT);
                out.extend(VARIANT_SIZE_MAX.to_le_bytes());
            }
        }
    }

    /// The size of NULL in a ROW; `None` if NULL is not allowed.
    pub fn null_size(&self) -> Option<u16> {
        self.is_nullable.then_some(match self.data_type {
            DataType::VarChar(Width::Max)
            | DataType::Utf8VarChar(Width::Max)
            | DataType::NVarChar(Width::Max)
            | DataType::VarBinary(Width::Max)
            | DataType::Xml => 8,
            DataType::Char(_)
            | DataType::Utf8Char(_)
            | DataType::VarChar(_)
            | DataType::Utf8VarChar(_)
            | DataType::NChar(_)
            | DataType::NVarChar(_)
            | DataType::Binary(_)
            | DataType::RowVersion
            | DataType::VarBinary(_) => 2,
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
            | DataType::Date
            | DataType::Time(_)
            | DataType::SmallDateTime
            | DataType::DateTime
            | DataType::DateTime2(_)
            | DataType::DateTimeOffset(_)
            | DataType::UniqueIdentifier => 1,
            DataType::SqlVariant => 4,
        })
    }

    /// Whether [`Cell::write`] accepts this value.
    #[inline]
    pub fn fits(&self, value: &Value) -> bool {
        match (self.data_type, value) {
            (_, Value::Null) => self.is_nullable,
            (DataType::Bit, Value::Bit(_))
            | (DataType::TinyInt, Value::TinyInt(_))
            | (DataType::SmallInt, Value::SmallInt(_))
            | (DataType::Int, Value::Int(_))
            | (DataType::BigInt, Value::BigInt(_))
            | (DataType::Money, Value::Money(_))
            | (DataType::UniqueIdentifier, Value::Guid(_)) => true,
            (
                DataType::VarChar(Width::Max)
                | DataType::Utf8VarChar(Width::Max)
                | DataType::NVarChar(Width::Max)
                | DataType::Xml,
                Value::Text(text),
            ) => text.len() <= LARGE_SIZE_MAX,
            (DataType::VarBinary(Width::Max), Value::Binary(bytes)) => bytes.len() <= LARGE_SIZE_MAX,
            (DataType::SmallMoney, Value::Money(money)) => i32::try_from(*money).is_ok(),
            (
                DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale },
                Value::Decimal(decimal),
            ) => rescaled(*decimal, precision, scale).is_some(),
            (DataType::Real, Value::Real(real)) => real.is_finite(),
            (DataType::Float, Value::Float(float)) => float.is_finite(),
            // A text never has more characters or UTF-16 units than UTF-8 bytes.
            (DataType::Char(size) | DataType::VarChar(Width::Limited(size)), Value::Text(text)) => {
                text.len() <= size.into() || text.chars().count() <= size.into()
            }
            (DataType::Utf8Char(size) | DataType::Utf8VarChar(Width::Limited(size)), Value::Text(text)) => {
                text.len() <= size.into()
            }
            (DataType::NChar(size) | DataType::NVarChar(Width::Limited(size)), Value::Text(text)) => {
                text.len() <= size.into() || utf16::len(text) <= size.into()
            }
            (DataType::Binary(size) | DataType::VarBinary(Width::Limited(size)), Value::Binary(bytes)) => {
                bytes.len() <= size.into()
            }
            (DataType::SqlVariant, Value::SqlVariant(value)) => {
                Self::new(*value.data_type(), false).is_ok_and(|cell| cell.fits(value.value()))
            }
            (DataType::RowVersion, Value::Binary(bytes)) => bytes.len() == ROW_VERSION_SIZE.into(),
            (DataType::Date, Value::Date(date)) => moment::is_date(*date),
            (DataType::Time(_), Value::Time(time)) => moment::is_time(*time),
            (DataType::DateTime2(_), Value::DateTime(moment)) => moment::is_moment(*moment),
            (DataType::DateTime, Value::DateTime(moment)) => moment::to_datetime(*moment).is_some(),
            (DataType::SmallDateTime, Value::DateTime(moment)) => moment::to_smalldatetime(*moment).is_some(),
            (DataType::DateTimeOffset(_), Value::DateTimeOffset(moment)) => moment::is_moment_with_offset(*moment),
            _ => false,
        }
    }
}

impl Cell {
    pub(super) fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The collation of char and varchar, which says how they are encoded.
    fn narrow(&self) -> Option<Collation> {
        Some(self.collation.in_utf8(self.data_type.encoding() == Encoding::Utf8))
    }

    pub(super) fn is_nullable(&self) -> bool {
        self.is_nullable
    }

    /// Appends a fixed-length type, or its nullable variant, whose values have a size prefix.
    fn fixed_or(&self, fixed: u8, nullable: u8, size: u8, out: &mut Vec<u8>) {
        if self.is_nullable {
            out.extend([nullable, size]);
        } else {
            out.push(fixed);
        }
    }
}

/// 2 GiB - 1: the maximum size of varchar(max), and so of one chunk.
const LARGE_SIZE_MAX: usize = (1 << 31) - 1;

/// Appends a USHORTLEN_TYPE.
fn string(byte: u8, size: u16, collation: Option<Collation>, out: &mut Vec<u8>) {
    out.push(byte);
    out.extend(size.to_le_bytes());
    if let Some(Collation(bytes)) = collation {
        out.extend(bytes);
    }
}

fn size_of(width: Width, unit_size: u16) -> u16 {
    match width {
        Width::Limited(count) => count * unit_size,
        Width::Max => IN_CHUNKS,
    }
}

/// MS-TDS 2.2.5.5.1.6: the size of sign and magnitude.
pub(super) fn decimal_size(precision: u8) -> u8 {
    match precision {
        0..=9 => 5,
        10..=19 => 9,
        20..=28 => 13,
        _ => 17,
    }
}

/// The decimal's unscaled value at `scale`; `None` if it exceeds `precision`.
pub(super) fn rescaled(decimal: Decimal, precision: u8, scale: u8) -> Option<i128> {
    let unscaled = match scale.checked_sub(decimal.scale)? {
        0 => decimal.unscaled,
        digits => decimal.unscaled.checked_mul(*POWERS.get(usize::from(digits))?)?,
    };
    let limit = *POWERS.get(usize::from(precision))?;
    (-limit < unscaled && unscaled < limit).then_some(unscaled)
}

/// Powers of 10 up to 38, the maximum precision.
const POWERS: [i128; 39] = {
    let mut powers = [1; 39];
    let mut place = 1;
    while place < powers.len() {
        powers[place] = powers[place - 1] * 10;
        place += 1;
    }
    powers
};

/// The maximum size of a sql_variant that SQL Server tells and accepts: a value of 8000 bytes, its type and properties.
pub(super) const VARIANT_SIZE_MAX: u32 = 8009;

/// The bytes of a rowversion.
const ROW_VERSION_SIZE: u16 = 8;
