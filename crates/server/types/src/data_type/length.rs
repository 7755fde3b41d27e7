//! Lengths of values.

use super::{LENGTH_MAX, NATIONAL_LENGTH_MAX};
use crate::{DataType, Decimal, Family, Value, Width, narrow_length, utf16_length};

impl DataType {
    /// DATALENGTH: the size in bytes of `value`, which has this type, in SQL Server's storage; `None` for NULL.
    ///
    /// The size of a decimal depends on its digits, not on its precision, as in SQL Server.
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

    /// The length of `text` in the type's unit: UTF-16 units for nchar and nvarchar, otherwise bytes of code page 1252.
    #[must_use]
    pub fn text_length(&self, text: &str) -> usize {
        if self.is_national() {
            utf16_length(text)
        } else {
            narrow_length(text)
        }
    }

    /// Whether the type holds `length` units.
    #[must_use]
    pub fn fits(&self, length: usize) -> bool {
        match self.width() {
            Some(Width::Limited(width)) => length <= usize::from(width),
            Some(Width::Max) | None => true,
        }
    }
}

/// A sign byte, and four-byte words for the magnitude.
fn decimal_length(decimal: Decimal) -> usize {
    let bits = u128::BITS - decimal.unscaled.unsigned_abs().leading_zeros();
    match bits {
        0..=32 => 5,
        33..=64 => 9,
        65..=96 => 13,
        97.. => 17,
    }
}

/// The type of a concatenation: the sum of both lengths, up to the type's maximum.
pub(crate) fn concatenated(left: &DataType, right: &DataType) -> DataType {
    joined_strings(left, right, |left, right| left.saturating_add(right))
}

/// nvarchar takes precedence over varchar, variable length over fixed length, and `max` over all.
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
