//! The session around its machine.

mod environment;

use std::sync::Arc;
use std::time::Duration;

use selenite_compiler::program::{PlanForm, Program};
use selenite_compiler::statement::ResultColumn;
use selenite_compiler::{CaughtError, Ends, Environment, Session, SqlError};
use selenite_runtime::machine::{
    Affected, Call, Callee, Failure, FrameKind, Host, Message, Output, PassedCursor, PassedTable, Stop, TableStatement,
    TextCall, TextFailure, TransactionStep, Wait,
};
use selenite_tds::{Done, DoneKind, EnvChange, ProcedureId};
use selenite_tsql::ast::{self, Name};
use selenite_types::{DataType, Value};

use super::SharedState;
use super::arguments::not_national;
use super::command::{Command, frees_programs};
use super::cursor_outputs::CursorOutputs;
use super::procedure_name::{self, Target};
use super::set_option::{self, SetTarget};
use super::statistics::Stopwatch;
use crate::bulk_load::{BulkFeed, FileOptions, FileRows, open_allowed};
use crate::compile::ProgramKey;
use crate::compile::set_option_check::QUOTED_IDENTIFIER;
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;
use crate::names::session_environment::SessionEnvironment;
use crate::plan::PlannedStatement;
use crate::registry::{SessionSight, WaitType, own};
use crate::reply::Reply;
use crate::reply::capture::Capture;
use crate::session_state::SessionState;
use crate::wire::LOOK_EVERY_NS;
use crate::{ServerLimits, memory};

/// What a machine calls in its session.
pub(crate) struct SessionHost<'a> {
    pub shared: &'a SharedState,
    pub state: SessionState,
    pub reply: Reply,
    pub executor: SessionExecutor<'a>,
    /// How much a request may use.
    pub limits: ServerLimits,
    /// SET STATISTICS TIME; none while it is off.
    pub stopwatch: Option<Stopwatch>,
    /// The number by which the client knows the transaction; 0 without one.
    pub transaction: u64,
    /// Whether the next DONE is left out, unless it reports an error: something else is to be done within the same
    /// request.
    pub swallows_done: bool,
    /// Whether the transaction is not reported to the client: it is one statement's.
    pub suppresses_env_change: bool,
    /// The handle that sp_prepexec returns after the status.
    pub handle: Option<Handle>,
    /// What sp_cursoropen returns after the status.
    pub cursor_outputs: Option<CursorOutputs>,
    /// The text of the batch that is about to run, if its program has another one.
    pub batch_text: Option<Arc<str>>,
    /// INSERT BULK, whose rows are in the client's next message.
    pub announced: Option<String>,
    /// The rows of the bulk load that runs.
    pub bulk: Option<BulkFeed>,
    /// Of statements that were run and whose DONE is to come: SET STATISTICS PROFILE and XML.
    pub plans: Vec<PlannedStatement>,
}

/// A prepared statement's handle on its way to the client.
pub(crate) struct Handle {
    /// The parameter's name, as the client wrote it.
    pub name: String,
    pub number: i32,
}

