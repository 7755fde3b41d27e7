//! Executes the steps that need the host.

use std::sync::Arc;

use selenite_compiler::program::step::{Access, Operand, Role, SelectAssign, SelectValues, Step, Switch};
use selenite_compiler::program::{Program, StatementId, index};
use selenite_compiler::{Ends, Frame as Values, SqlError};
use selenite_tsql::ast;
use selenite_types::Value;

use super::done_sender::DoneReport;
use super::frame::Reach;
use super::raise::{Failed, Halt};
use super::scalar::is_heavy;
use super::{Affected, Command, Failure, Host, Machine, Message, TableStatement, Wait, wait_text};

impl Machine {
    /// Executes the current step.
    pub(super) fn event<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<(), Halt> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let program = Arc::clone(&frame.program);
        let status = frame.status;
        let Some(step) = program.steps().get(frame.at) else {
            return self.end_frame(Some(status), host);
        };
        if self.options.format_only && self.describe(&program, step, host)? {
            return Ok(());
        }
        match step {
            Step::End | Step::Return(None) => self.end_frame(Some(status), host),
            Step::Return(Some(operand)) => self.return_value(operand, host),
            Step::ReturnSlot(slot) => {
                let value = self.slot(slot.index());
                self.return_with(&value, host)
            }
            Step::SelectValues(select) => self.select_values(select, host),
            Step::SelectAssign(select) => self.select_assign(select, host),
            Step::Goto { target, catch_depth } => {
                self.leave_catch(*catch_depth, host);
                self.jump(index(*target));
                Ok(())
            }
            Step::BeginTry => self.complete(Command::NONE, DoneReport::Plain, 0, host),
            Step::EndTry(target) => {
                self.complete(Command::NONE, DoneReport::Plain, 0, host)?;
                self.jump(index(*target));
                Ok(())
            }
            Step::EndCatch { catch_depth } => {
                self.leave_catch(*catch_depth, host);
                self.complete(Command::NONE, DoneReport::Plain, 0, host)
            }
            Step::Print(operand) => self.print(operand, host),
            Step::RaiseError(statement) => self.raise_error(statement, host),
            Step::Throw(statement) => self.throw(statement, host),
            Step::Rethrow => self.rethrow(host),
            Step::WaitFor { kind, value } => self.wait_for(*kind, value, host),
            Step::Transaction(statement) => self.transaction_statement(statement, host),
            Step::SetSwitch { switch, on, last } => self.set_switch(*switch, *on, *last, host),
            Step::SetOption { option, value } => self.set_option(option, value.as_deref(), host),
            Step::Use(name) => self.use_database(name, host),
            Step::Call(statement) => self.call(statement, host),
            Step::Text(operand, principal) => self.call_text(operand, principal.as_deref(), host),
            Step::BeginCapture(id) => self.begin_capture(&program, *id, host),
            Step::EndCapture(id) => self.end_capture(&program, *id, host),
            Step::Statement {
                id,
                role,
                command,
                access,
                rows,
            } => {
                let done = HostDone {
                    role: *role,
                    command: *command,
                    access: *access,
                    rows: *rows,
                };
                self.statement(&program, *id, done, host)
            }
            Step::SetInt(_) | Step::BranchInt(_) | Step::Set(_) | Step::Branch(_) | Step::Jump(_) => Ok(()),
        }
    }

    fn return_value<H: Host + ?Sized>(&mut self, operand: &Operand, host: &mut H) -> Result<(), Halt> {
        match self.evaluate(operand, host) {
            Ok(value) => self.return_with(&value, host),
            Err(error) => self.fail(error, Failed::of(Command::NONE), host),
        }
    }

    /// RETURN of a status: NULL is 0, with a warning. It counts as an assignment (`@@ROWCOUNT`'s documentation).
    fn return_with<H: Host + ?Sized>(&mut self, value: &Value, host: &mut H) -> Result<(), Halt> {
        self.row_count = 1;
        self.error = 0;
        if let Value::Int(status) = value {
            return self.end_frame(Some(*status), host);
        }
        let procedure = self.procedure();
        let procedure = procedure.as_deref().unwrap_or("");
        let text = format!(
            "The '{procedure}' procedure attempted to return a status of NULL, which is not allowed. A status of 0 will \
             be returned instead."
        );
        let message = Message {
            number: 282,
            severity: 10,
            state: 1,
            line: self.line(),
            procedure,
            text: &text,
            to_log: false,
        };
        self.message(&message, host)?;
        self.end_frame(Some(0), host)
    }

    fn select_values<H: Host + ?Sized>(&mut self, select: &SelectValues, host: &mut H) -> Result<(), Halt> {
        if let Err(error) = self.announce_for(select.reads, host) {
            return self.fail(error, Failed::of(Command::SELECT), host);
        }
        self.done_sender.flush(host)?;
        if let Err(failure) = host.columns(&select.columns) {
            return self.failure(failure, Failed::of(Command::SELECT), host);
        }
        let mut row = Vec::with_capacity(select.values.len());
        for value in &select.values {
            match value.evaluate(&self.values(host)) {
                Ok(value) => row.push(value),
                Err(error) => return self.fail(error, Failed::of(Command::SELECT), host),
            }
        }
        host.row(&row)?;
        self.complete(Command::SELECT, DoneReport::Rows(1), 1, host)
    }

    fn select_assign<H: Host + ?Sized>(&mut self, select: &SelectAssign, host: &mut H) -> Result<(), Halt> {
        if let Err(error) = self.announce_for(select.reads, host) {
            return self.fail(error, Failed::of(Command::SELECT), host);
        }
        for (slot, value) in &select.assignments {
            let value = match value.evaluate(&self.values(host)) {
                Ok(value) => value,
                Err(error) => return self.fail(error, Failed::of(Command::SELECT), host),
            };
            if let Some(place) = self
                .frames
                .last_mut()
                .and_then(|frame| frame.slots.get_mut(slot.index()))
            {
                self.is_heavy |= is_heavy(&value);
                *place = value;
            }
        }
        if self.is_heavy {
            self.steps_to_poll = 1;
        }
        self.complete(Command::SELECT, DoneReport::Count(1), 1, host)
    }

    fn wait_for<H: Host + ?Sized>(&mut self, kind: ast::WaitKind, operand: &Operand, host: &mut H) -> Result<(), Halt> {
        let milliseconds = self
            .evaluate(operand, host)
            .and_then(|value| wait_text::milliseconds(&value));
        let milliseconds = match milliseconds {
            Ok(milliseconds) => milliseconds,
            Err(error) => return self.fail(error, Failed::of(Command::NONE), host),
        };
        self.done_sender.flush(host)?;
        host.poll()?;
        host.wait(match kind {
            ast::WaitKind::Delay => Wait::Delay { milliseconds },
            ast::WaitKind::Time => Wait::Time { milliseconds },
        })?;
        self.complete(Command::NONE, DoneReport::Plain, 0, host)
    }

    fn set_switch<H: Host + ?Sized>(&mut self, switch: Switch, on: bool, last: bool, host: &mut H) -> Result<(), Halt> {
        match switch {
            Switch::NoCount => self.options.no_count = on,
            Switch::XactAbort => self.options.xact_abort = on,
            Switch::ImplicitTransactions => self.options.implicit_transactions = on,
            Switch::FormatOnly => self.options.format_only = on,
        }
        self.show_options(host);
        if last {
            return self.complete(Command::SET, DoneReport::Plain, 0, host);
        }
        self.step_on();
        Ok(())
    }

    fn set_option<H: Host + ?Sized>(
        &mut self,
        option: &ast::SetOption,
        value: Option<&Operand>,
        host: &mut H,
    ) -> Result<(), Halt> {
        let value = match value.map(|operand| self.evaluate(operand, host)).transpose() {
            Ok(value) => value,
            Err(error) => return self.fail(error, Failed::of(Command::SET), host),
        };
        self.done_sender.flush(host)?;
        match host.set_option(option, value.as_ref()) {
            Ok(()) => self.complete(Command::SET, DoneReport::Plain, 0, host),
            Err(failure) => self.failure(failure, Failed::of(Command::SET), host),
        }
    }

    fn use_database<H: Host + ?Sized>(&mut self, name: &ast::Name, host: &mut H) -> Result<(), Halt> {
        self.done_sender.flush(host)?;
        match host.use_database(name) {
            Ok(()) => self.complete(Command::NONE, DoneReport::Plain, 0, host),
            Err(failure) => self.failure(failure, Failed::of(Command::NONE), host),
        }
    }

    /// Executes a statement through the host.
    fn statement<H: Host + ?Sized>(
        &mut self,
        program: &Arc<Program>,
        id: StatementId,
        done: HostDone,
        host: &mut H,
    ) -> Result<(), Halt> {
        let failed = done.failed();
        let Some(statement) = program.statement(id) else {
            return self.fail(SqlError::internal("a statement that is not there"), failed, host);
        };
        self.done_sender.flush(host)?;
        match self.prepare_access(done.access, host) {
            Ok(()) => {}
            Err(Failure::Stop(stop)) => return Err(stop.into()),
            Err(Failure::Error(error)) => return self.transaction_failed(error, done.command, host),
        }
        self.announce(host);
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let statement = TableStatement { program, id, statement };
        match host.statement(&statement, &mut frame.slots) {
            Ok(Affected::NeedsFiring) => self.fire(&statement, (done, failed), host),
            Ok(affected) => self.statement_done(done, affected, host),
            Err(failure) => {
                self.show_transaction(host);
                if !matches!(failure, Failure::Stop(_)) {
                    self.row_count = 0;
                }
                match failure {
                    Failure::Error(error) if done.access == Access::Write && error.ends() == Ends::Batch => {
                        let mut raised = self.raised(error);
                        raised.reach = Reach::Definition;
                        self.raise(raised, failed, host)
                    }
                    Failure::Error(_) | Failure::Stop(_) => self.failure(failure, failed, host),
                }
            }
        }
    }

    pub(super) fn statement_done<H: Host + ?Sized>(
        &mut self,
        done: HostDone,
        affected: Affected,
        host: &mut H,
    ) -> Result<(), Halt> {
        match done.role {
            Role::Plain => match affected {
                Affected::Rows(count) | Affected::Fires(count) => {
                    let report = if done.rows {
                        DoneReport::Rows(count)
                    } else {
                        DoneReport::Count(count)
                    };
                    self.complete(done.command, report, i64::try_from(count).unwrap_or(i64::MAX), host)
                }
                Affected::Nothing | Affected::NeedsFiring => self.complete(done.command, DoneReport::Plain, 0, host),
            },
            Role::Assign => self.complete(done.command, DoneReport::Count(1), 1, host),
            Role::Declare | Role::Value => {
                self.step_on();
                Ok(())
            }
            Role::Condition { slot, otherwise, .. } => {
                let is_true = self.slot(slot.index()) == Value::Int(1);
                self.complete(done.command, DoneReport::Plain, 0, host)?;
                if !is_true {
                    self.jump(index(otherwise));
                }
                Ok(())
            }
        }
    }

    /// Handles a failure of the host.
    pub(super) fn failure<H: Host + ?Sized>(
        &mut self,
        failure: Failure,
        failed: Failed,
        host: &mut H,
    ) -> Result<(), Halt> {
        match failure {
            Failure::Error(error) => self.fail(error, failed, host),
            Failure::Stop(stop) => Err(stop.into()),
        }
    }

    /// Evaluates an expression.
    pub(super) fn evaluate<H: Host + ?Sized>(&mut self, operand: &Operand, host: &mut H) -> Result<Value, SqlError> {
        self.announce_for(operand.reads, host)?;
        operand.value.evaluate(&self.values(host))
    }

    fn values<'a, H: Host + ?Sized>(&'a self, host: &'a H) -> Values<'a> {
        Values {
            slots: self.frames.last().map_or(&[], |frame| frame.slots.as_slice()),
            row: &[],
            local: None,
            environment: host.environment(),
        }
    }

    /// Leaves CATCH blocks until `catch_depth` remain.
    fn leave_catch<H: Host + ?Sized>(&mut self, catch_depth: u32, host: &mut H) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        if frame.caught.len() > index(catch_depth) {
            frame.caught.truncate(index(catch_depth));
            self.show_caught(host);
        }
    }
}

/// The completion of a statement of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostDone {
    role: Role,
    command: u16,
    access: Access,
    rows: bool,
}

impl HostDone {
    /// The DONE of the statement if it fails.
    pub(super) fn failed(self) -> Failed {
        Failed {
            command: self.command,
            counts: self.access == Access::Change || self.command == Command::SELECT,
            changes: self.access == Access::Change,
        }
    }
}
