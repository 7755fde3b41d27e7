//! The content of the schema table is chosen by anyone who can write to it, and a table may have
//! conflict clauses of its own: neither removes a row without a report, or creates anything else.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use selenite::Cell;
use selenite::salvage::{Lost, Salvaged};

use crate::salvage::{LAYOUT, NOTES, integer, pages, place, save, saved, sealed, table};
use crate::support::{Fixture, query};

/// A database whose schema table these statements have changed.
fn forged(fixture: &Fixture, sql: &str, forgery: &str) -> PathBuf {
    let sql = format!("{sql} PRAGMA writable_schema = ON; {forgery}");
    sealed(fixture, "app.db", &LAYOUT, &sql)
}

fn names_not_made(salvaged: &Salvaged) -> Vec<&str> {
    let mut names: Vec<&str> = salvaged.not_made.iter().map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_conflicting_row_is_reported_with_every_conflict_clause() {
    for clause in ["REPLACE", "IGNORE", "FAIL", "ROLLBACK"] {
        let fixture = Fixture::new();
        let sql = format!(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER UNIQUE ON CONFLICT {clause}, text TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO t SELECT i, i, 'row ' || i FROM n;"
        );
        let path = sealed(&fixture, "app.db", &LAYOUT, &sql);
        let leaf = pages(&path, &fixture, "t", "leaf")[10];
        let mut old = vec![0; 1024];
        let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        file.read_exact_at(&mut old, place(leaf)).unwrap();
        drop(file);
        // Other rows get the keys of the leaf's rows, and then the old leaf is restored.
        let sql = "UPDATE t SET k = -id WHERE id BETWEEN 200 AND 800; UPDATE t SET k = id - 1800 WHERE id BETWEEN 2000 AND 2600;";
        query(&path, &fixture.access(), sql).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(&old, place(leaf)).unwrap();
        drop(file);
        let salvaged = save(&fixture, &path);
        let found = table(&salvaged, "t");
        assert!(
            found.lost_count > 10 && !salvaged.is_complete(),
            "{clause}: {salvaged:?}"
        );
        assert_eq!(found.row_count + found.lost_count, 3000, "{clause}");
        for lost in &found.lost {
            assert!(
                matches!(
                    lost,
                    Lost::Row {
                        rowid: Some(2000..=2600),
                        ..
                    }
                ),
                "{clause}: {lost:?}"
            );
        }
        let there = i64::try_from(found.row_count).unwrap();
        assert_eq!(saved(&fixture, "SELECT count(*) FROM t"), integer(there), "{clause}");
    }
}

#[test]
fn a_definition_creates_its_entry_or_nothing() {
    let fixture = Fixture::new();
    let path = forged(
        &fixture,
        &format!(
            "{NOTES} CREATE TABLE foo (a); INSERT INTO foo VALUES (1); CREATE TABLE held (a); INSERT INTO held VALUES (2);"
        ),
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE bar (a)' WHERE name = 'foo';
        UPDATE sqlite_schema SET sql = 'CREATE TEMP TABLE held (a)' WHERE name = 'held';
        INSERT INTO sqlite_schema VALUES ('view', 'seen', 'seen', 0, 'CREATE TABLE seen (a)'),
            ('index', 'note_too', 'note', 9, 'CREATE INDEX note_two ON note (text)'),
            ('nothing', 'free', 'free', 0, 'CREATE TABLE free (a)'),
            ('view', 'both', 'both', 0, 'CREATE VIEW both AS SELECT 1; CREATE TABLE more (a)');",
    );
    let salvaged = save(&fixture, &path);
    assert_eq!(
        names_not_made(&salvaged),
        ["both", "foo", "free", "held", "note_too", "seen"],
        "{salvaged:?}"
    );
    assert_eq!(table(&salvaged, "note").row_count, 3000);
    let names = "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema ORDER BY name)";
    let names = saved(&fixture, names);
    assert_eq!(names, [[Cell::Text("lost_and_found note note_by_text".to_owned())]]);
    let rows = saved(&fixture, "SELECT name, c0 FROM lost_and_found ORDER BY c0");
    let row = |name: &str, a| vec![Cell::Text(name.to_owned()), Cell::Integer(a)];
    assert_eq!(rows, [row("foo", 1), row("held", 2)]);
}

/// SQLite itself rejects such a table in a schema (sqlite3EndTable in build.c).
#[test]
fn a_table_is_not_made_from_a_query() {
    let fixture = Fixture::new();
    let path = forged(
        &fixture,
        "CREATE TABLE t (a); INSERT INTO t VALUES (1);",
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1
            FROM n) SELECT i AS a FROM n LIMIT 100' WHERE name = 't';",
    );
    let salvaged = save(&fixture, &path);
    assert_eq!(names_not_made(&salvaged), ["t"], "{salvaged:?}");
    assert_eq!(saved(&fixture, "SELECT name, c0 FROM lost_and_found").len(), 1);
}

