//! Conversion to bit, tinyint, smallint, int and bigint.

use crate::{
    DataType, DateTime2, DateTimeTicks, Decimal, Family, Value,
    convert::{
        ConversionError, ConversionFault, digits_text::read_integer, float_bits::FloatBits, integer_type::IntegerType,
        request::Request, to_decimal::amount,
    },
    dates::TICKS_PER_DAY,
    decimal::power_of_ten,
    format::{float_with_six_decimals, money_text},
};

/// Decimals and floats are truncated, money and datetime rounded; for bit every nonzero value is 1.
pub(crate) fn to_integer(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let to = IntegerType::of(request.to).ok_or_else(|| request.misfit())?;
    match value {
        Value::Bit(bit) => from_integer(i128::from(*bit), to, request),
        Value::TinyInt(number) => from_integer(i128::from(*number), to, request),
        Value::SmallInt(number) => from_integer(i128::from(*number), to, request),
        Value::Int(number) => from_integer(i128::from(*number), to, request),
        Value::BigInt(number) => from_integer(i128::from(*number), to, request),
        Value::Decimal(number) if to == IntegerType::Bit => Ok(Value::Bit(number.unscaled != 0)),
        Value::Decimal(number) => to
            .value(truncated(*number))
            .ok_or_else(|| request.fail(ConversionFault::ExpressionOverflow)),
        Value::Money(units) => from_money(*units, to, request),
        Value::Real(number) => from_float(f64::from(*number), to, request),
        Value::Float(number) => from_float(*number, to, request),
        Value::Text(text) => from_text(text, to, request),
        Value::Binary(bytes) => Ok(to.value_of_bytes(bytes)),
        Value::DateTime(moment) if request.is_from(Family::OldDate) => from_datetime(*moment, to, request),
        Value::Null
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_)
        | Value::SqlVariant(_) => Err(request.misfit()),
    }
}

/// The integer part, truncated towards zero.
fn truncated(number: Decimal) -> i128 {
    let divisor = power_of_ten(number.scale).and_then(|divisor| i128::try_from(divisor).ok());
    divisor.map_or(0, |divisor| number.unscaled / divisor)
}

fn from_integer(number: i128, to: IntegerType, request: &Request<'_>) -> Result<Value, ConversionError> {
    to.value(number).ok_or_else(|| {
        if to.is_narrow() && *request.from != DataType::BigInt {
            request.fail_with(ConversionFault::IntegerRange, number.to_string())
        } else {
            request.fail(ConversionFault::ExpressionOverflow)
        }
    })
}

fn from_money(units: i64, to: IntegerType, request: &Request<'_>) -> Result<Value, ConversionError> {
    if to == IntegerType::Bit {
        return Ok(Value::Bit(units != 0));
    }
    let rounded = amount(units).rescale(0).map(|whole| whole.unscaled);
    rounded
        .and_then(|rounded| to.value(rounded))
        .ok_or_else(|| money_overflow(units, to, request))
}

/// SQL Server has a separate message for each integer width.
fn money_overflow(units: i64, to: IntegerType, request: &Request<'_>) -> ConversionError {
    let is_small = *request.from == DataType::SmallMoney;
    let beyond_int = i32::try_from(units / 10_000).is_err();
    match to {
        IntegerType::SmallInt if is_small => {
            request.fail_with(ConversionFault::IntegerRange, (units / 10_000).to_string())
        }
        IntegerType::Int | IntegerType::SmallInt | IntegerType::TinyInt
            if !is_small && (beyond_int || to == IntegerType::Int) =>
        {
            request.fail(ConversionFault::MoneyRange)
        }
        IntegerType::SmallInt => request.fail_with(ConversionFault::IntegerRange, units.to_string()),
        IntegerType::TinyInt if !is_small => {
            request.fail_with(ConversionFault::FloatRange, format!("{}00", money_text(units, 2)))
        }
        IntegerType::TinyInt | IntegerType::Int | IntegerType::BigInt | IntegerType::Bit => {
            request.fail(ConversionFault::ExpressionOverflow)
        }
    }
}

fn from_float(number: f64, to: IntegerType, request: &Request<'_>) -> Result<Value, ConversionError> {
    if to == IntegerType::Bit {
        return Ok(Value::Bit(number != 0.0));
    }
    let whole = FloatBits::of(number).and_then(FloatBits::truncated);
    whole.and_then(|whole| to.value(whole)).ok_or_else(|| {
        if to == IntegerType::BigInt {
            request.fail(ConversionFault::ExpressionOverflow)
        } else {
            request.fail_with(ConversionFault::FloatRange, float_with_six_decimals(number))
        }
    })
}

fn from_text(text: &str, to: IntegerType, request: &Request<'_>) -> Result<Value, ConversionError> {
    if to == IntegerType::Bit {
        let word = text.trim_matches(' ');
        if word.eq_ignore_ascii_case("true") {
            return Ok(Value::Bit(true));
        }
        if word.eq_ignore_ascii_case("false") {
            return Ok(Value::Bit(false));
        }
    }
    let Some(number) = read_integer(text) else {
        return Err(if to == IntegerType::BigInt {
            request.fail(ConversionFault::Unreadable)
        } else {
            request.fail_with(ConversionFault::Syntax, text)
        });
    };
    to.value(number).ok_or_else(|| match to {
        IntegerType::TinyInt | IntegerType::SmallInt => request.fail_with(ConversionFault::NarrowDigits, text),
        IntegerType::Int => request.fail_with(ConversionFault::IntDigits, text),
        IntegerType::Bit | IntegerType::BigInt => request.fail(ConversionFault::ExpressionOverflow),
    })
}

/// Days since 1900-01-01, rounded to the nearest midnight, noon upwards.
fn from_datetime(moment: DateTime2, to: IntegerType, request: &Request<'_>) -> Result<Value, ConversionError> {
    let ticks = DateTimeTicks::nearest(moment).ok_or_else(|| request.misfit())?;
    if to == IntegerType::Bit {
        return Ok(Value::Bit(ticks != DateTimeTicks { days: 0, ticks: 0 }));
    }
    let days = i128::from(ticks.days) + i128::from(ticks.ticks >= TICKS_PER_DAY / 2);
    to.value(days)
        .ok_or_else(|| request.fail(ConversionFault::ExpressionOverflow))
}
