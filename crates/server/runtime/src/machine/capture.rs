//! INSERT .. EXECUTE: inserts the rows that a call returns.
//!
//! - `rows-are-kept-by-the-host`: the host keeps the rows of the call; one statement inserts them when
//!   the call has ended.
//! - `all-is-one-statement`: call and INSERT are one statement: in a transaction that begins with it,
//!   which is not reported to the client, or after a savepoint. An error that ends the statement
//!   undoes the changes of the call.
//! - `errors-end-the-capture`: an error that ends the call's caller, or the INSERT, ends the capture:
//!   the step after the call then does nothing.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::program::step::Access;
use selenite_compiler::program::{Program, StatementId};

use super::done_sender::DoneReport;
use super::raise::{Failed, Halt};
use super::transaction::Transaction;
use super::{Affected, Command, Failure, Host, Machine, Stop, TableStatement, TransactionStep};

/// A running INSERT .. EXECUTE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capture {
    /// The number of frames when it began.
    depth: usize,
    /// Whether it has begun the transaction.
    is_own: bool,
    /// `@@TRANCOUNT` when the call began.
    transaction_count: i32,
    /// The number of the client's savepoints when the call began.
    savepoint_count: usize,
}

impl Machine {
    /// Begins INSERT .. EXECUTE.
    pub(super) fn begin_capture<H: Host + ?Sized>(
        &mut self,
        program: &Arc<Program>,
        id: StatementId,
        host: &mut H,
    ) -> Result<(), Halt> {
        if self.capture.is_some() {
            return self.fail(SqlError::nested_capture(), INSERT, host);
        }
        let Some(statement) = program.statement(id) else {
            return self.fail(SqlError::internal("a statement that is not there"), INSERT, host);
        };
        self.done_sender.flush(host)?;
        match self.prepare_access(Access::Change, host) {
            Ok(()) => {}
            Err(Failure::Stop(stop)) => return Err(stop.into()),
            Err(Failure::Error(error)) => return self.transaction_failed(error, Command::INSERT, host),
        }
        self.announce(host);
        let statement = TableStatement { program, id, statement };
        let is_own = self.transaction.count == 0;
        if let Err(failure) = host.begin_capture(&statement, is_own) {
            return self.failure(failure, INSERT, host);
        }
        let begun = host.transaction(match is_own {
            true => TransactionStep::Begin { name: "" },
            false => TransactionStep::Save { name: SAVEPOINT },
        });
        if let Err(failure) = begun {
            host.end_capture();
            return self.failure(failure, INSERT, host);
        }
        if is_own {
            self.transaction = Transaction::default();
            self.transaction.count = 1;
            self.show_transaction(host);
        }
        self.capture = Some(Capture {
            depth: self.frames.len(),
            is_own,
            transaction_count: self.transaction.count,
            savepoint_count: self.transaction.savepoint_count(),
        });
        self.step_on();
        Ok(())
    }

    /// Inserts the rows of the ended call.
    pub(super) fn end_capture<H: Host + ?Sized>(
        &mut self,
        program: &Arc<Program>,
        id: StatementId,
        host: &mut H,
    ) -> Result<(), Halt> {
        let Some(capture) = self.capture else {
            self.step_on();
            return Ok(());
        };
        let Some(statement) = program.statement(id) else {
            return self.fail(SqlError::internal("a statement that is not there"), INSERT, host);
        };
        self.done_sender.flush(host)?;
        if self.transaction.is_doomed {
            return self.transaction_failed(SqlError::uncommittable(), Command::INSERT, host);
        }
        self.announce(host);
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let statement = TableStatement { program, id, statement };
        let affected = match host.statement(&statement, &mut frame.slots) {
            Ok(affected) => affected,
            Err(failure) => {
                self.show_transaction(host);
                return self.failure(failure, INSERT, host);
            }
        };
        self.capture = None;
        let committed = match capture.is_own && self.transaction.count > 0 {
            true => {
                self.transaction = Transaction::default();
                let commit = TransactionStep::Commit {
                    delayed_durability: None,
                };
                host.transaction(commit)
            }
            false => Ok(()),
        };
        self.show_transaction(host);
        host.end_capture();
        if let Err(failure) = committed {
            return self.failure(failure, INSERT, host);
        }
        match affected {
            Affected::Rows(count) => {
                let row_count = i64::try_from(count).unwrap_or(i64::MAX);
                self.complete(Command::INSERT, DoneReport::Count(count), row_count, host)
            }
            Affected::Nothing | Affected::NeedsFiring | Affected::Fires(_) => {
                self.complete(Command::INSERT, DoneReport::Plain, 0, host)
            }
        }
    }

    /// Ends and undoes the INSERT after an error that leaves `frame_count` frames, if the called frame is none of
    /// them.
    pub(super) fn abandon_capture<H: Host + ?Sized>(&mut self, frame_count: usize, host: &mut H) -> Result<(), Stop> {
        let Some(capture) = self.capture.filter(|capture| frame_count <= capture.depth) else {
            return Ok(());
        };
        self.capture = None;
        self.done_sender.flush(host)?;
        let done = match (self.transaction.count, capture.is_own) {
            (0, _) => Ok(()),
            (_, true) => self.end_transaction(TransactionStep::Rollback, host),
            (_, false) if self.transaction.is_doomed => Ok(()),
            (_, false) => match host.transaction(TransactionStep::RollbackTo { name: SAVEPOINT }) {
                Ok(()) | Err(Failure::Error(_)) => Ok(()),
                Err(Failure::Stop(stop)) => Err(stop),
            },
        };
        host.end_capture();
        done
    }

    /// Checks that a COMMIT may run: it must not end the INSERT's transaction.
    ///
    /// Errors: 3916.
    pub(super) fn check_capture_commit(&self) -> Result<(), SqlError> {
        match self.capture {
            Some(capture) if self.transaction.count <= capture.transaction_count => Err(SqlError::commit_in_capture()),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that a ROLLBACK may run: only one to a savepoint that the call has set.
    ///
    /// Errors: 3915; 40510 for a savepoint before the INSERT.
    pub(super) fn check_capture_rollback(&self, savepoint: Option<usize>) -> Result<(), SqlError> {
        match (self.capture, savepoint) {
            (None, _) => Ok(()),
            (Some(_), None) => Err(SqlError::rollback_in_capture()),
            (Some(capture), Some(at)) if at < capture.savepoint_count => Err(SqlError::unsupported(
                "ROLLBACK to a savepoint from before INSERT ... EXECUTE",
            )),
            (Some(_), Some(_)) => Ok(()),
        }
    }
}

/// The DONE of an INSERT that failed.
const INSERT: Failed = Failed {
    command: Command::INSERT,
    counts: true,
    changes: true,
};

/// The savepoint to which a failed statement is rolled back.
const SAVEPOINT: &str = "selenite insert execute";
