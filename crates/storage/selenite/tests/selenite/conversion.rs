//! Encryption and decryption keep every kind of database unchanged.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::pausing::{Pausing, Steps};
use crate::support::{Fixture, holds, query, query_plain};
use selenite::storage::Disk;
use selenite::{
    Access, Cell, Encrypt, EngineError, Observer, Progress, Suite, Target, Watch, decrypt, encrypt, verify,
};

fn encrypt_in_place(path: &Path, access: &Access) -> Result<selenite::Outcome, EngineError> {
    encrypt(&Disk, path, access, &Encrypt::default(), &Watch::none())
}

fn decrypt_in_place(path: &Path, access: &Access) -> Result<selenite::Outcome, EngineError> {
    decrypt(&Disk, path, access, &Target::InPlace, &Watch::none())
}

const NOTES: &str = "
    CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL, weight REAL, extra BLOB);
    CREATE INDEX note_by_text ON note (text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO note SELECT i * 3, 'a secret of ours number ' || i, i / 7.0, zeroblob(i) FROM n;
    PRAGMA user_version = 42; PRAGMA application_id = 77;";

const DUMP: &str = "SELECT rowid, * FROM note ORDER BY id";

/// Encrypts, compares, decrypts, compares.
fn round_trip(fixture: &Fixture, path: &Path, suite: Suite, sql: &str) {
    let access = fixture.access();
    let before = query_plain(path, sql);
    assert!(!before.is_empty());
    let how = Encrypt {
        suite,
        ..Encrypt::default()
    };
    encrypt(&Disk, path, &access, &how, &Watch::none()).unwrap();
    assert_eq!(query(path, &access, sql).unwrap(), before);
    let report = verify::verify(&Disk, path, &access, &verify::Verify::default(), &Watch::none()).unwrap();
    assert!(report.physical.is_good(), "{report:?}");
    assert_eq!(report.faults, Some(Vec::new()));
    assert!(report.physical.page_count > 1);
    decrypt_in_place(path, &access).unwrap();
    assert_eq!(query_plain(path, sql), before);
    // A SQLite without the extension reads it; its pages have no reserved bytes.
    let stock = rusqlite::Connection::open(path).unwrap();
    let fault: String = stock.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(fault, "ok");
    assert_eq!(std::fs::read(path).unwrap()[20], 0);
}

#[test]
fn every_suite_comes_out_the_same() {
    for suite in Suite::ALL {
        if suite == Suite::None {
            continue;
        }
        let fixture = Fixture::new();
        let path = fixture.plain("app.db", NOTES);
        round_trip(&fixture, &path, suite, DUMP);
        assert_eq!(fixture.names(), ["app.db"], "{suite}");
    }
}

#[test]
fn every_page_size_comes_out_the_same() {
    for page_size in [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536] {
        let fixture = Fixture::new();
        let path = fixture.plain("app.db", &format!("PRAGMA page_size = {page_size}; {NOTES}"));
        let access = fixture.access();
        let before = query_plain(&path, DUMP);
        encrypt_in_place(&path, &access).unwrap();
        assert_eq!(query(&path, &access, DUMP).unwrap(), before, "{page_size}");
        let found = query(&path, &access, "PRAGMA page_size").unwrap();
        assert_eq!(found, [[Cell::Integer(page_size.max(1024))]], "{page_size}");
        assert_eq!(fixture.names(), ["app.db"]);
    }
}

#[test]
fn nothing_of_the_contents_is_left_in_the_encrypted_file() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", NOTES);
    assert!(holds(&path, b"a secret of ours"));
    let outcome = encrypt_in_place(&path, &fixture.access()).unwrap();
    assert_eq!((outcome.table_count, outcome.row_count), (1, 300));
    assert_eq!(outcome.slots.len(), 1);
    for needle in [b"a secret of ours".as_slice(), b"note_by_text", b"SQLite format 3"] {
        assert!(!holds(&path, needle));
    }
}

