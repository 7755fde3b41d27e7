//! No plaintext is written to the disk, in any file or at any time; the same workload without
//! encryption shows that it would be found.

use std::collections::HashSet;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::backup::Backup;
use selenite_testing::recorder::{find_markers, find_words, roles_of, writes_of};
use selenite_testing::{Call, Disk, KeyFile, Opening};
use selenite_vfs::role::Role;

/// The place of each marker. Schema names are data, too.
const MARKERS: [&str; 12] = [
    "Marker_Table_0",
    "Marker_Index_1",
    "Marker_Blob_2",
    "Marker_Old_3",
    "Marker_Temp_4",
    "Marker_Sorter_5",
    "Marker_Statement_6",
    "Marker_Schema_7",
    "Marker_Attached_8",
    "Marker_Deleted_9",
    "Marker_Fulltext_10",
    "Marker_Rolled_Back_11",
];

const MODES: [&str; 4] = ["delete", "persist", "truncate", "wal"];

/// Which files of an unencrypted database contain which markers, in every mode.
const EXPECTED: [(usize, Role); 13] = [
    (0, Role::Main),
    (1, Role::Main),
    (2, Role::Main),
    (3, Role::Main),
    (4, Role::Nameless),
    (5, Role::Nameless),
    (6, Role::Nameless),
    (7, Role::Main),
    (8, Role::Main),
    (9, Role::Main),
    (10, Role::Main),
    // VACUUM writes all of it through a temporary file.
    (1, Role::Nameless),
    (2, Role::Nameless),
];

struct Openings {
    main: Opening,
    other: Opening,
    copy: Opening,
    into: Opening,
}

impl Openings {
    fn of(main: Opening) -> Self {
        Self {
            other: main.at("/markers/other.db"),
            copy: main.at("/markers/copy.db"),
            into: main.at("/markers/into.db"),
            main,
        }
    }
}

/// A text that consists almost only of the marker.
fn filled(marker: usize, size: usize) -> String {
    MARKERS[marker].repeat(size / MARKERS[marker].len() + 1)
}

fn make_tables(connection: &Connection, mode: &str) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = {mode}; PRAGMA cache_size = 20; PRAGMA cache_spill = 5; PRAGMA temp_store = file;
         PRAGMA secure_delete = on;
         CREATE TABLE Marker_Schema_7(id INTEGER PRIMARY KEY, number INTEGER, name TEXT, body BLOB, other TEXT);
         CREATE INDEX by_other ON Marker_Schema_7(other);
         CREATE UNIQUE INDEX by_number ON Marker_Schema_7(number);
         CREATE VIRTUAL TABLE words USING fts5(word);
         BEGIN;"
    ))?;
    let mut insert = connection.prepare("INSERT INTO Marker_Schema_7 VALUES(?1, ?1, ?2, ?3, ?4)")?;
    for id in 0..300 {
        let name = if id % 2 == 0 { filled(0, 200) } else { filled(3, 200) };
        let body = filled(2, if id % 50 == 0 { 9000 } else { 100 });
        insert.execute((id, name, body.into_bytes(), format!("{id} {}", MARKERS[1])))?;
    }
    connection.execute("INSERT INTO words VALUES(?1)", [MARKERS[10]])?;
    connection.execute_batch("COMMIT")
}

/// Changes that are journaled: of the transaction, of savepoints, of statements.
fn change_rows(connection: &Connection) -> rusqlite::Result<()> {
    let table = "Marker_Schema_7";
    connection.execute(&format!("UPDATE {table} SET name = 'new' WHERE id % 2 = 1"), [])?;
    connection.execute_batch("BEGIN; SAVEPOINT a")?;
    connection.execute(&format!("UPDATE {table} SET name = ?1"), [filled(11, 300)])?;
    connection.execute_batch("ROLLBACK TO a; COMMIT")?;
    connection.execute(
        &format!("UPDATE {table} SET name = ?1 WHERE id < 150"),
        [filled(9, 200)],
    )?;
    connection.execute(&format!("DELETE FROM {table} WHERE id < 20"), [])?;
    // A statement that fails half-way in a transaction needs a statement journal.
    connection.execute_batch("BEGIN")?;
    connection.execute(&format!("UPDATE {table} SET name = ?1"), [filled(6, 900)])?;
    let failed = connection.execute(
        &format!("UPDATE {table} SET number = CASE id WHEN 299 THEN -50 ELSE -id END, name = 'x'"),
        [],
    );
    assert!(failed.is_err(), "the index is unique");
    connection.execute_batch("COMMIT")
}

fn use_temporary_files(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA temp.cache_size = 5; CREATE TEMP TABLE t(id INTEGER PRIMARY KEY, body TEXT)")?;
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
         INSERT INTO t SELECT i, ?1 FROM n",
        [filled(4, 900)],
    )?;
    let sorted: i64 = connection.query_row(
        "SELECT count(*) FROM (
           SELECT id, ?1 || id AS text FROM t ORDER BY text, hex(body) LIMIT 100000 OFFSET 1)",
        [filled(5, 2000)],
        |row| row.get(0),
    )?;
    assert_eq!(sorted, 799);
    Ok(())
}

