//! Hints of tables: WITH (UPDLOCK).
//!
//! - `only-holding-hints-count`: a hint that holds locks on what it reads until the transaction
//!   ends has an effect: the transaction takes the database's turn to write first, as that of
//!   REPEATABLE READ does (`read-committed-keeps-no-snapshot` of the server's transactions). All
//!   other hints say how SQL Server is to execute the query, and change nothing.

use selenite_tsql::ast;

use super::QueryBinder;
use crate::SqlError;

impl QueryBinder<'_> {
    /// Notes what a table's hints require.
    ///
    /// Errors: 321 for one that does not exist.
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

/// Those whose locks are kept until the transaction ends, or keep others from writing.
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