#[test]
fn a_database_in_wal_mode_stays_in_wal_mode() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", &format!("PRAGMA journal_mode = WAL; {NOTES}"));
    let access = fixture.access();
    round_trip(&fixture, &path, Suite::Aes256, DUMP);
    assert_eq!(fixture.names(), ["app.db"]);
    assert_eq!(query_plain(&path, "PRAGMA journal_mode"), [[Cell::Text("wal".into())]]);
    encrypt_in_place(&path, &access).unwrap();
    let mode = query(&path, &access, "PRAGMA journal_mode").unwrap();
    assert_eq!(mode, [[Cell::Text("wal".into())]]);
}

/// A process that ended without closing leaves its log behind: the commits in it count.
#[test]
fn commits_that_are_only_in_the_log_are_not_lost() {
    let fixture = Fixture::new();
    let made = fixture.plain("made.db", &format!("PRAGMA journal_mode = WAL; {NOTES}"));
    let connection = rusqlite::Connection::open(&made).unwrap();
    connection
        .execute_batch("INSERT INTO note VALUES (9999, 'in the log only', 1, NULL)")
        .unwrap();
    let path = fixture.path("app.db");
    std::fs::copy(&made, &path).unwrap();
    std::fs::copy(fixture.path("made.db-wal"), fixture.path("app.db-wal")).unwrap();
    connection.close().unwrap();
    std::fs::remove_file(&made).unwrap();
    let access = fixture.access();
    encrypt_in_place(&path, &access).unwrap();
    let found = query(&path, &access, "SELECT text FROM note WHERE id = 9999").unwrap();
    assert_eq!(found, [[Cell::Text("in the log only".into())]]);
    assert_eq!(fixture.names(), ["app.db"]);
}

#[test]
fn rowids_auto_vacuum_and_sequences_are_kept() {
    for (word, number) in [("FULL", 1), ("INCREMENTAL", 2), ("NONE", 0)] {
        let fixture = Fixture::new();
        let sql = format!(
            "PRAGMA auto_vacuum = {word};
             CREATE TABLE bare (a);
             INSERT INTO bare (rowid, a) VALUES (5, 'x'), (90, 1), (7000000000, 1.0), (-3, x'00');
             CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, a);
             INSERT INTO counted VALUES (41, 'x'); DELETE FROM counted;"
        );
        let path = fixture.plain("app.db", &sql);
        let dump = "SELECT rowid, a, typeof(a) FROM bare UNION ALL SELECT seq, name, 'seq' FROM sqlite_sequence";
        round_trip(&fixture, &path, Suite::Aes256, dump);
        let access = fixture.access();
        encrypt_in_place(&path, &access).unwrap();
        assert_eq!(
            query(&path, &access, "PRAGMA auto_vacuum").unwrap(),
            [[Cell::Integer(number)]]
        );
    }
}

#[test]
fn full_text_indexes_views_triggers_and_tables_without_rowid_are_kept() {
    let fixture = Fixture::new();
    let path = fixture.plain(
        "app.db",
        "CREATE TABLE pair (a TEXT COLLATE NOCASE, b, c AS (a || b) STORED, d AS (b + 1), PRIMARY KEY (a, b)) WITHOUT ROWID;
         INSERT INTO pair (a, b) VALUES ('x', 1), ('Y', 2), ('x', 3);
         CREATE TABLE \"odd \"\" name\" (rowid, \"order\", _rowid_, oid);
         INSERT INTO \"odd \"\" name\" VALUES (1, 2, 3, 4), (NULL, 'z', 2.5, x'ff');
         CREATE VIRTUAL TABLE text USING fts5 (body);
         INSERT INTO text VALUES ('the quick brown fox'), ('jumps over the lazy dog');
         CREATE VIRTUAL TABLE place USING rtree (id, x0, x1);
         INSERT INTO place VALUES (1, 0, 5), (2, 3, 9);
         CREATE TABLE log (a); CREATE VIEW both AS SELECT a FROM pair;
         CREATE TRIGGER noted AFTER INSERT ON pair BEGIN INSERT INTO log VALUES (new.a); END;
         CREATE INDEX partial ON pair (b) WHERE b > 1; ANALYZE;",
    );
    let dump = "SELECT a, b, c, d FROM pair UNION ALL SELECT *, 1, 1, 1 FROM text ('lazy')
                UNION ALL SELECT * FROM \"odd \"\" name\" UNION ALL SELECT id, x0, x1, 0 FROM place
                UNION ALL SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    let sorted = format!("SELECT * FROM ({dump}) ORDER BY 1, 2, 3, 4");
    round_trip(&fixture, &path, Suite::Aes256, &sorted);
    let access = fixture.access();
    encrypt_in_place(&path, &access).unwrap();
    query(&path, &access, "INSERT INTO pair (a, b) VALUES ('q', 9)").unwrap();
    let logged = query(&path, &access, "SELECT a FROM log").unwrap();
    assert_eq!(logged, [[Cell::Text("q".into())]]);
}

