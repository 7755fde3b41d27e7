//! A session's databases and its transaction, which may write to more than one of them.
//!
//! - `commit-by-id`: databases are committed one after the other, by rising id. SQLite has no atomic commit over
//!   several files in WAL mode (sqlite.org/lang_attach.html). The client gets a warning before it depends on one.
//! - `sync-after-commits`: syncs come after the last commit, so that the time between the first and the last is short.
//! - `failed-statement-changes-nothing`: a statement that writes has a transaction of its own, or a savepoint in the
//!   client's.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{Failure, Message, TransactionStep};
use selenite_tsql::ast::IsolationLevel;

use crate::database::database_connection::DatabaseConnection;
use crate::database::database_registry::DatabaseRegistry;
use crate::database::frames::Frames;
use crate::database::temporary_tables::move_all;
use crate::database::transaction::{Transaction, Writes};
use crate::database_error::{of_master, too_many_files};
use crate::execution_context::{ExecutionContext, SessionInfo};
use crate::master::TEMPDB;

/// The databases that a session has open, with its transaction in each.
pub(crate) struct Transactions<'a> {
    registry: &'a DatabaseRegistry,
    session: SessionInfo<'a>,
    open: HashMap<i32, Transaction>,
    /// The id of the database in use.
    pub(crate) current: i32,
    /// The id of the login's own database.
    home: i32,
    /// Whether the client has begun a transaction.
    in_transaction: bool,
    /// Whether the client was warned that its transaction writes to several databases.
    is_warned: bool,
    /// Rises when the session's temporary tables change.
    temporary_version: u64,
    /// Rises when a connection is closed: what was read through it is read again.
    closed_count: u64,
    /// How often page caches were emptied by DBCC.
    dropped_pages: u64,
}

/// What surrounds a statement that changes something.
#[derive(Clone, Copy)]
pub(crate) enum StatementScope {
    /// Nothing: it reads, or fails as a whole.
    Nothing,
    /// A transaction of its own.
    Transaction,
    /// A savepoint in the client's.
    Savepoint,
    /// A savepoint around what only this session sees, within a transaction or not.
    Own,
}

impl<'a> Transactions<'a> {
    /// None open, with the login's database in use.
    pub fn new(registry: &'a DatabaseRegistry, session: SessionInfo<'a>) -> Self {
        let home = session.login_info.database_id;
        Self {
            registry,
            session,
            open: HashMap::new(),
            current: home,
            home,
            in_transaction: false,
            is_warned: false,
            temporary_version: 0,
            closed_count: 0,
            dropped_pages: registry.cleanups.pages(),
        }
    }

    /// The id of the login's own database.
    pub fn home(&self) -> i32 {
        self.home
    }

    /// Whether the client has begun a transaction.
    pub fn is_in_transaction(&self) -> bool {
        self.in_transaction
    }

    /// Rises when the session's temporary tables change.
    pub fn temporary_version(&self) -> u64 {
        self.temporary_version
    }

    /// Rises when a connection is closed.
    pub fn closed_count(&self) -> u64 {
        self.closed_count
    }

    /// Connects to the database in use, if the session has not yet.
    ///
    /// # Errors
    /// What keeps it from being opened.
    pub fn connect(&mut self) -> Result<&mut Transaction, SqlError> {
        self.drop_pages();
        let entry = match self.open.entry(self.current) {
            Entry::Occupied(entry) => return Ok(entry.into_mut()),
            Entry::Vacant(entry) => entry,
        };
        let instance = self.session.instance;
        let record = instance.master().database_of(self.current);
        let record = record.map_err(|error| of_master(&error))?;
        let record = record.ok_or_else(|| SqlError::internal("a database that is gone"))?;
        let shared = self.registry.database(instance, &record)?;
        let used = self.registry.begin_use(instance, &shared, self.session.entry.spid())?;
        if !self.session.login_info.is_administrator && !instance.descriptors().has_room() {
            return Err(too_many_files(&record.name));
        }
        let database = DatabaseConnection::connect(shared, instance, self.session.interrupts.clone())?;
        if !self.session.login_info.is_administrator {
            self.registry
                .check_restricted(instance, (&record, &database.connection), &self.session.login_info.sid)?;
        }
        let mut transaction = Transaction::new(database, Some(used));
        if self.in_transaction {
            transaction.begin();
        }
        Ok(entry.insert(transaction))
    }

