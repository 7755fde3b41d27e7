//! Conversion to real and float.

use crate::{
    DataType, DateTime2, DateTimeTicks, Decimal, Family, Value,
    convert::{ConversionError, ConversionFault, digits_text::read_float, request::Request, to_decimal::amount},
    dates::TICKS_PER_DAY,
    format::float_with_six_decimals,
};

/// Rounds to the nearest value of the type.
pub(crate) fn to_float(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let number = match value {
        Value::Bit(bit) => f64::from(u8::from(*bit)),
        Value::TinyInt(number) => f64::from(*number),
        Value::SmallInt(number) => f64::from(*number),
        Value::Int(number) => f64::from(*number),
        Value::BigInt(number) => return parsed(&number.to_string(), request),
        Value::Decimal(number) => return parsed(&digits_of(*number), request),
        Value::Money(units) => return parsed(&digits_of(amount(*units)), request),
        Value::Real(number) if *request.to == DataType::Real => return Ok(Value::Real(*number)),
        Value::Real(number) => f64::from(*number),
        Value::Float(number) => *number,
        Value::Text(text) => {
            let number = read_float(text).ok_or_else(|| request.fail(ConversionFault::Unreadable))?;
            return parsed(&number, request);
        }
        Value::DateTime(moment) if request.is_from(Family::OldDate) => {
            days_of(*moment).ok_or_else(|| request.misfit())?
        }
        Value::Null
        | Value::Binary(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_)
        | Value::SqlVariant(_) => return Err(request.misfit()),
    };
    if *request.to == DataType::Float {
        return Ok(Value::Float(number));
    }
    let real = nearest_real(number);
    if real.is_infinite() && number.is_finite() {
        return Err(request.fail_with(ConversionFault::FloatRange, float_with_six_decimals(number)));
    }
    Ok(Value::Real(real))
}

/// Parses digits by Rust's parser, which rounds once and to nearest.
fn parsed(digits: &str, request: &Request<'_>) -> Result<Value, ConversionError> {
    let overflow = || request.fail(ConversionFault::ExpressionOverflow);
    if *request.to == DataType::Float {
        let number = digits
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
            .ok_or_else(overflow)?;
        return Ok(Value::Float(number));
    }
    let number = digits
        .parse::<f32>()
        .ok()
        .filter(|number| number.is_finite())
        .ok_or_else(overflow)?;
    Ok(Value::Real(number))
}

fn digits_of(number: Decimal) -> String {
    format!("{}e-{}", number.unscaled, number.scale)
}

/// Days since 1900-01-01 with a fraction.
fn days_of(moment: DateTime2) -> Option<f64> {
    let ticks = DateTimeTicks::nearest(moment)?;
    // Below 2^53, so only the division rounds.
    let all = f64::from(ticks.days) * f64::from(TICKS_PER_DAY) + f64::from(ticks.ticks);
    Some(all / f64::from(TICKS_PER_DAY))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "real is float rounded; the caller looks for what is infinite"
)]
fn nearest_real(number: f64) -> f32 {
    number as f32
}
