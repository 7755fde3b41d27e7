//! Requirements of SQLite's documentation and source on a VFS, clause by clause.

use rusqlite::Connection;
use selenite_testing::disk::{BUFFER_BYTE, SpiedCall};
use selenite_testing::ledger::check_integrity;
use selenite_testing::recorder::writes_of;
use selenite_testing::{Call, Disk, KeyFile, Ledger, Opening};
use selenite_vfs::ffi::Code;
use selenite_vfs::role::Role;

const PAGE_SIZE: usize = 1024;

/// Runs SQLite on a database in every journal mode, and returns all reads and writes.
fn all_modes() -> Vec<SpiedCall> {
    let mut all = Vec::new();
    for mode in ["delete", "persist", "truncate", "wal"] {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/contract/main.db", &key)
            .with("page_size", "1024")
            .with("auto_vacuum", "incremental")
            .through("spy");
        work(&opening, mode);
        all.extend(disk.spied_calls());
    }
    all
}

fn work(opening: &Opening, mode: &str) {
    let ledger = Ledger::SMALL;
    let connection = opening.connect().unwrap();
    let settings = format!("PRAGMA journal_mode = {mode}; PRAGMA cache_size = 10; PRAGMA wal_autocheckpoint = 20;");
    connection.execute_batch(&settings).unwrap();
    ledger.create(&connection, &["main"]).unwrap();
    for tx in 2..12 {
        connection.execute_batch("BEGIN; SAVEPOINT a").unwrap();
        ledger.write(&connection, "main", tx + 100).unwrap();
        connection.execute_batch("ROLLBACK TO a").unwrap();
        ledger.write(&connection, "main", tx).unwrap();
        connection.execute_batch("COMMIT; PRAGMA incremental_vacuum").unwrap();
    }
    connection
        .execute_batch("CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO words VALUES('one two three'); VACUUM")
        .unwrap();
    drop(connection);
    let connection = opening.connect().unwrap();
    check_integrity(&connection).unwrap();
    assert_eq!(ledger.check(&connection, "main"), Ok(11));
}

/// "If xRead() returns SQLITE_IOERR_SHORT_READ it must also fill in the unread portions of the buffer with zeros. A VFS
/// that fails to zero-fill short reads might seem to work. However, failure to zero-fill short reads will eventually
/// lead to database corruption." (sqlite.org/c3ref/io_methods.html)
#[test]
fn a_short_read_is_filled_with_zeros() {
    let all = all_modes();
    let short = all.iter().filter(|spied| spied.answer == Err(Code::IOERR_SHORT_READ));
    let mut count = 0;
    for spied in short {
        count += 1;
        let tail = spied.data.iter().rev().take_while(|&&byte| byte == BUFFER_BYTE).count();
        assert_eq!(
            tail,
            0,
            "{} bytes at {} of the {}",
            spied.data.len(),
            spied.offset,
            spied.role
        );
    }
    assert!(count > 3, "only {count} short reads");
    let whole = all
        .iter()
        .filter(|spied| spied.call == Call::Read && spied.answer.is_ok());
    for spied in whole {
        let untouched = spied.data.len() >= 8 && spied.data.iter().all(|&byte| byte == BUFFER_BYTE);
        assert!(
            !untouched,
            "a read of the {} at {} gave nothing",
            spied.role, spied.offset
        );
    }
}

/// SQLite does not use a page's reserved bytes (sqlite.org/fileformat.html#reserved_bytes): they
/// are zeros in every page that it writes, and must be zeros in every page that it reads.
#[test]
fn the_reserved_bytes_are_zeros_in_every_page_that_sqlite_reads_or_writes() {
    let mut count = 0;
    for spied in all_modes() {
        let is_page = match spied.role {
            Role::Main => spied.data.len() == PAGE_SIZE,
            Role::Wal => spied.data.len() == PAGE_SIZE || spied.data.len() == PAGE_SIZE + 24,
            // A journal's header also fills a sector.
            Role::Journal => spied.data.len() == PAGE_SIZE && spied.offset % 512 != 0,
            Role::SuperJournal | Role::Nameless => false,
        };
        if is_page && spied.answer.is_ok() {
            count += 1;
            let reserved = &spied.data[spied.data.len() - 48..];
            assert_eq!(
                reserved, [0; 48],
                "{:?} of the {} at {}",
                spied.call, spied.role, spied.offset
            );
        }
    }
    assert!(count > 1000, "only {count} pages");
}

