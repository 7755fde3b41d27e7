//! A statement on tables, and what surrounds it: its own transaction, a savepoint, its after-effects.
//!
//! - `bound-schema-is-read`: a statement reads the schema that its names were bound to: names are bound in the
//!   snapshot that the statement reads. A statement that writes leaves that snapshot while it waits for others; if
//!   definitions, permissions or logins have changed when its transaction begins, it is bound again. Otherwise values of
//!   one type would be read as another's, and a session that lets it wait would keep what was taken away meanwhile.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use selenite::thread_memory;
use selenite_compiler::SqlError;
use selenite_compiler::catalog::Table;
use selenite_compiler::program::Program;
use selenite_compiler::statement::{Binding, CursorForm, ResultColumn, Statement};
use selenite_runtime::change::GivenRow;
use selenite_runtime::machine::{Affected, Failure, Message, TableStatement};
use selenite_runtime::sqlite::{Executor, LateSnapshot, LockTimeout, TakenValues};
use selenite_runtime::statement::Run;
use selenite_tds::{Collation, Column};
use selenite_tsql::ast::{ObjectName, StatementKind};
use selenite_types::{Decimal, Value};

use crate::bulk_load::BulkFeed;
use crate::catalog::permission::{check, check_columns};
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::running_module::RunningModule;
use crate::catalog::schema::{is_global, is_temporary};
use crate::database::transaction::Writes;
use crate::database_error::damaged_page::log_damage;
use crate::execution::cursor_work::CursorReading;
use crate::execution::definition::DefinitionContext;
use crate::execution::firing::changed_rows;
use crate::execution::name_scope::PlanVersion;
use crate::execution::row_limit::limited;
use crate::execution::session_executor::SessionExecutor;
use crate::execution::snapshot::shared;
use crate::execution_context::ExecutionContext;
use crate::names::named_relation::{NamedUse, is_own};
use crate::names::row_permissions::{Asked, OwnershipChain, check_rows};
use crate::names::session_environment::{SequenceSource, SessionEnvironment};
use crate::names::session_objects::SessionObjects;
use crate::session_state::SessionState;

