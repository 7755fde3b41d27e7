//! The verdicts of an anchor: same, changed and older. Ordinary use is never older.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use selenite::anchor::{Comparison, Verdict};
use selenite::storage::Disk;
use selenite::verify::{Origin, Report, Verify, verify};
use selenite::{Access, Database, EngineError, Layout, PageSize, Watch, keys};

use crate::other_process::Writer;
use crate::support::{Collected, Fixture};

const PAGE: u64 = 1024;

const NOTES: &str = "CREATE TABLE note (id INTEGER PRIMARY KEY, text);
    CREATE INDEX note_by_text ON note (text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO note SELECT i, hex(randomblob(100)) FROM n;";

/// A database with pages of 1 KiB, in `mode`.
pub fn database(fixture: &Fixture, name: &str, mode: &str) -> PathBuf {
    let path = fixture.path(name);
    let layout = Layout {
        page_size: PageSize::try_from(1024).unwrap(),
        ..Layout::default()
    };
    drop(Database::create(&Disk, &path, &fixture.access(), &layout).unwrap());
    run(
        &path,
        &fixture.access(),
        &format!("PRAGMA journal_mode = {mode}; {NOTES}"),
    );
    path
}

pub fn run(path: &Path, access: &Access, sql: &str) {
    let database = Database::open(&Disk, path, access).unwrap();
    database.run(sql, &mut Collected::default()).unwrap();
}

pub fn with(fixture: &Fixture, path: &Path, how: &Verify<'_>) -> Result<Report, EngineError> {
    verify(&Disk, path, &fixture.access(), how, &Watch::none())
}

pub fn write(fixture: &Fixture, path: &Path) -> PathBuf {
    let anchor = fixture.path("anchor.txt");
    let how = Verify {
        physical_only: true,
        anchor: None,
        write_anchor: Some(&anchor),
    };
    let report = with(fixture, path, &how).unwrap();
    let written = report.written.expect("all is good");
    assert!(
        report.physical.is_good() && written.page_count == report.physical.page_count,
        "{report:?}"
    );
    anchor
}

pub fn try_compare(fixture: &Fixture, path: &Path, anchor: &Path) -> Result<Comparison, EngineError> {
    let how = Verify {
        physical_only: true,
        anchor: Some(anchor),
        write_anchor: None,
    };
    let report = with(fixture, path, &how)?;
    assert!(report.physical.is_good(), "{report:?}");
    Ok(report.comparison.unwrap())
}

pub fn compare(fixture: &Fixture, path: &Path, anchor: &Path) -> Comparison {
    try_compare(fixture, path, anchor).unwrap()
}

pub fn read_page(path: &Path, page_no: u64) -> Vec<u8> {
    let mut page = vec![0; usize::try_from(PAGE).unwrap()];
    let file = fs::File::open(path).unwrap();
    file.read_exact_at(&mut page, 65536 + (page_no - 1) * PAGE).unwrap();
    page
}

pub fn put_page(path: &Path, page_no: u64, page: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(page, 65536 + (page_no - 1) * PAGE).unwrap();
}

/// The numbers of the pages that differ.
pub fn differing(one: &Path, other: &Path) -> Vec<u64> {
    let count = fs::metadata(one).unwrap().len().min(fs::metadata(other).unwrap().len()) / PAGE - 64;
    (1..=count)
        .filter(|&page_no| read_page(one, page_no) != read_page(other, page_no))
        .collect()
}

#[test]
fn an_unchanged_database_is_the_same() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let path = database(&fixture, "app.db", mode);
        let anchor = write(&fixture, &path);
        let found = compare(&fixture, &path, &anchor);
        assert_eq!(
            (found.verdict(), found.changed_count),
            (Verdict::Same, 0),
            "{mode}: {found:?}"
        );
        // A copy elsewhere gives the same verdict.
        let copy = fixture.path("copy.db");
        fs::copy(&path, &copy).unwrap();
        assert_eq!(compare(&fixture, &copy, &anchor).verdict(), Verdict::Same, "{mode}");
    }
}

