//! Random changes: the rows outside of what is reported are the same before and after.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use rusqlite::types::Value;

use super::super::row_interval::KeyField;
use super::*;
use crate::Access;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }
}

const TABLES: [&str; 4] = ["small", "large", "listed", "keyed"];

/// Deep trees: pages of 512 bytes.
fn made(folder: &std::path::Path, auto_vacuum: u64) -> Database {
    crate::install().unwrap();
    let path = folder.join("app.db");
    let access = Access::default().allowing_plain();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let sql = format!(
        "PRAGMA page_size = 512; PRAGMA auto_vacuum = {auto_vacuum}; PRAGMA journal_mode = WAL;
         CREATE TABLE small (id INTEGER PRIMARY KEY, v); CREATE TABLE large (v);
         CREATE TABLE listed (id INTEGER PRIMARY KEY AUTOINCREMENT, v); CREATE INDEX by_v ON listed (v);
         CREATE TABLE keyed (k INTEGER PRIMARY KEY, v) WITHOUT ROWID;"
    );
    connection.execute_batch(&sql).unwrap();
    connection.close().unwrap();
    Database::connect(&path, &access.uri(&path), &access).unwrap()
}

/// One random change.
fn change(random: &mut Random) -> String {
    let table = TABLES[usize::try_from(random.below(4)).unwrap()];
    let key = if table == "keyed" { "k" } else { "rowid" };
    let size = [5, 100, 700, 5000][usize::try_from(random.below(4)).unwrap()];
    let (first, count) = (random.below(3000), 1 + random.below(120));
    let last = first + count;
    match random.below(8) {
        0..4 => format!(
            "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last})
             INSERT OR REPLACE INTO {table} ({key}, v) SELECT i * {step}, randomblob(abs(random()) % {size}) FROM n;",
            step = 1 + random.below(3),
        ),
        4 => format!("DELETE FROM {table} WHERE {key} BETWEEN {first} AND {last};"),
        // The same size: SQLite overwrites the pages in place, overflow pages alone among them (`btreeOverwriteCell`).
        5 => format!("UPDATE {table} SET v = randomblob(length(v)) WHERE {key} BETWEEN {first} AND {last};"),
        6 => format!(
            "UPDATE {table} SET v = CAST(v || randomblob({size}) AS BLOB) WHERE {key} % 37 = {};",
            random.below(37)
        ),
        _ if random.below(6) == 0 => format!("DELETE FROM {table};"),
        _ => format!("DELETE FROM {table} WHERE {key} > {first}; PRAGMA incremental_vacuum({count});"),
    }
}

type Content = HashMap<&'static str, BTreeMap<i64, Value>>;

