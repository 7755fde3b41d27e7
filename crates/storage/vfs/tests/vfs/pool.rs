//! Decrypted pages that connections of one process share: never older than the reader's snapshot,
//! never newer.

mod regressions;

use std::sync::Arc;

use rusqlite::{Connection, params};
use selenite_testing::disk::DiskGuard;
use selenite_testing::fault::Failure;
use selenite_testing::{Call, Disk, Fault, KeyFile, Opening, own_process};
use selenite_vfs::ffi::Code;
use selenite_vfs::role::Role;

const ROWS: i64 = 300;

struct Fixture {
    disk: Arc<Disk>,
    opening: Opening,
    _disk_guard: DiskGuard,
    _key: KeyFile,
}

impl Fixture {
    fn new(mode: &str) -> Self {
        let disk = Disk::new();
        let disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/pool/main.db", &key).with("page_size", "1024");
        let connection = opening.clone().with("pool_size", "64M").connect().unwrap();
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = {mode};
                 CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
                 INSERT INTO t SELECT i, 0, zeroblob(700) FROM n;
                 PRAGMA wal_checkpoint"
            ))
            .unwrap();
        Self {
            disk,
            opening,
            _disk_guard: disk_guard,
            _key: key,
        }
    }

    /// A connection with a cache that holds almost nothing.
    fn connect(&self) -> Connection {
        let connection = self.opening.connect().unwrap();
        connection
            .execute_batch("PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0")
            .unwrap();
        connection
    }

    /// The number of bytes of pages that a piece of work reads from the database.
    fn read_by<T>(&self, work: impl FnOnce() -> T) -> usize {
        self.disk.watch();
        let _ = work();
        let calls = self.disk.calls();
        calls
            .iter()
            .filter(|call| (call.call, call.role) == (Call::Read, Role::Main) && call.offset >= 65536)
            .map(|call| call.size)
            .sum()
    }
}

fn all(connection: &Connection) -> Vec<i64> {
    let mut select = connection.prepare("SELECT version, body FROM t ORDER BY id").unwrap();
    let rows = select.query_map([], |row| {
        assert_eq!(row.get::<_, Vec<u8>>(1)?.len(), 700);
        row.get(0)
    });
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn some(connection: &Connection) -> Vec<i64> {
    let ids = (0..80).map(|number| number * 7919 % ROWS + 1);
    let mut select = connection.prepare("SELECT version FROM t WHERE id = ?1").unwrap();
    ids.map(|id| select.query_row([id], |row| row.get(0)).unwrap())
        .collect()
}

fn each(version: i64) -> Vec<i64> {
    vec![version; usize::try_from(ROWS).unwrap()]
}

fn set_all(connection: &Connection, version: i64) {
    connection.execute("UPDATE t SET version = ?1", [version]).unwrap();
}

fn checkpoint(connection: &Connection, kind: &str) {
    connection
        .query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()))
        .unwrap();
}

fn status(connection: &Connection, name: &str) -> i64 {
    let sql = "SELECT value FROM selenite_status WHERE section = 'pool' AND name = ?1";
    connection.query_row(sql, [name], |row| row.get(0)).unwrap()
}

#[test]
fn the_third_scan_of_any_connection_reads_no_page() {
    own_process!();
    for mode in ["wal", "delete"] {
        let fixture = Fixture::new(mode);
        let (one, other, third) = (fixture.connect(), fixture.connect(), fixture.connect());
        assert!(fixture.read_by(|| all(&one)) > 250_000);
        assert!(fixture.read_by(|| all(&other)) > 250_000);
        let read = fixture.read_by(|| all(&third));
        assert!(read < 4096, "{mode}: {read} bytes");
        assert!(status(&third, "hits") > 250);
        assert_eq!(all(&third), each(0));
    }
}

/// A write of a page fails in the middle of a checkpoint: the page is in no pool, and the next
/// checkpoint repairs it.
#[test]
fn a_checkpoint_that_fails_half_way_leaves_no_page_behind_that_is_stale() {
    own_process!();
    let fixture = Fixture::new("wal");
    let (one, other, writer) = (fixture.connect(), fixture.connect(), fixture.connect());
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    for (version, after) in [0, 1, 7, 100, 250].into_iter().enumerate() {
        let version = i64::try_from(version).unwrap() + 1;
        set_all(&writer, version);
        fixture.disk.inject(Fault {
            call: Call::Write,
            role: Some(Role::Main),
            after,
            times: 1,
            failure: Failure::PartialWrite(Code::IOERR_WRITE),
        });
        let failed = writer.query_row("PRAGMA wal_checkpoint", [], |_| Ok(()));
        assert!(failed.is_err(), "write {after} went well");
        for _ in 0..3 {
            assert_eq!(all(&one), each(version));
            assert_eq!(some(&other), [version; 80]);
        }
        checkpoint(&other, "TRUNCATE");
        for _ in 0..3 {
            assert_eq!(all(&one), each(version));
            assert_eq!(all(&other), each(version));
        }
    }
}

