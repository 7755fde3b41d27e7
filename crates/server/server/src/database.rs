//! Databases: their files, connections to them, and a session's transactions in them.
//!
//! - A database is one file, `NAME.db` in the data folder. A session has one connection to each that it uses, on
//!   its own thread.
//! - SQLite's functions that evaluate T-SQL see the statement that runs (`selenite_runtime::sqlite`). Their first
//!   error is the statement's; SQLite's own message for it is not sent.
//! - A session that writes waits in the database's queue ([`write_queue`]), in the order of arrival, before it
//!   requests SQLite's lock: that lock is then free, but for other processes. LOCK_TIMEOUT covers both waits
//!   (`LockTimeout`).
//! - A statement that fails changes nothing: it has a savepoint, or a transaction of its own ([`transactions`]).
//! - SQLite syncs no commit of a session's connection. The session waits for [`log_sync`] after it has passed its
//!   write permit on.

pub(crate) mod application_locks;
pub(crate) mod cleanups;
pub(crate) mod database_connection;
pub(crate) mod database_registry;
pub(crate) mod database_use;
pub(crate) mod dropped_database;
pub(crate) mod durability;
pub(crate) mod expectation;
pub(crate) mod file_state;
pub(crate) mod frames;
pub(crate) mod globals;
pub(crate) mod log_sync;
pub(crate) mod new_database;
pub(crate) mod restored_key;
pub(crate) mod scans;
pub(crate) mod temporary_tables;
pub(crate) mod transaction;
pub(crate) mod transactions;
pub(crate) mod unfinished;
pub(crate) mod write_queue;
