//! Readable rows of a damaged database are copied to the new one, and lost ones are reported.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selenite::salvage::{Lost, ReadFailure, Salvaged, SchemaState, TableReport, salvage};
use selenite::storage::Disk;
use selenite::{
    Access, AutoVacuum, Cell, Class, Database, Draft, EngineError, Layout, Observer, PageSize, Phase, Progress, Suite,
    Watch, verify,
};

use crate::pausing::{Pausing, Steps, watch};
use crate::support::{Collected, Fixture, holds, query};

/// Small pages: many of them, with few rows.
pub const LAYOUT: Layout = Layout {
    suite: Suite::Aegis128X4,
    page_size: PageSize::MIN,
    auto_vacuum: AutoVacuum::None,
};

/// A new encrypted database.
pub fn sealed(fixture: &Fixture, name: &str, layout: &Layout, sql: &str) -> PathBuf {
    let path = fixture.path(name);
    let database = Database::create(&Disk, &path, &fixture.access(), layout).unwrap();
    database.run(sql, &mut Collected::default()).unwrap();
    path
}

/// The offset of a page of 1024 bytes.
pub fn place(page_no: u32) -> u64 {
    65536 + (u64::from(page_no) - 1) * 1024
}

pub fn flip(path: &Path, offset: u64) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    byte[0] ^= 0x10;
    file.write_all_at(&byte, offset).unwrap();
}

pub fn spoil(path: &Path, page_no: u32) {
    flip(path, place(page_no) + 77);
}

/// The pages of a table or index of one kind, from SQLite: `internal`, `leaf` or `overflow`.
pub fn pages(path: &Path, fixture: &Fixture, name: &str, kind: &str) -> Vec<u32> {
    let sql = format!("SELECT pageno FROM dbstat WHERE name = '{name}' AND pagetype = '{kind}' ORDER BY path");
    numbers(path, fixture, &sql)
}

pub fn numbers(path: &Path, fixture: &Fixture, sql: &str) -> Vec<u32> {
    let rows = query(path, &fixture.access(), sql).unwrap();
    rows.into_iter()
        .map(|row| match row[0] {
            Cell::Integer(number) => u32::try_from(number).unwrap(),
            Cell::Null | Cell::Real(_) | Cell::Text(_) | Cell::Blob(_) => panic!("{row:?}"),
        })
        .collect()
}

pub fn try_save(fixture: &Fixture, path: &Path) -> Result<Salvaged, EngineError> {
    let to = fixture.path("saved.db");
    salvage(&Disk, path, &fixture.access(), (&to, &[]), &Watch::none())
}

/// Salvages to `saved.db`, and checks that it is sound and that the damaged database is unchanged.
pub fn save(fixture: &Fixture, path: &Path) -> Salvaged {
    let before = fs::read(path).unwrap();
    let names = fixture.names();
    let salvaged = try_save(fixture, path).unwrap();
    assert_eq!(fs::read(path).unwrap(), before);
    let mut expected = names;
    expected.push("saved.db".to_owned());
    expected.sort();
    assert_eq!(fixture.names(), expected);
    let report = verify::verify(
        &Disk,
        &salvaged.path,
        &fixture.access(),
        &verify::Verify::default(),
        &Watch::none(),
    )
    .unwrap();
    assert!(report.physical.is_good(), "{report:?}");
    assert_eq!(report.faults, Some(Vec::new()));
    salvaged
}

pub fn table<'a>(salvaged: &'a Salvaged, name: &str) -> &'a TableReport {
    salvaged.tables.iter().find(|table| table.name == name).unwrap()
}

pub fn saved(fixture: &Fixture, sql: &str) -> Vec<Vec<Cell>> {
    query(&fixture.path("saved.db"), &fixture.access(), sql).unwrap()
}

pub fn integer(number: i64) -> Vec<Vec<Cell>> {
    vec![vec![Cell::Integer(number)]]
}

