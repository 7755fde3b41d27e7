//! Sessions: requests in, programs run, tokens out.
//!
//! - `requests-in-order`: requests are answered in order, each completely before the next begins.
//! - `machine-decides-what-ends`: the machine decides what ends. The session writes what the
//!   machine reports, and ends when the client is gone.
//! - `invalid-requests-are-reported`: errors in a request's text are reported to the client. So are
//!   errors in its bytes, and the session continues if the message was complete.
//!
//! Left to others: what statements on tables do (the executor), order and DONEs (the machine).

mod arguments;
mod command;
mod cursor_outputs;
mod facts;
mod host;
mod local_clock;
mod parameterized_batch;
mod plans;
mod procedure_name;
mod rpc;
mod session_loop;
mod set_option;
mod statistics;
mod table_rows;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use local_clock::LocalClock;
use selenite_compiler::SqlError;
use selenite_compiler::program::Program;
use selenite_tsql::ast::TypeReference;
use session_loop::SessionLoop;

use crate::catalog::schema::Schema;
use crate::catalog::schema::user_type::is_system;
use crate::compile::{ProgramCache, ProgramKey, compile_typed};
use crate::database::database_registry::DatabaseRegistry;
use crate::master::{DatabaseRecord, LoginRecord};
use crate::{Ended, Front, Instance, Session, memory};

/// Serves sessions in T-SQL.
pub struct SqlFront {
    databases: Arc<DatabaseRegistry>,
    shared: SharedState,
}

/// What all sessions share.
pub(crate) struct SharedState {
    programs: ProgramCache,
    pub(crate) clock: LocalClock,
    transaction_next: AtomicU64,
}

impl SqlFront {
    /// A front whose sessions reach data through `databases`.
    #[must_use]
    pub fn new(databases: Arc<DatabaseRegistry>) -> Self {
        Self {
            databases,
            shared: SharedState {
                programs: ProgramCache::default(),
                clock: LocalClock::new(),
                transaction_next: AtomicU64::new(1),
            },
        }
    }
}

impl Front for SqlFront {
    fn admits(&self, instance: &Instance, login: &LoginRecord, database: &DatabaseRecord) -> bool {
        self.databases.admits(instance, login, database)
    }

    fn begin(&self, instance: &Arc<Instance>) {
        self.databases.begin(instance);
    }

    fn serve(&self, session: Session<'_>) -> Ended {
        SessionLoop::serve(session, self.databases.as_ref(), &self.shared)
    }

    fn close(&self) {
        self.databases.close();
    }
}

impl SharedState {
    /// The program of a text, if it is kept.
    pub(crate) fn kept_program(&self, key: &ProgramKey) -> Option<Arc<Program>> {
        self.programs.find(key)
    }

    /// The program of a text, compiled or from the cache, and whether it holds as long as the definitions of a database
    /// do. If it names types of users, `of_database` has the database in which they are looked up, and the schema of names
    /// without one.
    ///
    /// # Errors
    /// What is wrong with it: at least one.
    pub(crate) fn program(
        &self,
        key: ProgramKey,
        goes_on: &dyn Fn() -> bool,
        of_database: impl FnOnce() -> Option<(Arc<Schema>, Arc<str>)>,
    ) -> Result<(Arc<Program>, bool), Vec<SqlError>> {
        if let Some(program) = self.programs.find(&key) {
            return Ok((program, false));
        }
        let mut is_of_database = false;
        let (compiled, names_types) = {
            let named = Cell::new(false);
            let types = |name: &TypeReference| {
                named.set(named.get() || !is_system(name));
                None
            };
            let compiled = memory::measured_program(|| compile_typed(&key, goes_on, &types));
            (compiled, named.get())
        };
        let compiled = match names_types.then(of_database).flatten() {
            // What the types of one database mean is not what those of another do: such a program is not shared.
            Some(schema) => {
                is_of_database = true;
                let types = |name: &TypeReference| schema.0.type_of(name, &schema.1);
                memory::measured_program(|| compile_typed(&key, goes_on, &types))
            }
            None => compiled,
        };
        let program = Arc::new(compiled?);
        if !is_of_database {
            self.programs.keep(key, &program);
        }
        Ok((program, is_of_database))
    }

    /// DBCC FREEPROCCACHE: what runs continues, and every text is recompiled.
    pub(crate) fn forget_programs(&self) {
        self.programs.clear();
    }

    /// A number that no transaction had before.
    fn next_transaction(&self) -> u64 {
        self.transaction_next.fetch_add(1, Ordering::Relaxed)
    }
}
