//! Runs the SQL of bound statements on a connection.

use std::cell::{Cell, OnceCell};
use std::ops::ControlFlow;
use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Statement, ToSql, ffi};
use selenite_compiler::SqlError;
use selenite_compiler::catalog::Table;
use selenite_compiler::compiled::{Compiled, ROWS_FUNCTION};
use selenite_types::storage::{Stored, StoredRef};
use selenite_types::{DataType, Value};

use super::cancellation::Cancellation;
use super::error::{ChangeError, change_error, is_busy, tsql_error};
use super::function_context::{CurrentCall, FunctionContext, SharedSnapshot};
use super::functions::stored_ref;
use super::identities::{Identities, IdentityJournal};
use super::lock_timeout::LockTimeout;
use super::memory::{HEAVY_SIZE, reserve, size_of, within_memory};
use crate::execution::read_at;

/// A connection that runs a T-SQL statement.
pub struct Executor<'a> {
    /// The connection.
    pub connection: &'a Connection,
    /// The state of the registered functions.
    pub functions: &'a FunctionContext,
    /// The session's snapshot for functions.
    pub session: LateSnapshot<'a>,
    /// The object id of the table of SET IDENTITY_INSERT.
    pub identity_insert: Option<i32>,
    /// The identity counters of the database's tables.
    pub identities: &'a Identities,
    /// The undo journal of the counters.
    pub identity_journal: &'a IdentityJournal,
    /// The limit of waits for other processes.
    pub timeout: LockTimeout,
    /// The cancellation of the statement.
    pub cancellation: &'a Cancellation,
    /// The last identity value: `@@IDENTITY`.
    pub last_identity: &'a Cell<Option<i128>>,
}

/// The session's snapshot for functions, copied when the first function needs it: most statements call none.
pub struct LateSnapshot<'a> {
    take: &'a dyn Fn() -> SharedSnapshot,
    taken: OnceCell<SharedSnapshot>,
}

impl<'a> LateSnapshot<'a> {
    /// A snapshot that `take` copies.
    pub fn new(take: &'a dyn Fn() -> SharedSnapshot) -> Self {
        Self {
            take,
            taken: OnceCell::new(),
        }
    }

    fn taken(&self) -> SharedSnapshot {
        self.taken.get_or_init(self.take).clone()
    }
}

impl Executor<'_> {
    /// Runs `body`, in which functions see `call`.
    fn run<R>(
        &self,
        call: &Call<'_>,
        mut body: impl FnMut(&mut Statement<'_>) -> Result<R, rusqlite::Error>,
    ) -> Result<R, ChangeError> {
        let before = self.functions.begin(self.current_call(call));
        let mut once = || {
            let mut statement = self.connection.prepare_cached(call.sql)?;
            for (index, parameter) in call.parameters.iter().enumerate() {
                statement.raw_bind_parameter(index + 1, Bound(parameter))?;
            }
            body(&mut statement)
        };
        let mut limited = || within_memory(&mut once);
        let mut done = limited();
        // SQLite takes locks before the first row, so a retry repeats no effect.
        while done.as_ref().is_err_and(is_busy) && self.may_wait() {
            done = limited();
        }
        self.functions.begin(before);
        done.map_err(|error| match self.functions.take_error() {
            Some(error) => ChangeError::Failed(error),
            None => change_error(&error),
        })
    }

    /// The call that functions see while a statement of SQLite's runs; `None` if it calls none.
    fn current_call(&self, call: &Call<'_>) -> Option<CurrentCall> {
        if call.compiled.is_empty() && !call.sql.contains(ROWS_FUNCTION) {
            return None;
        }
        Some(CurrentCall {
            compiled: call.compiled.clone(),
            session: self.session.taken(),
        })
    }

    fn may_wait(&self) -> bool {
        !self.timeout.is_over() && !self.cancellation.is_requested()
    }

    /// Runs a query, and passes each row to `row` until it breaks. `row` may run statements of its own, on tables that
    /// the query does not read.
    ///
    /// # Errors
    /// Those of `row`, of the functions that SQLite calls, and of SQLite itself.
    pub fn select(&self, call: &Call<'_>, row: &mut RowSink<'_>) -> Result<(), SqlError> {
        let mut failed = None;
        let mut count = 0_u64;
        let done = self.run(call, |statement| {
            let mut rows = statement.raw_query();
            while let Some(found) = rows.next().map_err(|error| after_rows(error, count))? {
                count += 1;
                // The row is decoded to T-SQL values, and rows may be kept: memory is checked first.
                match reserve(0).and_then(|()| row(&SqliteRow(found))) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => break,
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            Ok(())
        });
        match failed {
            Some(error) => Err(error),
            None => done.map_err(ChangeError::unexpected),
        }
    }

    /// Runs SQL that changes rows, and returns their number.
    ///
    /// # Errors
    /// As [`Executor::select`]; a violated constraint is a separate variant.
    pub fn change(&self, call: &Call<'_>) -> Result<u64, ChangeError> {
        self.cancellation.write(|| {
            self.run(call, |statement| {
                let count = statement.raw_execute()?;
                Ok(u64::try_from(count).unwrap_or(u64::MAX))
            })
        })
    }

    /// Prepares SQL without operations that changes rows, to be run many times.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn prepare(&self, sql: &str) -> Result<PreparedChange<'_>, SqlError> {
        let statement = within_memory(&mut || self.connection.prepare_cached(sql));
        Ok(PreparedChange {
            executor: self,
            statement: statement.map_err(|error| tsql_error(&error))?,
        })
    }

    /// Takes the next identity value of a table.
    pub(crate) fn next_identity(&self, table: &Table) -> Result<i128, SqlError> {
        let taken = self.identities.take(self.connection, table)?;
        self.last_identity.set(Some(taken));
        Ok(taken)
    }

    /// Records the identity value of an inserted row, explicit or generated: `@@IDENTITY`; an explicit value beyond the
    /// last moves the counter.
    pub(crate) fn identity_used(&self, table: &Table, value: i128) -> Result<(), SqlError> {
        self.last_identity.set(Some(value));
        self.identities.move_beyond(self.connection, table, value)
    }

    /// Defers the checks of foreign keys until [`Executor::settle_references`].
    pub(crate) fn defer_references(&self) -> Result<(), SqlError> {
        let put_off = self.connection.execute_batch("PRAGMA defer_foreign_keys = ON");
        put_off.map_err(|error| tsql_error(&error))
    }

    /// Ends deferred checks, and returns whether a foreign key is violated: then the caller must undo the statement.
    pub(crate) fn settle_references(&self) -> Result<bool, SqlError> {
        let settle = || -> rusqlite::Result<bool> {
            let sql = "SELECT selenite_open_references()";
            let is_open = self.connection.query_row(sql, [], |row| row.get(0))?;
            // This also resets the count of violations, which the end of the statement undoes.
            self.connection.execute_batch("PRAGMA defer_foreign_keys = OFF")?;
            Ok(is_open)
        };
        settle().map_err(|error| tsql_error(&error))
    }

    /// Whether SET IDENTITY_INSERT is on for the table.
    pub(crate) fn identity_insert(&self, table: &Table) -> bool {
        self.identity_insert == Some(table.object_id)
    }

    /// Restarts the identity of an emptied table at the seed.
    pub(crate) fn restart_numbers(&self, table: &Table) -> Result<(), SqlError> {
        match table.identity() {
            Some(_) => self.identities.restart(self.connection, table, self.identity_journal),
            None => Ok(()),
        }
    }
}

