//! A digest of the contents of a database, by which a copy is compared with it.
//!
//! - every-value-counts: every value is included with its type, and so is every rowid. SQLite
//!   compares 1 and 1.0 as equal; the digest does not.
//! - derived-is-skipped: what SQLite derives is not compared: root pages, automatic indexes,
//!   virtual generated columns. The contents of a virtual table are those of its shadow tables.
//! - tree-order: tables are read in the order of their b-trees, which a copy preserves.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use selenite_cipher::Sha256;

use crate::watch::Phase;
use crate::{Database, EngineError, Watch};

/// The contents of a database, as settings, definitions and a digest of each table.
pub struct ContentDigest {
    settings: Vec<(&'static str, String)>,
    schema: BTreeMap<(String, String), String>,
    tables: BTreeMap<String, TableDigest>,
}

#[derive(PartialEq, Eq)]
struct TableDigest {
    row_count: u64,
    digest: [u8; 32],
}

impl ContentDigest {
    /// Reads the whole database. `total` is its approximate size in bytes, for progress reports.
    pub fn of(database: &mut Database, watch: &Watch, total: u64) -> Result<Self, EngineError> {
        let stop = watch.clone();
        database.on_progress(move || stop.is_interrupted())?;
        let read = Self::read(database, watch, total);
        read.map_err(|error| database.error(error))
    }

    /// Reads settings and definitions only.
    pub fn outline(database: &Database) -> Result<Self, EngineError> {
        Self::read_outline(database).map_err(|error| database.error(error))
    }

    fn read_outline(database: &Database) -> Result<Self, rusqlite::Error> {
        let connection = database.connection();
        let settings = SETTINGS
            .into_iter()
            .map(|name| {
                let value = connection.pragma_query_value(None, name, |row| row.get_ref(0).map(show))?;
                Ok((name, value))
            })
            .collect::<Result<_, rusqlite::Error>>()?;
        let mut statement =
            connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
        let schema = statement
            .query_map([], |row| {
                let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
                let (table, sql): (String, String) = (row.get(2)?, row.get(3)?);
                Ok(((kind, name), format!("{table}: {sql}")))
            })?
            .collect::<Result<_, _>>()?;
        Ok(Self {
            settings,
            schema,
            tables: BTreeMap::new(),
        })
    }

    fn read(database: &Database, watch: &Watch, total: u64) -> Result<Self, rusqlite::Error> {
        let outline = Self::read_outline(database)?;
        let connection = database.connection();
        let mut statement =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")?;
        let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut reader = Reader {
            database,
            watch,
            done: 0,
            total,
        };
        let tables = names
            .into_iter()
            .map(|name| {
                let digest = reader.table(&name)?;
                Ok((name, digest))
            })
            .collect::<Result<_, rusqlite::Error>>()?;
        Ok(Self { tables, ..outline })
    }

    /// One digest of all contents (FORMAT 12.7).
    pub fn sum(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(SUM_LABEL);
        for (name, value) in &self.settings {
            add(&mut hash, name.as_bytes());
            add(&mut hash, value.as_bytes());
        }
        hash.update(count(self.schema.len()));
        for ((kind, name), definition) in &self.schema {
            for text in [kind, name, definition] {
                add(&mut hash, text.as_bytes());
            }
        }
        hash.update(count(self.tables.len()));
        for (name, table) in &self.tables {
            add(&mut hash, name.as_bytes());
            hash.update(table.row_count.to_be_bytes());
            hash.update(table.digest);
        }
        hash.finalize()
    }

    /// The number of rows of all tables.
    pub fn row_count(&self) -> u64 {
        self.tables.values().map(|table| table.row_count).sum()
    }

    /// The number of tables.
    pub fn table_count(&self) -> usize {
        self.tables.len()
    }

    /// Compares a copy with this.
    ///
    /// # Errors
    /// [`EngineError::CopyDiffers`] names the first difference.
    pub fn compare(&self, copy: &Self) -> Result<(), EngineError> {
        let differs = |what: String| Err(EngineError::CopyDiffers { what });
        for ((name, value), (_, other)) in self.settings.iter().zip(&copy.settings) {
            if value != other {
                return differs(format!("PRAGMA {name} is {value}, in the copy {other}"));
            }
        }
        for ((kind, name), sql) in &self.schema {
            if copy.schema.get(&(kind.clone(), name.clone())) != Some(sql) && !self.is_idle_sequence(name, copy) {
                return differs(format!("{kind} {name} has another definition"));
            }
        }
        if let Some(((kind, name), _)) = copy.schema.iter().find(|(key, _)| !self.schema.contains_key(key)) {
            return differs(format!("{kind} {name} is in the copy only"));
        }
        for (name, table) in &self.tables {
            match copy.tables.get(name) {
                Some(other) if other == table => {}
                Some(other) if other.row_count != table.row_count => {
                    return differs(format!(
                        "table {name} has {} rows, in the copy {}",
                        table.row_count, other.row_count
                    ));
                }
                Some(_) => return differs(format!("table {name} has other values")),
                None if self.is_idle_sequence(name, copy) => {}
                None => return differs(format!("table {name} is missing")),
            }
        }
        Ok(())
    }

