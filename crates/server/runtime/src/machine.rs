//! Runs programs: executes scalar steps itself, all others through its [`Host`]; and keeps the session's state between
//! batches.
//!
//! - `one-done-per-statement`: one DONE for each statement but DECLARE without a value, BEGIN and
//!   END, labels, GOTO, BREAK, CONTINUE and RETURN (MS-TDS 2.2.7.6); the conditions of IF and WHILE
//!   count each time they are evaluated. BEGIN TRY and its END have one each.
//! - `done-or-doneinproc`: in a batch they are DONE, in a called procedure or text DONEINPROC, and DONEPROC ends
//!   the call. NOCOUNT removes the counts, and each DONEINPROC that ends neither rows nor an error.
//! - `done-waits-for-the-next`: a DONE is sent when the next token is known, so that the last one of
//!   an answer has no MORE.
//! - `innermost-try-catches`: an error is handled by the innermost TRY around it, in any frame; without
//!   one it is sent, and ends the scope of its [`selenite_compiler::Ends`].
//! - `frames-are-always-left`: every frame that was entered is left, on every path.

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::program::step::{EnvironmentRead, Step};
use selenite_compiler::{Slot, SqlError};
use selenite_tds::{Done, DoneKind};
use selenite_types::Value;

mod arguments;
mod call;
mod called_name;
mod capture;
mod done_sender;
mod event;
mod execute;
mod firing;
mod format_only;
mod frame;
mod host;
mod message;
mod notice;
mod options;
mod raise;
mod scalar;
mod statement;
mod substitution;
mod transaction;
mod wait_text;

pub use call::{Call, CallArgument, Callee, PassedCursor, PassedTable, TableArgument, TextCall};
use capture::Capture;
use done_sender::{DoneReport, DoneSender, Manner};
use firing::Firing;
pub use frame::FrameKind;
use frame::{Frame, Passed, Reach, Returns};
pub use host::{Affected, Failure, Host, Output, Stop, TextFailure, TransactionStep, Wait};
pub use message::Message;
pub use options::Options;
use raise::{Failed, Halt};
use scalar::{Pause, STEPS_BETWEEN_POLLS, announce};
pub use selenite_compiler::program::Command;
pub use statement::TableStatement;
use transaction::Transaction;

/// The interpreter of a session's programs: one for each session, from its login to its end.
#[derive(Debug)]
pub struct Machine {
    options: Options,
    transaction: Transaction,
    frames: Vec<Frame>,
    done_sender: DoneSender,
    entry: Entry,
    /// `@@ROWCOUNT`.
    row_count: i64,
    /// `@@ERROR`.
    error: i32,
    steps_to_poll: u32,
    /// Whether a variable has such a large value that a step with it may take milliseconds: then each step polls.
    is_heavy: bool,
    /// The running INSERT .. EXECUTE.
    capture: Option<Capture>,
    /// The changes whose triggers run, outermost first.
    firings: Vec<Firing>,
}

/// A request of a client.
#[derive(Clone, Debug)]
pub struct Request {
    /// The program.
    pub program: Arc<Program>,
    /// The values of its parameters.
    pub arguments: Vec<CallArgument>,
    /// The form of the answer.
    pub entry: Entry,
}

/// The form of a request's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// A batch: DONE for each statement, the last without MORE.
    Batch,
    /// A call: DONEINPROC for each statement, then status, outputs and DONEPROC.
    Call {
        /// The position of the first argument in the client's call: 2 for sp_executesql.
        first_ordinal: usize,
        /// Whether another call follows in the same message: the last DONEPROC then has MORE.
        more: bool,
    },
}

/// The result of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The answer is complete.
    Finished,
    /// ATTENTION ended the request: the DONE with its bit is still to be written.
    Attention,
    /// The client is disconnected, or the session is to end: no answer is possible.
    Gone,
    /// An error of severity 20 or more: the answer is complete, and the connection is to be closed.
    Connection,
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