pub const NOTES: &str = "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);
    CREATE INDEX note_by_text ON note (text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO note SELECT i, 'note ' || i || ' ' || hex(randomblob(i % 40)) FROM n;";

/// One of every kind of object and value.
const ALL_KINDS: &str = "
    PRAGMA user_version = -7; PRAGMA application_id = 77;
    CREATE TABLE value (a, b TEXT, c REAL, d INTEGER, e BLOB, f NUMERIC);
    INSERT INTO value VALUES (NULL, 'text', 1, 1, x'00ff', 1.5), (1.0, '', -0.5, -9223372036854775808, x'', 'no number'),
        ('1', char(8364, 128512, 65534, 0, 97), 1e300, 9223372036854775807, 'text', NULL),
        (0, '1', 2.0, 127, zeroblob(5000), 1), (1, printf('%.*c', 9000, 'y'), 9e999, 128, x'01', 0.1);
    ALTER TABLE value ADD COLUMN g DEFAULT 'later';
    INSERT INTO value (a, g) VALUES ('new', NULL);
    CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE);
    INSERT INTO counted (a) VALUES ('one'), ('two'), ('three');
    DELETE FROM counted WHERE id > 1;
    CREATE TABLE keyed (k TEXT COLLATE NOCASE, n INTEGER, v, PRIMARY KEY (n DESC, k)) WITHOUT ROWID;
    CREATE TABLE worked (a INTEGER, twice AS (a * 2), thrice INTEGER AS (a * 3) STORED, b) ;
    INSERT INTO worked (a, b) VALUES (1, 'x'), (-5, 'y');
    CREATE TABLE strict (id INT PRIMARY KEY, a ANY, t TEXT NOT NULL CHECK (length(t) > 0)) STRICT;
    INSERT INTO strict VALUES (1, '1', 't'), (2, 1, 'u');
    CREATE TABLE \"odd \"\"name\" (rowid, \"oid\" TEXT, [a b]);
    INSERT INTO \"odd \"\"name\" VALUES (7, 'o', 'ab');
    UPDATE \"odd \"\"name\" SET _rowid_ = 4711;
    CREATE TABLE taken (rowid, _rowid_, oid);
    INSERT INTO taken VALUES (1, 2, 3), (4, 5, 6);
    CREATE TABLE child (p REFERENCES strict (id));
    PRAGMA foreign_keys = OFF;
    INSERT INTO child VALUES (99);
    CREATE UNIQUE INDEX partial ON value (d) WHERE d > 0;
    CREATE INDEX expressed ON worked (abs(a));
    CREATE VIEW both AS SELECT a FROM worked UNION ALL SELECT n FROM keyed;
    CREATE TABLE log (what);
    CREATE TRIGGER told AFTER INSERT ON counted BEGIN INSERT INTO log VALUES (new.a); END;
    INSERT INTO counted (a) VALUES ('four');
    CREATE VIRTUAL TABLE words USING fts5 (body);
    INSERT INTO words VALUES ('the quick brown fox'), ('jumps over the dog');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
    INSERT INTO keyed SELECT 'key ' || i, i % 7, hex(randomblob(i * 9 % 2500)) FROM n;
    ANALYZE;";

const DUMPS: [&str; 10] = [
    "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name",
    "SELECT rowid, *, typeof(a), typeof(b), typeof(c), typeof(d), typeof(e), typeof(f), hex(b) FROM value",
    "SELECT * FROM counted ORDER BY id",
    "SELECT * FROM sqlite_sequence",
    "SELECT * FROM keyed",
    "SELECT rowid, *, twice FROM worked ORDER BY abs(a)",
    "SELECT rowid, *, typeof(a) FROM strict",
    "SELECT _rowid_, * FROM \"odd \"\"name\"",
    "SELECT * FROM taken UNION ALL SELECT what, 0, 0 FROM log UNION ALL SELECT p, 0, 0 FROM child UNION ALL SELECT a, 0, 0 FROM both",
    "SELECT rowid, body FROM words WHERE words MATCH 'the' ORDER BY rowid",
];

#[test]
fn a_sound_database_is_copied_unchanged_in_every_encoding_and_layout() {
    for (encoding, auto_vacuum, mode) in [
        ("UTF-8", AutoVacuum::None, "delete"),
        ("UTF-16le", AutoVacuum::Full, "wal"),
        ("UTF-16be", AutoVacuum::Incremental, "delete"),
    ] {
        let fixture = Fixture::new();
        let layout = Layout { auto_vacuum, ..LAYOUT };
        // An encoding is chosen before the first table, and Database::create makes none.
        let sql = format!("PRAGMA encoding = '{encoding}'; PRAGMA journal_mode = {mode}; {ALL_KINDS}");
        let path = sealed(&fixture, "app.db", &layout, &sql);
        let dump = |path: &Path| {
            let of = |sql: &&str| query(path, &fixture.access(), sql).unwrap();
            DUMPS.iter().map(of).collect::<Vec<_>>()
        };
        let before = dump(&path);
        let salvaged = save(&fixture, &path);
        assert!(salvaged.is_complete(), "{encoding}: {salvaged:?}");
        assert_eq!(
            (salvaged.bad_count, salvaged.schema, salvaged.suite),
            (0, SchemaState::Whole, Suite::Aegis128X4)
        );
        for (sql, (old, new)) in DUMPS.iter().zip(before.into_iter().zip(dump(&salvaged.path))) {
            assert_eq!(old, new, "{encoding}: {sql}");
        }
        for (pragma, value) in [
            ("encoding", encoding),
            ("journal_mode", mode),
            ("user_version", "-7"),
            ("application_id", "77"),
            ("page_size", "1024"),
        ] {
            let found = &saved(&fixture, &format!("SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}"))[0][0];
            assert_eq!(*found, Cell::Text(value.to_owned()), "{encoding}: {pragma}");
        }
        // A new rowid is above all that were ever assigned.
        saved(&fixture, "INSERT INTO counted (a) VALUES ('five')");
        assert_eq!(saved(&fixture, "SELECT max(id) FROM counted"), integer(5));
        assert!(!holds(&salvaged.path, b"quick brown"));
    }
}

