//! The contents of the databases: the same rows from the same seed, for every engine.
//!
//! - rows-by-seed: rows depend on the dataset and the seed alone: not on the clock, the page size,
//!   or the size of the file, which is larger for engines that reserve bytes in each page.

pub(crate) mod cards;
mod scan;
pub(crate) mod statements;
mod text;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rusqlite::Connection;

use crate::protocol::{DatabaseSpec, Dataset, Loaded};
use crate::{Engine, WorkerError, digest, layout};

pub use text::{date, string};

/// Makes the database, fills it, and closes it without a write-ahead log.
///
/// # Errors
/// Errors of the engine and of SQLite; [`WorkerError::Refused`] if the file exists.
pub fn load(engine: &dyn Engine, database: &DatabaseSpec, dataset: &Dataset, seed: u64) -> Result<Loaded, WorkerError> {
    let connection = engine.create(database)?;
    // Loading is not measured: pages of indexes are written once, not each time they leave a small
    // cache.
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    fill(&connection, dataset, seed)?;
    layout::checkpoint(&connection)?;
    let digest = digest::of(&connection)?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(Loaded {
        digest: digest.digest,
        rows: digest.rows,
        marker: marker(dataset).to_owned(),
    })
}

/// Fills an empty database.
///
/// # Errors
/// Errors of SQLite.
pub fn fill(connection: &Connection, dataset: &Dataset, seed: u64) -> Result<(), WorkerError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    match dataset {
        Dataset::Scan { bytes } => scan::fill(connection, *bytes, &mut random),
        Dataset::Statements { rows, indexes } => statements::fill(connection, *rows, *indexes, &mut random),
        Dataset::Cards { rows } => cards::fill(connection, *rows, &mut random),
        Dataset::Wire => Err(no_database()),
    }
}

/// A text that is in every row of a dataset.
#[must_use]
pub fn marker(dataset: &Dataset) -> &'static str {
    match dataset {
        Dataset::Scan { .. } => scan::MARKER,
        Dataset::Statements { .. } => statements::MARKER,
        Dataset::Cards { .. } => cards::MARKER,
        Dataset::Wire => WIRE_MARKER,
    }
}

/// Names of tables and columns of all datasets, which no row contains: an engine may leave them in
/// clear where it encrypts rows.
pub const NAMES: [&str; 3] = ["SomeText", "testtable", "BusinessName"];

fn no_database() -> WorkerError {
    WorkerError::Refused("a database has no data of kind wire: that is a server's".to_owned())
}

/// A text in the recorded answers of servers other than this program's own.
pub const SERVER_WIRE_MARKER: &str = statements::MARKER;

/// SQLSHACK in UTF-16, little endian, as in a login and in a row of nvarchar.
const WIRE_MARKER: &str = "S\0Q\0L\0S\0H\0A\0C\0K\0";

/// Calls `insert` for every row from 1, in transactions so large that the cost of their commits is
/// negligible.
fn in_transactions(
    connection: &Connection,
    rows: u64,
    mut insert: impl FnMut(u64) -> Result<(), rusqlite::Error>,
) -> Result<(), WorkerError> {
    let mut next: u64 = 1;
    while next <= rows {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let last = rows.min(next.saturating_add(TRANSACTION_ROWS - 1));
        for row in next..=last {
            insert(row)?;
        }
        connection.execute_batch("COMMIT")?;
        next = last + 1;
    }
    Ok(())
}

/// About 4 MiB of rows: few commits, and a write-ahead log that stays small.
const TRANSACTION_ROWS: u64 = 40_000;

/// The page cache of the connection that loads.
const CACHE_KIB: i64 = 128 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stock::{Stock, spec};

    fn datasets() -> [Dataset; 4] {
        [
            Dataset::Scan { bytes: 1 << 20 },
            Dataset::Statements { rows: 500, indexes: 0 },
            Dataset::Statements { rows: 500, indexes: 2 },
            Dataset::Cards { rows: 300 },
        ]
    }

    #[test]
    fn the_same_seed_makes_the_same_rows_whatever_the_page_size() {
        let folder = tempfile::tempdir().unwrap();
        for (index, dataset) in datasets().iter().enumerate() {
            let path = |name: &str| folder.path().join(format!("{index}-{name}.db"));
            let one = load(&Stock, &spec(&path("one")), dataset, 7).unwrap();
            let mut wide = spec(&path("wide"));
            wide.page_size = 16384;
            wide.journal_mode = "delete".to_owned();
            let same = load(&Stock, &wide, dataset, 7).unwrap();
            let other = load(&Stock, &spec(&path("other")), dataset, 8).unwrap();
            assert_eq!(one, same);
            assert_ne!(one.digest, other.digest);
            assert_eq!(one.rows, other.rows);
        }
    }

    #[test]
    fn a_loaded_database_is_one_file_with_the_marker_in_it() {
        let folder = tempfile::tempdir().unwrap();
        for (index, dataset) in datasets().iter().enumerate() {
            let own = folder.path().join(index.to_string());
            std::fs::create_dir(&own).unwrap();
            let path = own.join("a.db");
            let loaded = load(&Stock, &spec(&path), dataset, 7).unwrap();
            assert_eq!(std::fs::read_dir(&own).unwrap().count(), 1);
            let bytes = std::fs::read(&path).unwrap();
            let marker = loaded.marker.as_bytes();
            let count = bytes.windows(marker.len()).filter(|window| window == &marker).count();
            assert!(count > 100, "{count}");
        }
    }

    #[test]
    fn an_existing_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        std::fs::write(&path, "mine").unwrap();
        let refused = load(&Stock, &spec(&path), &Dataset::Statements { rows: 1, indexes: 0 }, 7);
        assert!(matches!(refused, Err(WorkerError::Refused(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    }
}
