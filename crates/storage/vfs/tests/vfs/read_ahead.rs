//! Read-ahead while others write: no stale page is served, and no page from the middle of another
//! write.

use std::sync::Arc;

use rusqlite::{Connection, params};
use selenite_testing::disk::DiskGuard;
use selenite_testing::{Call, CallRecord, Disk, KeyFile, Opening, own_process};
use selenite_vfs::role::Role;

const ROWS: i64 = 400;
const PAGE_SIZE: usize = 1024;

struct Fixture {
    disk: Arc<Disk>,
    _disk_guard: DiskGuard,
    _key: KeyFile,
    opening: Opening,
}

impl Fixture {
    fn new(mode: &str) -> Self {
        let disk = Disk::new();
        let disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let fixture = Self {
            // Without the pool, which would serve the pages instead.
            opening: Opening::encrypted("/ahead/main.db", &key)
                .with("page_size", "1024")
                .with("pool_size", "0"),
            disk,
            _disk_guard: disk_guard,
            _key: key,
        };
        let connection = fixture.connect();
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = {mode};
                 CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
                 INSERT INTO t SELECT i, 0, zeroblob(700) FROM n"
            ))
            .unwrap();
        fixture
    }

    /// A connection with a cache that holds almost nothing.
    fn connect(&self) -> Connection {
        let connection = self.opening.connect().unwrap();
        connection
            .execute_batch("PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0")
            .unwrap();
        connection
    }

    fn reads(&self) -> Vec<CallRecord> {
        let calls = self.disk.calls();
        calls
            .into_iter()
            .filter(|call| (call.call, call.role) == (Call::Read, Role::Main) && call.offset >= 65536)
            .collect()
    }

    fn reads_ahead(&self) -> usize {
        self.reads().iter().filter(|read| read.size > PAGE_SIZE).count()
    }
}

/// The versions of some rows, in the order of their ids.
fn versions(connection: &Connection, first: i64, last: i64, order: &str) -> Vec<i64> {
    let sql = format!("SELECT version, body FROM t WHERE id BETWEEN ?1 AND ?2 ORDER BY id {order}");
    let mut select = connection.prepare(&sql).unwrap();
    let rows = select.query_map([first, last], |row| {
        assert_eq!(row.get::<_, Vec<u8>>(1)?.len(), 700);
        row.get(0)
    });
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn all(connection: &Connection) -> Vec<i64> {
    versions(connection, 1, ROWS, "ASC")
}

fn set_all(connection: &Connection, version: i64) {
    connection.execute("UPDATE t SET version = ?1", [version]).unwrap();
}

fn checkpoint(connection: &Connection, kind: &str) {
    connection
        .query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()))
        .unwrap();
}

fn row_count() -> usize {
    usize::try_from(ROWS).unwrap()
}

#[test]
fn a_scan_either_way_takes_few_reads() {
    own_process!();
    for order in ["ASC", "DESC"] {
        for mode in ["delete", "wal"] {
            let fixture = Fixture::new(mode);
            let connection = fixture.connect();
            fixture.disk.watch();
            assert_eq!(versions(&connection, 1, ROWS, order).len(), row_count());
            let reads = fixture.reads();
            let pages: usize = reads.iter().map(|read| read.size.div_ceil(PAGE_SIZE)).sum();
            assert!(reads.len() < 40, "{mode} {order}: {} reads", reads.len());
            assert!(pages < row_count() * 11 / 10, "{mode} {order}: {pages} pages");
        }
    }
}

#[test]
fn random_reads_read_nothing_ahead() {
    own_process!();
    let fixture = Fixture::new("wal");
    let connection = fixture.connect();
    fixture.disk.watch();
    for number in 0..500 {
        let id = number * 7919 % ROWS + 1;
        assert_eq!(versions(&connection, id, id, "ASC"), [0]);
    }
    assert_eq!(fixture.reads_ahead(), 0);
}

#[test]
fn a_snapshot_is_unchanged_while_others_commit_and_checkpoint() {
    own_process!();
    for order in ["ASC", "DESC"] {
        let fixture = Fixture::new("wal");
        let (reader, writer) = (fixture.connect(), fixture.connect());
        checkpoint(&writer, "TRUNCATE");
        set_all(&writer, 1);
        // Version 1 is in the log, and is copied after a reader has begun.
        reader.execute_batch("BEGIN").unwrap();
        assert_eq!(versions(&reader, 1, 60, order), [1; 60]);
        checkpoint(&writer, "PASSIVE");
        assert_eq!(versions(&reader, 40, 120, order), [1; 81]);
        for version in 2..6 {
            set_all(&writer, version);
            checkpoint(&writer, "PASSIVE");
            assert_eq!(versions(&reader, 1, ROWS, order), vec![1; row_count()]);
        }
        reader.execute_batch("COMMIT").unwrap();
        assert_eq!(all(&reader), vec![5; row_count()]);
    }
}

/// The reader's snapshot is completely in the database, under read mark 0.
#[test]
fn a_snapshot_under_mark_0_is_unchanged_while_the_log_restarts() {
    own_process!();
    let fixture = Fixture::new("wal");
    let (reader, writer) = (fixture.connect(), fixture.connect());
    for version in 1..8 {
        set_all(&writer, version);
        checkpoint(&writer, "FULL");
        fixture.disk.watch();
        reader.execute_batch("BEGIN").unwrap();
        assert_eq!(versions(&reader, 1, 50, "ASC"), [version; 50]);
        assert!(fixture.reads_ahead() > 0);
        set_all(&writer, version + 100);
        checkpoint(&writer, "PASSIVE");
        assert_eq!(all(&reader), vec![version; row_count()]);
        reader.execute_batch("COMMIT").unwrap();
        assert_eq!(versions(&reader, 51, 100, "ASC"), [version + 100; 50]);
        checkpoint(&writer, "RESTART");
        assert_eq!(all(&reader), vec![version + 100; row_count()]);
    }
}

