//! The counters of tables with IDENTITY.
//!
//! - `given-once`: a value is generated once, whether or not its row is kept: also after DELETE and ROLLBACK, as in SQL
//!   Server. A definition can be undone: a table that was dropped or emptied continues with its old counter
//!   ([`IdentityJournal`]), and the counter of a table whose creation was undone is removed.
//! - `reserved-in-blocks`: values are reserved [`RESERVED`] at a time in `selenite_catalog`, in the transaction that
//!   takes the first of them: a restart leaves a gap of that size at most. A counter also begins after the highest value
//!   in the table.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::SqlError;
use selenite_compiler::catalog::{Column, IdentityRule, Table};
use selenite_compiler::definition::quoted;
use selenite_types::storage::from_stored;

use super::error::tsql_error;
use super::functions::stored_ref;

/// The counters of one database's tables and sequences, shared by all sessions.
#[derive(Default)]
pub struct Identities(Mutex<Counters>);

/// Counters by the numbers of their objects.
#[derive(Default)]
pub(super) struct Counters {
    tables: HashMap<i32, Counter>,
    pub(super) sequences: HashMap<i32, SequenceCounter>,
    pub(super) row_versions: Option<RowVersions>,
}

/// The undo journal of an open transaction's definitions: the previous counter of each changed table, oldest first.
/// Only the session that writes to the database has entries.
#[derive(Default)]
pub struct IdentityJournal {
    before: RefCell<Vec<Before>>,
    /// The length when the current statement began.
    statement: Cell<usize>,
}

impl IdentityJournal {
    /// The current position, for [`Identities::undo`].
    pub fn mark(&self) -> usize {
        self.before.borrow().len()
    }

    /// Begins a statement that may be undone alone.
    pub fn begin_statement(&self) {
        self.statement.set(self.mark());
    }

    /// The position when the statement began.
    pub fn statement(&self) -> usize {
        self.statement.get()
    }

    pub(super) fn note_sequence(&self, sequence_id: i32, before: Option<SequenceCounter>) {
        self.before.borrow_mut().push(Before::Sequence(sequence_id, before));
    }

    /// Discards the entries of a committed transaction.
    pub fn clear(&self) {
        self.before.borrow_mut().clear();
        self.statement.set(0);
    }
}

/// The previous counter of a changed object.
enum Before {
    Table(i32, Option<Counter>),
    Sequence(i32, Option<SequenceCounter>),
}

#[derive(Clone, Copy)]
struct Counter {
    next: i128,
    /// The number of reserved values from `next` on.
    left: u32,
}

/// Where a sequence is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequenceCounter {
    /// The next value; `None` after the last one.
    pub next: Option<i128>,
    /// The last value; `None` if none was taken.
    pub last: Option<i128>,
    /// The number of reserved values from `next` on.
    pub(super) left: u32,
}

/// Where the counter of rowversion columns is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RowVersions {
    /// The last value that was taken.
    pub(super) last: u64,
    /// The number of reserved values after `last`.
    pub(super) left: u64,
    /// The first value that the open transaction has taken.
    pub(super) first_open: Option<u64>,
}

impl RowVersions {
    /// The last value, and the first that is not that of a committed row.
    pub(super) fn seen(self) -> (u64, u64) {
        let next = self.last.saturating_add(1);
        (self.last, self.first_open.unwrap_or(next))
    }
}

impl Identities {
    /// Takes the next value.
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

    /// Moves the counter after an explicit value.
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

