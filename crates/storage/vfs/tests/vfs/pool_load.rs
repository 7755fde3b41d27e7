//! The pool shrinks to nothing and grows again while threads read from it, commit, and check every row.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rusqlite::{Connection, params};
use selenite_testing::random::seed_of;
use selenite_testing::{Disk, KeyFile, Opening, Random, own_process};

const ROWS: i64 = 200;
const SIZES: [&str; 6] = ["0", "64M", "30K", "1K", "150K", "64M"];
const ROUNDS: u64 = 40;

/// Sets the flag when it is dropped.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn body(row: i64, version: i64) -> Vec<u8> {
    Random::new(seed_of(&[row.unsigned_abs(), version.unsigned_abs()])).bytes(700)
}

fn connect(opening: &Opening) -> Connection {
    let connection = opening.connect().unwrap();
    connection
        .execute_batch("PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0")
        .unwrap();
    connection
}

fn write(connection: &Connection, version: i64) {
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    for row in 1..=ROWS {
        let sql = "INSERT OR REPLACE INTO t VALUES(?1, ?2, ?3)";
        connection
            .execute(sql, params![row, version, body(row, version)])
            .unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
}

/// Checks that every row has the same version, no older than `before`.
fn read(connection: &Connection, before: i64) -> i64 {
    let mut select = connection
        .prepare_cached("SELECT id, version, body FROM t ORDER BY id")
        .unwrap();
    let rows = select
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    let rows: Vec<(i64, i64, Vec<u8>)> = rows.collect::<rusqlite::Result<_>>().unwrap();
    assert_eq!(i64::try_from(rows.len()).unwrap(), ROWS);
    let version = rows[0].1;
    assert!(version >= before, "{version} after {before}");
    for (row, other, found) in rows {
        assert_eq!((other, &found), (version, &body(row, version)), "row {row}");
    }
    version
}

fn status(connection: &Connection, name: &str) -> i64 {
    let sql = "SELECT value FROM selenite_status WHERE section = 'pool' AND name = ?1";
    connection.query_row(sql, [name], |row| row.get(0)).unwrap()
}

#[test]
fn rows_stay_right_while_the_pool_shrinks_to_nothing_and_grows_again() {
    own_process!();
    let disk: Arc<Disk> = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/load/main.db", &key).with("page_size", "1024");
    let writer = connect(&opening.clone().with("pool_size", "64M"));
    writer
        .execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB)")
        .unwrap();
    write(&writer, 0);
    let (is_done, scans) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let end = AtEnd(&is_done);
        for _ in 0..3 {
            scope.spawn(|| {
                // A thread that fails ends the test for all.
                let _end = AtEnd(&is_done);
                let _disk_guard = disk.enter();
                let connection = connect(&opening);
                let mut version = 0;
                while !is_done.load(Ordering::SeqCst) {
                    version = read(&connection, version);
                    scans.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for round in 0..ROUNDS {
            let size = SIZES[usize::try_from(round).unwrap() % SIZES.len()];
            drop(opening.clone().with("pool_size", size).connect().unwrap());
            if round % 4 == 3 {
                write(&writer, i64::try_from(round).unwrap());
            }
            // As far as the readers permit: pages in the log are not in the pool.
            let sql = "PRAGMA wal_checkpoint(passive)";
            writer.query_row(sql, [], |_| Ok(())).unwrap();
            // The sizes change after the readers have made progress: nothing waits for a time.
            let seen = scans.load(Ordering::SeqCst);
            while scans.load(Ordering::SeqCst) < seen + 6 && !is_done.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
        drop(end);
    });
    println!(
        "{} scans, {} hits",
        scans.load(Ordering::SeqCst),
        status(&writer, "hits")
    );
    assert!(status(&writer, "hits") > 100);
    for size in ["64M", "0"] {
        drop(opening.clone().with("pool_size", size).connect().unwrap());
    }
    assert_eq!((status(&writer, "limit"), status(&writer, "bytes")), (0, 0));
}
