//! Damage anywhere in a write-ahead log is found if commits follow, and the usual remains after
//! its end are no fault.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use selenite::storage::Disk;
use selenite::verify::{Origin, Verify, verify};
use selenite::{Database, Watch};

use crate::support::{Collected, Fixture, query};
use crate::verify::{FRAME, check, flip, with_log};

const TWO: &str = "UPDATE note SET b = 'one' WHERE a < 20; UPDATE note SET b = 'two' WHERE a > 2900;";

fn wipe(path: &Path, offset: u64, size: usize) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&vec![0; size], offset).unwrap();
}

#[test]
fn a_frame_header_with_one_changed_bit_is_bad_wherever_that_is() {
    let fixture = Fixture::new();
    let copy = with_log(&fixture, "WAL", TWO);
    let log = fixture.path("copy.db-wal");
    for byte in 0..24 {
        let place = 32 + 3 * FRAME + byte;
        flip(&log, place);
        let report = check(&fixture, &copy);
        let found: Vec<_> = report
            .bad
            .iter()
            .map(|bad| (bad.origin, bad.index, bad.page_no))
            .collect();
        assert_eq!(found, [(Origin::Wal, Some(3), 0)], "byte {byte}");
        flip(&log, place);
    }
    assert!(check(&fixture, &copy).is_good());
}

#[test]
fn a_bad_frame_before_a_bad_header_is_still_bad() {
    let fixture = Fixture::new();
    let copy = with_log(&fixture, "WAL", TWO);
    let log = fixture.path("copy.db-wal");
    flip(&log, 32 + 3 * FRAME + 100);
    flip(&log, 32 + 4 * FRAME + 8);
    let report = check(&fixture, &copy);
    assert_eq!((report.bad_count, report.bad[0].index), (1, Some(3)), "{report:?}");
}

/// As when a disk loses a sector.
#[test]
fn a_log_that_lost_4096_bytes_anywhere_before_its_last_commit_is_bad() {
    let fixture = Fixture::new();
    let copy = with_log(&fixture, "WAL", TWO);
    let log = fixture.path("copy.db-wal");
    let whole = fs::read(&log).unwrap();
    let committed = check(&fixture, &copy).wal.unwrap().committed_count;
    let last = 32 + (committed - 1) * FRAME;
    for offset in (0..last - 4096).step_by(611) {
        wipe(&log, offset, 4096);
        let report = check(&fixture, &copy);
        assert!(!report.is_good(), "{offset}: {report:?}");
        fs::write(&log, &whole).unwrap();
    }
    assert!(check(&fixture, &copy).is_good());
}

#[test]
fn a_damaged_header_of_a_log_with_valid_frames_is_bad() {
    let fixture = Fixture::new();
    let copy = with_log(&fixture, "WAL", TWO);
    let log = fixture.path("copy.db-wal");
    for byte in 0..32 {
        flip(&log, byte);
        let report = check(&fixture, &copy);
        let found: Vec<_> = report.bad.iter().map(|bad| (bad.origin, bad.index)).collect();
        assert_eq!(found, [(Origin::Wal, None)], "byte {byte}");
        flip(&log, byte);
    }
    // Without a commit in the log, nothing is lost.
    fs::write(&log, [0x5a; 3000]).unwrap();
    assert!(check(&fixture, &copy).is_good());
}

/// Frames of the log before this one remain after its end until they are overwritten.
#[test]
fn frames_of_an_older_log_behind_the_end_are_no_fault() {
    let fixture = Fixture::new();
    let sql = format!("{TWO} PRAGMA wal_checkpoint(RESTART); UPDATE note SET b = 'new' WHERE a = 1;");
    let copy = with_log(&fixture, "WAL", &sql);
    let report = check(&fixture, &copy);
    let wal = report.wal.unwrap();
    assert!(report.is_good(), "{report:?}");
    assert!(wal.committed_count < 5 && wal.size > 32 + 10 * FRAME, "{wal:?}");
    // Nor is a damaged frame there a fault.
    flip(&fixture.path("copy.db-wal"), 32 + 8 * FRAME + 8);
    assert!(check(&fixture, &copy).is_good());
}

