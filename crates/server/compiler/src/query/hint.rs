//! Table hints: WITH (UPDLOCK).
//!
//! - `only-holding-hints-count`: a hint that holds locks until the transaction ends has an effect:
//!   the transaction first enters the database's write queue, as one with REPEATABLE READ does
//!   (`read-committed-keeps-no-snapshot` of the server's transactions). All other hints say how SQL
//!   Server is to execute the query, and have no effect.

use selenite_tsql::ast;

use super::QueryBinder;
use crate::SqlError;

impl QueryBinder<'_> {
    /// Records the requirements of a table's hints.
    ///
    /// Errors: 321 for an unknown hint.
    pub(crate) fn hints(&mut self, hints: &[ast::Setting]) -> Result<(), SqlError> {
        for hint in hints {
            let name = hint.name.text.to_ascii_uppercase();
            if HOLDING.contains(&name.as_str()) {
                self.parts.holds = true;
            } else if !OTHER.contains(&name.as_str()) {
                return Err(SqlError::unknown_hint(&hint.name.text).on_line(hint.position.line));
            }
        }
        Ok(())
    }
}

/// Hints whose locks are held until the transaction ends, or exclude other writers.
const HOLDING: &[&str] = &[
    "HOLDLOCK",
    "REPEATABLEREAD",
    "SERIALIZABLE",
    "SNAPSHOT",
    "TABLOCKX",
    "UPDLOCK",
    "XLOCK",
];

const OTHER: &[&str] = &[
    "FASTFIRSTROW",
    "FORCESCAN",
    "FORCESEEK",
    "IGNORE_CONSTRAINTS",
    "IGNORE_TRIGGERS",
    "INDEX",
    "KEEPDEFAULTS",
    "KEEPIDENTITY",
    "NOEXPAND",
    "NOLOCK",
    "NOWAIT",
    "PAGLOCK",
    "READCOMMITTED",
    "READCOMMITTEDLOCK",
    "READPAST",
    "READUNCOMMITTED",
    "ROWLOCK",
    "SPATIAL_WINDOW_MAX_CELLS",
    "TABLOCK",
];
