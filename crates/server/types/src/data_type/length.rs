//! How long a value is.

use super::{LENGTH_MAX, NATIONAL_LENGTH_MAX};
use crate::{DataType, Decimal, Family, Value, Width, narrow_length, utf16_length};

impl DataType {
    /// DATALENGTH: the bytes that `value`, which is of this type, has in SQL Server's own storage; `None` for NULL.
    ///
    /// A decimal has as many as its digits need, not as its type allows: that is what SQL Server answers.
    #[must_use]
    pub fn data_length(&self, value: &Value) -> Option<usize> {
        match value {
            Value::Null => None,
            Value::Text(text) if self.is_national() => Some(utf16_length(text).saturating_mul(2)),
            Value::Text(text) => Some(narrow_length(text)),
            Value::Binary(bytes) => Some(bytes.len()),
            Value::Decimal(decimal) => Some(decimal_length(*decimal)),
            Value::Bit(_)
            | Value::TinyInt(_)
            | Value::SmallInt(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Money(_)
            | Value::Real(_)
            | Value::Float(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime(_)
            | Value::DateTimeOffset(_)
            | Value::Guid(_) => self.byte_length_max().map(usize::from),
        }
    }

    /// How long `text` is in the type's own unit: units of UTF-16 for nchar and nvarchar, else bytes of code page 1252.
    #[must_use]
    pub fn text_length(&self, text: &str) -> usize {
        if self.is_national() {
            utf16_length(text)
        } else {
            narrow_length(text)
        }
    }

    /// Whether `length` of the type's own units fit.
    #[must_use]
    pub fn fits(&self, length: usize) -> bool {
        match self.width() {
            Some(Width::Limited(width)) => length <= usize::from(width),
            Some(Width::Max) | None => true,
        }
    }
}

/// A byte for the sign, and words of four for the digits.
fn decimal_length(decimal: Decimal) -> usize {
    let bits = u128::BITS - decimal.unscaled.unsigned_abs().leading_zeros();
    match bits {
        0..=32 => 5,
        33..=64 => 9,
        65..=96 => 13,
        97.. => 17,
    }
}

/// The type of two concatenated strings: as long as both together, but no longer than such a type can be.
pub(crate) fn concatenated(left: &DataType, right: &DataType) -> DataType {
    joined_strings(left, right, |left, right| left.saturating_add(right))
}

/// nvarchar wins over varchar, a length that varies over a fixed one, and `max` over all.
pub(crate) fn joined_strings(left: &DataType, right: &DataType, join: fn(u16, u16) -> u16) -> DataType {
    let is_national = left.is_national() || right.is_national();
    let is_binary = left.family() == Family::Binary;
    let width = match (left.width(), right.width()) {
        (Some(Width::Limited(left)), Some(Width::Limited(right))) => {
            Width::Limited(join(left, right).min(if is_national { NATIONAL_LENGTH_MAX } else { LENGTH_MAX }))
        }
        _ => Width::Max,
    };
    match width {
        Width::Limited(length) if left.is_padded() && right.is_padded() => {
            if is_binary {
                DataType::Binary(length)
            } else if is_national {
                DataType::NChar(length)
            } else {
                DataType::Char(length)
            }
        }
        Width::Limited(_) | Width::Max => {
            if is_binary {
                DataType::VarBinary(width)
            } else if is_national {
                DataType::NVarChar(width)
            } else {
                DataType::VarChar(width)
            }
        }
    }
}
