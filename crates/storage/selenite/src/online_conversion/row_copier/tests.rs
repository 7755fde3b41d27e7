//! Random changes of tables with all kinds of keys: the copy is the same after each round.

use std::collections::HashSet;

use super::super::page_map::PageMap;
use super::super::row_interval::{Key, KeyField};
use super::*;
use crate::Access;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// Each with the columns of its key, and what these are for a number `i`.
const TABLES: [(&str, &str, &str); 6] = [
    ("plain", "id, number", "abs(random()) % 1000000, i"),
    ("by_text", "k", "printf('%s%d', substr('kK', 1 + i % 2, 1), i / 2)"),
    (
        "by_kind",
        "k",
        "CASE i % 6 WHEN 0 THEN i WHEN 1 THEN i * 0.25 WHEN 2 THEN 'a' || i WHEN 3 THEN x'00ff' || CAST(i AS BLOB) \
         WHEN 4 THEN char(228, 0x1f511, 0, i + 65) ELSE -i * 4e15 END",
    ),
    ("by_two", "a, b", "'tenant ' || i % 3, i / 3"),
    ("by_mixed", "a, b", "i / 50, i % 50"),
    ("by_long", "k", "printf('%.*c', 1 + i * 7 % 900, 'x') || i"),
];

fn sql_of_tables() -> &'static str {
    "CREATE TABLE plain (id INTEGER PRIMARY KEY, number UNIQUE, v);
     CREATE TABLE by_text (k TEXT, v, PRIMARY KEY (k COLLATE NOCASE)) WITHOUT ROWID;
     CREATE TABLE by_kind (v, k PRIMARY KEY DESC) WITHOUT ROWID;
     CREATE TABLE by_two (v, b INTEGER, a TEXT COLLATE NOCASE, PRIMARY KEY (a, b)) WITHOUT ROWID;
     CREATE UNIQUE INDEX unique_two ON by_two (b, a);
     CREATE TABLE by_mixed (a, b, v, PRIMARY KEY (a, b DESC)) WITHOUT ROWID;
     CREATE TABLE by_long (k TEXT PRIMARY KEY, v) WITHOUT ROWID;"
}

fn made(folder: &std::path::Path, encoding: &str, auto_vacuum: u64) -> Database {
    crate::install().unwrap();
    let (path, copy) = (folder.join("app.db"), folder.join("copy.db"));
    let access = Access::default().allowing_plain();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let sql = format!(
        "PRAGMA page_size = 512; PRAGMA encoding = '{encoding}'; PRAGMA auto_vacuum = {auto_vacuum};
         PRAGMA journal_mode = WAL; {}",
        sql_of_tables()
    );
    connection.execute_batch(&sql).unwrap();
    connection.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    connection.close().unwrap();
    let database = Database::connect(&path, &access.uri(&path), &access).unwrap();
    let sql = format!("ATTACH ?1 AS {COPY}");
    database
        .connection()
        .execute(&sql, [access.uri(&copy).as_str()])
        .unwrap();
    database
}

fn change(random: &mut Random) -> String {
    let (table, columns, key) = TABLES[usize::try_from(random.below(6)).unwrap()];
    let first_column = columns.split(',').next().unwrap();
    let (first, count) = (random.below(2000), 1 + random.below(100));
    let size = [5, 60, 700, 3000][usize::try_from(random.below(4)).unwrap()];
    let numbers = format!(
        "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {})",
        first + count
    );
    match random.below(8) {
        0..4 => format!(
            "{numbers} INSERT OR REPLACE INTO {table} ({columns}, v)
             SELECT {key}, randomblob(abs(random()) % {size}) FROM n;"
        ),
        4 => format!("{numbers} DELETE FROM {table} WHERE ({columns}) IN (SELECT {key} FROM n);"),
        5 => format!("UPDATE {table} SET v = randomblob(length(v)) WHERE abs(random()) % 40 = 0;"),
        // Only the letters of a key: SQLite overwrites it in place.
        6 if table == "by_text" => "UPDATE by_text SET k = upper(k) WHERE abs(random()) % 20 = 0;".to_owned(),
        6 => format!("UPDATE {table} SET v = NULL WHERE abs(random()) % 90 = 0;"),
        _ if random.below(5) == 0 => format!("DELETE FROM {table};"),
        _ => format!(
            "DELETE FROM {table} WHERE {first_column} > (SELECT {first_column} FROM {table} ORDER BY random() LIMIT 1);
             PRAGMA incremental_vacuum({count});"
        ),
    }
}

