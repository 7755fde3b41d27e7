//! The next numbers of tables with IDENTITY.
//!
//! - `given-once`: a number is given once, whether or not its row is kept: also after DELETE and ROLLBACK, as in SQL
//!   Server. What is undone is a definition: a table that was dropped or emptied continues with its old counter
//!   ([`IdentityJournal`]), and the counter of a table whose creation was undone is gone.
//! - `reserved-in-blocks`: numbers are reserved [`RESERVED`] at a time in `selenite_catalog`, in the transaction that
//!   takes the first of them: a restart leaves a gap of that size at most. A counter begins after the highest number
//!   in the table, too.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::SqlError;
use selenite_compiler::catalog::{IdentityRule, Table};
use selenite_compiler::definition::quoted;

use super::error::tsql_error;

/// The numbers of one database's tables, shared by all sessions.
#[derive(Default)]
pub struct Identities(Mutex<HashMap<i32, Counter>>);

/// What a session's open transaction has done to counters by its definitions: the counter that each of these tables
/// had before, oldest first. Only the session that writes to the database has entries.
#[derive(Default)]
pub struct IdentityJournal {
    before: RefCell<Vec<(i32, Option<Counter>)>>,
    /// Its length when the statement that runs began.
    statement: Cell<usize>,
}

impl IdentityJournal {
    /// Where it is now: to come back to.
    pub fn mark(&self) -> usize {
        self.before.borrow().len()
    }

    /// A statement begins that may be undone alone.
    pub fn begin_statement(&self) {
        self.statement.set(self.mark());
    }

    /// Where it was when the statement began.
    pub fn statement(&self) -> usize {
        self.statement.get()
    }

    /// What was done counts.
    pub fn clear(&self) {
        self.before.borrow_mut().clear();
        self.statement.set(0);
    }
}

#[derive(Clone, Copy)]
struct Counter {
    next: i128,
    /// How many from `next` on are reserved.
    left: u32,
}

