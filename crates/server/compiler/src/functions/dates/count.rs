//! Date parts and differences of dates and times.

use std::sync::Arc;

use selenite_types::{DatePart, Value, date_diff, date_diff_big, date_name, date_part};

use crate::SqlError;
use crate::functions::Arguments;

/// DATEDIFF.
pub(super) fn difference(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (start, end) = (call.data_type(0), call.data_type(1));
    let count = date_diff(call.part()?, (call.value(0), &start), (call.value(1), &end))?;
    Ok(count.map_or(Value::Null, Value::Int))
}

/// DATEDIFF_BIG.
pub(super) fn difference_big(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (start, end) = (call.data_type(0), call.data_type(1));
    let count = date_diff_big(call.part()?, (call.value(0), &start), (call.value(1), &end))?;
    Ok(count.map_or(Value::Null, Value::BigInt))
}

/// DATEPART.
pub(super) fn part(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of_part(call, call.part()?)
}

pub(super) fn year(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of_part(call, DatePart::Year)
}

pub(super) fn month(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of_part(call, DatePart::Month)
}

pub(super) fn day(call: &Arguments<'_>) -> Result<Value, SqlError> {
    of_part(call, DatePart::Day)
}

/// DATENAME.
pub(super) fn name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let first = call.environment.session().date_first;
    let name = date_name(call.part()?, call.value(0), &call.data_type(0), first)?;
    Ok(name.map_or(Value::Null, |name| Value::Text(Arc::from(name))))
}

fn of_part(call: &Arguments<'_>, part: DatePart) -> Result<Value, SqlError> {
    let first = call.environment.session().date_first;
    let number = date_part(part, call.value(0), &call.data_type(0), first)?;
    Ok(number.map_or(Value::Null, Value::Int))
}