impl<'a> SessionHost<'a> {
    pub fn environment(&self) -> SessionEnvironment<'_> {
        SessionEnvironment {
            state: &self.state,
            objects: self.executor.objects(),
            sequences: None,
        }
    }

    /// Parts that are borrowed at the same time.
    pub fn execution(&mut self) -> (&mut SessionExecutor<'a>, ExecutionContext<'_>) {
        let execution = ExecutionContext {
            state: &mut self.state,
            reply: &mut self.reply,
            bulk: &mut self.bulk,
        };
        (&mut self.executor, execution)
    }

    /// The session as others see it.
    pub fn context(&self) -> SessionSight {
        let identity = self.executor.contexts.current();
        SessionSight {
            session: self.state.session.clone(),
            database_id: self.state.database.id,
            login: (identity.sid.clone(), Arc::clone(&identity.login)),
            isolation: self.state.isolation,
        }
    }

    /// The program of a text, compiled or kept.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn program(&mut self, text: &str, parameters: &str) -> Result<Arc<Program>, Vec<SqlError>> {
        let key = self.program_key(text, parameters);
        self.program_of(key).map(|(program, _)| program)
    }

    /// What distinguishes the program of a text.
    pub fn program_key(&self, text: &str, parameters: &str) -> ProgramKey {
        ProgramKey {
            text: Arc::from(text),
            parameters: Arc::from(parameters),
            quoted_identifier: self.state.session.options & QUOTED_IDENTIFIER != 0,
            is_cursor: false,
        }
    }

    /// As [`SessionHost::program`], with whether it holds as long as the definitions of the database do.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn program_of(&mut self, key: ProgramKey) -> Result<(Arc<Program>, bool), Vec<SqlError>> {
        memory::reserve(key.text.len()).map_err(|error| vec![error])?;
        let executor = &mut self.executor;
        let of_database = || {
            executor.refresh().ok()?;
            let catalog = &executor.objects().catalog;
            Some((Arc::clone(&catalog.schema), Arc::clone(&catalog.default_schema)))
        };
        let program = self.shared.program(key, &|| self.reply.goes_on(), of_database);
        // What it has become of the text, which the parser did not see.
        memory::reserve(0).map_err(|error| vec![error])?;
        program
    }

    /// Sends the handle that is still to be sent.
    pub fn send_handle(&mut self) -> Result<(), Stop> {
        if let Some(handle) = self.handle.take() {
            self.reply.return_value(&Output {
                ordinal: 0,
                name: &handle.name,
                data_type: DataType::Int,
                value: &Value::Int(handle.number),
            })?;
        }
        match self.cursor_outputs.take() {
            Some(outputs) => {
                let opened = self.executor.cursor_work.opened.take();
                outputs.send(opened.unwrap_or_default(), &mut self.reply)
            }
            None => Ok(()),
        }
    }

    fn send_transaction(&mut self, step: TransactionStep<'_>) -> Result<(), Stop> {
        let change = match step {
            TransactionStep::Begin { .. } => {
                self.transaction = self.shared.next_transaction();
                EnvChange::BeginTransaction(self.transaction)
            }
            TransactionStep::Commit { .. } => EnvChange::CommitTransaction(std::mem::take(&mut self.transaction)),
            TransactionStep::Rollback => EnvChange::RollbackTransaction(std::mem::take(&mut self.transaction)),
            TransactionStep::Save { .. } | TransactionStep::RollbackTo { .. } => return Ok(()),
        };
        own::note_transaction(match step {
            TransactionStep::Begin { name } => Some((self.transaction, name)),
            TransactionStep::Commit { .. }
            | TransactionStep::Rollback
            | TransactionStep::Save { .. }
            | TransactionStep::RollbackTo { .. } => None,
        });
        self.state.session.transaction_id = i64::try_from(self.transaction).unwrap_or(0);
        if self.suppresses_env_change {
            return Ok(());
        }
        self.reply.env_change(&change)
    }

    /// CURSOR_STATUS sees the cursors of the running frame.
    fn show_cursors(&mut self) {
        let is_shown = !self.state.session.cursors.is_empty();
        if is_shown || !self.executor.cursors.is_empty() {
            self.state.session.cursors = self.executor.cursors.facts();
        }
    }

    /// The end of the client's transaction closes cursors: all with CURSOR_CLOSE_ON_COMMIT, otherwise ROLLBACK those
    /// that are not static.
    fn close_cursors(&mut self, step: TransactionStep<'_>) {
        let is_rollback = matches!(step, TransactionStep::Rollback);
        let ends = is_rollback || matches!(step, TransactionStep::Commit { .. });
        if !ends || self.suppresses_env_change || self.executor.cursors.is_empty() {
            return;
        }
        if self.state.session.options & CURSOR_CLOSE_ON_COMMIT != 0 {
            self.executor.cursors.close_all();
        } else if is_rollback {
            self.executor.cursors.close_sensitive();
        }
        self.show_cursors();
    }

    /// How long until so many milliseconds after midnight.
    fn until(&self, milliseconds: u64) -> Duration {
        let now = self.shared.clock.now().local().time.0 / TICKS_OF_MILLISECOND;
        let day = 24 * 60 * 60 * 1000;
        Duration::from_millis((milliseconds + day - now.min(day)) % day)
    }
}

