//! DATALENGTH.

use crate::{DataType, Decimal, Value, utf16_length};

impl DataType {
    /// DATALENGTH: the size in bytes of `value`, which has this type, in SQL Server's storage; `None` for NULL.
    ///
    /// The size of a decimal depends on its digits, not on its precision, as in SQL Server.
    #[must_use]
    pub fn data_length(&self, value: &Value) -> Option<usize> {
        match value {
            Value::Null => None,
            Value::Text(text) if self.is_national() || *self == Self::Xml => Some(utf16_length(text).saturating_mul(2)),
            Value::Text(text) => Some(self.text_length(text)),
            Value::Binary(bytes) => Some(bytes.len()),
            Value::Decimal(decimal) => Some(decimal_length(*decimal)),
            Value::SqlVariant(variant) => variant.data_type().data_length(variant.value()),
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
