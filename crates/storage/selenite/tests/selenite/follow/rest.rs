//! Commits in a log behind a place, while no read mark was held, are read from the log's file, or
//! reported as unknown.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;

use selenite::Database;
use selenite_format::archive::LogEnd;
use selenite_vfs::error::VfsError;
use selenite_vfs::snapshot::{self, Snapshot};

use super::{Fixture, add, quiet};

/// Calls `reader` in a new read transaction.
fn see<R: Send + 'static>(database: &Database, reader: impl FnOnce(&mut Snapshot<'_>) -> R + Send + 'static) -> R {
    let (tell, told) = channel();
    let token = snapshot::stage(Box::new(move |snapshot| tell.send(reader(snapshot)).unwrap()));
    let sql = format!("BEGIN; SELECT count(*) FROM counted; SELECT selenite_read({token}); ROLLBACK");
    database.run(&sql, &mut quiet::Nothing).unwrap();
    told.recv().unwrap()
}

fn end(database: &Database) -> LogEnd {
    see(database, |snapshot| snapshot.end().unwrap())
}

/// The pages that were written behind a place.
fn rest(database: &Database, from: LogEnd) -> Option<Vec<u32>> {
    see(database, move |snapshot| {
        let rest = snapshot.pages_since(from).unwrap()?;
        let mut pages = Vec::new();
        let shown = snapshot.read_pages_since(&rest, |page_no, _, _| {
            pages.push(page_no);
            Ok::<(), VfsError>(())
        });
        shown.unwrap();
        Some(pages)
    })
}

/// A place some frames into a log, and the end of the log three commits later; then that log is
/// copied, and the next commit restarts it. Behind all of that are frames of an older log.
fn begun_anew(writer: &Database, reader: &Database) -> (LogEnd, LogEnd) {
    let (place, last) = copied_behind_a_place(writer, reader);
    add(writer, 0, 100).unwrap();
    assert_ne!(end(reader).position.salts, place.position.salts);
    (place, last)
}

fn copied_behind_a_place(writer: &Database, reader: &Database) -> (LogEnd, LogEnd) {
    for _ in 0..40 {
        add(writer, 0, 3000).unwrap();
    }
    copied(writer);
    for _ in 0..20 {
        add(writer, 0, 3000).unwrap();
    }
    let place = end(reader);
    for _ in 0..3 {
        add(writer, 0, 3000).unwrap();
    }
    let last = end(reader);
    copied(writer);
    (place, last)
}

fn copied(writer: &Database) {
    let mut rows = quiet::Numbers::default();
    writer.run("PRAGMA wal_checkpoint(PASSIVE)", &mut rows).unwrap();
    assert!(rows.0[0] == 0 && rows.0[1] == rows.0[2], "{:?}", rows.0);
}

#[test]
fn the_rest_of_a_restarted_log_is_found() {
    let fixture = Fixture::new();
    let (writer, reader) = (fixture.open(), fixture.open());
    let (place, last) = begun_anew(&writer, &reader);
    let pages = rest(&reader, place).unwrap();
    assert!(
        pages.len() >= 4 && pages.is_sorted_by(|one, two| one < two),
        "{pages:?}"
    );
    // Behind the end there are only the pages of the new log.
    let new = rest(&reader, last).unwrap();
    assert!(!new.is_empty() && new.len() < pages.len(), "{new:?}");
    assert!(new.iter().all(|page_no| pages.contains(page_no)), "{new:?}");
    // For a place that was never in that log nothing is returned.
    let other = LogEnd {
        checksum: [1; 8],
        ..place
    };
    assert_eq!(rest(&reader, other), None);
}

#[test]
fn the_rest_of_a_copied_log_is_found_before_its_restart() {
    let fixture = Fixture::new();
    let (writer, reader) = (fixture.open(), fixture.open());
    add(&writer, 0, 3000).unwrap();
    let place = end(&reader);
    add(&writer, 0, 3000).unwrap();
    copied(&writer);
    assert!(see(&reader, |snapshot| !snapshot.sees_log()));
    assert!(rest(&reader, place).unwrap().len() >= 2);
    assert_eq!(rest(&reader, end(&reader)), Some(vec![]));
}

#[test]
fn the_index_shows_whether_a_transaction_is_the_last() {
    let fixture = Fixture::new();
    let (writer, reader) = (fixture.open(), fixture.open());
    let run = |sql: &str| reader.run(sql, &mut quiet::Nothing).unwrap();
    let begin = || run("BEGIN; SELECT count(*) FROM counted");
    let is_last = || {
        let (tell, told) = channel();
        let token = snapshot::stage(Box::new(move |snapshot| tell.send(snapshot.is_last()).unwrap()));
        run(&format!("SELECT selenite_read({token})"));
        told.recv().unwrap()
    };
    add(&writer, 0, 100).unwrap();
    begin();
    assert!(is_last() && is_last());
    add(&writer, 0, 100).unwrap();
    assert!(!is_last());
    run("ROLLBACK");
    begin();
    assert!(is_last());
    // A connection that restarts the log waits for a reader that uses only the file.
    copied(&writer);
    assert!(!is_last());
    run("ROLLBACK");
    begin();
    assert!(is_last());
    writer
        .run("PRAGMA wal_checkpoint(RESTART)", &mut quiet::Nothing)
        .unwrap();
    add(&writer, 0, 100).unwrap();
    assert!(!is_last());
    run("ROLLBACK");
}

