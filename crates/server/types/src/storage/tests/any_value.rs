//! Strategies for any value of any type, and for any form.

use proptest::prelude::*;

use super::*;
use crate::data_type::tests::all_types;
use crate::{SqlVariant, normalized};

/// SQLite's order of two values in a column of a type.
fn sqlite_order(left: &Stored<'_>, right: &Stored<'_>, declared: &DataType) -> Ordering {
    match (left, right) {
        (Stored::Integer(a), Stored::Integer(b)) => a.cmp(b),
        (Stored::Real(a), Stored::Real(b)) => a.partial_cmp(b).unwrap(),
        (Stored::Text(a), Stored::Text(b)) if declared.family() == Family::Text => collate(a.as_bytes(), b.as_bytes()),
        (Stored::Text(a), Stored::Text(b)) if matches!(declared, DataType::DateTimeOffset(_)) => {
            instant_order(a.as_bytes(), b.as_bytes())
        }
        (Stored::Text(a), Stored::Text(b)) if *declared == DataType::SqlVariant => variant_order(a, b),
        (Stored::Text(a), Stored::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Stored::Blob(a), Stored::Blob(b)) => a.cmp(b),
        _ => panic!("{left:?} and {right:?} are of two classes"),
    }
}

/// Runs of set bits of any length: small and large numbers.
fn bits() -> impl Strategy<Value = i128> {
    (any::<i128>(), 0..128_u32).prop_map(|(bits, shift)| bits >> shift)
}

fn moments() -> impl Strategy<Value = DateTime2> {
    let days = prop_oneof![
        Just(0),
        Just(Date::MAX.0),
        693_590..693_600_u32,
        759_120..759_140_u32,
        0..=Date::MAX.0
    ];
    let times = prop_oneof![
        Just(0),
        Just(TimeOfDay::MAX.0),
        0..30_000_000_u64,
        0..864_000_000_000_u64
    ];
    (days, times).prop_map(|(day, time)| DateTime2 {
        date: Date(day),
        time: TimeOfDay(time),
    })
}

/// A value of a type, made from random seeds.
fn values(declared: DataType) -> impl Strategy<Value = Value> {
    let texts = prop_oneof!["[aAb\u{e9}\u{c9} ]{0,6}", "[ -~\u{a0}-\u{ff}\u{20ac}]{0,10}"];
    let bytes = prop::collection::vec(prop_oneof![0..3_u8, any::<u8>()], 0..9);
    (bits(), any::<f64>(), texts, bytes, moments(), -840..=840_i16)
        .prop_filter_map("no value of the type", move |seeds| value(declared, seeds))
}

