//! INSERT, UPDATE, DELETE and TRUNCATE, bound and run.
//!
//! H1. What is read is read by one query; what is written is written row by row, by rowid, after all was read, unless no row that
//!     is written can be read. So no statement sees its own changes.
//! H2. A value is converted to its column's type here: text that is too long is 2628, NULL is 515, a check is 547, and a key that
//!     is there already is 2627 with the row's own values.
//!     A row that needs another of the statement's to be written first waits for it, and rows that exchange their keys are moved
//!     aside: keys and foreign keys are looked at when the statement ends.
//! H3. A change that SQLite makes alike, without any of that, is one statement of SQLite's.

mod delete;
mod fill;
mod insert;
mod insert_bind;
mod output;
mod reference;
mod refusal;
mod row;
mod shift;
mod target;
mod through;
mod update;
mod update_bind;

pub use delete::Delete;
pub use insert::{GivenRow, Insert};
pub use update::Update;

#[cfg(test)]
mod tests;
