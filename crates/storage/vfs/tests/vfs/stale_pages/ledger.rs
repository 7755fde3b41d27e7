//! The rows: two tables that are always changed in the same manner, and the version of the last
//! commit.

use rusqlite::{Connection, params};
use selenite_testing::Random;
use selenite_testing::random::seed_of;

/// The number of rows of each table. A row fills most of a page of 1 KiB.
pub const ROWS: i64 = 240;
const BODY_SIZE: usize = 600;

/// Fills 200 more pages at the end of the file.
pub const GROW: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO spare SELECT zeroblob(900) FROM n";

/// The newest versions that a reader has seen: no snapshot may be older.
pub struct NewestRead {
    head: i64,
    versions: Vec<i64>,
}

impl NewestRead {
    pub fn new() -> Self {
        Self {
            head: 0,
            versions: vec![0; usize::try_from(ROWS).unwrap()],
        }
    }
}

fn body(row: i64, version: i64) -> Vec<u8> {
    let seed = seed_of(&[row.unsigned_abs(), version.unsigned_abs()]);
    Random::new(seed).bytes(BODY_SIZE)
}

pub fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "BEGIN;
         CREATE TABLE a(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
         CREATE TABLE b(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
         CREATE TABLE head(version INTEGER, total INTEGER);
         CREATE TABLE spare(body BLOB);
         INSERT INTO head VALUES(0, 0)",
    )?;
    for table in ["a", "b"] {
        for row in 0..ROWS {
            let insert = format!("INSERT INTO {table} VALUES(?1, 0, ?2)");
            connection.execute(&insert, params![row, body(row, 0)])?;
        }
    }
    connection.execute_batch("COMMIT")
}

/// Changes some rows, in a transaction that the caller has begun.
pub fn write(connection: &Connection, random: &mut Random) -> rusqlite::Result<()> {
    let version: i64 = connection.query_row("SELECT version + 1 FROM head", [], |row| row.get(0))?;
    let (first, last) = range(random, if random_is_large(version) { ROWS } else { 30 });
    let select = "SELECT coalesce(sum(?3 - version), 0) FROM a WHERE id BETWEEN ?1 AND ?2";
    let added: i64 = connection.query_row(select, params![first, last, version], |row| row.get(0))?;
    for table in ["a", "b"] {
        let mut update = connection.prepare(&format!("UPDATE {table} SET version = ?2, body = ?3 WHERE id = ?1"))?;
        for row in first..=last {
            update.execute(params![row, version, body(row, version)])?;
        }
    }
    connection.execute(
        "UPDATE head SET version = ?1, total = total + ?2",
        params![version, added],
    )?;
    Ok(())
}

fn random_is_large(version: i64) -> bool {
    version % 5 == 0
}

fn range(random: &mut Random, size: i64) -> (i64, i64) {
    let mut below = |end: i64| i64::try_from(random.below(end.unsigned_abs())).unwrap();
    let first = below(ROWS);
    (first, (first + below(size)).min(ROWS - 1))
}

/// Reads all or a part of a snapshot, in a read transaction that the caller has begun.
pub fn read(connection: &Connection, random: &mut Random, seen: &mut NewestRead) -> rusqlite::Result<()> {
    let (head, total): (i64, i64) = connection.query_row("SELECT version, total FROM head", [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    assert!(head >= seen.head, "stale: version {head} after {}", seen.head);
    seen.head = head;
    if random.chance(1, 2) {
        for _ in 0..=random.below(2) {
            for table in ["a", "b"] {
                let versions = look(connection, random, table, (0, ROWS - 1))?;
                assert_eq!(versions.iter().sum::<i64>(), total, "stale: table {table} at {head}");
                seen.go_on(0, &versions, head);
            }
        }
        return Ok(());
    }
    for _ in 0..4 {
        let (first, last) = range(random, ROWS);
        let one = look(connection, random, "a", (first, last))?;
        let other = look(connection, random, "b", (first, last))?;
        assert_eq!(one, other, "stale: the tables differ at {head}");
        seen.go_on(first, &one, head);
    }
    Ok(())
}

/// The versions of some rows, read forwards or backwards.
fn look(
    connection: &Connection,
    random: &mut Random,
    table: &str,
    (first, last): (i64, i64),
) -> rusqlite::Result<Vec<i64>> {
    let order = if random.chance(1, 2) { "ASC" } else { "DESC" };
    let sql = format!("SELECT id, version, body FROM {table} WHERE id BETWEEN ?1 AND ?2 ORDER BY id {order}");
    let mut select = connection.prepare(&sql)?;
    let rows = select.query_map([first, last], |row| {
        let (id, version, found): (i64, i64, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        assert_eq!(found, body(id, version), "stale: row {id} of version {version}");
        Ok((id, version))
    })?;
    let mut rows: Vec<(i64, i64)> = rows.collect::<rusqlite::Result<_>>()?;
    rows.sort_unstable();
    assert!(
        rows.iter().map(|(id, _)| *id).eq(first..=last),
        "stale: rows are missing"
    );
    Ok(rows.into_iter().map(|(_, version)| version).collect())
}

impl NewestRead {
    fn go_on(&mut self, first: i64, versions: &[i64], head: i64) {
        let first = usize::try_from(first).unwrap();
        for (known, version) in self.versions[first..].iter_mut().zip(versions) {
            assert!(
                *version >= *known && *version <= head,
                "stale: {version} after {known} at {head}"
            );
            *known = *version;
        }
    }
}
