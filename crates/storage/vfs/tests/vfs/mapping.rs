//! `PRAGMA mmap_size`: the VFS below maps the file, and Selenite's reads copy from the mapping
//! (docs/decisions/0020-mapped-reads.md). On the system's own files, of which the simulated disk has no mapping.
//! `stale_pages` has connections with and without a mapping, in several processes.

use rusqlite::{Connection, OpenFlags};
use selenite_testing::{KeyFile, own_process};

const ROWS: i64 = 600;

struct Mapped {
    folder: tempfile::TempDir,
    key: KeyFile,
}

impl Mapped {
    fn new(mode: &str) -> Self {
        super::stale_pages::install();
        let mapped = Self {
            folder: tempfile::tempdir().unwrap(),
            key: KeyFile::new(1),
        };
        let connection = mapped.connect(0);
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = {mode}; PRAGMA synchronous = off;
                 CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
                 INSERT INTO t SELECT i, 0, zeroblob(700) FROM n"
            ))
            .unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(truncate)").unwrap();
        mapped
    }

    fn path(&self) -> String {
        self.folder.path().join("mapped.db").to_string_lossy().into_owned()
    }

    /// A connection with a cache that holds almost nothing, without the pool.
    fn connect(&self, limit: u64) -> Connection {
        let uri = format!(
            "file:{}?vfs=selenite&selenite_identity={}&page_size=1024&pool_size=0",
            self.path(),
            self.key.spec()
        );
        let connection = Connection::open_with_flags(uri, OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI).unwrap();
        connection
            .execute_batch(&format!("PRAGMA cache_size = 5; PRAGMA mmap_size = {limit}"))
            .unwrap();
        connection
    }

    /// The bytes of the mappings of the file in this process.
    fn mapped_size(&self) -> u64 {
        let text = std::fs::read_to_string("/proc/self/maps").unwrap();
        let path = self.path();
        let ranges = text.lines().filter(|line| line.ends_with(&path));
        ranges.map(size_of_range).sum()
    }

    fn file_size(&self) -> u64 {
        std::fs::metadata(self.path()).unwrap().len()
    }
}

fn size_of_range(line: &str) -> u64 {
    let (first, last) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
    let number = |digits| u64::from_str_radix(digits, 16).unwrap();
    number(last) - number(first)
}

/// The sum of the versions, read row by row in an order that no read-ahead helps.
fn sum(connection: &Connection) -> i64 {
    let mut select = connection.prepare("SELECT version, body FROM t WHERE id = ?1").unwrap();
    let version = |id: i64| -> i64 {
        select
            .query_row([id], |row| {
                assert_eq!(row.get::<_, Vec<u8>>(1).unwrap().len(), 700);
                row.get(0)
            })
            .unwrap()
    };
    (0..ROWS).map(|step| step * 211 % ROWS + 1).map(version).sum()
}

/// System calls of this process that have read.
fn read_calls() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("syscr: "));
    line.unwrap().parse().unwrap()
}

#[test]
fn pages_are_copied_from_the_mapping_without_a_call_each() {
    own_process!();
    for mode in ["wal", "delete"] {
        let mapped = Mapped::new(mode);
        let calls = |limit: u64| {
            let connection = mapped.connect(limit);
            connection.execute_batch("BEGIN").unwrap();
            assert_eq!(sum(&connection), 0);
            let before = read_calls();
            assert_eq!(sum(&connection), 0);
            let calls = read_calls() - before;
            (calls, mapped.mapped_size())
        };
        let (without, nothing) = calls(0);
        assert!(
            without >= 500 && nothing == 0,
            "{mode}: {without} calls, {nothing} bytes"
        );
        let (with, all) = calls(1 << 30);
        assert!(
            with <= 5 && all >= mapped.file_size(),
            "{mode}: {with} calls, {all} bytes"
        );
        let (some, part) = calls(mapped.file_size() / 2);
        assert!(some > 100 && some < without - 100, "{mode}: {some} of {without} calls");
        assert!(part > 0 && part < all, "{mode}: {part} bytes");
        assert_eq!(mapped.mapped_size(), 0, "closed");
    }
}

