//! A salvage with a log whose headers are damaged: no old row replaces a newer one, and every loss
//! is reported.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::salvage::{LAYOUT, flip, save, table};
use crate::salvage_logs::{FRAME, THEM, THREE, texts, wal_of, with_log, with_reader};
use crate::support::Fixture;
use crate::verify_logs::with_super_journal;

/// A database with a log that has one frame for each of these transactions.
fn with_frames(fixture: &Fixture, sql: &str) -> PathBuf {
    let sql = format!("DROP INDEX note_by_text; PRAGMA wal_checkpoint(TRUNCATE); {sql}");
    with_log(fixture, &LAYOUT, "WAL", &sql)
}

fn wipe(path: &Path, offset: u64, size: usize) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&vec![0; size], offset).unwrap();
}

#[test]
fn a_log_counts_up_to_its_first_damaged_frame_header() {
    let fixture = Fixture::new();
    let path = with_frames(&fixture, THREE);
    flip(&wal_of(&path), 32 + FRAME + 8);
    let salvaged = save(&fixture, &path);
    assert_eq!((salvaged.bad_logs.len(), salvaged.bad_logs[0].index), (1, Some(1)));
    assert!(!salvaged.is_complete() && salvaged.uncertain_count == 0, "{salvaged:?}");
    assert_eq!(texts(&fixture, THEM), ["first", "old", "old"]);
}

/// All transactions change one page, and a checkpoint has copied the last: the frames before the
/// damaged one are outdated.
#[test]
fn frames_before_a_damaged_header_do_not_replace_pages_that_were_copied_later() {
    let fixture = Fixture::new();
    let names = ["zeroth", "first", "second", "third", "fourth"];
    let sql: String = names
        .iter()
        .map(|name| format!("UPDATE note SET text = '{name}' WHERE id = 1;"))
        .collect();
    let path = with_frames(&fixture, &format!("{sql} PRAGMA wal_checkpoint(PASSIVE);"));
    assert_eq!(fs::metadata(wal_of(&path)).unwrap().len(), 32 + 5 * FRAME);
    flip(&wal_of(&path), 32 + FRAME + 8);
    let salvaged = save(&fixture, &path);
    assert_eq!(
        (salvaged.bad_logs.len(), salvaged.uncertain_count),
        (1, 0),
        "{salvaged:?}"
    );
    assert_eq!(texts(&fixture, THEM), ["fourth", "old", "old"]);
}

/// The page of the damaged frame has an older intact frame before it, and was copied.
#[test]
fn the_page_of_a_damaged_frame_is_read_from_the_file_if_all_was_copied() {
    let fixture = Fixture::new();
    let sql = format!("UPDATE note SET text = 'zeroth' WHERE id = 1; {THREE} PRAGMA wal_checkpoint(PASSIVE);");
    let path = with_frames(&fixture, &sql);
    flip(&wal_of(&path), 32 + FRAME + 8);
    let salvaged = save(&fixture, &path);
    assert_eq!(
        (salvaged.bad_logs.len(), salvaged.uncertain_count),
        (1, 0),
        "{salvaged:?}"
    );
    assert_eq!(texts(&fixture, THEM), ["first", "second", "third"]);
    assert_eq!(table(&salvaged, "note").row_count, 3000);
}

#[test]
fn pages_without_a_later_image_are_uncertain_if_not_all_was_copied() {
    let fixture = Fixture::new();
    let first = format!("DROP INDEX note_by_text; PRAGMA wal_checkpoint(TRUNCATE); {THREE}");
    let then = "PRAGMA wal_checkpoint(PASSIVE); UPDATE note SET text = 'fourth' WHERE id = 2800;";
    let path = with_reader(&fixture, &LAYOUT, "WAL", (&first, then));
    flip(&wal_of(&path), 32 + FRAME + 8);
    let salvaged = save(&fixture, &path);
    // All pages except the two of the frames behind it.
    let pages = u64::from(salvaged.page_count);
    assert_eq!(
        (salvaged.bad_logs.len(), salvaged.uncertain_count),
        (1, pages - 2),
        "{salvaged:?}"
    );
    assert!(!salvaged.is_complete());
    assert_eq!(texts(&fixture, THEM), ["first", "second", "third"]);
    assert_eq!(texts(&fixture, "SELECT text FROM note WHERE id = 2800"), ["fourth"]);
}

