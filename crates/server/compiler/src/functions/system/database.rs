//! Databases and schemas, by name and id.

use selenite_types::{DataType, Value};

use super::property::{COMPARISON_STYLE, LCID, SORT_ORDER};
use crate::functions::Arguments;
use crate::functions::conversion::{variant_name, variant_of};
use crate::{DEFAULT_COLLATION, Key, SqlError};

/// DB_ID.
pub(super) fn id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call.environment.database(name_or_current(call)?)?;
    Ok(found.map_or(Value::Null, |database| Value::SmallInt(database.id)))
}

/// DB_NAME: id 0 is the current database.
pub(super) fn name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call.environment.database(id_or_current(call)?)?;
    Ok(found.map_or(Value::Null, |database| Value::Text(database.name)))
}

/// HAS_DBACCESS.
pub(super) fn has_access(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call.environment.database(Key::Name(call.text(0)?))?;
    Ok(found.map_or(Value::Null, |database| Value::Int(i32::from(database.is_accessible))))
}

/// SCHEMA_ID.
pub(super) fn schema_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call.environment.schema(name_or_current(call)?)?;
    Ok(found.map_or(Value::Null, |schema| Value::Int(schema.id)))
}

/// SCHEMA_NAME.
pub(super) fn schema_name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call.environment.schema(id_or_current(call)?)?;
    Ok(found.map_or(Value::Null, |schema| Value::Text(schema.name)))
}

/// DATABASEPROPERTYEX: a sql_variant of the property's own type.
pub(super) fn property(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(database) = call.environment.database(Key::Name(call.text(0)?))? else {
        return Ok(Value::Null);
    };
    let number = |number: i32| variant_of(DataType::Int, Value::Int(number));
    let value = match call.text(1)?.to_ascii_lowercase().as_str() {
        "collation" => variant_name(DEFAULT_COLLATION),
        "recovery" => variant_name(&database.recovery),
        "status" => variant_name(&database.status),
        "updateability" => variant_name(if database.is_read_only {
            "READ_ONLY"
        } else {
            "READ_WRITE"
        }),
        "useraccess" => variant_name(database.user_access),
        "comparisonstyle" => number(COMPARISON_STYLE),
        "lcid" => number(LCID),
        "sqlsortorder" => number(SORT_ORDER),
        "isclone"
        | "isfulltextenabled"
        | "isinstandby"
        | "islocalcursorsdefault"
        | "ismergepublished"
        | "isparameterizationforced"
        | "ispublished"
        | "issubscribed"
        | "issyncwithbackup"
        | "istornpagedetectionenabled"
        | "isxtpsupported" => number(0),
        other => match SWITCHES.iter().find(|(property, _)| *property == other) {
            Some((_, option)) => number(i32::from(database.switched_on.contains(option))),
            None => Value::Null,
        },
    };
    Ok(value)
}

/// The properties that are options of ALTER DATABASE.
const SWITCHES: &[(&str, &str)] = &[
    ("isansinulldefault", "ANSI_NULL_DEFAULT"),
    ("isansinullsenabled", "ANSI_NULLS"),
    ("isansipaddingenabled", "ANSI_PADDING"),
    ("isansiwarningsenabled", "ANSI_WARNINGS"),
    ("isarithmeticabortenabled", "ARITHABORT"),
    ("isautoclose", "AUTO_CLOSE"),
    ("isautocreatestatistics", "AUTO_CREATE_STATISTICS"),
    ("isautoshrink", "AUTO_SHRINK"),
    ("isautoupdatestatistics", "AUTO_UPDATE_STATISTICS"),
    ("isclosecursorsoncommitenabled", "CURSOR_CLOSE_ON_COMMIT"),
    ("isnullconcat", "CONCAT_NULL_YIELDS_NULL"),
    ("isnumericroundabortenabled", "NUMERIC_ROUNDABORT"),
    ("isquotedidentifiersenabled", "QUOTED_IDENTIFIER"),
    ("isrecursivetriggersenabled", "RECURSIVE_TRIGGERS"),
];

fn name_or_current<'a>(call: &Arguments<'a>) -> Result<Key<'a>, SqlError> {
    if call.values.is_empty() {
        Ok(Key::Current)
    } else {
        Ok(Key::Name(call.text(0)?))
    }
}

fn id_or_current<'a>(call: &Arguments<'a>) -> Result<Key<'a>, SqlError> {
    if call.values.is_empty() {
        return Ok(Key::Current);
    }
    Ok(match call.int(0)? {
        0 => Key::Current,
        id => Key::Id(id),
    })
}
