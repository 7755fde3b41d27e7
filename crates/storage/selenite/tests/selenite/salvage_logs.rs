//! A write-ahead log or a hot journal beside a damaged database: committed changes count.

use std::fs;
use std::path::{Path, PathBuf};

use selenite::storage::Disk;
use selenite::{AutoVacuum, Cell, Database, Layout};

use crate::salvage::{LAYOUT, NOTES, flip, pages, place, save, saved, sealed, spoil, table};
use crate::support::{Collected, Fixture};

/// A database with its log, copied while it was open: closing it would remove the log.
pub fn with_log(fixture: &Fixture, layout: &Layout, mode: &str, sql: &str) -> PathBuf {
    with_reader(fixture, layout, mode, (sql, ""))
}

/// The same; before the second part a reader begins, which keeps the log from restarting.
pub fn with_reader(fixture: &Fixture, layout: &Layout, mode: &str, (sql, then): (&str, &str)) -> PathBuf {
    let path = sealed(fixture, "app.db", layout, NOTES);
    let database = Database::open(&Disk, &path, &fixture.access()).unwrap();
    let mut rows = Collected::default();
    let mode = format!("PRAGMA journal_mode = {mode}; PRAGMA wal_autocheckpoint = 0; {sql}");
    database.run(&mode, &mut rows).unwrap();
    let reader = Database::open(&Disk, &path, &fixture.access()).unwrap();
    if !then.is_empty() {
        reader.run("BEGIN; SELECT count(*) FROM note", &mut rows).unwrap();
        database.run(then, &mut rows).unwrap();
    }
    let copy = fixture.path("damaged.db");
    for log in ["", "-wal", "-journal"] {
        let from = fixture.path(&format!("app.db{log}"));
        if from.exists() {
            fs::copy(from, fixture.path(&format!("damaged.db{log}"))).unwrap();
        }
    }
    drop(reader);
    drop(database);
    fs::remove_file(&path).unwrap();
    copy
}

pub fn texts(fixture: &Fixture, sql: &str) -> Vec<String> {
    let text = |row: &Vec<Cell>| match &row[0] {
        Cell::Text(text) => text.clone(),
        Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Blob(_) => panic!("{row:?}"),
    };
    saved(fixture, sql).iter().map(text).collect()
}

pub fn wal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

pub const FRAME: u64 = 24 + 1024;

/// Transactions of one page each, each on a different page.
pub const THREE: &str = "UPDATE note SET text = 'first' WHERE id = 1; UPDATE note SET text = 'second' WHERE id = 1500;
    UPDATE note SET text = 'third' WHERE id = 2900;";
pub const THEM: &str =
    "SELECT CASE WHEN text LIKE 'note%' THEN 'old' ELSE text END FROM note WHERE id IN (1, 1500, 2900) ORDER BY id";

#[test]
fn committed_frames_of_a_log_count_and_uncommitted_ones_do_not() {
    let fixture = Fixture::new();
    let open = format!("DROP INDEX note_by_text; {THREE} PRAGMA cache_size = 5; BEGIN; UPDATE note SET text = 'open';");
    let path = with_log(&fixture, &LAYOUT, "WAL", &open);
    let log = fs::read(wal_of(&path)).unwrap();
    let salvaged = save(&fixture, &path);
    assert!(salvaged.is_complete(), "{salvaged:?}");
    assert_eq!(texts(&fixture, THEM), ["first", "second", "third"]);
    assert_eq!(table(&salvaged, "note").row_count, 3000);
    assert_eq!(fs::read(wal_of(&path)).unwrap(), log);
    assert_eq!(texts(&fixture, "PRAGMA journal_mode"), ["wal"]);
}

#[test]
fn a_log_counts_up_to_its_first_bad_frame() {
    let fixture = Fixture::new();
    let path = with_log(
        &fixture,
        &LAYOUT,
        "WAL",
        &format!("DROP INDEX note_by_text; PRAGMA wal_checkpoint(TRUNCATE); {THREE}"),
    );
    // Each transaction has one frame.
    assert_eq!(fs::metadata(wal_of(&path)).unwrap().len(), 32 + 3 * FRAME);
    flip(&wal_of(&path), 32 + FRAME + 24 + 100);
    let salvaged = save(&fixture, &path);
    assert!(!salvaged.is_complete());
    assert_eq!((salvaged.bad_logs.len(), salvaged.bad_logs[0].index), (1, Some(1)));
    assert_eq!(texts(&fixture, THEM), ["first", "old", "old"]);
    assert_eq!(table(&salvaged, "note").row_count, 3000);
}

/// The file is newer than the beginning of such a log: using that would give rows that are older
/// than the database's, and of different times.
#[test]
fn a_copied_log_with_a_bad_frame_does_not_restore_an_older_state() {
    let fixture = Fixture::new();
    let path = with_log(
        &fixture,
        &LAYOUT,
        "WAL",
        &format!(
            "DROP INDEX note_by_text; PRAGMA wal_checkpoint(TRUNCATE); UPDATE note SET text = 'zeroth' WHERE id = 1; {THREE}
            UPDATE note SET text = 'fourth' WHERE id = 2900;
            INSERT INTO note SELECT id + 3000, hex(zeroblob(300)) FROM note WHERE id <= 500; PRAGMA wal_checkpoint(PASSIVE);"
        ),
    );
    flip(&wal_of(&path), 32 + FRAME + 24 + 100);
    let salvaged = save(&fixture, &path);
    assert_eq!(salvaged.bad_logs.len(), 1);
    assert_eq!(texts(&fixture, THEM), ["first", "second", "fourth"]);
    assert_eq!(table(&salvaged, "note").row_count, 3500);
}