#[test]
fn frames_of_a_transaction_that_was_rolled_back_are_no_fault() {
    let fixture = Fixture::new();
    let sql =
        "PRAGMA cache_size = 5; BEGIN; UPDATE note SET b = 'open'; ROLLBACK; UPDATE note SET b = 'new' WHERE a = 1;";
    let copy = with_log(&fixture, "WAL", sql);
    let report = check(&fixture, &copy);
    let wal = report.wal.unwrap();
    assert!(report.is_good() && wal.committed_count < 10, "{report:?}");
    assert!(wal.size > 32 + 100 * FRAME, "{wal:?}");
}

/// A power failure loses a frame, recovery ends the log there, and writers continue from there
/// with the same salts: the frames after them were committed once, but SQLite has rejected them
/// since.
#[test]
fn commits_that_recovery_abandoned_are_no_fault_after_later_commits() {
    let fixture = Fixture::new();
    let copy = with_log(
        &fixture,
        "WAL",
        "UPDATE note SET b = 'one' WHERE a < 5; UPDATE note SET b = 'two' WHERE a BETWEEN 500 AND 600;
        UPDATE note SET b = 'three' WHERE a > 2900;",
    );
    let log = fixture.path("copy.db-wal");
    let old = fs::read(&log).unwrap();
    wipe(&log, 32 + 8 * FRAME, 1000);
    assert!(!check(&fixture, &copy).is_good());
    let database = Database::open(&Disk, &copy, &fixture.access()).unwrap();
    database
        .run(
            "UPDATE note SET b = 'later' WHERE a BETWEEN 1000 AND 1040",
            &mut Collected::default(),
        )
        .unwrap();
    let new = fs::read(&log).unwrap();
    assert_eq!((&new[..32], new.len()), (&old[..32], old.len()));
    let other = fixture.path("other.db");
    fs::copy(&copy, &other).unwrap();
    fs::write(fixture.path("other.db-wal"), new).unwrap();
    drop(database);
    let report = check(&fixture, &other);
    assert!(
        report.is_good() && report.wal.unwrap().committed_count > 1,
        "{report:?}"
    );
}

#[test]
fn verify_leaves_the_log_as_it_was() {
    let fixture = Fixture::new();
    let copy = with_log(&fixture, "WAL", TWO);
    let (log, whole) = (fixture.path("copy.db-wal"), fs::read(&copy).unwrap());
    let frames = fs::read(&log).unwrap();
    let all = |path: &Path| verify(&Disk, path, &fixture.access(), &Verify::default(), &Watch::none()).unwrap();
    let report = all(&copy);
    assert_eq!(report.faults, Some(Vec::new()));
    assert_eq!(fs::read(&log).unwrap(), frames);
    assert_eq!(fs::read(&copy).unwrap(), whole);
    // SQLite can use the log, and removes the files that it creates.
    let rows = query(
        &copy,
        &fixture.access(),
        "SELECT count(*) FROM note WHERE b IN ('one', 'two')",
    )
    .unwrap();
    assert_eq!(rows[0][0], selenite::Cell::Integer(119));
    let names = fixture.names();
    assert!(!log.exists(), "{names:?}");
    assert_eq!(all(&copy).faults, Some(Vec::new()));
    assert_eq!(fixture.names(), names);
}

/// For an anchor SQLite copies the log into the file, as far as it can read it.
#[test]
fn no_anchor_is_written_of_a_log_that_is_damaged_and_the_log_stays() {
    let fixture = Fixture::new();
    let copy = with_log(&fixture, "WAL", TWO);
    let (log, target) = (fixture.path("copy.db-wal"), fixture.path("anchor"));
    flip(&log, 32 + 3 * FRAME + 8);
    let frames = fs::read(&log).unwrap();
    let how = Verify {
        write_anchor: Some(&target),
        ..Verify::default()
    };
    let report = verify(&Disk, &copy, &fixture.access(), &how, &Watch::none()).unwrap();
    assert_eq!((report.physical.bad_count, report.physical.bad[0].index), (1, Some(3)));
    assert!(report.written.is_none() && !target.exists());
    assert_eq!(fs::read(&log).unwrap(), frames);
    flip(&log, 32 + 3 * FRAME + 8);
    let report = verify(&Disk, &copy, &fixture.access(), &how, &Watch::none()).unwrap();
    assert!(
        report.physical.is_good() && report.written.is_some() && target.exists(),
        "{report:?}"
    );
}