/// sqlite.org/psow.html: without powersafe overwrite a commit is padded to the sector's end with
/// copies of its last frame. The disk below does not report it; Selenite does.
#[test]
fn a_commit_is_not_padded_to_a_sector() {
    for psow in ["0", "1"] {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/psow/main.db", &key)
            .with("page_size", "1024")
            .with("psow", psow);
        let connection = opening.through("spy").connect().unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = full; CREATE TABLE t(x)")
            .unwrap();
        let headers: Vec<_> = disk
            .spied_calls()
            .into_iter()
            .filter(|spied| (spied.call, spied.role, spied.data.len()) == (Call::Write, Role::Wal, 24))
            .collect();
        let commits = headers.iter().filter(|header| header.data[4..8] != [0; 4]).count();
        assert_eq!((headers.len(), commits), (2, 1), "psow={psow}");
    }
}

/// sqlite.org/mmap.html. The limit is for the VFS below, which maps the file (`mapping.rs`). Such a VFS also truncates the
/// file to a given size (SQLITE_FCNTL_SIZE_HINT), which is SQLite's and 64 KiB too small.
#[test]
fn the_limit_of_a_mapping_is_passed_down_and_no_size_is() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let connection = Opening::encrypted("/mmap/main.db", &key).connect().unwrap();
    disk.watch();
    connection.execute_batch("PRAGMA mmap_size = 268435456").unwrap();
    connection.execute_batch("PRAGMA journal_mode = wal").unwrap();
    let ledger = Ledger::SMALL;
    ledger.create(&connection, &["main"]).unwrap();
    for tx in 2..10 {
        ledger.commit(&connection, &["main"], tx).unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(truncate)").unwrap();
    }
    check_integrity(&connection).unwrap();
    let calls = disk.calls();
    let told = |call| calls.iter().filter(|record| record.call == call).count();
    assert_eq!(told(Call::SizeHint), 0);
    assert!(
        calls
            .iter()
            .any(|record| (record.call, record.role) == (Call::Mmap, Role::Main))
    );
    assert!(
        !calls
            .iter()
            .any(|record| record.call == Call::Mmap && record.role != Role::Main)
    );
}

/// sqlite.org/fileformat.html#the_lock_byte_page: SQLite never uses the page at 1073741824; Selenite's prefix moves
/// the lock bytes of the file into the page before it (FORMAT 2.3).
#[test]
fn pages_on_both_sides_of_the_lock_bytes_come_back() {
    const LOCK_BYTES: std::ops::Range<u64> = 0x4000_0000..0x4000_0200;
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    // A gigabyte of blob that is not read again.
    disk.forget(64 * 65536..16_300 * 65536);
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/lock-page/main.db", &key).with("page_size", "65536");
    let connection = opening.connect().unwrap();
    disk.watch();
    connection
        .execute_batch(
            "PRAGMA journal_mode = off; PRAGMA synchronous = off; CREATE TABLE large(body BLOB);
             INSERT INTO large VALUES(zeroblob(900000000)), (zeroblob(171000000));",
        )
        .unwrap();
    let first: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    assert!((16_300..16_380).contains(&first), "{first}");
    connection
        .execute_batch("CREATE TABLE small(id INTEGER PRIMARY KEY, body BLOB)")
        .unwrap();
    for id in 0..60_u8 {
        connection
            .execute("INSERT INTO small VALUES(?1, ?2)", (id, vec![id; 60_000]))
            .unwrap();
    }
    drop(connection);
    let connection = opening.connect().unwrap();
    check_small(&connection);
    let last: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    assert!(last > 16_400, "{last}");
    for record in disk.calls() {
        let end = record.offset + u64::try_from(record.size).unwrap();
        let touches = record.size > 0 && record.offset < LOCK_BYTES.end && end > LOCK_BYTES.start;
        assert!(!touches, "{record:?}");
    }
    assert!(writes_of(&disk, Role::Main).len() > 60);
}

fn check_small(connection: &Connection) {
    for id in 0..60_u8 {
        let body: Vec<u8> = connection
            .query_row("SELECT body FROM small WHERE id = ?1", [id], |row| row.get(0))
            .unwrap();
        assert!(body == [id; 60_000], "{id}");
    }
}
