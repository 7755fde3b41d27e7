//! Strategies for random types and values, for tests.

use proptest::prelude::*;
use selenite_types::{DataType, Date, DateTime2, DateTimeOffset, Decimal, Guid, SqlVariant, TimeOfDay, Value, Width};

/// A random valid type.
pub(crate) fn data_type() -> impl Strategy<Value = DataType> {
    let precision = (1..=38_u8).prop_flat_map(|precision| (Just(precision), 0..=precision));
    let width = |max: u16| prop_oneof![3 => (1..=max).prop_map(Width::Limited), 1 => Just(Width::Max)];
    prop_oneof![
        prop::sample::select(PLAIN.to_vec()),
        precision
            .clone()
            .prop_map(|(precision, scale)| DataType::Decimal { precision, scale }),
        precision.prop_map(|(precision, scale)| DataType::Numeric { precision, scale }),
        (1..=8000_u16).prop_map(DataType::Char),
        width(8000).prop_map(DataType::VarChar),
        (1..=8000_u16).prop_map(DataType::Utf8Char),
        width(8000).prop_map(DataType::Utf8VarChar),
        (1..=4000_u16).prop_map(DataType::NChar),
        width(4000).prop_map(DataType::NVarChar),
        (1..=8000_u16).prop_map(DataType::Binary),
        width(8000).prop_map(DataType::VarBinary),
        (0..=7_u8).prop_map(DataType::Time),
        (0..=7_u8).prop_map(DataType::DateTime2),
        (0..=7_u8).prop_map(DataType::DateTimeOffset),
    ]
}

/// A random type and a value of it, or NULL, that the protocol can represent.
pub(crate) fn typed_value() -> impl Strategy<Value = (DataType, Value)> {
    data_type().prop_flat_map(|data_type| {
        let value = prop_oneof![1 => Just(Value::Null), 5 => value(data_type)];
        (Just(data_type), value)
    })
}

/// A random value of a type; never NULL.
pub(crate) fn value(data_type: DataType) -> BoxedStrategy<Value> {
    match data_type {
        DataType::Bit => any::<bool>().prop_map(Value::Bit).boxed(),
        DataType::TinyInt => any::<u8>().prop_map(Value::TinyInt).boxed(),
        DataType::SmallInt => any::<i16>().prop_map(Value::SmallInt).boxed(),
        DataType::Int => any::<i32>().prop_map(Value::Int).boxed(),
        DataType::BigInt => any::<i64>().prop_map(Value::BigInt).boxed(),
        DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale } => {
            let max = 10_i128.pow(precision.into()) - 1;
            let decimal = (-max..=max).prop_map(move |unscaled| Decimal { unscaled, scale });
            decimal.prop_map(Value::Decimal).boxed()
        }
        DataType::SmallMoney => any::<i32>().prop_map(|money| Value::Money(money.into())).boxed(),
        DataType::Money => any::<i64>().prop_map(Value::Money).boxed(),
        DataType::Real => prop::num::f32::NORMAL.prop_map(Value::Real).boxed(),
        DataType::Float => prop::num::f64::NORMAL.prop_map(Value::Float).boxed(),
        DataType::Char(size) => narrow(size.into(), true),
        DataType::VarChar(width) => narrow(size_max(width, 8000), false),
        DataType::Utf8Char(_) | DataType::Utf8VarChar(_) => in_utf8(&data_type),
        DataType::NChar(size) => wide(size.into(), true),
        DataType::NVarChar(width) => wide(size_max(width, 4000), false),
        DataType::Binary(size) => bytes(usize::from(size)..=usize::from(size)),
        DataType::VarBinary(width) => bytes(0..=size_max(width, 8000)),
        DataType::RowVersion => bytes(8..=8),
        DataType::Date => date(0, 3_652_058).prop_map(Value::Date).boxed(),
        DataType::Time(scale) => time(scale).prop_map(Value::Time).boxed(),
        DataType::SmallDateTime => {
            let time = (0..1440_u64).prop_map(|minutes| TimeOfDay(minutes * 600_000_000));
            moment(date(693_595, 759_130), time).prop_map(Value::DateTime).boxed()
        }
        DataType::DateTime => {
            let time = (0..25_920_000_u64).prop_map(|ticks| TimeOfDay((ticks * 20 + 3) / 6 * 10_000));
            moment(date(639_905, 3_652_058), time).prop_map(Value::DateTime).boxed()
        }
        DataType::DateTime2(scale) => moment(date(0, 3_652_058), time(scale))
            .prop_map(Value::DateTime)
            .boxed(),
        DataType::DateTimeOffset(scale) => (moment(date(0, 3_652_058), time(scale)), -840..=840_i16)
            .prop_map(|(utc, offset_minutes)| Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes }))
            .boxed(),
        DataType::UniqueIdentifier => any::<[u8; 16]>().prop_map(|guid| Value::Guid(Guid(guid))).boxed(),
        DataType::Xml => prop::sample::select(vec!["", "<a b=\"1\">&amp;<c/></a>", "text"])
            .prop_map(|text| Value::Text(text.into()))
            .boxed(),
        DataType::SqlVariant => self::data_type()
            .prop_filter("a base type", SqlVariant::holds)
            .prop_flat_map(|base| value(base).prop_filter_map("a value", move |value| SqlVariant::of(base, value)))
            .boxed(),
    }
}

