//! ROUND: rounds or truncates at a position before or after the decimal point.

use selenite_types::{Decimal, Value};

use super::exact::{MONEY_UNIT, Number, decimal_result, money_result, power_of_ten};
use crate::SqlError;
use crate::functions::Arguments;

/// ROUND: halves away from zero; truncates if the third argument is not 0.
pub(super) fn round(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let place = call.int(1)?;
    let cut = call.values.len() > 2 && call.int(2)? != 0;
    match Number::of(call)? {
        Number::Decimal(number) => {
            let unscaled = to_place(number.unscaled, i32::from(number.scale).saturating_sub(place), cut);
            let rounded = unscaled.map(|unscaled| Decimal { unscaled, ..number });
            decimal_result(rounded, call)
        }
        Number::Money(units) => {
            let rounded = to_place(i128::from(units), MONEY_SCALE.saturating_sub(place), cut);
            money_result(rounded.unwrap_or(i128::MAX), call)
        }
        Number::Float(number) => Ok(Value::Float(float_to_place(number, place, cut))),
        Number::Whole(number) => {
            let rounded = to_place(i128::from(number), 0_i32.saturating_sub(place), cut);
            let rounded = rounded.and_then(|rounded| i64::try_from(rounded).ok());
            call.whole_result(rounded.ok_or_else(|| SqlError::overflow(call.data_type.overflow_name()))?)
        }
    }
}

/// `number` with its last `digits` digits zero; `None` if the result has more digits than a decimal may.
fn to_place(number: i128, digits: i32, cut: bool) -> Option<i128> {
    let Ok(digits) = u8::try_from(digits) else {
        return Some(if digits < 0 { number } else { 0 });
    };
    if digits > DIGITS_MAX {
        return Some(0);
    }
    let unit = power_of_ten(digits);
    let rest = number % unit;
    let rounds_away = !cut && rest.unsigned_abs() >= unit.unsigned_abs().div_ceil(2);
    let away = if digits > 0 && rounds_away {
        unit * number.signum()
    } else {
        0
    };
    (number - rest).checked_add(away)
}

/// A float rounded or truncated in decimal.
fn float_to_place(number: f64, place: i32, cut: bool) -> f64 {
    let scale = 10_f64.powi(place.saturating_abs());
    if !scale.is_finite() {
        return if place < 0 { 0.0 } else { number };
    }
    let scaled = if place < 0 { number / scale } else { number * scale };
    if !scaled.is_finite() {
        return number;
    }
    let whole = if cut { scaled.trunc() } else { scaled.round() };
    if place < 0 { whole * scale } else { whole / scale }
}

/// 10^38 is the highest power that an i128 holds.
const DIGITS_MAX: u8 = 38;

/// The scale of money.
const MONEY_SCALE: i32 = 4;

const _: () = assert!(
    MONEY_UNIT == 10_i64.pow(4),
    "the unit has as many digits as the scale says"
);