#[test]
fn the_rest_is_unknown_if_the_log_was_truncated_before_the_place() {
    // SQLite truncates it at once, with or without a commit after; or when the first transaction
    // of the new log is committed.
    for what in ["truncated", "truncated, and no commit", "limited"] {
        let fixture = Fixture::new();
        let (writer, reader) = (fixture.open(), fixture.open());
        let (place, last) = copied_behind_a_place(&writer, &reader);
        let run = |sql: &str| writer.run(sql, &mut quiet::Nothing).unwrap();
        match what {
            "limited" => run("PRAGMA journal_size_limit = 0"),
            _ => run("PRAGMA wal_checkpoint(TRUNCATE)"),
        }
        if !what.ends_with("no commit") {
            add(&writer, 0, 100).unwrap();
        }
        assert!(end(&reader).position.frames < place.position.frames);
        assert_ne!(end(&reader).position.salts, place.position.salts, "{what}");
        assert_eq!(rest(&reader, place), None, "{what}");
        assert_eq!(rest(&reader, last), None, "{what}");
    }
}

#[test]
fn the_rest_is_unknown_if_the_log_was_truncated_behind_the_place() {
    // Also if the limit is exactly the end of a frame, which would look like the end of the old log.
    for beyond in [0, 1, 24, 4119] {
        let fixture = Fixture::new();
        let (writer, reader) = (fixture.open(), fixture.open());
        let (place, last) = copied_behind_a_place(&writer, &reader);
        let limit = 32 + u64::from(place.position.frames + 1) * 4120 + beyond;
        assert!(place.position.frames + 1 < last.position.frames);
        writer
            .run(&format!("PRAGMA journal_size_limit = {limit}"), &mut quiet::Nothing)
            .unwrap();
        add(&writer, 0, 100).unwrap();
        let log = fixture.path().with_extension("db-wal");
        let is_whole = u64::from(beyond == 0);
        assert_eq!(std::fs::metadata(&log).unwrap().len(), limit + is_whole);
        assert_eq!(rest(&reader, place), None, "{beyond}");
        // The next log truncates nothing.
        copied(&writer);
        add(&writer, 0, 100).unwrap();
        assert_eq!(std::fs::metadata(&log).unwrap().len(), limit + is_whole);
    }
}

#[test]
fn the_rest_of_a_log_that_was_longer_than_ever_is_found() {
    let fixture = Fixture::new();
    let (writer, reader) = (fixture.open(), fixture.open());
    for _ in 0..20 {
        add(&writer, 0, 3000).unwrap();
    }
    let place = end(&reader);
    for _ in 0..3 {
        add(&writer, 0, 3000).unwrap();
    }
    let last = end(&reader);
    copied(&writer);
    add(&writer, 0, 100).unwrap();
    assert_ne!(end(&reader).position.salts, place.position.salts);
    let log = fixture.path().with_extension("db-wal");
    let size = std::fs::metadata(&log).unwrap().len();
    assert_eq!(size, 32 + u64::from(last.position.frames) * 4120);
    let new = rest(&reader, last).unwrap();
    let pages = rest(&reader, place).unwrap();
    assert!(pages.len() > new.len(), "{pages:?}");
    assert!(new.iter().all(|page_no| pages.contains(page_no)), "{new:?}");
    // A part of a frame behind it is of a transaction that did not end, or of a truncated log.
    let more = format!("--size={}", size + 1);
    let log = log.to_str().unwrap();
    assert!(Command::new("truncate").args([&more, log]).status().unwrap().success());
    assert_eq!(rest(&reader, place), None);
    assert_eq!(rest(&reader, last), None);
}

#[test]
fn a_limit_that_cuts_no_older_log_is_kept_to_the_byte() {
    let fixture = Fixture::new();
    let writer = fixture.open();
    let run = |sql: &str| writer.run(sql, &mut quiet::Nothing).unwrap();
    for _ in 0..20 {
        add(&writer, 0, 3000).unwrap();
    }
    copied(&writer);
    run("PRAGMA journal_size_limit = 0");
    add(&writer, 0, 100).unwrap();
    let reader = fixture.open();
    let log = std::fs::metadata(fixture.path().with_extension("db-wal")).unwrap();
    assert_eq!(log.len(), 32 + u64::from(end(&reader).position.frames) * 4120);
}

