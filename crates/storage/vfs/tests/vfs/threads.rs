//! Threads that write, read and checkpoint one database concurrently, each with its own connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, ErrorCode};
use selenite_testing::ledger::check_integrity;
use selenite_testing::{Disk, KeyFile, Opening};

/// The number of rows. Amounts are moved between rows: their sum is constant.
const ROWS: i64 = 40;
const EACH: i64 = 1000;
const MOVES: i64 = 500;

/// Repeats `body` until it is not busy. Nothing sleeps: the other thread is working.
fn retry_busy<T>(mut body: impl FnMut() -> rusqlite::Result<T>) -> T {
    loop {
        match body() {
            Ok(value) => return value,
            Err(error) if is_busy(&error) => std::thread::yield_now(),
            Err(error) => panic!("{error}; {:?}", selenite_testing::opening::last_error()),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

fn connect(opening: &Opening, mode: &str) -> Connection {
    let connection = retry_busy(|| opening.connect());
    retry_busy(|| {
        connection.execute_batch("PRAGMA cache_size = 8; PRAGMA synchronous = normal; PRAGMA wal_autocheckpoint = 9")
    });
    retry_busy(|| connection.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(())));
    connection
}

fn move_some(connection: &Connection, thread: i64, done: &AtomicU64) {
    for number in 0..MOVES {
        retry_busy(|| {
            let moved = connection.execute_batch(&format!(
                "BEGIN IMMEDIATE;
                 UPDATE t SET number = number - 1 WHERE id = {};
                 UPDATE t SET number = number + 1, body = randomblob(700) WHERE id = {};
                 UPDATE count SET moves = moves + 1;
                 COMMIT",
                (number * 7 + thread) % ROWS,
                (number * 3 + 1) % ROWS
            ));
            if moved.is_err() && !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK")?;
            }
            moved
        });
    }
    done.fetch_add(1, Ordering::SeqCst);
}

/// Checks that the sum is constant, the number of moves never decreases, and every page is
/// authentic.
fn watch(connection: &Connection, done: &AtomicU64) {
    let mut before = 0;
    while done.load(Ordering::SeqCst) < 2 {
        let (sum, moves): (i64, i64) = retry_busy(|| {
            connection.query_row("SELECT sum(number), (SELECT moves FROM count) FROM t", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
        });
        assert_eq!(sum, ROWS * EACH);
        assert!(moves >= before, "{moves} moves after {before}");
        before = moves;
    }
}

fn make(opening: &Opening, mode: &str) {
    let connection = connect(opening, mode);
    connection
        .execute_batch(&format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, number INTEGER, body BLOB); CREATE TABLE count(moves INTEGER);
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {ROWS})
             INSERT INTO t SELECT i, {EACH}, zeroblob(700) FROM n;
             INSERT INTO count VALUES(0)"
        ))
        .unwrap();
}

#[test]
fn threads_on_one_database_see_every_commit_and_no_half_of_one() {
    for mode in ["wal", "delete", "persist", "truncate"] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/threads/main.db", &key).with("page_size", "1024");
        let disk: Arc<Disk> = Disk::new();
        let _disk_guard = disk.enter();
        make(&opening, mode);
        let done = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (disk, opening, done) = (&disk, &opening, &done);
                scope.spawn(move || {
                    let _disk_guard = disk.enter();
                    let connection = connect(opening, mode);
                    match thread {
                        0 | 1 => move_some(&connection, thread, done),
                        _ => watch(&connection, done),
                    }
                });
            }
        });
        let connection = opening.connect().unwrap();
        check_integrity(&connection).unwrap();
        let moves: i64 = connection
            .query_row("SELECT moves FROM count", [], |row| row.get(0))
            .unwrap();
        assert_eq!(moves, 2 * MOVES, "{mode}");
    }
}
