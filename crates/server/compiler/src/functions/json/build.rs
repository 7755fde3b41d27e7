//! JSON_OBJECT and JSON_ARRAY.

use std::sync::Arc;

use selenite_types::Value;

use crate::SqlError;
use crate::functions::Arguments;
use crate::json::{is_json_call, push_quoted, push_value};

/// JSON_ARRAY.
pub(super) fn json_array(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let mut text = String::from("[");
    for at in 1..call.values.len() {
        push_element(&mut text, call, at, "")?;
    }
    text.push(']');
    Ok(Value::Text(Arc::from(text)))
}

/// JSON_OBJECT.
pub(super) fn json_object(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let mut text = String::from("{");
    for at in (1..call.values.len()).step_by(2) {
        let name = call.value(at);
        if *name == Value::Null {
            return Err(SqlError::json_null_name());
        }
        let mut key = String::new();
        push_value(&mut key, name, &call.data_type(at), false)?;
        if !key.starts_with('"') {
            let plain = std::mem::take(&mut key);
            push_quoted(&mut key, &plain);
        }
        key.push(':');
        push_element(&mut text, call, at + 1, &key)?;
    }
    text.push('}');
    Ok(Value::Text(Arc::from(text)))
}

/// Appends a value, and its key before it.
fn push_element(text: &mut String, call: &Arguments<'_>, at: usize, key: &str) -> Result<(), SqlError> {
    let value = call.value(at);
    if *value == Value::Null && *call.value(0) == Value::Bit(true) {
        return Ok(());
    }
    if text.len() > 1 {
        text.push(',');
    }
    text.push_str(key);
    let is_json = call.exprs.get(at).is_some_and(is_json_call);
    push_value(text, value, &call.data_type(at), is_json)?;
    call.reserve(text.len())
}
