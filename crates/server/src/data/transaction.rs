//! A session's transaction in one database.
//!
//! S1. READ COMMITTED keeps no snapshot between statements: SQLite's transaction begins with the first write, IMMEDIATE, once the session
//!     has its turn. REPEATABLE READ and above begin so at the first statement of any kind.
//! S2. A savepoint from before SQLite's transaction is its beginning: going back to it ends that.

use std::time::Duration;

use selenite_plan::PlanError;
use selenite_plan::machine::{Failure, Stop};

use super::database::OpenDatabase;
use super::refusal::{lock_timeout, trouble};
use super::turnstile::{NoTurn, Turn};
use crate::registry::{WaitType, own};

/// The state of one.
#[derive(Default)]
pub struct Transaction {
    /// Whether BEGIN TRANSACTION was said, and no end of it.
    is_open: bool,
    /// The right to write, with SQLite's transaction.
    turn: Option<Turn>,
    /// Names in order, and whether SQLite's transaction had begun.
    savepoints: Vec<(String, bool)>,
}

impl Transaction {
    /// Whether one is open that the client began.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether SQLite's has begun.
    pub fn writes(&self) -> bool {
        self.turn.is_some()
    }

    /// BEGIN TRANSACTION.
    pub fn begin(&mut self) {
        self.is_open = true;
    }

    /// Sees to it that the session may write.
    ///
    /// # Errors
    /// 1222; what SQLite says.
    pub fn ensure_write(
        &mut self,
        database: &OpenDatabase,
        lock_timeout_ms: i32,
        poll: impl FnMut() -> Result<(), Stop>,
    ) -> Result<(), Failure> {
        if self.turn.is_some() {
            return Ok(());
        }
        let patience = u64::try_from(lock_timeout_ms).ok().map(Duration::from_millis);
        let turn = match database.shared.turnstile.enter(patience, poll) {
            Ok(turn) => turn,
            Err(NoTurn::TimedOut) => return Err(lock_timeout().into()),
            Err(NoTurn::Stopped(stop)) => return Err(stop.into()),
        };
        execute(database, "BEGIN IMMEDIATE")?;
        self.turn = Some(turn);
        Ok(())
    }

    /// Ends it for good.
    ///
    /// # Errors
    /// What SQLite says: then it is rolled back.
    pub fn commit(&mut self, database: &OpenDatabase) -> Result<(), PlanError> {
        let done = if self.turn.is_some() {
            let before = selenite_engine::thread_io();
            let done = execute(database, "COMMIT");
            let synced = selenite_engine::thread_io();
            let time = Duration::from_nanos(synced.log_sync_ns - before.log_sync_ns);
            own::note_waits(WaitType::WriteLog, synced.log_syncs - before.log_syncs, time);
            done
        } else {
            Ok(())
        };
        if done.is_err() {
            self.rollback(database);
            return done;
        }
        self.end(database, true);
        Ok(())
    }

    /// Undoes it. It always succeeds: SQLite has rolled back already, or does.
    pub fn rollback(&mut self, database: &OpenDatabase) {
        if self.turn.is_some() && !database.connection.is_autocommit() {
            // An error here means that SQLite has rolled back by itself (sqlite.org/lang_transaction.html).
            let _ = execute(database, "ROLLBACK");
        }
        self.end(database, false);
    }

    fn end(&mut self, database: &OpenDatabase, is_committed: bool) {
        if self.turn.is_some() {
            database.settle(is_committed);
        }
        *self = Self::default();
    }

    /// SAVE TRANSACTION.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn save(&mut self, database: &OpenDatabase, name: &str) -> Result<(), PlanError> {
        if self.turn.is_some() {
            execute(database, &format!("SAVEPOINT s{}", self.savepoints.len()))?;
        }
        self.savepoints.push((name.to_owned(), self.turn.is_some()));
        Ok(())
    }

    /// ROLLBACK TRANSACTION of a savepoint, which stays.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn rollback_to(&mut self, database: &OpenDatabase, name: &str) -> Result<(), PlanError> {
        let found = self
            .savepoints
            .iter()
            .rposition(|(known, _)| selenite_plan::same_name(known, name));
        let Some(at) = found else {
            // Of a database that was used later than the savepoint: all that was done in it.
            self.undo(database);
            return Ok(());
        };
        self.savepoints.truncate(at + 1);
        if self.savepoints[at].1 {
            execute(database, &format!("ROLLBACK TO s{at}"))?;
            database.note_change();
        } else {
            // S2.
            self.undo(database);
        }
        Ok(())
    }

    /// Ends SQLite's transaction without the client's.
    fn undo(&mut self, database: &OpenDatabase) {
        let savepoints = std::mem::take(&mut self.savepoints);
        let is_open = self.is_open;
        self.rollback(database);
        self.is_open = is_open;
        self.savepoints = savepoints;
    }
}

/// Runs a statement that has no rows.
///
/// # Errors
/// What SQLite says.
pub fn execute(database: &OpenDatabase, sql: &str) -> Result<(), PlanError> {
    let done = database
        .connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.raw_execute());
    done.map(drop).map_err(|error| trouble(&error))
}
