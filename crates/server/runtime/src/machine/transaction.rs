//! The session's transaction: its nesting, its names, and whether it can be committed.

use selenite_compiler::program::step::{Access, TransactionName, TransactionStatement};
use selenite_compiler::{Ends, SqlError};

use super::done_sender::DoneReport;
use super::frame::Reach;
use super::raise::{Failed, Halt};
use super::{Command, Failure, Host, Machine, Stop, TransactionStep};

/// The state of the transaction.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    /// `@@TRANCOUNT`.
    pub(super) count: i32,
    /// Whether it can only be rolled back: XACT_STATE is -1.
    pub(super) is_doomed: bool,
    /// The name of the outermost BEGIN, possibly empty.
    name: String,
    /// The savepoints, oldest first.
    savepoints: Vec<String>,
}

impl Transaction {
    /// The number of savepoints.
    pub(super) fn savepoint_count(&self) -> usize {
        self.savepoints.len()
    }

    /// Forgets the savepoints after the first `count`.
    pub(super) fn forget_savepoints(&mut self, count: usize) {
        self.savepoints.truncate(count);
    }
}

impl Machine {
    /// BEGIN, COMMIT, ROLLBACK or SAVE TRANSACTION, as a statement.
    pub(super) fn transaction_statement<H: Host + ?Sized>(
        &mut self,
        statement: &TransactionStatement,
        host: &mut H,
    ) -> Result<(), Halt> {
        let command = match statement {
            TransactionStatement::Begin(_) => Command::BEGIN,
            TransactionStatement::Commit { .. } => Command::COMMIT,
            TransactionStatement::Rollback(_) => Command::ROLLBACK,
            TransactionStatement::Save(_) => Command::NONE,
        };
        self.done_sender.flush(host)?;
        let done = match statement {
            TransactionStatement::Begin(name) => self.begin(&self.transaction_name(name.as_ref()), host),
            TransactionStatement::Commit { delayed_durability } => self.commit(*delayed_durability, host),
            TransactionStatement::Rollback(None) => self.rollback(None, host),
            TransactionStatement::Rollback(Some(name)) => self.rollback(Some(&self.transaction_name(Some(name))), host),
            TransactionStatement::Save(name) => self.save(&self.transaction_name(Some(name)), host),
        };
        match done {
            Ok(()) => self.complete(command, DoneReport::Plain, 0, host),
            Err(Failure::Stop(stop)) => Err(stop.into()),
            Err(Failure::Error(error)) => self.transaction_failed(error, command, host),
        }
    }

    /// An operation that is refused in a transaction that must be rolled back ends the batch.
    pub(super) fn transaction_failed<H: Host + ?Sized>(
        &mut self,
        error: SqlError,
        command: u16,
        host: &mut H,
    ) -> Result<(), Halt> {
        let mut raised = self.raised(error);
        if matches!(raised.error.number(), 3930 | 3931) {
            raised.reach = Reach::Batch;
            raised.honours_abort = false;
        }
        self.raise(raised, Failed::of(command), host)
    }

    /// Before a statement of the host: begins an implicit transaction, and refuses to change rows in a transaction that
    /// must be rolled back.
    pub(super) fn prepare_access<H: Host + ?Sized>(&mut self, access: Access, host: &mut H) -> Result<(), Failure> {
        match access {
            Access::None => return Ok(()),
            Access::Read => {}
            Access::Write | Access::Change if self.transaction.is_doomed => {
                return Err(SqlError::uncommittable().into());
            }
            Access::Write | Access::Change => {}
        }
        if self.options.implicit_transactions && self.transaction.count == 0 {
            self.begin_outermost("", host)?;
            // An implicit transaction is not a mismatch of the running procedure: error 266 is for BEGINs.
            for frame in &mut self.frames {
                frame.saved.transaction_count += 1;
            }
        }
        Ok(())
    }

    pub(super) fn begin<H: Host + ?Sized>(&mut self, name: &str, host: &mut H) -> Result<(), Failure> {
        if self.transaction.count > 0 {
            self.transaction.count = self.transaction.count.saturating_add(1);
        } else {
            self.begin_outermost(name, host)?;
            if self.options.implicit_transactions {
                self.transaction.count += 1;
            }
        }
        self.show_transaction(host);
        Ok(())
    }

    fn begin_outermost<H: Host + ?Sized>(&mut self, name: &str, host: &mut H) -> Result<(), Failure> {
        host.transaction(TransactionStep::Begin { name })?;
        self.transaction = Transaction {
            count: 1,
            name: name.to_owned(),
            ..Transaction::default()
        };
        self.show_transaction(host);
        Ok(())
    }