/// "The database file is unmapped when another process may have truncated it" (`sqlite3PagerSharedLock` in pager.c): a
/// page beyond the end of a mapped file would end the process by SIGBUS.
#[test]
fn a_file_that_others_shrink_and_extend_is_mapped_again() {
    own_process!();
    for mode in ["wal", "delete", "persist"] {
        let mapped = Mapped::new(mode);
        let (reader, writer) = (mapped.connect(1 << 30), mapped.connect(0));
        let mut expected = 0;
        for round in 0..6 {
            assert_eq!(sum(&reader), expected, "{mode}, round {round}");
            let before = mapped.file_size();
            writer
                .execute_batch(&format!(
                    "UPDATE t SET version = version + 1, body = zeroblob(700) WHERE id % 6 = {round}"
                ))
                .unwrap();
            expected += ROWS / 6;
            if round % 2 == 0 {
                writer
                    .execute_batch("CREATE TABLE more AS SELECT * FROM t; PRAGMA wal_checkpoint(truncate)")
                    .unwrap();
                assert!(mapped.file_size() > before);
            } else {
                writer
                    .execute_batch("DROP TABLE more; VACUUM; PRAGMA wal_checkpoint(truncate)")
                    .unwrap();
                assert!(mapped.file_size() < before);
            }
        }
        assert_eq!(sum(&reader), expected);
        assert!(mapped.mapped_size() <= mapped.file_size() + 4096, "{mode}");
        let check: String = reader
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(check, "ok");
    }
}

/// A reader whose snapshot is smaller than the file: a checkpoint may shorten the file below it while
/// it scans, and pages read ahead must be none of those that vanish.
#[test]
fn a_scan_reads_nothing_ahead_that_a_checkpoint_may_cut_off() {
    own_process!();
    let mapped = Mapped::new("wal");
    let (reader, writer) = (mapped.connect(1 << 30), mapped.connect(0));
    // DROP TABLE then shortens the database at once, and all pages of `t` are in the file.
    writer
        .execute_batch(
            "PRAGMA auto_vacuum = full; VACUUM; PRAGMA wal_autocheckpoint = 0; CREATE TABLE more AS SELECT * FROM t;
             PRAGMA wal_checkpoint(truncate); DROP TABLE more",
        )
        .unwrap();
    let before = mapped.file_size();
    reader.execute_batch("BEGIN").unwrap();
    let mut select = reader.prepare("SELECT body FROM t ORDER BY id").unwrap();
    let mut rows = select.query([]).unwrap();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        assert_eq!(row.get::<_, Vec<u8>>(0).unwrap().len(), 700);
        count += 1;
        if count == 50 {
            writer.execute_batch("PRAGMA wal_checkpoint(passive)").unwrap();
            assert!(mapped.file_size() < before - 100_000, "the file became shorter");
        }
    }
    assert_eq!(count, ROWS);
}

/// The limit of the mapping may change while pages are read, and a transaction of one's own is seen through it.
#[test]
fn ones_own_writes_are_read_through_a_mapping() {
    own_process!();
    for mode in ["wal", "delete"] {
        let mapped = Mapped::new(mode);
        let connection = mapped.connect(1 << 30);
        for round in 1..5 {
            assert_eq!(sum(&connection), (round - 1) * ROWS);
            connection
                .execute_batch("BEGIN; UPDATE t SET version = version + 1")
                .unwrap();
            assert_eq!(sum(&connection), round * ROWS);
            connection
                .execute_batch("SAVEPOINT s; DELETE FROM t WHERE id > 50; ROLLBACK TO s; COMMIT")
                .unwrap();
            let limit = round % 2 * 300_000;
            connection
                .execute_batch(&format!("PRAGMA mmap_size = {limit}"))
                .unwrap();
            let said: i64 = connection.query_row("PRAGMA mmap_size", [], |row| row.get(0)).unwrap();
            assert_eq!(said, limit);
        }
        connection.execute_batch("PRAGMA wal_checkpoint(truncate)").unwrap();
        assert_eq!(sum(&connection), 4 * ROWS);
    }
}
