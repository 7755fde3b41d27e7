//! The table `selenite_catalog`: what SQLite's schema can't hold, one row an object, in T-SQL's own words.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, Row};
use selenite_compiler::SqlError;
use selenite_compiler::definition::{SCHEMA, file_name};
use selenite_runtime::sqlite::tsql_error;

use crate::catalog::grants;
use crate::catalog::permission_kind::Class;
use crate::catalog::schema_names::SchemaNames;

/// A row.
#[derive(Clone, Debug)]
pub struct CatalogRow {
    /// The object's number.
    pub object_id: i32,
    /// Its kind.
    pub kind: ObjectKind,
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Of an index, a trigger or statistics, its table's number.
    pub parent: Option<i32>,
    /// Of a trigger, whether it is disabled.
    pub state: Option<String>,
    /// The statements that create it.
    pub definition: String,
    /// When it was created: seconds since 1970-01-01 UTC.
    pub created: i64,
    /// When it was changed last.
    pub modified: i64,
}

/// The kind of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    /// A table.
    Table,
    /// An index of one.
    Index,
    /// A view.
    View,
    /// A procedure.
    Procedure,
    /// A sequence.
    Sequence,
    /// A synonym.
    Synonym,
    /// A function.
    Function,
    /// A type.
    Type,
    /// A trigger.
    Trigger,
    /// Statistics of a table's columns.
    Statistics,
}

impl ObjectKind {
    /// Its text in the row.
    pub fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Index => "index",
            Self::View => "view",
            Self::Procedure => "procedure",
            Self::Sequence => "sequence",
            Self::Synonym => "synonym",
            Self::Function => "function",
            Self::Type => "type",
            Self::Trigger => "trigger",
            Self::Statistics => "statistics",
        }
    }

    /// Whether its objects are in schemas; an index is in its table's.
    fn has_schema(self) -> bool {
        match self {
            Self::Table
            | Self::View
            | Self::Procedure
            | Self::Sequence
            | Self::Synonym
            | Self::Function
            | Self::Type
            | Self::Trigger => true,
            Self::Index | Self::Statistics => false,
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        [
            Self::Table,
            Self::Index,
            Self::View,
            Self::Procedure,
            Self::Sequence,
            Self::Synonym,
            Self::Function,
            Self::Type,
            Self::Trigger,
            Self::Statistics,
        ]
        .into_iter()
        .find(|kind| kind.word() == word)
    }
}

impl CatalogRow {
    /// The name in the row: that of the object in SQLite.
    fn stored_name(&self) -> String {
        match self.kind.has_schema() {
            true => file_name(&self.schema, &self.name),
            false => self.name.clone(),
        }
    }
}

/// Creates the table in `schema`, `main` or `temp`, if it does not exist.
///
/// # Errors
/// SQLite's error.
pub fn ensure(connection: &Connection, schema: &str) -> Result<(), SqlError> {
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS {schema}.selenite_catalog (
            object_id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL COLLATE SQL_Latin1_General_CP1_CI_AS,
            parent INTEGER, definition TEXT NOT NULL, next TEXT, created INTEGER NOT NULL, modified INTEGER NOT NULL)"
    );
    connection.execute_batch(&sql).map_err(|error| tsql_error(&error))
}

/// All rows of `schema`, `main` or `temp`; none if there is no such table. `names` are the schemas of the database.
///
/// # Errors
/// SQLite's error.
pub fn load(connection: &Connection, schema: &str, names: &SchemaNames) -> Result<Vec<CatalogRow>, SqlError> {
    let run = || -> rusqlite::Result<Vec<CatalogRow>> {
        let master = if schema == "temp" {
            "sqlite_temp_schema"
        } else {
            "sqlite_schema"
        };
        let is_there: bool = connection.query_row(
            &format!("SELECT EXISTS (SELECT 1 FROM {master} WHERE type = 'table' AND name = 'selenite_catalog')"),
            [],
            |row| row.get(0),
        )?;
        if !is_there {
            return Ok(Vec::new());
        }
        let mut statement = connection.prepare(&format!(
            "SELECT object_id, kind, name, parent, definition, created, modified, next FROM {schema}.selenite_catalog ORDER BY object_id"
        ))?;
        let rows = statement.query_map([], |row| read(row, names))?;
        Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    };
    run().map_err(|error| tsql_error(&error))
}

