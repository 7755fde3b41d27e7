//! EXEC, and the begin and end of frames.

use std::sync::Arc;

use selenite_compiler::program::step::{CallStatement, CalledName, Operand};
use selenite_compiler::program::{Body, Program};
use selenite_compiler::{Slot, SqlError};
use selenite_tsql::ast::TextPrincipal;
use selenite_types::{DataType, Value};

use super::arguments::{bind, converted};
use super::done_sender::DoneReport;
use super::frame::{Frame, OutputSlot, Passed, Raised, Reach, Returns, Saved};
use super::raise::{Failed, Halt};
use super::{
    Call, CallArgument, Callee, Command, Done, DoneKind, Entry, Failure, FrameKind, Host, Machine, Output,
    TableArgument, TextCall, TextFailure, TransactionStep, called_name,
};

impl Machine {
    /// EXEC of a procedure.
    pub(super) fn call<H: Host + ?Sized>(&mut self, statement: &CallStatement, host: &mut H) -> Result<(), Halt> {
        let arguments = match self.call_arguments(statement, host) {
            Ok(arguments) => arguments,
            Err(error) => return self.fail(error, EXECUTE, host),
        };
        let procedure = match &statement.procedure {
            CalledName::Name(name) => Arc::clone(name),
            CalledName::Slot(slot) => {
                let text = self.slot_text(*slot);
                match called_name::parse(&text) {
                    Some(name) => Arc::new(name),
                    None => return self.fail(SqlError::unknown_procedure(&text), EXECUTE, host),
                }
            }
        };
        self.done_sender.flush(host)?;
        self.announce(host);
        let callee = host.call(&Call {
            procedure: &procedure,
            arguments: &arguments,
            line: self.line(),
        });
        let (program, first) = match callee {
            Ok(Callee::Program(program)) => (program, 0),
            Ok(Callee::ProgramWith { program, first }) => (program, first),
            Ok(Callee::Done { status, outputs }) => return self.called_host(statement, status, &outputs, host),
            Err(Failure::Stop(stop)) => return Err(stop.into()),
            Err(Failure::Error(error)) => return self.fail_call(error, host),
        };
        let given = arguments.get(first..).unwrap_or(&[]);
        let mut returns = Returns {
            status: statement.status,
            outputs: Vec::new(),
        };
        let (slots, tables, cursors) = match bind(&program, given, host.environment()) {
            Ok(bound) => {
                returns.outputs = bound.outputs;
                (bound.slots, bound.tables, bound.cursors)
            }
            Err(error) => return self.fail_in_callee(error, &program, host),
        };
        for output in &mut returns.outputs {
            output.to = statement
                .arguments
                .get(first + output.argument)
                .and_then(|argument| argument.output);
        }
        let passed = Passed {
            slots,
            tables,
            cursors,
            returns,
        };
        self.begin_frame(program, FrameKind::Procedure, passed, host)
    }

    /// EXEC of dynamic SQL; a NULL text is empty.
    pub(super) fn call_text<H: Host + ?Sized>(
        &mut self,
        operand: &Operand,
        principal: Option<&TextPrincipal>,
        host: &mut H,
    ) -> Result<(), Halt> {
        let text = match self.evaluate(operand, host) {
            Ok(text) => text,
            Err(error) => return self.fail(error, EXECUTE, host),
        };
        let text = if let Value::Text(text) = text {
            text
        } else {
            Arc::from("")
        };
        self.done_sender.flush(host)?;
        let compiled = host.text(&TextCall {
            text: &text,
            line: self.line(),
            principal,
        });
        match compiled {
            Ok(program) => {
                let slots = vec![Value::Null; program.variables().slot_count()];
                let passed = Passed {
                    slots,
                    ..Passed::default()
                };
                self.begin_frame(program, FrameKind::Text, passed, host)
            }
            Err(TextFailure::Stop(stop)) => Err(stop.into()),
            Err(TextFailure::Errors(errors)) => self.fail_text(errors, host),
        }
    }

    /// All errors of a text are sent, unless a CATCH handles them: it receives the last.
    fn fail_text<H: Host + ?Sized>(&mut self, mut errors: Vec<SqlError>, host: &mut H) -> Result<(), Halt> {
        let Some(last) = errors.pop() else {
            return self.complete(Command::EXECUTE, DoneReport::Plain, 0, host);
        };
        let as_raised = |error: SqlError| Raised {
            line: error.line(),
            procedure: None,
            reach: Reach::Statement,
            honours_abort: false,
            to_log: false,
            error,
        };
        if !self.is_caught(Reach::Statement) {
            for error in errors {
                self.report_raised(&as_raised(error), host)?;
            }
        }
        self.raise(as_raised(last), EXECUTE, host)
    }

