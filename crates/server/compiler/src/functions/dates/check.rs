//! ISDATE.

use selenite_types::{DataType, Family, Value, Width, convert};

use crate::SqlError;
use crate::functions::Arguments;

/// ISDATE: 1 if the value, as text, is a datetime.
pub(super) fn is_date(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (value, of) = (call.value(0), call.data_type(0));
    match of.family() {
        Family::NewDate | Family::Time | Family::Variant | Family::Xml => {
            return Err(SqlError::argument_type(of.bare_name(), 1, "isdate"));
        }
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
    let text_type = DataType::VarChar(Width::Max);
    if *value == Value::Null {
        return Ok(Value::Int(0));
    }
    let is_text = of.family() == Family::Text;
    let text = if is_text {
        Ok(value.clone())
    } else {
        convert(value, &of, &text_type, None, format)
    };
    let is_date = matches!(&text, Ok(Value::Text(text)) if selenite_types::is_date(text, format));
    Ok(Value::Int(i32::from(is_date)))
}
