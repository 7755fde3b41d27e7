//! TYPE_NAME, TYPE_ID and TYPEPROPERTY.

use std::sync::Arc;

use selenite_types::{DataType, DeclarationContext, Family, Site, Value};

use crate::functions::{Arguments, name_parts};
use crate::{Key, SqlError, UserTypeFacts, same_name};

/// TYPE_NAME.
pub(super) fn name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let id = call.int(0)?;
    if let Some((_, name)) = SYSTEM_TYPES.iter().find(|(known, _)| *known == id) {
        return Ok(Value::Text(Arc::from(*name)));
    }
    let found = call.environment.user_type(Key::Id(id), None)?;
    Ok(found.map_or(Value::Null, |found| call.text_result(&found.name)))
}

/// TYPE_ID: the name may be qualified by a schema.
pub(super) fn id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(match find(call)? {
        Some(Found::System(id, _)) => Value::Int(id),
        Some(Found::User(found)) => Value::Int(found.id),
        None => Value::Null,
    })
}

/// TYPEPROPERTY; NULL for an unknown type or property.
pub(super) fn property(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(found) = find(call)? else {
        return Ok(Value::Null);
    };
    let (base, nullable, owner) = match &found {
        Found::System(_, name) => (system_type(name), !same_name(name, "sysname"), SYS),
        Found::User(found) => (found.base, found.nullable, found.owner),
    };
    let (Some(base), property) = (base, call.text(1)?.trim_end().to_ascii_lowercase()) else {
        return Ok(Value::Null);
    };
    let described = base.describe();
    let is_number = matches!(
        base.family(),
        Family::Integer | Family::Decimal | Family::Money | Family::Approximate
    );
    let has_scale = !matches!(
        base.family(),
        Family::Text | Family::Binary | Family::Guid | Family::Approximate | Family::Variant
    );
    Ok(match property.as_str() {
        "allowsnull" => Value::Int(i32::from(nullable)),
        "ownerid" => Value::Int(owner),
        "precision" => match (&found, base.family()) {
            (Found::System(_, "sysname"), _) => Value::Int(128),
            (Found::System(..), Family::Text | Family::Binary) => {
                let is_wide = matches!(base, DataType::NChar(_) | DataType::NVarChar(_));
                Value::Int(if is_wide { 4000 } else { 8000 })
            }
            (_, Family::Text | Family::Binary) => Value::Int(match base.width() {
                Some(selenite_types::Width::Limited(width)) => i32::from(width),
                Some(selenite_types::Width::Max) | None => -1,
            }),
            (_, _) if is_number || described.precision > 0 => Value::Int(i32::from(described.precision)),
            (_, _) => Value::Int(i32::from(described.max_length)),
        },
        "scale" if has_scale => Value::Int(i32::from(described.scale)),
        "usesansitrim" if matches!(base.family(), Family::Text | Family::Binary) => Value::Int(1),
        _ => Value::Null,
    })
}

/// A type by its name.
enum Found {
    System(i32, &'static str),
    User(UserTypeFacts),
}

/// The type that the first argument names.
fn find(call: &Arguments<'_>) -> Result<Option<Found>, SqlError> {
    let Some(parts) = name_parts(call.text(0)?) else {
        return Ok(None);
    };
    let mut parts = parts.iter().rev();
    let Some(name) = parts.next() else {
        return Ok(None);
    };
    let schema = parts.next().filter(|schema| !schema.is_empty());
    if schema.is_none_or(|schema| same_name(schema, "sys"))
        && let Some((id, known)) = SYSTEM_TYPES.iter().find(|(_, known)| same_name(known, name))
    {
        return Ok(Some(Found::System(*id, known)));
    }
    let found = call
        .environment
        .user_type(Key::Name(name), schema.map(|schema| &**schema))?;
    Ok(found.map(Found::User))
}

/// A type of the system without arguments; `None` if it is not supported.
fn system_type(name: &str) -> Option<DataType> {
    let site = Site {
        place: DeclarationContext::Cast,
        line: 1,
    };
    DataType::from_name(name, &[], &site).ok()
}

/// The number of the schema `sys`.
const SYS: i32 = 4;

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
