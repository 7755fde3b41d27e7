//! PRINT, RAISERROR, THROW.

use std::sync::Arc;

use selenite_compiler::program::step::{Operand, RaiseError, Throw};
use selenite_compiler::{Ends, Key, SqlError};
use selenite_types::{DataType, Value, utf16_prefix};

use super::done_sender::DoneReport;
use super::frame::{Raised, Reach};
use super::message::SEVERITY_INFO_MAX;
use super::raise::{Failed, Halt, SEVERITY_FATAL_MIN};
use super::substitution::{substitute, unescape};
use super::{Command, Host, Machine, Message};

impl Machine {
    /// PRINT; NULL and an empty text are sent as one space.
    pub(super) fn print<H: Host + ?Sized>(&mut self, operand: &Operand, host: &mut H) -> Result<(), Halt> {
        let value = match self.evaluate(operand, host) {
            Ok(value) => value,
            Err(error) => return self.fail(error, Failed::of(Command::PRINT), host),
        };
        let is_national = matches!(operand.value.data_type, DataType::NChar(_) | DataType::NVarChar(_));
        let length_max = if is_national { NATIONAL_LENGTH_MAX } else { LENGTH_MAX };
        let text = text_of(&value).filter(|text| !text.is_empty());
        let text = text.map_or(" ", |text| utf16_prefix(text, length_max));
        let line = self.line();
        let procedure = self.procedure();
        let message = Message {
            number: 0,
            severity: 0,
            state: 1,
            line,
            procedure: procedure.as_deref().unwrap_or(""),
            text,
            to_log: false,
        };
        self.message(&message, host)?;
        self.complete(Command::PRINT, DoneReport::Plain, 0, host)
    }

    /// RAISERROR.
    pub(super) fn raise_error<H: Host + ?Sized>(&mut self, statement: &RaiseError, host: &mut H) -> Result<(), Halt> {
        let error = match self.error_of(statement, host) {
            Ok(error) => error,
            Err(error) => return self.fail(error, Failed::of(Command::PRINT), host),
        };
        if error.severity() >= SEVERITY_FATAL_MIN {
            return self.end_connection(error, host);
        }
        if error.severity() > SEVERITY_INFO_MAX {
            let mut raised = self.raised(error);
            raised.honours_abort = false;
            raised.to_log = statement.log;
            let done = self.raise(raised, Failed::of(Command::PRINT), host);
            return self.flush_if(statement.no_wait, done, host);
        }
        let line = self.line();
        let procedure = self.procedure();
        let message = Message {
            number: error.number(),
            severity: error.severity(),
            state: error.state(),
            line,
            procedure: procedure.as_deref().unwrap_or(""),
            text: error.text(),
            to_log: statement.log,
        };
        self.message(&message, host)?;
        let done = self.complete(Command::PRINT, DoneReport::Plain, 0, host);
        if statement.set_error {
            self.error = error.number();
        }
        self.flush_if(statement.no_wait, done, host)
    }

    /// RAISERROR with a severity that ends the connection, even in a TRY: the client receives the origin, the error,
    /// and the end of the session.
    fn end_connection<H: Host + ?Sized>(&mut self, error: SqlError, host: &mut H) -> Result<(), Halt> {
        let text = format!(
            "Process ID {} has raised user error {}, severity {}. SQL Server is terminating this process.",
            host.session_mut().spid,
            error.number(),
            error.severity()
        );
        // 2745: RAISERROR with a severity that ends the session.
        let mut raised = self.raised(SqlError::new(2745, Ends::Connection, text).with_state(2));
        self.report_raised(&raised, host)?;
        raised.error = error;
        raised.to_log = true;
        self.report_raised(&raised, host)?;
        let text = "Cannot continue the execution because the session is in the kill state.";
        // 596: the end of the session.
        let last = SqlError::new(596, Ends::Connection, text).with_severity(21);
        let last = Raised {
            line: 0,
            procedure: None,
            to_log: false,
            ..self.raised(last)
        };
        self.report_raised(&last, host)?;
        Err(Halt::Connection)
    }

    fn flush_if<H: Host + ?Sized>(&mut self, no_wait: bool, done: Result<(), Halt>, host: &mut H) -> Result<(), Halt> {
        if no_wait && done.is_ok() {
            host.flush()?;
        }
        done
    }

