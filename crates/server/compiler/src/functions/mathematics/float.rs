//! Mathematical functions of floats.

use selenite_types::Value;

use crate::SqlError;
use crate::functions::Arguments;

pub(super) fn pi(_: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::Float(std::f64::consts::PI))
}

pub(super) fn acos(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.acos())
}

pub(super) fn asin(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.asin())
}

pub(super) fn atan(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.atan())
}

/// ATN2 of y and x.
pub(super) fn atn2(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.atan2(call.float(1)?))
}

pub(super) fn cos(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.cos())
}

pub(super) fn cot(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(1.0 / call.float(0)?.tan())
}

pub(super) fn exp(call: &Arguments<'_>) -> Result<Value, SqlError> {
    finite(call.float(0)?.exp())
}

/// LOG: natural, or to the base of the second argument.
pub(super) fn log(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let logarithm = |of: f64| {
        if of > 0.0 {
            Ok(of.ln())
        } else {
            Err(SqlError::invalid_floating_point())
        }
    };
    let natural = logarithm(call.float(0)?)?;
    if call.values.len() < 2 {
        return number(natural);
    }
    number(natural / logarithm(call.float(1)?)?)
}

pub(super) fn log10(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.log10())
}

pub(super) fn sin(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.sin())
}

pub(super) fn sqrt(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.sqrt())
}

pub(super) fn square(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let side = call.float(0)?;
    finite(side * side)
}

pub(super) fn tan(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.tan())
}

/// A float, or error 3623 for NaN and infinity.
fn number(number: f64) -> Result<Value, SqlError> {
    if number.is_finite() {
        Ok(Value::Float(number))
    } else {
        Err(SqlError::invalid_floating_point())
    }
}

/// A float, or error 8115 for NaN and infinity.
pub(super) fn finite(number: f64) -> Result<Value, SqlError> {
    if number.is_finite() {
        Ok(Value::Float(number))
    } else {
        Err(SqlError::overflow("float"))
    }
}
