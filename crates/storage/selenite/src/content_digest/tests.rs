use std::path::Path;

use super::*;
use crate::{Access, install};

fn digest(folder: &Path, name: &str, sql: &str) -> ContentDigest {
    install().unwrap();
    let path = folder.join(name);
    rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let access = Access::default().allowing_plain();
    let mut database = Database::connect(&path, &access.uri(&path), &access).unwrap();
    ContentDigest::of(&mut database, &Watch::none(), 0).unwrap()
}

/// The difference that is found between the databases made by `one` and `other`.
fn difference(one: &str, other: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let one = digest(folder.path(), "one.db", one);
    let other = digest(folder.path(), "other.db", other);
    one.compare(&other).err().map(|error| error.to_string())
}

const BASE: &str = "CREATE TABLE t (a, b); INSERT INTO t (rowid, a, b) VALUES (3, 1, 'x'), (9, NULL, 'y');";

#[test]
fn equal_contents_are_equal_wherever_they_are_stored() {
    let other = "PRAGMA page_size = 512; CREATE TABLE u (z); CREATE TABLE t (a, b); DROP TABLE u;
                 INSERT INTO t (rowid, a, b) VALUES (9, NULL, 'y'), (3, 1, 'x');";
    assert_eq!(difference(BASE, other), None);
}

#[test]
fn every_kind_of_difference_is_found_and_named() {
    let row = |values: &str| format!("CREATE TABLE t (a, b); INSERT INTO t (rowid, a, b) VALUES {values};");
    let with = |sql: &str| format!("{BASE} {sql}");
    let cases = [
        (row("(3, 1.0, 'x'), (9, NULL, 'y')"), "table t has other values"),
        (row("(3, '1', 'x'), (9, NULL, 'y')"), "table t has other values"),
        (row("(3, 1, x'78'), (9, NULL, 'y')"), "table t has other values"),
        (row("(3, 1, 'x'), (9, 'y', NULL)"), "table t has other values"),
        (row("(3, 1, 'x'), (10, NULL, 'y')"), "table t has other values"),
        (row("(3, 1, 'x')"), "table t has 2 rows, in the copy 1"),
        ("CREATE TABLE u (a);".to_owned(), "table t has another definition"),
        (with("CREATE TABLE u (a)"), "table u is in the copy only"),
        (with("CREATE INDEX i ON t (a)"), "index i is in the copy only"),
        (
            with("PRAGMA user_version = 1"),
            "PRAGMA user_version is 0, in the copy 1",
        ),
        (
            with("PRAGMA application_id = 5"),
            "PRAGMA application_id is 0, in the copy 5",
        ),
        (
            format!("PRAGMA encoding = 'UTF-16le'; {BASE}"),
            "PRAGMA encoding is UTF-8, in the copy UTF-16le",
        ),
        (
            format!("PRAGMA auto_vacuum = 1; {BASE}"),
            "PRAGMA auto_vacuum is 0, in the copy 1",
        ),
    ];
    for (other, what) in cases {
        let found = difference(BASE, &other).unwrap_or_else(|| panic!("{other}: no difference"));
        assert!(found.ends_with(what), "{other}: {found}");
    }
}

#[test]
fn values_do_not_run_into_each_other() {
    let row = |values: &str| format!("CREATE TABLE t (a, b); INSERT INTO t VALUES {values};");
    assert!(difference(&row("('ab', 'c')"), &row("('a', 'bc')")).is_some());
    assert!(difference(&row("('', NULL)"), &row("(NULL, '')")).is_some());
}

#[test]
fn a_table_without_rowid_and_one_that_hides_its_rowid_are_read_whole() {
    let table = |values: &str| {
        format!(
            "CREATE TABLE w (a TEXT, b, PRIMARY KEY (b, a)) WITHOUT ROWID; INSERT INTO w VALUES {values};
             CREATE TABLE h (rowid, _rowid_, oid); INSERT INTO h SELECT a, b, 1 FROM w;"
        )
    };
    assert_eq!(
        difference(&table("('a', 1), ('b', 2)"), &table("('b', 2), ('a', 1)")),
        None
    );
    assert!(difference(&table("('a', 1)"), &table("('a', 2)")).is_some());
}

#[test]
fn a_covering_index_does_not_change_the_order() {
    let indexed = |order: &str| format!("CREATE TABLE t (a); INSERT INTO t VALUES {order}; CREATE INDEX i ON t (a);");
    assert!(difference(&indexed("(2), (1)"), &indexed("(1), (2)")).is_some());
}