#[test]
fn uncommitted_frames_are_not_part_of_the_rest() {
    let fixture = Fixture::new();
    let (writer, reader) = (fixture.open(), fixture.open());
    let run = |sql: &str| writer.run(sql, &mut quiet::Nothing).unwrap();
    for _ in 0..40 {
        add(&writer, 0, 3000).unwrap();
    }
    copied(&writer);
    for _ in 0..20 {
        add(&writer, 0, 3000).unwrap();
    }
    let place = end(&reader);
    add(&writer, 0, 3000).unwrap();
    let last = end(&reader);
    // Simulates a writer that is killed after the frame that ends its transaction, and before it
    // updates the index: both copies of the index header are restored. With other processes, since
    // closing these files here would release SQLite's locks.
    let (index, kept) = (
        fixture.path().with_extension("db-shm"),
        fixture.path().with_extension("kept"),
    );
    let copy_header = |from: &Path, to: &Path| {
        let words = [
            format!("if={}", from.display()),
            format!("of={}", to.display()),
            "bs=96".to_owned(),
            "count=1".to_owned(),
            "conv=notrunc".to_owned(),
            "status=none".to_owned(),
        ];
        assert!(Command::new("dd").args(words).status().unwrap().success());
    };
    copy_header(&index, &kept);
    run("UPDATE ledger SET body = 'phantom' WHERE id = 3");
    assert!(end(&reader).position.frames > last.position.frames);
    copy_header(&kept, &index);
    assert_eq!(end(&reader), last);
    copied(&writer);
    add(&writer, 0, 100).unwrap();
    let told = see(&reader, move |snapshot| {
        let rest = snapshot.pages_since(place).unwrap().unwrap();
        let mut told: Vec<(u32, bool)> = Vec::new();
        let shown = snapshot.read_pages_since(&rest, |page_no, _, plain| {
            told.push((page_no, plain.windows(7).any(|bytes| bytes == b"phantom")));
            Ok::<(), VfsError>(())
        });
        shown.unwrap();
        told
    });
    assert!(
        told.len() > 3 && told.iter().all(|(_, is_phantom)| !is_phantom),
        "{told:?}"
    );
}

#[test]
fn the_rest_is_unknown_if_newer_logs_overwrote_it() {
    let fixture = Fixture::new();
    let (writer, reader) = (fixture.open(), fixture.open());
    let (place, last) = begun_anew(&writer, &reader);
    copied(&writer);
    add(&writer, 0, 100).unwrap();
    assert_eq!(rest(&reader, place), None, "a third log");
    assert_eq!(rest(&reader, last), None, "a third log");
    let fixture = Fixture::new();
    let (writer, reader) = (fixture.open(), fixture.open());
    let (place, _) = begun_anew(&writer, &reader);
    for _ in 0..20 {
        add(&writer, 0, 3000).unwrap();
    }
    assert_eq!(rest(&reader, place), None, "the new log is as long");
    // A transaction that was never committed overwrote it, too.
    let fixture = Fixture::new();
    let (writer, reader) = (fixture.open(), fixture.open());
    let (place, _) = begun_anew(&writer, &reader);
    let spilled = "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
         INSERT INTO ledger SELECT 1000 + i, 0, 0, 0, 0, randomblob(3000) FROM n";
    writer.run(spilled, &mut quiet::Nothing).unwrap();
    writer.run("ROLLBACK", &mut quiet::Nothing).unwrap();
    let now = end(&reader);
    assert!(now.position.frames < place.position.frames);
    assert_eq!(rest(&reader, place), None, "frames of the new log behind the place");
}

#[test]
fn the_rest_is_unknown_if_the_file_was_truncated_or_damaged() {
    for what in ["cut", "damaged"] {
        let fixture = Fixture::new();
        let (writer, reader) = (fixture.open(), fixture.open());
        let (place, last) = begun_anew(&writer, &reader);
        let frame = |index: u32| 32 + u64::from(index) * 4120;
        let log = fixture.path().with_extension("db-wal");
        let middle = frame(place.position.frames + 2) + 2000;
        assert!(middle < frame(last.position.frames));
        let log = log.to_str().unwrap();
        // With other processes: closing this file here would release no lock of SQLite's, but this
        // is safe in any case.
        let done = if what == "cut" {
            Command::new("truncate").args(["-s", &middle.to_string(), log]).status()
        } else {
            let (of, seek) = (format!("of={log}"), format!("seek={middle}"));
            let how = [
                "if=/dev/zero",
                &of,
                &seek,
                "bs=1",
                "count=8",
                "conv=notrunc",
                "status=none",
            ];
            Command::new("dd").args(how).status()
        };
        assert!(done.unwrap().success());
        assert_eq!(rest(&reader, place), None, "{what}");
    }
}
