//! Calls of procedures by a client, and of the session's own procedures by a batch.
//!
//! - `own-procedures-in-any-system-schema`: the session's own procedures are known by number, and
//!   by name in any system schema.
//! - `others-belong-to-the-executor`: the executor runs all other procedures.

mod called_text;
mod cursor;
mod prepared;

use std::sync::Arc;

pub(crate) use prepared::Prepared;
use prepared::Statement;
use selenite_compiler::SqlError;
use selenite_compiler::program::Program;
use selenite_runtime::machine::{Call, CallArgument, Callee, Ended, Entry, Failure, Machine, Output, Request, Stop};
use selenite_tds::{Done, DoneKind, Procedure, ProcedureId, RpcCall};
use selenite_tsql::ast::{Name, ObjectName};
use selenite_types::Value;

use super::arguments::{call_arguments, int_of, text_of};
use super::host::{Handle, SessionHost};
use super::plans;
use super::procedure_name::{self, Target};
use crate::compile::ProgramKey;

/// A call that is being answered.
struct Answering<'a, 'b> {
    machine: &'a mut Machine,
    host: &'a mut SessionHost<'b>,
    prepared: &'a mut Prepared,
    call: &'a RpcCall,
    more: bool,
}

/// Answers a call, except for the end of the message. `more` says whether another call of the same message follows.
pub(crate) fn answer_call(
    machine: &mut Machine,
    host: &mut SessionHost<'_>,
    prepared: &mut Prepared,
    call: &RpcCall,
    more: bool,
) -> Ended {
    let answering = Answering {
        machine,
        host,
        prepared,
        call,
        more,
    };
    let target = match &call.procedure {
        Procedure::Id(id) => Target::Own(*id, None),
        Procedure::Name(name) => match procedure_name::parse(name) {
            Some(target) => target,
            None => {
                let error = SqlError::unknown_procedure(name);
                return answering.refuse(vec![error], 0);
            }
        },
    };
    match target {
        Target::Own(id, database) => answering.own(id, database.as_ref()),
        Target::Other(name) => answering.other(&name),
    }
}

impl Answering<'_, '_> {
    fn own(mut self, id: ProcedureId, database: Option<&Name>) -> Ended {
        let done = match id {
            ProcedureId::ExecuteSql => self.execute_text(database),
            ProcedureId::Prepare => self.prepare(),
            ProcedureId::PrepExec => self.prepare_and_execute(),
            ProcedureId::PrepExecRpc => self.prepare_and_call(),
            ProcedureId::Execute => self.execute(),
            ProcedureId::Unprepare => self.unprepare(),
            ProcedureId::Cursor => self.cursor_change(),
            ProcedureId::CursorOpen => self.cursor_open(),
            ProcedureId::CursorPrepare => self.cursor_prepare(),
            ProcedureId::CursorExecute => self.cursor_execute(),
            ProcedureId::CursorPrepExec => self.cursor_prepare_and_execute(),
            ProcedureId::CursorUnprepare => self.unprepare(),
            ProcedureId::CursorFetch => self.cursor_fetch(),
            ProcedureId::CursorOption => self.cursor_option(),
            ProcedureId::CursorClose => self.cursor_close(),
        };
        match done {
            Ok(ended) => ended,
            Err(errors) => self.refuse(errors, 0),
        }
    }

    /// sp_executesql: text, declarations, values.
    fn execute_text(&mut self, database: Option<&Name>) -> Result<Ended, Vec<SqlError>> {
        let key = self.key(0, 1)?;
        let (program, is_of_database) = self.host.program_of(key)?;
        match self.host.run_in(database, (&program, is_of_database)) {
            Ok(()) => Ok(self.run(program, 2)),
            Err(Failure::Error(error)) => Err(vec![error]),
            Err(Failure::Stop(Stop::Attention)) => Ok(Ended::Attention),
            Err(Failure::Stop(Stop::Gone)) => Ok(Ended::Gone),
        }
    }

    /// sp_prepare: handle OUTPUT, declarations, text, options.
    fn prepare(&mut self) -> Result<Ended, Vec<SqlError>> {
        let handle = self.prepare_text()?;
        self.host.handle = Some(handle);
        let told = self.send_status(0);
        Ok(self.end(told))
    }