impl Host for SessionHost<'_> {
    fn environment(&self) -> &dyn Environment {
        self
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.state.session
    }

    fn set_caught(&mut self, caught: Option<Arc<CaughtError>>) {
        self.state.caught = caught;
    }

    fn begin_statement(&mut self) {
        self.state.now = self.shared.clock.now();
    }

    fn prepare_names(&mut self) -> Result<(), SqlError> {
        self.executor.refresh().map(drop)
    }

    fn poll(&mut self) -> Result<(), Stop> {
        self.reply.poll()
    }

    #[inline]
    fn done(&mut self, done: Done) -> Result<(), Stop> {
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.send(&done, &mut self.reply)?;
        }
        if self.swallows_done && done.status & Done::ERROR == 0 {
            return Ok(());
        }
        if self.handle.is_some() && done.kind == DoneKind::Procedure {
            self.send_handle()?;
        }
        match self.plans.is_empty() {
            true => self.reply.done(done),
            false => self.done_with_plan(done),
        }
    }

    fn message(&mut self, message: &Message<'_>) -> Result<(), Stop> {
        self.reply.message(message)
    }

    fn flush(&mut self) -> Result<(), Stop> {
        self.reply.flush()
    }

    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), Failure> {
        self.reply.result_columns(columns)
    }

    fn begin_capture(&mut self, statement: &TableStatement<'_>, is_own: bool) -> Result<(), Failure> {
        let (executor, execution) = self.execution();
        let insert = executor.bind_insert(statement, execution)?;
        self.reply.set_capture(Some(Capture::new(insert)));
        self.suppresses_env_change = is_own;
        Ok(())
    }

    fn end_capture(&mut self) {
        self.reply.set_capture(None);
        self.suppresses_env_change = false;
    }

    fn row(&mut self, values: &[Value]) -> Result<(), Stop> {
        self.reply.result_row(values)
    }

    fn return_status(&mut self, status: i32) -> Result<(), Stop> {
        self.reply.return_status(status)?;
        self.send_handle()
    }

    fn return_value(&mut self, output: &Output<'_>) -> Result<(), Stop> {
        self.reply.return_value(output)
    }

    fn wait(&mut self, wait: Wait) -> Result<(), Stop> {
        let length = match wait {
            Wait::Delay { milliseconds } => Duration::from_millis(milliseconds),
            Wait::Time { milliseconds } => self.until(milliseconds),
        };
        let end = std::time::Instant::now() + length;
        let _command = Command::begin("WAITFOR");
        let _wait = own::begin_wait(WaitType::WaitFor);
        loop {
            let left = end.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.reply.poll()?;
            std::thread::park_timeout(left.min(WAIT_STEP));
        }
    }

    fn statement(&mut self, statement: &TableStatement<'_>, slots: &mut [Value]) -> Result<Affected, Failure> {
        if let Some(bulk) = bulk_load(statement.statement) {
            match &bulk.file {
                Some(file) => return self.load_file(statement, slots, (bulk, file)),
                None if self.bulk.is_none() => return self.announce_bulk(statement),
                None => {}
            }
        }
        let _command = Command::of(statement.statement);
        let wants_plan = self.state.statistics_profile || self.state.statistics_xml;
        let (executor, execution) = self.execution();
        executor.explained.is_wanted = wants_plan;
        let done = executor.statement(statement, slots, execution);
        self.reply.forget_rows();
        if wants_plan {
            self.keep_plan(statement, &done);
        }
        if done.is_ok() && frees_programs(statement.statement) {
            self.shared.forget_programs();
        }
        done
    }

    fn describe(&mut self, statement: &TableStatement<'_>) -> Result<Affected, Failure> {
        let (executor, execution) = self.execution();
        let done = executor.describe(statement, execution);
        self.reply.forget_rows();
        done
    }

    fn call(&mut self, call: &Call<'_>) -> Result<Callee, Failure> {
        if let Some(callee) = in_batch(self, call) {
            return callee;
        }
        self.called(call)
    }

    fn text(&mut self, text: &TextCall<'_>) -> Result<Arc<Program>, TextFailure> {
        self.executor.text_principal = text.principal.cloned();
        self.program(text.text, "").map_err(TextFailure::Errors)
    }

    fn enter(&mut self, program: &Arc<Program>, kind: FrameKind) -> Result<(), Failure> {
        let is_call = kind == FrameKind::Procedure;
        let text = self.batch_text.take();
        own::note_program(program, text, is_call, || self.context());
        if kind != FrameKind::Trigger {
            self.enter_with_tables(program, kind)?;
            self.show_cursors();
            return Ok(());
        }
        let facts = self.executor.trigger_facts();
        self.executor.enter(program, kind)?;
        self.show_cursors();
        self.state.session.triggers.extend(facts.map(Arc::new));
        Ok(())
    }

    fn pass_tables(&mut self, tables: Vec<PassedTable>) {
        self.executor.passed_tables = tables;
    }

    fn pass_cursors(&mut self, cursors: Vec<PassedCursor>) {
        self.executor.cursors.pass(cursors);
    }

    fn leave(&mut self) {
        if self.executor.frames.is_trigger() {
            self.state.session.triggers.pop();
        }
        if let Some(again) = self.executor.leave() {
            let left = std::mem::replace(&mut self.state.database, again.clone());
            // A client that is gone is noticed by what is sent next.
            let _ = self.reply.env_change(&EnvChange::Database {
                new: &again.name,
                old: &left.name,
            });
        }
        self.show_cursors();
    }

    fn begin_firing(&mut self, is_own: bool) {
        self.suppresses_env_change |= is_own;
        self.executor.begin_firing();
    }

    fn next_trigger(&mut self) -> Result<Option<Arc<Program>>, Failure> {
        self.executor.next_trigger()
    }

    fn end_firing(&mut self, is_done: bool) {
        self.executor.end_firing(is_done);
    }

    fn end_own_transaction(&mut self) {
        self.suppresses_env_change = false;
    }

    fn transaction(&mut self, step: TransactionStep<'_>) -> Result<(), Failure> {
        match self.executor.transaction(step) {
            Ok(()) => {
                self.close_cursors(step);
                Ok(self.send_transaction(step)?)
            }
            Err(failure) => {
                if matches!(step, TransactionStep::Commit { .. }) {
                    self.send_transaction(TransactionStep::Rollback)?;
                }
                Err(failure)
            }
        }
    }

    fn transaction_is_lost(&self) -> bool {
        self.executor.transaction_is_lost()
    }

    fn set_option(&mut self, option: &ast::SetOption, value: Option<&Value>) -> Result<(), Failure> {
        if let ast::SetOption::IdentityInsert { table, on } = option {
            return self.executor.set_identity_insert(table, *on);
        }
        if PlanForm::is_in(option) && !self.executor.frames.is_batch() {
            return Err(SqlError::plans_not_alone().into());
        }
        let mut target = SetTarget {
            state: &mut self.state,
            reply: &mut self.reply,
            stopwatch: &mut self.stopwatch,
        };
        set_option::set(&mut target, option, value)
    }

    fn use_database(&mut self, name: &ast::Name) -> Result<(), Failure> {
        let now = self.executor.use_database(&name.text)?;
        let old = std::mem::replace(&mut self.state.database, now.clone());
        self.reply.env_change(&EnvChange::Database {
            new: &now.name,
            old: &old.name,
        })?;
        let text = format!("Changed database context to '{}'.", now.name);
        Ok(self.reply.info(5701, &text, name.position.line)?)
    }
}