/// A row of a kind that a later version made is `None`.
fn read(row: &Row<'_>, names: &SchemaNames) -> rusqlite::Result<Option<CatalogRow>> {
    let kind: String = row.get(1)?;
    let Some(kind) = ObjectKind::of_word(&kind) else {
        return Ok(None);
    };
    let stored: String = row.get(2)?;
    let (schema, name) = match kind.has_schema() {
        true => names.of_file_name(&stored),
        false => (SCHEMA.to_owned(), stored),
    };
    Ok(Some(CatalogRow {
        object_id: row.get(0)?,
        kind,
        schema,
        name,
        parent: row.get(3)?,
        definition: row.get(4)?,
        created: row.get(5)?,
        modified: row.get(6)?,
        state: row.get(7)?,
    }))
}

/// Replaces the row of its number.
///
/// # Errors
/// SQLite's error.
pub fn store(connection: &Connection, schema: &str, row: &CatalogRow) -> Result<(), SqlError> {
    let sql = format!(
        "INSERT INTO {schema}.selenite_catalog (object_id, kind, name, parent, definition, created, modified)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (object_id) DO UPDATE SET name = ?3, parent = ?4, definition = ?5, modified = ?7"
    );
    let values = (
        row.object_id,
        row.kind.word(),
        row.stored_name(),
        row.parent,
        &row.definition,
        row.created,
        row.modified,
    );
    connection
        .execute(&sql, values)
        .map(drop)
        .map_err(|error| tsql_error(&error))
}

/// Sets the state of an object that has no counter.
///
/// # Errors
/// SQLite's error.
pub fn set_state(connection: &Connection, schema: &str, object_id: i32, state: Option<&str>) -> Result<(), SqlError> {
    let sql = format!("UPDATE {schema}.selenite_catalog SET next = ?2 WHERE object_id = ?1");
    connection
        .execute(&sql, (object_id, state))
        .map(drop)
        .map_err(|error| tsql_error(&error))
}

/// Removes an object, its parts, and the permissions on it.
///
/// # Errors
/// SQLite's error.
pub fn remove(connection: &Connection, schema: &str, object_id: i32) -> Result<(), SqlError> {
    let sql = format!("DELETE FROM {schema}.selenite_catalog WHERE object_id = ?1 OR parent = ?1");
    connection
        .execute(&sql, [object_id])
        .map_err(|error| tsql_error(&error))?;
    match schema {
        "main" => [Class::Object, Class::Type]
            .into_iter()
            .try_for_each(|class| grants::forget(connection, class, object_id)),
        _ => Ok(()),
    }
}

/// A number for a new object.
///
/// # Errors
/// SQLite's error.
pub fn free_id(connection: &Connection, schema: &str) -> Result<i32, SqlError> {
    let sql = format!("SELECT ifnull(max(object_id), {FIRST_ID}) + 16 FROM {schema}.selenite_catalog");
    connection
        .query_row(&sql, [], |row| row.get(0))
        .map_err(|error| tsql_error(&error))
}

/// Refuses names that are reserved for the server or SQLite, and what SQLite can't hold.
///
/// # Errors
/// 40510.
pub fn check_name(name: &str) -> Result<(), SqlError> {
    let lower = name.to_ascii_lowercase();
    let is_reserved = lower.starts_with("sqlite_") || lower.starts_with("selenite_") || lower.starts_with('@');
    if is_reserved || name.contains('\0') {
        return Err(SqlError::unsupported(&format!("The name '{}'", name.replace('\0', ""))));
    }
    Ok(())
}

/// A number that no temporary object had before.
pub fn new_temporary_id() -> i32 {
    NEXT_TEMPORARY.fetch_sub(16, Ordering::Relaxed)
}

/// Distinguishes the generated names of constraints from those made before.
pub fn salt() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos() & u128::from(u64::MAX)).unwrap_or_default()
}

/// Below it are system objects.
const FIRST_ID: i32 = 245_575_913;
/// SQL Server's temporary objects have numbers below 0, too.
static NEXT_TEMPORARY: AtomicI32 = AtomicI32::new(-1_000_000_000);
