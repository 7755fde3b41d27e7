//! A truncated file is detected, whatever its log or journal has.

use std::fs::{self, OpenOptions};
use std::path::Path;

use selenite::Database;
use selenite::storage::Disk;
use selenite::verify::{Origin, PhysicalReport};

use crate::support::{Collected, Fixture};
use crate::verify::{check, with_log};

fn cut(path: &Path, page_count: u32) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(65536 + u64::from(page_count) * 1024).unwrap();
}

fn missing(report: &PhysicalReport) -> Vec<u32> {
    let of_file = report.bad.iter().filter(|bad| bad.origin == Origin::Database);
    of_file
        .filter(|bad| bad.why.contains("missing"))
        .map(|bad| bad.page_no)
        .collect()
}

#[test]
fn a_log_without_frames_excuses_no_missing_page() {
    let fixture = Fixture::new();
    let copy = with_log(&fixture, "DELETE", "SELECT 1");
    let count = check(&fixture, &copy).page_count;
    cut(&copy, count - 7);
    for beside in [vec![0], vec![0x5a; 5000]] {
        fs::write(fixture.path("copy.db-wal"), beside).unwrap();
        let report = check(&fixture, &copy);
        assert_eq!((missing(&report), report.bad_count), (vec![count - 6], 1), "{report:?}");
    }
}

/// Its frames are of other pages, all of which are or were in the file.
#[test]
fn a_log_excuses_only_the_pages_that_it_holds() {
    let fixture = Fixture::new();
    let sql = "UPDATE note SET b = 'one' WHERE a < 20; PRAGMA wal_checkpoint(PASSIVE)";
    let copy = with_log(&fixture, "WAL", sql);
    let report = check(&fixture, &copy);
    assert!(
        report.is_good() && report.wal.unwrap().committed_count > 5,
        "{report:?}"
    );
    cut(&copy, report.page_count - 1);
    let found = check(&fixture, &copy);
    assert_eq!(
        (missing(&found), found.bad_count),
        (vec![report.page_count], 1),
        "{found:?}"
    );
}

/// The appended pages are in the log, and not yet in the file. The last page before them is only
/// in the file.
#[test]
fn a_file_may_lack_the_pages_that_its_log_holds() {
    let fixture = Fixture::new();
    let sql = "INSERT INTO note SELECT a, hex(zeroblob(200)) FROM note WHERE a <= 500";
    let copy = with_log(&fixture, "WAL", sql);
    let report = check(&fixture, &copy);
    assert!(report.is_good(), "{report:?}");
    cut(&copy, report.page_count - 30);
    let report = check(&fixture, &copy);
    let first = missing(&report);
    assert_eq!((first.len(), report.bad_count), (1, 1), "{report:?}");
    assert_eq!(first[0], report.page_count + 1);
}

/// With an index of the log, readers read copied pages from the file (copied-frames-stay-copied in
/// `backfill.rs`).
#[test]
fn a_page_that_was_copied_from_the_log_has_to_be_in_the_file_while_the_index_exists() {
    let fixture = Fixture::new();
    let sql = "INSERT INTO note SELECT a, hex(zeroblob(200)) FROM note WHERE a <= 500; PRAGMA wal_checkpoint(PASSIVE)";
    let copy = with_log(&fixture, "WAL", sql);
    let count = check(&fixture, &copy).page_count;
    cut(&copy, count - 3);
    let report = check(&fixture, &copy);
    assert!(report.is_good(), "all of the log is copied again: {report:?}");
    // The index of the database that is still open, with the same log.
    let path = fixture.path("app.db");
    let database = Database::open(&Disk, &path, &fixture.access()).unwrap();
    database
        .run(&sql.replace("500", "400"), &mut Collected::default())
        .unwrap();
    for companion in ["", "-wal", "-shm"] {
        fs::copy(
            fixture.path(&format!("app.db{companion}")),
            fixture.path(&format!("copy.db{companion}")),
        )
        .unwrap();
    }
    let count = check(&fixture, &copy).page_count;
    cut(&copy, count - 3);
    let report = check(&fixture, &copy);
    assert_eq!(missing(&report), [count - 2], "{report:?}");
}

#[test]
fn pages_that_a_rollback_puts_back_may_be_missing_and_no_others() {
    let fixture = Fixture::new();
    let sql = "PRAGMA cache_size = 5; BEGIN; UPDATE note SET b = 'changed' WHERE a > 2000; UPDATE note SET b = 0 WHERE a < 500";
    let copy = with_log(&fixture, "DELETE", sql);
    let report = check(&fixture, &copy);
    assert!(
        report.is_good() && report.journal.unwrap().record_count > 10,
        "{report:?}"
    );
    cut(&copy, report.page_count - 5);
    let found = check(&fixture, &copy);
    assert!(found.is_good(), "{found:?}");
    cut(&copy, 5);
    let report = check(&fixture, &copy);
    // The first that the journal does not have either.
    let first = missing(&report);
    assert!(first.len() == 1 && first[0] > 6 && report.bad_count == 1, "{report:?}");
}
