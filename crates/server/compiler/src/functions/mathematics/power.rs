//! POWER, DEGREES and RADIANS: computed in float, and converted back to the type of the first argument.

use selenite_types::{DataType, Decimal, Value, convert};

use super::exact::{decimal_result, money_result};
use super::float::finite;
use super::number_type;
use crate::functions::{Arguments, float_in, with_digits};
use crate::{Expr, SqlError};

/// The type of POWER: a decimal has precision 38.
pub(super) fn power_type(arguments: &[Expr]) -> DataType {
    with_digits(number_type(arguments), |_, scale| (38, scale))
}

/// The type of DEGREES and RADIANS: a decimal has scale 18.
pub(super) fn angle_type(arguments: &[Expr]) -> DataType {
    with_digits(number_type(arguments), |_, scale| (38, scale.max(ANGLE_SCALE)))
}

pub(super) fn power(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (base, exponent) = (as_float(call)?, call.float(1)?);
    if base == 0.0 && exponent < 0.0 {
        return Err(SqlError::divide_by_zero());
    }
    if let Some(exact) = exact_power(call, exponent) {
        return Ok(exact);
    }
    let result = base.powf(exponent);
    if result.is_nan() {
        return Err(SqlError::invalid_floating_point());
    }
    of_type(result, call)
}

/// Integer powers of integers, which float would round.
fn exact_power(call: &Arguments<'_>, exponent: f64) -> Option<Value> {
    if exponent < 0.0 || exponent.fract() != 0.0 || exponent > 64.0 {
        return None;
    }
    let exponent = (0..=64_u32).find(|whole| f64::from(*whole) == exponent)?;
    let power = call.bigint(0).ok()?.checked_pow(exponent)?;
    call.whole_result(power).ok()
}

pub(super) fn degrees(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of_type(as_float(call)?.to_degrees(), call)
}

pub(super) fn radians(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of_type(as_float(call)?.to_radians(), call)
}

fn as_float(call: &Arguments<'_>) -> Result<f64, SqlError> {
    if let Some(number) = float_in(call.value(0)) {
        return Ok(number);
    }
    let format = call.environment.session().date_format;
    let converted = convert(call.value(0), &call.data_type(0), &DataType::Float, None, format)?;
    float_in(&converted).ok_or_else(|| SqlError::internal("a number that is no float"))
}

/// A float converted to the result's type: integers are truncated, decimals and money rounded.
///
/// Errors: 232 for integers and 8115 for others that do not fit.
fn of_type(number: f64, call: &Arguments<'_>) -> Result<Value, SqlError> {
    let overflow = || SqlError::overflow(call.data_type.overflow_name());
    if let Some((_, scale)) = call.data_type.decimal_digits() {
        let unscaled = scaled_of(number, scale).ok_or_else(overflow)?;
        return decimal_result(Some(Decimal { unscaled, scale }), call);
    }
    if call.data_type == DataType::Money {
        return money_result(scaled_of(number, 4).ok_or_else(overflow)?, call);
    }
    let is_big = call.data_type == DataType::BigInt;
    if !is_big && call.data_type != DataType::Int {
        return finite(number);
    }
    match whole_of(number).filter(|whole| is_big || i32::try_from(*whole).is_ok()) {
        Some(whole) => call.whole_result(whole),
        None => Err(SqlError::float_overflow(call.data_type.bare_name(), number)),
    }
}

/// The integer part of a float.
fn whole_of(number: f64) -> Option<i64> {
    scaled_of(number.trunc(), 0).and_then(|whole| i64::try_from(whole).ok())
}

/// A float times 10^`scale`, rounded to 17 significant digits.
fn scaled_of(number: f64, scale: u8) -> Option<i128> {
    if !number.is_finite() {
        return None;
    }
    let text = crate::functions::fixed(number, usize::from(scale));
    text.replace('.', "").parse().ok()
}

/// The scale of DEGREES and RADIANS of a decimal.
const ANGLE_SCALE: u8 = 18;