/// Prepared SQL without operations that changes rows.
pub struct PreparedChange<'a> {
    executor: &'a Executor<'a>,
    statement: CachedStatement<'a>,
}

impl PreparedChange<'_> {
    /// Runs it with the values of `?1`, `?2` and so on.
    ///
    /// # Errors
    /// As [`Executor::change`]; those of the values.
    pub fn run<'p>(
        &mut self,
        parameters: impl Iterator<Item = Result<Stored<'p>, SqlError>>,
    ) -> Result<(), ChangeError> {
        let (executor, statement) = (self.executor, &mut self.statement);
        for (index, parameter) in parameters.enumerate() {
            let bound = statement.raw_bind_parameter(index + 1, Bound(&parameter?));
            bound.map_err(|error| change_error(&error))?;
        }
        executor.cancellation.write(|| {
            let before = executor.functions.begin(None);
            let mut once = || within_memory(&mut || statement.raw_execute());
            let mut done = once();
            while done.as_ref().is_err_and(is_busy) && executor.may_wait() {
                done = once();
            }
            executor.functions.begin(before);
            match done {
                Ok(_) => Ok(()),
                Err(error) => Err(match executor.functions.take_error() {
                    Some(error) => ChangeError::Failed(error),
                    None => change_error(&error),
                }),
            }
        })
    }
}

/// SQL to run, with the values of its parameters and its operations.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// One statement of SQLite's.
    pub sql: &'a str,
    /// `?1`, `?2` and so on.
    pub parameters: &'a [Stored<'static>],
    /// The operations and aggregates that it calls by number.
    pub compiled: &'a Arc<Compiled>,
}

/// The receiver of a query's rows.
pub type RowSink<'a> = dyn FnMut(&SqliteRow<'_>) -> Result<ControlFlow<()>, SqlError> + 'a;

/// A row that SQLite returns, until the next step.
pub struct SqliteRow<'a>(&'a rusqlite::Row<'a>);

impl SqliteRow<'_> {
    /// The storage form of a column; `None` beyond the last.
    #[must_use]
    pub fn stored(&self, at: usize) -> Option<StoredRef<'_>> {
        self.0.get_ref(at).ok().map(stored_ref)
    }

    /// Decodes the row into `row`, which is emptied first. `columns` are the types, with the table and column for
    /// errors.
    ///
    /// # Errors
    /// 50823 for a value that does not have its column's type; 701.
    pub fn read<'c>(
        &self,
        columns: impl Iterator<Item = (&'c DataType, &'c str)>,
        row: &mut Vec<Value>,
    ) -> Result<(), SqlError> {
        row.clear();
        let mut size = 0;
        for (at, (data_type, place)) in columns.enumerate() {
            let Some(stored) = self.stored(at) else { break };
            size += size_of(&stored);
            if size > HEAVY_SIZE {
                reserve(size)?;
                size = 0;
            }
            row.push(read_at(stored, data_type, place)?);
        }
        Ok(())
    }
}

/// SQLite's error after `count` rows: after the first row a lock is no reason to retry.
fn after_rows(error: rusqlite::Error, count: u64) -> rusqlite::Error {
    if count > 0 && is_busy(&error) {
        return rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR), Some(error.to_string()));
    }
    error
}

struct Bound<'a, 'p>(&'a Stored<'p>);

impl ToSql for Bound<'_, '_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Stored::Null => ValueRef::Null,
            Stored::Integer(number) => ValueRef::Integer(*number),
            Stored::Real(number) => ValueRef::Real(*number),
            Stored::Text(text) => ValueRef::Text(text.as_bytes()),
            Stored::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
