//! Rows on pages that no page refers to.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::Backup;
use selenite::salvage::{Lost, SchemaState};
use selenite::storage::Disk;
use selenite::verify::physical;
use selenite::{Cell, Watch};

use crate::salvage::{LAYOUT, NOTES, integer, pages, save, saved, sealed, spoil, table};
use crate::support::{Fixture, query};

#[test]
fn rows_below_a_lost_root_are_found() {
    let fixture = Fixture::new();
    let sql = format!("{NOTES} CREATE TABLE other (a, b, c); INSERT INTO other VALUES (1, 2, 3);");
    let path = sealed(&fixture, "app.db", &LAYOUT, &sql);
    let dump = query(&path, &fixture.access(), "SELECT * FROM note").unwrap();
    let inner = pages(&path, &fixture, "note", "internal");
    assert!(inner.len() > 1, "{inner:?}");
    for &page_no in &inner {
        spoil(&path, page_no);
    }
    let salvaged = save(&fixture, &path);
    let note = table(&salvaged, "note");
    assert_eq!((note.row_count, note.found_count, note.lost_count), (3000, 3000, 1));
    assert_eq!(saved(&fixture, "SELECT * FROM note"), dump);
    // Other pages below it may be lost, too, which can't be excluded.
    assert!(!salvaged.is_complete() && salvaged.strays.is_none());
}

#[test]
fn rows_that_fit_two_tables_go_to_lost_and_found() {
    let fixture = Fixture::new();
    let rows = |name: &str| {
        format!(
            "CREATE TABLE {name} (id INTEGER PRIMARY KEY, text TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
            INSERT INTO {name} SELECT i, '{name} ' || i FROM n;"
        )
    };
    // The third has more columns, so that its records do not fit the other two.
    let third = "CREATE TABLE three (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b, c INTEGER NOT NULL);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
        INSERT INTO three SELECT i, 'three ' || i, NULL, i FROM n;";
    let path = sealed(
        &fixture,
        "app.db",
        &LAYOUT,
        &format!("{}{}{third}", rows("one"), rows("two")),
    );
    for name in ["one", "two", "three"] {
        spoil(&path, pages(&path, &fixture, name, "internal")[0]);
    }
    let salvaged = save(&fixture, &path);
    assert_eq!(table(&salvaged, "three").found_count, 900);
    assert_eq!(
        (table(&salvaged, "one").row_count, table(&salvaged, "two").row_count),
        (0, 0)
    );
    let strays = salvaged.strays.as_ref().unwrap();
    assert_eq!((strays.table.as_str(), strays.row_count), ("lost_and_found", 1800));
    let sql =
        "SELECT count(*), count(DISTINCT c1), min(id), max(id), max(field_count) FROM lost_and_found WHERE c0 IS NULL";
    assert_eq!(
        saved(&fixture, sql),
        [[1800, 1800, 1, 900, 2].map(Cell::Integer).to_vec()]
    );
}

#[test]
fn deleted_rows_are_not_restored() {
    let sql = format!("{NOTES} CREATE TABLE old AS SELECT * FROM note; DROP TABLE old; ANALYZE;");
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &LAYOUT, &sql);
    let inner = pages(&path, &fixture, "note", "internal");
    let trunk = first_free(&fixture, &path);
    for &page_no in &inner {
        spoil(&path, page_no);
    }
    // Free pages have 3000 rows that look like those of the table.
    let salvaged = save(&fixture, &path);
    assert_eq!((table(&salvaged, "note").row_count, &salvaged.strays), (3000, &None));
    fs::remove_file(fixture.path("saved.db")).unwrap();
    // If the free list is lost they can't be distinguished.
    spoil(&path, trunk);
    let salvaged = save(&fixture, &path);
    assert_eq!(table(&salvaged, "note").row_count, 0);
    let strays = salvaged.strays.as_ref().unwrap().row_count;
    assert!(strays > 3000 && strays <= 6000, "{strays}");
}

/// The first trunk page of the free list, from SQLite's header (sqlite.org/fileformat.html, 1.3).
fn first_free(fixture: &Fixture, path: &Path) -> u32 {
    let uri = format!(
        "file:{}?vfs=selenite&selenite_identity={}",
        path.display(),
        fixture.spec("key")
    );
    let source = Connection::open(uri).unwrap();
    let clear = fixture.path("clear.db");
    let mut copy = Connection::open(&clear).unwrap();
    let backup = Backup::new(&source, &mut copy).unwrap();
    backup.step(-1).unwrap();
    drop(backup);
    drop(copy);
    let header = fs::read(&clear).unwrap();
    fs::remove_file(&clear).unwrap();
    u32::from_be_bytes(header[32..36].try_into().unwrap())
}

