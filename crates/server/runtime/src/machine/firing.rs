//! Triggers: the frames that run between a change and its DONE.
//!
//! - `change-and-triggers-are-one-statement`: a change whose triggers fire runs in a transaction that begins with it,
//!   which is not reported to the client, or after a savepoint of the host's. An error that ends the statement undoes
//!   what the triggers did.
//! - `triggers-abort`: XACT_ABORT is ON in a trigger until it says otherwise. An error of names or types ends the batch
//!   and the transaction in any case.
//! - `ended-transaction-ends-the-batch`: a trigger that ends the transaction runs to its end; then the batch ends with
//!   3609.

use selenite_compiler::SqlError;

use super::arguments::bind;
use super::event::HostDone;
use super::frame::{Frame, FrameKind, Passed, Raised, Reach};
use super::raise::{Failed, Halt};
use super::transaction::Transaction;
use super::{Affected, Host, Machine, Stop, TableStatement, TransactionStep};

/// A change whose triggers run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Firing {
    /// The number of frames when it began.
    depth: usize,
    /// Whether it has begun the transaction.
    is_own: bool,
    /// The number of the client's savepoints when it began.
    savepoint_count: usize,
    /// Whether a trigger has ended the transaction.
    is_ended: bool,
    done: HostDone,
    /// The number of changed rows.
    count: u64,
}

impl Machine {
    /// Runs a change whose triggers fire.
    pub(super) fn fire<H: Host + ?Sized>(
        &mut self,
        statement: &TableStatement<'_>,
        (done, failed): (HostDone, Failed),
        host: &mut H,
    ) -> Result<(), Halt> {
        let is_own = self.transaction.count == 0;
        host.begin_firing(is_own);
        if is_own {
            if let Err(failure) = host.transaction(TransactionStep::Begin { name: "" }) {
                host.end_firing(false);
                return self.failure(failure, failed, host);
            }
            self.transaction = Transaction::default();
            self.transaction.count = 1;
            self.show_transaction(host);
        }
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let affected = host.statement(statement, &mut frame.slots);
        self.firings.push(Firing {
            depth: self.frames.len(),
            is_own,
            savepoint_count: self.transaction.savepoint_count(),
            is_ended: false,
            done,
            count: 0,
        });
        match affected {
            Ok(Affected::Fires(count) | Affected::Rows(count)) => {
                if let Some(firing) = self.firings.last_mut() {
                    firing.count = count;
                }
                self.fire_next(host)
            }
            Ok(Affected::Nothing | Affected::NeedsFiring) => {
                let error = SqlError::internal("triggers that do not fire");
                self.failure(error.into(), failed, host)
            }
            Err(failure) => {
                self.show_transaction(host);
                self.row_count = 0;
                self.failure(failure, failed, host)
            }
        }
    }

    /// Begins the next trigger of the innermost change; after the last one the change is done.
    fn fire_next<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<(), Halt> {
        let Some(firing) = self.firings.last().copied() else {
            return Ok(());
        };
        let failed = firing.done.failed();
        let next = match host.next_trigger() {
            Ok(next) => next,
            Err(failure) => return self.failure(failure, failed, host),
        };
        if let Some(program) = next {
            let slots = match bind(&program, &[], host.environment()) {
                Ok(bound) => bound.slots,
                Err(error) => return self.fail(error, failed, host),
            };
            self.row_count = i64::try_from(firing.count).unwrap_or(i64::MAX);
            self.error = 0;
            let passed = Passed {
                slots,
                ..Passed::default()
            };
            return self.begin_frame(program, FrameKind::Trigger, passed, host);
        }
        self.firings.pop();
        self.done_sender.flush(host)?;
        self.transaction.forget_savepoints(firing.savepoint_count);
        host.end_firing(true);
        let committed = match firing.is_own && self.transaction.count > 0 {
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
        if firing.is_own {
            host.end_own_transaction();
        }
        match committed {
            Ok(()) => self.statement_done(firing.done, Affected::Rows(firing.count), host),
            Err(failure) => self.failure(failure, failed, host),
        }
    }

    /// A trigger has ended.
    pub(super) fn trigger_ended<H: Host + ?Sized>(&mut self, frame: &Frame, host: &mut H) -> Result<(), Halt> {
        let is_ended = self.firings.last().is_some_and(|firing| firing.is_ended);
        let (error, reach) = if is_ended || self.transaction.count == 0 {
            (SqlError::ended_in_trigger(), Reach::Transaction)
        } else if self.transaction.is_doomed {
            (SqlError::raised_in_trigger(), Reach::Transaction)
        } else {
            if self.transaction.count != frame.saved.transaction_count {
                let raised = self.mismatch(frame);
                self.report_raised(&raised, host)?;
            }
            return self.fire_next(host);
        };
        let failed = self.firings.last().map(|firing| firing.done.failed());
        let raised = Raised {
            error,
            line: self.line(),
            procedure: frame.program.procedure_name().cloned(),
            reach,
            honours_abort: false,
            to_log: false,
        };
        self.raise(raised, failed.unwrap_or(Failed::of(super::Command::NONE)), host)
    }

    /// Ends the changes after an error that leaves `frame_count` frames, if none of these is a trigger of theirs.
    pub(super) fn abandon_firings<H: Host + ?Sized>(&mut self, frame_count: usize, host: &mut H) -> Result<(), Stop> {
        while let Some(firing) = self.firings.last().copied()
            && frame_count <= firing.depth
        {
            self.firings.pop();
            self.done_sender.flush(host)?;
            if !firing.is_ended {
                self.transaction.forget_savepoints(firing.savepoint_count);
            }
            host.end_firing(false);
            if firing.is_own && self.transaction.count > 0 {
                self.end_transaction(TransactionStep::Rollback, host)?;
            }
            self.show_transaction(host);
            if firing.is_own {
                host.end_own_transaction();
            }
        }
        Ok(())
    }

    /// Whether a trigger runs, in this frame or below it.
    pub(super) fn is_in_trigger(&self) -> bool {
        self.firings
            .last()
            .is_some_and(|firing| self.frames.len() > firing.depth)
    }

    /// The transaction has ended: notes it for the changes whose triggers run.
    pub(super) fn note_ended_transaction(&mut self) {
        for firing in &mut self.firings {
            firing.is_ended = true;
        }
    }

    /// Checks that a ROLLBACK to a savepoint may run.
    ///
    /// Errors: 40510 for a savepoint from before the trigger's statement.
    pub(super) fn check_firing_rollback(&self, savepoint: usize) -> Result<(), SqlError> {
        let is_before = |firing: &Firing| !firing.is_ended && savepoint < firing.savepoint_count;
        match self.firings.iter().any(is_before) {
            true => Err(SqlError::unsupported(
                "ROLLBACK in a trigger to a savepoint from before its statement",
            )),
            false => Ok(()),
        }
    }
}
