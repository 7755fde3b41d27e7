//! A workload whose expected contents follow from the number of its commits.

use std::fmt;

use rusqlite::{Connection, OptionalExtension};

use crate::content::to_usize;
use crate::random::{Random, seed_of};

/// A workload in which each commit adds entries, deletes old entries, and changes one row of state.
#[derive(Clone, Copy, Debug)]
pub struct Ledger {
    /// Entries per commit.
    pub parts: u64,
    /// Approximate size of an entry in bytes.
    pub body_size: u64,
    /// The number of commits whose entries are kept.
    pub window: u64,
}

/// Why the contents of a ledger are wrong.
#[derive(Debug, PartialEq)]
pub enum Problem {
    /// SQLite or the VFS reported an error.
    Refused(rusqlite::Error),
    /// No error was reported, but a row is missing, superfluous, or different.
    Wrong(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => write!(f, "refused: {error}"),
            Self::Wrong(what) => write!(f, "wrong: {what}"),
        }
    }
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Refused(error)
    }
}

impl From<Problem> for String {
    fn from(problem: Problem) -> Self {
        problem.to_string()
    }
}

impl Ledger {
    /// A small workload: several pages per commit, some with overflow pages.
    pub const SMALL: Self = Self {
        parts: 4,
        body_size: 700,
        window: 5,
    };

