//! SWITCHOFFSET and TODATETIMEOFFSET.

use selenite_types::{DataType, Value, offset_from_minutes, offset_from_text, switch_offset, to_date_time_offset};

use crate::functions::{Arguments, seconds_scale};
use crate::{Expr, SqlError};

/// The type of both: datetimeoffset with the fractional digits of the first argument.
pub(super) fn offset_type(arguments: &[Expr]) -> DataType {
    DataType::DateTimeOffset(arguments.first().map_or(7, |moment| seconds_scale(&moment.data_type)))
}

/// SWITCHOFFSET.
pub(super) fn switch(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let offset = offset(call, "switchoffset")?;
    let Value::DateTimeOffset(moment) = call.value(0) else {
        return Err(SqlError::internal("SWITCHOFFSET of what has no offset"));
    };
    Ok(Value::DateTimeOffset(switch_offset(*moment, offset)?))
}

/// TODATETIMEOFFSET: replaces an existing offset.
pub(super) fn attach(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let offset = offset(call, "todatetimeoffset")?;
    let local = if let Value::DateTimeOffset(moment) = call.value(0) {
        moment.local()
    } else if let Value::DateTime(moment) = call.value(0) {
        *moment
    } else {
        return Err(SqlError::internal("TODATETIMEOFFSET of what is no moment"));
    };
    Ok(Value::DateTimeOffset(to_date_time_offset(local, offset)?))
}

fn offset(call: &Arguments<'_>, function: &'static str) -> Result<i16, SqlError> {
    if let Value::Text(text) = call.value(1) {
        return Ok(offset_from_text(text, function)?);
    }
    Ok(offset_from_minutes(i64::from(call.int(1)?), function)?)
}
