//! Extended properties: values that clients keep at a database's objects. A table `selenite_property` of the database's
//! own file has them; it is made with the first of them.
//!
//! - `property-is-of-a-name`: columns, indexes, parameters and constraints are known by their names: their numbers are
//!   positions, which change.
//! - `property-goes-with-its-holder`: who drops or renames an object does so with its properties.

use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use selenite_compiler::{SqlError, same_name, stored};
use selenite_runtime::sqlite::tsql_error;
use selenite_types::storage::{StoredRef, from_stored};
use selenite_types::{DataType, SqlVariant, Value, Width, utf16_length, utf16_prefix};

/// A property.
#[derive(Clone, PartialEq, Debug)]
pub struct ExtendedProperty {
    /// What it is a property of.
    pub holder: PropertyHolder,
    /// Its name.
    pub name: String,
    /// Its value, a sql_variant.
    pub value: Value,
}

/// What has a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PropertyHolder {
    /// Its kind.
    pub kind: HolderKind,
    /// The number of the object, or of the schema; 0 for the database.
    pub id: i32,
    /// The name of the object's part; empty for the object itself.
    pub part: String,
}

/// The kind of what has a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HolderKind {
    /// The database.
    Database,
    /// A schema.
    Schema,
    /// A table, a view or a procedure.
    Object,
    /// A column of a table or view.
    Column,
    /// A constraint of a table.
    Constraint,
    /// An index of a table.
    Index,
    /// A parameter of a procedure.
    Parameter,
}

impl HolderKind {
    const ALL: [Self; 7] = [
        Self::Database,
        Self::Schema,
        Self::Object,
        Self::Column,
        Self::Constraint,
        Self::Index,
        Self::Parameter,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Schema => "schema",
            Self::Object => "object",
            Self::Column => "column",
            Self::Constraint => "constraint",
            Self::Index => "index",
            Self::Parameter => "parameter",
        }
    }

    /// `class` and `class_desc` of `sys.extended_properties`.
    pub fn class(self) -> (i32, &'static str) {
        match self {
            Self::Database => (0, "DATABASE"),
            Self::Object | Self::Column | Self::Constraint => (1, "OBJECT_OR_COLUMN"),
            Self::Parameter => (2, "PARAMETER"),
            Self::Schema => (3, "SCHEMA"),
            Self::Index => (7, "INDEX"),
        }
    }
}

impl PropertyHolder {
    /// Whether it is this one.
    pub fn is(&self, other: &Self) -> bool {
        self.kind == other.kind && self.id == other.id && same_name(&self.part, &other.part)
    }
}

/// All properties of a database; none if there is no such table.
///
/// # Errors
/// SQLite's error.
pub fn load(connection: &Connection) -> Result<Vec<ExtendedProperty>, SqlError> {
    if !is_there(connection)? {
        return Ok(Vec::new());
    }
    let read = || -> rusqlite::Result<Vec<Option<ExtendedProperty>>> {
        let sql = "SELECT kind, id, part, name, value FROM main.selenite_property ORDER BY id, kind, part, name";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], property)?;
        rows.collect()
    };
    let rows = read().map_err(|error| tsql_error(&error))?;
    Ok(rows.into_iter().flatten().collect())
}

/// Stores a property, or changes its value.
///
/// # Errors
/// SQLite's error.
pub fn store(connection: &Connection, property: &ExtendedProperty) -> Result<(), SqlError> {
    let ExtendedProperty { holder, name, value } = property;
    let stored = stored(value, &DataType::SqlVariant)?;
    let value = match stored.as_stored_ref() {
        StoredRef::Text(form) => Some(form),
        StoredRef::Null | StoredRef::Integer(_) | StoredRef::Real(_) | StoredRef::Blob(_) => None,
    };
    let run = || -> rusqlite::Result<()> {
        connection.execute_batch(TABLE)?;
        let sql =
            "INSERT OR REPLACE INTO main.selenite_property (kind, id, part, name, value) VALUES (?1, ?2, ?3, ?4, ?5)";
        connection.execute(sql, (holder.kind.word(), holder.id, &holder.part, name, value))?;
        Ok(())
    };
    run().map_err(|error| tsql_error(&error))
}

