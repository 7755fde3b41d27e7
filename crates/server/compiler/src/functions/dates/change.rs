//! DATEADD and EOMONTH.

use selenite_types::{DataType, DateFormat, Value, convert, date_add, date_bucket, date_trunc};

use crate::SqlError;
use crate::functions::Arguments;

/// DATEADD.
pub(super) fn add(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(date_add(call.part()?, call.int(0)?, call.value(1), &call.data_type(1))?)
}

/// EOMONTH.
pub(super) fn end_of_month(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Value::Date(date) = *call.value(0) else {
        return Err(SqlError::internal("EOMONTH of what is no date"));
    };
    let months = if call.values.len() > 1 { call.int(1)? } else { 0 };
    Ok(Value::Date(selenite_types::end_of_month(date, months)?))
}

/// DATETRUNC.
pub(super) fn truncate(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let first = call.environment.session().date_first;
    Ok(date_trunc(call.part()?, call.value(0), &call.data_type(0), first)?)
}

/// DATE_BUCKET: buckets are counted from 1900-01-01, unless another origin is given.
pub(super) fn bucket(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let of = call.data_type(1);
    let format = DateFormat::default();
    let origin = match call.values.len() {
        0..=2 => {
            let base = Value::DateTime(selenite_types::DateTime2::BASE);
            convert(&base, &DataType::DateTime2(0), &of, None, format)?
        }
        _ => convert(call.value(2), &call.data_type(2), &of, None, format)?,
    };
    Ok(date_bucket(call.part()?, call.bigint(0)?, call.value(1), &of, &origin)?)
}