    /// The database in use, which is connected to.
    ///
    /// # Errors
    /// 8624 if it is not.
    pub fn connected(&self) -> Result<&Transaction, SqlError> {
        self.open.get(&self.current).ok_or_else(not_open)
    }

    /// A database, if the session is connected to it.
    pub fn get(&self, id: i32) -> Option<&Transaction> {
        self.open.get(&id)
    }

    /// The database in use, if the session is connected to it.
    ///
    /// # Errors
    /// 8624.
    pub fn connected_mut(&mut self) -> Result<&mut Transaction, SqlError> {
        self.open.get_mut(&self.current).ok_or_else(not_open)
    }

    /// Empties page caches, if DBCC DROPCLEANBUFFERS has asked for it since the last time.
    fn drop_pages(&mut self) {
        let count = self.registry.cleanups.pages();
        if std::mem::replace(&mut self.dropped_pages, count) != count {
            for used in self.open.values() {
                // SQLite frees what it can, and has no other answer (sqlite.org/c3ref/db_release_memory.html).
                let _ = used.database.connection.release_memory();
            }
        }
    }

    /// Closes the session's connection to a database.
    pub fn close(&mut self, id: i32) {
        self.open.remove(&id);
        self.closed_count += 1;
    }

    /// Closes a database that the session has left, unless it has a transaction or temporary tables there.
    pub fn close_if_idle(&mut self, left: i32) {
        // What is in memory alone goes with its connection.
        let is_idle = |used: &Transaction| used.database.temporary().is_empty() && used.database.shared.path.is_some();
        if left != self.current && !self.in_transaction && self.open.get(&left).is_some_and(is_idle) {
            self.close(left);
        }
    }

    /// Closes all connections, and with them temporary tables; the login's database is in use again. No transaction
    /// is open.
    pub fn reset(&mut self) {
        self.release_locks(true);
        self.open.clear();
        self.closed_count += 1;
        self.temporary_version += 1;
        self.in_transaction = false;
    }

    /// The session ends: what is open is rolled back.
    pub fn end(&mut self) {
        self.open.values_mut().for_each(Transaction::rollback);
        self.open.clear();
        self.release_locks(true);
    }

    /// Locks of sp_getapplock go with the transaction, or with the session.
    fn release_locks(&self, with_session: bool) {
        let session = self.session.entry.spid();
        self.registry.application_locks.release_all(session, with_session);
    }

    /// Temporary tables may have changed: they are read again.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn reload_temporary(&mut self) -> Result<(), SqlError> {
        if let Some(used) = self.open.get(&self.current) {
            used.database.reload_temporary()?;
        }
        self.temporary_version += 1;
        Ok(())
    }

    /// Moves temporary tables from the database that was in use before.
    ///
    /// # Errors
    /// 40510 within a transaction that has written; what SQLite says.
    pub fn move_temporary(&mut self, before: i32) -> Result<(), SqlError> {
        let (Some(from), Some(to)) = (self.open.get(&before), self.open.get(&self.current)) else {
            return Ok(());
        };
        if before != self.current {
            let is_writing = from.writes() || to.writes();
            move_all(&from.database, &to.database, is_writing)?;
            self.temporary_version += 1;
        }
        Ok(())
    }

    /// 226 in a transaction of the client's.
    ///
    /// # Errors
    /// 226.
    pub fn check_none(&self, statement: &str) -> Result<(), SqlError> {
        if self.in_transaction {
            let text = format!("{statement} statement not allowed within multi-statement transaction.");
            // 226: a statement that is not allowed in a transaction.
            return Err(SqlError::new(226, Ends::Batch, text).with_state(6));
        }
        Ok(())
    }
}

