//! Creates the entries of the old schema, and nothing else.
//!
//! - definition-makes-its-entry: a definition is untrusted, as anyone who could write to the
//!   schema table chose its text. After it has run there is exactly one new entry, of the expected
//!   kind and name; otherwise it is rolled back.
//! - no-table-from-query: no table is created from a query, which might not end: SQLite itself
//!   rejects such a schema (`sqlite3EndTable` in build.c). Nor does a definition run a virtual
//!   table's module.
//! - virtual-tables-are-listed: a virtual table is listed, not created: CREATE would create its
//!   content, which has tables of its own that are copied as any others. It stays in the list if
//!   SQLite can read the schema with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::filler::{CORRUPT, code_of, refusal};
use super::schema::Entry;
use crate::{Database, EngineError};

/// `Err` with the reason if an entry was not created.
type Made = Result<(), String>;

/// Restricts what a definition may do while it is compiled (no-table-from-query).
pub struct Guard(Arc<AtomicBool>);

impl Guard {
    /// Installs the guard as a database's authorizer.
    ///
    /// # Errors
    /// The errors of SQLite.
    pub fn install(database: &mut Database) -> Result<Self, EngineError> {
        let is_defining = Arc::new(AtomicBool::new(false));
        let asked = is_defining.clone();
        database.authorize(move |context: AuthContext<'_>| {
            let is_foreign = matches!(context.action, AuthAction::Select | AuthAction::CreateVtable { .. });
            if is_foreign && asked.load(Ordering::Relaxed) {
                Authorization::Deny
            } else {
                Authorization::Allow
            }
        })?;
        Ok(Self(is_defining))
    }

    fn run(&self, database: &Database, sql: &str) -> Result<(), rusqlite::Error> {
        self.0.store(true, Ordering::Relaxed);
        let ran = database.connection().execute(sql, []);
        self.0.store(false, Ordering::Relaxed);
        ran.map(drop)
    }
}

/// Creates entries in a database.
pub struct Maker<'a> {
    database: &'a Database,
    guard: Guard,
}

impl<'a> Maker<'a> {
    /// For this database, which has the guard installed.
    pub fn new(database: &'a Database, guard: Guard) -> Self {
        Self { database, guard }
    }

    /// Runs the definition of an entry. The inner error is the reason if SQLite rejected it.
    ///
    /// # Errors
    /// Errors of SQLite that are not caused by the definition.
    pub fn make(&self, entry: &Entry) -> Result<Made, EngineError> {
        let sql = entry.sql.as_deref().unwrap_or_default();
        if !begins_with(sql, "CREATE ") {
            return Ok(Err(NO_DEFINITION.to_owned()));
        }
        self.or_undo(|| {
            let last = self
                .database
                .number("SELECT coalesce(max(rowid), 0) FROM main.sqlite_schema")?;
            if let Err(error) = self.guard.run(self.database, sql) {
                return refusal(self.database, error).map(Err);
            }
            let is_it = self.is_sole_since(last, entry);
            let is_it = is_it.map_err(|error| self.database.error(error))?;
            Ok(if is_it { Ok(()) } else { Err(OTHER.to_owned()) })
        })
    }

    /// Lists a virtual table (virtual-tables-are-listed). The inner error is the reason if SQLite
    /// can't read the schema with it.
    ///
    /// # Errors
    /// The errors of SQLite.
    pub fn list(&self, entry: &Entry) -> Result<Made, EngineError> {
        let sql = entry.sql.as_deref().unwrap_or_default();
        // SQLite stores it in this form, whatever the statement was (sqlite3VtabFinishParse in
        // vtab.c).
        if !begins_with(sql, "CREATE VIRTUAL TABLE ") {
            return Ok(Err(NO_DEFINITION.to_owned()));
        }
        let listed = self.or_undo(|| {
            let (connection, name) = (self.database.connection(), entry.name.as_str());
            let find = "SELECT count(*) FROM main.sqlite_schema WHERE lower(name) = lower(?1) AND type <> 'trigger'";
            let found = connection.query_row(find, [name], |row| row.get::<_, i64>(0));
            if found.map_err(|error| self.database.error(error))? > 0 {
                return Ok(Err(format!("there is another {name}")));
            }
            self.database.batch("PRAGMA writable_schema = ON")?;
            let listed = connection.execute(
                "INSERT INTO main.sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', ?1, ?1, 0, ?2)",
                [name, sql],
            );
            listed.map_err(|error| self.database.error(error))?;
            self.database.batch(RESET_SCHEMA)?;
            match connection.query_row("SELECT count(*) FROM main.sqlite_schema", [], |_| Ok(())) {
                Err(error) if code_of(&error) == CORRUPT => Ok(Err(error.to_string())),
                read => read.map(Ok).map_err(|error| self.database.error(error)),
            }
        })?;
        // SQLite still has the schema from before the rollback in memory.
        self.database.batch(RESET_SCHEMA)?;
        Ok(listed)
    }

    fn or_undo(&self, attempt: impl FnOnce() -> Result<Made, EngineError>) -> Result<Made, EngineError> {
        self.database.batch("SAVEPOINT made")?;
        let made = attempt()?;
        let undo = if made.is_ok() { "" } else { "ROLLBACK TO made; " };
        self.database.batch(&format!("{undo}RELEASE made"))?;
        Ok(made)
    }

    /// `definition-makes-its-entry`. Entries that SQLite itself adds do not count: indexes of
    /// keys, and `sqlite_sequence`.
    fn is_sole_since(&self, last: u64, entry: &Entry) -> Result<bool, rusqlite::Error> {
        let mut statement = self.database.connection().prepare(
            "SELECT type, name FROM main.sqlite_schema WHERE rowid > ?1 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
        )?;
        let last = i64::try_from(last).unwrap_or(i64::MAX);
        let new = statement.query_map([last], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let new = new.collect::<Result<Vec<_>, _>>()?;
        Ok(matches!(&new[..], [(kind, name)] if *kind == entry.kind && name.eq_ignore_ascii_case(&entry.name)))
    }
}

fn begins_with(sql: &str, words: &str) -> bool {
    let start = sql.get(..words.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(words))
}

const NO_DEFINITION: &str = "not a definition";
const OTHER: &str = "its definition makes something else";
/// <https://sqlite.org/pragma.html#pragma_writable_schema>
const RESET_SCHEMA: &str = "PRAGMA writable_schema = RESET";
