//! SQLite's assumptions about a WAL file, and its operations on one, from its documentation and
//! source.

use rusqlite::Connection;
use selenite_testing::{Call, Disk, KeyFile, Opening};
use selenite_vfs::role::Role;

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

/// wal.c, `walEncodeFrame`: "if( pWal->iReCksum==0 ) ... else memset(&aFrame[8], 0, 16)". After a
/// page was overwritten in place, the frames after it have no salts and checksums until the commit,
/// and SQLite reads them before that.
#[test]
fn frames_that_are_not_signed_yet_are_read_by_their_writer() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
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

/// The headers and pages that SQLite wrote to the log, in order: offset and size.
fn log_writes(disk: &Disk) -> Vec<(u64, usize)> {
    let writes = disk.spied_calls().into_iter();
    writes
        .filter(|spied| (spied.call, spied.role) == (Call::Write, Role::Wal))
        .map(|spied| (spied.offset, spied.data.len()))
        .collect()
}

/// Runs a transaction that spills frames and then overwrites some of them in place.
fn spill(connection: &Connection, rows: u32) {
    connection
        .execute_batch(&format!(
            "BEGIN;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
             INSERT INTO t SELECT i, zeroblob(900) FROM n;
             UPDATE t SET body = zeroblob(901);",
        ))
        .unwrap();
}

/// wal.c, `walFrames`: a page that this transaction has already written is overwritten in place,
/// without its header; at the commit `walRewriteChecksums` reads these frames and writes only
/// headers.
#[test]
fn a_spilled_frame_is_written_over_without_its_header_and_signed_at_the_commit() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/in-place/main.db", &key)
        .with("page_size", "1024")
        .through("spy");
    let connection = open_wal(&opening);
    spill(&connection, 40);
    let before = log_writes(&disk);
    let alone = before.windows(2).filter(|pair| pair[0].1 != 24 && pair[1].1 == 1024);
    assert!(alone.count() > 10, "pages without a header");
    connection.execute_batch("COMMIT").unwrap();
    let after = log_writes(&disk).split_off(before.len());
    let headers = after.windows(2).filter(|pair| pair[0].1 == 24 && pair[1].1 == 24);
    assert!(headers.count() > 10, "headers without a page");
    let count: i64 = opening
        .connect()
        .unwrap()
        .query_row("SELECT count(*) FROM t WHERE length(body) = 901", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 40);
}

/// A frame of the current transaction that cannot be opened must fail the commit: otherwise SQLite
/// would compute a new checksum for it. Earlier commits remain.
#[test]
fn an_own_frame_that_is_not_authentic_fails_the_commit() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/own-frame/main.db", &key)
        .with("page_size", "1024")
        .through("spy");
    let connection = open_wal(&opening);
    // More than the buffer holds: some frames are on the disk.
    spill(&connection, 400);
    // The first overwritten frame: SQLite computes checksums from there.
    let (offset, _) = log_writes(&disk)
        .windows(2)
        .filter(|pair| pair[0].1 != 24 && pair[1].1 == 1024)
        .map(|pair| pair[1])
        .min()
        .unwrap();
    disk.tamper("/own-frame/main.db-wal", |content| {
        let mut byte = [0];
        content.read(&mut byte, offset + 100);
        content.write(&[byte[0] ^ 1], offset + 100);
    });
    let committed = connection.execute_batch("COMMIT");
    assert!(committed.is_err());
    drop(connection);
    let count = |connection: &Connection| -> i64 {
        connection
            .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(count(&opening.connect().unwrap()), 0);
}

/// In recovery the same frame ends the log (FORMAT 6.4): the commits before it are kept, those
/// after it are not.
#[test]
fn a_frame_that_is_not_authentic_ends_the_log_in_recovery() {
    let disk = Disk::new();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/recovery/main.db", &key).with("page_size", "1024");
    let mut image = {
        let _disk_guard = disk.enter();
        let connection = open_wal(&opening);
        for id in 0..10 {
            connection
                .execute("INSERT INTO t VALUES(?1, zeroblob(10))", [id])
                .unwrap();
        }
        disk.image()
    };
    // One frame created the table, and one each row, all of 1048 bytes.
    let frames = (image.bytes("/recovery/main.db-wal").len() - 32) / 1048;
    image.edit("/recovery/main.db-wal", |content| {
        let place = 32 + (u64::try_from(frames).unwrap() - 4) * 1048 + 500;
        let mut byte = [0];
        content.read(&mut byte, place);
        content.write(&[byte[0] ^ 0x80], place);
    });
    let disk = Disk::of_image(&image);
    let _disk_guard = disk.enter();
    let connection = opening.connect().unwrap();
    let count: i64 = connection
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 6);
    connection.execute("INSERT INTO t VALUES(100, 'goes on')", []).unwrap();
}