    /// A compilation error of the callee ends the call, and not its caller.
    fn fail_call<H: Host + ?Sized>(&mut self, error: SqlError, host: &mut H) -> Result<(), Halt> {
        let mut raised = self.raised(error);
        if raised.reach == Reach::Scope {
            raised.reach = Reach::Statement;
        }
        self.raise(raised, EXECUTE, host)
    }

    /// An error of a call that did not begin: it is reported with the procedure's name and line 0.
    fn fail_in_callee<H: Host + ?Sized>(
        &mut self,
        error: SqlError,
        program: &Program,
        host: &mut H,
    ) -> Result<(), Halt> {
        let mut raised = self.raised(error);
        raised.line = 0;
        raised.procedure = program.procedure_name().cloned();
        self.raise(raised, EXECUTE, host)
    }

    fn call_arguments<H: Host + ?Sized>(
        &mut self,
        statement: &CallStatement,
        host: &mut H,
    ) -> Result<Vec<CallArgument>, SqlError> {
        let mut arguments = Vec::with_capacity(statement.arguments.len());
        for argument in &statement.arguments {
            let value = match &argument.value {
                Some(operand) => Some((self.evaluate(operand, host)?, operand.value.data_type)),
                None => None,
            };
            arguments.push(CallArgument {
                name: argument.name.clone(),
                value,
                is_output: argument.output.is_some(),
                table: argument.table.clone().map(TableArgument::Variable),
                cursor: argument.cursor.clone(),
            });
        }
        Ok(arguments)
    }

    /// Begins a frame.
    pub(super) fn begin_frame<H: Host + ?Sized>(
        &mut self,
        program: Arc<Program>,
        kind: FrameKind,
        passed: Passed,
        host: &mut H,
    ) -> Result<(), Halt> {
        let level = self.nest_level();
        if kind != FrameKind::Batch && level >= NEST_LEVEL_MAX {
            return self.fail(SqlError::nesting_exceeded(NEST_LEVEL_MAX), EXECUTE, host);
        }
        if !passed.tables.is_empty() {
            host.pass_tables(passed.tables);
        }
        if !passed.cursors.is_empty() {
            host.pass_cursors(passed.cursors);
        }
        match host.enter(&program, kind) {
            Ok(()) => {}
            Err(Failure::Stop(stop)) => return Err(stop.into()),
            Err(Failure::Error(error)) => return self.fail(error, EXECUTE, host),
        }
        let session = host.session_mut();
        let saved = Saved {
            options: self.options,
            scope_identity: session.scope_identity,
            procedure_id: session.procedure_id,
            transaction_count: self.transaction.count,
        };
        if kind != FrameKind::Batch {
            session.scope_identity = None;
            session.nest_level = i32::try_from(level + 1).unwrap_or(i32::MAX);
        }
        if let Body::Procedure { object_id, .. } = program.body() {
            session.procedure_id = *object_id;
        }
        if kind == FrameKind::Trigger {
            // `triggers-abort`.
            self.options.xact_abort = true;
            self.show_options(host);
        }
        self.frames.push(Frame {
            program,
            kind,
            slots: passed.slots,
            at: 0,
            caught: Vec::new(),
            saved,
            returns: passed.returns,
            status: 0,
        });
        Ok(())
    }

    /// Ends the running frame, normally or, without a status, after an error that was sent.
    pub(super) fn end_frame<H: Host + ?Sized>(&mut self, status: Option<i32>, host: &mut H) -> Result<(), Halt> {
        let Some(frame) = self.drop_frame(host) else {
            return Ok(());
        };
        if self.frames.is_empty() {
            return Ok(self.end_request(&frame, status, host)?);
        }
        if frame.kind == FrameKind::Trigger {
            return self.trigger_ended(&frame, host);
        }
        if status.is_none() {
            self.abandon_firings(self.frames.len(), host)?;
            self.abandon_capture(self.frames.len(), host)?;
        }
        if let Some(status) = status
            && let Err(error) = self.take_results(&frame, status, host)
        {
            return self.fail(error, EXECUTE, host);
        }
        if self.transaction.count != frame.saved.transaction_count {
            let raised = self.mismatch(&frame);
            if self.is_caught(Reach::Statement) {
                return self.raise(raised, EXECUTE, host);
            }
            self.report_raised(&raised, host)?;
        }
        self.called(status, host)
    }