#[test]
fn a_lost_leaf_is_reported_with_its_rows_and_all_others_are_copied() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &LAYOUT, NOTES);
    let leaves = pages(&path, &fixture, "note", "leaf");
    spoil(&path, leaves[10]);
    let salvaged = save(&fixture, &path);
    let note = table(&salvaged, "note");
    assert_eq!((salvaged.bad_count, note.lost_count, note.found_count), (1, 1, 0));
    let Lost::Page(hole) = &note.lost[0] else {
        panic!("{note:?}")
    };
    assert_eq!(
        (hole.page_no, hole.why, hole.may_be_inner),
        (leaves[10], ReadFailure::Bad, false)
    );
    let (above, up_to) = (hole.above.unwrap(), hole.up_to.unwrap());
    let lost = u64::try_from(up_to - above).unwrap();
    assert!(lost > 0 && note.row_count == 3000 - lost, "{note:?}");
    let sql = format!("SELECT count(*) FROM note WHERE id > {above} AND id <= {up_to}");
    assert_eq!(saved(&fixture, &sql), integer(0));
    assert!(!salvaged.is_complete());
}

#[test]
fn bad_pages_of_an_index_or_the_free_list_lose_no_row() {
    let fixture = Fixture::new();
    let sql = format!("{NOTES} CREATE TABLE gone AS SELECT * FROM note; DROP TABLE gone; ANALYZE;");
    let path = sealed(&fixture, "app.db", &LAYOUT, &sql);
    let index = pages(&path, &fixture, "note_by_text", "leaf");
    let root = pages(&path, &fixture, "note_by_text", "internal");
    let of_none = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT page_count FROM
        pragma_page_count)) SELECT i FROM n WHERE i NOT IN (SELECT pageno FROM dbstat)";
    let free = numbers(&path, &fixture, of_none);
    for page_no in [index[0], index[7], root[0], free[0], free[20]] {
        spoil(&path, page_no);
    }
    let salvaged = save(&fixture, &path);
    assert_eq!((salvaged.bad_count, salvaged.is_complete()), (5, true), "{salvaged:?}");
    assert_eq!(saved(&fixture, "SELECT count(*) FROM note"), integer(3000));
    assert_eq!(
        saved(&fixture, "SELECT count(*) FROM note WHERE text > ''"),
        integer(3000)
    );
}

#[test]
fn a_lost_overflow_page_loses_one_row() {
    let fixture = Fixture::new();
    let sql =
        "CREATE TABLE long (a, b); INSERT INTO long VALUES (1, zeroblob(20000)), (2, 'short'), (3, zeroblob(20000));
        CREATE TABLE keyed (a PRIMARY KEY, b) WITHOUT ROWID;
        INSERT INTO keyed VALUES (1, zeroblob(20000)), (2, 'short'), (3, zeroblob(20000));";
    let path = sealed(&fixture, "app.db", &LAYOUT, sql);
    for name in ["long", "keyed"] {
        spoil(&path, pages(&path, &fixture, name, "overflow")[25]);
    }
    let salvaged = save(&fixture, &path);
    let long = table(&salvaged, "long");
    assert_eq!((long.row_count, long.lost_count), (2, 1));
    assert!(matches!(long.lost[0], Lost::Row { rowid: Some(3), .. }), "{long:?}");
    let keyed = table(&salvaged, "keyed");
    assert!(matches!(keyed.lost[0], Lost::Row { rowid: None, .. }), "{keyed:?}");
    assert_eq!(saved(&fixture, "SELECT sum(a) FROM long"), integer(3));
    assert_eq!(
        saved(&fixture, "SELECT sum(a), sum(length(b)) FROM keyed"),
        [[3, 20005].map(Cell::Integer).to_vec()]
    );
}

