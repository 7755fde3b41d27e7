//! A file that grows in rollback mode is written in pieces of 64 KiB, and no commit is acknowledged
//! whose pages were not written.

use std::sync::Arc;

use rusqlite::Connection;
use selenite_testing::disk::DiskGuard;
use selenite_testing::fault::Failure;
use selenite_testing::{Call, Disk, Fault, KeyFile, Opening};
use selenite_vfs::ffi::Code;
use selenite_vfs::role::Role;

const PAGE_SIZE: usize = 1024;
const MODES: [&str; 5] = ["delete", "truncate", "persist", "memory", "off"];

struct Fixture {
    disk: Arc<Disk>,
    opening: Opening,
    _disk_guard: DiskGuard,
    _key: KeyFile,
}

impl Fixture {
    fn new() -> Self {
        let disk = Disk::new();
        let disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/append/main.db", &key).with("page_size", "1024");
        Self {
            disk,
            opening,
            _disk_guard: disk_guard,
            _key: key,
        }
    }

    /// A connection with one row in a table, and a cache that is spilled in the middle of a
    /// transaction.
    fn connect(&self, mode: &str, synchronous: &str) -> Connection {
        let connection = self.opening.connect().unwrap();
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = {mode}; PRAGMA synchronous = {synchronous}; PRAGMA cache_size = 20;
                 CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, body BLOB);
                 INSERT OR IGNORE INTO t VALUES(1, zeroblob(900))"
            ))
            .unwrap();
        connection
    }

    /// The sizes of all writes to the database, except those of superblocks.
    fn writes(&self) -> Vec<usize> {
        let calls = self.disk.calls();
        calls
            .iter()
            .filter(|call| (call.call, call.role) == (Call::Write, Role::Main) && call.offset >= 65536)
            .map(|call| call.size)
            .collect()
    }
}

/// Inserts 400 rows, each on its own page.
const GROW: &str = "BEGIN;
    WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 401)
    INSERT INTO t SELECT i, randomblob(900) FROM n;
    COMMIT";

fn rows(connection: &Connection) -> i64 {
    connection
        .query_row("SELECT count(body) FROM t", [], |row| row.get(0))
        .unwrap()
}

fn check(connection: &Connection) {
    let found: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(found, "ok");
}

#[test]
fn a_file_that_grows_is_written_in_pieces_of_64_kib() {
    for mode in MODES {
        let fixture = Fixture::new();
        let connection = fixture.connect(mode, "normal");
        fixture.disk.watch();
        connection.execute_batch(GROW).unwrap();
        let writes = fixture.writes();
        let bytes: usize = writes.iter().sum();
        assert!(bytes >= 400 * PAGE_SIZE, "{mode}: {bytes} bytes");
        assert!(writes.len() < 100, "{mode}: {} writes", writes.len());
        assert_eq!(writes.iter().max(), Some(&65536), "{mode}");
        check(&connection);
        check(&fixture.opening.connect().unwrap());
    }
}

#[test]
fn a_checkpoint_writes_page_by_page() {
    let fixture = Fixture::new();
    let connection = fixture.connect("wal", "normal");
    connection.execute_batch(GROW).unwrap();
    fixture.disk.watch();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let writes = fixture.writes();
    assert!(writes.len() > 400 && writes.iter().all(|size| *size == PAGE_SIZE));
}

/// error-before-commit in `append.rs`. With OFF nothing is synced, and an error must still come
/// before the commit is acknowledged.
#[test]
fn no_commit_is_acknowledged_whose_pages_could_not_be_written() {
    for mode in ["delete", "truncate", "persist"] {
        for synchronous in ["off", "normal", "full"] {
            for failure in [
                Failure::Code(Code::FULL),
                Failure::PartialWrite(Code::IOERR_WRITE),
                Failure::Landed(Code::IOERR_WRITE),
            ] {
                let mut failed = 0;
                for after in 0.. {
                    // After a transient failure the write may be repeated and succeed; a permanent
                    // failure must be reported.
                    let times = if after % 2 == 0 { u64::MAX } else { 1 };
                    let fixture = Fixture::new();
                    let connection = fixture.connect(mode, synchronous);
                    fixture.disk.inject(Fault {
                        call: Call::Write,
                        role: Some(Role::Main),
                        after,
                        times,
                        failure,
                    });
                    let place = format!("{mode}, {synchronous}, {failure:?}, write {after}");
                    let grown = connection.execute_batch(GROW);
                    if fixture.disk.fault_hits() == 0 {
                        grown.unwrap();
                        assert_eq!(rows(&connection), 401, "{place}");
                        break;
                    }
                    assert!(grown.is_err() || times == 1, "{place}: acknowledged");
                    fixture.disk.clear_faults();
                    if grown.is_err() {
                        failed += 1;
                        let _ = connection.execute_batch("ROLLBACK");
                        assert_eq!(rows(&connection), 1, "{place}");
                        connection.execute_batch(GROW).unwrap();
                    }
                    assert_eq!(rows(&connection), 401, "{place}");
                    drop(connection);
                    let again = fixture.opening.connect().unwrap();
                    assert_eq!(rows(&again), 401, "{place}");
                    check(&again);
                }
                assert!(failed > 8, "{mode}, {synchronous}: {failed} writes failed");
            }
        }
    }
}

#[test]
fn appended_pages_are_read_and_rolled_back_like_written_ones() {
    for mode in MODES {
        let fixture = Fixture::new();
        let connection = fixture.connect(mode, "normal");
        connection.execute_batch(GROW.trim_end_matches("COMMIT")).unwrap();
        assert_eq!(rows(&connection), 401, "{mode}");
        connection
            .execute_batch("SAVEPOINT s; INSERT INTO t SELECT id + 1000, body FROM t; ROLLBACK TO s")
            .unwrap_or_else(|error| assert!(mode == "off", "{mode}: {error}"));
        if mode == "off" {
            continue;
        }
        assert_eq!(rows(&connection), 401, "{mode}");
        connection.execute_batch("ROLLBACK").unwrap();
        assert_eq!(rows(&connection), 1, "{mode}");
        check(&connection);
        connection.execute_batch(GROW).unwrap();
        check(&connection);
        let other = fixture.opening.connect().unwrap();
        assert_eq!(rows(&other), 401, "{mode}");
    }
}
