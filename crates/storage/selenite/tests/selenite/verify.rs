//! Verification finds every change, and has no false positives.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::Connection;
use selenite::storage::Disk;
use selenite::verify::{Origin, PhysicalReport, physical};
use selenite::{Class, Database, Encrypt, Layout, Watch, encrypt};

use crate::support::{Collected, Fixture};

const NOTES: &str = "PRAGMA page_size = 1024; CREATE TABLE note (a, b);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO note SELECT i, hex(randomblob(200)) FROM n;";

fn sealed(fixture: &Fixture) -> std::path::PathBuf {
    let path = fixture.plain("app.db", NOTES);
    encrypt(&Disk, &path, &fixture.access(), &Encrypt::default(), &Watch::none()).unwrap();
    path
}

pub fn check(fixture: &Fixture, path: &Path) -> PhysicalReport {
    physical(&Disk, path, &fixture.access(), &Watch::none()).unwrap()
}

pub fn flip(path: &Path, offset: u64) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    byte[0] ^= 1;
    file.write_all_at(&byte, offset).unwrap();
}

fn place(page_no: u64) -> u64 {
    65536 + (page_no - 1) * 1024
}

#[test]
fn every_bad_page_is_named_and_no_other() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let good = check(&fixture, &path);
    assert!(good.is_good() && good.page_count > 1000, "{good:?}");
    flip(&path, place(1));
    flip(&path, place(500) + 1023);
    // A page that was moved, and one that is all zero.
    let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut image = vec![0; 1024];
    file.read_exact_at(&mut image, place(7)).unwrap();
    file.write_all_at(&image, place(8)).unwrap();
    file.write_all_at(&[0; 1024], place(1025)).unwrap();
    drop(file);
    let report = check(&fixture, &path);
    let bad: Vec<u32> = report.bad.iter().map(|bad| bad.page_no).collect();
    assert_eq!((bad, report.bad_count), (vec![1, 8, 500, 1025], 4));
}

#[test]
fn a_file_truncated_within_a_page_has_a_bad_last_page() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let size = fs::metadata(&path).unwrap().len();
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        // Cuts the whole tag: missing bytes are read as zeros, and a single one may have been zero.
        .set_len(size - 16)
        .unwrap();
    let report = check(&fixture, &path);
    assert_eq!(
        report.bad.iter().map(|bad| bad.page_no).collect::<Vec<_>>(),
        [report.page_count]
    );
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(65536)
        .unwrap();
    let error = physical(&Disk, &path, &fixture.access(), &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::NotEncrypted, "{error}");
}

#[test]
fn a_file_truncated_between_pages_lacks_pages_and_a_longer_one_does_not() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let page_count = check(&fixture, &path).page_count;
    let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    file.set_len(place(u64::from(page_count) - 1)).unwrap();
    drop(file);
    let report = check(&fixture, &path);
    assert_eq!((report.bad_count, report.bad[0].page_no), (1, page_count - 1));
    assert!(report.bad[0].why.contains(&page_count.to_string()), "{report:?}");
    // A file may be longer than its header says.
    let path = fixture.path("longer.db");
    drop(Database::create(&Disk, &path, &fixture.access(), &Layout::default()).unwrap());
    let database = Database::open(&Disk, &path, &fixture.access()).unwrap();
    let mut rows = Collected::default();
    database.run("CREATE TABLE t (a)", &mut rows).unwrap();
    drop(database);
    let short = fs::read(&path).unwrap();
    let database = Database::open(&Disk, &path, &fixture.access()).unwrap();
    database.run("CREATE TABLE u (a)", &mut rows).unwrap();
    drop(database);
    let mut long = fs::read(&path).unwrap();
    // The former page 1, with a smaller page count.
    long[65536..65536 + 4096].copy_from_slice(&short[65536..65536 + 4096]);
    fs::write(&path, long).unwrap();
    assert!(check(&fixture, &path).is_good());
}

#[test]
fn verify_reports_a_wrong_key_and_a_tampered_superblock_before_any_page() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let error = physical(&Disk, &path, &fixture.access_by("other-key"), &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::Key, "{error}");
    // If one superblock is torn the other is used; if both are, it fails.
    flip(&path, 300);
    assert!(check(&fixture, &path).is_good());
    flip(&path, 32768 + 300);
    let error = physical(&Disk, &path, &fixture.access(), &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::Data, "{error}");
}