/// The client's transaction.
impl Transactions<'_> {
    /// A step of it; the machine has checked counts and names.
    ///
    /// # Errors
    /// Of a commit that did not succeed, or a savepoint's. A rollback always succeeds.
    pub fn step(&mut self, step: TransactionStep<'_>, frames: &Frames) -> Result<(), SqlError> {
        match step {
            TransactionStep::Begin { .. } => {
                self.in_transaction = true;
                self.is_warned = false;
                self.open.values_mut().for_each(Transaction::begin);
                Ok(())
            }
            TransactionStep::Commit { delayed_durability } => {
                self.in_transaction = false;
                let lost = self.check_lost();
                let done = match lost.is_err() {
                    true => self.roll_back_all(frames).and(lost),
                    false => self.commit(delayed_durability),
                };
                self.release_locks(false);
                done
            }
            TransactionStep::Rollback => {
                self.in_transaction = false;
                let done = self.roll_back_all(frames);
                self.release_locks(false);
                done
            }
            TransactionStep::Save { name } => self.open.values_mut().try_for_each(|used| used.save(name)),
            TransactionStep::RollbackTo { name } => self.roll_back(frames, |used| used.rollback_to(name)),
        }
    }

    /// Commits in all databases, and waits for the disk. `said` is the COMMIT's DELAYED_DURABILITY.
    ///
    /// # Errors
    /// What SQLite says; 50824 if other databases are committed already.
    fn commit(&mut self, said: Option<bool>) -> Result<(), SqlError> {
        let mut ids: Vec<i32> = self.open.keys().copied().collect();
        ids.sort_unstable();
        let mut done = Ok(());
        let mut unsynced = Vec::new();
        let mut committed = Vec::new();
        for id in &ids {
            let Some(used) = self.open.get_mut(id) else {
                continue;
            };
            let changed = used.has_changed();
            if done.is_err() {
                used.rollback();
                continue;
            }
            match used.commit_unsynced(said) {
                Ok(commit) => {
                    unsynced.push((*id, commit));
                    if changed && *id != TEMPDB {
                        committed.push(used.database.shared.record.name.clone());
                    }
                }
                Err(error) => done = Err((used.database.shared.record.name.clone(), error)),
            }
        }
        let mut on_disk = Ok(());
        for (id, commit) in unsynced {
            if let Some(used) = self.open.get(&id) {
                on_disk = on_disk.and(used.database.wait_for_disk(commit));
            }
        }
        match done {
            Ok(()) => on_disk,
            Err((_, error)) if committed.is_empty() => Err(error),
            Err((name, error)) => Err(partly_committed(&committed, &name, &error)),
        }
    }

    fn roll_back_all(&mut self, frames: &Frames) -> Result<(), SqlError> {
        self.roll_back(frames, |used| {
            used.rollback();
            Ok(())
        })
    }

    /// Undoes what `undo` does in every database; table variables keep their rows.
    fn roll_back(
        &mut self,
        frames: &Frames,
        undo: impl Fn(&mut Transaction) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let current = self.current;
        // A rollback always succeeds: rows of a table variable that can't be kept are lost with it.
        let kept = match self.open.get(&current) {
            Some(used) => frames.keep_variables(used).unwrap_or_default(),
            None => Vec::new(),
        };
        for used in self.open.values_mut() {
            let was_writing = used.writes();
            undo(used)?;
            if was_writing {
                used.database.reload_temporary()?;
                self.temporary_version += 1;
            }
        }
        let Some(used) = self.open.get(&current) else {
            return Ok(());
        };
        kept.iter()
            .try_for_each(|rows| rows.put_back(&used.database.connection))
    }

    /// Warns the client once that its transaction writes to a second database.
    fn warn_of_several(&mut self, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        // What is lost with tempdb is not missed.
        let changed = self
            .open
            .values()
            .filter(|used| used.is_open() && used.has_changed() && used.database.shared.record.id != TEMPDB);
        let mut names: Vec<&str> = changed.map(|used| used.database.shared.record.name.as_str()).collect();
        if names.len() != 2 || self.is_warned {
            return Ok(());
        }
        names.sort_unstable();
        let text = format!(
            "Warning: the transaction changes the databases '{}'. They are committed one after the other, not as one.",
            names.join("' and '")
        );
        self.is_warned = true;
        Ok(execution.reply.message(&Message {
            number: 50_825,
            severity: 10,
            state: 1,
            line: 0,
            procedure: "",
            text: &text,
            to_log: false,
        })?)
    }
}