    /// Error 266 of the ended procedure.
    pub(super) fn mismatch(&self, frame: &Frame) -> Raised {
        let error = SqlError::transaction_count(frame.saved.transaction_count, self.transaction.count);
        Raised {
            error,
            line: 0,
            procedure: frame.program.procedure_name().cloned(),
            reach: Reach::Statement,
            honours_abort: false,
            to_log: false,
        }
    }

    /// Removes the running frame and restores the caller's state.
    pub(super) fn drop_frame<H: Host + ?Sized>(&mut self, host: &mut H) -> Option<Frame> {
        let frame = self.frames.pop()?;
        host.leave();
        let level = self.nest_level();
        let session = host.session_mut();
        session.nest_level = i32::try_from(level).unwrap_or(i32::MAX);
        session.procedure_id = frame.saved.procedure_id;
        if frame.kind != FrameKind::Batch {
            session.scope_identity = frame.saved.scope_identity;
            self.options = frame.saved.options;
            self.show_options(host);
        }
        if !frame.caught.is_empty() {
            self.show_caught(host);
        }
        Some(frame)
    }

    /// Assigns status and outputs to the caller's variables.
    fn take_results<H: Host + ?Sized>(&mut self, frame: &Frame, status: i32, host: &mut H) -> Result<(), SqlError> {
        for output in &frame.returns.outputs {
            let (Some(to), Some(parameter)) = (output.to, frame.program.parameters().get(output.parameter)) else {
                continue;
            };
            let value = frame.slots.get(parameter.slot.index()).unwrap_or(&Value::Null);
            self.assign(to, value, &parameter.data_type, host)?;
        }
        match frame.returns.status {
            Some(to) => self.assign(to, &Value::Int(status), &DataType::Int, host),
            None => Ok(()),
        }
    }

    fn assign<H: Host + ?Sized>(
        &mut self,
        (slot, to): (Slot, DataType),
        value: &Value,
        from: &DataType,
        host: &H,
    ) -> Result<(), SqlError> {
        let value = converted(value, from, &to, host.environment().session().date_format)?;
        if let Some(place) = self
            .frames
            .last_mut()
            .and_then(|frame| frame.slots.get_mut(slot.index()))
        {
            *place = value;
        }
        Ok(())
    }

    /// Completes a call: the batch's own ends in DONEPROC, others as any statement (MS-TDS 2.2.7.8).
    fn called<H: Host + ?Sized>(&mut self, status: Option<i32>, host: &mut H) -> Result<(), Halt> {
        if let Some(frame) = self.frames.last_mut() {
            frame.at += 1;
        }
        let manner = self.manner();
        if manner.kind != DoneKind::Statement {
            return Ok(self.send_done(Command::EXECUTE, DoneReport::Plain, host)?);
        }
        if let Some(status) = status {
            self.done_sender.flush(host)?;
            host.return_status(status)?;
        }
        let done = Done {
            kind: DoneKind::Procedure,
            status: 0,
            command: Command::EXECUTE,
            row_count: 0,
        };
        Ok(self.done_sender.push(done, host)?)
    }

    /// Completes a call that the host has executed.
    fn called_host<H: Host + ?Sized>(
        &mut self,
        statement: &CallStatement,
        status: i32,
        outputs: &[Value],
        host: &mut H,
    ) -> Result<(), Halt> {
        let mut done = Ok(());
        let wanted = statement
            .arguments
            .iter()
            .filter_map(|argument| Some((argument.output?, argument.value.as_ref()?)));
        for ((to, operand), value) in wanted.zip(outputs) {
            done = done.and_then(|()| self.assign(to, value, &operand.value.data_type, host));
        }
        if let Some(to) = statement.status {
            done = done.and_then(|()| self.assign(to, &Value::Int(status), &DataType::Int, host));
        }
        match done {
            Ok(()) => {
                self.error = 0;
                self.called(Some(status), host)
            }
            Err(error) => self.fail(error, EXECUTE, host),
        }
    }

