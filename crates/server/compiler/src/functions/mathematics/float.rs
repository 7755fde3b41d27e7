//! Functions of floats.

use selenite_types::Value;

use crate::SqlError;
use crate::functions::Arguments;

/// PI.
pub(super) fn pi(_: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::Float(std::f64::consts::PI))
}

/// ACOS.
pub(super) fn acos(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.acos())
}

/// ASIN.
pub(super) fn asin(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.asin())
}

/// ATAN.
pub(super) fn atan(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.atan())
}

/// ATN2: of y and x.
pub(super) fn atn2(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.atan2(call.float(1)?))
}

/// COS.
pub(super) fn cos(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.cos())
}

/// COT.
pub(super) fn cot(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(1.0 / call.float(0)?.tan())
}

/// EXP.
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

/// LOG10.
pub(super) fn log10(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.log10())
}

/// SIN.
pub(super) fn sin(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.sin())
}

/// SQRT.
pub(super) fn sqrt(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.sqrt())
}

/// SQUARE.
pub(super) fn square(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let side = call.float(0)?;
    finite(side * side)
}

/// TAN.
pub(super) fn tan(call: &Arguments<'_>) -> Result<Value, SqlError> {
    number(call.float(0)?.tan())
}

/// What is no number is error 3623.
fn number(number: f64) -> Result<Value, SqlError> {
    if number.is_finite() {
        Ok(Value::Float(number))
    } else {
        Err(SqlError::invalid_floating_point())
    }
}

/// What is beyond float is error 8115.
pub(super) fn finite(number: f64) -> Result<Value, SqlError> {
    if number.is_finite() {
        Ok(Value::Float(number))
    } else {
        Err(SqlError::overflow("float"))
    }
}
