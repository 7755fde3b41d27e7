//! The table of the statements article.

use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;

use super::{date, in_transactions};
use crate::WorkerError;
use crate::protocol::INDEXES_MAX;

/// In every row until the rows are updated.
pub const MARKER: &str = "SQLSHACK";

/// Makes the table and fills it.
///
/// SQLite does not pad CHAR(25), so the default contains the padding: an update fits in place, as
/// in the source. Dates come from the seed, not from the clock.
pub fn fill(connection: &Connection, rows: u64, indexes: u32, random: &mut ChaCha8Rng) -> Result<(), WorkerError> {
    if indexes > INDEXES_MAX {
        return Err(WorkerError::Refused(format!(
            "there are {INDEXES_MAX} indexes of testtable, not {indexes}"
        )));
    }
    connection.execute_batch(&format!(
        "CREATE TABLE testtable(code INTEGER PRIMARY KEY, date, name CHAR(25) DEFAULT '{MARKER:25}')"
    ))?;
    for (_, sql) in (0..indexes).zip(INDEXES) {
        connection.execute_batch(sql)?;
    }
    let mut insert = connection.prepare(INSERT)?;
    in_transactions(connection, rows, |_| insert.execute([date(random)]).map(drop))
}

/// The statement of every insert.
pub const INSERT: &str = "INSERT INTO testtable(date) VALUES (?1)";

/// Dates are random, so that an insert goes to a random position in both indexes.
const INDEXES: [&str; INDEXES_MAX as usize] = [
    "CREATE INDEX TestByDate ON testtable(date)",
    "CREATE INDEX TestByNameAndDate ON testtable(name, date)",
];
