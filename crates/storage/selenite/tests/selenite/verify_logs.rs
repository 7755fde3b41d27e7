//! A page that a log is about to rewrite is pending; every other page that does not open is bad.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use selenite::storage::Disk;
use selenite::verify::{PhysicalReport, physical};
use selenite::{Database, Layout, PageSize, Watch};

use crate::support::{Collected, Fixture, query};

const NOTES: &str = "CREATE TABLE note (id INTEGER PRIMARY KEY, text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO note SELECT i, hex(randomblob(100)) FROM n;";

/// A copy of the database and the files beside it, during `sql`.
fn copy_within(fixture: &Fixture, mode: &str, sql: &str) -> PathBuf {
    let path = fixture.path("app.db");
    let database = Database::create(&Disk, &path, &fixture.access(), &Layout::default()).unwrap();
    let sql = format!("PRAGMA journal_mode = {mode}; PRAGMA wal_autocheckpoint = 0; {NOTES} {sql}");
    database.run(&sql, &mut Collected::default()).unwrap();
    let copy = fixture.path("copy.db");
    for companion in ["", "-wal", "-shm", "-journal"] {
        let from = fixture.path(&format!("app.db{companion}"));
        if from.exists() {
            fs::copy(from, fixture.path(&format!("copy.db{companion}"))).unwrap();
        }
    }
    copy
}

fn tear(path: &Path, page_no: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[0x5a; 512], 65536 + (page_no - 1) * 4096).unwrap();
}

fn check(fixture: &Fixture, path: &Path) -> PhysicalReport {
    physical(&Disk, path, &fixture.access(), &Watch::none()).unwrap()
}

fn bad_pages(report: &PhysicalReport) -> Vec<u32> {
    report.bad.iter().map(|bad| bad.page_no).collect()
}

/// A journal followed by the name of a super-journal, as SQLite writes it (writeSuperJournal in
/// pager.c): the number of the lock page, the name, its size, its sum, the magic.
pub fn with_super_journal(journal: &[u8], name: &[u8]) -> Vec<u8> {
    let sum: u32 = name.iter().map(|&byte| u32::from(byte)).sum();
    let size = u32::try_from(name.len()).unwrap();
    let mut bytes = journal.to_vec();
    bytes.extend(0x4000_0000_u32.to_be_bytes());
    bytes.extend(name);
    bytes.extend(size.to_be_bytes());
    bytes.extend(sum.to_be_bytes());
    bytes.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    bytes
}

/// As a power failure during a checkpoint leaves it.
#[test]
fn a_page_torn_by_a_checkpoint_is_pending_while_the_log_will_rewrite_it() {
    let fixture = Fixture::new();
    let sql = "PRAGMA wal_checkpoint(TRUNCATE); UPDATE note SET text = 'x' WHERE id < 30";
    let copy = copy_within(&fixture, "WAL", sql);
    let report = check(&fixture, &copy);
    assert!(report.is_good() && report.pending.is_empty(), "{report:?}");
    // Row 1 is on the table's first leaf, page 3; the rows of the last page were not changed.
    let last = report.page_count;
    tear(&copy, 3);
    let report = check(&fixture, &copy);
    assert_eq!((bad_pages(&report), &report.pending), (vec![], &vec![3]), "{report:?}");
    tear(&copy, last.into());
    let report = check(&fixture, &copy);
    assert_eq!(
        (bad_pages(&report), &report.pending),
        (vec![last], &vec![3]),
        "{report:?}"
    );
    // SQLite reads the page from the log, as reported.
    let rows = query(&copy, &fixture.access(), "SELECT text FROM note WHERE id = 1").unwrap();
    assert_eq!(rows[0][0], selenite::Cell::Text("x".into()));
}

/// A page that went bad after it was copied is not rewritten while the index exists.
#[test]
fn a_copied_page_is_bad_although_the_log_still_has_it() {
    let fixture = Fixture::new();
    let sql = "UPDATE note SET text = 'x' WHERE id < 30; PRAGMA wal_checkpoint(PASSIVE)";
    let copy = copy_within(&fixture, "WAL", sql);
    tear(&copy, 3);
    let report = check(&fixture, &copy);
    assert_eq!((bad_pages(&report), &report.pending), (vec![3], &vec![]), "{report:?}");
    // Without the index all of the log is copied again.
    fs::remove_file(fixture.path("copy.db-shm")).unwrap();
    let report = check(&fixture, &copy);
    assert_eq!((bad_pages(&report), &report.pending), (vec![], &vec![3]), "{report:?}");
}

