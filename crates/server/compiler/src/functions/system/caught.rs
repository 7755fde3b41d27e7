//! ERROR_NUMBER and related functions: the error that a CATCH handles; NULL outside one.

use std::sync::Arc;

use selenite_types::Value;

use crate::functions::Arguments;
use crate::{CaughtError, SqlError};

/// ERROR_NUMBER.
pub(super) fn number(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of(call, |error| Value::Int(error.number))
}

/// ERROR_SEVERITY.
pub(super) fn severity(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of(call, |error| Value::Int(error.severity))
}

/// ERROR_STATE.
pub(super) fn state(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of(call, |error| Value::Int(error.state))
}

/// ERROR_LINE.
pub(super) fn line(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of(call, |error| Value::Int(error.line))
}

/// ERROR_PROCEDURE.
pub(super) fn procedure(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of(call, |error| {
        error
            .procedure
            .as_ref()
            .map_or(Value::Null, |name| Value::Text(Arc::clone(name)))
    })
}

/// ERROR_MESSAGE.
pub(super) fn message(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of(call, |error| call.text_result(&error.text))
}

fn of(call: &Arguments<'_>, fact: impl Fn(&CaughtError) -> Value) -> Result<Value, SqlError> {
    Ok(call.environment.caught().map_or(Value::Null, fact))
}
