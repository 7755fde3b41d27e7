use std::path::{Path, PathBuf};

use super::*;
use crate::storage::{Disk, Storage};
use crate::{Access, install};

fn made(folder: &Path, name: &str, sql: &str) -> PathBuf {
    let path = folder.join(name);
    rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    path
}

fn open(path: &Path) -> Database {
    let access = Access::default().allowing_plain();
    Database::connect(path, &access.uri(path), &access).unwrap()
}

/// From both readers, which must agree.
fn digest(path: &Path, hashing: &RandomState) -> Result<TreeDigest, DigestFault> {
    install().unwrap();
    let database = open(path);
    let trees = Trees::of(&database).unwrap();
    let page_bytes = usize::try_from(database.number("PRAGMA page_size").unwrap()).unwrap();
    let watch = Watch::none();
    let mut pages = SnapshotPages::new(&database)?;
    let by_sql = TreeDigest::of(&trees, &mut pages, page_bytes, hashing, &watch);
    drop(pages);
    database.close().unwrap();
    let file = Disk.open(path).unwrap();
    let by_file = TreeDigest::of_file(&trees, (file.as_ref(), Form::Clear(page_bytes)), hashing, &watch);
    assert_eq!(by_sql.is_ok(), by_file.is_ok());
    assert!(by_sql.ok() == by_file.as_ref().ok().map(|digest| TreeDigest(digest.0.clone())));
    by_file
}

const SMALL: &str = "CREATE TABLE t (a, b); CREATE INDEX i ON t (b); CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID;
    INSERT INTO t (rowid, a, b) VALUES (-3, 1, 'x'), (9, NULL, 'y'), (7000000000, 2.5, x'00');
    INSERT INTO w VALUES ('k', 1), ('l', 2);";

/// Trees of three levels, entries that overflow in tables, indexes and interior pages.
const LARGE: &str = "CREATE TABLE t (a, b); CREATE INDEX i ON t (b);
    CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
    INSERT INTO t SELECT i * 7 % 4001, printf('%0*d', abs(i * 37 % 300), i) FROM n;
    INSERT INTO t SELECT rowid, printf('%0*d', 700 * rowid % 9000, rowid) FROM t WHERE rowid < 60;
    INSERT INTO t VALUES (1, zeroblob(300000));
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
    INSERT INTO w SELECT printf('%0*d', 5 + i * 91 % 1500, i), i FROM n;";

#[test]
fn a_vacuumed_copy_has_the_same_digest_in_every_layout() {
    for (from, reserve, vacuum) in [(512, 0, 0), (1024, 48, 0), (1024, 0, 1), (4096, 0, 2), (65536, 48, 0)] {
        let folder = tempfile::tempdir().unwrap();
        let setup =
            format!("PRAGMA page_size = {from}; PRAGMA auto_vacuum = {vacuum}; {LARGE} DELETE FROM t WHERE a % 5 = 1;");
        let path = made(folder.path(), "one.db", &setup);
        let copy = folder.path().join("two.db");
        install().unwrap();
        let source = open(&path);
        source
            .text(&format!("SELECT selenite_reserve('main', {reserve})"))
            .unwrap();
        source
            .batch(&format!("VACUUM INTO 'file:{}?vfs=unix'", copy.display()))
            .unwrap();
        source.close().unwrap();
        let hashing = RandomState::new();
        let (one, two) = (digest(&path, &hashing).unwrap(), digest(&copy, &hashing).unwrap());
        assert!(one == two, "{from} {reserve} {vacuum}");
        assert_eq!(one.table_count(), 2);
        let connection = rusqlite::Connection::open(&path).unwrap();
        let count = "SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM w)";
        let count: i64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(one.row_count(), u64::try_from(count).unwrap());
    }
}