fn use_other_databases(connection: &Connection, openings: &Openings, mode: &str) -> rusqlite::Result<()> {
    openings.other.attach(connection, "other")?;
    connection.execute_batch(&format!(
        "PRAGMA other.journal_mode = {mode};
         CREATE TABLE other.t(body TEXT);
         BEGIN; UPDATE Marker_Schema_7 SET name = 'both' WHERE id = 200; INSERT INTO other.t VALUES('Marker_Attached_8');
         COMMIT; DETACH other;"
    ))?;
    connection.execute_batch("VACUUM")?;
    connection.execute("VACUUM INTO ?1", [openings.into.uri()])?;
    let mut copy = openings.copy.connect()?;
    Backup::new(connection, &mut copy)?.step(-1)?;
    let count: i64 = copy.query_row("SELECT count(*) FROM Marker_Schema_7", [], |row| row.get(0))?;
    assert_eq!(count, 280);
    Ok(())
}

fn run(openings: &Openings, mode: &str) -> Arc<Disk> {
    let disk = Disk::new();
    let disk_guard = disk.enter();
    let connection = openings.main.connect().unwrap();
    // Ignored, because the URI has set it.
    connection.execute_batch("PRAGMA page_size = 1024; VACUUM").unwrap();
    make_tables(&connection, mode).unwrap();
    change_rows(&connection).unwrap();
    use_temporary_files(&connection).unwrap();
    let done = use_other_databases(&connection, openings, mode);
    assert!(done.is_ok(), "{done:?} {:?}", selenite_testing::opening::last_error());
    drop(connection);
    drop(disk_guard);
    disk
}

fn markers() -> Vec<&'static [u8]> {
    MARKERS.iter().map(|marker| marker.as_bytes()).collect()
}

#[test]
fn no_marker_reaches_the_disk() {
    let key = KeyFile::new(0xA7);
    let openings = Openings::of(Opening::encrypted("/markers/main.db", &key).with("page_size", "1024"));
    for mode in MODES {
        let disk = run(&openings, mode);
        let mut wanted = markers();
        wanted.push(b"SQLite format 3\0");
        wanted.push(b"CREATE TABLE");
        let key = [0xA7; 16];
        wanted.push(&key);
        let found = find_markers(&disk, &wanted);
        let shown = found.first().map(|sighting| (*sighting, wanted.get(sighting.marker)));
        assert!(
            found.is_empty(),
            "{mode}: {} sightings, the first: {shown:?}",
            found.len()
        );
    }
}

/// The counterpart of the test above: if these markers were not found, that test would prove
/// nothing.
#[test]
fn all_markers_of_a_database_in_clear_are_found() {
    let openings = Openings::of(Opening::plain("/markers/main.db"));
    for mode in MODES {
        let disk = run(&openings, mode);
        let found = find_markers(&disk, &markers());
        for (marker, role) in EXPECTED {
            let roles = roles_of(&found, marker);
            // Not all of a log is copied to the database before it is overwritten.
            let role = if mode == "wal" && role == Role::Main {
                Role::Wal
            } else {
                role
            };
            assert!(
                roles.contains(&role),
                "{mode}: {} is only in {roles:?}",
                MARKERS[marker]
            );
        }
        // The rolled back rows were spilled: the cache holds 20 pages.
        assert!(!roles_of(&found, 11).is_empty(), "{mode}");
        let log = if mode == "wal" { Role::Wal } else { Role::Journal };
        for marker in [0, 1, 2, 3, 9] {
            let roles = roles_of(&found, marker);
            assert!(roles.contains(&log), "{mode}: {} is only in {roles:?}", MARKERS[marker]);
        }
    }
}

/// SQLite computes checksums over the plaintext: they are 64 bits of it, linear.
#[test]
fn no_frame_checksum_reaches_the_disk() {
    let key = KeyFile::new(1);
    let main = Opening::encrypted("/checksums/main.db", &key).with("page_size", "1024");
    let disk = run(&Openings::of(main.through("spy")), "wal");
    let checksums: HashSet<[u8; 8]> = disk
        .spied_calls()
        .iter()
        .filter(|spied| (spied.call, spied.role, spied.data.len()) == (Call::Write, Role::Wal, 24))
        .filter_map(|spied| spied.data[16..].first_chunk().copied())
        .filter(|checksum| *checksum != [0; 8])
        .collect();
    assert!(checksums.len() > 500, "only {} frames", checksums.len());
    assert_eq!(find_words(&disk, &checksums), []);
}

/// Four bytes are too few to search for: they are compared at their offset.
#[test]
fn no_journal_checksum_reaches_the_disk() {
    let key = KeyFile::new(1);
    let main = Opening::encrypted("/checksums/main.db", &key).with("page_size", "1024");
    let disk = run(&Openings::of(main.through("spy")), "persist");
    let above = disk.spied_calls();
    let above: Vec<_> = above
        .iter()
        .filter(|spied| (spied.call, spied.role) == (Call::Write, Role::Journal))
        .collect();
    let below = writes_of(&disk, Role::Journal);
    assert_eq!(above.len(), below.len());
    let (mut checksums, mut equal) = (0, 0);
    for (index, (above_now, (offset, data))) in above.iter().zip(&below).enumerate().skip(1) {
        assert_eq!(above_now.offset, *offset);
        let before = above[index - 1];
        if before.data.len() == 1024 && data.len() == 4 && *offset == before.offset + 1024 {
            checksums += 1;
            equal += usize::from(above_now.data == *data);
        }
    }
    assert!(
        checksums > 100 && equal <= 1,
        "{equal} of {checksums} checksums are in clear"
    );
}