#[test]
fn a_trigger_under_a_tables_name_does_not_run_while_rows_are_copied() {
    let fixture = Fixture::new();
    let path = forged(
        &fixture,
        &format!("{NOTES} CREATE TABLE other (a);"),
        "UPDATE sqlite_schema SET name = 'note', tbl_name = 'note', sql = 'CREATE TRIGGER note BEFORE INSERT ON note
            BEGIN SELECT RAISE(IGNORE); END' WHERE name = 'other';",
    );
    let salvaged = save(&fixture, &path);
    assert_eq!(names_not_made(&salvaged), ["note"], "{salvaged:?}");
    assert_eq!(saved(&fixture, "SELECT count(*) FROM note"), integer(3000));
    assert_eq!(
        saved(&fixture, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"),
        integer(0)
    );
}

#[test]
fn a_virtual_table_is_listed_only_with_its_own_valid_definition() {
    let fixture = Fixture::new();
    let path = forged(
        &fixture,
        &format!("{NOTES} CREATE TABLE gone (a); INSERT INTO gone VALUES (1);"),
        "UPDATE sqlite_schema SET sql = 'nothing' WHERE name = 'gone';
        INSERT INTO sqlite_schema VALUES ('table', 'v1', 'v1', 0, 'nonsense'),
            ('table', 'v2', 'v2', 0, NULL),
            ('table', 'v3', 'v3', 0, 'CREATE TABLE v3 (a)'),
            ('table', 'v4', 'v4', 0, 'CREATE VIRTUAL TABLE note USING fts5 (a)'),
            ('table', 'v5', 'v5', 0, 'CREATE VIRTUAL TABLE v5 USING'),
            ('table', 'v6', 'v6', 0, 'CREATE VIRTUAL TABLE v7 USING theirs (a)'),
            ('table', 'note', 'note', 0, 'CREATE VIRTUAL TABLE note USING theirs (a)'),
            ('table', 'good', 'good', 0, 'CREATE VIRTUAL TABLE good USING theirs (a)'),
            ('table', 'good', 'good', 0, 'CREATE VIRTUAL TABLE good USING theirs (a)'),
            ('table', 'lost_and_found', 'lost_and_found', 0, 'CREATE VIRTUAL TABLE lost_and_found USING theirs (a)');",
    );
    let salvaged = save(&fixture, &path);
    let not_made = ["gone", "good", "note", "v1", "v2", "v3", "v4", "v5", "v6"];
    assert_eq!(names_not_made(&salvaged), not_made, "{salvaged:?}");
    assert_eq!(salvaged.strays.as_ref().unwrap().table, "lost_and_found_1");
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage = 0 ORDER BY name";
    assert_eq!(
        saved(&fixture, names),
        [
            [Cell::Text("good".to_owned())],
            [Cell::Text("lost_and_found".to_owned())]
        ]
    );
    assert_eq!(saved(&fixture, "SELECT count(*) FROM note"), integer(3000));
}

/// `convertToWithoutRowidTable` in build.c omits a repeated key column only if its collation is
/// the same.
#[test]
fn a_key_column_with_two_collations_appears_twice_in_a_record() {
    let fixture = Fixture::new();
    let path = sealed(
        &fixture,
        "app.db",
        &LAYOUT,
        "CREATE TABLE t (v, k TEXT, n, PRIMARY KEY (k COLLATE NOCASE, n, k COLLATE BINARY, n)) WITHOUT ROWID;
        INSERT INTO t VALUES (1, 'a', 2), (3, 'A', 2);
        INSERT INTO t VALUES (5, 'b', 6);",
    );
    let before = query(&path, &fixture.access(), "SELECT v, k, n FROM t ORDER BY v").unwrap();
    assert_eq!(before.len(), 3);
    let salvaged = save(&fixture, &path);
    assert!(salvaged.is_complete(), "{salvaged:?}");
    assert_eq!(saved(&fixture, "SELECT v, k, n FROM t ORDER BY v"), before);
}