impl SessionHost<'_> {
    /// INSERT BULK: its rows are in the next message.
    fn announce_bulk(&mut self, statement: &TableStatement<'_>) -> Result<Affected, Failure> {
        let (executor, execution) = self.execution();
        executor.announce_bulk(statement, execution)?;
        self.announced = Some(statement.statement.to_string());
        Ok(Affected::Nothing)
    }

    /// BULK INSERT.
    fn load_file(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        (bulk, file): (&ast::BulkLoad, &str),
    ) -> Result<Affected, Failure> {
        let _command = Command::begin("BULK INSERT");
        let done = match self.open_file(bulk, file) {
            Ok(rows) => {
                self.bulk = Some(BulkFeed::File(rows));
                self.load_batches(statement, slots)
            }
            Err(error) => Err(error.into()),
        };
        self.executor.note_bulk_insert(file, &done);
        if let Some(BulkFeed::File(mut rows)) = self.bulk.take() {
            for error in rows.take_errors() {
                self.reply.message(&Message {
                    number: error.number(),
                    severity: error.severity(),
                    state: error.state(),
                    line: statement.line(),
                    procedure: "",
                    text: error.text(),
                    to_log: false,
                })?;
            }
        }
        done
    }

    fn open_file(&mut self, bulk: &ast::BulkLoad, file: &str) -> Result<FileRows, SqlError> {
        self.executor.permit_bulk()?;
        let options = FileOptions::of(bulk)?;
        let file = open_allowed(self.executor.bulk_folders(), file)?;
        let field_size_max = usize::try_from(self.limits.message_size_max).unwrap_or(usize::MAX);
        let date_format = self.state.session.date_format;
        Ok(FileRows::new(file, options, date_format, field_size_max))
    }

    /// Each batch is a statement: BATCHSIZE.
    fn load_batches(&mut self, statement: &TableStatement<'_>, slots: &mut [Value]) -> Result<Affected, Failure> {
        let mut total = 0;
        loop {
            let (executor, execution) = self.execution();
            if let Affected::Rows(count) = executor.statement(statement, slots, execution)? {
                total += count;
            }
            if !matches!(&self.bulk, Some(BulkFeed::File(rows)) if !rows.is_ended()) {
                return Ok(Affected::Rows(total));
            }
            self.reply.poll()?;
        }
    }

    /// A text is about to run as sp_executesql of a database.
    pub fn run_in(&mut self, database: Option<&ast::Name>, text: (&Arc<Program>, bool)) -> Result<(), Failure> {
        self.executor.run_in(database, text)
    }

    /// A procedure of the executor's.
    pub fn called(&mut self, call: &Call<'_>) -> Result<Callee, Failure> {
        let (executor, execution) = self.execution();
        let callee = executor.call(call, execution);
        self.reply.end_rows()?;
        let is_function = self.executor.sees_function(call.procedure);
        callee?.ok_or_else(|| match is_function {
            true => SqlError::unsupported("EXECUTE of a function").into(),
            false => SqlError::unknown_procedure(&selenite_compiler::written_object(call.procedure)).into(),
        })
    }
}