/// Scans that stop midway leave pages in the window that were not requested.
#[test]
fn nothing_is_carried_into_the_next_transaction() {
    own_process!();
    for mode in ["wal", "delete", "persist", "truncate"] {
        let fixture = Fixture::new(mode);
        let (reader, writer) = (fixture.connect(), fixture.connect());
        for version in 1..20 {
            let first = version * 15;
            assert_eq!(versions(&reader, first, first + 20, "ASC"), [version - 1; 21]);
            set_all(&writer, version);
            if mode == "wal" {
                checkpoint(&writer, "TRUNCATE");
            }
            assert_eq!(versions(&reader, first + 21, first + 40, "ASC"), [version; 20]);
        }
    }
}

#[test]
fn own_writes_are_seen_in_the_middle_of_a_scan() {
    own_process!();
    for mode in ["wal", "delete", "memory"] {
        let fixture = Fixture::new(mode);
        let connection = fixture.connect();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut expected = vec![0; row_count()];
        for step in 0..20_i64 {
            let first = step * 17 + 1;
            assert_eq!(versions(&connection, first, first + 12, "ASC")[12], 0);
            let ids = params![first + 13, first + 20, step + 1];
            connection
                .execute("UPDATE t SET version = ?3 WHERE id BETWEEN ?1 AND ?2", ids)
                .unwrap();
            for version in expected.iter_mut().skip(usize::try_from(first + 12).unwrap()).take(8) {
                *version = step + 1;
            }
            assert_eq!(all(&connection), expected, "{mode}");
        }
        connection.execute_batch("SAVEPOINT s").unwrap();
        set_all(&connection, 99);
        connection.execute_batch("ROLLBACK TO s").unwrap();
        assert_eq!(all(&connection), expected, "{mode}");
        connection.execute_batch("ROLLBACK").unwrap();
        assert_eq!(all(&connection), vec![0; row_count()], "{mode}");
    }
}

#[test]
fn a_truncated_file_and_one_that_changes_its_mode_are_read_again() {
    own_process!();
    let fixture = Fixture::new("wal");
    let mut version = 0;
    for mode in ["delete", "wal", "persist", "wal", "truncate"] {
        let (reader, writer) = (fixture.connect(), fixture.connect());
        assert_eq!(versions(&reader, 1, 50, "ASC"), [version; 50]);
        drop(reader);
        writer
            .query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(()))
            .unwrap();
        version += 1;
        let reader = fixture.connect();
        assert_eq!(versions(&reader, 1, 50, "ASC"), [version - 1; 50]);
        set_all(&writer, version);
        writer.execute("DELETE FROM t WHERE id > 300", []).unwrap();
        writer.execute_batch("VACUUM").unwrap();
        assert_eq!(all(&reader), [version; 300]);
        let insert = "WITH RECURSIVE n(i) AS (SELECT 301 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
             INSERT INTO t SELECT i, ?1, zeroblob(700) FROM n";
        writer.execute(insert, [version, ROWS]).unwrap();
        assert_eq!(all(&reader), vec![version; row_count()]);
    }
}

/// A checkpoint may be writing a page while it is read ahead and not requested.
#[test]
fn a_page_that_was_read_ahead_torn_is_read_again_in_silence() {
    own_process!();
    let fixture = Fixture::new("delete");
    fixture.disk.shim_reads(Arc::new(|role, offset, bytes, _| {
        if role == Role::Main && offset >= 65536 && bytes.len() > PAGE_SIZE {
            for page in bytes.chunks_mut(PAGE_SIZE).step_by(3) {
                page[100] ^= 1;
            }
        }
    }));
    let connection = fixture.connect();
    fixture.disk.watch();
    assert_eq!(all(&connection), vec![0; row_count()]);
    assert!(fixture.reads_ahead() > 0);
    let alone = fixture.reads().iter().filter(|read| read.size == PAGE_SIZE).count();
    assert!(alone >= row_count() / 3, "{alone} pages were read again");
}

#[test]
fn a_page_that_was_altered_is_an_error_of_that_page_alone() {
    own_process!();
    let fixture = Fixture::new("delete");
    fixture.disk.tamper("/ahead/main.db", |content| {
        content.write(b"altered", 65536 + 200 * 1024 + 500)
    });
    let connection = fixture.connect();
    let mut select = connection.prepare("SELECT body FROM t").unwrap();
    let read = select
        .query_map([], |row| row.get::<_, Vec<u8>>(0))
        .unwrap()
        .collect::<rusqlite::Result<Vec<_>>>();
    assert!(read.is_err());
    assert_eq!(versions(&connection, 1, 150, "ASC"), [0; 150]);
    assert_eq!(versions(&connection, 250, ROWS, "DESC"), [0; 151]);
}

#[test]
fn a_connection_without_locks_reads_nothing_ahead() {
    own_process!();
    let fixture = Fixture::new("delete");
    for parameter in ["immutable", "nolock"] {
        let connection = fixture.opening.clone().with(parameter, "1").connect().unwrap();
        fixture.disk.watch();
        assert_eq!(all(&connection), vec![0; row_count()]);
        assert_eq!(fixture.reads_ahead(), 0, "{parameter}");
    }
}
