//! CHECKPOINT: what the log holds goes into the database.

use rusqlite::Connection;
use selenite_compiler::SqlError;
use selenite_runtime::machine::Failure;
use selenite_runtime::sqlite::tsql_error;

use crate::administration::Administration;
use crate::database::database_connection::DatabaseConnection;
use crate::execution_context::ExecutionContext;

impl Administration<'_, '_> {
    /// Copies as much of the log as it can without waiting: all that is committed, unless another connection still
    /// reads an older state. The requested duration is ignored: it is done at once.
    pub(crate) fn checkpoint(&mut self, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        let (interrupts, instance) = (self.session.interrupts.clone(), self.session.instance);
        let used = self.transactions.connect()?;
        if used.database.shared.path.is_none() {
            return Ok(());
        }
        let done = if used.database.connection.is_autocommit() {
            copy_log(&used.database.connection)
        } else {
            // A connection in a transaction can't (sqlite.org/c3ref/wal_checkpoint_v2.html).
            let other = DatabaseConnection::connect(used.database.shared.clone(), instance, interrupts)?;
            copy_log(&other.connection)
        };
        // An interrupted statement of SQLite's is no error of its own.
        execution.reply.poll()?;
        Ok(done?)
    }
}

fn copy_log(connection: &Connection) -> Result<(), SqlError> {
    connection
        .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
        .map_err(|error| tsql_error(&error))
}
