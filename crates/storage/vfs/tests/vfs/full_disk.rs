//! A disk that is full in the middle of a transaction: writes that extend the file fail, writes
//! within the file succeed. SQLite then rolls back the transaction immediately, and so must the
//! VFS. The same is tested with an unencrypted database, where nothing is buffered.

use std::sync::Arc;

use rusqlite::Connection;
use selenite_testing::{Disk, KeyFile, Opening};

const GROW: &str = "BEGIN;
    UPDATE t SET body = randomblob(900);
    WITH RECURSIVE n(i) AS (SELECT 21 UNION ALL SELECT i + 1 FROM n WHERE i < 401)
    INSERT INTO t SELECT i, randomblob(900) FROM n;
    COMMIT";

fn openings(key: &KeyFile) -> [(&'static str, Opening); 2] {
    [
        ("clear", Opening::plain("/full/main.db")),
        (
            "encrypted",
            Opening::encrypted("/full/main.db", key).with("page_size", "1024"),
        ),
    ]
}

fn connect(opening: &Opening, pragmas: &str) -> Connection {
    let connection = opening.connect().unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA page_size = 1024; {pragmas};
             CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
             INSERT INTO t SELECT i, zeroblob(900) FROM n"
        ))
        .unwrap();
    connection
}

fn state(connection: &Connection) -> Result<(i64, i64, String), rusqlite::Error> {
    let (rows, changed) = connection.query_row(
        "SELECT count(*), count(*) FILTER (WHERE body <> zeroblob(900)) FROM t",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let found = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    Ok((rows, changed, found))
}

fn untouched() -> (i64, i64, String) {
    (20, 0, "ok".to_owned())
}

fn fill(disk: &Arc<Disk>, slack: u64) {
    disk.limit(disk.used() + slack);
}

/// `journal_mode = MEMORY`: the journal is lost when the lock is released, so the rollback cannot
/// be repeated (pagerUnlockAndRollback).
#[test]
fn a_journal_in_memory_is_played_back_on_a_full_disk() {
    let mut spoiled = Vec::new();
    for cache in [20, 2000] {
        let key = KeyFile::new(1);
        for (name, opening) in openings(&key) {
            let disk = Disk::new();
            let _disk_guard = disk.enter();
            let connection = connect(
                &opening,
                &format!("PRAGMA journal_mode = memory; PRAGMA cache_size = {cache}"),
            );
            fill(&disk, 0);
            assert!(connection.execute_batch(GROW).is_err(), "{name}, cache {cache}");
            let _ = connection.execute_batch("ROLLBACK");
            drop(connection);
            disk.clear_faults();
            let after = opening.connect().and_then(|again| state(&again));
            if after.as_ref().ok() != Some(&untouched()) {
                spoiled.push(format!("{name}, cache of {cache} pages: {after:?}"));
            }
        }
    }
    assert!(spoiled.is_empty(), "{spoiled:#?}");
}

/// A connection with exclusive access can continue to read on a full disk.
#[test]
fn an_exclusive_connection_reads_on_after_a_failed_transaction_on_a_full_disk() {
    for mode in ["delete", "persist", "truncate"] {
        let key = KeyFile::new(1);
        for (name, opening) in openings(&key) {
            let disk = Disk::new();
            let _disk_guard = disk.enter();
            let connection = connect(
                &opening,
                &format!("PRAGMA journal_mode = {mode}; PRAGMA locking_mode = exclusive; PRAGMA cache_size = 20"),
            );
            fill(&disk, 60_000);
            assert!(connection.execute_batch(GROW).is_err(), "{name}, {mode}");
            let _ = connection.execute_batch("ROLLBACK");
            let here = state(&connection);
            assert_eq!(here.as_ref().ok(), Some(&untouched()), "{name}, {mode}: {here:?}");
        }
    }
}

/// A log in exclusive mode without shared memory: a checkpoint that finds the disk full leaves everything readable.
#[test]
fn a_checkpoint_of_an_exclusive_connection_that_finds_the_disk_full_spoils_no_read() {
    let key = KeyFile::new(1);
    for (name, opening) in openings(&key) {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let connection = connect(
            &opening,
            "PRAGMA locking_mode = exclusive; PRAGMA journal_mode = wal; PRAGMA cache_size = 5;
             PRAGMA wal_autocheckpoint = 0; CREATE TABLE other(x)",
        );
        let checkpoint = || connection.query_row("PRAGMA wal_checkpoint", [], |_| Ok(()));
        checkpoint().unwrap();
        connection
            .execute_batch(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                 INSERT INTO other SELECT randomblob(900) FROM n",
            )
            .unwrap();
        fill(&disk, 0);
        assert!(checkpoint().is_err(), "{name}");
        let here: Result<i64, _> = connection.query_row("SELECT sum(length(body)) FROM t", [], |row| row.get(0));
        assert_eq!(here.as_ref().ok(), Some(&18_000), "{name}: {here:?}");
    }
}