    pub(super) fn commit<H: Host + ?Sized>(
        &mut self,
        delayed_durability: Option<bool>,
        host: &mut H,
    ) -> Result<(), Failure> {
        self.check_capture_commit()?;
        match self.transaction.count {
            0 => Err(SqlError::commit_without_transaction().into()),
            _ if self.transaction.is_doomed => Err(SqlError::uncommittable().into()),
            1 => {
                self.note_ended_transaction();
                self.transaction = Transaction::default();
                let done = host.transaction(TransactionStep::Commit { delayed_durability });
                self.show_transaction(host);
                done
            }
            _ => {
                self.transaction.count -= 1;
                self.show_transaction(host);
                Ok(())
            }
        }
    }

    pub(super) fn rollback<H: Host + ?Sized>(&mut self, name: Option<&str>, host: &mut H) -> Result<(), Failure> {
        if self.transaction.count == 0 {
            return Err(SqlError::rollback_without_transaction().into());
        }
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            self.check_capture_rollback(None)?;
            return self
                .end_transaction(TransactionStep::Rollback, host)
                .map_err(Failure::Stop);
        };
        if let Some(at) = self
            .transaction
            .savepoints
            .iter()
            .rposition(|savepoint| savepoint == name)
        {
            if self.transaction.is_doomed {
                return Err(SqlError::uncommittable_savepoint().into());
            }
            self.check_capture_rollback(Some(at))?;
            self.check_firing_rollback(at)?;
            host.transaction(TransactionStep::RollbackTo { name })?;
            self.transaction.savepoints.truncate(at + 1);
            return Ok(());
        }
        if self.transaction.name == name {
            self.check_capture_rollback(None)?;
            return self
                .end_transaction(TransactionStep::Rollback, host)
                .map_err(Failure::Stop);
        }
        Err(SqlError::unknown_savepoint(name).into())
    }

    pub(super) fn save<H: Host + ?Sized>(&mut self, name: &str, host: &mut H) -> Result<(), Failure> {
        if self.transaction.count == 0 {
            return Err(SqlError::save_without_transaction().into());
        }
        if self.transaction.is_doomed {
            return Err(SqlError::uncommittable().into());
        }
        host.transaction(TransactionStep::Save { name })?;
        self.transaction.savepoints.push(name.to_owned());
        Ok(())
    }

    /// Ends the transaction whatever the host returns: only its request to stop is an error.
    pub(super) fn end_transaction<H: Host + ?Sized>(
        &mut self,
        step: TransactionStep<'_>,
        host: &mut H,
    ) -> Result<(), Stop> {
        self.note_ended_transaction();
        self.transaction = Transaction::default();
        let done = host.transaction(step);
        self.show_transaction(host);
        match done {
            Ok(()) | Err(Failure::Error(_)) => Ok(()),
            Err(Failure::Stop(stop)) => Err(stop),
        }
    }

    /// At the end of a request: rolls back a transaction that can't be committed, which is an error.
    ///
    /// Returns whether there was one.
    pub(super) fn end_doomed<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<bool, Stop> {
        if !self.transaction.is_doomed || self.transaction.count == 0 {
            return Ok(false);
        }
        let mut raised = self.raised(SqlError::uncommittable_at_end().with_ends(Ends::Statement));
        raised.line = raised.line.max(1);
        self.report_raised(&raised, host)?;
        self.end_transaction(TransactionStep::Rollback, host)?;
        Ok(true)
    }

    /// Passes the counters to the host.
    pub(super) fn show_transaction<H: Host + ?Sized>(&self, host: &mut H) {
        let is_doomed = self.transaction.is_doomed || host.transaction_is_lost();
        let session = host.session_mut();
        session.transaction_count = self.transaction.count;
        session.transaction_state = match (self.transaction.count, is_doomed) {
            (0, _) => 0,
            (_, false) => 1,
            (_, true) => -1,
        };
    }

    /// A literal or variable name: its first 32 characters count.
    fn transaction_name(&self, name: Option<&TransactionName>) -> String {
        let text = match name {
            None => return String::new(),
            Some(TransactionName::Name(name)) => name.clone(),
            Some(TransactionName::Slot(slot)) => self.slot_text(*slot),
        };
        text.chars().take(NAME_LENGTH_MAX).collect()
    }
}

/// The significant length of a transaction's name.
const NAME_LENGTH_MAX: usize = 32;