/// SQLite then writes pages of the copy before the transaction ends, and page 1 last.
#[test]
fn a_database_larger_than_the_page_cache_comes_out_the_same() {
    let fixture = Fixture::new();
    let path = fixture.plain(
        "app.db",
        "CREATE TABLE note (a, b);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
         INSERT INTO note SELECT i, randomblob(300) FROM n; CREATE INDEX by_b ON note (b);",
    );
    assert!(std::fs::metadata(&path).unwrap().len() > 16 << 20);
    round_trip(
        &fixture,
        &path,
        Suite::Aes256,
        "SELECT count(*), sum(a), max(b) FROM note",
    );
}

#[test]
fn other_encodings_are_kept() {
    for encoding in ["UTF-16le", "UTF-16be"] {
        let fixture = Fixture::new();
        let path = fixture.plain("app.db", &format!("PRAGMA encoding = '{encoding}'; {NOTES}"));
        round_trip(&fixture, &path, Suite::Aegis128X4, DUMP);
        let access = fixture.access();
        encrypt_in_place(&path, &access).unwrap();
        let found = query(&path, &access, "PRAGMA encoding").unwrap();
        assert_eq!(found, [[Cell::Text(encoding.into())]]);
    }
}

#[test]
fn chinook_comes_out_the_same() {
    let chinook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/chinook.db");
    if !chinook.exists() {
        return;
    }
    let fixture = Fixture::new();
    let path = fixture.path("chinook.db");
    std::fs::copy(&chinook, &path).unwrap();
    round_trip(&fixture, &path, Suite::Aes256, "SELECT * FROM Track ORDER BY TrackId");
}

#[test]
fn conversion_to_a_new_file_keeps_the_old_one_and_overwrites_nothing() {
    let fixture = Fixture::new();
    let (access, watch) = (fixture.access(), Watch::none());
    let path = fixture.plain("app.db", NOTES);
    let bytes = std::fs::read(&path).unwrap();
    let how = Encrypt {
        target: Target::New(fixture.path("new.db")),
        ..Encrypt::default()
    };
    encrypt(&Disk, &path, &access, &how, &watch).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(
        query(&fixture.path("new.db"), &access, DUMP).unwrap(),
        query_plain(&path, DUMP)
    );
    let again = encrypt(&Disk, &path, &access, &how, &watch);
    assert!(matches!(again, Err(EngineError::Exists { .. })), "{again:?}");

    let clear = Target::New(fixture.path("clear.db"));
    decrypt(&Disk, &fixture.path("new.db"), &access, &clear, &watch).unwrap();
    assert_eq!(query_plain(&fixture.path("clear.db"), DUMP), query_plain(&path, DUMP));
    let mode = std::fs::metadata(fixture.path("clear.db"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(fixture.names(), ["app.db", "clear.db", "new.db"]);
}

/// SQLite would replay a log of that name into the new database.
#[test]
fn a_new_name_is_taken_if_a_log_of_it_is_there() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", NOTES);
    std::fs::write(fixture.path("new.db-wal"), "left behind").unwrap();
    let how = Encrypt {
        target: Target::New(fixture.path("new.db")),
        ..Encrypt::default()
    };
    let refused = encrypt(&Disk, &path, &fixture.access(), &how, &Watch::none());
    assert!(matches!(refused, Err(EngineError::Exists { .. })), "{refused:?}");
}

#[test]
fn owner_and_mode_are_those_of_the_old_file() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", NOTES);
    // Only root can change the owner; for another user the file's owner is the same anyway.
    let given_away = std::os::unix::fs::chown(&path, Some(12345), Some(23456)).is_ok();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    encrypt_in_place(&path, &fixture.access()).unwrap();
    let metadata = std::fs::metadata(&path).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o640);
    assert!(!given_away || (metadata.uid(), metadata.gid()) == (12345, 23456));
}

