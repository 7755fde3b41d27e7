//! DBCC: commands about databases and the server.
//!
//! - `output-as-sql-server`: a command reports what SQL Server's reports, as far as it is true
//!   here. A command that only SQL Server has is refused by its name; one that does not exist there
//!   either is error 2526.
//! - `2528-ends-each-command`: message 2528 ends each command, unless NO_INFOMSGS is specified.

mod argument;
mod buffers;
mod check;
mod check_identity;
mod finding;
mod input_buffer;
mod integrity;
mod log_space;
mod open_transaction;
mod options;
mod purity;
mod user_options;

pub(crate) use argument::Argument;
use options::Options;
use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{Affected, Failure, Message, TableStatement};
use selenite_tds::{Collation, Column};
use selenite_tsql::ast;
use selenite_types::{DataType, Value};

use crate::administration::Administration;
use crate::compile::UNSUPPORTED_DBCC;
use crate::execution_context::ExecutionContext;
use crate::session_state::SessionState;

/// A command with its arguments.
pub(crate) struct Request {
    /// In capitals.
    command: String,
    pub arguments: Vec<Argument>,
    pub options: Options,
    line: u32,
}

impl Administration<'_, '_> {
    /// Carries out a DBCC.
    pub(crate) fn dbcc(
        &mut self,
        dbcc: &ast::Dbcc,
        (statement, slots): (&TableStatement<'_>, &[Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let request = Request::of(dbcc, (statement, slots), execution.state)?;
        let affected = self.dbcc_request(&request, execution)?;
        request.complete(execution)?;
        Ok(affected)
    }

    fn dbcc_request(&mut self, request: &Request, execution: &mut ExecutionContext<'_>) -> Result<Affected, Failure> {
        match request.command.as_str() {
            "CHECKDB" => self.checkdb(request, execution),
            "CHECKIDENT" => self.check_identity(request, execution),
            "CHECKTABLE" => self.check_table(request, execution),
            "DROPCLEANBUFFERS" => self.drop_clean_buffers(request),
            "FREEPROCCACHE" | "FREESYSTEMCACHE" => self.free_plans(request),
            "SQLPERF" => self.performance(request, execution),
            "OPENTRAN" => self.open_transactions(request, execution),
            "USEROPTIONS" => user_options::send(request, execution),
            "INPUTBUFFER" => self.input_buffer(request, execution),
            // There are no trace flags: none is on, and turning one off changes nothing.
            "TRACEOFF" | "TRACESTATUS" => Ok(Affected::Nothing),
            command if UNSUPPORTED_DBCC.contains(&command) => Err(request.unsupported("")),
            _ => Err(request.incorrect()),
        }
    }
}

impl Request {
    /// A command as it was written.
    ///
    /// Errors: 137, 155, 2526, 40510.
    pub fn of(
        dbcc: &ast::Dbcc,
        (statement, slots): (&TableStatement<'_>, &[Value]),
        state: &SessionState,
    ) -> Result<Self, Failure> {
        let variables = statement.program.variables();
        let arguments = dbcc.arguments.iter();
        let arguments = arguments.map(|written| Argument::of(written, (variables, slots), state));
        let request = Self {
            command: dbcc.command.text.to_ascii_uppercase(),
            arguments: arguments.collect::<Result<_, _>>()?,
            options: Options::of(&dbcc.options)?,
            line: statement.line(),
        };
        request.check_options()?;
        Ok(request)
    }

    /// `2528-ends-each-command`.
    pub fn complete(&self, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        match self.options.no_messages {
            true => Ok(()),
            false => self.info(2528, COMPLETED, execution),
        }
    }

    fn check_options(&self) -> Result<(), Failure> {
        let checks = matches!(self.command.as_str(), "CHECKDB" | "CHECKTABLE");
        let shows = checks || self.command == "OPENTRAN";
        let options = &self.options;
        let is_of_constraints = self.command == "CHECKCONSTRAINTS";
        if !checks && (options.physical_only || options.all_errors && !is_of_constraints)
            || !shows && options.table_results
            || !is_of_constraints && options.all_constraints
        {
            return Err(self.incorrect());
        }
        Ok(())
    }

    /// An information of the command's.
    fn info(&self, number: i32, text: &str, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        self.send((number, 10, 1), text, execution)
    }

    /// A message of this number, severity and state.
    fn send(
        &self,
        (number, severity, state): (i32, u8, u8),
        text: &str,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let message = Message {
            number,
            severity,
            state,
            line: self.line,
            procedure: "",
            text,
            to_log: false,
        };
        Ok(execution.reply.message(&message)?)
    }

    /// 2526: the command, or what follows it, does not exist.
    pub fn incorrect(&self) -> Failure {
        let text = "Incorrect DBCC statement. Check the documentation for the correct DBCC syntax and options.";
        SqlError::new(2526, Ends::Statement, text).with_state(3).into()
    }

    /// 40510: SQL Server has it, and we have not.
    fn unsupported(&self, what: &str) -> Failure {
        let name = format!("DBCC {} {what}", self.command);
        SqlError::unsupported(name.trim_end()).with_ends(Ends::Statement).into()
    }
}

/// Whether a DBCC forgets all programs: the session's part of FREEPROCCACHE.
pub fn frees_programs(dbcc: &ast::Dbcc) -> bool {
    if dbcc.command.is("FREEPROCCACHE") {
        return dbcc.arguments.is_empty();
    }
    dbcc.command.is("FREESYSTEMCACHE") && dbcc.arguments.first().is_some_and(argument::is_all)
}

/// A result set: its columns, all of which may be NULL, and its rows.
pub(crate) fn send_rows(
    columns: &[(&str, DataType)],
    rows: &[Vec<Value>],
    execution: &mut ExecutionContext<'_>,
) -> Result<Affected, Failure> {
    let columns: Vec<Column> = columns
        .iter()
        .map(|(name, data_type)| Column {
            name: (*name).to_owned(),
            data_type: *data_type,
            is_nullable: true,
            is_identity: false,
            is_computed: false,
            collation: Collation::DEFAULT,
        })
        .collect();
    execution.reply.columns(&columns)?;
    for row in rows {
        execution.reply.row(row)?;
    }
    Ok(Affected::Rows(u64::try_from(rows.len()).unwrap_or(u64::MAX)))
}

const COMPLETED: &str = "DBCC execution completed. If DBCC printed error messages, contact your system administrator.";
