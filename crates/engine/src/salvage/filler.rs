//! Rows on their way into a table of the new database.

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
    /// By how many fields a record has: fields that were added later get their default, as SQLite has it.
    statements: HashMap<usize, Statement<'a>>,
}

impl<'a> Filler<'a> {
    /// For a table. Fails with SQLite's words where only the database's application could fill it: a generated column
    /// may call a function, an index may use a collation, that nobody else has.
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

    /// Inserts a row; answers why that was refused, if it was.
    ///
    /// # Errors
    /// What SQLite says that is not the row's fault.
    pub fn insert(&mut self, rowid: Option<i64>, payload: &[u8]) -> Result<Result<(), String>, EngineError> {
        let Some(values) = record::values(payload) else {
            return Ok(Err("it is no record".to_owned()));
        };
        if values.len() > self.layout.columns.len() {
            return Ok(Err(format!("it has {} fields", values.len())));
        }
        if rowid.is_some() != self.layout.has_rowid {
            return Ok(Err("it is of another table".to_owned()));
        }
        match self.try_insert(rowid, &values) {
            Ok(()) => Ok(Ok(())),
            Err(error) => refusal(self.database, error).map(Err),
        }
    }

    fn try_insert(&mut self, rowid: Option<i64>, values: &[ValueRef<'_>]) -> Result<(), rusqlite::Error> {
        let (layout, encoding) = (self.layout, self.encoding);
        let statement = self.statement(values.len())?;
        let mut index = 0;
        if layout.rowid_name.is_some() {
            let rowid = rowid.map_or(ValueRef::Null, ValueRef::Integer);
            encoding.bind(statement, index, rowid)?;
            index += 1;
        }
        for (column, value) in layout.columns.iter().zip(values) {
            if !column.is_generated && !column.is_rowid {
                encoding.bind(statement, index, *value)?;
                index += 1;
            }
        }
        statement.raw_execute().map(drop)
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
    let given = given.filter(|column| !column.is_generated && !column.is_rowid);
    let names: Vec<String> = layout
        .rowid_name
        .iter()
        .chain(given.map(|column| &column.name))
        .map(|name| quote(name))
        .collect();
    let table = quote(&layout.name);
    if names.is_empty() {
        return connection.prepare(&format!("INSERT INTO main.{table} DEFAULT VALUES"));
    }
    let values: Vec<String> = (0..names.len()).map(|index| encoding.placeholder(index)).collect();
    connection.prepare(&format!(
        "INSERT INTO main.{table} ({}) VALUES ({})",
        names.join(", "),
        values.join(", ")
    ))
}

/// SQLite's words where it refused a row or a definition for what it is: by a constraint, its size, or because of a
/// function or collation that only the database's application has.
///
/// # Errors
/// Everything else.
pub fn refusal(database: &Database, error: rusqlite::Error) -> Result<String, EngineError> {
    let code = error
        .sqlite_error()
        .map_or(ERROR, |failure| failure.extended_code & 0xff);
    if matches!(code, ERROR | TOOBIG | CONSTRAINT | MISMATCH) {
        return Ok(error.to_string());
    }
    Err(database.error(error))
}

// <https://sqlite.org/rescode.html>
const ERROR: i32 = 1;
const TOOBIG: i32 = 18;
const CONSTRAINT: i32 = 19;
const MISMATCH: i32 = 20;
