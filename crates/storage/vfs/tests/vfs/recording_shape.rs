//! The number and size of the calls that reach the disk; and that no nonce is used twice.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use selenite_testing::recorder::writes_of;
use selenite_testing::{Call, CallRecord, Disk, KeyFile, Ledger, Opening};
use selenite_vfs::role::Role;

const PAGE_SIZE: usize = 4096;
const PREFIX_SIZE: u64 = 65536;
const FRAME_HEADER_SIZE: usize = 24;

fn fill(connection: &Connection, last: u64) {
    Ledger::SMALL.create(connection, &["main"]).unwrap();
    for tx in 2..=last {
        Ledger::SMALL.commit(connection, &["main"], tx).unwrap();
    }
}

fn of(calls: &[CallRecord], call: Call, role: Role) -> Vec<CallRecord> {
    let wanted = calls.iter().filter(|record| record.call == call && record.role == role);
    wanted.copied().collect()
}

/// The pages that were written, each with its trailer, in any file.
fn sealed_images(disk: &Disk) -> Vec<Arc<[u8]>> {
    let mut images = Vec::new();
    for role in [Role::Main, Role::Journal] {
        let writes = writes_of(disk, role);
        images.extend(
            writes
                .into_iter()
                .map(|(_, data)| data)
                .filter(|data| data.len() == PAGE_SIZE),
        );
    }
    for (offset, data) in writes_of(disk, Role::Wal) {
        // One frame per write, or many.
        let frame_size = FRAME_HEADER_SIZE + PAGE_SIZE;
        let first = if offset == 0 { 32.min(data.len()) } else { 0 };
        let data = &data[first..];
        let at = usize::try_from((offset + u64::try_from(first).unwrap() - 32) % u64::try_from(frame_size).unwrap());
        let skip = if at.unwrap() == 0 { FRAME_HEADER_SIZE } else { 0 };
        for frame in data.chunks(frame_size) {
            images.extend(frame.get(skip..skip + PAGE_SIZE).map(Arc::from));
        }
    }
    images
}

/// FORMAT 5.3. The same pair may recur only with the same image, which was then copied.
#[test]
fn no_session_and_counter_seals_two_pages() {
    for mode in ["delete", "persist", "wal"] {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let connection = Opening::encrypted("/nonces/main.db", &key).connect().unwrap();
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = {mode}; PRAGMA wal_autocheckpoint = 20; PRAGMA cache_size = 10;"
            ))
            .unwrap();
        fill(&connection, 20);
        connection.execute_batch("VACUUM").unwrap();
        drop(connection);
        let mut seen: HashMap<Vec<u8>, Arc<[u8]>> = HashMap::new();
        let images = sealed_images(&disk);
        assert!(images.len() > 100, "{mode}: {} pages", images.len());
        for image in images {
            let trailer = &image[PAGE_SIZE - 48..];
            assert_ne!(trailer[4..20], [0; 16], "{mode}: a page without a session");
            assert_ne!(trailer[32..], [0; 16], "{mode}: a page without a tag");
            let pair = [&trailer[4..20], &trailer[28..32]].concat();
            if let Some(before) = seen.insert(pair, image.clone()) {
                assert!(before == image, "{mode}: a nonce was used twice");
            }
        }
    }
}

/// FORMAT 2 and 3: each write to the database file is a superblock at its offset, or whole pages at
/// theirs.
#[test]
fn the_database_file_takes_superblocks_and_whole_pages_only() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let connection = Opening::encrypted("/places/main.db", &key).connect().unwrap();
    fill(&connection, 10);
    connection
        .execute_batch("PRAGMA journal_mode = wal; PRAGMA secure_delete = on")
        .unwrap();
    fill_more(&connection, 11..30);
    connection.execute_batch("VACUUM").unwrap();
    for (offset, data) in writes_of(&disk, Role::Main) {
        let is_superblock = (offset == 0 || offset == 32768) && data.starts_with(b"Selenite\r\n\x1a\n");
        let page_size = u64::try_from(PAGE_SIZE).unwrap();
        let is_page = offset >= PREFIX_SIZE
            && (offset - PREFIX_SIZE).is_multiple_of(page_size)
            && data.len().is_multiple_of(PAGE_SIZE);
        assert!(is_superblock || is_page, "{} bytes at {offset}", data.len());
    }
}

