use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{Date, DateTime2, DateTimeOffset, Guid, TimeOfDay};

fn guid(text: &str) -> Guid {
    let digits: String = text.chars().filter(|digit| *digit != '-').collect();
    let byte = |at: usize| u8::from_str_radix(&digits[at * 2..at * 2 + 2], 16).unwrap();
    Guid([3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map(byte))
}

fn compared(left: &Value, right: &Value) -> Option<Ordering> {
    let order = compare(left, right, Collation::DEFAULT);
    assert_eq!(compare(right, left, Collation::DEFAULT), order.map(Ordering::reverse));
    order
}

#[test]
fn a_comparison_with_null_is_unknown() {
    assert_eq!(compared(&Value::Null, &Value::Int(1)), None);
    assert_eq!(compared(&Value::Null, &Value::Null), None);
    assert_eq!(order(&Value::Null, &Value::Null, Collation::DEFAULT), Ordering::Equal);
    assert_eq!(
        order(&Value::Null, &Value::Int(i32::MIN), Collation::DEFAULT),
        Ordering::Less
    );
}

#[test]
fn values_of_one_type_are_compared_by_value() {
    let decimal = |unscaled, scale| Value::Decimal(Decimal { unscaled, scale });
    let text = |text: &str| Value::Text(text.into());
    let at = |day, time| DateTime2 {
        date: Date(day),
        time: TimeOfDay(time),
    };
    let offset = |day, time, offset_minutes| {
        Value::DateTimeOffset(DateTimeOffset {
            utc: at(day, time),
            offset_minutes,
        })
    };
    for (left, right, expected) in [
        (Value::Int(1), Value::BigInt(1), Ordering::Equal),
        (Value::TinyInt(1), Value::SmallInt(-1), Ordering::Greater),
        (Value::Bit(false), Value::Bit(true), Ordering::Less),
        (decimal(10, 1), decimal(100, 2), Ordering::Equal),
        (decimal(-10, 1), decimal(-1, 1), Ordering::Less),
        (Value::Money(1), Value::Money(2), Ordering::Less),
        (Value::Float(0.0), Value::Float(-0.0), Ordering::Equal),
        (Value::Real(1.5), Value::Real(1.25), Ordering::Greater),
        (text("abc "), text("ABC"), Ordering::Equal),
        (
            Value::Binary([1][..].into()),
            Value::Binary([1, 0][..].into()),
            Ordering::Less,
        ),
        (Value::Date(Date(1)), Value::Date(Date(2)), Ordering::Less),
        (Value::Time(TimeOfDay(1)), Value::Time(TimeOfDay(2)), Ordering::Less),
        (Value::DateTime(at(1, 9)), Value::DateTime(at(2, 0)), Ordering::Less),
        (offset(5, 0, 60), offset(5, 0, -60), Ordering::Equal),
        (offset(5, 1, 60), offset(5, 2, -60), Ordering::Less),
    ] {
        assert_eq!(compared(&left, &right), Some(expected), "{left:?} {right:?}");
    }
    assert_eq!(compared(&Value::Int(1), &text("1")), None);
    let binary = compare(&text("abc"), &text("ABC"), Collation::BIN2);
    assert_eq!(binary, Some(Ordering::Greater));
}

#[test]
fn a_guid_is_compared_by_its_last_group_first() {
    // In ascending order: each has one nonzero digit, in a more significant position than the one before.
    let ascending = [
        "00000000-0000-0000-0000-000000000000",
        "01000000-0000-0000-0000-000000000000",
        "00010000-0000-0000-0000-000000000000",
        "00000100-0000-0000-0000-000000000000",
        "00000001-0000-0000-0000-000000000000",
        "00000000-0100-0000-0000-000000000000",
        "00000000-0001-0000-0000-000000000000",
        "00000000-0000-0100-0000-000000000000",
        "00000000-0000-0001-0000-000000000000",
        "00000000-0000-0000-0001-000000000000",
        "00000000-0000-0000-0100-000000000000",
        "00000000-0000-0000-0000-000000000001",
        "00000000-0000-0000-0000-000000000100",
        "00000000-0000-0000-0000-000000010000",
        "00000000-0000-0000-0000-000001000000",
        "00000000-0000-0000-0000-000100000000",
        "00000000-0000-0000-0000-010000000000",
    ];
    for pair in ascending.windows(2) {
        let (low, high) = (Value::Guid(guid(pair[0])), Value::Guid(guid(pair[1])));
        assert_eq!(compared(&low, &high), Some(Ordering::Less), "{pair:?}");
    }
}

/// Values of all types, close to each other.
fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bit),
        (-2..3_i32).prop_map(Value::Int),
        (-2..3_i64).prop_map(Value::BigInt),
        (-20..20_i128, 0..3_u8).prop_map(|(unscaled, scale)| Value::Decimal(Decimal { unscaled, scale })),
        (-2..3_i64).prop_map(Value::Money),
        any::<f64>().prop_map(Value::Float),
        any::<f32>().prop_map(Value::Real),
        "[abA ]{0,3}".prop_map(|text| Value::Text(Arc::from(text))),
        prop::collection::vec(0..3_u8, 0..3).prop_map(|bytes| Value::Binary(Arc::from(bytes))),
        (0..3_u32).prop_map(|day| Value::Date(Date(day))),
        any::<[u8; 16]>().prop_map(|bytes| Value::Guid(Guid(bytes))),
    ]
}

proptest! {
    #[test]
    fn order_is_total_over_all_values(a in values(), b in values(), c in values()) {
        let order = |left: &Value, right: &Value| order(left, right, Collation::DEFAULT);
        prop_assert_eq!(order(&a, &a), Ordering::Equal);
        prop_assert_eq!(order(&a, &b), order(&b, &a).reverse());
        if order(&a, &b) == order(&b, &c) {
            prop_assert_eq!(order(&a, &c), order(&a, &b));
        }
        if let Some(known) = compared(&a, &b) {
            prop_assert_eq!(known, order(&a, &b));
        }
    }

    #[test]
    fn guid_order_is_invertible(bytes in any::<[u8; 16]>()) {
        prop_assert_eq!(guid_from_ordered(guid_ordered(Guid(bytes))), Guid(bytes));
        prop_assert_eq!(guid_ordered(guid_from_ordered(bytes)), bytes);
    }
}
