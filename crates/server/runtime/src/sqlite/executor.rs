//! Runs the SQL of bound statements on a connection.

use std::cell::{Cell, OnceCell};
use std::ops::ControlFlow;
use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql, ffi};
use selenite_compiler::PlanError;
use selenite_compiler::catalog::Table;
use selenite_compiler::compiled::ROWS_FUNCTION;
use selenite_compiler::statement::Truncate;
use selenite_types::storage::Stored;

use super::cancellation::Cancellation;
use super::error::{is_busy, refusal, trouble};
use super::function_context::{CurrentCall, FunctionContext, SharedSnapshot};
use super::functions::stored_ref;
use super::identities::{Identities, IdentityJournal};
use super::lock_timeout::LockTimeout;
use super::memory::{reserve, size_of, within_memory};
use crate::statement::{Call, RowSink, Store, StoreError};

/// A connection while a statement of T-SQL runs.
pub struct Executor<'a> {
    /// The connection.
    pub connection: &'a Connection,
    /// What its functions see.
    pub functions: &'a FunctionContext,
    /// The session as they see it.
    pub session: LateSnapshot<'a>,
    /// The number of the table of SET IDENTITY_INSERT.
    pub identity_insert: Option<i32>,
    /// The next numbers of the database's tables.
    pub identities: &'a Identities,
    /// What the session's definitions have done to them.
    pub identity_journal: &'a IdentityJournal,
    /// How long the statement waits for other processes.
    pub timeout: LockTimeout,
    /// Says when to stop.
    pub cancellation: &'a Cancellation,
    /// Takes the last number: `@@IDENTITY`.
    pub last_identity: &'a Cell<Option<i128>>,
}

/// The session as functions see it, copied when the first one asks: most statements call none.
pub struct LateSnapshot<'a> {
    take: &'a dyn Fn() -> SharedSnapshot,
    taken: OnceCell<SharedSnapshot>,
}

impl<'a> LateSnapshot<'a> {
    /// One that is taken by `take`.
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
    /// Lets the functions see `call` while `body` runs.
    fn run<R>(
        &self,
        call: &Call<'_>,
        mut body: impl FnMut(&mut Statement<'_>) -> Result<R, rusqlite::Error>,
    ) -> Result<R, StoreError> {
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
        // Locks are taken before the first row: so nothing is done twice.
        while done.as_ref().is_err_and(is_busy) && self.may_wait() {
            done = limited();
        }
        self.functions.begin(before);
        done.map_err(|error| match self.functions.take_error() {
            Some(error) => StoreError::Failed(error),
            None => refusal(&error),
        })
    }

    /// What functions see while a statement of SQLite's runs; nothing for one that calls none.
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
}

impl Store for Executor<'_> {
    fn select(&self, call: &Call<'_>, row: &mut RowSink<'_>) -> Result<(), StoreError> {
        let mut failed = None;
        let mut count_told = 0_u64;
        let mine = self.current_call(call);
        let done = self.run(call, |statement| {
            let count = statement.column_count();
            let mut rows = statement.raw_query();
            while let Some(found) = rows.next().map_err(|error| told_already(error, count_told))? {
                count_told += 1;
                let mut values = Vec::with_capacity(count);
                let mut size = 0;
                for index in 0..count {
                    let value = stored_ref(found.get_ref(index)?);
                    size += size_of(&value);
                    values.push(value);
                }
                // The row is made of T-SQL's values now; and perhaps rows are kept.
                match reserve(size).and_then(|()| row(&values)) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => break,
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
                // The sink may have run a statement of its own.
                self.functions.begin(mine.clone());
            }
            Ok(())
        });
        match failed {
            Some(error) => Err(StoreError::Failed(error)),
            None => done,
        }
    }

    fn change(&self, call: &Call<'_>) -> Result<u64, StoreError> {
        self.cancellation.write(|| {
            self.run(call, |statement| {
                let count = statement.raw_execute()?;
                Ok(u64::try_from(count).unwrap_or(u64::MAX))
            })
        })
    }

    fn next_identity(&self, table: &Table) -> Result<i128, PlanError> {
        let taken = self.identities.take(self.connection, table)?;
        self.last_identity.set(Some(taken));
        Ok(taken)
    }

    fn identity_used(&self, table: &Table, value: i128) -> Result<(), PlanError> {
        self.last_identity.set(Some(value));
        self.identities.move_beyond(self.connection, table, value)
    }

    fn defer_references(&self) -> Result<(), PlanError> {
        let put_off = self.connection.execute_batch("PRAGMA defer_foreign_keys = ON");
        put_off.map_err(|error| trouble(&error))
    }

    fn settle_references(&self) -> Result<bool, PlanError> {
        let settle = || -> rusqlite::Result<bool> {
            let sql = "SELECT selenite_open_references()";
            let is_open = self.connection.query_row(sql, [], |row| row.get(0))?;
            // This also forgets what is open, which the end of the statement undoes.
            self.connection.execute_batch("PRAGMA defer_foreign_keys = OFF")?;
            Ok(is_open)
        };
        settle().map_err(|error| trouble(&error))
    }

    fn identity_insert(&self, table: &Table) -> bool {
        self.identity_insert == Some(table.object_id)
    }
}

impl Executor<'_> {
    /// `TRUNCATE TABLE`: its numbers restart at the seed.
    ///
    /// # Errors
    /// 547 for rows that others refer to; what SQLite says.
    pub fn truncate(&self, truncate: &Truncate) -> Result<u64, PlanError> {
        let compiled = Arc::default();
        let call = Call {
            sql: &truncate.sql,
            parameters: &[],
            compiled: &compiled,
        };
        match self.change(&call) {
            Ok(_) => {}
            Err(StoreError::Failed(error)) => return Err(error),
            Err(StoreError::Constraint(message)) => return Err(PlanError::internal(&message)),
        }
        if truncate.table.identity().is_some() {
            self.identities
                .restart(self.connection, &truncate.table, self.identity_journal)?;
        }
        Ok(0)
    }
}

/// An error behind the first row is none that asking again would mend.
fn told_already(error: rusqlite::Error, count_told: u64) -> rusqlite::Error {
    if count_told > 0 && is_busy(&error) {
        return rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR), Some(error.to_string()));
    }
    error
}

struct Bound<'a>(&'a Stored<'static>);

impl ToSql for Bound<'_> {
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
