//! A connection as the store that bound statements run on.

use std::cell::{Cell, OnceCell};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql, ffi};
use selenite::thread_memory;
use selenite_compiler::PlanError;
use selenite_compiler::catalog::Table;
use selenite_compiler::compiled::ROWS_FUNCTION;
use selenite_compiler::statement::Truncate;
use selenite_runtime::statement::{Call, RowSink, Store, StoreError};
use selenite_types::storage::{Stored, StoredRef};

use crate::database::cancellation::Cancellation;
use crate::database::functions::stored_ref;
use crate::database::identities::{Identities, IdentityJournal};
use crate::database::lock_timeout::LockTimeout;
use crate::database::running::{Running, RunningCall, Scene};
use crate::names::session_objects::SessionObjects;
use crate::session_state::SessionState;
use crate::sqlite_error::{is_busy, refusal, trouble};
use crate::{Interrupts, memory};

/// A connection while a statement of T-SQL's runs.
pub struct SqliteStore<'a> {
    /// The connection.
    pub connection: &'a Connection,
    /// What its functions see.
    pub running: &'a Running,
    /// What is around the statement.
    pub scene: LateScene<'a>,
    /// The number of the table of SET IDENTITY_INSERT.
    pub identity_insert: Option<i32>,
    /// The next numbers of the database's tables.
    pub identities: &'a Identities,
    /// What the session's definitions have done to them.
    pub identity_journal: &'a IdentityJournal,
    /// How long the statement waits for other processes.
    pub timeout: LockTimeout,
    /// Says when to wait no longer.
    pub interrupts: &'a Interrupts,
    /// Stops what writes.
    pub cancellation: &'a Cancellation,
    /// Takes the last number: `@@IDENTITY`.
    pub last_identity: &'a Cell<Option<i128>>,
}

/// What is around a statement, copied when the first function asks: most statements call none.
pub struct LateScene<'a> {
    state: &'a SessionState,
    objects: &'a SessionObjects,
    made: OnceCell<Arc<Mutex<Scene>>>,
}

impl<'a> LateScene<'a> {
    /// That of a statement which begins now.
    pub fn new(state: &'a SessionState, objects: &'a SessionObjects) -> Self {
        Self {
            state,
            objects,
            made: OnceCell::new(),
        }
    }

    fn made(&self) -> Arc<Mutex<Scene>> {
        let make = || {
            Arc::new(Mutex::new(Scene {
                state: self.state.clone(),
                objects: self.objects.clone(),
            }))
        };
        self.made.get_or_init(make).clone()
    }
}

impl SqliteStore<'_> {
    /// Lets the functions see `call` while `body` runs.
    fn run<R>(
        &self,
        call: &Call<'_>,
        mut body: impl FnMut(&mut Statement<'_>) -> Result<R, rusqlite::Error>,
    ) -> Result<R, StoreError> {
        let before = self.running.begin(self.running_call(call));
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
        self.running.begin(before);
        done.map_err(|error| match self.running.take_error() {
            Some(error) => StoreError::Failed(error),
            None => refusal(&error),
        })
    }

    /// What functions see while a statement of SQLite's runs; nothing for one that calls none.
    fn running_call(&self, call: &Call<'_>) -> Option<RunningCall> {
        if call.compiled.is_empty() && !call.sql.contains(ROWS_FUNCTION) {
            return None;
        }
        Some(RunningCall {
            compiled: call.compiled.clone(),
            scene: self.scene.made(),
        })
    }

    fn may_wait(&self) -> bool {
        !self.timeout.is_over() && self.interrupts.poll().is_none()
    }
}

impl Store for SqliteStore<'_> {
    fn select(&self, call: &Call<'_>, row: &mut RowSink<'_>) -> Result<(), StoreError> {
        let mut failed = None;
        let mut count_told = 0_u64;
        let mine = self.running_call(call);
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
                match memory::reserve(size).and_then(|()| row(&values)) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => break,
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
                // The sink may have run a statement of its own.
                self.running.begin(mine.clone());
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

impl SqliteStore<'_> {
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

/// Runs what SQLite does, within the session's memory. Where that ends SQLite says so (SQLITE_NOMEM), but rusqlite expects that a text of
/// a column can always be had, and panics.
///
/// # Errors
/// Those of `body`; SQLITE_NOMEM.
pub(crate) fn within_memory<R>(body: &mut impl FnMut() -> Result<R, rusqlite::Error>) -> Result<R, rusqlite::Error> {
    let out_of_memory = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_NOMEM), None);
    let done = catch_unwind(AssertUnwindSafe(|| thread_memory::enforced(body)));
    let is_refused = thread_memory::take_refused();
    match done {
        // What went on after a smaller piece was got has succeeded.
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) | Err(_) if is_refused => Err(out_of_memory()),
        Ok(Err(error)) => Err(error),
        Err(panic) => resume_unwind(panic),
    }
}

/// The bytes of a text or blob.
pub(crate) fn size_of(value: &StoredRef<'_>) -> usize {
    match value {
        StoredRef::Text(bytes) | StoredRef::Blob(bytes) => bytes.len(),
        StoredRef::Null | StoredRef::Integer(_) | StoredRef::Real(_) => 0,
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
