//! DATEADD and EOMONTH.

use selenite_types::{Value, date_add};

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
