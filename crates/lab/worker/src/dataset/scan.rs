//! The table of the scans article: a number and a text, without an index, so that every query reads
//! all of it.

use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;

use super::{in_transactions, string};
use crate::WorkerError;

/// The start of every text.
pub const MARKER: &str = "PlainToRead-Scan";

/// Makes the table and fills it.
///
/// One text in 100,000 contains `Wibble`, so that the `LIKE` finds few rows, but some. No row has
/// the Id 100000000.
pub fn fill(connection: &Connection, bytes: u64, random: &mut ChaCha8Rng) -> Result<(), WorkerError> {
    connection.execute_batch("CREATE TABLE SomeData(Id INTEGER, SomeText TEXT)")?;
    let mut insert = connection.prepare("INSERT INTO SomeData(Id, SomeText) VALUES (?1, ?2)")?;
    in_transactions(connection, row_count(bytes), |row| {
        let id = if row < NEVER { row } else { row + 1 };
        let middle = if row % WIBBLE_EVERY == 1 { "Wibble" } else { "-" };
        let rest = string(random, TEXT_SIZE - MARKER.len() - middle.len());
        insert.execute((id.cast_signed(), format!("{MARKER}{middle}{rest}")))?;
        Ok(())
    })
}

/// A row takes about 93 bytes, so 43 of them fill a page of 4 KiB; the count does not depend on the
/// actual page size.
fn row_count(bytes: u64) -> u64 {
    (bytes / 4096).max(1).saturating_mul(43)
}

const TEXT_SIZE: usize = 80;

const WIBBLE_EVERY: u64 = 100_000;

/// The Id of the query that finds no row.
const NEVER: u64 = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::load;
    use crate::protocol::Dataset;
    use crate::stock::{Stock, spec};

    #[test]
    fn the_file_has_about_the_size_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let bytes = 10 << 20;
        let loaded = load(&Stock, &spec(&path), &Dataset::Scan { bytes }, 7).unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        assert!(size.abs_diff(bytes) < bytes / 20, "{size}");
        assert_eq!(loaded.rows, row_count(bytes));
        let connection = Connection::open(&path).unwrap();
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM SomeData WHERE SomeText LIKE '%Wibble%'"), 2);
        assert_eq!(count("SELECT count(*) FROM SomeData WHERE Id = 100000000"), 0);
        assert_eq!(count("SELECT count(*) FROM sqlite_schema WHERE type = 'index'"), 0);
        assert_eq!(
            count("SELECT max(length(SomeText)) - min(length(SomeText)) FROM SomeData"),
            0
        );
    }
}
