//! Copies rows of a database to its encrypted copy, both on one connection: `main`, and [`COPY`], which is attached.
//!
//! - values-pass-through: INSERT .. SELECT takes the values as they are stored, in any encoding, with their rowids.
//! - deletes-first: all changed rows are deleted before any is inserted: what is left and what comes then are rows of one
//!   snapshot, so that no UNIQUE constraint fails.
//! - compared: what was copied is read again on both sides and compared, value by value.
//! - sequence-last: AUTOINCREMENT changes `sqlite_sequence` by itself: it is copied last, whole.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, params_from_iter};

use super::page_map::{ChangedRows, Table};
use super::row_interval::{KeyColumns, Rows};
use crate::content_digest::quote;
use crate::{Database, EngineError};

/// The schema name of the copy.
pub const COPY: &str = "selenite_copy";

/// The statements for each table.
pub struct RowCopier {
    statements: Vec<Statements>,
    sequence: Option<usize>,
}

struct Statements {
    name: String,
    /// The list of columns.
    columns: String,
    order: TableOrder,
}

/// What the rows of a table are in the order of.
enum TableOrder {
    /// By this name.
    Rowid(&'static str),
    Key(KeyColumns),
}

impl RowCopier {
    /// For these tables. Compiles every statement once: an index may need a function that only the application has.
    ///
    /// # Errors
    /// [`EngineError::Usage`] for a table whose rowids have no name; errors of SQLite.
    pub fn new(database: &Database, tables: &[Table]) -> Result<Self, EngineError> {
        let mut statements = Vec::with_capacity(tables.len());
        for table in tables {
            let made = Statements::of(database, table)?;
            let all = Rows::all(table.key.as_ref());
            for sql in [made.delete(&all), made.insert(&all)] {
                let compiled = database.connection().prepare(&sql).map(drop);
                compiled.map_err(|error| advise(database.error(error), &table.name))?;
            }
            statements.push(made);
        }
        let is_sequence = |table: &Table| table.name.eq_ignore_ascii_case("sqlite_sequence");
        Ok(Self {
            statements,
            sequence: tables.iter().position(is_sequence),
        })
    }