#[test]
fn every_difference_changes_the_digest() {
    let folder = tempfile::tempdir().unwrap();
    let hashing = RandomState::new();
    let base = digest(&made(folder.path(), "base.db", SMALL), &hashing).unwrap();
    assert!(base == digest(&made(folder.path(), "same.db", SMALL), &hashing).unwrap());
    let others = [
        "UPDATE t SET a = 1.0 WHERE a = 1",
        "UPDATE t SET a = '1' WHERE a = 1",
        "UPDATE t SET b = x'78' WHERE b = 'x'",
        "UPDATE t SET rowid = 10 WHERE rowid = 9",
        "DELETE FROM t WHERE rowid = 9",
        "INSERT INTO t VALUES (NULL, NULL)",
        "UPDATE w SET v = 3 WHERE k = 'l'",
        "CREATE TABLE u (a)",
        "DROP INDEX i",
        "DROP INDEX i; CREATE INDEX i ON t (a)",
    ];
    for (index, sql) in others.iter().enumerate() {
        let path = made(folder.path(), &format!("{index}.db"), &format!("{SMALL} {sql}"));
        assert!(base != digest(&path, &hashing).unwrap(), "{sql}");
    }
}

/// For any content of a file the result is a digest or an error; and a changed byte in a used part
/// of a page always changes the digest.
#[test]
fn a_flipped_byte_changes_the_digest_or_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let hashing = RandomState::new();
    install().unwrap();
    let path = made(folder.path(), "base.db", &format!("PRAGMA page_size = 512; {SMALL}"));
    let database = open(&path);
    let trees = Trees::of(&database).unwrap();
    database.close().unwrap();
    let good = std::fs::read(&path).unwrap();
    let digest_of = |bytes: &[u8]| {
        let other = folder.path().join("other.db");
        std::fs::write(&other, bytes).unwrap();
        let file = Disk.open(&other).unwrap();
        TreeDigest::of_file(&trees, (file.as_ref(), Form::Clear(512)), &hashing, &Watch::none())
    };
    let whole = digest_of(&good).unwrap();
    for place in 512..good.len() {
        let mut bytes = good.clone();
        bytes[place] ^= 0x11;
        let is_told = digest_of(&bytes).map_or(true, |digest| digest != whole);
        // Unused bytes, and the fields of the page header that describe them.
        let is_idle = good[place] == 0 || [1, 2, 5, 6, 7].contains(&(place % 512));
        assert!(is_told || is_idle, "byte {} of page {}", place % 512, place / 512 + 1);
    }
    for size in [0, 100, 511, 512, 600, 1024, good.len() - 1] {
        assert!(digest_of(&good[..size]).is_err(), "{size}");
    }
}

#[test]
fn a_page_in_two_trees_and_rowids_out_of_order_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let hashing = RandomState::new();
    let path = made(folder.path(), "base.db", &format!("PRAGMA page_size = 512; {SMALL}"));
    install().unwrap();
    let database = open(&path);
    let mut trees = Trees::of(&database).unwrap();
    database.close().unwrap();
    let file = Disk.open(&path).unwrap();
    let form = (file.as_ref(), Form::Clear(512));
    assert!(TreeDigest::of_file(&trees, form, &hashing, &Watch::none()).is_ok());
    trees.roots[1].page_no = trees.roots[0].page_no;
    let refused = TreeDigest::of_file(&trees, form, &hashing, &Watch::none());
    assert!(matches!(refused, Err(DigestFault::Shape(_))));
    drop(file);

    // Swaps the pointers to the first two cells of table t.
    let mut bytes = std::fs::read(&path).unwrap();
    let root = 512 * (usize::try_from(trees.roots[0].page_no).unwrap() - 1);
    let (one, two) = (
        bytes[root + 8..root + 10].to_vec(),
        bytes[root + 10..root + 12].to_vec(),
    );
    bytes[root + 8..root + 10].copy_from_slice(&two);
    bytes[root + 10..root + 12].copy_from_slice(&one);
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(digest(&path, &hashing), Err(DigestFault::Shape(_))));
}