/// Ordinary operations, by this process and by others: in sessions that the anchor has, and in new
/// ones.
#[test]
fn ordinary_use_is_never_older() {
    for mode in ["DELETE", "PERSIST", "TRUNCATE", "WAL"] {
        let fixture = Fixture::new();
        let (path, access) = (database(&fixture, "app.db", mode), fixture.access());
        let mut writer = Writer::start(&fixture, &path);
        let mut anchor = write(&fixture, &path);
        for sql in [
            "UPDATE note SET text = hex(randomblob(90)) WHERE id % 7 = 0",
            "DELETE FROM note WHERE id % 3 = 0",
            "VACUUM",
            "CREATE TABLE more AS SELECT * FROM note",
            "DROP TABLE more; PRAGMA incremental_vacuum",
            "BEGIN; UPDATE note SET text = 'x'; ROLLBACK",
            "PRAGMA cache_size = 5; BEGIN; UPDATE note SET text = hex(randomblob(100)); SAVEPOINT s; DELETE FROM note; ROLLBACK TO s; COMMIT",
            "PRAGMA wal_checkpoint(TRUNCATE)",
        ] {
            writer.write();
            run(&path, &access, sql);
            writer.write();
            let found = compare(&fixture, &path, &anchor);
            assert_eq!(found.verdict(), Verdict::Changed, "{mode}, {sql}: {found:?}");
        }
        keys::add(&Disk, &path, &access, &fixture.spec("other-key"), "").unwrap();
        let found = compare(&fixture, &path, &anchor);
        assert_eq!(
            (found.verdict(), found.generation.1 - found.generation.0),
            (Verdict::Changed, 1),
            "{mode}"
        );
        // A second anchor, which includes the sessions of the first.
        let next = fixture.path("next.txt");
        let how = Verify {
            physical_only: false,
            anchor: Some(&anchor),
            write_anchor: Some(&next),
        };
        let report = with(&fixture, &path, &how).unwrap();
        assert_eq!(report.faults, Some(Vec::new()), "{mode}");
        assert!(report.written.unwrap().session_count >= 1, "{mode}");
        anchor = next;
        assert_eq!(compare(&fixture, &path, &anchor).verdict(), Verdict::Same, "{mode}");
        writer.write();
        assert_eq!(compare(&fixture, &path, &anchor).verdict(), Verdict::Changed, "{mode}");
    }
}

#[test]
fn one_page_put_back_is_found_and_named() {
    let fixture = Fixture::new();
    let (path, access) = (database(&fixture, "app.db", "DELETE"), fixture.access());
    let old = fixture.path("old.db");
    fs::copy(&path, &old).unwrap();
    run(
        &path,
        &access,
        "UPDATE note SET text = hex(randomblob(100)) WHERE id BETWEEN 700 AND 720",
    );
    let anchor = write(&fixture, &path);
    let changed = differing(&path, &old);
    assert!(changed.len() > 5, "{changed:?}");
    let mut seen = 0;
    for page_no in changed {
        let present = read_page(&path, page_no);
        put_page(&path, page_no, &read_page(&old, page_no));
        let found = compare(&fixture, &path, &anchor);
        assert_eq!(found.verdict(), Verdict::Older, "{page_no}: {found:?}");
        let places: Vec<_> = found
            .older
            .iter()
            .map(|place| (place.origin, u64::from(place.page_no)))
            .collect();
        assert_eq!(places, [(Origin::Database, page_no)]);
        seen += usize::from(found.older[0].to_string().contains("of table note"));
        put_page(&path, page_no, &present);
    }
    assert!(seen > 0, "none of them was said to be of the table");
    assert_eq!(compare(&fixture, &path, &anchor).verdict(), Verdict::Same);
}

