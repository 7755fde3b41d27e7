//! COL_NAME, COL_LENGTH and COLUMNPROPERTY.

use selenite_types::{Value, Width};

use super::object::by_name;
use crate::functions::Arguments;
use crate::{ColumnKey, SqlError};

/// COL_NAME.
pub(super) fn name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call.environment.column(call.int(0)?, ColumnKey::Number(call.int(1)?))?;
    Ok(found.map_or(Value::Null, |column| Value::Text(column.name)))
}

/// COL_LENGTH: in bytes; -1 for `max`.
pub(super) fn length(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(table) = by_name(call, call.text(0)?, None)? else {
        return Ok(Value::Null);
    };
    let found = call.environment.column(table.id, ColumnKey::Name(call.text(1)?))?;
    Ok(found.map_or(Value::Null, |column| {
        Value::SmallInt(column.data_type.describe().max_length)
    }))
}

/// COLUMNPROPERTY.
pub(super) fn property(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(column) = call.environment.column(call.int(0)?, ColumnKey::Name(call.text(1)?))? else {
        return Ok(Value::Null);
    };
    let described = column.data_type.describe();
    let is = |truth: bool| Value::Int(i32::from(truth));
    let width = column.data_type.width().map(|width| match width {
        Width::Limited(width) => i32::from(width),
        Width::Max => -1,
    });
    let value = match call.text(2)?.to_ascii_lowercase().as_str() {
        "allowsnull" => is(column.nullable),
        "columnid" | "ordinal" => Value::Int(column.number),
        "isidentity" => is(column.is_identity),
        "iscomputed" => is(column.is_computed),
        "isrowguidcol" | "issparse" | "iscolumnset" | "ishidden" | "isxmlindexable" | "isidnotforrepl" => is(false),
        "charmaxlen" => width.map_or(Value::Null, Value::Int),
        "precision" => Value::Int(width.unwrap_or(i32::from(described.precision))),
        "scale" if width.is_some() => Value::Null,
        "scale" => Value::Int(i32::from(described.scale)),
        "usesansitrim" if width.is_some() => is(true),
        _ => Value::Null,
    };
    Ok(value)
}