#[test]
fn a_log_with_a_damaged_header_is_read_by_its_first_frame() {
    for byte in [0, 3, 5, 16, 25] {
        let fixture = Fixture::new();
        let path = with_frames(&fixture, THREE);
        flip(&wal_of(&path), byte);
        let salvaged = save(&fixture, &path);
        assert_eq!(
            (salvaged.bad_logs.len(), salvaged.bad_logs[0].index),
            (1, None),
            "{byte}"
        );
        assert_eq!(texts(&fixture, THEM), ["first", "second", "third"], "{byte}");
    }
}

/// The states that the database had, in order.
#[test]
fn a_log_that_lost_a_sector_gives_only_states_that_existed() {
    let fixture = Fixture::new();
    let path = with_frames(&fixture, THREE);
    let log = wal_of(&path);
    let whole = fs::read(&log).unwrap();
    let states = [
        ["old", "old", "old"],
        ["first", "old", "old"],
        ["first", "second", "old"],
    ];
    for offset in (0..32 + 2 * FRAME - 512).step_by(173) {
        wipe(&log, offset, 512);
        let salvaged = save(&fixture, &path);
        let found = texts(&fixture, THEM);
        let is_whole = offset < 32 - 1 && found == ["first", "second", "third"];
        assert!(
            is_whole || states.iter().any(|state| found == *state),
            "{offset}: {found:?}"
        );
        assert!(!salvaged.is_complete(), "{offset}: {salvaged:?}");
        fs::write(&log, &whole).unwrap();
        fs::remove_file(fixture.path("saved.db")).unwrap();
    }
}

/// A log was restarted over an older one, all of which is in the file; header and first frame are
/// lost, and the page in that frame was copied.
#[test]
fn frames_of_an_older_log_are_not_used_if_header_and_first_frame_are_lost() {
    let fixture = Fixture::new();
    let sql = format!(
        "{THREE} UPDATE note SET text = 'fourth' WHERE id = 1; PRAGMA wal_checkpoint(RESTART);
        UPDATE note SET text = 'new' WHERE id = 1; PRAGMA wal_checkpoint(PASSIVE);"
    );
    let path = with_frames(&fixture, &sql);
    assert_eq!(fs::metadata(wal_of(&path)).unwrap().len(), 32 + 4 * FRAME);
    wipe(&wal_of(&path), 0, 1000);
    let salvaged = save(&fixture, &path);
    assert_eq!(salvaged.bad_logs.len(), 1, "{salvaged:?}");
    assert_eq!(texts(&fixture, THEM), ["new", "second", "third"]);
}

/// The page number before a record that does not open is not authenticated: if no page can have
/// that number, another page of the file has an uncommitted change.
#[test]
fn a_bad_record_of_an_unknown_page_makes_pages_without_a_record_uncertain() {
    let open = "PRAGMA cache_size = 5; DROP INDEX note_by_text; BEGIN; UPDATE note SET text = 'open' WHERE id < 1000;";
    for (within, is_known) in [(0, false), (500, true)] {
        let fixture = Fixture::new();
        let path = with_log(&fixture, &LAYOUT, "DELETE", open);
        // The second record: with so small a cache, each record has a header of its own.
        flip(&fixture.path("damaged.db-journal"), 2048 + 512 + within);
        let salvaged = save(&fixture, &path);
        assert_eq!(salvaged.bad_logs.len(), 1);
        assert_eq!(salvaged.uncertain_count == 0, is_known, "{salvaged:?}");
        assert!(!salvaged.is_complete());
    }
}

/// SQLite ignores a name with a wrong checksum, and rolls back (readSuperJournal in pager.c).
#[test]
fn a_torn_name_of_a_super_journal_does_not_commit_a_transaction() {
    let open = "PRAGMA cache_size = 5; DROP INDEX note_by_text; BEGIN; UPDATE note SET text = 'open';";
    for is_torn in [false, true] {
        let fixture = Fixture::new();
        let path = with_log(&fixture, &LAYOUT, "DELETE", open);
        let journal = fixture.path("damaged.db-journal");
        let name = fixture.path("damaged.db-mj1").into_os_string().into_encoded_bytes();
        let mut bytes = with_super_journal(&fs::read(&journal).unwrap(), &name);
        let within_name = bytes.len() - 18;
        bytes[within_name] ^= u8::from(is_torn);
        fs::write(&journal, bytes).unwrap();
        save(&fixture, &path);
        let count = texts(&fixture, "SELECT count(*) || '' FROM note WHERE text = 'open'");
        assert_eq!(count == ["0"], is_torn, "{count:?}");
    }
}