#[test]
fn some_pages_put_back_among_pages_that_were_written_since_are_found() {
    let fixture = Fixture::new();
    let (path, access) = (database(&fixture, "app.db", "WAL"), fixture.access());
    let old = fixture.path("old.db");
    fs::copy(&path, &old).unwrap();
    run(&path, &access, "UPDATE note SET text = hex(randomblob(100))");
    let anchor = write(&fixture, &path);
    run(
        &path,
        &access,
        "UPDATE note SET text = hex(randomblob(100)) WHERE id < 500; PRAGMA wal_checkpoint(TRUNCATE)",
    );
    let back: Vec<u64> = differing(&path, &old)
        .into_iter()
        .filter(|page_no| page_no % 10 == 3)
        .collect();
    assert!(back.len() > 10, "{back:?}");
    for &page_no in &back {
        put_page(&path, page_no, &read_page(&old, page_no));
    }
    let found = compare(&fixture, &path, &anchor);
    let places: Vec<u64> = found.older.iter().map(|place| place.page_no.into()).collect();
    assert_eq!((found.verdict(), places), (Verdict::Older, back));
    assert!(found.changed_count > found.older_count, "{found:?}");
}

#[test]
fn the_whole_file_put_back_is_found() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let (path, access) = (database(&fixture, "app.db", mode), fixture.access());
        let old = fs::read(&path).unwrap();
        run(
            &path,
            &access,
            "DELETE FROM note WHERE id > 1000; VACUUM; CREATE TABLE more (a)",
        );
        let anchor = write(&fixture, &path);
        fs::write(&path, &old).unwrap();
        let found = compare(&fixture, &path, &anchor);
        assert_eq!(found.verdict(), Verdict::Older, "{mode}: {found:?}");
        assert!(
            found.change_counter_is_lower() && !found.generation_is_lower(),
            "{mode}: {found:?}"
        );
        assert!(found.older_count > 10, "{mode}: {found:?}");
    }
}

#[test]
fn an_older_superblock_over_the_same_pages_is_found() {
    let fixture = Fixture::new();
    let (path, access) = (database(&fixture, "app.db", "DELETE"), fixture.access());
    let old = fs::read(&path).unwrap()[..65536].to_vec();
    keys::add(&Disk, &path, &access, &fixture.spec("other-key"), "").unwrap();
    let anchor = write(&fixture, &path);
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .write_all_at(&old, 0)
        .unwrap();
    let found = compare(&fixture, &path, &anchor);
    assert_eq!((found.verdict(), found.older_count), (Verdict::Older, 0), "{found:?}");
    assert!(found.generation_is_lower());
}

/// An old log or journal beside the file restores old pages, as an old file does.
#[test]
fn old_pages_in_a_log_or_journal_are_found() {
    for (mode, companion, origin) in [("WAL", "-wal", Origin::Wal), ("DELETE", "-journal", Origin::Journal)] {
        let fixture = Fixture::new();
        let (path, access) = (database(&fixture, "app.db", mode), fixture.access());
        let log = fixture.path(&format!("app.db{companion}"));
        let database = Database::open(&Disk, &path, &access).unwrap();
        let spill = "PRAGMA cache_size = 5; BEGIN; UPDATE note SET text = 'old' WHERE id < 600; DELETE FROM note WHERE id > 1900";
        database.run(spill, &mut Collected::default()).unwrap();
        if mode == "WAL" {
            database.run("COMMIT", &mut Collected::default()).unwrap();
        }
        let old = fs::read(&log).unwrap();
        assert!(old.len() > 10_000, "{mode}");
        drop(database);
        run(&path, &access, "UPDATE note SET text = hex(randomblob(100))");
        let anchor = write(&fixture, &path);
        assert_eq!(compare(&fixture, &path, &anchor).verdict(), Verdict::Same, "{mode}");
        fs::write(&log, old).unwrap();
        let found = compare(&fixture, &path, &anchor);
        assert_eq!(found.verdict(), Verdict::Older, "{mode}: {found:?}");
        assert!(
            found
                .older
                .iter()
                .all(|place| place.origin == origin && place.index.is_some()),
            "{mode}: {found:?}"
        );
    }
}