impl Identities {
    /// Takes the next number.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn take(&self, connection: &Connection, table: &Table) -> Result<i128, SqlError> {
        self.with(connection, table, |counter, rule| {
            let taken = counter.next;
            counter.next += rule.increment;
            counter.left = counter.left.saturating_sub(1);
            taken
        })
    }

    /// Numbers continue after one that was given explicitly.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn move_beyond(&self, connection: &Connection, table: &Table, value: i128) -> Result<(), SqlError> {
        self.with(connection, table, |counter, rule| {
            let beyond = value + rule.increment;
            let is_beyond = if rule.increment > 0 {
                beyond > counter.next
            } else {
                beyond < counter.next
            };
            if is_beyond {
                *counter = Counter { next: beyond, left: 0 };
            }
        })
    }

    /// What was given last, if anything was.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn last(&self, connection: &Connection, table: &Table) -> Result<Option<i128>, SqlError> {
        let known = self.lock().get(&table.object_id).copied();
        let (rule, column) = numbered(table)?;
        let next = match known {
            Some(counter) => counter.next,
            None => load(connection, table, (rule, &column))?,
        };
        Ok((next != rule.seed).then_some(next - rule.increment))
    }

    /// The number given last, as far as it is known without reading the database; `None` if it is not.
    pub fn known(&self, table: &Table) -> Option<Result<Option<i128>, SqlError>> {
        let counter = self.lock().get(&table.object_id).copied()?;
        let told =
            numbered(table).map(|(rule, _)| (counter.next != rule.seed).then_some(counter.next - rule.increment));
        Some(told)
    }

    /// Temporary tables go to another database of the session's, and their numbers with them.
    pub fn carry(&self, to: &Self, table_ids: impl Iterator<Item = i32>) {
        for id in table_ids {
            let counter = self.lock().remove(&id);
            if let Some(counter) = counter {
                to.lock().insert(id, counter);
            }
        }
    }

    /// A table is made or dropped: its number is another table's from now on, unless that is undone.
    pub fn forget(&self, table_id: i32, journal: &IdentityJournal) {
        let before = self.lock().remove(&table_id);
        journal.before.borrow_mut().push((table_id, before));
    }

    /// A table is gone that no rollback restores.
    pub fn discard(&self, table_id: i32) {
        self.lock().remove(&table_id);
    }

    /// A table is empty, and its numbers restart at the seed.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn restart(&self, connection: &Connection, table: &Table, journal: &IdentityJournal) -> Result<(), SqlError> {
        let (rule, column) = numbered(table)?;
        let next = match self.lock().get(&table.object_id) {
            Some(counter) => counter.next,
            None => load(connection, table, (rule, &column))?,
        };
        reserve(connection, table, rule.seed)?;
        let before = Counter { next, left: 0 };
        journal.before.borrow_mut().push((table.object_id, Some(before)));
        self.lock().insert(
            table.object_id,
            Counter {
                next: rule.seed,
                left: 0,
            },
        );
        Ok(())
    }

    /// A transaction was rolled back to where its journal was at `mark`, and perhaps what it reserved: all is
    /// reserved again.
    pub fn undo(&self, journal: &IdentityJournal, mark: usize) {
        let mut counters = self.lock();
        let mut before = journal.before.borrow_mut();
        let first = mark.min(before.len());
        for (table_id, counter) in before.drain(first..).rev() {
            match counter {
                Some(counter) => counters.insert(table_id, counter),
                None => counters.remove(&table_id),
            };
        }
        for counter in counters.values_mut() {
            counter.left = 0;
        }
    }

    fn with<R>(
        &self,
        connection: &Connection,
        table: &Table,
        change: impl FnOnce(&mut Counter, IdentityRule) -> R,
    ) -> Result<R, SqlError> {
        let (rule, column) = numbered(table)?;
        let mut counters = self.lock();
        let mut counter = match counters.get(&table.object_id) {
            Some(counter) => *counter,
            None => Counter {
                next: load(connection, table, (rule, &column))?,
                left: 0,
            },
        };
        if counter.left == 0 {
            reserve(connection, table, counter.next + rule.increment * i128::from(RESERVED))?;
            counter.left = RESERVED;
        }
        let done = change(&mut counter, rule);
        counters.insert(table.object_id, counter);
        Ok(done)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<i32, Counter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn numbered(table: &Table) -> Result<(IdentityRule, String), SqlError> {
    let column = table.identity().and_then(|at| table.columns.get(at));
    let found = column.and_then(|column| Some((column.identity?, column.name.clone())));
    found.ok_or_else(|| SqlError::internal("a table without an identity"))
}

/// The next number, of what is reserved and what is in the table.
fn load(connection: &Connection, table: &Table, (rule, column): (IdentityRule, &str)) -> Result<i128, SqlError> {
    let reserved = connection
        .query_row(
            "SELECT next FROM selenite_catalog WHERE object_id = ?1",
            [table.object_id],
            |row| row.get::<_, Option<String>>(0),
        )
        .optional()
        .map_err(|error| tsql_error(&error))?
        .flatten()
        .and_then(|text| text.parse::<i128>().ok());
    let extreme = if rule.increment > 0 { "max" } else { "min" };
    let sql = format!(
        "SELECT {extreme}({}) FROM {}.{}",
        quoted(column),
        quoted(&table.sqlite.schema),
        quoted(&table.sqlite.name)
    );
    let used: Option<i128> = connection
        .query_row(&sql, [], |row| row.get::<_, Option<i64>>(0))
        .map_err(|error| tsql_error(&error))?
        .map(i128::from);
    let beyond = used.map(|used| used + rule.increment);
    let further = |a: i128, b: i128| if rule.increment > 0 { a.max(b) } else { a.min(b) };
    let begin = reserved.unwrap_or(rule.seed);
    Ok(beyond.map_or(begin, |beyond| further(begin, beyond)))
}

fn reserve(connection: &Connection, table: &Table, next: i128) -> Result<(), SqlError> {
    // A temporary table goes with its session.
    if table.sqlite.schema == "temp" {
        return Ok(());
    }
    let done = connection.prepare_cached("UPDATE selenite_catalog SET next = ?2 WHERE object_id = ?1");
    done.and_then(|mut statement| statement.execute((table.object_id, next.to_string())))
        .map(drop)
        .map_err(|error| tsql_error(&error))
}

/// As SQL Server's cache of numbers for int and smaller.
const RESERVED: u32 = 1000;