fn size_max(width: Width, max: usize) -> usize {
    match width {
        Width::Limited(size) => size.into(),
        Width::Max => max,
    }
}

/// Random text of code page 1252.
fn narrow(size: usize, is_padded: bool) -> BoxedStrategy<Value> {
    let character = prop_oneof![8 => prop::char::range('a', 'z'), 1 => Just('\u{20AC}'), 1 => prop::char::range('\u{A0}', '\u{FF}')];
    let characters = prop::collection::vec(character, 0..=size.min(40));
    characters
        .prop_map(move |characters| {
            let mut text: String = characters.iter().collect();
            if is_padded {
                text.extend(std::iter::repeat_n(' ', size - characters.len()));
            }
            Value::Text(text.into())
        })
        .boxed()
}

/// Random text of a type in UTF-8.
fn in_utf8(data_type: &DataType) -> BoxedStrategy<Value> {
    let (data_type, size) = (*data_type, data_type.width().map_or(0, |width| size_max(width, 8000)));
    prop::collection::vec(any::<char>(), 0..=40)
        .prop_map(move |characters| {
            let text: String = characters.iter().collect();
            let mut text = data_type.text_prefix(&text, size).to_owned();
            if data_type.is_padded() {
                text.extend(std::iter::repeat_n(' ', size - text.len()));
            }
            Value::Text(text.into())
        })
        .boxed()
}

/// Random text; `size` counts UTF-16 units.
fn wide(size: usize, is_padded: bool) -> BoxedStrategy<Value> {
    let characters = prop::collection::vec(any::<char>(), 0..=(size / 2).min(40));
    characters
        .prop_map(move |characters| {
            let mut text: String = characters.iter().collect();
            if is_padded {
                let used: usize = characters.iter().map(|character| character.len_utf16()).sum();
                text.extend(std::iter::repeat_n(' ', size - used));
            }
            Value::Text(text.into())
        })
        .boxed()
}

fn bytes(size: std::ops::RangeInclusive<usize>) -> BoxedStrategy<Value> {
    let bytes = prop::collection::vec(any::<u8>(), size);
    bytes.prop_map(|bytes| Value::Binary(bytes.into())).boxed()
}

fn date(first: u32, last: u32) -> impl Strategy<Value = Date> {
    (first..=last).prop_map(Date)
}

fn time(scale: u8) -> impl Strategy<Value = TimeOfDay> {
    let unit = 10_u64.pow(u32::from(7 - scale));
    (0..864_000_000_000 / unit).prop_map(move |units| TimeOfDay(units * unit))
}

fn moment(
    date: impl Strategy<Value = Date>,
    time: impl Strategy<Value = TimeOfDay>,
) -> impl Strategy<Value = DateTime2> {
    (date, time).prop_map(|(date, time)| DateTime2 { date, time })
}

const PLAIN: [DataType; 15] = [
    DataType::Bit,
    DataType::TinyInt,
    DataType::SmallInt,
    DataType::Int,
    DataType::BigInt,
    DataType::SmallMoney,
    DataType::Money,
    DataType::Real,
    DataType::Float,
    DataType::Date,
    DataType::SmallDateTime,
    DataType::DateTime,
    DataType::UniqueIdentifier,
    DataType::SqlVariant,
    DataType::Xml,
];