    /// VACUUM creates `sqlite_sequence` with the first table that needs it: if no table does, an
    /// empty one is dropped.
    fn is_idle_sequence(&self, name: &str, copy: &Self) -> bool {
        name == "sqlite_sequence"
            && !copy.tables.contains_key(name)
            && self.tables.get(name).is_some_and(|table| table.row_count == 0)
    }
}

struct Reader<'a> {
    database: &'a Database,
    watch: &'a Watch,
    done: u64,
    total: u64,
}

impl Reader<'_> {
    fn table(&mut self, name: &str) -> Result<TableDigest, rusqlite::Error> {
        let sql = self.selection(name)?;
        let mut statement = self.database.connection().prepare(&sql)?;
        let column_count = statement.column_count();
        let mut rows = statement.raw_query();
        let mut hash = Sha256::new();
        let mut row_count = 0_u64;
        while let Some(row) = rows.next()? {
            row_count += 1;
            for index in 0..column_count {
                self.done += digest(&mut hash, row.get_ref(index)?);
            }
            if row_count.is_multiple_of(REPORT_ROWS) {
                self.report();
            }
        }
        self.report();
        Ok(TableDigest {
            row_count,
            digest: hash.finalize(),
        })
    }

    fn report(&self) {
        self.watch
            .report(Phase::Comparing, self.done.min(self.total), self.total);
    }

    /// The statement that reads rowid and all stored columns of a table, in the order of its b-tree.
    fn selection(&self, name: &str) -> Result<String, rusqlite::Error> {
        let connection = self.database.connection();
        let mut statement =
            connection.prepare("SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden IN (0, 3)")?;
        let mut columns: Vec<String> = statement
            .query_map([name], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let has_rowid: bool = connection.query_row(
            "SELECT NOT wr FROM pragma_table_list(?1) WHERE schema = 'main'",
            [name],
            |row| row.get(0),
        )?;
        let is_taken = |alias: &&str| columns.iter().any(|column| column.eq_ignore_ascii_case(alias));
        // If columns have all three names, the rowid cannot be selected; its order still counts.
        let alias = ["rowid", "_rowid_", "oid"].into_iter().find(|alias| !is_taken(alias));
        let order = match alias {
            Some(alias) if has_rowid => {
                columns.insert(0, alias.to_owned());
                format!(" ORDER BY {alias}")
            }
            Some(_) | None => String::new(),
        };
        let columns: Vec<String> = columns.iter().map(|column| quote(column)).collect();
        // NOT INDEXED: a covering index would give another order, that of its keys.
        Ok(format!(
            "SELECT {} FROM main.{} NOT INDEXED{order}",
            columns.join(", "),
            quote(name)
        ))
    }
}

/// Hashes a value with its type and size, so that no two values run into each other. Returns its
/// size for progress reports.
fn digest(hash: &mut Sha256, value: ValueRef<'_>) -> u64 {
    let (tag, bytes): (u8, &[u8]) = match value {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(number) => {
            hash.update([1]);
            hash.update(number.to_be_bytes());
            return 8;
        }
        ValueRef::Real(number) => {
            hash.update([2]);
            hash.update(number.to_bits().to_be_bytes());
            return 8;
        }
        ValueRef::Text(text) => (3, text),
        ValueRef::Blob(blob) => (4, blob),
    };
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    hash.update([tag]);
    hash.update(size.to_be_bytes());
    hash.update(bytes);
    size + 1
}

/// Adds bytes, preceded by their size.
fn add(hash: &mut Sha256, bytes: &[u8]) {
    hash.update(count(bytes.len()));
    hash.update(bytes);
}

fn count(number: usize) -> [u8; 8] {
    u64::try_from(number).unwrap_or(u64::MAX).to_be_bytes()
}

fn show(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
    }
}

/// A name, quoted for SQL.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

const SETTINGS: [&str; 4] = ["user_version", "application_id", "encoding", "auto_vacuum"];

const SUM_LABEL: &[u8] = b"selenite/1 row digest";

/// About a millisecond of work.
const REPORT_ROWS: u64 = 4096;

#[cfg(test)]
mod tests;