#[test]
fn a_page_of_another_table_or_database_is_not_taken() {
    let fixture = Fixture::new();
    let sql = format!("{NOTES} CREATE TABLE twin AS SELECT id, 'forged ' || id AS text FROM note;");
    let path = sealed(&fixture, "app.db", &LAYOUT, &sql);
    let other = sealed(&fixture, "other.db", &LAYOUT, &sql);
    let (notes, twins) = (
        pages(&path, &fixture, "note", "leaf"),
        pages(&path, &fixture, "twin", "leaf"),
    );
    let mut image = vec![0; 1024];
    let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    file.read_exact_at(&mut image, place(twins[3])).unwrap();
    file.write_all_at(&image, place(notes[3])).unwrap();
    let from = fs::File::open(&other).unwrap();
    from.read_exact_at(&mut image, place(notes[5])).unwrap();
    file.write_all_at(&image, place(notes[5])).unwrap();
    drop(file);
    fs::remove_file(&other).unwrap();
    let salvaged = save(&fixture, &path);
    assert_eq!((salvaged.bad_count, table(&salvaged, "note").lost_count), (2, 2));
    assert_eq!(
        saved(&fixture, "SELECT count(*) FROM note WHERE text NOT LIKE 'note %'"),
        integer(0)
    );
    assert_eq!(table(&salvaged, "twin").row_count, 3000);
}

/// A page does not show how old it is; but the rowids of an older one are not those of its place.
#[test]
fn an_older_page_does_not_restore_its_rows_in_place_of_others() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &LAYOUT, NOTES);
    let (old, old_leaves) = (fs::read(&path).unwrap(), pages(&path, &fixture, "note", "leaf"));
    let sql = "UPDATE note SET id = id + 10000; DELETE FROM note WHERE id > 12990";
    query(&path, &fixture.access(), sql).unwrap();
    let leaves = pages(&path, &fixture, "note", "leaf");
    let page_no = *leaves[5..].iter().find(|page_no| old_leaves.contains(page_no)).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let at = usize::try_from(place(page_no)).unwrap();
    bytes[at..at + 1024].copy_from_slice(&old[at..at + 1024]);
    fs::write(&path, bytes).unwrap();
    let salvaged = save(&fixture, &path);
    let note = table(&salvaged, "note");
    assert_eq!((salvaged.bad_count, note.lost_count), (0, 1));
    assert!(
        matches!(&note.lost[0], Lost::Page(hole) if hole.why == ReadFailure::Misplaced),
        "{note:?}"
    );
    assert_eq!(
        saved(&fixture, "SELECT count(*) FROM note WHERE id <= 10000"),
        integer(0)
    );
}

#[test]
fn a_definition_that_needs_its_application_is_reported_and_its_rows_are_kept() {
    let fixture = Fixture::new();
    // As if written by an application that has the function: the schema is changed accordingly.
    let sql = format!(
        "{NOTES} CREATE TABLE special (a, b AS (a + 1) STORED); INSERT INTO special (a) VALUES (1), (2);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE TABLE special (a, b AS (their_own(a)) STORED)' WHERE name = 'special';
        INSERT INTO sqlite_schema VALUES ('table', 'evil', 'evil', 2, 'ATTACH ''{}'' AS evil');",
        fixture.path("evil.db").display()
    );
    let path = sealed(&fixture, "app.db", &LAYOUT, &sql);
    let salvaged = save(&fixture, &path);
    let mut names: Vec<&str> = salvaged.not_made.iter().map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["evil", "special"], "{salvaged:?}");
    assert_eq!(
        saved(
            &fixture,
            "SELECT name, c0, c1 FROM lost_and_found WHERE name = 'special' ORDER BY id"
        ),
        [[1, 2], [2, 3]].map(|[a, b]| vec![Cell::Text("special".to_owned()), Cell::Integer(a), Cell::Integer(b)])
    );
    assert!(!fixture.path("evil.db").exists());
}

