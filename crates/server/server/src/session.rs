//! Sessions: requests in, programs run, tokens out.
//!
//! E1. Requests are answered in order, each whole before the next begins.
//! E2. The machine decides what ends; the session writes what it is told, and ends when nobody is left.
//! E3. What a request's text is wrong in is told the client; what its bytes are wrong in as well, and the session goes on if its message
//!     was whole.
//!
//! Left to others: what statements on tables do (the executor), order and DONEs (the machine).

mod capture;
mod command;
mod compiler;
mod facts;
mod host;
mod local_clock;
mod program_cache;
mod reply;
mod session_loop;
mod set_option;
mod statistics;
mod unsupported;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use selenite_compiler::PlanError;
use selenite_compiler::program::Program;

pub(crate) use compiler::compile;
pub(crate) use host::{Handle, SessionHost};
use local_clock::LocalClock;
use program_cache::ProgramCache;
pub(crate) use program_cache::ProgramKey;
use session_loop::SessionLoop;

use crate::master::{DatabaseRecord, LoginRecord};
use crate::memory;
use crate::workbench::Workshop;
use crate::{Ended, Front, Instance, Session};

/// Serves sessions in T-SQL.
pub struct SqlFront {
    workshop: Arc<dyn Workshop>,
    stock: Stock,
}

/// What all sessions share.
pub(crate) struct Stock {
    programs: ProgramCache,
    pub(crate) clock: LocalClock,
    transaction_next: AtomicU64,
}

impl SqlFront {
    /// A front whose sessions reach data through `workshop`.
    #[must_use]
    pub fn new(workshop: Arc<dyn Workshop>) -> Self {
        Self {
            workshop,
            stock: Stock {
                programs: ProgramCache::default(),
                clock: LocalClock::new(),
                transaction_next: AtomicU64::new(1),
            },
        }
    }
}

impl Front for SqlFront {
    fn admits(&self, instance: &Instance, login: &LoginRecord, database: &DatabaseRecord) -> bool {
        self.workshop.admits(instance, login, database)
    }

    fn begin(&self, instance: &Arc<Instance>) {
        self.workshop.begin(instance);
    }

    fn serve(&self, session: Session<'_>) -> Ended {
        SessionLoop::serve(session, self.workshop.as_ref(), &self.stock)
    }

    fn close(&self) {
        self.workshop.close();
    }
}

impl Stock {
    /// The program of a text, compiled or kept.
    ///
    /// # Errors
    /// What is wrong with it: at least one.
    pub(crate) fn program(&self, key: ProgramKey, goes_on: &dyn Fn() -> bool) -> Result<Arc<Program>, Vec<PlanError>> {
        if let Some(program) = self.programs.find(&key) {
            return Ok(program);
        }
        let program = Arc::new(memory::measured_program(|| compiler::compile(&key, goes_on))?);
        self.programs.keep(key, &program);
        Ok(program)
    }

    /// DBCC FREEPROCCACHE: what runs goes on, and every text is recompiled.
    pub(crate) fn forget_programs(&self) {
        self.programs.clear();
    }

    /// A number that no transaction had before.
    fn next_transaction(&self) -> u64 {
        self.transaction_next.fetch_add(1, Ordering::Relaxed)
    }
}