/// The documented limit: the session of a process that had no page in the anchored file.
#[test]
fn an_old_page_of_a_session_that_the_anchor_does_not_know_is_changed_and_a_chain_of_anchors_knows_it() {
    let fixture = Fixture::new();
    let path = database(&fixture, "app.db", "DELETE");
    // Another process writes one page of its own table, which this process then overwrites.
    let mut writer = Writer::start(&fixture, &path);
    writer.write();
    let first = write(&fixture, &path);
    let old = fixture.path("old.db");
    fs::copy(&path, &old).unwrap();
    drop(writer);
    run(&path, &fixture.access(), "UPDATE other SET a = hex(randomblob(700))");
    // Except page 1, whose page count is not the file's any more.
    let back: Vec<u64> = differing(&path, &old)
        .into_iter()
        .filter(|&page_no| page_no > 1)
        .collect();
    let alone = fixture.path("alone.txt");
    let chained = fixture.path("chained.txt");
    for (known, target) in [(None, &alone), (Some(first.as_path()), &chained)] {
        let how = Verify {
            physical_only: true,
            anchor: known,
            write_anchor: Some(target),
        };
        assert!(with(&fixture, &path, &how).unwrap().written.is_some());
    }
    let of_writer = back.into_iter().find(|&page_no| {
        let present = read_page(&path, page_no);
        put_page(&path, page_no, &read_page(&old, page_no));
        let is_unknown = compare(&fixture, &path, &alone).unknown_count == 1;
        if !is_unknown {
            put_page(&path, page_no, &present);
        }
        is_unknown
    });
    assert!(of_writer.is_some(), "no page of the other process was left");
    assert_eq!(compare(&fixture, &path, &alone).verdict(), Verdict::Changed);
    assert_eq!(compare(&fixture, &path, &chained).verdict(), Verdict::Older);
}

/// Another connection reads from the log, or writes, all the time: the database is never
/// unchanged.
#[test]
fn a_database_in_constant_use_is_busy_and_no_anchor_is_written() {
    for sql in ["BEGIN IMMEDIATE", "BEGIN; SELECT * FROM note"] {
        let fixture = Fixture::new();
        let (path, access) = (database(&fixture, "app.db", "WAL"), fixture.access());
        let mut holder = Writer::start(&fixture, &path);
        holder.write();
        holder.run(sql);
        if sql != "BEGIN IMMEDIATE" {
            // Later commits can't be copied: the reader reads the file as it was before.
            run(&path, &access, "INSERT INTO note (text) VALUES (1)");
        }
        let anchor = fixture.path("anchor.txt");
        let how = Verify {
            write_anchor: Some(&anchor),
            ..Verify::default()
        };
        let refused = verify(&Disk, &path, &access, &how, &Watch::none());
        assert!(matches!(refused, Err(EngineError::Busy { .. })), "{sql}: {refused:?}");
        assert!(!anchor.exists());
        holder.run("ROLLBACK");
        write(&fixture, &path);
    }
}

/// Anchors are written and compared while others write: never older, never bad.
#[test]
fn an_anchor_is_written_and_compared_while_others_write() {
    for mode in ["WAL", "DELETE"] {
        let fixture = Fixture::new();
        let path = database(&fixture, "app.db", mode);
        let anchor = fixture.path("anchor.txt");
        let mut writers: Vec<Writer> = (0..2).map(|_| Writer::start(&fixture, &path)).collect();
        for writer in &mut writers {
            writer.begin_to_write_on();
        }
        let access = Access {
            busy_wait: std::time::Duration::from_secs(60),
            ..fixture.access()
        };
        for round in 0..9 {
            let how = Verify {
                physical_only: true,
                anchor: (round > 0).then_some(anchor.as_path()),
                write_anchor: (round % 3 == 0).then_some(anchor.as_path()),
            };
            let report = verify(&Disk, &path, &access, &how, &Watch::none()).unwrap();
            assert!(report.physical.is_good(), "{mode}, {round}: {report:?}");
            if let Some(found) = report.comparison {
                assert_ne!(found.verdict(), Verdict::Older, "{mode}, {round}: {found:?}");
            }
            assert_eq!(report.written.is_some(), round % 3 == 0, "{mode}, {round}");
        }
        for writer in writers {
            assert!(writer.end() > 0, "{mode}: nothing was written meanwhile");
        }
        let report = with(
            &fixture,
            &path,
            &Verify {
                anchor: Some(&anchor),
                ..Verify::default()
            },
        )
        .unwrap();
        assert_eq!(report.faults, Some(Vec::new()), "{mode}");
    }
}
