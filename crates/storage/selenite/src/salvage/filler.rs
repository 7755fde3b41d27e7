//! Inserts rows into a table of the new database.
//!
//! - no-row-displaces-another: a row that conflicts with another is rejected and reported; it
//!   neither replaces that row nor is dropped silently. The table's own conflict clauses (`ON
//!   CONFLICT REPLACE`, `IGNORE`) were meant for its application's rows, not for old ones beside
//!   new ones.

use std::collections::HashMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};

use super::record;
use super::table_layout::{TableLayout, quote};
use super::text::Encoding;
use crate::{Database, EngineError};

/// Fills one table.
pub struct Filler<'a> {
    database: &'a Database,
    layout: &'a TableLayout,
    encoding: Encoding,
    /// By the number of fields in a record: as in SQLite, columns that were added later get their
    /// default.
    statements: HashMap<usize, Statement<'a>>,
}

impl<'a> Filler<'a> {
    /// Prepares a table. Fails with SQLite's message if only the database's application could fill
    /// it: a generated column may call a function, or an index use a collation, that only the
    /// application has.
    pub fn new(database: &'a Database, layout: &'a TableLayout, encoding: Encoding) -> Result<Self, String> {
        let mut filler = Self {
            database,
            layout,
            encoding,
            statements: HashMap::new(),
        };
        let prepared = filler.statement(layout.columns.len()).map(drop);
        prepared.map_err(|error| error.to_string())?;
        Ok(filler)
    }

    /// Inserts a row. The inner error is the reason why SQLite rejected the row.
    ///
    /// # Errors
    /// Errors of SQLite that are not caused by the row.
    pub fn insert(&mut self, rowid: Option<i64>, payload: &[u8]) -> Result<Result<(), String>, EngineError> {
        let Some(values) = record::values(payload) else {
            return Ok(Err("not a record".to_owned()));
        };
        if values.len() > self.layout.columns.len() {
            return Ok(Err(format!("it has {} fields", values.len())));
        }
        if rowid.is_some() != self.layout.has_rowid {
            return Ok(Err("it is of another table".to_owned()));
        }
        match self.try_insert(rowid, &values) {
            Ok(1) => Ok(Ok(())),
            Ok(_) => Ok(Err("SQLite omitted it".to_owned())),
            Err(error) => refusal(self.database, error).map(Err),
        }
    }

    fn try_insert(&mut self, rowid: Option<i64>, values: &[ValueRef<'_>]) -> Result<usize, rusqlite::Error> {
        let (layout, encoding) = (self.layout, self.encoding);
        let statement = self.statement(values.len())?;
        let mut index = 0;
        if layout.rowid_name.is_some() {
            let rowid = rowid.map_or(ValueRef::Null, ValueRef::Integer);
            encoding.bind(statement, index, rowid)?;
            index += 1;
        }
        for (column, value) in layout.columns.iter().zip(values) {
            if column.is_given() {
                encoding.bind(statement, index, *value)?;
                index += 1;
            }
        }
        statement.raw_execute()
    }

    fn statement(&mut self, field_count: usize) -> Result<&mut Statement<'a>, rusqlite::Error> {
        if !self.statements.contains_key(&field_count) {
            let statement = prepare(self.database.connection(), self.layout, self.encoding, field_count)?;
            self.statements.insert(field_count, statement);
        }
        let found = self.statements.get_mut(&field_count);
        found.ok_or(rusqlite::Error::InvalidQuery)
    }
}

fn prepare<'a>(
    connection: &'a Connection,
    layout: &TableLayout,
    encoding: Encoding,
    field_count: usize,
) -> Result<Statement<'a>, rusqlite::Error> {
    let given = layout.columns.iter().take(field_count);
    let given = given.filter(|column| column.is_given());
    let names: Vec<String> = layout
        .rowid_name
        .iter()
        .chain(given.map(|column| &column.name))
        .map(|name| quote(name))
        .collect();
    let table = quote(&layout.name);
    if names.is_empty() {
        return connection.prepare(&format!("INSERT OR ABORT INTO main.{table} DEFAULT VALUES"));
    }
    let values: Vec<String> = (0..names.len()).map(|index| encoding.placeholder(index)).collect();
    connection.prepare(&format!(
        "INSERT OR ABORT INTO main.{table} ({}) VALUES ({})",
        names.join(", "),
        values.join(", ")
    ))
}

/// SQLite's message if it rejected a row or a definition for its content: for a constraint, its
/// size, a function or collation that only the database's application has, or because the guard
/// denied it (`maker.rs`).
///
/// # Errors
/// All other errors.
pub fn refusal(database: &Database, error: rusqlite::Error) -> Result<String, EngineError> {
    if matches!(code_of(&error), ERROR | TOOBIG | CONSTRAINT | MISMATCH | AUTH) {
        return Ok(error.to_string());
    }
    Err(database.error(error))
}

/// SQLite's result code.
pub fn code_of(error: &rusqlite::Error) -> i32 {
    error
        .sqlite_error()
        .map_or(ERROR, |failure| failure.extended_code & 0xff)
}

// <https://sqlite.org/rescode.html>
const ERROR: i32 = 1;
pub const CORRUPT: i32 = 11;
const TOOBIG: i32 = 18;
const CONSTRAINT: i32 = 19;
const MISMATCH: i32 = 20;
const AUTH: i32 = 23;