#[test]
fn without_page_1_all_rows_go_to_lost_and_found() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &LAYOUT, NOTES);
    spoil(&path, 1);
    let salvaged = save(&fixture, &path);
    assert_eq!((salvaged.schema, salvaged.tables.len()), (SchemaState::Lost, 0));
    assert_eq!(
        saved(
            &fixture,
            "SELECT count(*) FROM lost_and_found WHERE c1 = 'note ' || id || substr(c1, 6 + length(id))"
        ),
        integer(3000)
    );
}

#[test]
fn tables_of_a_lost_part_of_the_schema_are_not_made_and_their_rows_are_kept() {
    let fixture = Fixture::new();
    let tables: String = (0..60)
        .map(|n| format!("CREATE TABLE t{n} (a, b); INSERT INTO t{n} VALUES ({n}, 'row of {n}');"))
        .collect();
    let path = sealed(&fixture, "app.db", &LAYOUT, &tables);
    let leaves = pages(&path, &fixture, "sqlite_schema", "leaf");
    assert!(leaves.len() > 2);
    spoil(&path, leaves[1]);
    let salvaged = save(&fixture, &path);
    assert_eq!(salvaged.schema, SchemaState::Partial);
    let strays = salvaged.strays.as_ref().unwrap().row_count;
    assert!(strays > 0 && strays + salvaged.row_count() == 60, "{salvaged:?}");
}

/// Their leaves have the same kind as those of indexes, so their rows can't be recognized.
#[test]
fn rows_without_rowid_below_a_lost_page_are_reported_as_lost() {
    let fixture = Fixture::new();
    let sql = "CREATE TABLE pair (a TEXT PRIMARY KEY, b TEXT) WITHOUT ROWID; CREATE INDEX pair_by_b ON pair (b);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
        INSERT INTO pair SELECT printf('%06d', i), hex(randomblob(30)) FROM n;";
    let path = sealed(&fixture, "app.db", &LAYOUT, sql);
    let dump = query(&path, &fixture.access(), "SELECT a, b FROM pair").unwrap();
    let inner = pages(&path, &fixture, "pair", "internal");
    assert!(inner.len() > 2, "{inner:?}");
    // The first is the root.
    spoil(&path, inner[1]);
    let salvaged = save(&fixture, &path);
    let pair = table(&salvaged, "pair");
    assert!(!salvaged.is_complete() && salvaged.strays.is_none(), "{salvaged:?}");
    assert_eq!(pair.lost_count, 1, "{salvaged:?}");
    assert!(matches!(&pair.lost[0], Lost::Page(hole) if hole.page_no == inner[1] && hole.may_be_inner));
    let rows = saved(&fixture, "SELECT a, b FROM pair");
    assert!(rows.len() > 1000 && rows.len() < 4000, "{}", rows.len());
    assert!(rows.iter().all(|row| dump.contains(row)));
}

/// The page count on page 1 is chosen by anyone who can write to the database.
#[test]
fn a_claimed_page_count_does_not_make_salvage_examine_every_page() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &LAYOUT, NOTES);
    let dump = query(&path, &fixture.access(), "SELECT * FROM note").unwrap();
    let sql = "UPDATE sqlite_dbpage SET data = CAST(substr(data, 1, 28) || x'ffffffff' || substr(data, 33) AS BLOB)
        WHERE pgno = 1";
    query(&path, &fixture.access(), sql).unwrap();
    let present = fs::metadata(&path).unwrap().len() / 1024 - 64;
    let report = physical(&Disk, &path, &fixture.access(), &Watch::none()).unwrap();
    assert_eq!(u64::from(report.bad[0].page_no), present + 1, "{report:?}");
    let salvaged = save(&fixture, &path);
    assert_eq!(
        (salvaged.page_count, table(&salvaged, "note").lost_count),
        (u32::MAX, 0)
    );
    assert_eq!(salvaged.bad_count, u64::from(u32::MAX) - present);
    assert_eq!(saved(&fixture, "SELECT * FROM note"), dump);
}
