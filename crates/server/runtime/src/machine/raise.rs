//! Raises and handles errors.

use std::sync::Arc;

use selenite_compiler::program::index;
use selenite_compiler::{Ends, SqlError};

use super::done_sender::DoneReport;
use super::frame::{Frame, Raised, Reach};
use super::{Command, Host, Machine, Message, Stop, TransactionStep};

/// The reason why a request ends before its program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Halt {
    /// The request is to stop.
    Stop(Stop),
    /// An error was sent.
    Batch,
    /// An error was sent, and the connection ends.
    Connection,
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// The failed statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed {
    /// The command number of its DONE.
    pub(super) command: u16,
    /// Whether its DONE has a count when a CATCH handles the error: SELECT, INSERT, UPDATE, DELETE.
    pub(super) counts: bool,
    /// Whether message 3621 follows: INSERT, UPDATE, DELETE.
    pub(super) changes: bool,
}

impl Failed {
    /// A statement that changes no rows.
    pub(super) fn of(command: u16) -> Self {
        Self {
            command,
            counts: command == Command::SELECT,
            changes: false,
        }
    }
}

impl Machine {
    /// Raises an error of the current step.
    pub(super) fn fail<H: Host + ?Sized>(&mut self, error: SqlError, failed: Failed, host: &mut H) -> Result<(), Halt> {
        let raised = self.raised(error);
        self.raise(raised, failed, host)
    }

    /// The error, as one of the current step.
    pub(super) fn raised(&self, error: SqlError) -> Raised {
        let reach = match error.ends() {
            Ends::Statement => Reach::Statement,
            Ends::Batch => Reach::Scope,
            Ends::Transaction => Reach::Transaction,
            Ends::Connection => Reach::Connection,
        };
        let step_line = self.frames.last().map_or(0, |frame| frame.program.line(frame.at));
        Raised {
            line: if error.line() == 0 { step_line } else { error.line() },
            procedure: self
                .frames
                .last()
                .and_then(|frame| frame.program.procedure_name().cloned()),
            reach,
            honours_abort: true,
            to_log: false,
            error,
        }
    }

    /// Continues in the CATCH that handles the error, or sends it and ends its scope.
    pub(super) fn raise<H: Host + ?Sized>(
        &mut self,
        mut raised: Raised,
        failed: Failed,
        host: &mut H,
    ) -> Result<(), Halt> {
        // An interruption is not an error: the host's poll ends the request.
        host.poll()?;
        if raised.error.severity() >= SEVERITY_FATAL_MIN || raised.reach == Reach::Connection {
            self.report_raised(&raised, host)?;
            return Err(Halt::Connection);
        }
        let is_of_trigger = self.is_in_trigger();
        let aborts = match raised.reach {
            Reach::Scope => is_of_trigger,
            Reach::Definition => is_of_trigger || self.options.xact_abort,
            Reach::Statement | Reach::Batch | Reach::Transaction | Reach::Connection => {
                self.options.xact_abort && raised.honours_abort
            }
        };
        if let Some((frame, handler)) = self.handler(raised.reach) {
            let dooms = aborts || raised.reach == Reach::Definition || raised.reach >= Reach::Transaction;
            if dooms && self.transaction.count > 0 {
                self.transaction.is_doomed = true;
                self.show_transaction(host);
            }
            return self.catch(frame, handler, raised, failed, host);
        }
        if aborts {
            raised.reach = raised.reach.max(Reach::Transaction);
        }
        self.report_raised(&raised, host)?;
        self.end_reach(&raised, failed, host)
    }