/// Removes a property.
///
/// # Errors
/// SQLite's error.
pub fn remove(connection: &Connection, holder: &PropertyHolder, name: &str) -> Result<(), SqlError> {
    let sql = "DELETE FROM main.selenite_property WHERE kind = ?1 AND id = ?2 AND part = ?3 AND name = ?4";
    let done = connection.execute(sql, (holder.kind.word(), holder.id, &holder.part, name));
    done.map(drop).map_err(|error| tsql_error(&error))
}

/// Removes the properties of an object and its parts, or of a schema.
///
/// # Errors
/// SQLite's error.
pub fn forget(connection: &Connection, id: i32) -> Result<(), SqlError> {
    if !is_there(connection)? {
        return Ok(());
    }
    let done = connection.execute("DELETE FROM main.selenite_property WHERE id = ?1", [id]);
    done.map(drop).map_err(|error| tsql_error(&error))
}

/// A part of an object has another name, or none any more.
///
/// # Errors
/// SQLite's error.
pub fn move_part(connection: &Connection, holder: &PropertyHolder, new: Option<&str>) -> Result<(), SqlError> {
    if !is_there(connection)? {
        return Ok(());
    }
    let sql = match new {
        Some(_) => "UPDATE main.selenite_property SET part = ?4 WHERE kind = ?1 AND id = ?2 AND part = ?3",
        None => "DELETE FROM main.selenite_property WHERE kind = ?1 AND id = ?2 AND part = ?3 AND ?4 IS NULL",
    };
    let done = connection.execute(sql, (holder.kind.word(), holder.id, &holder.part, new));
    done.map(drop).map_err(|error| tsql_error(&error))
}

fn is_there(connection: &Connection) -> Result<bool, SqlError> {
    let sql = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'selenite_property'";
    let found = connection.query_row(sql, [], |_| Ok(())).optional();
    found.map(|found| found.is_some()).map_err(|error| tsql_error(&error))
}

/// A value: a BLOB is the stored form of a sql_variant, a TEXT an nvarchar of an earlier version. What is none is NULL.
fn value(column: ValueRef<'_>) -> Value {
    let read = match column {
        ValueRef::Blob(form) => from_stored(StoredRef::Text(form), &DataType::SqlVariant).ok(),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let length = u16::try_from(utf16_length(&text))
                .unwrap_or(LENGTH_MAX)
                .clamp(1, LENGTH_MAX);
            let data_type = DataType::NVarChar(Width::Limited(length));
            SqlVariant::of(data_type, Value::Text(Arc::from(utf16_prefix(&text, length.into()))))
        }
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    };
    read.unwrap_or(Value::Null)
}

/// A row of a kind that a later version made is `None`.
fn property(row: &Row<'_>) -> rusqlite::Result<Option<ExtendedProperty>> {
    let word: String = row.get(0)?;
    let Some(kind) = HolderKind::ALL.into_iter().find(|kind| kind.word() == word) else {
        return Ok(None);
    };
    Ok(Some(ExtendedProperty {
        holder: PropertyHolder {
            kind,
            id: row.get(1)?,
            part: row.get(2)?,
        },
        name: row.get(3)?,
        value: value(row.get_ref(4)?),
    }))
}

/// The most characters of an nvarchar.
const LENGTH_MAX: u16 = 4000;

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS main.selenite_property (
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,
    part TEXT NOT NULL COLLATE SQL_Latin1_General_CP1_CI_AS,
    name TEXT NOT NULL COLLATE SQL_Latin1_General_CP1_CI_AS,
    value TEXT,
    PRIMARY KEY (kind, id, part, name)
) WITHOUT ROWID";