    /// Commit 1: creates the tables.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn create(&self, connection: &Connection, schemas: &[&str]) -> rusqlite::Result<()> {
        let mut sql = "BEGIN;".to_owned();
        for schema in schemas {
            sql.push_str(&format!(
                "CREATE TABLE {schema}.entry(tx INTEGER, part INTEGER, body BLOB, sum INTEGER, PRIMARY KEY(tx, part));
                 CREATE INDEX {schema}.entry_sum ON entry(sum);
                 CREATE TABLE {schema}.state(id INTEGER PRIMARY KEY, tx INTEGER);
                 INSERT INTO {schema}.state VALUES(1, 1);"
            ));
        }
        connection.execute_batch(&sql)?;
        connection.execute_batch("COMMIT")
    }

    /// Makes commit `tx`, which is at least 2.
    ///
    /// # Errors
    /// Those of SQLite; the transaction is then rolled back.
    pub fn commit(&self, connection: &Connection, schemas: &[&str], tx: u64) -> rusqlite::Result<()> {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = schemas
            .iter()
            .try_for_each(|schema| self.write(connection, schema, tx))
            .and_then(|()| connection.execute_batch("COMMIT"));
        if done.is_err() && !connection.is_autocommit() {
            // SQLite may have rolled back by itself; the statement then fails.
            let _ = connection.execute_batch("ROLLBACK");
        }
        done
    }

    /// Writes the rows of commit `tx` inside the caller's transaction.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn write(&self, connection: &Connection, schema: &str, tx: u64) -> rusqlite::Result<()> {
        let mut insert = connection.prepare_cached(&format!("INSERT INTO {schema}.entry VALUES(?1, ?2, ?3, ?4)"))?;
        for part in 0..self.parts {
            let (body, sum) = self.entry(tx, part);
            insert.execute((signed(tx), signed(part), body, sum))?;
        }
        let oldest = signed((tx + 1).saturating_sub(self.window));
        connection.execute(&format!("DELETE FROM {schema}.entry WHERE tx < ?1"), [oldest])?;
        connection.execute(&format!("UPDATE {schema}.state SET tx = ?1"), [signed(tx)])?;
        Ok(())
    }

    /// Returns the number of commits that a database contains completely; 0 without tables.
    ///
    /// # Errors
    /// A missing, superfluous or different row, or an error of SQLite.
    pub fn check(&self, connection: &Connection, schema: &str) -> Result<u64, Problem> {
        let table: Option<String> = connection
            .query_row(
                &format!("SELECT name FROM {schema}.sqlite_schema WHERE name = 'state'"),
                [],
                |row| row.get(0),
            )
            .optional()?;
        if table.is_none() {
            return Ok(0);
        }
        let query = format!("SELECT tx FROM {schema}.state WHERE id = 1");
        let tx: i64 = connection.query_row(&query, [], |row| row.get(0))?;
        let tx = u64::try_from(tx).map_err(|_| Problem::Wrong(format!("commit {tx} in {schema}")))?;
        self.check_entries(connection, schema, tx)?;
        Ok(tx)
    }

    fn check_entries(&self, connection: &Connection, schema: &str, tx: u64) -> Result<(), Problem> {
        let wrong = |what: String| Err(Problem::Wrong(format!("{what} after commit {tx} in {schema}")));
        let oldest = (tx + 1).saturating_sub(self.window).max(2);
        let mut statement =
            connection.prepare(&format!("SELECT tx, part, body FROM {schema}.entry ORDER BY tx, part"))?;
        let mut rows = statement.query([])?;
        for wanted in oldest..=tx {
            for part in 0..self.parts {
                let Some(row) = rows.next()? else {
                    return wrong(format!("entry {wanted}/{part} is missing"));
                };
                let found: (i64, i64, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
                if found != (signed(wanted), signed(part), self.entry(wanted, part).0) {
                    return wrong(format!(
                        "{}/{} stands for {wanted}/{part}, or differs,",
                        found.0, found.1
                    ));
                }
            }
        }
        if rows.next()?.is_some() {
            return wrong("an entry too many".to_owned());
        }
        let query = format!("SELECT count(*) FROM {schema}.entry INDEXED BY entry_sum WHERE sum >= 0");
        let sums: i64 = connection.query_row(&query, [], |row| row.get(0))?;
        if sums != signed((tx + 1).saturating_sub(oldest) * self.parts) {
            return wrong(format!("{sums} entries in the index"));
        }
        Ok(())
    }

    /// Checks a database after a crash: that it is intact, that it contains all acknowledged
    /// commits and at most one more, and that another commit can be written.
    ///
    /// # Errors
    /// A description of the problem.
    pub fn check_recovered(&self, connection: &Connection, schemas: &[&str], acknowledged: u64) -> Result<(), String> {
        check_integrity(connection)?;
        let seen = self.check_all(connection, schemas)?;
        if seen < acknowledged || seen > acknowledged + 1 {
            return Err(format!(
                "{seen} commits are there after {acknowledged} were acknowledged"
            ));
        }
        let said = |error: rusqlite::Error| format!("one more commit: {error}");
        if seen == 0 {
            self.create(connection, schemas).map_err(said)?;
        } else {
            self.commit(connection, schemas, seen + 1).map_err(said)?;
        }
        let now = self.check_all(connection, schemas)?;
        if now == seen + 1 {
            Ok(())
        } else {
            Err(format!("{now} commits after one more than {seen}"))
        }
    }

    fn check_all(&self, connection: &Connection, schemas: &[&str]) -> Result<u64, String> {
        let mut all = schemas.iter().map(|schema| self.check(connection, schema));
        let first = all.next().ok_or("no schema to check")??;
        for (other, schema) in all.zip(&schemas[1..]) {
            let other = other?;
            if other != first {
                return Err(format!("{first} commits in {}, {other} in {schema}", schemas[0]));
            }
        }
        Ok(first)
    }

    fn entry(&self, tx: u64, part: u64) -> (Vec<u8>, i64) {
        let seed = seed_of(&[tx, part]);
        // One in four entries has overflow pages.
        let size = if seed.is_multiple_of(4) {
            self.body_size * 8
        } else {
            self.body_size
        };
        let body = Random::new(seed).bytes(to_usize(size / 2 + seed % (size / 2 + 1)));
        (body, signed(seed >> 1))
    }
}

/// `PRAGMA integrity_check` of all schemas.
///
/// # Errors
/// The message of `integrity_check`.
pub fn check_integrity(connection: &Connection) -> Result<(), String> {
    let found: String = connection
        .query_row("PRAGMA integrity_check(3)", [], |row| row.get(0))
        .map_err(|error| format!("integrity_check: {error}"))?;
    if found == "ok" {
        Ok(())
    } else {
        Err(format!("integrity_check: {found}"))
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).expect("the ledger's numbers have 63 bits")
}
