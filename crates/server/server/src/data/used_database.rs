//! A database that a session uses.

use super::database::OpenDatabase;
use super::transaction::Transaction;

/// A database in use, with the session's transaction in it.
pub(super) struct Used {
    /// The session's connection to it.
    pub database: OpenDatabase,
    /// What is open there.
    pub transaction: Transaction,
}