    /// Ends the answer after the last frame.
    fn end_request<H: Host + ?Sized>(
        &mut self,
        frame: &Frame,
        status: Option<i32>,
        host: &mut H,
    ) -> Result<(), super::Stop> {
        let is_doomed = self.end_doomed(host)?;
        let Entry::Call { first_ordinal, more } = self.entry else {
            let status = if is_doomed { Done::ERROR } else { 0 };
            return self
                .done_sender
                .finish(last(DoneKind::Statement, status, Command::NONE), host);
        };
        if self.transaction.count != frame.saved.transaction_count && !is_doomed {
            let raised = self.mismatch(frame);
            self.report_raised(&raised, host)?;
        }
        let returned = match status {
            Some(status) => self.client_outputs(frame, host).map(|outputs| Some((status, outputs))),
            None => Ok(None),
        };
        let (status, outputs) = match returned {
            Ok(Some((status, outputs))) => (Some(status), outputs),
            Ok(None) => (None, Vec::new()),
            Err(error) => {
                let raised = self.raised(error);
                self.report_raised(&raised, host)?;
                (None, Vec::new())
            }
        };
        self.done_sender.flush(host)?;
        if let Some(status) = status {
            host.return_status(status)?;
        }
        for (output, value, data_type) in outputs {
            let name = frame.program.parameters().get(output.parameter);
            host.return_value(&Output {
                ordinal: first_ordinal + output.argument,
                name: name.map_or("", |parameter| &parameter.name),
                data_type,
                value: &value,
            })?;
        }
        let error = if is_doomed || status.is_none() { Done::ERROR } else { 0 };
        let more = if more { Done::MORE } else { 0 };
        self.done_sender
            .finish(last(DoneKind::Procedure, error | more, Command::EXECUTE), host)
    }

    /// The output values for the client, each of the type of its argument, as if the argument were a variable of this
    /// type.
    fn client_outputs<H: Host + ?Sized>(
        &self,
        frame: &Frame,
        host: &H,
    ) -> Result<Vec<(OutputSlot, Value, DataType)>, SqlError> {
        let format = host.environment().session().date_format;
        let mut outputs = Vec::with_capacity(frame.returns.outputs.len());
        for output in &frame.returns.outputs {
            let Some(parameter) = frame.program.parameters().get(output.parameter) else {
                continue;
            };
            let value = frame.slots.get(parameter.slot.index()).unwrap_or(&Value::Null);
            let to = output.given.unwrap_or(parameter.data_type);
            outputs.push((*output, converted(value, &parameter.data_type, &to, format)?, to));
        }
        Ok(outputs)
    }

    /// Ends a request after an error: its frames, and the answer, whose last DONE has this status.
    pub(super) fn break_off<H: Host + ?Sized>(&mut self, status: u16, host: &mut H) -> Result<(), super::Stop> {
        while self.drop_frame(host).is_some() {}
        self.abandon_firings(0, host)?;
        self.abandon_capture(0, host)?;
        self.end_doomed(host)?;
        self.done_sender.flush(host)?;
        let done = match self.entry {
            Entry::Batch => last(DoneKind::Statement, status, Command::NONE),
            Entry::Call { more, .. } => {
                let more = if more { Done::MORE } else { 0 };
                last(DoneKind::Procedure, status | more, Command::EXECUTE)
            }
        };
        self.done_sender.finish(done, host)
    }

    /// Ends a request without an answer.
    pub(super) fn abandon<H: Host + ?Sized>(&mut self, host: &mut H) {
        self.done_sender.drop_pending();
        while self.drop_frame(host).is_some() {}
        // The client is disconnected: the error is not sent.
        let _ = self.abandon_firings(0, host);
        let _ = self.abandon_capture(0, host);
        if self.options.xact_abort && self.transaction.count > 0 {
            // The client is disconnected: the error is not sent.
            let _ = self.end_transaction(TransactionStep::Rollback, host);
        }
    }

    /// `@@NESTLEVEL`.
    fn nest_level(&self) -> usize {
        self.frames
            .iter()
            .filter(|frame| frame.kind != FrameKind::Batch)
            .count()
    }
}

fn last(kind: DoneKind, status: u16, command: u16) -> Done {
    Done {
        kind,
        status,
        command,
        row_count: 0,
    }
}

/// The DONE of a failed call.
const EXECUTE: Failed = Failed {
    command: Command::EXECUTE,
    counts: false,
    changes: false,
};

/// SQL Server's limit.
const NEST_LEVEL_MAX: usize = 32;
