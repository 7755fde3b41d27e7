//! To bit, tinyint, smallint, int and bigint.

use crate::{
    DataType, DateTime2, DateTimeTicks, Family, Value,
    convert::{
        ConversionError, ConversionFault,
        digits_text::read_integer,
        exact::{divided, power_of_ten},
        float_bits::FloatBits,
        request::Request,
    },
    dates::TICKS_PER_DAY,
    format::{float_with_six_decimals, money_text},
};

/// Decimals and floats are cut, amounts and datetimes rounded; anything but nothing is 1 as bit.
pub(crate) fn to_integer(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    match value {
        Value::Bit(bit) => from_integer(i128::from(*bit), request),
        Value::TinyInt(number) => from_integer(i128::from(*number), request),
        Value::SmallInt(number) => from_integer(i128::from(*number), request),
        Value::Int(number) => from_integer(i128::from(*number), request),
        Value::BigInt(number) => from_integer(i128::from(*number), request),
        Value::Decimal(number) if *request.to == DataType::Bit => Ok(Value::Bit(number.unscaled != 0)),
        Value::Decimal(number) => {
            let whole = power_of_ten(number.scale).map_or(0, |divisor| number.unscaled / divisor);
            fitted(whole, request).ok_or_else(|| request.fail(ConversionFault::ExpressionOverflow))
        }
        Value::Money(units) => from_money(*units, request),
        Value::Real(number) => from_float(f64::from(*number), request),
        Value::Float(number) => from_float(*number, request),
        Value::Text(text) => from_text(text, request),
        Value::Binary(bytes) => Ok(from_bytes(bytes, request)),
        Value::DateTime(moment) if request.is_from(Family::OldDate) => from_datetime(*moment, request),
        Value::Null
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_) => Err(request.misfit()),
    }
}

fn from_integer(number: i128, request: &Request<'_>) -> Result<Value, ConversionError> {
    fitted(number, request).ok_or_else(|| {
        let to_narrow = matches!(request.to, DataType::TinyInt | DataType::SmallInt);
        if to_narrow && *request.from != DataType::BigInt {
            request.fail_with(ConversionFault::IntegerRange, number.to_string())
        } else {
            request.fail(ConversionFault::ExpressionOverflow)
        }
    })
}

/// A message of its own for each width: SQL Server has it so.
fn from_money(units: i64, request: &Request<'_>) -> Result<Value, ConversionError> {
    if *request.to == DataType::Bit {
        return Ok(Value::Bit(units != 0));
    }
    let rounded = divided(i128::from(units), 10_000);
    fitted(rounded, request).ok_or_else(|| {
        let beyond_int = i32::try_from(units / 10_000).is_err();
        match (request.from, request.to) {
            (DataType::SmallMoney, DataType::SmallInt) => {
                request.fail_with(ConversionFault::IntegerRange, (units / 10_000).to_string())
            }
            (DataType::Money, DataType::Int) => request.fail(ConversionFault::MoneyRange),
            (DataType::Money, DataType::SmallInt | DataType::TinyInt) if beyond_int => {
                request.fail(ConversionFault::MoneyRange)
            }
            (DataType::Money, DataType::SmallInt) => {
                request.fail_with(ConversionFault::IntegerRange, units.to_string())
            }
            (DataType::Money, DataType::TinyInt) => {
                request.fail_with(ConversionFault::FloatRange, format!("{}00", money_text(units, 2)))
            }
            _ => request.fail(ConversionFault::ExpressionOverflow),
        }
    })
}

fn from_float(number: f64, request: &Request<'_>) -> Result<Value, ConversionError> {
    if *request.to == DataType::Bit {
        return Ok(Value::Bit(number != 0.0));
    }
    let whole = FloatBits::of(number).and_then(FloatBits::truncated);
    whole.and_then(|whole| fitted(whole, request)).ok_or_else(|| {
        if *request.to == DataType::BigInt {
            request.fail(ConversionFault::ExpressionOverflow)
        } else {
            request.fail_with(ConversionFault::FloatRange, float_with_six_decimals(number))
        }
    })
}

fn from_text(text: &str, request: &Request<'_>) -> Result<Value, ConversionError> {
    let to_bit = *request.to == DataType::Bit;
    if to_bit {
        let word = text.trim_matches(' ');
        if word.eq_ignore_ascii_case("true") {
            return Ok(Value::Bit(true));
        }
        if word.eq_ignore_ascii_case("false") {
            return Ok(Value::Bit(false));
        }
    }
    let Some(number) = read_integer(text) else {
        return Err(if *request.to == DataType::BigInt {
            request.fail(ConversionFault::Unreadable)
        } else {
            request.fail_with(ConversionFault::Syntax, text)
        });
    };
    fitted(number, request).ok_or_else(|| match request.to {
        DataType::TinyInt | DataType::SmallInt => request.fail_with(ConversionFault::NarrowDigits, text),
        DataType::Int => request.fail_with(ConversionFault::IntDigits, text),
        _ => request.fail(ConversionFault::ExpressionOverflow),
    })
}

/// The last bytes, the highest first; what is beyond the type's own is left out without a word.
fn from_bytes(bytes: &[u8], request: &Request<'_>) -> Value {
    match request.to {
        DataType::Bit => Value::Bit(last_bytes::<1>(bytes) != [0]),
        DataType::TinyInt => Value::TinyInt(u8::from_be_bytes(last_bytes(bytes))),
        DataType::SmallInt => Value::SmallInt(i16::from_be_bytes(last_bytes(bytes))),
        DataType::Int => Value::Int(i32::from_be_bytes(last_bytes(bytes))),
        _ => Value::BigInt(i64::from_be_bytes(last_bytes(bytes))),
    }
}

/// The last `COUNT` bytes, with zeros before them if there are fewer.
pub(crate) fn last_bytes<const COUNT: usize>(bytes: &[u8]) -> [u8; COUNT] {
    let mut last = [0; COUNT];
    for (into, byte) in last.iter_mut().rev().zip(bytes.iter().rev()) {
        *into = *byte;
    }
    last
}

/// Days since 1900-01-01, to the nearest midnight, noon going up.
fn from_datetime(moment: DateTime2, request: &Request<'_>) -> Result<Value, ConversionError> {
    let ticks = DateTimeTicks::nearest(moment).ok_or_else(|| request.misfit())?;
    if *request.to == DataType::Bit {
        return Ok(Value::Bit(ticks != DateTimeTicks { days: 0, ticks: 0 }));
    }
    let days = i128::from(ticks.days) + i128::from(ticks.ticks >= TICKS_PER_DAY / 2);
    fitted(days, request).ok_or_else(|| request.fail(ConversionFault::ExpressionOverflow))
}

fn fitted(number: i128, request: &Request<'_>) -> Option<Value> {
    match request.to {
        DataType::Bit => Some(Value::Bit(number != 0)),
        DataType::TinyInt => u8::try_from(number).ok().map(Value::TinyInt),
        DataType::SmallInt => i16::try_from(number).ok().map(Value::SmallInt),
        DataType::Int => i32::try_from(number).ok().map(Value::Int),
        _ => i64::try_from(number).ok().map(Value::BigInt),
    }
}
