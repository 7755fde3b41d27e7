//! SQL_VARIANT_PROPERTY, and results of type sql_variant.

use std::sync::Arc;

use selenite_types::{DataType, Family, SqlVariant, Value};

use crate::functions::{Arguments, SYSNAME};
use crate::{DEFAULT_COLLATION, SqlError};

/// A value of `data_type` as a sql_variant.
pub(crate) fn variant_of(data_type: DataType, value: Value) -> Value {
    SqlVariant::of(data_type, value).unwrap_or(Value::Null)
}

/// A name as a sql_variant.
pub(crate) fn variant_name(name: &str) -> Value {
    variant_of(SYSNAME, Value::Text(Arc::from(name)))
}

/// SQL_VARIANT_PROPERTY; NULL for an unknown property.
pub(super) fn property(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Value::SqlVariant(variant) = call.value(0) else {
        return Ok(Value::Null);
    };
    let of = variant.data_type();
    let described = of.describe();
    let number = |number: i32| variant_of(DataType::Int, Value::Int(number));
    Ok(match call.text(1)?.trim_end().to_ascii_lowercase().as_str() {
        "basetype" => variant_name(of.keyword()),
        "precision" => number(described.precision.into()),
        "scale" => number(described.scale.into()),
        "totalbytes" => number(i32::try_from(variant.total_size()).unwrap_or(i32::MAX)),
        "collation" if of.family() == Family::Text => variant_name(DEFAULT_COLLATION),
        "maxlength" => number(described.max_length.into()),
        _ => Value::Null,
    })
}