    /// The error of a RAISERROR.
    fn error_of<H: Host + ?Sized>(&mut self, statement: &RaiseError, host: &mut H) -> Result<SqlError, SqlError> {
        let severity = int(&self.evaluate(&statement.severity, host)?).clamp(0, SEVERITY_MAX);
        let state = match int(&self.evaluate(&statement.state, host)?) {
            state if state < 0 => 1,
            state => state.min(STATE_MAX),
        };
        if severity > SEVERITY_PLAIN_MAX && !statement.log {
            return Err(SqlError::severity_needs_log());
        }
        if statement.log && !is_administrator(host)? {
            return Err(SqlError::log_needs_administrator());
        }
        let message = self.evaluate(&statement.message, host)?;
        if !matches!(message, Value::Text(_) | Value::Null) {
            return Err(refused_number(int(&message), severity, state));
        }
        let mut arguments = Vec::with_capacity(statement.arguments.len());
        for argument in &statement.arguments {
            arguments.push((self.evaluate(argument, host)?, argument.value.data_type));
        }
        let text = substitute(text_of(&message).unwrap_or(""), &arguments)?;
        Ok(SqlError::new(USER_NUMBER, Ends::Statement, text)
            .with_severity(u8::try_from(severity).unwrap_or(u8::MAX))
            .with_state(u8::try_from(state).unwrap_or(u8::MAX)))
    }

    /// THROW with arguments ends the batch.
    pub(super) fn throw<H: Host + ?Sized>(&mut self, statement: &Throw, host: &mut H) -> Result<(), Halt> {
        let thrown = match self.thrown(statement, host) {
            Ok(error) => error,
            Err(error) => return self.fail(error, Failed::of(Command::NONE), host),
        };
        let mut raised = self.raised(thrown);
        raised.reach = Reach::Batch;
        self.raise(raised, Failed::of(Command::NONE), host)
    }

    fn thrown<H: Host + ?Sized>(&mut self, statement: &Throw, host: &mut H) -> Result<SqlError, SqlError> {
        let number = int(&self.evaluate(&statement.number, host)?);
        let message = self.evaluate(&statement.message, host)?;
        let message = unescape(text_of(&message).unwrap_or(""));
        let state = int(&self.evaluate(&statement.state, host)?).clamp(0, STATE_MAX);
        if number < USER_NUMBER {
            return Err(SqlError::thrown_number(number));
        }
        let state = u8::try_from(state).unwrap_or(u8::MAX);
        Ok(SqlError::new(number, Ends::Statement, message).with_state(state))
    }

    /// THROW without arguments: the error that the CATCH handles, unchanged.
    pub(super) fn rethrow<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<(), Halt> {
        let caught = self.frames.last().and_then(|frame| frame.caught.last()).cloned();
        let Some(caught) = caught else {
            return self.fail(SqlError::rethrow_outside_catch(), Failed::of(Command::NONE), host);
        };
        let mut raised = (*caught).clone();
        raised.reach = Reach::Batch;
        raised.honours_abort = true;
        self.raise(raised, Failed::of(Command::NONE), host)
    }

    /// The running procedure; `None` in a batch.
    pub(super) fn procedure(&self) -> Option<Arc<str>> {
        self.frames
            .last()
            .and_then(|frame| frame.program.procedure_name().cloned())
    }
}

/// Whether the login is a member of sysadmin.
fn is_administrator<H: Host + ?Sized>(host: &H) -> Result<bool, SqlError> {
    let role = host.environment().login(Key::Name("sysadmin"))?;
    Ok(role.is_some_and(|role| role.is_role && role.is_member))
}

/// RAISERROR with a message number: no user-defined messages exist.
fn refused_number(number: i32, severity: i32, state: i32) -> SqlError {
    if number < 13_000 || number == USER_NUMBER {
        return SqlError::message_number(number);
    }
    SqlError::unknown_message(number, severity, state)
}

/// A text; `None` for NULL.
fn text_of(value: &Value) -> Option<&str> {
    if let Value::Text(text) = value {
        Some(text)
    } else {
        None
    }
}

/// An int, converted by binding; NULL is 0.
fn int(value: &Value) -> i32 {
    if let Value::Int(value) = value { *value } else { 0 }
}

/// The number of RAISERROR with a text, and the minimum of THROW.
const USER_NUMBER: i32 = 50_000;

const SEVERITY_MAX: i32 = 25;

/// The highest severity without WITH LOG.
const SEVERITY_PLAIN_MAX: i32 = 18;

const STATE_MAX: i32 = 255;

/// The maximum length of a varchar in PRINT.
const LENGTH_MAX: usize = 8000;

/// The maximum length of an nvarchar in PRINT.
const NATIONAL_LENGTH_MAX: usize = 4000;