/// FORMAT 3.8: a reader learns from the mark in the index, with one read of memory, that the keys
/// are unchanged.
#[test]
fn a_read_transaction_reads_no_superblock_where_none_was_changed() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/mark/main.db", &key);
    let writer = open_wal(&opening);
    let reader = opening.connect().unwrap();
    let heads = |connection: &Connection| {
        disk.watch();
        let _rows: i64 = connection
            .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
            .unwrap();
        let calls = disk.calls().into_iter();
        calls
            .filter(|call| call.call == Call::Read && call.role == Role::Main && call.offset < 65536)
            .count()
    };
    for round in 0..5 {
        writer
            .execute_batch("INSERT INTO t(body) VALUES(zeroblob(10))")
            .unwrap();
        let first = heads(&reader);
        assert!(round == 0 || first == 0, "{first} reads in round {round}");
        assert_eq!(heads(&reader), 0);
    }
    // A new index has no mark, so the heads are read once.
    drop((reader, writer));
    let reader = opening.connect().unwrap();
    assert!(heads(&reader) > 0, "it takes SHARED");
    for _ in 0..3 {
        assert_eq!(heads(&reader), 0);
    }
}

/// sqlite.org/isolation.html: "Once a read transaction has started, the reader continues to see an
/// unchanging snapshot of the database file as it existed at the moment in time when the read
/// transaction started"; sqlite.org/rescode.html, SQLITE_BUSY_SNAPSHOT: a reader "tries to promote
/// to a write transaction but finds that another database connection has already written to the
/// database". Both hold for each attached database, until the transaction of all of them ends. So a
/// session that has written to one database cannot read the newest rows of another on the same
/// connection.
#[test]
fn an_attached_database_keeps_its_snapshot_while_the_transaction_writes_elsewhere() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let (home, other) = ("/snapshot/home.db", "/snapshot/other.db");
    let writer = open_wal(&Opening::encrypted(other, &key));
    let connection = open_wal(&Opening::encrypted(home, &key));
    let uri = Opening::encrypted(other, &key).uri();
    connection.execute("ATTACH ?1 AS other", [&uri]).unwrap();
    connection
        .execute_batch("BEGIN; INSERT INTO main.t VALUES (1, zeroblob(1))")
        .unwrap();
    let count = || -> i64 {
        let sql = "SELECT count(*) FROM other.t";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(), 0);
    writer.execute("INSERT INTO t VALUES (1, zeroblob(1))", []).unwrap();
    assert_eq!(count(), 0, "the snapshot stays");
    let refused = connection.execute("INSERT INTO other.t VALUES (2, zeroblob(1))", []);
    let code = refused.unwrap_err().sqlite_error().map(|error| error.extended_code);
    assert_eq!(code, Some(rusqlite::ffi::SQLITE_BUSY_SNAPSHOT));
    assert!(
        connection.execute_batch("DETACH other").is_err(),
        "a database that a transaction has read can't be detached"
    );
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(count(), 1);
}

/// sqlite.org/lang_transaction.html: BEGIN IMMEDIATE begins to write immediately. A database that
/// is attached read-only is only read (build.c, `sqlite3BeginTransaction`: "if( pBt &&
/// sqlite3BtreeIsReadonly(pBt) ) eTxnType = 0"), so others may write to it.
#[test]
fn a_database_that_is_attached_read_only_is_not_locked_by_begin_immediate() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let (home, other) = ("/read-only/home.db", "/read-only/other.db");
    let writer = open_wal(&Opening::encrypted(other, &key));
    let connection = open_wal(&Opening::encrypted(home, &key));
    let uri = Opening::encrypted(other, &key).with("mode", "ro").uri();
    connection.execute("ATTACH ?1 AS other", [&uri]).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    writer
        .execute_batch("INSERT INTO t VALUES (1, zeroblob(1)); COMMIT")
        .unwrap();
    assert!(connection.execute("INSERT INTO other.t VALUES (2, NULL)", []).is_err());
    connection.execute_batch("COMMIT; DETACH other").unwrap();
}
