//! A session's transaction in one database.
//!
//! - `read-committed-keeps-no-snapshot`: READ COMMITTED keeps no snapshot between statements:
//!   SQLite's transaction begins with the first write, IMMEDIATE, once the session is first in the
//!   write queue.
//!   With REPEATABLE READ and above it begins like that at the first statement of any kind.
//! - `deadlock-is-1205`: the first session in the queue has SQLite's lock, or gets it from another
//!   process, which never waits for this server. A session that holds the write permit of one
//!   database, and whose wait for another's would complete a cycle, gets 1205
//!   (`wait-cycle-is-refused` of the write queue). A cycle that includes a wait of a client itself is
//!   not detected: it ends when the wait times out (1222).
//! - `early-savepoint-is-the-beginning`: a savepoint from before SQLite's transaction is the
//!   transaction's beginning: a rollback to it ends the transaction.
//! - `unexpected-rollback-is-3998`: SQLite itself rolls a transaction back when the disk fails, or
//!   a statement that writes is interrupted (sqlite.org/lang_transaction.html), which is avoided
//!   where possible (`cancellation`). Then no statement of the client's runs, in no database, until
//!   it has been told: 3998. Temporary tables are those of before at once. A COMMIT commits nothing. XACT_STATE is -1.

use std::rc::Rc;
use std::time::Duration;

use selenite_compiler::SqlError;
use selenite_runtime::machine::{Failure, Stop};
use selenite_runtime::sqlite::{LockTimeout, lock_timeout};

use crate::database::database_connection::DatabaseConnection;
use crate::database::database_use::DatabaseUse;
use crate::database::log_sync::CommitNo;
use crate::database::write_queue::{NoPermit, WritePermit, WriteQueue};
use crate::database_error::{deadlock, transaction_lost};
use crate::master::{MASTER, TEMPDB};

/// A database that a session has open, and the session's transaction in it.
pub struct Transaction {
    /// The session's connection.
    pub database: Rc<DatabaseConnection>,
    state: TransactionProgress,
    /// Noted as long as the session has the database open.
    _use: Option<DatabaseUse>,
}

/// What ends with the transaction.
#[derive(Default)]
struct TransactionProgress {
    /// Whether BEGIN TRANSACTION was executed, and the transaction has not ended.
    is_open: bool,
    /// The write permit, held as long as SQLite's transaction.
    permit: Option<WritePermit>,
    /// Whether the permit is one of a queue of the session's own: SQLite's transaction has no lock yet.
    is_private: bool,
    /// Whether it has, or may have, changed anything.
    has_changed: bool,
    /// `unexpected-rollback-is-3998`.
    is_lost: bool,
    /// In order.
    savepoints: Vec<Savepoint>,
}

/// What a statement writes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writes {
    /// Nothing.
    Nothing,
    /// Temporary tables of the session, which SQLite locks alone.
    Temporary,
    /// What other sessions see.
    Shared,
}

/// A savepoint of the client's.
struct Savepoint {
    /// Its name, which is case-sensitive as in SQL Server.
    name: String,
    /// Whether SQLite's transaction had begun.
    was_writing: bool,
    /// The position in the journal of identities.
    numbers: usize,
}

impl Transaction {
    /// A database in which no transaction is open.
    pub fn new(database: DatabaseConnection, used: Option<DatabaseUse>) -> Self {
        Self {
            database: Rc::new(database),
            _use: used,
            state: TransactionProgress::default(),
        }
    }

    /// The number of the client's savepoints.
    pub fn savepoint_count(&self) -> usize {
        self.state.savepoints.len()
    }

    /// Forgets the savepoints after the first `count`, which SQLite has released.
    pub fn forget_savepoints(&mut self, count: usize) {
        self.state.savepoints.truncate(count);
    }

    /// Whether one is open that the client began.
    pub fn is_open(&self) -> bool {
        self.state.is_open
    }

    /// Whether SQLite's has begun.
    pub fn writes(&self) -> bool {
        self.state.permit.is_some()
    }

    /// `unexpected-rollback-is-3998`: a statement has failed. Returns whether the transaction has ended with it.
    pub fn note_failure(&mut self) -> bool {
        let is_lost = self.state.permit.is_some() && self.database.connection.is_autocommit();
        if is_lost {
            self.state.permit = None;
            self.state.is_lost = true;
            self.database.settle(false);
        }
        is_lost
    }

    /// Refuses a statement that would run outside the transaction that the client means.
    ///
    /// # Errors
    /// 3998.
    pub fn check(&self) -> Result<(), SqlError> {
        match self.state.is_lost {
            true => Err(transaction_lost()),
            false => Ok(()),
        }
    }

    /// BEGIN TRANSACTION.
    pub fn begin(&mut self) {
        self.state.is_open = true;
    }

