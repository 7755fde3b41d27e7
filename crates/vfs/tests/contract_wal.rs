//! What SQLite expects of a WAL file, and what it does to one: by its documentation and its source.

use rusqlite::Connection;
use selenite_testing::{Disk, KeyFile, Opening};

fn open_wal(opening: &Opening) -> Connection {
    let connection = opening.connect().unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 10; PRAGMA cache_spill = 1;
             CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB);",
        )
        .unwrap();
    connection
}

/// wal.c, `walEncodeFrame`: "if( pWal->iReCksum==0 ) ... else memset(&aFrame[8], 0, 16)". Once a page was written over in
/// place, the frames behind it stay unsigned until the commit, and SQLite reads them before that.
#[test]
fn frames_that_are_not_signed_yet_are_read_by_their_writer() {
    let disk = Disk::new();
    let _entered = disk.enter();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/unsigned/main.db", &key).with("page_size", "1024");
    let connection = open_wal(&opening);
    connection
        .execute_batch(
            "BEGIN;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
             INSERT INTO t SELECT i, zeroblob(900) FROM n;
             UPDATE t SET body = zeroblob(901);
             INSERT INTO t SELECT id + 40, zeroblob(900) FROM t;
             UPDATE t SET body = zeroblob(902);
             COMMIT;",
        )
        .unwrap();
    let count: i64 = opening
        .connect()
        .unwrap()
        .query_row("SELECT count(*) FROM t WHERE length(body) = 902", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 80);
}
