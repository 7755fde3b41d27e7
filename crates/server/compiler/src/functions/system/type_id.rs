//! TYPE_NAME and TYPE_ID.

use std::sync::Arc;

use selenite_types::Value;

use crate::functions::{Arguments, name_parts};
use crate::{Key, SqlError, same_name};

/// TYPE_NAME.
pub(super) fn name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let id = call.int(0)?;
    if let Some((_, name)) = SYSTEM_TYPES.iter().find(|(known, _)| *known == id) {
        return Ok(Value::Text(Arc::from(*name)));
    }
    let alias = call.environment.alias_type(Key::Id(id))?;
    Ok(alias.map_or(Value::Null, |(_, name, _)| call.text_result(&name)))
}

/// TYPE_ID: the name may be qualified by a schema.
pub(super) fn id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(parts) = name_parts(call.text(0)?) else {
        return Ok(Value::Null);
    };
    let Some(name) = parts.last() else {
        return Ok(Value::Null);
    };
    if let Some((id, _)) = SYSTEM_TYPES.iter().find(|(_, known)| same_name(known, name)) {
        return Ok(Value::Int(*id));
    }
    Ok(call
        .environment
        .alias_type(Key::Name(name))?
        .map_or(Value::Null, |(id, _, _)| Value::Int(id)))
}

/// `user_type_id` and `name` of sys.types.
const SYSTEM_TYPES: &[(i32, &str)] = &[
    (34, "image"),
    (35, "text"),
    (36, "uniqueidentifier"),
    (40, "date"),
    (41, "time"),
    (42, "datetime2"),
    (43, "datetimeoffset"),
    (48, "tinyint"),
    (52, "smallint"),
    (56, "int"),
    (58, "smalldatetime"),
    (59, "real"),
    (60, "money"),
    (61, "datetime"),
    (62, "float"),
    (98, "sql_variant"),
    (99, "ntext"),
    (104, "bit"),
    (106, "decimal"),
    (108, "numeric"),
    (122, "smallmoney"),
    (127, "bigint"),
    (128, "hierarchyid"),
    (129, "geometry"),
    (130, "geography"),
    (165, "varbinary"),
    (167, "varchar"),
    (173, "binary"),
    (175, "char"),
    (189, "timestamp"),
    (231, "nvarchar"),
    (239, "nchar"),
    (241, "xml"),
    (256, "sysname"),
];
