//! Lengths of types.

use super::LENGTH_MAX;
use crate::{DataType, Family, Width};

impl DataType {
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
    let is_binary = left.family() == Family::Binary;
    let encoding = left.encoding().max(right.encoding());
    let width_of = |side: &DataType| side.width().map(|width| encoding.width_of(width, side.encoding()));
    let width = match (width_of(left), width_of(right)) {
        (Some(Width::Limited(left)), Some(Width::Limited(right))) => Width::Limited(join(left, right).min(LENGTH_MAX)),
        _ => Width::Max,
    };
    match width {
        Width::Limited(length) if left.is_padded() && right.is_padded() => match is_binary {
            true => DataType::Binary(length),
            false => encoding.padded(length),
        },
        Width::Limited(_) | Width::Max => match is_binary {
            true => DataType::VarBinary(width),
            false => encoding.varying(width),
        },
    }
}