impl SessionExecutor<'_> {
    /// Runs a statement on tables.
    pub(crate) fn on_tables(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        match self.run_in_current(None, statement, slots, execution)? {
            StatementOutcome::Done(affected) => Ok(affected),
            _ if self.cursor_work.is_any() => {
                Err(SqlError::unsupported("A cursor's row in a statement on another database").into())
            }
            StatementOutcome::OtherDatabase(id) => self.on_tables_of(id, statement, slots, execution),
            StatementOutcome::SeveralDatabases => self.run_across_databases(statement, slots, execution),
        }
    }

    /// Binds the statement to the database in use and runs it there, if all of its names are there. `from` is the
    /// database that names without one are of, if that is another.
    fn run_in_current(
        &mut self,
        from: Option<&SessionObjects>,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<StatementOutcome, Failure> {
        let timeout = LockTimeout::of(execution.state.lock_timeout());
        for attempt in 0..ATTEMPTS_MAX {
            let of = self.refresh_in_snapshot(timeout, execution)?;
            if attempt > 0
                && let Err(error) = self.refresh_permissions()
            {
                self.transactions.end_snapshot()?;
                return Err(error.into());
            }
            let done = match self.bound(statement, of, execution.state.row_count_max) {
                Ok(bound) if self.creates_in_other_database(&bound) || from.is_some() && names_no_database(&bound) => {
                    Ok(Some(StatementOutcome::SeveralDatabases))
                }
                Ok(bound) => {
                    if let Some(from) = from {
                        let id = self.transactions.current;
                        let there = self.objects_from(id, from);
                        self.see(from.clone(), HashMap::from([(id, there)]));
                    }
                    let done = self.run_bound((&bound, of), statement, slots, execution);
                    done.map(|affected| affected.map(StatementOutcome::Done))
                }
                Err(error) => match self.scope.objects.catalog.take_other_database() {
                    Some(id) => Ok(Some(StatementOutcome::OtherDatabase(id))),
                    None => Err(error.into()),
                },
            };
            let ended = self.transactions.end_snapshot();
            if let Some(outcome) = done? {
                ended?;
                return Ok(outcome);
            }
            execution.reply.poll()?;
        }
        Err(definitions_change().into())
    }

    /// Runs the bound statement; `None` if definitions have changed since it was bound (`bound-schema-is-read`).
    fn run_bound(
        &mut self,
        (bound, of): (&Statement, PlanVersion),
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Option<Affected>, Failure> {
        if self.describes {
            return self.run(bound, slots, execution).map(Some);
        }
        let triggers = self.triggers_of(bound)?;
        let is_firing = std::mem::take(&mut self.is_firing);
        if !triggers.is_empty() {
            if self.scope.is_other_database || is_execute(bound) {
                return Err(SqlError::unsupported(
                    "A change of a table with triggers in another database, or by INSERT ... EXECUTE",
                )
                .into());
            }
            if !is_firing {
                return Ok(Some(Affected::NeedsFiring));
            }
            self.changed = Some(changed_rows(&triggers));
        }
        let reads = self.begin_reads(execution)?;
        let is_own = self.is_own(bound);
        let changes = bound.changes() && !is_own;
        let leaves_snapshot = self
            .transactions
            .will_write(changes, bound.holds(), execution.state.isolation);
        if leaves_snapshot {
            // While it waits to write, others do.
            self.transactions.end_snapshot()?;
        }
        if bound.holds() {
            self.transactions.hold(execution)?;
        }
        let scope = match is_own {
            true => self.transactions.begin_own(execution)?,
            false => self.transactions.begin_statement(
                writes_of(bound, changes),
                bound.is_single() && triggers.is_empty(),
                execution,
            )?,
        };
        if leaves_snapshot && !self.is_as_bound(of)? {
            self.transactions.end_statement(scope, Ok(()))?;
            self.is_firing = is_firing;
            return Ok(None);
        }
        let done = match self.check_current(bound) {
            Ok(()) => self.run(bound, slots, execution),
            Err(error) => Err(error.into()),
        };
        let done = self.note_versions(done, execution);
        let done = match done {
            Ok(Affected::Rows(count)) if !triggers.is_empty() => {
                self.keep_firing((bound, triggers), scope);
                Ok(Affected::Fires(count))
            }
            done => self.transactions.end_statement(scope, done),
        };
        self.send_reads(reads, statement, execution)?;
        self.note_into(bound, done.is_ok())?;
        done.map(Some)
    }

    /// Whether definitions and permissions in the database in use, and logins, are as they were when a statement was bound.
    fn is_as_bound(&self, of: PlanVersion) -> Result<bool, SqlError> {
        let directory = self.registry.directory(self.session.instance)?;
        let is_same = Arc::ptr_eq(&directory, &self.scope.objects.directory);
        Ok(is_same && self.transactions.connected()?.database.version()? == of.version)
    }

    /// Whether it is a SELECT INTO that creates a table in another database.
    fn creates_in_other_database(&self, bound: &Statement) -> bool {
        matches!(bound, Statement::Into(into) if self.scope.other_database(&into.name, self.transactions.current).is_some())
    }

    /// SELECT INTO may have created a table.
    pub(crate) fn note_into(&mut self, bound: &Statement, is_done: bool) -> Result<(), SqlError> {
        let Statement::Into(into) = bound else { return Ok(()) };
        let name = &into.name.name.text;
        if is_done && is_temporary(name) {
            self.frames.note_temporary(name);
        }
        self.note_definitions()?;
        if is_done && is_global(name) {
            self.note_global(name);
        }
        Ok(())
    }

    /// Refuses a statement that the session's login may not run.
    pub(crate) fn permit(&mut self, statement: &TableStatement<'_>) -> Result<(), SqlError> {
        self.refresh_permissions()?;
        let session = (
            self.contexts.current().login.as_ref(),
            self.scope.objects.catalog.database.as_ref(),
        );
        let catalog = &self.scope.objects.catalog;
        let schema_of = |name: &ObjectName| catalog.schema_of(name);
        check(&statement.statement.kind, (&self.permissions, &schema_of), session)
    }

    /// An INSERT whose rows are those of a call, before the call is made.
    pub(crate) fn bind_given(
        &mut self,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Arc<Statement>, Failure> {
        self.permit(statement)?;
        let timeout = LockTimeout::of(execution.state.lock_timeout());
        let of = self.refresh_within(timeout, execution)?;
        let bound = self.bound(statement, of, execution.state.row_count_max);
        if bound.is_err() && self.scope.objects.catalog.take_other_database().is_some() {
            return Err(SqlError::unsupported("INSERT ... EXECUTE into a table of another database").into());
        }
        Ok(bound?)
    }

    /// INSERT BULK, before its rows come.
    ///
    /// # Errors
    /// What is wrong with the statement. What is wrong in another database is told when the rows come.
    pub fn announce_bulk(
        &mut self,
        statement: &TableStatement<'_>,
        mut execution: ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        self.permit(statement)?;
        let timeout = LockTimeout::of(execution.state.lock_timeout());
        let of = self.refresh_within(timeout, &mut execution)?;
        match self.bound(statement, of, 0) {
            Ok(_) => Ok(()),
            Err(_) if self.scope.objects.catalog.take_other_database().is_some() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A statement with a name of another database: it is run there if all of its names are, with what was bound kept.
    fn on_tables_of(
        &mut self,
        id: i32,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        self.admitted(id)?;
        let (before, from) = (self.transactions.current, self.scope.objects.clone());
        self.transactions.current = id;
        self.scope.is_other_database = true;
        let done = self.run_in_other(statement, slots, execution, &from);
        self.scope.is_other_database = false;
        self.scope.substitute = None;
        self.return_to(before)?;
        self.transactions.close_if_idle(id);
        self.refresh_permissions()?;
        match done {
            Err(failure) => Err(failure),
            Ok(Some(affected)) => Ok(affected),
            Ok(None) => self.run_across_databases(statement, slots, execution),
        }
    }

    /// Runs it in the other database, which is the current one meanwhile; `None` if not all of its names are there.
    fn run_in_other(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
        from: &SessionObjects,
    ) -> Result<Option<Affected>, Failure> {
        self.refresh_permissions()?;
        match self.run_in_current(Some(from), statement, slots, execution)? {
            StatementOutcome::Done(affected) => Ok(Some(affected)),
            StatementOutcome::OtherDatabase(_) | StatementOutcome::SeveralDatabases => Ok(None),
        }
    }

    /// Binds a statement that is not to run yet.
    pub(crate) fn bind(&mut self, statement: &TableStatement<'_>, of: PlanVersion) -> Result<(), SqlError> {
        self.bound(statement, of, 0).map(drop)
    }

    fn bound(
        &mut self,
        statement: &TableStatement<'_>,
        of: PlanVersion,
        row_count_max: u64,
    ) -> Result<Arc<Statement>, SqlError> {
        let is_limited = row_count_max > 0;
        if !is_limited && let Some((bound, calls_functions)) = self.known_plan(statement, of) {
            self.calls_functions = calls_functions;
            return Ok(bound);
        }
        let limited = match is_limited {
            true => limited(statement.statement, row_count_max)?,
            false => None,
        };
        // An earlier refusal of another statement does not concern this one.
        self.scope.objects.catalog.take_other_database();
        let tree = limited.as_ref().unwrap_or(statement.statement);
        let before = thread_memory::used();
        let (bound, calls_functions, (uses, chain)) = self.with_binding(statement, |binding, reading| match reading {
            Some(reading) => reading.bind(binding, tree),
            None => binding.statement(tree),
        });
        self.calls_functions = calls_functions;
        let bound = Arc::new(bound?);
        let size = thread_memory::used().saturating_sub(before);
        let who = (&self.permissions, self.scope.objects.catalog.database.as_ref());
        let names = self.scope.objects.catalog.schema.names();
        let is_chained = |schema: &str| chain.has((who.1, schema), names);
        check_rows(&bound, &statement.statement.kind, (&uses, &is_chained), who)?;
        if !is_limited {
            self.keep_plan(statement, of, &bound, size);
        }
        Ok(bound)
    }

    fn known_plan(&mut self, statement: &TableStatement<'_>, of: PlanVersion) -> Option<(Arc<Statement>, bool)> {
        match self.cursor_work.reading {
            Some(_) => self.cursor_work.find(of),
            None => self.plans.statements.find(statement, of),
        }
    }

    fn keep_plan(&mut self, statement: &TableStatement<'_>, of: PlanVersion, bound: &Arc<Statement>, size: u64) {
        let plan = (Arc::clone(bound), self.calls_functions);
        match self.cursor_work.reading {
            Some(_) => self.cursor_work.keep(of, plan, size),
            None => self.plans.statements.keep(statement, of, plan, size),
        }
    }

    /// Finds out how the rows of a cursor's query can be read.
    pub(crate) fn cursor_form(&mut self, statement: &TableStatement<'_>) -> Result<CursorForm, SqlError> {
        let StatementKind::Select(select) = &statement.statement.kind else {
            return Err(SqlError::internal("a cursor without a query"));
        };
        self.with_binding(statement, |binding, _| binding.cursor_form(select)).0
    }

    /// Binds a statement, whose names are looked up as in its module. Returns what `bind` does, whether it calls a
    /// function of a user, and what it reads and changes.
    fn with_binding<R>(
        &mut self,
        statement: &TableStatement<'_>,
        bind: impl FnOnce(&Binding<'_>, Option<&CursorReading>) -> R,
    ) -> (R, bool, (Vec<NamedUse>, OwnershipChain)) {
        let module = self.module_of(statement.program);
        if let Some(schema) = module.schema {
            self.scope.objects.catalog.default_schema = schema;
        }
        let asked = Asked::of(&self.scope.objects.catalog, module.owner);
        let binding = Binding {
            catalog: &asked,
            variables: statement.program.variables(),
        };
        let bound = bind(&binding, self.cursor_work.reading.as_ref());
        let (calls_functions, seen) = (asked.calls_functions(), asked.uses());
        self.scope.objects.catalog.default_schema = Arc::clone(&self.scope.default_schema);
        (bound, calls_functions, seen)
    }

    /// The module of the program that a statement is of; none where that runs in another database.
    pub(crate) fn module_of(&self, program: &Arc<Program>) -> RunningModule {
        match &self.cursor_work.module {
            _ if self.scope.is_other_database => RunningModule::default(),
            Some(module) => module.clone(),
            None => self.frames.module_of(program),
        }
    }

    /// Whether a statement changes only what is private to the session and not undone by a transaction: table
    /// variables, and outside a transaction temporary tables.
    pub(crate) fn is_own(&self, bound: &Statement) -> bool {
        let written = bound.written();
        let is_own =
            |table: &&Arc<Table>| table.is_variable() || table.is_temporary() && !self.transactions.is_in_transaction();
        !bound.advances() && !written.is_empty() && written.iter().all(is_own)
    }

    pub(crate) fn run(
        &mut self,
        bound: &Statement,
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        if self.note_plan(bound)? {
            return Ok(Affected::Nothing);
        }
        let has_columns = send_columns(bound, execution)?;
        if self.describes {
            return Ok([Affected::Nothing, Affected::Rows(0)][usize::from(has_columns)]);
        }
        let used = self.transactions.connected()?;
        let last_identity = Cell::new(None);
        let objects = self.scope.seen_by_functions();
        let take = || shared(execution.state, objects);
        let executor = Executor {
            connection: &used.database.connection,
            functions: &used.database.functions,
            session: LateSnapshot::new(&take),
            identity_insert: bulk_identity(bound).unwrap_or_else(|| self.numbered_by_hand()),
            identities: &used.database.shared.identities,
            identity_journal: &used.database.identity_journal,
            timeout: LockTimeout::of(execution.state.lock_timeout()),
            cancellation: &used.database.cancellation,
            last_identity: &last_identity,
        };
        let taken = TakenValues::default();
        let environment = SessionEnvironment {
            state: execution.state,
            objects,
            sequences: Some(SequenceSource::of(&used.database, &taken)),
        };
        let (mut values, mut stop) = (slots.to_vec(), None);
        let (mut count, most) = (0_u64, execution.state.row_count_max);
        let (reply, feed) = (&mut *execution.reply, execution.bulk.as_mut());
        let given = match is_execute(bound) {
            true => reply.take_captured(),
            false => Vec::new(),
        };
        let mut sink = |row: &[Value]| match reply.row(row) {
            Ok(()) => {
                count += 1;
                Ok(if count == most {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            }
            Err(Failure::Error(error)) => Err(error),
            Err(Failure::Stop(why)) => {
                stop = Some(why);
                Ok(ControlFlow::Break(()))
            }
        };
        let mut changed = self.changed.take();
        let mut run = Run {
            executor: &executor,
            slots: &mut values,
            environment: &environment,
            rows: &mut sink,
            changed: changed.as_mut(),
        };
        let work = DefinitionContext::of_rows(&used.database, &self.scope.objects, execution.state);
        let done = self.with_functions(execution.state, || on_rows(bound, &work, (given, feed), &mut run));
        self.changed = changed.filter(|_| done.is_ok());
        if let Some(stop) = stop {
            return Err(stop.into());
        }
        // As SQL Server has it: after an INSERT into a table without an identity there is no identity value.
        if done.is_ok() && is_numberless(bound) && self.frames.trigger().is_none() {
            execution.state.session.identity = None;
        }
        let done = done.map_err(|error| self.without_key(bound, error));
        self.conclude(done, (slots, values), last_identity.get(), execution)
    }

    /// The error of a key that an UPDATE or MERGE would make a second time, without the key's values for a user who may
    /// not read all of them. In a procedure of the table's owner it tells them, as SQL Server does.
    fn without_key(&self, bound: &Statement, error: SqlError) -> SqlError {
        let changes = matches!(bound, Statement::Update(_) | Statement::Merge(_));
        let is_of_key = changes && [2601, 2627].contains(&error.number());
        let (catalog, owner) = (&self.scope.objects.catalog, self.frames.module().owner);
        let is_chained = |table: &Table| {
            let is_here = *table.database == *catalog.database && !self.scope.is_other_database;
            let schema = catalog.schema.names().named(&table.schema).filter(|_| is_here);
            schema.is_some_and(|schema| Some(schema.owner) == owner)
        };
        let may_read = |table: &Arc<Table>| {
            let object = [&*table.database, &table.schema, &table.name];
            is_own(table)
                || is_chained(table)
                || check_columns(PermissionKind::Select, object, None, &self.permissions).is_ok()
        };
        if !is_of_key || bound.written().into_iter().all(may_read) {
            return error;
        }
        let text = error
            .text()
            .split(" The duplicate key value is")
            .next()
            .unwrap_or_default();
        SqlError::new(error.number(), error.ends(), text)
            .with_severity(error.severity())
            .with_state(error.state())
            .on_line(error.line())
    }

    /// Runs a statement, with the functions that it calls.
    fn with_functions(
        &self,
        state: &SessionState,
        run: impl FnOnce() -> Result<u64, SqlError>,
    ) -> Result<u64, SqlError> {
        match self.calls_functions {
            true => self.with_runner(state, run)?,
            false => run(),
        }
    }

    /// The after-effects of a statement: variables, random numbers, identities, a warning.
    fn conclude(
        &self,
        done: Result<u64, SqlError>,
        (slots, values): (&mut [Value], Vec<Value>),
        identity: Option<i128>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        // An interrupted statement of SQLite's is no error of its own.
        execution.reply.poll()?;
        // A number counts as given last even if its statement fails.
        if let Some(number) = identity {
            let number = Decimal {
                unscaled: number,
                scale: 0,
            };
            execution.state.session.identity = Some(number);
            execution.state.session.scope_identity = Some(number);
        }
        let count = done.inspect_err(|error| log_damage(self.session.instance, error))?;
        slots.clone_from_slice(&values);
        let used = self.transactions.connected().ok();
        if used.is_some_and(|used| used.database.functions.take_left_out_null()) {
            execution.reply.message(&LEFT_OUT_NULL)?;
        }
        if used.is_some_and(|used| used.database.functions.take_duplicate()) {
            execution.reply.message(&LEFT_OUT_DUPLICATE)?;
        }
        Ok(Affected::Rows(count))
    }
}

/// Sends the columns of the rows of a statement. Returns whether it has any.
fn send_columns(bound: &Statement, execution: &mut ExecutionContext<'_>) -> Result<bool, Failure> {
    let columns: Vec<Column> = bound.columns().iter().map(reply_column).collect();
    if !columns.is_empty() {
        execution.reply.columns(&columns)?;
    }
    Ok(!columns.is_empty())
}

/// What became of a statement.
enum StatementOutcome {
    /// It was run.
    Done(Affected),
    /// It names another database than the one in use.
    OtherDatabase(i32),
    /// It creates a table in another database than those that it reads.
    SeveralDatabases,
}

/// What a statement writes to, if it `changes` anything.
pub(crate) fn writes_of(bound: &Statement, changes: bool) -> Writes {
    let is_temporary = match bound {
        _ if bound.advances() => false,
        Statement::Into(into) => is_temporary(&into.name.name.text),
        Statement::Rows(_)
        | Statement::Assign(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Merge(_)
        | Statement::Truncate(_) => bound.written().iter().all(|table| table.is_temporary()),
    };
    match (changes, is_temporary) {
        (false, _) => Writes::Nothing,
        (true, true) => Writes::Temporary,
        (true, false) => Writes::Shared,
    }
}

/// Whether it is a SELECT INTO whose table is created in the database in use.
fn names_no_database(bound: &Statement) -> bool {
    matches!(bound, Statement::Into(into) if into.name.database.is_none())
}

/// Whether it inserts the rows of a procedure.
fn is_execute(bound: &Statement) -> bool {
    matches!(bound, Statement::Insert(insert) if insert.is_execute())
}

/// Whether it inserts into a table without IDENTITY.
fn is_numberless(bound: &Statement) -> bool {
    match bound {
        Statement::Insert(insert) => insert.table().identity().is_none(),
        Statement::Merge(merge) => merge.insert.is_some() && merge.table.identity().is_none(),
        Statement::Rows(_)
        | Statement::Assign(_)
        | Statement::Into(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Truncate(_) => false,
    }
}

/// The table of a bulk load whose identity values are given, if it is one.
fn bulk_identity(bound: &Statement) -> Option<Option<i32>> {
    let Statement::Insert(insert) = bound else { return None };
    insert.bulk()?;
    Some(insert.gives_identity().then_some(insert.table().object_id))
}

/// Runs a statement that needs nothing but rows, and returns how many it read or changed.
fn on_rows(
    bound: &Statement,
    work: &DefinitionContext<'_>,
    (given, feed): (Vec<GivenRow>, Option<&mut BulkFeed>),
    run: &mut Run<'_>,
) -> Result<u64, SqlError> {
    match bound {
        Statement::Rows(rows) => run.rows(rows),
        Statement::Assign(assign) => run.assign(assign),
        Statement::Insert(insert) if insert.is_execute() => run.insert_given(insert, given),
        Statement::Insert(insert) if insert.bulk().is_some() => {
            let feed = feed.ok_or_else(|| SqlError::internal("a bulk load without rows"))?;
            let types = feed.begin(insert)?;
            run.insert_bulk(insert, &types, &mut |row| feed.next_row(row))
        }
        Statement::Insert(insert) => run.insert(insert),
        Statement::Update(update) => run.update(update),
        Statement::Delete(delete) => run.delete(delete),
        Statement::Merge(merge) => run.merge(merge),
        Statement::Truncate(truncate) => run.truncate(truncate),
        Statement::Into(into) => work.fill_into(into, run),
    }
}

/// 8624.
pub(crate) fn definitions_change() -> SqlError {
    SqlError::internal("definitions that change all the time")
}

/// More often than definitions change while one statement is bound.
pub(crate) const ATTEMPTS_MAX: u32 = 100;

pub(crate) fn reply_column(column: &ResultColumn) -> Column {
    Column {
        name: column.name.clone(),
        data_type: column.data_type,
        is_nullable: column.nullable,
        is_identity: column.identity.is_some(),
        collation: Collation::of(column.collation.named),
        is_computed: column.is_computed || (column.identity.is_none() && column.name.is_empty()),
    }
}

const LEFT_OUT_DUPLICATE: Message<'static> = Message {
    number: 3604,
    severity: 10,
    state: 1,
    line: 0,
    procedure: "",
    text: "Duplicate key was ignored.",
    to_log: false,
};

const LEFT_OUT_NULL: Message<'static> = Message {
    number: 8153,
    severity: 10,
    state: 1,
    line: 0,
    procedure: "",
    text: "Warning: Null value is eliminated by an aggregate or other SET operation.",
    to_log: false,
};
