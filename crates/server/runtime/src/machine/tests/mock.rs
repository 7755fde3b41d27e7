//! A host that records its calls, and whose statements return results that a test sets.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::statement::ResultColumn;
use selenite_compiler::{
    CaughtError, Connection, Ends, Environment, Key, PrincipalFacts, RandomState, Server, Session, SqlError,
};
use selenite_tsql::ast::{self, StatementKind};
use selenite_types::{Guid, Moment, Value};

use crate::machine::{
    Affected, Call, Callee, Done, DoneKind, Failure, FrameKind, Host, Message, Output, Stop, TableStatement, TextCall,
    TextFailure, TransactionStep, Wait,
};
use crate::testing::TestEnvironment;

/// A recorded call of the host.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum HostCall {
    Done(Done),
    Message {
        number: i32,
        severity: u8,
        state: u8,
        line: u32,
        procedure: String,
        text: String,
    },
    Columns(Vec<ResultColumn>),
    Row(Vec<Value>),
    Status(i32),
    Output {
        ordinal: usize,
        name: String,
        value: Value,
    },
    Flush,
    Wait(Wait),
    Statement(String),
    Described(String),
    Transaction(String),
    Option(String, Option<Value>),
    Use(String),
    Enter(FrameKind),
    Leave,
}

/// A statement of the host: sets variables, and returns a result.
pub(crate) type MockStatement = Box<dyn FnMut(&TableStatement<'_>, &mut [Value]) -> Result<Affected, Failure>>;

pub(crate) struct Mock {
    pub(crate) calls: Vec<HostCall>,
    pub(crate) session: Session,
    pub(crate) caught: Option<Arc<CaughtError>>,
    environment: TestEnvironment,
    /// The next statements; without one a statement reads one row.
    pub(crate) answers: VecDeque<MockStatement>,
    pub(crate) procedures: Vec<(String, Arc<Program>)>,
    /// Stops at this call of `done`, `message` or `poll`.
    pub(crate) stop_at: Option<(u32, Stop)>,
    pub(crate) commit_fails: bool,
    /// Whether its login is an administrator.
    pub(crate) is_administrator: bool,
    pub(crate) statements_begun: u32,
    /// The number of calls of `prepare_names`.
    pub(crate) name_preparations: u32,
}

impl Mock {
    pub(crate) fn new() -> Self {
        Self {
            calls: Vec::new(),
            session: Session::default(),
            caught: None,
            environment: TestEnvironment::default(),
            answers: VecDeque::new(),
            procedures: Vec::new(),
            stop_at: None,
            commit_fails: false,
            is_administrator: true,
            statements_begun: 0,
            name_preparations: 0,
        }
    }

    fn stop(&mut self) -> Result<(), Stop> {
        let Some((left, stop)) = &mut self.stop_at else {
            return Ok(());
        };
        if *left == 0 {
            return Err(*stop);
        }
        *left -= 1;
        Ok(())
    }

    /// The recorded calls in short form.
    pub(crate) fn recorded(&self) -> Vec<String> {
        self.calls.iter().filter_map(super::in_short).collect()
    }

    fn push(&mut self, call: HostCall) -> Result<(), Stop> {
        self.calls.push(call);
        self.stop()
    }
}

impl Environment for Mock {
    fn now(&self) -> Moment {
        Moment {
            unix_ns: 1_600_000_000_000_000_000 + u64::from(self.statements_begun) * 1_000_000_000,
            offset_minutes: 0,
        }
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn connection(&self) -> &Connection {
        self.environment.connection()
    }

    fn server(&self) -> &Server {
        self.environment.server()
    }

    fn caught(&self) -> Option<&CaughtError> {
        self.caught.as_deref()
    }

    fn random(&self) -> &Cell<RandomState> {
        self.environment.random()
    }

    fn random_bytes(&self, bytes: &mut [u8]) {
        self.environment.random_bytes(bytes)
    }

    fn new_guid(&self) -> Guid {
        self.environment.new_guid()
    }

    fn login(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        let role = PrincipalFacts {
            id: 3,
            name: Arc::from("sysadmin"),
            is_role: true,
            is_member: self.is_administrator,
        };
        Ok(matches!(key, Key::Name("sysadmin")).then_some(role))
    }
}

impl Host for Mock {
    fn environment(&self) -> &dyn Environment {
        self
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    fn set_caught(&mut self, caught: Option<Arc<CaughtError>>) {
        self.caught = caught;
    }

    fn begin_statement(&mut self) {
        self.statements_begun += 1;
    }

    fn prepare_names(&mut self) -> Result<(), SqlError> {
        self.name_preparations += 1;
        Ok(())
    }

    fn poll(&mut self) -> Result<(), Stop> {
        self.stop()
    }

    fn done(&mut self, done: Done) -> Result<(), Stop> {
        self.push(HostCall::Done(done))
    }

    fn message(&mut self, message: &Message<'_>) -> Result<(), Stop> {
        self.push(HostCall::Message {
            number: message.number,
            severity: message.severity,
            state: message.state,
            line: message.line,
            procedure: message.procedure.to_owned(),
            text: message.text.to_owned(),
        })
    }

    fn flush(&mut self) -> Result<(), Stop> {
        self.push(HostCall::Flush)
    }

    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), Failure> {
        Ok(self.push(HostCall::Columns(columns.to_vec()))?)
    }

    fn begin_capture(&mut self, _: &TableStatement<'_>, _: bool) -> Result<(), Failure> {
        Ok(())
    }

    fn end_capture(&mut self) {}

    fn row(&mut self, values: &[Value]) -> Result<(), Stop> {
        self.push(HostCall::Row(values.to_vec()))
    }

    fn return_status(&mut self, status: i32) -> Result<(), Stop> {
        self.push(HostCall::Status(status))
    }

    fn return_value(&mut self, output: &Output<'_>) -> Result<(), Stop> {
        self.push(HostCall::Output {
            ordinal: output.ordinal,
            name: output.name.to_owned(),
            value: output.value.clone(),
        })
    }

    fn wait(&mut self, wait: Wait) -> Result<(), Stop> {
        self.push(HostCall::Wait(wait))
    }

    fn describe(&mut self, statement: &TableStatement<'_>) -> Result<Affected, Failure> {
        let text = statement.statement.position.text(statement.program.source());
        self.push(HostCall::Described(text.to_owned()))?;
        let has_rows = matches!(statement.statement.kind, StatementKind::Select(_));
        Ok(if has_rows { Affected::Rows(0) } else { Affected::Nothing })
    }

    fn statement(&mut self, statement: &TableStatement<'_>, slots: &mut [Value]) -> Result<Affected, Failure> {
        let text = statement.statement.position.text(statement.program.source());
        self.push(HostCall::Statement(text.to_owned()))?;
        if let Some(mut answer) = self.answers.pop_front() {
            return answer(statement, slots);
        }
        let counts = matches!(
            statement.statement.kind,
            StatementKind::Select(_) | StatementKind::Insert(_) | StatementKind::Update(_) | StatementKind::Delete(_)
        );
        Ok(if counts { Affected::Rows(1) } else { Affected::Nothing })
    }

    fn call(&mut self, call: &Call<'_>) -> Result<Callee, Failure> {
        let name = &call.procedure.name.text;
        if name.eq_ignore_ascii_case("sp_host") {
            let outputs = call.arguments.iter().filter(|argument| argument.is_output);
            return Ok(Callee::Done {
                status: 5,
                outputs: outputs.map(|_| Value::Int(77)).collect(),
            });
        }
        if name.eq_ignore_ascii_case("sp_broken") {
            return Err(SqlError::unknown_object("t").into());
        }
        let found = self
            .procedures
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        match found {
            Some((_, program)) => Ok(Callee::Program(Arc::clone(program))),
            None => Err(SqlError::unknown_procedure(name).into()),
        }
    }

    fn text(&mut self, text: &TextCall<'_>) -> Result<Arc<Program>, TextFailure> {
        super::compile(text.text).map(Arc::new).map_err(TextFailure::Errors)
    }

    fn enter(&mut self, _: &Arc<Program>, kind: FrameKind) -> Result<(), Failure> {
        Ok(self.push(HostCall::Enter(kind))?)
    }

    fn leave(&mut self) {
        self.calls.push(HostCall::Leave);
    }

    fn transaction(&mut self, step: TransactionStep<'_>) -> Result<(), Failure> {
        self.push(HostCall::Transaction(format!("{step:?}")))?;
        if self.commit_fails && matches!(step, TransactionStep::Commit { .. }) {
            return Err(SqlError::new(9002, Ends::Statement, "The log is full.").into());
        }
        Ok(())
    }

    fn transaction_is_lost(&self) -> bool {
        false
    }

    fn set_option(&mut self, option: &ast::SetOption, value: Option<&Value>) -> Result<(), Failure> {
        let name = match option {
            ast::SetOption::Switch { names, on } => format!("{} {on}", names[0].text),
            ast::SetOption::Value { name, .. } => name.text.clone(),
            ast::SetOption::Statistics { .. }
            | ast::SetOption::IdentityInsert { .. }
            | ast::SetOption::IsolationLevel(_) => "other".to_owned(),
        };
        Ok(self.push(HostCall::Option(name, value.cloned()))?)
    }

    fn use_database(&mut self, name: &ast::Name) -> Result<(), Failure> {
        Ok(self.push(HostCall::Use(name.text.clone()))?)
    }
}

/// A host that only counts DONEs.
pub(crate) struct Counter {
    pub(crate) inner: Mock,
    pub(crate) done_count: u64,
    pub(crate) polls: u64,
    pub(crate) last: Option<Done>,
}

impl Counter {
    pub(crate) fn new() -> Self {
        Self {
            inner: Mock::new(),
            done_count: 0,
            polls: 0,
            last: None,
        }
    }
}

impl Host for Counter {
    fn environment(&self) -> &dyn Environment {
        &self.inner
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.inner.session
    }

    fn set_caught(&mut self, caught: Option<Arc<CaughtError>>) {
        self.inner.set_caught(caught);
    }

    fn begin_statement(&mut self) {
        self.inner.begin_statement();
    }

    fn prepare_names(&mut self) -> Result<(), SqlError> {
        self.inner.prepare_names()
    }

    fn poll(&mut self) -> Result<(), Stop> {
        self.polls += 1;
        Ok(())
    }

    #[inline]
    fn done(&mut self, done: Done) -> Result<(), Stop> {
        self.done_count += 1;
        // A writer copies the fields into a packet: all of them are part of the measurement.
        self.last = Some(std::hint::black_box(done));
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> Result<(), Stop> {
        self.inner.message(message)
    }

    fn flush(&mut self) -> Result<(), Stop> {
        Ok(())
    }

    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), Failure> {
        self.inner.columns(columns)
    }

    fn begin_capture(&mut self, statement: &TableStatement<'_>, is_own: bool) -> Result<(), Failure> {
        self.inner.begin_capture(statement, is_own)
    }

    fn end_capture(&mut self) {
        self.inner.end_capture();
    }

    fn row(&mut self, values: &[Value]) -> Result<(), Stop> {
        self.inner.row(values)
    }

    fn return_status(&mut self, status: i32) -> Result<(), Stop> {
        self.inner.return_status(status)
    }

    fn return_value(&mut self, output: &Output<'_>) -> Result<(), Stop> {
        self.inner.return_value(output)
    }

    fn wait(&mut self, wait: Wait) -> Result<(), Stop> {
        self.inner.wait(wait)
    }

    fn describe(&mut self, statement: &TableStatement<'_>) -> Result<Affected, Failure> {
        self.inner.describe(statement)
    }

    fn statement(&mut self, statement: &TableStatement<'_>, slots: &mut [Value]) -> Result<Affected, Failure> {
        self.inner.statement(statement, slots)
    }

    fn call(&mut self, call: &Call<'_>) -> Result<Callee, Failure> {
        self.inner.call(call)
    }

    fn text(&mut self, text: &TextCall<'_>) -> Result<Arc<Program>, TextFailure> {
        self.inner.text(text)
    }

    fn enter(&mut self, program: &Arc<Program>, kind: FrameKind) -> Result<(), Failure> {
        self.inner.enter(program, kind)
    }

    fn leave(&mut self) {
        self.inner.leave();
    }

    fn transaction(&mut self, step: TransactionStep<'_>) -> Result<(), Failure> {
        self.inner.transaction(step)
    }

    fn transaction_is_lost(&self) -> bool {
        self.inner.transaction_is_lost()
    }

    fn set_option(&mut self, option: &ast::SetOption, value: Option<&Value>) -> Result<(), Failure> {
        self.inner.set_option(option, value)
    }

    fn use_database(&mut self, name: &ast::Name) -> Result<(), Failure> {
        self.inner.use_database(name)
    }
}

/// The short form of a DONE: `done c1 n=1 more`.
pub(crate) fn short(done: &Done) -> String {
    let kind = match done.kind {
        DoneKind::Statement => "done",
        DoneKind::Procedure => "doneproc",
        DoneKind::InProcedure => "doneinproc",
    };
    let mut text = format!("{kind} {:02x}", done.command);
    if let Some(count) = done.count() {
        text.push_str(&format!(" n={count}"));
    }
    if done.status & Done::ERROR != 0 {
        text.push_str(" error");
    }
    if done.status & Done::SERVER_ERROR != 0 {
        text.push_str(" server error");
    }
    if done.status & Done::MORE != 0 {
        text.push_str(" more");
    }
    text
}
