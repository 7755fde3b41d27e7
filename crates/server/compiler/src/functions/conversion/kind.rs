//! ISNUMERIC and NEWID.

use selenite_types::{DataType, Family, Value, convert};

use crate::SqlError;
use crate::functions::Arguments;

/// ISNUMERIC: 1 if the value converts to any numeric type.
pub(super) fn is_numeric(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (value, of) = (call.value(0), call.data_type(0));
    let format = call.environment.session().date_format;
    let becomes = |to: DataType| convert(value, &of, &to, None, format).is_ok();
    let is_number = match of.family() {
        _ if *value == Value::Null => false,
        Family::Text if call.text(0)?.trim_matches(' ').is_empty() => false,
        Family::Bit | Family::Integer | Family::Decimal | Family::Money | Family::Approximate => true,
        Family::Text => {
            becomes(DataType::Float)
                || becomes(DataType::Money)
                || becomes(DataType::Decimal {
                    precision: 38,
                    scale: 0,
                })
        }
        Family::Binary | Family::OldDate | Family::NewDate | Family::Time | Family::Guid => false,
    };
    Ok(Value::Int(i32::from(is_number)))
}

pub(super) fn new_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::Guid(call.environment.new_guid()))
}
