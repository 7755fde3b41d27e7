//! ISJSON, JSON_VALUE, JSON_QUERY and JSON_PATH_EXISTS.

use selenite_types::{DataType, Value, Width, utf16_length};

use crate::functions::Arguments;
use crate::json::{Document, Found, Kind, Path, scalar_text};
use crate::{Expr, SqlError};

/// ISJSON.
pub(super) fn is_json(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let text = call.text(0)?;
    call.reserve(text.len())?;
    let wanted = if call.values.len() > 1 { call.text(1)? } else { "" };
    let document = match wanted {
        "value" | "scalar" => Document::read_any(text),
        _ => Document::read(text),
    };
    let kind = document.kind(0);
    let is_wanted = match wanted {
        "array" => kind == Kind::Array,
        "object" => kind == Kind::Object,
        "scalar" => matches!(kind, Kind::String | Kind::Number),
        _ => true,
    };
    Ok(Value::Int(i32::from(document.is_valid() && is_wanted)))
}

/// JSON_VALUE.
pub(super) fn json_value(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let path = path_of(call, "JSON_VALUE")?;
    if *call.value(0) == Value::Null {
        return Ok(Value::Null);
    }
    let document = document_of(call)?;
    let Found::Value(node) = path.find(&document, 1, 1)? else {
        return Ok(Value::Null);
    };
    let kind = document.kind(node);
    if kind.is_container() && path.strict {
        return Err(SqlError::json_scalar_missing(2));
    }
    if kind.is_container() || kind == Kind::Null {
        return Ok(Value::Null);
    }
    let text = scalar_text(&document, node)?;
    if utf16_length(&text) > VALUE_LENGTH_MAX && call.data_type(0).is_max() {
        return match path.strict {
            true => Err(SqlError::json_value_truncated()),
            false => Ok(Value::Null),
        };
    }
    Ok(call.text_result(&text))
}

/// The type of JSON_QUERY.
pub(super) fn query_type(arguments: &[Expr]) -> DataType {
    let is_max = arguments.first().is_some_and(|first| first.data_type.is_max());
    DataType::NVarChar(if is_max { Width::Max } else { Width::Limited(4000) })
}

/// JSON_QUERY.
pub(super) fn json_query(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let path = match call.values.len() {
        0 | 1 => Path::parse("$", false)?,
        _ => path_of(call, "JSON_QUERY")?,
    };
    if *call.value(0) == Value::Null {
        return Ok(Value::Null);
    }
    let document = document_of(call)?;
    let Found::Value(node) = path.find(&document, 1, 1)? else {
        return Ok(Value::Null);
    };
    match document.kind(node) {
        Kind::Array | Kind::Object => Ok(call.text_result(document.text(node))),
        Kind::Null => Ok(Value::Null),
        Kind::String | Kind::Number | Kind::Boolean => match path.strict {
            true => Err(SqlError::json_container_missing(if call.data_type(0).is_max() {
                1
            } else {
                2
            })),
            false => Ok(Value::Null),
        },
    }
}

/// JSON_PATH_EXISTS: never an error of the document.
pub(super) fn json_path_exists(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let path = path_of(call, "JSON_PATH_EXISTS")?;
    if *call.value(0) == Value::Null {
        return Ok(Value::Null);
    }
    let document = document_of(call)?;
    if document.is_too_deep() {
        return Err(SqlError::json_too_deep(1));
    }
    let exists = document.is_valid() && matches!(path.walk(&document, 1), Ok(Found::Value(_)));
    Ok(Value::Int(i32::from(exists)))
}

/// The path, which is the second argument.
///
/// Errors: 8116 for NULL; 13607.
pub(super) fn path_of(call: &Arguments<'_>, function: &str) -> Result<Path, SqlError> {
    if *call.value(1) == Value::Null {
        return Err(SqlError::json_null_path(function, 8));
    }
    Path::parse(call.text(1)?, function == "JSON_MODIFY")
}

/// The document, which is the first argument.
///
/// Errors: 701.
pub(super) fn document_of<'a>(call: &Arguments<'a>) -> Result<Document<'a>, SqlError> {
    let text = call.text(0)?;
    // A node of the tree for each value, which is at least two characters.
    call.reserve(text.len().saturating_mul(NODE_SIZE / 2))?;
    Ok(Document::read(text))
}

const NODE_SIZE: usize = 8;

/// The length of JSON_VALUE's result.
const VALUE_LENGTH_MAX: usize = 4000;