#[test]
fn a_transaction_that_was_not_committed_is_rolled_back() {
    for auto_vacuum in [AutoVacuum::None, AutoVacuum::Full] {
        let fixture = Fixture::new();
        let layout = Layout { auto_vacuum, ..LAYOUT };
        let open = "PRAGMA cache_size = 5; BEGIN; UPDATE note SET text = 'open'; DELETE FROM note WHERE id > 2000;
            CREATE TABLE more AS SELECT * FROM note;";
        let path = with_log(&fixture, &layout, "DELETE", open);
        let salvaged = save(&fixture, &path);
        assert!(salvaged.is_complete(), "{salvaged:?}");
        assert_eq!((salvaged.tables.len(), table(&salvaged, "note").row_count), (1, 3000));
        assert_eq!(texts(&fixture, THEM), ["old", "old", "old"]);
    }
}

/// The page count is not authenticated: it would take hours to examine as many pages as it claims
/// here.
#[test]
fn a_journal_does_not_make_a_database_larger_than_it_was() {
    let fixture = Fixture::new();
    let open = "PRAGMA cache_size = 5; DROP INDEX note_by_text; BEGIN; UPDATE note SET text = 'open';";
    let path = with_log(&fixture, &LAYOUT, "DELETE", open);
    let journal = fixture.path("damaged.db-journal");
    let mut bytes = fs::read(&journal).unwrap();
    bytes[16..20].copy_from_slice(&[0xff; 4]);
    fs::write(&journal, bytes).unwrap();
    let salvaged = save(&fixture, &path);
    let pages = (fs::metadata(&path).unwrap().len() - 65536) / 1024;
    assert_eq!(u64::from(salvaged.page_count), pages);
    assert_eq!(texts(&fixture, THEM), ["old", "old", "old"]);
}

/// The file's image of a page whose record is bad was never committed.
#[test]
fn a_bad_record_of_a_hot_journal_loses_its_page() {
    let fixture = Fixture::new();
    let open = "PRAGMA cache_size = 5; DROP INDEX note_by_text; BEGIN; UPDATE note SET text = 'open';";
    let path = with_log(&fixture, &LAYOUT, "DELETE", open);
    let journal = fixture.path("damaged.db-journal");
    // The third record, after a sector with the header.
    flip(&journal, 512 + 2 * (1024 + 8) + 4 + 100);
    let salvaged = save(&fixture, &path);
    let note = table(&salvaged, "note");
    assert_eq!((salvaged.bad_logs.len(), note.lost_count), (1, 1), "{salvaged:?}");
    assert_eq!(
        texts(&fixture, "SELECT count(*) || '' FROM note WHERE text = 'open'"),
        ["0"]
    );
}

#[test]
fn a_page_that_is_bad_in_the_file_and_good_in_the_log_is_no_loss() {
    let fixture = Fixture::new();
    let path = with_log(&fixture, &LAYOUT, "WAL", "UPDATE note SET text = text || ' again';");
    // Every page of the table is in the log: those of the file are not needed.
    let copy = fixture.path("probe.db");
    fs::copy(&path, &copy).unwrap();
    fs::copy(wal_of(&path), wal_of(&copy)).unwrap();
    let leaves = pages(&copy, &fixture, "note", "leaf");
    for companion in ["", "-wal", "-shm"] {
        fs::remove_file(fixture.path(&format!("probe.db{companion}"))).ok();
    }
    let end = fs::metadata(&path).unwrap().len();
    let in_file: Vec<u32> = leaves.into_iter().filter(|&page_no| place(page_no) < end).collect();
    assert!(in_file.len() > 20);
    for page_no in in_file {
        spoil(&path, page_no);
    }
    let salvaged = save(&fixture, &path);
    assert_eq!((salvaged.is_complete(), salvaged.bad_count), (true, 0), "{salvaged:?}");
    assert_eq!(
        texts(&fixture, "SELECT count(*) || '' FROM note WHERE text LIKE '% again'"),
        ["3000"]
    );
}

/// `no-older-substitute` of the snapshot: if not all frames behind the bad one were copied, the
/// file's image of its page is unknown.
#[test]
fn a_partly_copied_log_loses_the_page_of_its_bad_frame() {
    let fixture = Fixture::new();
    let first = format!(
        "DROP INDEX note_by_text; PRAGMA wal_checkpoint(TRUNCATE); UPDATE note SET text = 'zeroth' WHERE id = 1; {THREE}"
    );
    let then = "PRAGMA wal_checkpoint(PASSIVE); UPDATE note SET text = 'fourth' WHERE id = 2;";
    let path = with_reader(&fixture, &LAYOUT, "WAL", (&first, then));
    flip(&wal_of(&path), 32 + 2 * FRAME + 24 + 100);
    let salvaged = save(&fixture, &path);
    assert_eq!((salvaged.bad_logs.len(), table(&salvaged, "note").lost_count), (1, 1));
    assert_eq!(texts(&fixture, THEM), ["first", "third"]);
    assert_eq!(texts(&fixture, "SELECT text FROM note WHERE id = 2"), ["fourth"]);
}