fn content(database: &Database) -> Content {
    let of = |table: &str| {
        let key = if table == "keyed" { "k" } else { "rowid" };
        let mut statement = database
            .connection()
            .prepare(&format!("SELECT {key}, v FROM {table}"))
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    TABLES.into_iter().map(|table| (table, of(table))).collect()
}

/// The keys of these tables are integers.
fn numbers(rows: &Rows) -> RangeInclusive<i64> {
    let number = |key: &Option<Key>, end| match key.as_ref().map(|key| &*key.0) {
        None => end,
        Some([KeyField::Integer(number)]) => *number,
        Some(_) => panic!("{key:?}"),
    };
    match rows {
        Rows::Rowids { first, last } => *first..=*last,
        Rows::Keys { first, last } => number(first, i64::MIN)..=number(last, i64::MAX),
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

fn check(seed: u64) {
    println!("seed {seed}");
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let database = made(folder.path(), seed % 3);
    for _ in 0..30 {
        database.batch(&change(&mut random)).unwrap();
    }
    database.batch("BEGIN").unwrap();
    let mut map = PageMap::of(&database, &mut || Ok(())).unwrap();
    let (mut rows, mut images) = (content(&database), pages(&database));
    database.batch("COMMIT").unwrap();
    let mut reported = 0;
    for _ in 0..40 {
        for _ in 0..=random.below(3) {
            database.batch(&change(&mut random)).unwrap();
        }
        database.batch("BEGIN").unwrap();
        let (rows_now, images_now) = (content(&database), pages(&database));
        // Not one page more than those that differ.
        let differs = |index: &usize| images.get(*index) != images_now.get(*index);
        let written = (0..images_now.len()).filter(differs);
        let written = written.map(|index| u32::try_from(index + 1).unwrap()).collect();
        let changed = map.advance(&database, &written).unwrap();
        database.batch("COMMIT").unwrap();
        for (number, intervals) in &changed {
            let name = map.tables()[*number].name.as_str();
            let Some((_, before)) = rows.iter_mut().find(|(table, _)| **table == name) else {
                continue;
            };
            for interval in intervals {
                let interval = numbers(interval);
                before.retain(|rowid, _| !interval.contains(rowid));
                let now = rows_now[name].range(interval);
                before.extend(now.map(|(rowid, value)| (*rowid, value.clone())));
                reported += 1;
            }
        }
        for table in TABLES {
            assert!(rows[table] == rows_now[table], "{table} differs, seed {seed}");
        }
        images = images_now;
    }
    assert!(reported > 20, "only {reported} intervals");
    // A map that was moved from snapshot to snapshot is that of the last one.
    database.batch("BEGIN").unwrap();
    let fresh = PageMap::of(&database, &mut || Ok(())).unwrap();
    let mut moved: Vec<(u32, usize, Rows)> = map
        .nodes
        .iter()
        .map(|(page, at)| (*page, at.table, at.rows.clone()))
        .collect();
    let mut read: Vec<(u32, usize, Rows)> = fresh
        .nodes
        .iter()
        .map(|(page, at)| (*page, at.table, at.rows.clone()))
        .collect();
    moved.sort_unstable();
    read.sort_unstable();
    assert!(moved == read, "the maps differ, seed {seed}");
}

#[test]
fn rows_outside_of_what_is_reported_are_the_same() {
    let first: u64 = std::env::var("SELENITE_TEST_SEED").map_or(1, |seed| seed.parse().unwrap());
    let count: u64 = std::env::var("SELENITE_TEST_ROUNDS").map_or(12, |rounds| rounds.parse().unwrap());
    for seed in first..first + count {
        check(seed);
    }
}

#[test]
fn a_change_of_one_row_reports_one_leaf() {
    for (table, key) in [("small", "id"), ("keyed", "k")] {
        check_a_change_of_one_row(table, key);
    }
}

fn check_a_change_of_one_row(table: &str, key: &str) {
    let folder = tempfile::tempdir().unwrap();
    let database = made(folder.path(), 0);
    database
        .batch(&format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
             INSERT INTO {table} SELECT i, randomblob(40) FROM n"
        ))
        .unwrap();
    database.batch("BEGIN").unwrap();
    let mut map = PageMap::of(&database, &mut || Ok(())).unwrap();
    let images = pages(&database);
    database
        .batch(&format!(
            "COMMIT; UPDATE {table} SET v = randomblob(40) WHERE {key} = 2500; BEGIN"
        ))
        .unwrap();
    let now = pages(&database);
    let written: HashSet<u32> = (0..now.len())
        .filter(|index| images[*index] != now[*index])
        .map(|index| u32::try_from(index + 1).unwrap())
        .collect();
    let changed = map.advance(&database, &written).unwrap();
    let intervals: Vec<&Rows> = changed.values().flatten().collect();
    let [rows] = intervals[..] else { panic!("{changed:?}") };
    let range = numbers(rows);
    assert!(
        range.contains(&2500) && range.end() - range.start() < 20,
        "{table}: {rows:?}"
    );
    assert!(map.advance(&database, &HashSet::new()).unwrap().is_empty());
}
