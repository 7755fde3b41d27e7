//! Text that a client wants to be a number, a date or anything else.

use selenite_types::{ConversionError, DataType, DateFormat, Value, Width, convert};

const FORMATS: [DateFormat; 6] = [
    DateFormat::Mdy,
    DateFormat::Dmy,
    DateFormat::Ymd,
    DateFormat::Ydm,
    DateFormat::Myd,
    DateFormat::Dym,
];

/// Each type with the style in which its text keeps all of it.
const TYPES: [(DataType, i32); 18] = [
    (DataType::Bit, 0),
    (DataType::TinyInt, 0),
    (DataType::SmallInt, 0),
    (DataType::Int, 0),
    (DataType::BigInt, 0),
    (
        DataType::Decimal {
            precision: 38,
            scale: 10,
        },
        0,
    ),
    (DataType::Numeric { precision: 5, scale: 5 }, 0),
    (DataType::SmallMoney, 2),
    (DataType::Money, 2),
    (DataType::Real, 3),
    (DataType::Float, 3),
    (DataType::Date, 121),
    (DataType::Time(7), 121),
    (DataType::SmallDateTime, 121),
    (DataType::DateTime, 121),
    (DataType::DateTime2(3), 121),
    (DataType::DateTimeOffset(5), 121),
    (DataType::UniqueIdentifier, 0),
];

const TEXTS: [DataType; 2] = [DataType::VarChar(Width::Max), DataType::NVarChar(Width::Limited(4000))];

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let [choice, style, rest @ ..] = data else { return };
    let text = Value::Text(String::from_utf8_lossy(rest).into());
    let format = FORMATS[usize::from(*choice) % FORMATS.len()];
    let from = TEXTS[usize::from(*choice) / FORMATS.len() % TEXTS.len()];
    let style = (*style != 255).then_some(i32::from(*style));
    for (to, whole) in TYPES {
        if let Some(value) = read(convert(&text, &from, &to, style, format)) {
            let shown = convert(&value, &to, &from, Some(whole), format).expect("a value has a text");
            assert_eq!(
                convert(&shown, &from, &to, Some(whole), format),
                Ok(value),
                "{shown:?} as {to:?}"
            );
        }
    }
    for to in [
        DataType::VarBinary(Width::Max),
        DataType::Binary(7),
        DataType::NChar(5),
        DataType::Char(5),
    ] {
        let _value = read(convert(&text, &from, &to, style, format));
    }
}

/// The value, or none if the refusal has a number and a text for the client.
fn read(result: Result<Value, ConversionError>) -> Option<Value> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(error.number() > 0 && !error.to_string().is_empty());
            None
        }
    }
}
