//! The label of an empty log depends on the mark in the WAL index, and a change of keys clears that
//! mark.

use rusqlite::Connection;
use selenite_cipher::Secret;
use selenite_keyring::change::add_slot;
use selenite_keyring::{RawIdentity, os_random};
use selenite_testing::{Disk, KeyFile, Opening, own_process};
use selenite_vfs::change::stage;

const ROWS: i64 = 300;

fn sum(connection: &Connection) -> i64 {
    connection
        .query_row(
            "SELECT sum(version) FROM (SELECT version, body FROM t ORDER BY id)",
            [],
            |row| row.get(0),
        )
        .unwrap()
}

fn query(connection: &Connection, sql: &str) {
    connection.query_row(sql, [], |_| Ok(())).unwrap();
}

/// Adds a key, in a transaction that writes no page.
fn add_key(connection: &Connection) {
    let token = stage(Box::new(|from| {
        let change = add_slot(
            from,
            &RawIdentity::new(Secret::new([9; 32])),
            "added",
            1,
            &mut os_random,
        )?;
        Ok((change.unlocked, change.revokes_access))
    }));
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
        .query_row("SELECT selenite_apply(?1)", [token], |row| row.get::<_, i64>(0))
        .unwrap();
    connection.execute_batch("COMMIT").unwrap();
}

/// A log is filled, copied and truncated; a process dies between both copies of the index's header
/// when it restarts the log; the log is recovered as empty; a key is added. `reader` has the log
/// open all the time, and is in no transaction.
fn scene(with_key: bool) -> (i64, i64) {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/pool/main.db", &key)
        .with("page_size", "1024")
        .with("pool_size", "64M");
    let connect = |opening: &Opening| {
        let connection = opening.connect().unwrap();
        connection
            .execute_batch("PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0")
            .unwrap();
        connection
    };
    opening
        .connect()
        .unwrap()
        .execute_batch(&format!(
            "PRAGMA journal_mode = wal;
             CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO t SELECT i, 0, zeroblob(700) FROM n"
        ))
        .unwrap();
    let (one, reader) = (connect(&opening), connect(&opening));
    (0..3).for_each(|_| assert_eq!(sum(&one), 0));
    query(&reader, "SELECT count(*) FROM sqlite_schema");
    // Simulates another process: other rights keep its pages separate.
    let other = connect(&opening.clone().with("plain", "allow"));
    other.execute("UPDATE t SET version = 1", []).unwrap();
    query(&reader, "SELECT count(*) FROM sqlite_schema");
    query(&other, "PRAGMA wal_checkpoint(TRUNCATE)");
    disk.tear_index("/pool/main.db");
    assert_eq!(sum(&other), ROWS);
    if with_key {
        add_key(&other);
    }
    // The rows that were read are written back.
    reader.execute_batch("BEGIN").unwrap();
    let seen = sum(&reader);
    let written = reader.execute_batch("UPDATE t SET body = zeroblob(699); COMMIT");
    written.unwrap();
    (seen, sum(&connect(&opening.clone().with("plain", "allow"))))
}

#[test]
fn an_empty_log_that_comes_back_is_another() {
    own_process!();
    assert_eq!(scene(false), (ROWS, ROWS));
}

#[test]
fn an_empty_log_that_comes_back_is_another_after_a_change_of_keys() {
    own_process!();
    assert_eq!(
        scene(true),
        (ROWS, ROWS),
        "seen by the reader, and left of the other process's commit"
    );
}
