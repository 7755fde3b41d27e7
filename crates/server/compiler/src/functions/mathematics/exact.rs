//! ABS, SIGN, CEILING and FLOOR of each numeric type.

use selenite_types::{DataType, Decimal, Value};

use super::number_type;
use crate::functions::{Arguments, float_in, with_digits};
use crate::{Expr, SqlError};

pub(super) fn abs(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let overflow = || SqlError::overflow(call.data_type.overflow_name());
    match Number::of(call)? {
        Number::Decimal(number) => Ok(Value::Decimal(Decimal {
            unscaled: number.unscaled.abs(),
            ..number
        })),
        Number::Money(units) => units.checked_abs().map(Value::Money).ok_or_else(overflow),
        Number::Float(number) => Ok(Value::Float(number.abs())),
        Number::Whole(number) => call.whole_result(number.checked_abs().ok_or_else(overflow)?),
    }
}

pub(super) fn sign(call: &Arguments<'_>) -> Result<Value, SqlError> {
    match Number::of(call)? {
        Number::Decimal(number) => {
            let sign = Decimal {
                unscaled: number.unscaled.signum(),
                scale: 0,
            };
            decimal_result(sign.rescale(number.scale), call)
        }
        Number::Money(units) => Ok(Value::Money(units.signum() * MONEY_UNIT)),
        Number::Float(number) => Ok(Value::Float(if number == 0.0 { 0.0 } else { number.signum() })),
        Number::Whole(number) => call.whole_result(number.signum()),
    }
}

/// A number of one of the four kinds that mathematical functions distinguish.
pub(super) enum Number {
    Whole(i64),
    Decimal(Decimal),
    /// In units of 1/10,000.
    Money(i64),
    Float(f64),
}

impl Number {
    /// The first argument.
    pub(super) fn of(call: &Arguments<'_>) -> Result<Self, SqlError> {
        let value = call.value(0);
        if let Value::Decimal(number) = value {
            return Ok(Self::Decimal(*number));
        }
        if let Value::Money(units) = value {
            return Ok(Self::Money(*units));
        }
        match float_in(value) {
            Some(number) => Ok(Self::Float(number)),
            None => call.bigint(0).map(Self::Whole),
        }
    }
}

/// The type of CEILING and FLOOR: a decimal gets scale 0.
pub(super) fn whole_type(arguments: &[Expr]) -> DataType {
    with_digits(number_type(arguments), |precision, _| (precision, 0))
}

pub(super) fn ceiling(call: &Arguments<'_>) -> Result<Value, SqlError> {
    to_whole(call, f64::ceil, |number, unit| {
        number.div_euclid(unit) + i128::from(number.rem_euclid(unit) != 0)
    })
}

pub(super) fn floor(call: &Arguments<'_>) -> Result<Value, SqlError> {
    to_whole(call, f64::floor, i128::div_euclid)
}

fn to_whole(
    call: &Arguments<'_>,
    of_float: fn(f64) -> f64,
    of_units: fn(i128, i128) -> i128,
) -> Result<Value, SqlError> {
    match Number::of(call)? {
        Number::Decimal(number) => {
            let unit = power_of_ten(number.scale);
            let whole = Decimal {
                unscaled: of_units(number.unscaled, unit),
                scale: 0,
            };
            decimal_result(Some(whole), call)
        }
        Number::Money(units) => {
            let whole = of_units(i128::from(units), i128::from(MONEY_UNIT)) * i128::from(MONEY_UNIT);
            money_result(whole, call)
        }
        Number::Float(number) => Ok(Value::Float(of_float(number))),
        Number::Whole(number) => call.whole_result(number),
    }
}

/// A decimal as a value of the result's type.
///
/// Errors: 8115 if it does not fit.
pub(super) fn decimal_result(number: Option<Decimal>, call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (precision, scale) = call.data_type.decimal_digits().unwrap_or((38, 0));
    number
        .and_then(|number| number.rescale(scale))
        .filter(|number| number.fits(precision))
        .map(Value::Decimal)
        .ok_or_else(|| SqlError::overflow(call.data_type.overflow_name()))
}

/// An amount of money as a value of the result's type.
///
/// Errors: 8115 if it does not fit.
pub(super) fn money_result(units: i128, call: &Arguments<'_>) -> Result<Value, SqlError> {
    i64::try_from(units)
        .map(Value::Money)
        .map_err(|_| SqlError::overflow(call.data_type.overflow_name()))
}

/// 10^`exponent`; no decimal has a scale above 38.
pub(super) fn power_of_ten(exponent: u8) -> i128 {
    10_i128.checked_pow(u32::from(exponent)).unwrap_or(i128::MAX)
}

/// Units of 1/10,000 in one.
pub(super) const MONEY_UNIT: i64 = 10_000;
