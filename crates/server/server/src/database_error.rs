//! What keeps a session from using a database or running a statement, as T-SQL errors.

pub(crate) mod damaged_page;

use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::TableStatement;

use crate::master::MasterError;

/// 40510, of a statement that is not supported as a whole.
pub fn unsupported_statement(statement: &TableStatement<'_>) -> SqlError {
    let text = statement.statement.position.text(statement.program.source());
    let words: Vec<&str> = text.split_whitespace().take(3).collect();
    SqlError::unsupported(&format!("The statement '{} ..'", words.join(" "))).with_ends(Ends::Statement)
}

/// An error of master.db, as a T-SQL error.
pub fn of_master(error: &MasterError) -> SqlError {
    SqlError::new(50823, Ends::Batch, format!("The database 'master' says: {error}."))
}

/// 4060: the remaining file descriptors are not for this session.
pub fn too_many_files(database: &str) -> SqlError {
    let text = format!("Cannot open database \"{database}\": the server has too many files open.");
    SqlError::new(4060, Ends::Batch, text).with_severity(11)
}

/// 9001: a sync of the log has failed.
pub fn log_lost(database: &str) -> SqlError {
    let text = format!(
        "The log for database '{database}' is not available. Check the operating system error log for related error \
         messages. Resolve any errors and restart the database."
    );
    SqlError::new(9001, Ends::Connection, text)
        .with_severity(21)
        .with_state(5)
}

/// 1205: the wait would complete a deadlock; this session is the victim.
pub fn deadlock(session: u16) -> SqlError {
    let text = format!(
        "Transaction (Process ID {session}) was deadlocked on lock resources with another process and has been chosen as the \
         deadlock victim. Rerun the transaction."
    );
    SqlError::new(1205, Ends::Transaction, text)
        .with_severity(13)
        .with_state(51)
}

/// 3998: SQLite itself has rolled a transaction back, which the client does not know yet.
pub fn transaction_lost() -> SqlError {
    let text = "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.";
    SqlError::new(3998, Ends::Transaction, text)
}

/// 911: USE of a database that does not exist.
pub fn unknown_database(name: &str) -> SqlError {
    let text = format!("Database '{name}' does not exist. Make sure that the name is entered correctly.");
    SqlError::new(911, Ends::Batch, text)
}
