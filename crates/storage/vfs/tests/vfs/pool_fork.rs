//! The pool in a forked child, where a thread that does not exist there may hold a lock of it: the
//! child does not use it. The test simulates the effect of a fork in this process: the page that
//! the kernel wipes.

use std::sync::atomic::Ordering;

use rusqlite::Connection;
use selenite_testing::{Disk, KeyFile, Opening, own_process};
use selenite_vfs::ffi::ForkPage;

fn sum(connection: &Connection) -> i64 {
    connection
        .query_row("SELECT sum(number) FROM t", [], |row| row.get(0))
        .unwrap()
}

fn status(connection: &Connection, name: &str) -> i64 {
    let sql = "SELECT value FROM selenite_status WHERE section = 'pool' AND name = ?1";
    connection.query_row(sql, [name], |row| row.get(0)).unwrap()
}

#[test]
fn a_forked_child_reads_for_itself() {
    own_process!();
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/fork/main.db", &key).with("pool_size", "64M");
    let connect = || {
        let connection = opening.connect().unwrap();
        connection.execute_batch("PRAGMA cache_size = 5").unwrap();
        connection
    };
    let parents = connect();
    parents
        .execute_batch(
            "CREATE TABLE t(number INTEGER, body BLOB);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
             INSERT INTO t SELECT i, zeroblob(3000) FROM n",
        )
        .unwrap();
    (0..4).for_each(|_| assert_eq!(sum(&parents), 20_100));
    let (bytes, hits) = (status(&parents, "bytes"), status(&parents, "hits"));
    assert!(bytes > 700_000 && hits > 150, "{bytes} bytes, {hits} hits");

    for word in ForkPage::of_process().words() {
        word.store(0, Ordering::SeqCst);
    }
    let child = connect();
    (0..4).for_each(|_| assert_eq!(sum(&child), 20_100));
    child.execute("UPDATE t SET number = number + 1", []).unwrap();
    (0..4).for_each(|_| assert_eq!(sum(&child), 20_300));
    assert_eq!((status(&child, "bytes"), status(&child, "hits")), (bytes, hits));
    drop((parents, child));
    // Its memory is not freed either: that would take the locks.
    assert_eq!(status(&connect(), "bytes"), bytes);
}