/// Copies a database with its log while it is open: closing it would remove the log.
pub fn with_log(fixture: &Fixture, mode: &str, sql: &str) -> std::path::PathBuf {
    let path = sealed(fixture);
    let database = Database::open(&Disk, &path, &fixture.access()).unwrap();
    let mut rows = Collected::default();
    database
        .run(&format!("PRAGMA journal_mode = {mode}; {sql}"), &mut rows)
        .unwrap();
    let copy = fixture.path("copy.db");
    fs::copy(&path, &copy).unwrap();
    for log in ["-wal", "-journal"] {
        let from = fixture.path(&format!("app.db{log}"));
        if from.exists() {
            fs::copy(from, fixture.path(&format!("copy.db{log}"))).unwrap();
        }
    }
    copy
}

pub const FRAME: u64 = 24 + 1024;

#[test]
fn frames_of_a_log_are_counted_and_bad_ones_named() {
    let fixture = Fixture::new();
    let copy = with_log(
        &fixture,
        "WAL",
        "UPDATE note SET b = 'one' WHERE a < 20; UPDATE note SET b = 'two' WHERE a > 2900; BEGIN; UPDATE note SET b = 0",
    );
    let report = check(&fixture, &copy);
    let wal = report.wal.unwrap();
    assert!(report.is_good() && wal.committed_count > 10, "{report:?}");
    let log = fixture.path("copy.db-wal");
    // Among the committed frames: a loss. In the last committed frame: a log that ends early, as
    // after a crash.
    flip(&log, 32 + 3 * FRAME + 100);
    let report = check(&fixture, &copy);
    assert_eq!(
        (report.bad.len(), report.bad[0].origin, report.bad[0].index),
        (1, Origin::Wal, Some(3))
    );
    flip(&log, 32 + 3 * FRAME + 100);
    flip(&log, 32 + (wal.committed_count - 1) * FRAME + 100);
    let report = check(&fixture, &copy);
    assert!(
        report.is_good() && report.wal.unwrap().committed_count < wal.committed_count,
        "{report:?}"
    );
}

#[test]
fn a_frame_that_was_moved_is_bad() {
    let fixture = Fixture::new();
    let copy = with_log(
        &fixture,
        "WAL",
        "UPDATE note SET b = 'one' WHERE a < 20; UPDATE note SET b = 'two' WHERE a > 2900;",
    );
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(fixture.path("copy.db-wal"))
        .unwrap();
    let (mut first, mut second) = (vec![0; 1048], vec![0; 1048]);
    file.read_exact_at(&mut first, 32 + FRAME).unwrap();
    file.read_exact_at(&mut second, 32 + 2 * FRAME).unwrap();
    // Only the pages are swapped: their frame headers are bound to their positions.
    file.write_all_at(&second[24..], 32 + FRAME + 24).unwrap();
    file.write_all_at(&first[24..], 32 + 2 * FRAME + 24).unwrap();
    drop(file);
    let report = check(&fixture, &copy);
    assert_eq!((report.bad.len(), report.bad[0].index), (1, Some(1)), "{report:?}");
}

#[test]
fn records_of_a_hot_journal_are_counted_and_bad_ones_named() {
    let fixture = Fixture::new();
    let copy = with_log(
        &fixture,
        "DELETE",
        "PRAGMA cache_size = 5; BEGIN; UPDATE note SET b = 'changed'",
    );
    let report = check(&fixture, &copy);
    let journal = report.journal.unwrap();
    assert!(report.is_good() && journal.record_count > 10, "{report:?}");
    flip(&fixture.path("copy.db-journal"), 512 + 4 + 50);
    let report = check(&fixture, &copy);
    assert_eq!(
        (report.bad.len(), report.bad[0].origin, report.bad[0].index),
        (1, Origin::Journal, Some(0))
    );
}

#[test]
fn a_file_that_this_process_has_open_is_not_opened_beside_sqlite() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let _open = Connection::open(&path).unwrap().execute_batch("SELECT 1");
    let database = Database::open(&Disk, &path, &fixture.access()).unwrap();
    database
        .run("SELECT count(*) FROM note", &mut Collected::default())
        .unwrap();
    let error = physical(&Disk, &path, &fixture.access(), &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::Busy, "{error}");
}
