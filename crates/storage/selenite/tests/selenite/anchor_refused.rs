//! Files that are not an anchor of the database are rejected, and existing files are not
//! overwritten.

use std::fs;
use std::path::Path;

use selenite::anchor::Verdict;
use selenite::storage::Disk;
use selenite::verify::Verify;
use selenite::{Class, EngineError, VerifyNotes, keys};

use crate::anchor::{compare, database, differing, put_page, read_page, run, try_compare, with, write};
use crate::support::Fixture;

#[test]
fn no_anchor_is_written_for_older_or_bad_pages_or_over_another_file() {
    let fixture = Fixture::new();
    let (path, access) = (database(&fixture, "app.db", "DELETE"), fixture.access());
    let old = fixture.path("old.db");
    fs::copy(&path, &old).unwrap();
    run(&path, &access, "UPDATE note SET text = 'new'");
    let anchor = write(&fixture, &path);
    let text = fs::read(&anchor).unwrap();
    let page_no = *differing(&path, &old).last().unwrap();
    let present = read_page(&path, page_no);
    put_page(&path, page_no, &read_page(&old, page_no));
    let how = Verify {
        physical_only: true,
        anchor: Some(&anchor),
        write_anchor: Some(&anchor),
    };
    let report = with(&fixture, &path, &how).unwrap();
    // It is not recorded as verified either: the folder of notes does not exist.
    let notes = VerifyNotes::of(Some(&fixture.path("state")));
    notes.keep(&path, &report).unwrap();
    assert!(notes.find(report.physical.sealed.database_id, &path).is_none());
    assert_eq!((report.written, report.comparison.unwrap().older_count), (None, 1));
    let mut bad = present.clone();
    bad[5] ^= 1;
    put_page(&path, page_no, &bad);
    let report = with(&fixture, &path, &how).unwrap();
    assert_eq!((report.written, report.physical.bad_count), (None, 1));
    // Page 1: SQLite itself must not open such a file.
    put_page(&path, page_no, &present);
    let first = read_page(&path, 1);
    put_page(&path, 1, &bad);
    let report = with(&fixture, &path, &how).unwrap();
    assert_eq!((report.written, report.physical.bad[0].page_no), (None, 1));
    put_page(&path, 1, &first);
    assert_eq!(fs::read(&anchor).unwrap(), text);
    let other = database(&fixture, "other.db", "DELETE");
    for target in [&path, &old, &anchor] {
        let how = Verify {
            write_anchor: Some(target),
            ..Verify::default()
        };
        let before = fs::read(target).unwrap();
        let refused = with(&fixture, &other, &how);
        assert!(matches!(refused, Err(EngineError::Exists { .. })), "{refused:?}");
        assert_eq!(fs::read(target).unwrap(), before);
    }
    assert_eq!(fixture.names(), ["anchor.txt", "app.db", "old.db", "other.db"]);
}

#[test]
fn an_anchor_that_is_not_authentic_is_refused_with_the_reason() {
    let fixture = Fixture::new();
    let (path, other) = (
        database(&fixture, "app.db", "DELETE"),
        database(&fixture, "other.db", "DELETE"),
    );
    let anchor = write(&fixture, &path);
    let refused = |path: &Path, why: &str| {
        let error = try_compare(&fixture, path, &anchor).unwrap_err();
        assert!(error.to_string().contains(why), "{error} lacks {why}");
        assert_eq!(error.class(), Class::Data);
        assert!(!error.advice().is_empty());
    };
    refused(&other, ", not of ");
    let text = fs::read_to_string(&anchor).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("session ")), "{text}");
    for (index, line) in lines.iter().enumerate() {
        let why = match line.split(' ').next().unwrap() {
            "selenite" => "not an anchor",
            "database" => ", not of ",
            "key" => "another master key",
            _ => "was altered",
        };
        // Changes the last digit of the line.
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let last = changed[index].pop().unwrap();
        changed[index].push(if last == '1' { '2' } else { '1' });
        fs::write(&anchor, changed.join("\n") + "\n").unwrap();
        let why = if line.starts_with("selenite") {
            "later version"
        } else {
            why
        };
        refused(&path, why);
        // Removes the line, except the first ones, which identify the anchor.
        if index > 4 {
            let mut without = lines.clone();
            without.remove(index);
            fs::write(&anchor, without.join("\n") + "\n").unwrap();
            refused(
                &path,
                if line.starts_with("mac") {
                    "cut off"
                } else {
                    "was altered"
                },
            );
        }
    }
    fs::write(&anchor, &text[..text.len() - 1]).unwrap();
    refused(&path, "cut off");
    fs::write(&anchor, "SQLite format 3\0").unwrap();
    refused(&path, "not an anchor");
    fs::write(&anchor, "").unwrap();
    refused(&path, "not an anchor");
    fs::write(&anchor, &text).unwrap();
    assert_eq!(compare(&fixture, &path, &anchor).verdict(), Verdict::Same);
}

#[test]
fn after_a_new_master_key_an_anchor_is_refused_and_an_old_copy_is_detected() {
    let fixture = Fixture::new();
    let (path, access) = (database(&fixture, "app.db", "DELETE"), fixture.access());
    let old = fixture.path("old.db");
    fs::copy(&path, &old).unwrap();
    let anchor = write(&fixture, &path);
    keys::renew(&Disk, &path, &access, &[], false).unwrap();
    let error = try_compare(&fixture, &path, &anchor).unwrap_err();
    assert!(error.to_string().contains("renewed since"), "{error}");
    assert!(error.advice().contains("keys renew"), "{}", error.advice());
    let anchor = write(&fixture, &path);
    assert_eq!(compare(&fixture, &path, &anchor).verdict(), Verdict::Same);
    // The copy has the old master key, so the new anchor can't be authenticated by it.
    let error = try_compare(&fixture, &old, &anchor).unwrap_err();
    assert!(error.to_string().contains("it is an older copy"), "{error}");
}
