//! INSERT, UPDATE and DELETE, run.
//!
//! - `read-before-write`: one query reads everything; rows are written one by one, by rowid, after everything was
//!   read, unless no row that is written can be read. So no statement sees its own changes.
//!
//! A row that needs another of the statement's to be written first waits for it, and rows that exchange their keys
//! are moved aside: keys and foreign keys are checked when the statement ends.

mod delete;
mod insert;
mod output;
mod reference;
mod row;
mod row_writer;
mod shift;
mod update;

pub use insert::GivenRow;
use selenite_compiler::SqlError;
use selenite_compiler::change::{Delete, Insert, Update};

use crate::statement::Run;

impl Run<'_> {
    /// Runs an INSERT, and returns how many rows it wrote.
    ///
    /// Errors: whatever ends the statement; 8624 for rows of a procedure, which [`Run::insert_given`] takes.
    pub fn insert(&mut self, insert: &Insert) -> Result<u64, SqlError> {
        insert::run(insert, self)
    }

    /// Runs an INSERT of the rows that a procedure has returned, and returns how many they were.
    ///
    /// Errors: 213 for another count of columns; 206, 257 for types that do not convert; whatever is wrong with the
    /// values or a row.
    pub fn insert_given(&mut self, insert: &Insert, rows: Vec<GivenRow>) -> Result<u64, SqlError> {
        insert::run_given(insert, self, rows)
    }

    /// Runs an UPDATE, and returns how many rows it changed.
    ///
    /// Errors: whatever ends the statement.
    pub fn update(&mut self, update: &Update) -> Result<u64, SqlError> {
        update::run(update, self)
    }

    /// Runs a DELETE, and returns how many rows it deleted.
    ///
    /// Errors: whatever ends the statement.
    pub fn delete(&mut self, delete: &Delete) -> Result<u64, SqlError> {
        delete::run(delete, self)
    }
}

#[cfg(test)]
mod tests;
