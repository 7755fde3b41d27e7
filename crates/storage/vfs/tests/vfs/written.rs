//! The amount of data written, and the size of a database: no more than with stock SQLite and 48
//! reserved bytes, plus 64 KiB for the superblocks.
//!
//! This applies to files with a name: the database, its log, its journals. Temporary files are
//! written in blocks of 4 KiB (`nameless_file.rs`), and a block may be written more than once.

use rusqlite::Connection;
use selenite_testing::{Disk, KeyFile, Opening, Operation};
use selenite_vfs::role::Role;

/// 64 KiB.
const PREFIX_SIZE: u64 = 65536;

/// Bytes written to files with a name, and the size of the database at the end.
#[derive(Clone, Copy, Debug)]
struct Written {
    bytes: u64,
    size: u64,
}

fn work(connection: &Connection, mode: &str) {
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = {mode}; PRAGMA synchronous = full; PRAGMA cache_size = 60;
             PRAGMA wal_autocheckpoint = 100;
             CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX t_name ON t(name)"
        ))
        .unwrap();
    for batch in 0..20 {
        let insert = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
             INSERT INTO t SELECT ?1 * 100 + i, 'name ' || (i * 7919 % 1000), zeroblob(i * 13 % 900) FROM n";
        connection.execute(insert, [batch]).unwrap();
    }
    for number in 0..100 {
        let update = "UPDATE t SET name = name || 'x', body = zeroblob(300) WHERE id % 100 = ?1";
        connection.execute(update, [number * 37 % 100]).unwrap();
    }
    connection
        .execute_batch("BEGIN; UPDATE t SET body = zeroblob(800); ROLLBACK")
        .unwrap();
    connection.execute_batch("DELETE FROM t WHERE id % 3 = 0").unwrap();
    if mode == "wal" {
        let sql = "PRAGMA wal_checkpoint(truncate)";
        connection.query_row(sql, [], |_| Ok(())).unwrap();
    }
    connection.execute_batch("VACUUM").unwrap();
}

fn written(opening: &Opening, settings: &str, mode: &str) -> Written {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let connection = opening.connect().unwrap();
    connection.execute_batch(settings).unwrap();
    work(&connection, mode);
    let rows: i64 = connection
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 1334);
    drop(connection);
    let bytes = disk.log().into_iter().map(|operation| match operation {
        Operation::Write { data, role, .. } if role != Role::Nameless => u64::try_from(data.len()).unwrap(),
        Operation::Write { .. }
        | Operation::Create { .. }
        | Operation::Truncate { .. }
        | Operation::Sync { .. }
        | Operation::SyncFolder
        | Operation::Rename { .. }
        | Operation::Delete { .. } => 0,
    });
    Written {
        bytes: bytes.sum(),
        size: u64::try_from(disk.image().bytes(opening.path()).len()).unwrap(),
    }
}

#[test]
fn no_more_is_written_than_by_stock_sqlite_and_a_file_is_64_kib_larger() {
    for page_size in ["1024", "4096", "65536"] {
        for mode in ["wal", "delete", "persist", "truncate"] {
            let key = KeyFile::new(1);
            let encrypted = Opening::encrypted("/written/main.db", &key).with("page_size", page_size);
            let sealed = written(&encrypted, "", mode);
            let settings = format!("PRAGMA page_size = {page_size}; SELECT selenite_reserve('main', 48)");
            let clear = written(&Opening::plain("/written/main.db"), &settings, mode);
            println!("{mode}, {page_size}: {sealed:?}, stock {clear:?}");
            assert!(clear.size > 4 * PREFIX_SIZE && clear.bytes > clear.size);
            assert!(sealed.bytes <= clear.bytes + PREFIX_SIZE, "{mode}, {page_size}");
            assert_eq!(sealed.size, clear.size + PREFIX_SIZE, "{mode}, {page_size}");
        }
    }
}