fn pages(database: &Database) -> Vec<Vec<u8>> {
    let mut statement = database
        .connection()
        .prepare("SELECT data FROM sqlite_dbpage('main') ORDER BY pgno")
        .unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn content(database: &Database, schema: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (table, ..) in TABLES {
        let columns: Vec<String> = all_columns(database, table).unwrap();
        let shown: Vec<String> = columns
            .iter()
            .map(|column| format!("typeof({column}) || hex({column})"))
            .collect();
        let sql = format!(
            "SELECT '{table} ' || {} FROM {schema}.{table} ORDER BY 1",
            shown.join(" || ' ' || ")
        );
        let mut statement = database.connection().prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        lines.extend(rows.map(Result::unwrap));
    }
    lines
}

fn check(seed: u64) {
    println!("seed {seed}");
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let encoding = ["UTF-8", "UTF-16le", "UTF-16be"][usize::try_from(seed % 3).unwrap()];
    let database = made(folder.path(), encoding, seed % 2 * 2);
    database.batch("BEGIN").unwrap();
    let mut map = PageMap::of(&database, &mut || Ok(())).unwrap();
    let mut images = pages(&database);
    database.batch("COMMIT").unwrap();
    let rows = RowCopier::new(&database, map.tables()).unwrap();
    for round in 0..40 {
        for _ in 0..=random.below(4) {
            database.batch(&change(&mut random)).unwrap();
        }
        database.batch("BEGIN").unwrap();
        let now = pages(&database);
        let written = (0..now.len()).filter(|index| images.get(*index) != now.get(*index));
        let written: HashSet<u32> = written.map(|index| u32::try_from(index + 1).unwrap()).collect();
        let changed = map.advance(&database, &written).unwrap();
        rows.copy(&database, &changed).unwrap();
        database.batch("COMMIT").unwrap();
        let (source, copy) = (content(&database, "main"), content(&database, COPY));
        let differs = source.iter().zip(&copy).find(|(one, other)| one != other);
        assert!(source == copy, "seed {seed}, round {round}: {differs:?}");
        images = now;
    }
    assert_eq!(database.text(&format!("PRAGMA {COPY}.integrity_check")).unwrap(), "ok");
}

#[test]
fn the_copy_has_the_same_rows_after_each_round() {
    let first: u64 = std::env::var("SELENITE_TEST_SEED").map_or(1, |seed| seed.parse().unwrap());
    let count: u64 = std::env::var("SELENITE_TEST_ROUNDS").map_or(9, |rounds| rounds.parse().unwrap());
    for seed in first..first + count {
        check(seed);
    }
}

/// Or a round would take as long as the table is large.
#[test]
fn an_interval_of_keys_is_found_by_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    let database = made(folder.path(), "UTF-8", 0);
    database
        .batch("INSERT INTO by_two VALUES (1, 2, 'x'); INSERT INTO by_kind VALUES (1, 2)")
        .unwrap();
    for (table, is_found_by) in [
        ("by_text", "(k>? AND k<?)"),
        ("by_kind", "(k>? AND k<?)"),
        ("by_two", "((a,b)>(?,?) AND (a,b)<(?,?))"),
        ("by_mixed", "(a>? AND a<?)"),
    ] {
        let key = KeyColumns::of(&database, table).unwrap();
        let count = is_found_by.matches('?').count() / 2;
        let one = Some(Key(vec![KeyField::Integer(1); count].into()));
        let rows = Rows::Keys {
            first: one.clone(),
            last: one,
        };
        let sql = format!(
            "EXPLAIN QUERY PLAN SELECT * FROM {table} NOT INDEXED{}",
            key.condition(&rows)
        );
        let mut statement = database.connection().prepare(&sql).unwrap();
        let plan: String = statement
            .query_row(params_from_iter(rows.parameters()), |row| row.get(3))
            .unwrap();
        assert!(plan.contains(&format!("PRIMARY KEY {is_found_by}")), "{table}: {plan}");
    }
}