    /// The last generated value, if any.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn last(&self, connection: &Connection, table: &Table) -> Result<Option<i128>, SqlError> {
        let known = self.lock().tables.get(&table.object_id).copied();
        let (rule, _) = numbered(table)?;
        let next = match known {
            Some(counter) => counter.next,
            None => load(connection, table, rule)?,
        };
        Ok((next != rule.seed).then_some(next - rule.increment))
    }

    /// The last generated value; `None` if it is not known without reading the database.
    pub fn known(&self, table: &Table) -> Option<Result<Option<i128>, SqlError>> {
        let counter = self.lock().tables.get(&table.object_id).copied()?;
        let last =
            numbered(table).map(|(rule, _)| (counter.next != rule.seed).then_some(counter.next - rule.increment));
        Some(last)
    }

    /// The highest value in a table, or the lowest where values descend.
    ///
    /// # Errors
    /// SQLite's error; 50823 for a value that is not of the column's type.
    pub fn extreme(connection: &Connection, table: &Table) -> Result<Option<i128>, SqlError> {
        let (rule, column) = numbered(table)?;
        let extreme = if rule.increment > 0 { "max" } else { "min" };
        let sql = format!(
            "SELECT {extreme}({}) FROM {}.{}",
            quoted(&column.name),
            quoted(&table.sqlite.schema),
            quoted(&table.sqlite.name)
        );
        let used = connection
            .query_row(&sql, [], |row| {
                Ok(from_stored(stored_ref(row.get_ref(0)?), &column.data_type))
            })
            .map_err(|error| tsql_error(&error))?
            .map_err(|misfit| SqlError::misfit(&format!("{}.{}", table.name, column.name), &misfit.to_string()))?;
        Ok(used.unscaled())
    }

    /// Moves the counters of temporary tables to another database of the session.
    pub fn move_counters(&self, to: &Self, table_ids: impl Iterator<Item = i32>) {
        for id in table_ids {
            let counter = self.lock().tables.remove(&id);
            if let Some(counter) = counter {
                to.lock().tables.insert(id, counter);
            }
        }
    }

    /// Forgets the counter of a created or dropped table, whose id may be reused; can be undone.
    pub fn forget(&self, table_id: i32, journal: &IdentityJournal) {
        let before = self.lock().tables.remove(&table_id);
        journal.before.borrow_mut().push(Before::Table(table_id, before));
    }

    /// Removes the counter of a table that no rollback restores.
    pub fn discard(&self, table_id: i32) {
        self.lock().tables.remove(&table_id);
    }

    /// Restarts the counter of an emptied table at the seed.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn restart(&self, connection: &Connection, table: &Table, journal: &IdentityJournal) -> Result<(), SqlError> {
        let (rule, _) = numbered(table)?;
        self.restart_at(connection, (table, rule.seed), journal)
    }

    /// Lets the counter of a table go on with a number, also one that it has passed: DBCC CHECKIDENT.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn restart_at(
        &self,
        connection: &Connection,
        (table, begin): (&Table, i128),
        journal: &IdentityJournal,
    ) -> Result<(), SqlError> {
        let (rule, _) = numbered(table)?;
        let next = match self.lock().tables.get(&table.object_id) {
            Some(counter) => counter.next,
            None => load(connection, table, rule)?,
        };
        reserve(connection, table, begin)?;
        let before = Counter { next, left: 0 };
        journal
            .before
            .borrow_mut()
            .push(Before::Table(table.object_id, Some(before)));
        self.lock()
            .tables
            .insert(table.object_id, Counter { next: begin, left: 0 });
        Ok(())
    }

    /// Undoes the journal's entries after `mark`. The rollback may have undone reservations, so all values are reserved
    /// again.
    pub fn undo(&self, journal: &IdentityJournal, mark: usize) {
        let mut counters = self.lock();
        let mut before = journal.before.borrow_mut();
        let first = mark.min(before.len());
        for entry in before.drain(first..).rev() {
            match entry {
                Before::Table(id, Some(counter)) => drop(counters.tables.insert(id, counter)),
                Before::Table(id, None) => drop(counters.tables.remove(&id)),
                Before::Sequence(id, Some(counter)) => drop(counters.sequences.insert(id, counter)),
                Before::Sequence(id, None) => drop(counters.sequences.remove(&id)),
            }
        }
        for counter in counters.tables.values_mut() {
            counter.left = 0;
        }
        for counter in counters.sequences.values_mut() {
            counter.left = 0;
        }
        if let Some(versions) = &mut counters.row_versions {
            versions.left = 0;
        }
    }

    fn with<R>(
        &self,
        connection: &Connection,
        table: &Table,
        change: impl FnOnce(&mut Counter, IdentityRule) -> R,
    ) -> Result<R, SqlError> {
        let (rule, _) = numbered(table)?;
        let mut counters = self.lock();
        let mut counter = match counters.tables.get(&table.object_id) {
            Some(counter) => *counter,
            None => Counter {
                next: load(connection, table, rule)?,
                left: 0,
            },
        };
        if counter.left == 0 {
            reserve(connection, table, counter.next + rule.increment * i128::from(RESERVED))?;
            counter.left = RESERVED;
        }
        let done = change(&mut counter, rule);
        counters.tables.insert(table.object_id, counter);
        Ok(done)
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn numbered(table: &Table) -> Result<(IdentityRule, &Column), SqlError> {
    let column = table.identity().and_then(|at| table.columns.get(at));
    let found = column.and_then(|column| Some((column.identity?, column)));
    found.ok_or_else(|| SqlError::internal("a table without an identity"))
}

/// The next value, from the reservation and the table's values.
fn load(connection: &Connection, table: &Table, rule: IdentityRule) -> Result<i128, SqlError> {
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
    let used = Identities::extreme(connection, table)?;
    let beyond = used.map(|used| used + rule.increment);
    let further = |a: i128, b: i128| if rule.increment > 0 { a.max(b) } else { a.min(b) };
    let begin = reserved.unwrap_or(rule.seed);
    Ok(beyond.map_or(begin, |beyond| further(begin, beyond)))
}

fn reserve(connection: &Connection, table: &Table, next: i128) -> Result<(), SqlError> {
    // A temporary table is dropped with its session.
    if table.sqlite.schema == "temp" {
        return Ok(());
    }
    let done = connection.prepare_cached("UPDATE selenite_catalog SET next = ?2 WHERE object_id = ?1");
    done.and_then(|mut statement| statement.execute((table.object_id, next.to_string())))
        .map(drop)
        .map_err(|error| tsql_error(&error))
}

/// SQL Server's identity cache for int and smaller.
const RESERVED: u32 = 1000;
