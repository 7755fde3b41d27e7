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

mod cancellation;
mod catalog_rows;
mod checkpoint;
mod cleanups;
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
mod functions;
mod identities;
mod identity_insert;
mod kill;
mod lock_timeout;
mod log_sync;
mod mixed_statement;
mod name_scope;
mod new_database;
mod object_list;
pub(crate) mod objects;
mod parameter_inference;
mod permission;
mod places;
mod plan_cache;
mod procedures;
mod refusal;
mod row_limit;
mod running;
mod schema;
mod security;
mod session_catalog;
pub(crate) mod session_environment;
pub(crate) mod session_executor;
mod set_durability;
mod sqlite_store;
mod statistics_io;
mod system_relations;
mod table_statement;
mod table_variables;
mod temporary_tables;
mod transaction;
mod transactions;
mod unfinished;
mod views;
mod write_queue;

pub use database_registry::DatabaseRegistry;
pub use dbcc::check_supported as check_dbcc;
pub(crate) use dbcc::frees_programs;
pub use log_sync::SyncFigures;

/// What the server shows of itself as rows: schema, name and columns of each view and of each function of rows.
pub fn system_relations() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    let relations = &*views::RELATIONS;
    let views = relations.views.iter();
    let views = views.map(|view| (view.schema, view.name, names(view.columns.0, view.columns.1)));
    let functions = relations.functions.iter();
    let functions = functions.map(|function| (function.schema, function.name, names(function.columns, &[])));
    // What the server's own procedures read is not for clients, and what is found without a schema stands there with one, too.
    let is_told = |(schema, name, _): &(&str, &str, Vec<&str>)| !schema.is_empty() && !name.starts_with("selenite_");
    views.chain(functions).filter(is_told)
}

fn names(
    first: &'static [system_relations::ColumnSpec],
    second: &'static [system_relations::ColumnSpec],
) -> Vec<&'static str> {
    first.iter().chain(second).map(|(name, ..)| *name).collect()
}