/// What a bulk load says of its rows.
fn bulk_load(statement: &ast::Statement) -> Option<&ast::BulkLoad> {
    let ast::StatementKind::Insert(insert) = &statement.kind else {
        return None;
    };
    match &insert.source {
        ast::InsertSource::Bulk(bulk) => Some(bulk),
        ast::InsertSource::Values(_)
        | ast::InsertSource::Query(_)
        | ast::InsertSource::Execute(_)
        | ast::InsertSource::DefaultValues => None,
    }
}

/// The session's own procedures that a batch may call with EXEC; `None` if it is another.
fn in_batch(host: &mut SessionHost<'_>, call: &Call<'_>) -> Option<Result<Callee, Failure>> {
    match procedure_name::own(call.procedure)? {
        Target::Own(ProcedureId::ExecuteSql, database) => Some(execute_sql(host, call, database.as_ref())),
        Target::Own(id, _) => {
            let error = SqlError::unsupported(&format!("EXECUTE {}", id.name()));
            Some(Err(error.with_ends(Ends::Statement).into()))
        }
        Target::Other(_) => None,
    }
}

/// EXEC sp_executesql.
fn execute_sql(host: &mut SessionHost<'_>, call: &Call<'_>, database: Option<&Name>) -> Result<Callee, Failure> {
    let text_at = |index: usize| match call.arguments.get(index).map(|argument| &argument.value) {
        Some(Some((Value::Text(text), _))) => Ok(Some(text.clone())),
        Some(Some((Value::Null, _)) | None) | None => Ok(None),
        Some(Some(_)) => Err(not_national(index)),
    };
    let text = text_at(0)?.unwrap_or_default();
    let parameters = text_at(1)?.unwrap_or_default();
    // One of the errors is reported: a call has but one.
    let key = host.program_key(&text, &parameters);
    let (program, is_of_database) = host.program_of(key).map_err(|mut errors| match errors.is_empty() {
        true => SqlError::internal("a text without program or error"),
        false => errors.swap_remove(0),
    })?;
    host.run_in(database, (&program, is_of_database))?;
    let first = call.arguments.len().min(2);
    Ok(Callee::ProgramWith { program, first })
}

/// The bit of `@@OPTIONS`.
const CURSOR_CLOSE_ON_COMMIT: i32 = 4;
/// Times count 100 ns.
const TICKS_OF_MILLISECOND: u64 = 10_000;
/// 10 ms: an ATTENTION ends a WAITFOR within 50.
const WAIT_STEP: Duration = Duration::from_millis(10);
/// Of the coarse clock, by which it is decided when to look: a kernel of 100 Hz has the longest.
const TICK_MAX_NS: u64 = 10_000_000;
// A poll may come a tick late, and a wait begin just before an ATTENTION: half of the 50 ms is left for the rest.
const _: () = assert!(WAIT_STEP.as_millis() + Duration::from_nanos(LOOK_EVERY_NS + TICK_MAX_NS).as_millis() <= 25);
