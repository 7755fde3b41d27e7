//! Runs INSERT, UPDATE and DELETE.
//!
//! - `read-before-write`: one query reads everything; rows are written one by one, by rowid, after everything was
//!   read, unless the query can't read a written row. So no statement sees its own changes.
//!
//! A row that depends on another row of the statement waits until that is written, and rows that exchange their keys
//! are moved aside: keys and foreign keys are checked when the statement ends.

mod bulk;
mod changed_rows;
mod delete;
mod insert;
mod merge;
mod output;
mod reference;
mod row;
mod row_writer;
mod shift;
mod update;

pub use bulk::RowFeed;
pub use insert::GivenRow;
use selenite_compiler::SqlError;
use selenite_compiler::change::{Delete, Insert, Merge, Update};
use selenite_types::DataType;

pub use crate::changed_rows::{ChangedRow, ChangedRows};
use crate::statement::Run;

impl Run<'_> {
    /// Runs an INSERT, and returns the number of rows.
    ///
    /// Errors: any error that ends the statement; 8624 for rows of a procedure, which [`Run::insert_given`] takes.
    pub fn insert(&mut self, insert: &Insert) -> Result<u64, SqlError> {
        insert::run(insert, self)
    }

    /// Inserts the rows that a procedure has returned, and returns their number.
    ///
    /// Errors: 213 for another number of columns; 206, 257 for types that do not convert; any error of the values or
    /// of a row.
    pub fn insert_given(&mut self, insert: &Insert, rows: Vec<GivenRow>) -> Result<u64, SqlError> {
        insert::run_given(insert, self, rows)
    }

    /// Inserts the rows of a bulk load, whose values have these types, and returns their number.
    ///
    /// Errors: 206, 257 for types that do not convert; any error of `feed`, of the values or of a row.
    pub fn insert_bulk(
        &mut self,
        insert: &Insert,
        types: &[DataType],
        feed: &mut RowFeed<'_>,
    ) -> Result<u64, SqlError> {
        bulk::run(insert, self, types, feed)
    }

    /// Runs an UPDATE, and returns the number of rows.
    ///
    /// Errors: any error that ends the statement.
    pub fn update(&mut self, update: &Update) -> Result<u64, SqlError> {
        update::run(update, self)
    }

    /// Runs a DELETE, and returns the number of rows.
    ///
    /// Errors: any error that ends the statement.
    pub fn delete(&mut self, delete: &Delete) -> Result<u64, SqlError> {
        delete::run(delete, self)
    }

    /// Runs a MERGE, and returns the number of rows.
    ///
    /// Errors: any error that ends the statement.
    pub fn merge(&mut self, merge: &Merge) -> Result<u64, SqlError> {
        merge::run(merge, self)
    }
}

#[cfg(test)]
mod tests;
