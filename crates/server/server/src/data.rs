//! Databases, and what a session does in them.
//!
//! B1. A database is one file, `NAME.db` in the data folder. A session has one connection to each that it uses, on its own thread.
//! B2. SQLite's functions that evaluate T-SQL see the statement that runs ([`running`]); their first error is the statement's, and
//!     SQLite's own words for it are never told.
//! B3. Whoever writes waits in the database's queue ([`write_queue`]), in the order of coming, before SQLite is asked for its lock: so
//!     that lock is free, but for other processes.
//!     LOCK_TIMEOUT counts from the first of both waits ([`lock_timeout`]).
//! B4. A statement that fails leaves nothing behind: it has a savepoint, or a transaction of its own.
//! B5. SQLite syncs no commit of a session's connection: whoever commits waits for [`log_sync`], behind which its turn has gone to the next.

mod accept_database;
mod administration;
mod audited;
mod backup;
mod bound_cache;
mod catalog_rows;
mod checkpoint;
mod cleanups;
mod commitment;
mod cross_database;
mod cross_database_call;
mod cross_database_table;
mod damaged_page;
mod database;
mod database_registry;
mod dbcc;
mod definition;
mod directory;
mod dropped_database;
mod durability;
mod encryption;
mod expectation;
mod frames;
mod identity_insert;
mod kill;
mod log_sync;
mod mixed_statement;
mod new_database;
mod object_list;
mod objects;
mod parameter_inference;
mod permission;
mod places;
mod procedures;
mod refusal;
mod row_limit;
mod schema;
mod security;
mod session_catalog;
mod session_executor;
mod snapshot;
mod statistics_io;
mod table_statement;
mod table_variables;
mod temporary_tables;
mod transaction;
mod unfinished;
mod used_database;
mod views;
mod write_queue;

pub(crate) use commitment::load_commitment;
pub use database_registry::DatabaseRegistry;
pub use dbcc::check_supported as check_dbcc;
pub(crate) use dbcc::frees_programs;
pub use definition::is_on;
pub use log_sync::SyncFigures;

/// What the server shows of itself as rows: schema, name and columns of each view and of each function of rows.
pub fn system_relations() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    let views = views::all().map(|view| (view.schema, view.name, names(view.columns.0, view.columns.1)));
    let functions = views::functions().map(|function| (function.schema, function.name, names(function.columns, &[])));
    // What the server's own procedures read is not for clients, and what is found without a schema stands there with one, too.
    let is_told = |(schema, name, _): &(&str, &str, Vec<&str>)| !schema.is_empty() && !name.starts_with("selenite_");
    views.chain(functions).filter(is_told)
}

fn names(first: &'static [views::ColumnSpec], second: &'static [views::ColumnSpec]) -> Vec<&'static str> {
    first.iter().chain(second).map(|(name, ..)| *name).collect()
}
