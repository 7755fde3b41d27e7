//! Comparison and ordering of values.

mod guid_order;

pub use guid_order::{guid_from_ordered, guid_ordered};

use std::cmp::Ordering;

use selenite_collation::Collation;

use crate::{Decimal, Value, decimal};

/// Compares two values of one type.
///
/// `None` if either is NULL: the result is then unknown. Also `None` for values of different types, which is the
/// caller's fault; integers of different widths and decimals of different scales count as one type.
#[must_use]
pub fn compare(left: &Value, right: &Value, collation: Collation) -> Option<Ordering> {
    Some(match (left, right) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::BigInt(a), Value::BigInt(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => collation.compare(a.as_bytes(), b.as_bytes()),
        (Value::Bit(a), Value::Bit(b)) => a.cmp(b),
        (Value::Decimal(a), Value::Decimal(b)) => decimal::compare(*a, *b),
        (Value::Money(a), Value::Money(b)) => a.cmp(b),
        (Value::Real(a), Value::Real(b)) => compare_floats(f64::from(*a), f64::from(*b)),
        (Value::Float(a), Value::Float(b)) => compare_floats(*a, *b),
        (Value::Binary(a), Value::Binary(b)) => a.cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::DateTime(a), Value::DateTime(b)) => (a.date, a.time).cmp(&(b.date, b.time)),
        (Value::DateTimeOffset(a), Value::DateTimeOffset(b)) => (a.utc.date, a.utc.time).cmp(&(b.utc.date, b.utc.time)),
        (Value::Guid(a), Value::Guid(b)) => guid_ordered(*a).cmp(&guid_ordered(*b)),
        (Value::SqlVariant(a), Value::SqlVariant(b)) => a.order(b),
        _ => return Some(integer(left)?.cmp(&integer(right)?)),
    })
}

/// Orders two values of one type as in ORDER BY, DISTINCT and MIN: NULL sorts first, and equals NULL.
///
/// The order is total: values of different types are ordered by variant.
#[must_use]
pub fn order(left: &Value, right: &Value, collation: Collation) -> Ordering {
    match compare(left, right, collation) {
        Some(order) => order,
        None => rank(left).cmp(&rank(right)),
    }
}

/// An integer of any width.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::TinyInt(value) => Some(i64::from(*value)),
        Value::SmallInt(value) => Some(i64::from(*value)),
        Value::Int(value) => Some(i64::from(*value)),
        Value::BigInt(value) => Some(*value),
        Value::Null
        | Value::Bit(_)
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::Real(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Binary(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_)
        | Value::SqlVariant(_) => None,
    }
}

/// Both zeros are equal; NaN, which no valid value is, is ordered, too.
fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.total_cmp(&right))
}

/// The rank of a variant in the total order.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bit(_) => 1,
        Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_) | Value::BigInt(_) => 2,
        Value::Decimal(_) => 3,
        Value::Money(_) => 4,
        Value::Real(_) => 5,
        Value::Float(_) => 6,
        Value::Text(_) => 7,
        Value::Binary(_) => 8,
        Value::Date(_) => 9,
        Value::Time(_) => 10,
        Value::DateTime(_) => 11,
        Value::DateTimeOffset(_) => 12,
        Value::Guid(_) => 13,
        Value::SqlVariant(_) => 14,
    }
}

/// Whether two decimals are equal, regardless of scale.
#[must_use]
pub fn decimals_equal(left: Decimal, right: Decimal) -> bool {
    decimal::compare(left, right) == Ordering::Equal
}

#[cfg(test)]
mod tests;
