//! The order of storage forms of sql_variant.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{StoredRef, from_stored};
use crate::{DataType, SqlVariant, Value};

/// Compares two forms as the values: SQLite's collation of sql_variant. What is no form is greater, in the order of its
/// bytes.
#[must_use]
pub fn variant_order(left: &str, right: &str) -> Ordering {
    match (parsed(left.as_bytes()), parsed(right.as_bytes())) {
        (Some(left), Some(right)) => left.order(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// Bytes that are the same for two forms exactly if the values are equal.
#[must_use]
pub fn variant_key(form: &[u8]) -> Vec<u8> {
    parsed(form).map_or_else(|| form.to_vec(), |variant| variant.key())
}

fn parsed(form: &[u8]) -> Option<Arc<SqlVariant>> {
    match from_stored(StoredRef::Text(form), &DataType::SqlVariant) {
        Ok(Value::SqlVariant(variant)) => Some(variant),
        Ok(_) | Err(_) => None,
    }
}
