//! The current time, in each of its types.

use selenite_types::Value;

use crate::SqlError;
use crate::functions::Arguments;

/// GETDATE and CURRENT_TIMESTAMP.
pub(super) fn local_datetime(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::DateTime(call.environment.now().datetime_local()))
}

/// GETUTCDATE.
pub(super) fn utc_datetime(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::DateTime(call.environment.now().datetime_utc()))
}

/// SYSDATETIME.
pub(super) fn local(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::DateTime(call.environment.now().local()))
}

/// SYSUTCDATETIME.
pub(super) fn utc(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::DateTime(call.environment.now().utc()))
}

/// SYSDATETIMEOFFSET.
pub(super) fn with_offset(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::DateTimeOffset(call.environment.now().with_offset()))
}
