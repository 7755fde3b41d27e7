//! INSERT, UPDATE, DELETE and TRUNCATE, bound.
//!
//! - `one-or-row-by-row`: a change with the same effect in SQLite as in T-SQL is one statement of SQLite's. Any other
//!   is a query that reads the rows to change, and a statement that writes one row by its rowid; the runtime computes
//!   the rows in between.

mod bulk;
mod delete;
mod insert;
mod instead;
mod merge;
mod output;
mod reference;
mod refusal;
mod row;
mod row_writer;
mod shift;
mod target;
mod through;
mod update;

pub use bulk::{BulkField, BulkRows};
pub use delete::{Delete, DeleteStrategy, Truncate};
pub use insert::{GivenExpr, Insert, InsertLimit, InsertSource};
pub use merge::{Merge, MergeAction, MergeClause, MergeRows};
pub use output::Outputs;
pub use reference::{OwnReference, References, Referring};
pub use row::RowRules;
pub use row_writer::RowWriter;
pub use shift::{Shift, is_bytes, is_whole};
pub use update::{RowUpdate, SetValue, Update, UpdateRows, UpdateStrategy};