    /// sp_prepexec: handle OUTPUT, declarations, text, values. The statement of the given handle is released.
    fn prepare_and_execute(&mut self) -> Result<Ended, Vec<SqlError>> {
        if let Some(old) = self
            .call
            .parameters
            .first()
            .and_then(|parameter| int_of(&parameter.value))
        {
            self.prepared.remove(old);
        }
        let handle = self.prepare_text()?;
        let number = handle.number;
        self.host.handle = Some(handle);
        match self.prepared.find(number) {
            Some(Statement::Program(program)) => Ok(self.run(program, 3)),
            Some(Statement::Typed(key)) => self.run_typed(key, 3),
            Some(Statement::Procedure(_)) | None => Err(vec![prepared::unknown_handle(number)]),
        }
    }

    /// Runs a text that names types of users, as they are now.
    fn run_typed(&mut self, key: ProgramKey, first: usize) -> Result<Ended, Vec<SqlError>> {
        let (program, _) = self.host.program_of(key)?;
        Ok(self.run(program, first))
    }

    fn prepare_text(&mut self) -> Result<Handle, Vec<SqlError>> {
        let not_prepared = |mut errors: Vec<SqlError>| {
            errors.push(prepared::not_prepared());
            errors
        };
        let key = self.key(2, 1).map_err(not_prepared)?;
        let compiled = self.host.program_of(key.clone()).map_err(not_prepared)?;
        self.keep(match compiled {
            (_, true) => Statement::Typed(key),
            (program, false) => Statement::Program(program),
        })
    }

    fn keep(&mut self, statement: Statement) -> Result<Handle, Vec<SqlError>> {
        let number = self.prepared.add(statement).map_err(|error| vec![error])?;
        let name = self.call.parameters.first().map_or("", |parameter| &parameter.name);
        Ok(Handle {
            name: name.to_owned(),
            number,
        })
    }

    /// sp_prepexecrpc: handle OUTPUT, a procedure's name or `{? = call name (?, ?)}`, values.
    fn prepare_and_call(&mut self) -> Result<Ended, Vec<SqlError>> {
        let text = text_of(self.call, 1, "sp_prepexecrpc").map_err(|error| vec![error])?;
        let Some(Target::Other(name)) = called_text::name(&text).and_then(procedure_name::parse) else {
            return Err(vec![SqlError::unknown_procedure(&text)]);
        };
        let handle = self.keep(Statement::Procedure(name.clone()))?;
        self.host.handle = Some(handle);
        Ok(self.call_other(&name, 2))
    }

    /// sp_execute: handle, values.
    fn execute(&mut self) -> Result<Ended, Vec<SqlError>> {
        let number = self.handle()?;
        match self.prepared.find(number) {
            Some(Statement::Program(program)) if cursor::opens_cursor(&program) => {
                Err(vec![prepared::unknown_handle(number)])
            }
            Some(Statement::Program(program)) => Ok(self.run(program, 1)),
            Some(Statement::Typed(key)) if key.is_cursor => Err(vec![prepared::unknown_handle(number)]),
            Some(Statement::Typed(key)) => self.run_typed(key, 1),
            Some(Statement::Procedure(name)) => Ok(self.call_other(&name, 1)),
            None => Err(vec![prepared::unknown_handle(number)]),
        }
    }

    fn unprepare(&mut self) -> Result<Ended, Vec<SqlError>> {
        let number = self.handle()?;
        match self.prepared.remove(number) {
            true => {
                let told = self.send_status(0);
                Ok(self.end(told))
            }
            false => Err(vec![prepared::unknown_handle(number)]),
        }
    }

    fn handle(&self) -> Result<i32, Vec<SqlError>> {
        let parameter = self.call.parameters.first();
        let number = parameter.and_then(|parameter| int_of(&parameter.value));
        number.ok_or_else(|| vec![prepared::unknown_handle(0)])
    }