fn value(declared: DataType, seeds: (i128, f64, String, Vec<u8>, DateTime2, i16)) -> Option<Value> {
    let again = seeds.clone();
    let (bits, float, text, mut bytes, moment, offset_minutes) = seeds;
    let integer = i64::try_from(bits).unwrap_or(7);
    let rounded =
        |scale| TimeOfDay(moment.time.0 / crate::dates::unit_of_scale(scale) * crate::dates::unit_of_scale(scale));
    let at = |scale| DateTime2 {
        date: moment.date,
        time: rounded(scale),
    };
    Some(match declared {
        DataType::Bit => Value::Bit(bits & 1 == 1),
        DataType::TinyInt => Value::TinyInt(u8::try_from(bits & 0xff).ok()?),
        DataType::SmallInt => Value::SmallInt(i16::try_from(bits).unwrap_or(-1)),
        DataType::Int => Value::Int(i32::try_from(bits).unwrap_or(-1)),
        DataType::BigInt => Value::BigInt(integer),
        DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale } => Value::Decimal(Decimal {
            unscaled: bits % 10_i128.pow(u32::from(precision)),
            scale,
        }),
        DataType::SmallMoney => Value::Money(i64::from(i32::try_from(bits).unwrap_or(-1))),
        DataType::Money => Value::Money(integer),
        DataType::Real => Value::Real(f32::from_bits(u32::try_from(bits & 0xffff_ffff).ok()?)),
        DataType::Float => Value::Float(float),
        DataType::Utf8Char(length) => {
            let blanks = usize::from(length).checked_sub(text.len())?;
            Value::Text(format!("{text}{}", " ".repeat(blanks)).into())
        }
        DataType::Char(_) | DataType::NChar(_) => Value::Text(format!("{text:<10}").into()),
        DataType::VarChar(_) | DataType::Utf8VarChar(_) | DataType::NVarChar(_) => Value::Text(text.into()),
        DataType::Binary(length) => {
            bytes.resize(usize::from(length), 0);
            Value::Binary(bytes.into())
        }
        DataType::VarBinary(_) => Value::Binary(bytes.into()),
        DataType::RowVersion => {
            bytes.resize(8, 0);
            Value::Binary(bytes.into())
        }
        DataType::Date => Value::Date(moment.date),
        DataType::Time(scale) => Value::Time(rounded(scale)),
        DataType::SmallDateTime => Value::DateTime(DateTime2 {
            date: Date(Date::BASE.0 + moment.date.0 % 65_536),
            time: TimeOfDay(moment.time.0 / 600_000_000 * 600_000_000),
        }),
        DataType::DateTime => Value::DateTime(DateTimeTicks::nearest(moment)?.date_time()?),
        DataType::DateTime2(scale) => Value::DateTime(at(scale)),
        DataType::DateTimeOffset(scale) => Value::DateTimeOffset(DateTimeOffset {
            utc: at(scale),
            offset_minutes,
        }),
        DataType::UniqueIdentifier => Value::Guid(Guid(bits.to_be_bytes())),
        DataType::Xml => Value::Text(
            normalized(&format!("<a b='{offset_minutes}'>x</a>"), false)
                .ok()?
                .into(),
        ),
        DataType::SqlVariant => {
            let bases: Vec<DataType> = all_types().into_iter().filter(SqlVariant::holds).collect();
            let base = *bases.get(usize::from(offset_minutes.unsigned_abs()) % bases.len())?;
            SqlVariant::of(base, value(base, again)?)?
        }
    })
    .filter(|value| to_stored(value, &declared).is_ok())
}

/// Two values of one type.
fn pairs() -> impl Strategy<Value = (DataType, Value, Value)> {
    prop::sample::select(all_types()).prop_flat_map(|declared| (Just(declared), values(declared), values(declared)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn written_values_are_read_again((declared, value, _) in pairs()) {
        let stored = to_stored(&value, &declared).unwrap();
        prop_assert_eq!(stored.as_stored_ref().class(), declared.storage_class());
        let read = from_stored(stored.as_stored_ref(), &declared).unwrap();
        prop_assert_eq!(&read, &value);
        prop_assert_eq!(to_stored(&read, &declared).unwrap(), stored);
    }

    #[test]
    fn the_order_of_forms_is_the_order_of_values((declared, left, right) in pairs()) {
        let (a, b) = (to_stored(&left, &declared).unwrap(), to_stored(&right, &declared).unwrap());
        prop_assert_eq!(Some(sqlite_order(&a, &b, &declared)), compare(&left, &right, Collation::DEFAULT), "{} {:?} {:?}", declared, a, b);
    }

    #[test]
    fn a_form_that_can_be_read_is_the_one_that_is_written(
        declared in prop::sample::select(all_types()),
        text in prop_oneof!["[ -~]{0,30}", "[0-9]{4}-[01][0-9]-[0-3][0-9]( [0-2][0-9]:[0-5][0-9]:00(\\.[0-9]{1,7})?( [-+][01][0-9]:[0-5][0-9])?)?"],
        bytes in prop::collection::vec(any::<u8>(), 0..20),
        integer in prop_oneof![any::<i64>(), -2..300_i64],
        real in any::<f64>(),
    ) {
        let found = [StoredRef::Text(text.as_bytes()), StoredRef::Text(&bytes), StoredRef::Blob(&bytes), StoredRef::Integer(integer), StoredRef::Real(real)];
        for stored in found {
            let Ok(value) = from_stored(stored, &declared) else { continue };
            let written = to_stored(&value, &declared).unwrap();
            if declared.is_padded() && declared.family() == Family::Text {
                prop_assert_eq!(sqlite_order(&written, &Stored::Text(String::from_utf8_lossy(text_of(stored))), &declared), Ordering::Equal);
            } else {
                prop_assert_eq!(written.as_stored_ref(), stored);
            }
        }
    }
}

fn text_of(stored: StoredRef<'_>) -> &[u8] {
    match stored {
        StoredRef::Text(bytes) => bytes,
        StoredRef::Null | StoredRef::Integer(_) | StoredRef::Real(_) | StoredRef::Blob(_) => &[],
    }
}