    /// Ends the scope of an error that was sent.
    fn end_reach<H: Host + ?Sized>(&mut self, raised: &Raised, failed: Failed, host: &mut H) -> Result<(), Halt> {
        match raised.reach {
            Reach::Statement => {
                if failed.changes {
                    self.report_terminated(raised, host)?;
                }
                if let Some(frame) = self.frames.last_mut() {
                    frame.at = frame.program.step_after_failure(frame.at);
                }
                self.send_done(failed.command, DoneReport::Error, host)?;
                self.abandon_firings(self.frames.len(), host)?;
                Ok(self.abandon_capture(self.frames.len(), host)?)
            }
            Reach::Scope | Reach::Definition if self.frames.len() > 1 => {
                self.send_done(failed.command, DoneReport::Error, host)?;
                self.end_frame(None, host)
            }
            Reach::Scope | Reach::Definition | Reach::Batch => Err(Halt::Batch),
            Reach::Transaction => {
                if self.transaction.count > 0 {
                    self.done_sender.flush(host)?;
                    self.end_transaction(TransactionStep::Rollback, host)?;
                }
                Err(Halt::Batch)
            }
            Reach::Connection => Err(Halt::Connection),
        }
    }

    /// The frame and step of the innermost CATCH that handles an error with this reach.
    pub(super) fn handler(&self, reach: Reach) -> Option<(usize, selenite_compiler::program::step::TryRegion)> {
        let top = self.frames.len().checked_sub(1)?;
        self.frames.iter().enumerate().rev().find_map(|(number, frame)| {
            if reach == Reach::Scope && number == top {
                return None;
            }
            frame.program.try_around(frame.at).map(|region| (number, *region))
        })
    }

    /// Continues in a CATCH.
    fn catch<H: Host + ?Sized>(
        &mut self,
        number: usize,
        region: selenite_compiler::program::step::TryRegion,
        raised: Raised,
        failed: Failed,
        host: &mut H,
    ) -> Result<(), Halt> {
        let report = if failed.counts {
            DoneReport::Rows(0)
        } else {
            DoneReport::Plain
        };
        self.send_done(failed.command, report, host)?;
        while self.frames.len() > number + 1 {
            self.drop_frame(host);
        }
        self.abandon_firings(number + 1, host)?;
        self.abandon_capture(number + 1, host)?;
        self.error = raised.error.number();
        self.row_count = 0;
        if let Some(frame) = self.frames.last_mut() {
            frame.caught.truncate(index(region.catch_depth));
            frame.caught.push(Arc::new(raised));
            frame.at = index(region.handler);
        }
        self.show_caught(host);
        Ok(())
    }

    /// Sends an error.
    pub(super) fn report_raised<H: Host + ?Sized>(&mut self, raised: &Raised, host: &mut H) -> Result<(), Stop> {
        let error = &raised.error;
        self.error = error.number();
        if let Some(frame) = self.frames.last_mut() {
            frame.status = 10 - i32::from(error.severity());
        }
        self.message(
            &Message {
                number: error.number(),
                severity: error.severity(),
                state: error.state(),
                line: raised.line,
                procedure: raised.procedure.as_deref().unwrap_or(""),
                text: error.text(),
                to_log: raised.to_log,
            },
            host,
        )
    }

    /// Sends 3621 after the error of a statement that changes rows.
    fn report_terminated<H: Host + ?Sized>(&mut self, raised: &Raised, host: &mut H) -> Result<(), Stop> {
        let message = Message {
            number: 3621,
            severity: 0,
            state: 0,
            line: raised.line,
            procedure: raised.procedure.as_deref().unwrap_or(""),
            text: "The statement has been terminated.",
            to_log: false,
        };
        self.message(&message, host)
    }

    /// Sends a message after the pending DONE.
    pub(super) fn message<H: Host + ?Sized>(&mut self, message: &Message<'_>, host: &mut H) -> Result<(), Stop> {
        self.done_sender.flush(host)?;
        host.message(message)
    }

    /// Passes the currently handled error to the host.
    pub(super) fn show_caught<H: Host + ?Sized>(&self, host: &mut H) {
        let caught = self.frames.iter().rev().find_map(|frame: &Frame| frame.caught.last());
        host.set_caught(caught.map(|raised| Arc::new(raised.caught())));
    }
}

/// The lowest severity that ends the connection.
pub(super) const SEVERITY_FATAL_MIN: u8 = 20;