#[test]
fn a_page_torn_by_a_commit_is_pending_while_the_journal_will_restore_it() {
    let fixture = Fixture::new();
    let sql = "PRAGMA cache_size = 2; BEGIN; UPDATE note SET text = 'x' WHERE id < 300";
    let copy = copy_within(&fixture, "DELETE", sql);
    let report = check(&fixture, &copy);
    assert!(
        report.is_good() && report.journal.unwrap().record_count > 2,
        "{report:?}"
    );
    tear(&copy, 3);
    let report = check(&fixture, &copy);
    assert_eq!((bad_pages(&report), &report.pending), (vec![], &vec![3]), "{report:?}");
    // A journal that names a super-journal may be of a committed transaction; a torn name is
    // ignored.
    let journal = fixture.path("copy.db-journal");
    let hot = fs::read(&journal).unwrap();
    let name = fixture.path("copy.db-mj1").into_os_string().into_encoded_bytes();
    fs::write(&journal, with_super_journal(&hot, &name)).unwrap();
    let report = check(&fixture, &copy);
    assert_eq!((bad_pages(&report), &report.pending), (vec![3], &vec![]), "{report:?}");
    let mut torn = with_super_journal(&hot, &name);
    let within_name = torn.len() - 17;
    torn[within_name] ^= 1;
    fs::write(&journal, torn).unwrap();
    let report = check(&fixture, &copy);
    assert_eq!((bad_pages(&report), &report.pending), (vec![], &vec![3]), "{report:?}");
    fs::remove_file(journal).unwrap();
    let report = check(&fixture, &copy);
    assert_eq!((bad_pages(&report), &report.pending), (vec![3], &vec![]), "{report:?}");
}

/// More than are listed: pending pages do not count as bad, however many there are.
#[test]
fn pages_beyond_the_listed_ones_are_counted() {
    let fixture = Fixture::new();
    let sql = "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
        CREATE TABLE note (id INTEGER PRIMARY KEY, text); PRAGMA wal_checkpoint(TRUNCATE);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500)
        INSERT INTO note SELECT i, zeroblob(900) FROM n;";
    let path = fixture.path("app.db");
    let layout = Layout {
        page_size: PageSize::MIN,
        ..Layout::default()
    };
    let database = Database::create(&Disk, &path, &fixture.access(), &layout).unwrap();
    database.run(sql, &mut Collected::default()).unwrap();
    let copy = fixture.path("copy.db");
    fs::copy(&path, &copy).unwrap();
    fs::copy(fixture.path("app.db-wal"), fixture.path("copy.db-wal")).unwrap();
    drop(database);
    // As an interrupted checkpoint leaves it: the file has its size, but no content yet.
    let size = fs::metadata(&path).unwrap().len();
    OpenOptions::new()
        .write(true)
        .open(&copy)
        .unwrap()
        .set_len(size)
        .unwrap();
    let report = check(&fixture, &copy);
    assert_eq!((report.bad_count, &report.bad), (0, &vec![]), "{report:?}");
    assert!(report.pending.len() > 10_400, "{}", report.pending.len());
    fs::remove_file(fixture.path("copy.db-wal")).unwrap();
    let found = check(&fixture, &copy);
    assert_eq!((found.bad.len(), found.pending.len()), (10_000, 0));
    assert_eq!(found.bad_count, u64::try_from(report.pending.len()).unwrap());
}

/// FORMAT 6.4 number 2: one frame of an unknown epoch may be torn; two are of a later epoch.
#[test]
fn two_frames_of_an_unknown_epoch_at_the_end_of_a_log_are_bad_and_one_ends_it() {
    const FRAME: usize = 24 + 4096;
    let fixture = Fixture::new();
    let copy = copy_within(&fixture, "WAL", "UPDATE note SET text = 'x' WHERE id < 30");
    let wal = fixture.path("copy.db-wal");
    let whole = fs::read(&wal).unwrap();
    let count = (whole.len() - 32) / FRAME;
    let of_epoch = |frames: &[usize], epoch: u32| {
        let mut bytes = whole.clone();
        for frame in frames {
            let trailer = 32 + (frame + 1) * FRAME - 48;
            bytes[trailer..trailer + 4].copy_from_slice(&epoch.to_be_bytes());
        }
        fs::write(&wal, bytes).unwrap();
        let _ = fs::remove_file(fixture.path("copy.db-shm"));
        check(&fixture, &copy)
    };
    let count_rows = || query(&copy, &fixture.access(), "SELECT count(*) FROM note");
    let one = of_epoch(&[count - 1], 9);
    assert!(one.is_good(), "{one:?}");
    assert_eq!(
        one.wal.unwrap().committed_count + one.wal.unwrap().uncommitted_count,
        count as u64 - 1
    );
    let two = of_epoch(&[count - 2, count - 1], 9);
    assert!(!two.is_good(), "{two:?}");
    assert_eq!(two.bad[0].index, Some(count as u64 - 2), "{two:?}");
    assert!(count_rows().is_err());
    // Below the highest epoch: the process that dropped that epoch left no such frame in the log.
    let known = of_epoch(&[count - 2, count - 1], 0);
    assert!(known.is_good(), "{known:?}");
    assert!(count_rows().is_ok());
}
