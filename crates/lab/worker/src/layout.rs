//! Page size, page cache, journal mode, synchronous: the same for every arm.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::WorkerError;
use crate::protocol::DatabaseSpec;

/// Sets the page size of a database that does not exist yet; must be the first statement after the
/// key.
///
/// # Errors
/// Errors of SQLite.
pub fn set_page_size(connection: &Connection, database: &DatabaseSpec) -> Result<(), WorkerError> {
    connection.pragma_update(None, "page_size", database.page_size)?;
    Ok(())
}

/// Sets all options of a connection, and the journal mode, and checks that SQLite accepted them.
///
/// # Errors
/// [`WorkerError::Refused`] for a value that SQLite does not know or accept; errors of SQLite.
pub fn apply(connection: &Connection, database: &DatabaseSpec) -> Result<(), WorkerError> {
    connection.busy_timeout(BUSY_WAIT)?;
    let cache = i64::from(database.cache_kib);
    connection.pragma_update(None, "cache_size", -cache)?;
    let mode = word(&database.journal_mode, &JOURNAL_MODES)?;
    let taken: String = connection.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get(0))?;
    if taken != mode {
        return Err(WorkerError::Refused(format!(
            "the journal mode is {taken}, {mode} was not taken"
        )));
    }
    let synchronous = word(&database.synchronous, &SYNCHRONOUS)?;
    connection.execute_batch(&format!("PRAGMA synchronous = {synchronous}"))?;
    // Everything below requires a readable file.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(())
}

/// The effective layout.
///
/// # Errors
/// Errors of SQLite.
pub fn in_force(connection: &Connection) -> Result<BTreeMap<String, String>, WorkerError> {
    let mut layout = BTreeMap::new();
    for name in ["page_size", "cache_size", "journal_mode", "synchronous"] {
        let value = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get_ref(0).map(text))?;
        layout.insert(name.to_owned(), value);
    }
    let number = layout.get("synchronous").and_then(|value| value.parse::<usize>().ok());
    if let Some(name) = number.and_then(|number| SYNCHRONOUS.get(number)) {
        layout.insert("synchronous".to_owned(), (*name).to_owned());
    }
    Ok(layout)
}

/// PRAGMA page_count.
///
/// # Errors
/// Errors of SQLite.
pub fn page_count(connection: &Connection) -> Result<u64, WorkerError> {
    let count: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Checkpoints the write-ahead log and truncates it; does nothing in other journal modes.
///
/// # Errors
/// [`WorkerError::Wrong`] if other connections kept the log in use for too long; errors of SQLite.
pub fn checkpoint(connection: &Connection) -> Result<(), WorkerError> {
    let until = Instant::now() + CHECKPOINT_WAIT;
    loop {
        let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy == 0 {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(WorkerError::Wrong(
                "others kept the log in use: no checkpoint".to_owned(),
            ));
        }
        // SQLite itself does not wait for a checkpoint of another connection
        // (sqlite.org/c3ref/wal_checkpoint_v2.html).
        std::thread::sleep(CHECKPOINT_PAUSE);
    }
}

fn text(value: rusqlite::types::ValueRef<'_>) -> String {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn word<'a>(given: &str, known: &[&'a str]) -> Result<&'a str, WorkerError> {
    known
        .iter()
        .find(|known| known.eq_ignore_ascii_case(given))
        .copied()
        .ok_or_else(|| WorkerError::Refused(format!("{given} is none of {}", known.join(", "))))
}

/// How long SQLite itself waits for a lock: no transaction of the workloads takes nearly as long.
pub const BUSY_WAIT: Duration = Duration::from_secs(10);

/// Processes that share a database end one after the other, and the one that makes the checkpoint
/// waits for the last. The lab's time limit is shorter (`block_timeout`).
const CHECKPOINT_WAIT: Duration = Duration::from_secs(600);

/// Short compared with a checkpoint, and long compared with a failed attempt, whose CPU time
/// counts.
const CHECKPOINT_PAUSE: Duration = Duration::from_millis(5);

const JOURNAL_MODES: [&str; 6] = ["delete", "truncate", "persist", "memory", "wal", "off"];

/// The index is SQLite's number.
const SYNCHRONOUS: [&str; 4] = ["off", "normal", "full", "extra"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::stock::{Stock, spec};

    #[test]
    fn the_requested_layout_is_effective() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = spec(&folder.path().join("a.db"));
        database.page_size = 8192;
        database.cache_kib = 123;
        database.synchronous = "FULL".to_owned();
        let connection = Stock.create(&database).unwrap();
        connection.execute_batch("CREATE TABLE t(a)").unwrap();
        let layout = in_force(&connection).unwrap();
        let of = |name: &str| layout.get(name).unwrap().clone();
        assert_eq!(of("page_size"), "8192");
        assert_eq!(of("cache_size"), "-123");
        assert_eq!(of("journal_mode"), "wal");
        assert_eq!(of("synchronous"), "full");
        assert!(page_count(&connection).unwrap() >= 2);
        checkpoint(&connection).unwrap();
    }

    #[test]
    fn a_value_that_sqlite_does_not_know_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (journal_mode, synchronous) in [("wal; DROP TABLE t", "normal"), ("wal", "sometimes")] {
            let mut database = spec(&folder.path().join("a.db"));
            database.journal_mode = journal_mode.to_owned();
            database.synchronous = synchronous.to_owned();
            let connection = Connection::open_in_memory().unwrap();
            assert!(matches!(apply(&connection, &database), Err(WorkerError::Refused(_))));
        }
    }
}