/// What surrounds one statement in the database in use.
impl Transactions<'_> {
    /// Runs a change of the database in use within the transaction that it needs.
    ///
    /// # Errors
    /// Those of `change`; what SQLite says.
    pub fn change_database(
        &mut self,
        execution: &mut ExecutionContext<'_>,
        change: impl FnOnce(&DatabaseConnection) -> Result<(), SqlError>,
    ) -> Result<(), Failure> {
        self.connect()?;
        let scope = self.begin_statement(Writes::Shared, false, execution)?;
        let done = match self.connected() {
            Ok(used) => change(&used.database),
            Err(error) => Err(error),
        };
        self.end_statement(scope, done.map_err(Failure::from))
    }

    /// Begins a statement that changes only what this session sees: it waits for no other.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn begin_own(&mut self, execution: &mut ExecutionContext<'_>) -> Result<StatementScope, Failure> {
        self.begin_statement(Writes::Nothing, true, execution)?;
        let database = &self.connected()?.database;
        database.execute("SAVEPOINT statement")?;
        database.identity_journal.begin_statement();
        Ok(StatementScope::Own)
    }

    /// Takes the permit to write, which the transaction keeps: what is read under UPDLOCK stays as it is until it ends.
    ///
    /// # Errors
    /// 1222, 1205; what SQLite says.
    pub fn hold(&mut self, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        let waits = (self.session.entry.spid(), execution.state.lock_timeout());
        if !self.connected()?.is_open() {
            return Ok(());
        }
        self.check_lost()?;
        let used = self.connected_mut()?;
        used.ensure_write(waits, Writes::Shared, || execution.reply.poll())
    }

    /// Begins what the statement needs around it.
    ///
    /// # Errors
    /// 1222, 1205, 3998; what SQLite says.
    pub fn begin_statement(
        &mut self,
        writes: Writes,
        is_single: bool,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<StatementScope, Failure> {
        let scope = self.begin_write(writes, is_single, execution)?;
        if writes != Writes::Nothing && self.in_transaction {
            self.warn_of_several(execution)?;
        }
        Ok(scope)
    }

    fn begin_write(
        &mut self,
        writes: Writes,
        is_single: bool,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<StatementScope, Failure> {
        let changes = writes != Writes::Nothing;
        let waits = (self.session.entry.spid(), execution.state.lock_timeout());
        self.check_lost()?;
        let used = self.connected_mut()?;
        let is_open = used.is_open();
        if !(changes || is_open && holds_what_it_reads(execution.state.isolation)) {
            return Ok(StatementScope::Nothing);
        }
        let was_writing = used.writes();
        if writes == Writes::Shared {
            used.database.shared.check_writable()?;
        }
        // What is only read is held for REPEATABLE READ and above.
        let writes = if changes { writes } else { Writes::Shared };
        used.ensure_write(waits, writes, || execution.reply.poll())?;
        if !changes {
            return Ok(StatementScope::Nothing);
        }
        used.note_change();
        if !is_open {
            return Ok(StatementScope::Transaction);
        }
        // The first write of a transaction has nothing before it that could be lost but what it does itself.
        if was_writing && is_single {
            return Ok(StatementScope::Nothing);
        }
        used.database.execute("SAVEPOINT statement")?;
        used.database.identity_journal.begin_statement();
        Ok(StatementScope::Savepoint)
    }

    /// A statement has failed: where SQLite has rolled the transaction back, temporary tables are those of before.
    fn note_failure(&mut self) -> Result<(), SqlError> {
        if let Ok(used) = self.connected_mut()
            && used.note_failure()
        {
            used.database.reload_temporary()?;
            self.temporary_version += 1;
        }
        Ok(())
    }

    /// Refuses a statement of a transaction that SQLite has rolled back in one of its databases.
    ///
    /// # Errors
    /// 3998.
    pub fn check_lost(&self) -> Result<(), SqlError> {
        self.open.values().try_for_each(Transaction::check)
    }

    /// Ends the snapshot in which the database in use was read, if it is not that of a transaction that writes.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn end_snapshot(&self) -> Result<(), SqlError> {
        match self.open.get(&self.current) {
            Some(used) if !used.writes() => used.database.end_snapshot(),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether [`Transactions::begin_statement`] or [`Transactions::hold`] will begin a transaction that writes.
    pub fn will_write(&self, changes: bool, holds: bool, isolation: IsolationLevel) -> bool {
        self.open.get(&self.current).is_some_and(|used| {
            !used.writes() && (changes || used.is_open() && (holds || holds_what_it_reads(isolation)))
        })
    }

    /// Ends it: what a failed statement has changed is undone.
    ///
    /// # Errors
    /// Those of `done`; what SQLite says.
    pub fn end_statement<R>(&mut self, scope: StatementScope, done: Result<R, Failure>) -> Result<R, Failure> {
        if done.is_err() {
            self.note_failure()?;
        }
        let Ok(used) = self.connected_mut() else {
            return done;
        };
        // What SQLite has ended has no savepoint.
        let is_gone = used.database.connection.is_autocommit();
        match (scope, &done) {
            (StatementScope::Nothing, _) => {}
            (StatementScope::Transaction, Ok(_)) => used.commit()?,
            (StatementScope::Transaction, Err(_)) => used.rollback(),
            (StatementScope::Savepoint | StatementScope::Own, Ok(_)) => {
                used.database.execute("RELEASE statement")?;
                if !used.is_open() {
                    used.database.identity_journal.clear();
                }
            }
            (StatementScope::Savepoint | StatementScope::Own, Err(_)) if is_gone => {}
            (StatementScope::Savepoint | StatementScope::Own, Err(_)) => {
                used.database.execute("ROLLBACK TO statement")?;
                used.database.execute("RELEASE statement")?;
                if matches!(scope, StatementScope::Savepoint) {
                    used.database.note_change();
                }
                used.database.undo_numbers(used.database.identity_journal.statement());
            }
        }
        done
    }
}

impl Drop for Transactions<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether a transaction keeps what it reads as it is until it ends.
fn holds_what_it_reads(isolation: IsolationLevel) -> bool {
    match isolation {
        IsolationLevel::ReadUncommitted | IsolationLevel::ReadCommitted => false,
        IsolationLevel::RepeatableRead | IsolationLevel::Snapshot | IsolationLevel::Serializable => true,
    }
}

/// 8624: the session is not connected to it.
pub(crate) fn not_open() -> SqlError {
    SqlError::internal("a database that is not open")
}

/// 50824: a part of a transaction is committed.
fn partly_committed(committed: &[String], name: &str, error: &SqlError) -> SqlError {
    let text = format!(
        "The transaction is committed in '{}' and rolled back in '{name}' and all databases behind it: {}",
        committed.join("', '"),
        error.text()
    );
    SqlError::new(50_824, Ends::Transaction, text)
}