impl Machine {
    /// A session's machine after the login.
    #[must_use]
    pub fn new() -> Self {
        Self {
            options: Options::default(),
            transaction: Transaction::default(),
            frames: Vec::new(),
            done_sender: DoneSender::default(),
            entry: Entry::Batch,
            row_count: 0,
            error: 0,
            steps_to_poll: STEPS_BETWEEN_POLLS,
            is_heavy: false,
            capture: None,
            firings: Vec::new(),
        }
    }

    /// Runs a request to its end.
    pub fn run<H: Host + ?Sized>(&mut self, request: Request, host: &mut H) -> Ended {
        self.entry = request.entry;
        self.is_heavy = false;
        let result = self.start(request, host).and_then(|()| self.go(host));
        self.conclude(result, host)
    }

    /// Sends the errors of a request that could not be compiled or found.
    pub fn refuse<H: Host + ?Sized>(&mut self, errors: &[SqlError], entry: Entry, host: &mut H) -> Ended {
        self.entry = entry;
        let mut result = Err(Halt::Batch);
        for error in errors {
            let raised = self.raised(error.clone());
            if let Err(stop) = self.report_raised(&raised, host) {
                result = Err(Halt::Stop(stop));
                break;
            }
            if raised.reach == Reach::Connection {
                result = Err(Halt::Connection);
                break;
            }
        }
        self.show_counters(host);
        self.conclude(result, host)
    }

    /// A transaction request of the client: BEGIN, COMMIT, ROLLBACK or SAVE without a text. Its answer is one
    /// DONE.
    pub fn transact<H: Host + ?Sized>(&mut self, step: TransactionStep<'_>, host: &mut H) -> Ended {
        self.entry = Entry::Batch;
        let (command, done) = match step {
            TransactionStep::Begin { name } => (Command::BEGIN, self.begin(name, host)),
            TransactionStep::Commit { delayed_durability } => (Command::COMMIT, self.commit(delayed_durability, host)),
            TransactionStep::Rollback => (Command::ROLLBACK, self.rollback(None, host)),
            TransactionStep::RollbackTo { name } => (Command::ROLLBACK, self.rollback(Some(name), host)),
            TransactionStep::Save { name } => (Command::NONE, self.save(name, host)),
        };
        let result = match done {
            Ok(()) => self.complete(command, DoneReport::Plain, 0, host),
            Err(failure) => match self.failure(failure, Failed::of(command), host) {
                Ok(()) => Ok(()),
                Err(halt) => Err(halt),
            },
        };
        let result = result.and_then(|()| Ok(self.done_sender.finish(EMPTY, host)?));
        self.show_counters(host);
        self.conclude(result, host)
    }

    /// Resets the session for RESETCONNECTION: a transaction is rolled back, and options are as after a
    /// login.
    ///
    /// Errors: the reason to stop.
    pub fn reset<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<(), Stop> {
        let done = match self.transaction.count {
            0 => Ok(()),
            _ => self.end_transaction(TransactionStep::Rollback, host),
        };
        *self = Self::new();
        self.show_options(host);
        self.show_counters(host);
        self.show_transaction(host);
        done
    }