/// The disk is full in the middle of a transaction, which leaves pages in the database and a hot
/// journal; a process with another pool (separate because it may read unencrypted files) plays the
/// journal back. Page 1 is unchanged.
#[test]
fn a_transaction_that_another_process_takes_back_leaves_nothing_in_the_pool() {
    own_process!();
    for mode in ["delete", "persist", "truncate"] {
        for after in [0, 1, 20, 100] {
            let fixture = Fixture::new(mode);
            let (one, writer) = (fixture.connect(), fixture.connect());
            (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
            fixture.disk.inject(Fault {
                call: Call::Write,
                role: Some(Role::Main),
                after,
                times: 1,
                failure: Failure::Code(Code::FULL),
            });
            let failed = writer.execute_batch("BEGIN; UPDATE t SET version = -1; COMMIT");
            assert!(failed.is_err(), "{mode}: write {after} went well");
            let _ = writer.execute_batch("ROLLBACK");
            let foreign = fixture.opening.clone().with("plain", "allow").connect().unwrap();
            assert_eq!(all(&foreign), each(0), "{mode}, write {after}");
            for _ in 0..3 {
                assert_eq!(all(&one), each(0), "{mode}, write {after}");
                assert_eq!(some(&writer), [0; 80], "{mode}, write {after}");
            }
        }
    }
}

#[test]
fn commits_and_checkpoints_of_one_connection_are_visible_to_the_others() {
    own_process!();
    for mode in ["wal", "delete", "persist", "truncate"] {
        let fixture = Fixture::new(mode);
        let (one, other, writer) = (fixture.connect(), fixture.connect(), fixture.connect());
        for version in 0..8 {
            set_all(&writer, version);
            for _ in 0..4 {
                assert_eq!(all(&one), each(version), "{mode}");
                assert_eq!(all(&other), each(version), "{mode}");
            }
            if mode == "wal" {
                let kind = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][usize::try_from(version % 4).unwrap()];
                checkpoint(&writer, kind);
                for _ in 0..4 {
                    assert_eq!(all(&one), each(version));
                    assert_eq!(some(&other), [version; 80]);
                }
            }
        }
    }
}

#[test]
fn a_snapshot_held_across_checkpoints_keeps_its_pages_and_spoils_no_others() {
    own_process!();
    let fixture = Fixture::new("wal");
    let (old, new, writer) = (fixture.connect(), fixture.connect(), fixture.connect());
    for round in 0..5 {
        let version = round * 10;
        set_all(&writer, version);
        checkpoint(&writer, "TRUNCATE");
        old.execute_batch("BEGIN").unwrap();
        assert_eq!(all(&old), each(version));
        for next in version + 1..version + 6 {
            set_all(&writer, next);
            checkpoint(&writer, "PASSIVE");
            for _ in 0..4 {
                assert_eq!(all(&old), each(version));
                assert_eq!(all(&new), each(next));
            }
        }
        old.execute_batch("COMMIT").unwrap();
        assert_eq!(all(&old), each(version + 5));
    }
}

#[test]
fn a_writer_sees_its_own_pages_and_a_rollback_takes_them_back() {
    own_process!();
    for mode in ["wal", "delete"] {
        let fixture = Fixture::new(mode);
        let (one, writer) = (fixture.connect(), fixture.connect());
        (0..4).for_each(|_| assert_eq!(all(&one), each(0)));
        writer.execute_batch("BEGIN").unwrap();
        assert_eq!(all(&writer), each(0));
        set_all(&writer, 7);
        assert_eq!(all(&writer), each(7), "{mode}");
        assert_eq!(some(&writer), [7; 80], "{mode}");
        writer.execute_batch("ROLLBACK").unwrap();
        assert_eq!(all(&writer), each(0), "{mode}");
        (0..4).for_each(|_| assert_eq!(all(&one), each(0)));
    }
}

