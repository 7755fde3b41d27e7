//! ISDATE.

use selenite_types::{DataType, Family, Value, convert};

use crate::{PlanError, functions::Arguments};

/// ISDATE: 1 if the value, as text, is a datetime.
pub(super) fn is_date(call: &Arguments<'_>) -> Result<Value, PlanError> {
    let (value, of) = (call.value(0), call.data_type(0));
    match of.family() {
        Family::NewDate | Family::Time => return Err(PlanError::argument_type(of.bare_name(), 1, "isdate")),
        Family::OldDate => return Ok(Value::Int(i32::from(*value != Value::Null))),
        Family::Bit
        | Family::Integer
        | Family::Decimal
        | Family::Money
        | Family::Approximate
        | Family::Text
        | Family::Binary
        | Family::Guid => {}
    }
    let format = call.environment.session().date_format;
    let text_type = DataType::VarChar(selenite_types::Width::Max);
    let as_date = |text: Value| convert(&text, &text_type, &DataType::DateTime, None, format);
    let converted = match value {
        Value::Null => return Ok(Value::Int(0)),
        Value::Text(_) => as_date(value.clone()),
        other => convert(other, &of, &text_type, None, format).and_then(as_date),
    };
    Ok(Value::Int(i32::from(converted.is_ok())))
}
