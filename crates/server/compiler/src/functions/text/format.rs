//! FORMAT.

use selenite_types::{DataType, DateTime2, Family, Value, text_of, utf16_length};

use crate::SqlError;
use crate::dotnet::{Culture, Number, format_moment, format_number, format_time};
use crate::functions::Arguments;
use crate::json::exact_text;

/// FORMAT: NULL for a pattern that is none of the value's type.
pub(super) fn format(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let pattern = call.text(1)?;
    if utf16_length(pattern) > PATTERN_SIZE_MAX {
        return Err(SqlError::unsupported(
            "FORMAT with a pattern of more than 4000 characters",
        ));
    }
    let culture = match call.values.len() {
        0..=2 => Culture::English,
        _ => {
            let name = call.text(2)?;
            let known = Culture::find(name);
            known.ok_or_else(|| SqlError::unsupported(&format!("FORMAT with the culture '{name}'")))?
        }
    };
    let of = call.data_type(0);
    let value = call.value(0);
    let formatted = if let Value::Date(date) = value {
        format_moment(DateTime2::at_midnight(*date), None, pattern, culture)
    } else if let Value::Time(time) = value {
        format_time(*time, pattern)
    } else if let Value::DateTime(moment) = value {
        format_moment(*moment, None, pattern, culture)
    } else if let Value::DateTimeOffset(moment) = value {
        format_moment(moment.local(), Some(moment.offset_minutes), pattern, culture)
    } else {
        format_number(&number(value, &of, pattern)?, pattern, culture)
    };
    Ok(formatted.map_or(Value::Null, |text| call.text_result(&text)))
}

fn number(value: &Value, of: &DataType, pattern: &str) -> Result<Number, SqlError> {
    if let Some(whole) = value.as_whole() {
        let (bits, precision) = if *of == DataType::TinyInt {
            (8, 3)
        } else if *of == DataType::SmallInt {
            (16, 5)
        } else if *of == DataType::Int {
            (32, 10)
        } else {
            (64, 19)
        };
        return Ok(Number {
            whole: Some((whole, bits)),
            ..Number::parse(&whole.to_string(), precision)
        });
    }
    if let Value::Real(value) = value {
        let round_trips = |text: &str| text.parse::<f32>() == Ok(*value);
        return Ok(approximate(
            pattern,
            |digits| format!("{value:.digits$e}"),
            round_trips,
            (7, 9),
        ));
    }
    if let Value::Float(value) = value {
        let round_trips = |text: &str| text.parse::<f64>() == Ok(*value);
        return Ok(approximate(
            pattern,
            |digits| format!("{value:.digits$e}"),
            round_trips,
            (15, 17),
        ));
    }
    let text = match of.family() == Family::Money {
        true => exact_text(value, of)?,
        false => text_of(value, of).unwrap_or_default(),
    };
    Ok(Number::parse(&text, 29))
}

/// A float or real: with the digits that it has for certain, or with all that tell it from its neighbours where the
/// pattern asks for more digits, or for all that are needed (`R`).
fn approximate(
    pattern: &str,
    written: impl Fn(usize) -> String,
    round_trips: impl Fn(&str) -> bool,
    (certain, all): (usize, usize),
) -> Number {
    let mut characters = pattern.chars();
    let letter = characters.next().map(|letter| letter.to_ascii_uppercase());
    let digits = characters.as_str().parse::<usize>().unwrap_or(0);
    let with = |count: usize| written(count - 1);
    let is_long = match letter {
        Some('R') => !round_trips(&with(certain)),
        Some('G') => digits > certain,
        Some('E') => digits + 1 > certain,
        Some(_) | None => false,
    };
    let count = if is_long { all } else { certain };
    Number::parse(&with(count), count)
}

/// As many characters as the result has at most.
const PATTERN_SIZE_MAX: usize = 4_000;
