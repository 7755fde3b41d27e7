//! The counter of a database's rowversion columns: `given-once` and `reserved-in-blocks`, as those of identities are.

use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::SqlError;

use super::error::tsql_error;
use super::identities::{Identities, RowVersions};

impl Identities {
    /// Takes the next value, in a transaction that writes.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn next_row_version(&self, connection: &Connection) -> Result<u64, SqlError> {
        let mut counters = self.lock();
        let mut versions = match counters.row_versions {
            Some(versions) => versions,
            None => load(connection)?,
        };
        if versions.left == 0 {
            reserve(connection, versions.last.saturating_add(RESERVED))?;
            versions.left = RESERVED;
        }
        let next = versions.last.saturating_add(1);
        versions = RowVersions {
            last: next,
            left: versions.left - 1,
            first_open: versions.first_open.or(Some(next)),
        };
        counters.row_versions = Some(versions);
        Ok(next)
    }

    /// The last value, and the first that an open transaction has taken, or else the next one; `None` if they are not
    /// known without reading the database.
    pub fn known_row_versions(&self) -> Option<(u64, u64)> {
        self.lock().row_versions.map(RowVersions::seen)
    }

    /// As [`Identities::known_row_versions`], from the database if need be.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn row_versions(&self, connection: &Connection) -> Result<(u64, u64), SqlError> {
        match self.known_row_versions() {
            Some(known) => Ok(known),
            None => load(connection).map(RowVersions::seen),
        }
    }

    /// The transaction that writes is over: its values are no longer those of an open one.
    pub fn close_row_versions(&self) {
        if let Some(versions) = &mut self.lock().row_versions {
            versions.first_open = None;
        }
    }
}

/// The next value of temporary tables, of which no file has to know.
pub fn next_temporary_row_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(BEFORE_FIRST);
    LAST.fetch_add(1, Ordering::Relaxed).saturating_add(1)
}

/// What was reserved, of which all may have been taken.
fn load(connection: &Connection) -> Result<RowVersions, SqlError> {
    let is_there =
        "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'selenite_catalog')";
    let stored = "SELECT next FROM main.selenite_catalog WHERE object_id = ?1 AND kind = ?2";
    let read = || -> rusqlite::Result<Option<String>> {
        if !connection.query_row(is_there, [], |row| row.get(0))? {
            return Ok(None);
        }
        let found = connection.query_row(stored, (OBJECT_ID, KIND), |row| row.get(0));
        found.optional().map(Option::flatten)
    };
    let stored = read().map_err(|error| tsql_error(&error))?;
    Ok(RowVersions {
        last: stored.and_then(|text| text.parse().ok()).unwrap_or(BEFORE_FIRST),
        left: 0,
        first_open: None,
    })
}

fn reserve(connection: &Connection, last: u64) -> Result<(), SqlError> {
    let sql = "INSERT INTO main.selenite_catalog (object_id, kind, name, definition, next, created, modified)
               VALUES (?1, ?2, 'ROWVERSION', '', ?3, 0, 0)
               ON CONFLICT (object_id) DO UPDATE SET next = ?3";
    let done = connection.prepare_cached(sql);
    done.and_then(|mut statement| statement.execute((OBJECT_ID, KIND, last.to_string())))
        .map(drop)
        .map_err(|error| tsql_error(&error))
}

/// Its row in the catalog: below all objects.
const OBJECT_ID: i32 = 2;
const KIND: &str = "counter";

/// The first value of a database of SQL Server's is 2001, too.
const BEFORE_FIRST: u64 = 2000;

/// As of identities: a restart leaves a gap of this size at most.
const RESERVED: u64 = 1000;