    /// Obtains the right to write for the session; `writes` is not nothing.
    ///
    /// # Errors
    /// 1222; SQLite's error.
    pub fn ensure_write(
        &mut self,
        (session, timeout): (u16, Duration),
        writes: Writes,
        mut poll: impl FnMut() -> Result<(), Stop>,
    ) -> Result<(), Failure> {
        let id = self.database.shared.record.id;
        let is_tempdbs = id == TEMPDB && writes == Writes::Shared;
        let is_upgrade = self.state.permit.is_some();
        if is_upgrade && !(self.state.is_private && is_tempdbs) {
            return Ok(());
        }
        self.database.check_log()?;
        let timeout = LockTimeout::of(timeout);
        let waits = (session, self.database.shared.waits.as_ref());
        // Every session is in master and tempdb, and writes there to temporary tables, which are the connection's
        // own: SQLite locks them alone. Logins are written to the file, too, and must not wait for another session's
        // idle transaction.
        let is_private = id == MASTER || id == TEMPDB && !is_tempdbs;
        let (write_queue, begin) = if is_private {
            (WriteQueue::of(id), "BEGIN")
        } else {
            (self.database.shared.write_queue.clone(), "BEGIN IMMEDIATE")
        };
        let permit = match write_queue.enter(waits, timeout.left(), &mut poll) {
            Ok(permit) => permit,
            Err(NoPermit::Deadlock) => return Err(deadlock(session).into()),
            Err(NoPermit::TimedOut) => return Err(lock_timeout().into()),
            Err(NoPermit::Stopped(stop)) => return Err(stop.into()),
        };
        if is_upgrade {
            // A transaction that has only written to temporary tables takes SQLite's lock now. It can't if others have
            // changed what it reads: its snapshot stays.
            let taken = self.database.connection.execute_batch(TAKE_LOCK);
            taken.map_err(|_| deadlock(session))?;
        } else {
            timeout.retry(poll, || {
                let begin = self.database.connection.prepare_cached(begin);
                begin.and_then(|mut begin| begin.raw_execute()).map(drop)
            })?;
        }
        self.state.permit = Some(permit);
        self.state.is_private = is_private;
        Ok(())
    }

    /// Notes that the running statement may change something: its commit is to be on the disk before it is
    /// acknowledged.
    pub fn note_change(&mut self) {
        self.state.has_changed = true;
    }

    /// Whether it has, or may have, changed anything.
    pub fn has_changed(&self) -> bool {
        self.state.has_changed
    }

    /// Commits it, and waits for the disk.
    ///
    /// # Errors
    /// SQLite's error: then it is rolled back. 9001 if it is unknown whether it is on the disk.
    pub fn commit(&mut self) -> Result<(), SqlError> {
        let commit = self.commit_unsynced(None)?;
        self.database.wait_for_disk(commit)
    }

    /// Commits it; others write from then on. The caller waits for what is returned before it answers the client.
    /// `said` is COMMIT's DELAYED_DURABILITY.
    ///
    /// # Errors
    /// SQLite's error: then it is rolled back.
    pub fn commit_unsynced(&mut self, said: Option<bool>) -> Result<Option<CommitNo>, SqlError> {
        if let Err(lost) = self.check() {
            self.end(false);
            return Err(lost);
        }
        if self.state.permit.is_none() {
            self.end(true);
            return Ok(None);
        }
        if let Err(error) = self.database.execute("COMMIT") {
            self.rollback();
            return Err(error);
        }
        // Before the permit is released: a commit that is noted later may depend on this one.
        let waits = self.state.has_changed && self.database.shared.durability().waits(said);
        let commit = if waits { self.database.note_commit() } else { None };
        self.end(true);
        Ok(commit)
    }

    /// Undoes it. It always succeeds: SQLite has rolled back already, or does so now.
    pub fn rollback(&mut self) {
        if self.state.permit.is_some() && !self.database.connection.is_autocommit() {
            // An error here means that SQLite itself has rolled back (sqlite.org/lang_transaction.html).
            let _ = self.database.execute("ROLLBACK");
        }
        self.end(false);
    }

    fn end(&mut self, is_committed: bool) {
        if self.state.permit.is_some() {
            self.database.settle(is_committed);
        }
        self.state = TransactionProgress::default();
    }

    /// SAVE TRANSACTION.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn save(&mut self, name: &str) -> Result<(), SqlError> {
        self.check()?;
        if self.state.permit.is_some() {
            self.database
                .execute(&format!("SAVEPOINT s{}", self.state.savepoints.len()))?;
        }
        self.state.savepoints.push(Savepoint {
            name: name.to_owned(),
            was_writing: self.state.permit.is_some(),
            numbers: self.database.identity_journal.mark(),
        });
        Ok(())
    }

    /// ROLLBACK TRANSACTION of a savepoint, which stays.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn rollback_to(&mut self, name: &str) -> Result<(), SqlError> {
        self.check()?;
        let Some(at) = self.state.savepoints.iter().rposition(|known| known.name == name) else {
            // In a database that was first used after the savepoint, everything is undone.
            self.undo();
            return Ok(());
        };
        self.state.savepoints.truncate(at + 1);
        if self.state.savepoints[at].was_writing {
            self.database.execute(&format!("ROLLBACK TO s{at}"))?;
            self.database.note_change();
            self.database.undo_numbers(self.state.savepoints[at].numbers);
        } else {
            // early-savepoint-is-the-beginning.
            self.undo();
        }
        Ok(())
    }

    /// Ends SQLite's transaction without the client's.
    fn undo(&mut self) {
        let savepoints = std::mem::take(&mut self.state.savepoints);
        let is_open = self.state.is_open;
        self.rollback();
        self.state.is_open = is_open;
        self.state.savepoints = savepoints;
    }
}

/// Writes what is there already: tempdb's file has no version of its own.
const TAKE_LOCK: &str = "PRAGMA main.user_version = 0";
