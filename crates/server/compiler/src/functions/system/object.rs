//! Objects by name and id, their properties and identities.

use selenite_types::Value;

use crate::functions::{Arguments, name_parts};
use crate::{IdentityFacts, Key, ObjectFacts, ObjectKey, ObjectKind, SqlError};

/// OBJECT_ID.
pub(super) fn id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let object_type = if call.values.len() > 1 {
        Some(call.text(1)?.trim())
    } else {
        None
    };
    let found = by_name(call, call.text(0)?, object_type)?;
    Ok(found.map_or(Value::Null, |object| Value::Int(object.id)))
}

/// OBJECT_DEFINITION.
pub(super) fn definition(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call.environment.definition(call.int(0)?)?;
    Ok(found.map_or(Value::Null, Value::Text))
}

/// OBJECT_NAME.
pub(super) fn name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(by_id(call)?.map_or(Value::Null, |object| Value::Text(object.name)))
}

/// OBJECT_SCHEMA_NAME.
pub(super) fn schema_name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(by_id(call)?.map_or(Value::Null, |object| Value::Text(object.schema.name)))
}

/// OBJECTPROPERTY.
pub(super) fn property(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let key = ObjectKey::Id {
        database: None,
        id: call.int(0)?,
    };
    let Some(object) = call.environment.object(key)? else {
        return Ok(Value::Null);
    };
    let is = |truth: bool| Ok(Value::Int(i32::from(truth)));
    let is_one_of = |kinds: &[ObjectKind]| is(kinds.contains(&object.kind));
    let is_table = object.kind == ObjectKind::UserTable;
    let of_table = |truth: bool| if is_table { is(truth) } else { Ok(Value::Null) };
    match call.text(1)?.to_ascii_lowercase().as_str() {
        "istable" => is_one_of(&[ObjectKind::UserTable, ObjectKind::SystemTable]),
        "isusertable" => is_one_of(&[ObjectKind::UserTable]),
        "issystemtable" => is_one_of(&[ObjectKind::SystemTable]),
        "isview" => is_one_of(&[ObjectKind::View]),
        "isprocedure" => is_one_of(&[ObjectKind::Procedure]),
        "isextendedproc" => is_one_of(&[ObjectKind::ExtendedProcedure]),
        "isscalarfunction" => is_one_of(&[ObjectKind::ScalarFunction]),
        "istablefunction" => is_one_of(&[ObjectKind::InlineFunction, ObjectKind::TableFunction]),
        "isinlinefunction" => is_one_of(&[ObjectKind::InlineFunction]),
        "istrigger" => is_one_of(&[ObjectKind::Trigger]),
        "isprimarykey" => is_one_of(&[ObjectKind::PrimaryKey]),
        "isuniquecnst" => is_one_of(&[ObjectKind::Unique]),
        "isforeignkey" => is_one_of(&[ObjectKind::ForeignKey]),
        "ischeckcnst" => is_one_of(&[ObjectKind::Check]),
        "isdefaultcnst" => is_one_of(&[ObjectKind::Default]),
        "isconstraint" => is_one_of(CONSTRAINTS),
        "ismsshipped" => is(object.is_system),
        "schemaid" => Ok(Value::Int(object.schema.id)),
        "ownerid" => Ok(Value::Int(1)),
        "tablehasidentity" => of_table(object.table.has_identity),
        "tablehasprimarykey" => of_table(object.table.has_primary_key),
        "tablehasindex" => of_table(object.table.has_index),
        "tablehasclustindex" => of_table(object.table.has_clustered_index),
        "tablehasforeignkey" => of_table(object.table.has_foreign_key),
        "tablehascheckcnst" => of_table(object.table.has_check),
        "tablehasdefaultcnst" => of_table(object.table.has_default),
        "tablehasuniquecnst" => of_table(object.table.has_unique),
        _ => Ok(Value::Null),
    }
}

/// IDENT_CURRENT.
pub(super) fn identity_current(call: &Arguments<'_>) -> Result<Value, SqlError> {
    identity(call, |identity| Value::Decimal(identity.current))
}

/// IDENT_SEED.
pub(super) fn identity_seed(call: &Arguments<'_>) -> Result<Value, SqlError> {
    identity(call, |identity| Value::Decimal(identity.seed))
}

/// IDENT_INCR.
pub(super) fn identity_increment(call: &Arguments<'_>) -> Result<Value, SqlError> {
    identity(call, |identity| Value::Decimal(identity.increment))
}

fn identity(call: &Arguments<'_>, fact: fn(IdentityFacts) -> Value) -> Result<Value, SqlError> {
    let Some(table) = by_name(call, call.text(0)?, None)? else {
        return Ok(Value::Null);
    };
    Ok(call.environment.identity(table.id)?.map_or(Value::Null, fact))
}

/// The object with a name of one to three parts.
pub(super) fn by_name(
    call: &Arguments<'_>,
    name: &str,
    object_type: Option<&str>,
) -> Result<Option<ObjectFacts>, SqlError> {
    let Some(parts) = name_parts(name) else { return Ok(None) };
    let given = |part: &'_ String| (!part.is_empty()).then(|| part.clone());
    let (database, schema, name) = match parts.as_slice() {
        [name] => (None, None, name),
        [schema, name] => (None, given(schema), name),
        [database, schema, name] => (given(database), given(schema), name),
        _ => return Ok(None),
    };
    if name.is_empty() {
        return Ok(None);
    }
    let (database, schema) = (database.as_deref(), schema.as_deref());
    call.environment.object(ObjectKey::Name {
        database,
        schema,
        name,
        object_type,
    })
}

fn by_id(call: &Arguments<'_>) -> Result<Option<ObjectFacts>, SqlError> {
    let database = if call.values.len() > 1 {
        Some(call.int(1)?)
    } else {
        None
    };
    if let Some(id) = database
        && call.environment.database(Key::Id(id))?.is_none()
    {
        return Ok(None);
    }
    call.environment.object(ObjectKey::Id {
        database,
        id: call.int(0)?,
    })
}

const CONSTRAINTS: &[ObjectKind] = &[
    ObjectKind::PrimaryKey,
    ObjectKind::Unique,
    ObjectKind::ForeignKey,
    ObjectKind::Check,
    ObjectKind::Default,
];