    /// The options of the machine.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    fn start<H: Host + ?Sized>(&mut self, request: Request, host: &mut H) -> Result<(), Halt> {
        self.show_options(host);
        let Request {
            program,
            arguments,
            entry,
        } = request;
        let bound = match arguments::bind(&program, &arguments, host.environment()) {
            Ok(bound) => bound,
            Err(error) => {
                let mut raised = self.raised(error);
                raised.procedure = program.procedure_name().cloned();
                self.report_raised(&raised, host)?;
                return Err(Halt::Batch);
            }
        };
        let returns = Returns {
            status: None,
            outputs: bound.outputs,
        };
        let kind = match entry {
            Entry::Batch => FrameKind::Batch,
            Entry::Call { .. } => FrameKind::Procedure,
        };
        let passed = Passed {
            slots: bound.slots,
            tables: bound.tables,
            returns,
            ..Passed::default()
        };
        self.begin_frame(program, kind, passed, host)?;
        if self.frames.is_empty() {
            return Err(Halt::Batch);
        }
        Ok(())
    }

    /// Runs until the last frame has ended.
    fn go<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<(), Halt> {
        while !self.frames.is_empty() {
            match self.scalar(host)? {
                Pause::Event => self.event(host)?,
                Pause::Failed(error) => {
                    let command = self.scalar_command();
                    self.fail(error, Failed::of(command), host)?;
                }
            }
        }
        self.show_counters(host);
        Ok(())
    }

    fn conclude<H: Host + ?Sized>(&mut self, result: Result<(), Halt>, host: &mut H) -> Ended {
        let ended = match result {
            Ok(()) => return Ended::Finished,
            Err(Halt::Batch) => self.break_off(Done::ERROR, host).map(|()| Ended::Finished),
            Err(Halt::Connection) => self.break_off(Done::SERVER_ERROR, host).map(|()| Ended::Connection),
            Err(Halt::Stop(stop)) => Err(stop),
        };
        let ended = ended.unwrap_or_else(|stop| {
            self.abandon(host);
            match stop {
                Stop::Attention => Ended::Attention,
                Stop::Gone => Ended::Gone,
            }
        });
        self.show_counters(host);
        ended
    }

    /// Completes a statement of the running frame: its counters, its DONE, and the next step.
    fn complete<H: Host + ?Sized>(
        &mut self,
        command: u16,
        told: DoneReport,
        row_count: i64,
        host: &mut H,
    ) -> Result<(), Halt> {
        self.row_count = row_count;
        self.error = 0;
        self.step_on();
        Ok(self.send_done(command, told, host)?)
    }

    fn send_done<H: Host + ?Sized>(&mut self, command: u16, told: DoneReport, host: &mut H) -> Result<(), Stop> {
        let manner = self.manner();
        self.done_sender.send_done(manner, command, told, host)
    }

    /// How statements of the running frame are reported.
    fn manner(&self) -> Manner {
        let is_batch = self.entry == Entry::Batch && self.frames.len() <= 1;
        Manner {
            kind: if is_batch {
                DoneKind::Statement
            } else {
                DoneKind::InProcedure
            },
            no_count: self.options.no_count,
        }
    }

    fn step_on(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at += 1;
        }
    }

    fn jump(&mut self, to: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = to;
        }
    }

    /// The line of the current step.
    fn line(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.program.line(frame.at))
    }

    /// The command number of the current scalar step.
    fn scalar_command(&self) -> u16 {
        let step = self.frames.last().and_then(|frame| frame.program.steps().get(frame.at));
        if matches!(step, Some(Step::Branch(_) | Step::BranchInt(_))) {
            return Command::CONDITION;
        }
        Command::SELECT
    }

    fn slot(&self, at: usize) -> Value {
        self.frames
            .last()
            .and_then(|frame| frame.slots.get(at))
            .cloned()
            .unwrap_or(Value::Null)
    }

    /// A variable's text; empty if it is NULL.
    fn slot_text(&self, slot: Slot) -> String {
        if let Value::Text(text) = self.slot(slot.index()) {
            return text.trim_end_matches(' ').to_owned();
        }
        String::new()
    }

    fn announce<H: Host + ?Sized>(&self, host: &mut H) {
        announce(self.row_count, self.error, host);
    }

    fn announce_for<H: Host + ?Sized>(&self, reads: EnvironmentRead, host: &mut H) -> Result<(), SqlError> {
        scalar::announce_for(reads, self.row_count, self.error, host)
    }

    fn show_counters<H: Host + ?Sized>(&self, host: &mut H) {
        let session = host.session_mut();
        session.row_count = self.row_count;
        session.error = self.error;
    }

    fn show_options<H: Host + ?Sized>(&self, host: &mut H) {
        let session = host.session_mut();
        session.options = session.options & !Options::MASK | self.options.bits();
    }

    /// Whether a CATCH handles an error with this reach.
    fn is_caught(&self, reach: Reach) -> bool {
        self.handler(reach).is_some()
    }
}

/// The DONE of a request without any other token.
const EMPTY: Done = Done {
    kind: DoneKind::Statement,
    status: 0,
    command: Command::NONE,
    row_count: 0,
};

#[cfg(test)]
mod tests;