#[test]
fn a_link_stays_a_link_and_a_second_name_is_refused() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", NOTES);
    let link = fixture.path("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    encrypt_in_place(&link, &fixture.access()).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(query(&path, &fixture.access(), DUMP).unwrap().len(), 300);

    let path = fixture.plain("two.db", NOTES);
    std::fs::hard_link(&path, fixture.path("second.db")).unwrap();
    let refused = encrypt_in_place(&path, &fixture.access());
    assert!(matches!(refused, Err(EngineError::Usage { .. })), "{refused:?}");
}

#[test]
fn a_database_in_use_is_busy_and_unchanged() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let path = fixture.plain("app.db", &format!("PRAGMA journal_mode = {mode}; {NOTES}"));
        let user = rusqlite::Connection::open(&path).unwrap();
        user.execute_batch("BEGIN; SELECT count(*) FROM note").unwrap();
        // The connection is of this process; one of another process would make it busy, too.
        let refused = encrypt_in_place(&path, &fixture.access());
        assert!(matches!(refused, Err(EngineError::Busy { .. })), "{mode}: {refused:?}");
        drop(user);
        encrypt_in_place(&path, &fixture.access()).unwrap();
    }
}

#[test]
fn an_encrypted_database_is_not_encrypted_again_and_an_unencrypted_one_not_decrypted() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", NOTES);
    let refused = decrypt_in_place(&path, &fixture.access());
    assert!(matches!(refused, Err(EngineError::NotEncrypted { .. })), "{refused:?}");
    encrypt_in_place(&path, &fixture.access()).unwrap();
    let refused = encrypt_in_place(&path, &fixture.access());
    assert!(
        matches!(refused, Err(EngineError::AlreadyEncrypted { .. })),
        "{refused:?}"
    );
    let refused = decrypt_in_place(&path, &fixture.access_by("other-key"));
    assert_eq!(refused.unwrap_err().class(), selenite::Class::Key);
}

#[test]
fn recipients_can_open_it_too() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", NOTES);
    let how = Encrypt {
        recipients: vec![fixture.spec("other-key"), fixture.spec("key")],
        ..Encrypt::default()
    };
    let outcome = encrypt(&Disk, &path, &fixture.access(), &how, &Watch::none()).unwrap();
    assert_eq!(outcome.slots.len(), 2, "who has a slot gets no second one");
    for key in ["key", "other-key"] {
        assert_eq!(query(&path, &fixture.access_by(key), DUMP).unwrap().len(), 300);
    }
}

#[test]
fn leftovers_of_an_earlier_run_are_removed() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", NOTES);
    for left in [".app.db.selenite-tmp-00000000", ".app.db.selenite-tmp-00000000-wal"] {
        std::fs::write(fixture.path(left), "x").unwrap();
    }
    let outcome = encrypt_in_place(&path, &fixture.access()).unwrap();
    assert_eq!(outcome.removed.len(), 2);
    assert_eq!(fixture.names(), ["app.db"]);
}

/// Records the phases that are reported.
#[derive(Default)]
struct Phases(std::sync::Mutex<std::collections::BTreeSet<String>>);

impl Observer for Phases {
    fn progress(&self, progress: Progress) {
        self.0.lock().unwrap().insert(format!("{:?}", progress.phase));
    }

    fn is_interrupted(&self) -> bool {
        false
    }
}

fn phases_of(work: impl FnOnce(&Watch)) -> Vec<String> {
    let phases = Arc::new(Phases::default());
    work(&Watch::new(phases.clone()));
    phases.0.lock().unwrap().iter().cloned().collect()
}