    /// Copies changed rows from `main`, in the present transaction, and compares them. Returns how many there are.
    ///
    /// # Errors
    /// [`EngineError::CopyDiffers`]; errors of SQLite.
    pub fn copy(&self, database: &Database, changed: &ChangedRows) -> Result<u64, EngineError> {
        let mut changed = changed.clone();
        if let Some(sequence) = self.sequence
            && !changed.is_empty()
        {
            changed.remove(&sequence);
        }
        let run = || -> Result<usize, rusqlite::Error> {
            let connection = database.connection();
            for (number, rows) in each(&changed) {
                execute(connection, &self.statements[number].delete(rows), rows)?;
            }
            let mut count = 0;
            for (number, rows) in each(&changed) {
                count += execute(connection, &self.statements[number].insert(rows), rows)?;
            }
            if let Some(sequence) = self.sequence
                && !changed.is_empty()
            {
                let statements = &self.statements[sequence];
                execute(connection, &statements.delete(&Rows::ALL), &Rows::ALL)?;
                execute(connection, &statements.insert(&Rows::ALL), &Rows::ALL)?;
            }
            Ok(count)
        };
        let count = run().map_err(|error| database.error(error))?;
        let compared = each(&changed).map(|(number, rows)| self.statements[number].compare(database, rows));
        compared.collect::<Result<(), EngineError>>()?;
        Ok(u64::try_from(count).unwrap_or(u64::MAX))
    }
}

fn each(changed: &ChangedRows) -> impl Iterator<Item = (usize, &Rows)> {
    changed
        .iter()
        .flat_map(|(number, intervals)| intervals.iter().map(|rows| (*number, rows)))
}

impl Statements {
    fn of(database: &Database, table: &Table) -> Result<Self, EngineError> {
        let read = || -> Result<Vec<(String, bool)>, rusqlite::Error> {
            let sql = "SELECT name, pk = 1 AND type = 'INTEGER' COLLATE NOCASE FROM pragma_table_xinfo(?1, 'main') \
                       WHERE hidden = 0";
            let mut statement = database.connection().prepare(sql)?;
            let columns = statement.query_map([&table.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
            columns.collect()
        };
        let columns = read().map_err(|error| database.error(error))?;
        let taken = all_columns(database, &table.name)?;
        let is_taken = |alias: &&str| taken.iter().any(|column| column.eq_ignore_ascii_case(alias));
        let mut names: Vec<String> = columns.iter().map(|(name, _)| quote(name)).collect();
        let order = if let Some(key) = &table.key {
            TableOrder::Key(key.clone())
        } else {
            let Some(alias) = ["rowid", "_rowid_", "oid"].into_iter().find(|alias| !is_taken(alias)) else {
                return Err(EngineError::usage(
                    format!("table {}: its columns have all names of the rowid", table.name),
                    "do it without --online",
                ));
            };
            names.insert(0, alias.to_owned());
            TableOrder::Rowid(alias)
        };
        Ok(Self {
            name: quote(&table.name),
            columns: names.join(", "),
            order,
        })
    }

    fn condition(&self, rows: &Rows) -> String {
        match &self.order {
            TableOrder::Rowid(alias) => format!(" WHERE {alias} BETWEEN ?1 AND ?2"),
            TableOrder::Key(key) => key.condition(rows),
        }
    }

    fn delete(&self, rows: &Rows) -> String {
        format!("DELETE FROM {COPY}.{}{}", self.name, self.condition(rows))
    }

    /// Intervals of keys may overlap: a row that is there is copied already. One that another row kept out is missing
    /// when they are compared.
    fn insert(&self, rows: &Rows) -> String {
        let or = match self.order {
            TableOrder::Rowid(_) => "",
            TableOrder::Key(_) => " OR IGNORE",
        };
        let Self { name, columns, .. } = self;
        format!("INSERT{or} INTO {COPY}.{name} ({columns}) {}", self.read("main", rows))
    }

    fn read(&self, schema: &str, rows: &Rows) -> String {
        let Self { name, columns, .. } = self;
        let order = match &self.order {
            TableOrder::Rowid(alias) => alias,
            TableOrder::Key(key) => key.order(),
        };
        let condition = self.condition(rows);
        format!("SELECT {columns} FROM {schema}.{name} NOT INDEXED{condition} ORDER BY {order}")
    }

    /// `compared`.
    fn compare(&self, database: &Database, rows: &Rows) -> Result<(), EngineError> {
        let run = || -> Result<bool, rusqlite::Error> {
            let mut source = database.connection().prepare_cached(&self.read("main", rows))?;
            let mut copy = database.connection().prepare_cached(&self.read(COPY, rows))?;
            let columns = source.column_count();
            let mut source = source.query(params_from_iter(rows.parameters()))?;
            let mut copy = copy.query(params_from_iter(rows.parameters()))?;
            loop {
                match (source.next()?, copy.next()?) {
                    (None, None) => return Ok(true),
                    (Some(one), Some(other)) => {
                        for column in 0..columns {
                            if !is_same(one.get_ref(column)?, other.get_ref(column)?) {
                                return Ok(false);
                            }
                        }
                    }
                    (Some(_), None) | (None, Some(_)) => return Ok(false),
                }
            }
        };
        if run().map_err(|error| database.error(error))? {
            return Ok(());
        }
        Err(EngineError::CopyDiffers {
            what: match rows {
                Rows::Rowids { first, last } => format!("rows {first} to {last} of {}", self.name),
                // A key is content.
                Rows::Keys { .. } => format!("rows of {}", self.name),
            },
        })
    }
}

fn execute(connection: &Connection, sql: &str, rows: &Rows) -> Result<usize, rusqlite::Error> {
    connection
        .prepare_cached(sql)?
        .execute(params_from_iter(rows.parameters()))
}

/// Numbers are the same if their bits are.
fn is_same(one: ValueRef<'_>, other: ValueRef<'_>) -> bool {
    match (one, other) {
        (ValueRef::Real(one), ValueRef::Real(other)) => one.to_bits() == other.to_bits(),
        (one, other) => one == other,
    }
}

fn all_columns(database: &Database, table: &str) -> Result<Vec<String>, EngineError> {
    let read = || -> Result<Vec<String>, rusqlite::Error> {
        let sql = "SELECT name FROM pragma_table_xinfo(?1, 'main')";
        let mut statement = database.connection().prepare(sql)?;
        let names = statement.query_map([table], |row| row.get(0))?;
        names.collect()
    };
    read().map_err(|error| database.error(error))
}

/// An index may use a collation or function that only the database's application has.
fn advise(mut error: EngineError, table: &str) -> EngineError {
    if let EngineError::Sqlite { what, next, .. } = &mut error
        && what.contains("no such ")
    {
        *what = format!("table {table}: {what}");
        "only its application has this: do it without --online".clone_into(next);
    }
    error
}

#[cfg(test)]
mod tests;