fn fill_more(connection: &Connection, transactions: std::ops::Range<u64>) {
    for tx in transactions {
        Ledger::SMALL.commit(connection, &["main"], tx).unwrap();
    }
}

/// In rollback mode SQLite reads 16 bytes at offset 24 in every read transaction, to check whether
/// the cache is still valid: for this the trailer of page 1 is read and not the page, and the heads
/// of the superblocks.
#[test]
fn a_read_transaction_on_a_warm_cache_reads_no_page() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let connection = Opening::encrypted("/warm/main.db", &key).connect().unwrap();
    fill(&connection, 5);
    let read = || -> i64 {
        connection
            .query_row("SELECT tx FROM state", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(read(), 5);
    disk.watch();
    assert_eq!(read(), 5);
    let calls = disk.calls();
    let reads = of(&calls, Call::Read, Role::Main);
    let pages: Vec<_> = reads.iter().filter(|read| read.offset >= PREFIX_SIZE).collect();
    assert!(pages.len() == 1 && pages[0].size == 48, "{reads:?}");
    let heads: usize = reads
        .iter()
        .filter(|read| read.offset < PREFIX_SIZE)
        .map(|read| read.size)
        .sum();
    assert!(heads <= 128, "{reads:?}");
    assert_eq!(of(&calls, Call::Write, Role::Main), []);
}

#[test]
fn a_cold_scan_reads_no_page_twice() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/cold/main.db", &key);
    fill(&opening.connect().unwrap(), 5);
    let connection = opening.connect().unwrap();
    disk.watch();
    Ledger::SMALL.check(&connection, "main").unwrap();
    let mut seen = HashMap::new();
    for read in of(&disk.calls(), Call::Read, Role::Main) {
        let pages = u64::try_from(read.size / PAGE_SIZE).unwrap();
        for page in 0..pages {
            let offset = read.offset + page * u64::try_from(PAGE_SIZE).unwrap();
            if offset >= PREFIX_SIZE {
                *seen.entry(offset).or_insert(0) += 1;
            }
        }
    }
    let page_count: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    assert!(seen.len() <= usize::try_from(page_count).unwrap());
    let twice: Vec<_> = seen.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// No more calls than SQLite itself makes, and every sync that it requests.
#[test]
fn a_commit_to_the_wal_writes_no_more_often_than_in_clear() {
    let count = |opening: &Opening| {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let connection = opening.connect().unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = full")
            .unwrap();
        fill(&connection, 5);
        disk.watch();
        Ledger::SMALL.commit(&connection, &["main"], 6).unwrap();
        let calls = disk.calls();
        assert_eq!(of(&calls, Call::Write, Role::Main), []);
        let written: usize = of(&calls, Call::Write, Role::Wal).iter().map(|write| write.size).sum();
        (
            of(&calls, Call::Write, Role::Wal).len(),
            of(&calls, Call::Sync, Role::Wal).len(),
            written,
        )
    };
    let key = KeyFile::new(1);
    let sealed = count(&Opening::encrypted("/commit/main.db", &key));
    let clear = count(&Opening::plain("/commit/main.db"));
    assert!(sealed.0 <= clear.0, "{} writes instead of {}", sealed.0, clear.0);
    assert_eq!((sealed.1, clear.1), (1, 1));
    // 48 bytes less in every page: at most one page in 85 more.
    assert!(sealed.2 <= clear.2 + 2 * (FRAME_HEADER_SIZE + PAGE_SIZE));
}

/// FORMAT 5.5. A checkpoint writes each page once, with the seal that it has in the log.
#[test]
fn a_checkpoint_copies_what_is_sealed() {
    for mode in ["passive", "full", "restart", "truncate"] {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let connection = Opening::encrypted("/carried/main.db", &key).connect().unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0")
            .unwrap();
        fill(&connection, 10);
        let in_log = sealed_images(&disk);
        let before = writes_of(&disk, Role::Main).len();
        let busy: i64 = connection
            .query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(0))
            .unwrap();
        assert_eq!(busy, 0);
        let copied = writes_of(&disk, Role::Main).split_off(before);
        let pages: Vec<_> = copied.iter().filter(|(offset, _)| *offset >= PREFIX_SIZE).collect();
        assert!(pages.len() > 5, "{mode}: {} pages", pages.len());
        for (offset, data) in pages {
            assert!(in_log.contains(data), "{mode}: the page at {offset} was re-encrypted");
        }
    }
}