#[test]
fn a_change_of_journal_mode_or_of_the_pages_places_is_seen() {
    own_process!();
    let fixture = Fixture::new("wal");
    let mut version = 0;
    for mode in ["delete", "wal", "persist", "wal"] {
        let reader = fixture.connect();
        (0..4).for_each(|_| assert_eq!(all(&reader), each(version)));
        // A connection that uses the log prevents others from deleting it.
        let stays = (mode == "wal").then(|| fixture.connect());
        drop(reader);
        let writer = fixture.connect();
        writer
            .query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(()))
            .unwrap();
        version += 1;
        set_all(&writer, version);
        writer.execute("DELETE FROM t WHERE id % 2 = 0", []).unwrap();
        writer.execute_batch("VACUUM").unwrap();
        let reader = fixture.connect();
        let idle = stays.unwrap_or_else(|| fixture.connect());
        for _ in 0..4 {
            assert_eq!(all(&reader), vec![version; each(0).len() / 2]);
            assert_eq!(all(&idle), vec![version; each(0).len() / 2]);
        }
        let insert = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 2 FROM n WHERE i + 2 <= ?2)
             INSERT INTO t SELECT i, ?1, zeroblob(700) FROM n";
        writer.execute(insert, params![version, ROWS]).unwrap();
        (0..4).for_each(|_| assert_eq!(all(&idle), each(version)));
    }
}

#[test]
fn the_pool_shrinks_to_zero_and_grows_again_under_a_reader() {
    own_process!();
    let fixture = Fixture::new("wal");
    let reader = fixture.connect();
    (0..4).for_each(|_| assert_eq!(all(&reader), each(0)));
    let full = status(&reader, "bytes");
    assert!(full > 250_000 && full <= status(&reader, "limit"));
    for size in ["100K", "1K", "0", "20000", "1M"] {
        drop(fixture.opening.clone().with("pool_size", size).connect().unwrap());
        for _ in 0..4 {
            assert_eq!(all(&reader), each(0));
            assert!(status(&reader, "bytes") <= status(&reader, "limit"), "{size}");
        }
    }
    assert!(status(&reader, "bytes") > 250_000);
    assert!(fixture.opening.clone().with("pool_size", "much").connect().is_err());
}

#[test]
fn the_pool_is_empty_when_the_last_connection_has_gone() {
    own_process!();
    let fixture = Fixture::new("wal");
    let (one, other) = (fixture.connect(), fixture.connect());
    (0..4).for_each(|_| assert_eq!(all(&one), each(0)));
    assert_eq!(all(&other), each(0));
    drop(one);
    assert!(status(&other, "bytes") > 250_000);
    drop(other);
    let memory = fixture.opening.at("/pool/other.db").connect().unwrap();
    memory.execute_batch("CREATE TABLE x(y)").unwrap();
    assert_eq!(status(&memory, "bytes"), 0);
}

#[test]
fn connections_without_locks_do_not_use_the_pool() {
    own_process!();
    let fixture = Fixture::new("delete");
    let reader = fixture.connect();
    (0..4).for_each(|_| assert_eq!(all(&reader), each(0)));
    for parameter in ["immutable", "nolock"] {
        let connection = fixture.opening.clone().with(parameter, "1").connect().unwrap();
        assert!(fixture.read_by(|| all(&connection)) > 250_000, "{parameter}");
    }
    let exclusive = fixture.opening.clone().at("/pool/exclusive.db").connect().unwrap();
    exclusive
        .execute_batch(
            "PRAGMA locking_mode = exclusive; PRAGMA journal_mode = wal; PRAGMA cache_size = 5;
             CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
             INSERT INTO t VALUES(1, 0, zeroblob(700)); PRAGMA wal_checkpoint",
        )
        .unwrap();
    let before = status(&exclusive, "bytes");
    for _ in 0..4 {
        let _ = all(&exclusive);
    }
    assert_eq!(status(&exclusive, "bytes"), before);
}

#[test]
fn dropped_pages_are_read_again_and_counted() {
    own_process!();
    let fixture = Fixture::new("wal");
    let connection = fixture.connect();
    for _ in 0..3 {
        all(&connection);
    }
    let counts = || -> Vec<i64> {
        let sql = "SELECT selenite_page_reads()";
        let text: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        text.split(' ').map(|count| count.parse().unwrap()).collect()
    };
    let before = counts();
    assert!(fixture.read_by(|| all(&connection)) < 4096);
    let between = counts();
    let pooled = between[2] - before[2];
    assert!(
        pooled > 250 && pooled <= between[1] - before[1],
        "{before:?} {between:?}"
    );
    connection
        .query_row("SELECT selenite_drop_pages()", [], |_| Ok(()))
        .unwrap();
    assert_eq!(status(&connection, "bytes"), 0);
    connection.execute_batch("PRAGMA shrink_memory").unwrap();
    assert!(fixture.read_by(|| all(&connection)) > 250_000);
    let after = counts();
    assert!(after[2] - between[2] < 10, "{between:?} {after:?}");
    assert!(after[1] - between[1] > 250, "{between:?} {after:?}");
}
