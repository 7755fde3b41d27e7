//! What a row is: a hash of its stored values, which tells whether it has changed.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::OnceLock;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};
use selenite_compiler::SqlError;
use selenite_compiler::catalog::Table;
use selenite_compiler::definition::quoted;
use selenite_runtime::sqlite::tsql_error;

/// The hash of a row's values; `None` if there is no row with this rowid.
///
/// # Errors
/// SQLite's.
pub(crate) fn row_version(connection: &Connection, table: &Table, row_id: i64) -> Result<Option<u64>, SqlError> {
    let name = table
        .row_id()
        .ok_or_else(|| SqlError::internal("a table whose columns hide its rowid"))?;
    let stored = table.columns.iter().filter(|column| column.computed.is_none());
    let columns: Vec<String> = stored.map(|column| quoted(&column.name)).collect();
    let sql = format!(
        "SELECT {} FROM {}.{} WHERE {name} = ?1",
        columns.join(", "),
        quoted(&table.sqlite.schema),
        quoted(&table.sqlite.name)
    );
    let read = || {
        let mut query = connection.prepare_cached(&sql)?;
        let hash = |row: &rusqlite::Row<'_>| {
            let mut hasher = STATE.get_or_init(RandomState::new).build_hasher();
            for at in 0..columns.len() {
                put(&mut hasher, row.get_ref(at)?);
            }
            Ok(hasher.finish())
        };
        query.query_row(params![row_id], hash).optional()
    };
    read().map_err(|error| tsql_error(&error))
}

fn put(hasher: &mut impl Hasher, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => 0_u8.hash(hasher),
        ValueRef::Integer(value) => (1_u8, value).hash(hasher),
        ValueRef::Real(value) => (2_u8, value.to_bits()).hash(hasher),
        ValueRef::Text(text) => (3_u8, text).hash(hasher),
        ValueRef::Blob(bytes) => (4_u8, bytes).hash(hasher),
    }
}

/// The hash's key is the process's own and secret: no client can make two rows with one hash.
static STATE: OnceLock<RandomState> = OnceLock::new();