    /// The text and the declarations in these places.
    fn key(&self, text_at: usize, declared_at: usize) -> Result<ProgramKey, Vec<SqlError>> {
        let procedure = match &self.call.procedure {
            Procedure::Id(id) => id.name(),
            Procedure::Name(name) => name,
        };
        let text = text_of(self.call, text_at, procedure).map_err(|error| vec![error])?;
        let declared = match self.call.parameters.get(declared_at) {
            None => Arc::default(),
            Some(_) => text_of(self.call, declared_at, procedure).map_err(|error| vec![error])?,
        };
        Ok(self.host.program_key(&text, &declared))
    }

    /// Runs a program with the values after the first parameters.
    fn run(&mut self, program: Arc<Program>, first: usize) -> Ended {
        self.run_with(program, call_arguments(self.call, first), first)
    }

    /// The same with values in the order of the program's parameters, whatever their names.
    fn run_unnamed(&mut self, program: Arc<Program>, first: usize) -> Ended {
        let mut arguments = call_arguments(self.call, first);
        for argument in &mut arguments {
            argument.name = None;
        }
        self.run_with(program, arguments, first)
    }

    fn run_with(&mut self, program: Arc<Program>, arguments: Vec<CallArgument>, first: usize) -> Ended {
        let entry = Entry::Call {
            first_ordinal: first,
            more: self.more,
        };
        if self.host.explains(&program) {
            return plans::answer(self.machine, self.host, &program, entry);
        }
        let request = Request {
            program,
            arguments,
            entry,
        };
        self.machine.run(request, self.host)
    }

    /// A procedure of the executor's.
    fn other(mut self, name: &ObjectName) -> Ended {
        self.call_other(name, 0)
    }

    fn call_other(&mut self, name: &ObjectName, first: usize) -> Ended {
        if self.machine.options().format_only {
            let error = SqlError::unsupported("EXECUTE of a procedure with SET FMTONLY ON");
            return self.refuse_here(vec![error], first);
        }
        if self.host.state.plan_form.is_some() {
            return self.refuse_here(vec![plans::refused("EXECUTE of a procedure by a client")], first);
        }
        let arguments = call_arguments(self.call, first);
        let call = Call {
            procedure: name,
            arguments: &arguments,
            line: 0,
        };
        match self.host.called(&call) {
            Ok(Callee::Program(program)) => self.run(program, first),
            Ok(Callee::ProgramWith { program, first: taken }) => self.run(program, first + taken),
            Ok(Callee::Done { status, outputs }) => {
                let told = self.send_outputs(status, &outputs, first);
                self.end(told)
            }
            Err(Failure::Error(error)) => self.refuse_here(vec![error], first),
            Err(Failure::Stop(Stop::Attention)) => Ended::Attention,
            Err(Failure::Stop(Stop::Gone)) => Ended::Gone,
        }
    }

    fn send_status(&mut self, status: i32) -> Result<(), Stop> {
        self.host.reply.return_status(status)?;
        self.host.send_handle()
    }

    fn send_outputs(&mut self, status: i32, outputs: &[Value], first: usize) -> Result<(), Stop> {
        self.send_status(status)?;
        let parameters = self.call.parameters.iter().enumerate().skip(first);
        let wanted = parameters.filter(|(_, parameter)| parameter.is_output);
        for ((ordinal, parameter), value) in wanted.zip(outputs) {
            self.host.reply.return_value(&Output {
                ordinal,
                name: &parameter.name,
                data_type: parameter.type_info.data_type,
                value,
            })?;
        }
        Ok(())
    }

    /// The end of a call that was no program's.
    fn end(&mut self, told: Result<(), Stop>) -> Ended {
        let more = if self.more { Done::MORE } else { 0 };
        match told.and_then(|()| self.host.reply.bare_done(DoneKind::Procedure, more)) {
            Ok(()) => Ended::Finished,
            Err(Stop::Attention) => Ended::Attention,
            Err(Stop::Gone) => Ended::Gone,
        }
    }

    fn refuse(mut self, errors: Vec<SqlError>, first: usize) -> Ended {
        self.refuse_here(errors, first)
    }

    fn refuse_here(&mut self, errors: Vec<SqlError>, first: usize) -> Ended {
        let entry = Entry::Call {
            first_ordinal: first,
            more: self.more,
        };
        self.machine.refuse(&errors, entry, self.host)
    }
}