#[test]
fn salvage_overwrites_nothing_and_leaves_no_draft() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &LAYOUT, NOTES);
    fs::write(fixture.path("saved.db"), "there").unwrap();
    assert!(matches!(try_save(&fixture, &path), Err(EngineError::Exists { .. })));
    assert_eq!(fs::read(fixture.path("saved.db")).unwrap(), b"there");
    fs::remove_file(fixture.path("saved.db")).unwrap();
    fs::write(fixture.path("saved.db-wal"), "").unwrap();
    assert!(matches!(try_save(&fixture, &path), Err(EngineError::Exists { .. })));
    fs::remove_file(fixture.path("saved.db-wal")).unwrap();
    // Interrupted in each phase.
    for phase in [Phase::Verifying, Phase::Copying] {
        let watch = Watch::new(Arc::new(Stopper {
            phase,
            is_stopped: false.into(),
        }));
        let to = fixture.path("saved.db");
        let stopped = salvage(&Disk, &path, &fixture.access(), (&to, &[]), &watch);
        assert!(matches!(stopped, Err(EngineError::Interrupted)), "{stopped:?}");
        assert_eq!(fixture.names(), ["app.db"]);
    }
    let to = fixture.path("saved.db");
    let error = salvage(
        &Disk,
        &path,
        &fixture.access_by("other-key"),
        (&to, &[]),
        &Watch::none(),
    )
    .unwrap_err();
    assert_eq!(
        (error.class(), fixture.names()),
        (Class::Key, vec!["app.db".to_owned()])
    );
}

/// Checks every file at every step.
struct Looker {
    target: PathBuf,
    is_named: AtomicBool,
}

impl Steps for Looker {
    fn step(&self, name: &str) {
        if self.is_named.load(Ordering::SeqCst) {
            return;
        }
        let folder = self.target.parent().unwrap();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // SQLite may remove its journal meanwhile: only the draft has one.
            assert!(
                !path.exists() || !holds(&path, b"CREATE TABLE") && !holds(&path, b"note 1"),
                "{name}: {path:?}"
            );
        }
        assert!(!self.target.exists(), "{name}: the new name comes last");
        if name == "rename_new" {
            // A kill before this leaves a draft, which a later run reports.
            let drafts = Draft::leftovers(&Disk, &self.target).unwrap();
            assert_eq!(drafts.len(), 1);
            let report = verify::physical(&Disk, &drafts[0], &self.access(), &Watch::none()).unwrap();
            assert!(report.is_good() && report.page_count > 100);
            self.is_named.store(true, Ordering::SeqCst);
        }
    }
}

impl Looker {
    fn access(&self) -> Access {
        let key = self.target.with_file_name("key");
        Access {
            identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
            ..Access::default()
        }
    }
}

#[test]
fn nothing_is_written_unencrypted_and_the_rename_comes_last() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &LAYOUT, NOTES);
    let to = fixture.path("new.db");
    let steps = Arc::new(Looker {
        target: to.clone(),
        is_named: false.into(),
    });
    let storage = Pausing(steps.clone());
    salvage(&storage, &path, &fixture.access(), (&to, &[]), &watch(&steps)).unwrap();
    assert!(steps.is_named.load(Ordering::SeqCst));
    assert_eq!(
        query(&to, &fixture.access(), "SELECT count(*) FROM note").unwrap(),
        integer(3000)
    );
    let draft = fixture.path(".saved.db.selenite-tmp-00000000");
    fs::write(&draft, "").unwrap();
    assert_eq!(save(&fixture, &path).leftovers, [draft]);
}

struct Stopper {
    phase: Phase,
    is_stopped: AtomicBool,
}

impl Observer for Stopper {
    fn progress(&self, progress: Progress) {
        if progress.phase == self.phase {
            self.is_stopped.store(true, Ordering::SeqCst);
        }
    }

    fn is_interrupted(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }
}

/// Writes to the database while its rows are copied.
struct Writer(PathBuf);

impl Observer for Writer {
    fn progress(&self, progress: Progress) {
        if progress.phase == Phase::Copying {
            flip(&self.0, place(1) + 1023);
        }
    }

    fn is_interrupted(&self) -> bool {
        false
    }
}

#[test]
fn a_database_that_is_written_to_meanwhile_is_refused() {
    let fixture = Fixture::new();
    let path = sealed(
        &fixture,
        "app.db",
        &LAYOUT,
        "CREATE TABLE t (a); INSERT INTO t VALUES (1);",
    );
    let watch = Watch::new(Arc::new(Writer(path.clone())));
    let to = fixture.path("saved.db");
    let error = salvage(&Disk, &path, &fixture.access(), (&to, &[]), &watch).unwrap_err();
    assert_eq!(error.class(), Class::Busy, "{error}");
    assert_eq!(fixture.names(), ["app.db"]);
}