/// In place and to a new file; the log has pages that the database file does not have.
#[test]
fn a_copy_with_the_same_trees_is_compared_once() {
    let fixture = Fixture::new();
    let access = fixture.access();
    let made = fixture.plain("made.db", &format!("PRAGMA journal_mode = WAL; {NOTES}"));
    let connection = rusqlite::Connection::open(&made).unwrap();
    connection
        .execute_batch("UPDATE note SET text = 'in the log only'")
        .unwrap();
    let path = fixture.path("app.db");
    fs::copy(&made, &path).unwrap();
    fs::copy(fixture.path("made.db-wal"), fixture.path("app.db-wal")).unwrap();
    drop(connection);
    let rows = query_plain(&made, DUMP);
    let new = |name: &str| Target::New(fixture.path(name));
    let mut how = Encrypt {
        target: new("sealed.db"),
        ..Encrypt::default()
    };
    let done = phases_of(|watch| drop(encrypt(&Disk, &path, &access, &how, watch).unwrap()));
    assert_eq!(done, ["Comparing", "Copying"]);
    assert_eq!(query(&fixture.path("sealed.db"), &access, DUMP).unwrap(), rows);
    how.target = Target::InPlace;
    let done = phases_of(|watch| drop(encrypt(&Disk, &path, &access, &how, watch).unwrap()));
    assert_eq!(done, ["Comparing", "Copying"]);
    let done = phases_of(|watch| drop(decrypt(&Disk, &path, &access, &new("clear.db"), watch).unwrap()));
    assert_eq!(done, ["Comparing", "Copying"]);
    assert_eq!(query_plain(&fixture.path("clear.db"), DUMP), rows);
    let done = phases_of(|watch| drop(decrypt(&Disk, &path, &access, &Target::InPlace, watch).unwrap()));
    assert_eq!(done, ["Comparing", "Copying"]);
    assert_eq!(query_plain(&path, DUMP), rows);
}

/// VACUUM omits an empty `sqlite_sequence` that no table needs.
#[test]
fn a_copy_with_other_trees_is_compared_value_by_value() {
    let fixture = Fixture::new();
    let access = fixture.access();
    let sql = format!("{NOTES} CREATE TABLE counted (a INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE counted;");
    let path = fixture.plain("app.db", &sql);
    let rows = query_plain(&path, DUMP);
    let done = phases_of(|watch| drop(encrypt(&Disk, &path, &access, &Encrypt::default(), watch).unwrap()));
    assert_eq!(done, ["Comparing", "Copying", "Verifying"]);
    assert_eq!(query(&path, &access, DUMP).unwrap(), rows);
}

/// Changes a byte of the draft, as a disk may, before it is read again.
struct Spoil {
    folder: std::path::PathBuf,
    needle: &'static [u8],
    is_last: bool,
    spoiled: AtomicBool,
}

impl Steps for Spoil {
    fn step(&self, name: &str) {
        let draft = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.to_string_lossy().contains("selenite-tmp"));
        let Some(draft) = draft.filter(|_| name == "open" && !self.spoiled.load(Ordering::SeqCst)) else {
            return;
        };
        let mut bytes = fs::read(&draft).unwrap();
        let mut places = bytes.windows(self.needle.len()).enumerate();
        let mut found = places
            .by_ref()
            .filter(|(_, window)| *window == self.needle)
            .map(|(place, _)| place);
        let place = if self.is_last { found.last() } else { found.next() };
        if let Some(place) = place {
            bytes[place] ^= 1;
            fs::write(&draft, bytes).unwrap();
            self.spoiled.store(true, Ordering::SeqCst);
        }
    }
}

#[test]
fn a_byte_that_changed_in_the_copy_is_found_in_a_table_and_in_an_index() {
    let needle = b"a secret of ours number 77";
    for (is_last, fault) in [(false, "table note has other values"), (true, "integrity_check: ")] {
        let fixture = Fixture::new();
        let access = fixture.access();
        // The table's pages are before the index's.
        let path = fixture.plain("app.db", NOTES);
        encrypt_in_place(&path, &access).unwrap();
        let before = fs::read(&path).unwrap();
        let steps = Arc::new(Spoil {
            folder: fixture.folder.path().to_owned(),
            needle,
            is_last,
            spoiled: AtomicBool::new(false),
        });
        let error = decrypt(
            &Pausing(steps.clone()),
            &path,
            &access,
            &Target::InPlace,
            &Watch::none(),
        )
        .unwrap_err();
        assert!(steps.spoiled.load(Ordering::SeqCst));
        assert!(matches!(error, EngineError::CopyDiffers { .. }), "{error:?}");
        assert!(error.to_string().contains(fault), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(fixture.names(), ["app.db"]);
    }
}
