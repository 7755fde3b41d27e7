//! Lengths of texts, and of types.

use super::{LENGTH_MAX, NATIONAL_LENGTH_MAX};
use crate::{DataType, Family, Width, narrow_length, utf16_length};

impl DataType {
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
