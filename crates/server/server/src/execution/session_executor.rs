//! A session's executor: databases, transactions, statements.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use selenite::thread_memory;
use selenite_compiler::program::Program;
use selenite_compiler::statement::Statement;
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::change::ChangedRows;
use selenite_runtime::machine::{
    Affected, Call, Callee, Failure, FrameKind, PassedTable, TableStatement, TransactionStep,
};
use selenite_runtime::sqlite::LockTimeout;
use selenite_tsql::ast::{self, StatementKind, TextPrincipal};
use selenite_types::Value;

use crate::administration::Administration;
use crate::audit::{self, Audited, RefusedCalls};
use crate::catalog::effective_permissions::Permissions;
use crate::catalog::permission::{check_bulk, no_access};
use crate::catalog::schema::is_temporary;
use crate::cursor::{CursorNames, current_of};
use crate::database::database_registry::DatabaseRegistry;
use crate::database::frames::{Frames, IdentityInsert};
use crate::database::transaction::Writes;
use crate::database::transactions::Transactions;
use crate::database_error::{unknown_database, unsupported_statement};
use crate::execution::cursor_work::CursorWork;
use crate::execution::definition::{DefinitionContext, is_of_temporary};
use crate::execution::fired_change::Firing;
use crate::execution::name_scope::{NameScope, PlanVersion};
use crate::execution::plan_cache::{FunctionPlans, PlanCache};
use crate::execution::security_context::{SecurityContexts, reset_of_another};
use crate::execution_context::{ExecutionContext, SessionInfo};
use crate::memory;
use crate::names::session_objects::SessionObjects;
use crate::plan::Explained;
use crate::session_state::CurrentDatabase;

/// Runs a session's statements on its databases. When it is dropped, open transactions are rolled back and
/// connections closed.
pub(crate) struct SessionExecutor<'a> {
    pub(crate) registry: &'a DatabaseRegistry,
    pub(crate) session: SessionInfo<'a>,
    pub(crate) transactions: Transactions<'a>,
    pub(crate) scope: NameScope,
    pub(crate) plans: PlanCache,
    pub(crate) frames: Frames,
    pub(crate) cursors: CursorNames,
    pub(crate) cursor_work: CursorWork,
    /// What the session's login may do in the database in use; statements were bound for it.
    pub(crate) permissions: Permissions,
    /// Whom the session executes as.
    pub(crate) contexts: SecurityContexts,
    /// As whom the text is executed whose frame begins next.
    pub(crate) text_principal: Option<TextPrincipal>,
    pub(crate) identity_insert: Option<IdentityInsert>,
    /// Whether statements are described, and not run.
    pub(crate) describes: bool,
    /// Plans of statements on tables.
    pub(crate) explained: Explained,
    /// The procedure of another database that is about to begin.
    pub(crate) pending_call: Option<CrossDatabaseCall>,
    /// The table-valued parameters of the frame that is about to begin.
    pub(crate) passed_tables: Vec<PassedTable>,
    /// Of the calls that are in the audit log.
    pub(crate) refused: RefusedCalls,
    /// The changes whose triggers run, outermost first.
    pub(crate) firings: Vec<Firing>,
    /// Whether the change that runs next is one whose triggers fire.
    pub(crate) is_firing: bool,
    /// The rows that it has changed.
    pub(crate) changed: Option<ChangedRows>,
    /// The numbers of the global temporary objects that the session has made.
    pub(crate) globals: Vec<i32>,
    /// Whether the statement that was bound last calls functions of users.
    pub(crate) calls_functions: bool,
    /// The bound statements of functions.
    pub(crate) function_plans: Rc<RefCell<FunctionPlans>>,
}

/// Whether a statement reads or changes rows of tables.
pub(crate) fn is_on_rows(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Select(_)
            | StatementKind::Insert(_)
            | StatementKind::Update(_)
            | StatementKind::Delete(_)
            | StatementKind::Merge(_)
    )
}

/// A procedure that was found in another database, and is about to begin.
pub struct CrossDatabaseCall {
    /// Its text.
    pub program: Arc<Program>,
    /// The database.
    pub database_id: i32,
}

impl<'a> SessionExecutor<'a> {
    /// An executor with the login's database in use.
    ///
    /// # Errors
    /// What keeps the database from being opened.
    pub fn open(registry: &'a DatabaseRegistry, session: SessionInfo<'a>) -> Result<Self, SqlError> {
        let contexts = SecurityContexts::of(&session);
        Ok(Self {
            scope: NameScope::new(registry, (&session, contexts.current().clone()))?,
            plans: PlanCache::new(memory::kept_max(&session.instance.config().limits)),
            transactions: Transactions::new(registry, session.clone()),
            registry,
            session,
            frames: Frames::default(),
            cursors: CursorNames::default(),
            cursor_work: CursorWork::default(),
            permissions: Permissions::administrator(),
            contexts,
            text_principal: None,
            identity_insert: None,
            describes: false,
            explained: Explained::default(),
            pending_call: None,
            passed_tables: Vec::new(),
            refused: RefusedCalls::default(),
            firings: Vec::new(),
            is_firing: false,
            changed: None,
            globals: Vec::new(),
            calls_functions: false,
            function_plans: Rc::default(),
        })
    }

    /// Connects to the database in use, and looks at its objects as they are now: other sessions may have defined
    /// something.
    ///
    /// # Errors
    /// What keeps it from being opened or read.
    pub(crate) fn refresh(&mut self) -> Result<PlanVersion, SqlError> {
        if self.plans.drop_if_asked(self.registry.cleanups.plans()) {
            self.function_plans.borrow_mut().of = None;
        }
        self.scope
            .refresh(self.registry, &self.session, &mut self.transactions, &self.frames)
    }

    /// The same, waiting for another process that holds it.
    ///
    /// # Errors
    /// 1222; what keeps it from being opened or read.
    pub(crate) fn refresh_within(
        &mut self,
        timeout: LockTimeout,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<PlanVersion, Failure> {
        loop {
            match self.refresh() {
                Ok(version) => return Ok(version),
                Err(error) if error.number() == 1222 && !timeout.is_over() => execution.reply.poll()?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The same in a snapshot, which [`Transactions::end_snapshot`] ends.
    ///
    /// # Errors
    /// As [`SessionExecutor::refresh_within`]; then there is no snapshot.
    pub(crate) fn refresh_in_snapshot(
        &mut self,
        timeout: LockTimeout,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<PlanVersion, Failure> {
        self.transactions.connect()?.database.begin_snapshot()?;
        let found = self.refresh_within(timeout, execution);
        if found.is_err() {
            self.transactions.end_snapshot()?;
        }
        found
    }

    /// Statements about the server and whole databases.
    pub(crate) fn administration(&mut self) -> Administration<'_, 'a> {
        Administration {
            registry: self.registry,
            session: &self.session,
            transactions: &mut self.transactions,
            identity: self.contexts.current(),
            permissions: &self.permissions,
            catalog: &self.scope.objects.catalog,
            open_keys: &self.scope.objects.open_keys,
        }
    }

    /// CREATE, ALTER and DROP of objects of the database in use.
    pub(crate) fn define_in_use(
        &mut self,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        self.refresh()?;
        let is_own = is_of_temporary(statement.statement);
        let writes = if is_own { Writes::Temporary } else { Writes::Shared };
        let scope = match is_own && !self.transactions.is_in_transaction() {
            true => self.transactions.begin_own(execution)?,
            false => self.transactions.begin_statement(writes, false, execution)?,
        };
        // Another session may have defined something, or taken a permission away, while this one waited to write.
        let done = match self.permit(statement).and_then(|()| self.refresh()) {
            Ok(_) => self.carry_out(statement, execution),
            Err(error) => Err(error.into()),
        };
        let done = self.transactions.end_statement(scope, done);
        if let StatementKind::CreateTable(create) = &statement.statement.kind
            && done.is_ok()
            && is_temporary(&create.name.name.text)
        {
            self.frames.note_temporary(&create.name.name.text);
        }
        self.note_definitions()?;
        self.note_dropped();
        done
    }

    /// Changes definitions of the database in use as one statement of who may define objects in all schemas.
    ///
    /// # Errors
    /// 15247; those of `change`.
    pub(crate) fn change_definitions(
        &mut self,
        execution: &mut ExecutionContext<'_>,
        change: impl FnOnce(&DefinitionContext<'_>) -> Result<(), SqlError>,
    ) -> Result<(), Failure> {
        self.refresh()?;
        let scope = self.transactions.begin_statement(Writes::Shared, false, execution)?;
        // As in `define_in_use`.
        let permitted = self.refresh_permissions().and_then(|()| self.check_defines());
        let done = permitted.and_then(|()| self.refresh()).and_then(|_| {
            let work = DefinitionContext {
                database: &self.transactions.connected()?.database,
                catalog: &self.scope.objects.catalog,
                source: "",
                state: execution.state,
                objects: &self.scope.objects,
            };
            work.carry_out_change(change)
        });
        let done = self.transactions.end_statement(scope, done.map_err(Failure::from));
        self.note_definitions()?;
        self.note_dropped();
        done
    }

    /// Temporary tables may have changed, whether or not the statement succeeded.
    pub(crate) fn note_definitions(&mut self) -> Result<(), SqlError> {
        self.transactions.reload_temporary()?;
        // Functions that read no table, such as OBJECT_ID, see them from now on.
        self.refresh().map(drop)
    }

    fn carry_out(
        &mut self,
        statement: &TableStatement<'_>,
        execution: &ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let used = self.transactions.connected()?;
        let work = DefinitionContext {
            database: &used.database,
            catalog: &self.scope.objects.catalog,
            source: statement.program.source(),
            state: execution.state,
            objects: &self.scope.objects,
        };
        // An index is sorted in memory.
        let done = self.with_runner(execution.state, || {
            thread_memory::enforced(|| work.carry_out(statement.statement))
        })?;
        if thread_memory::take_refused() && done.is_err() {
            return Err(SqlError::out_of_memory().into());
        }
        match done? {
            Some(()) => Ok(Affected::Nothing),
            None => Err(unsupported_statement(statement).into()),
        }
    }

    /// The id and name of a database.
    pub(crate) fn current_database(&self) -> CurrentDatabase {
        let record = self
            .scope
            .objects
            .directory
            .databases
            .iter()
            .find(|record| record.id == self.transactions.current);
        CurrentDatabase {
            id: self.transactions.current,
            name: Arc::from(record.map_or("", |record| record.name.as_str())),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is about no rows and no objects is administration"
    )]
    fn carry_out_permitted(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        self.permit(statement)?;
        match &statement.statement.kind {
            StatementKind::Select(_)
            | StatementKind::Insert(_)
            | StatementKind::Update(_)
            | StatementKind::Delete(_)
            | StatementKind::Merge(_)
            | StatementKind::Truncate(_) => {
                let done = match current_of(&statement.statement.kind) {
                    Some(cursor) => self.change_current(cursor, (statement, slots), execution),
                    None => self.on_tables(statement, slots, execution),
                };
                if let Err(Failure::Error(_)) = done {
                    // Binding that was stopped is no error of the statement's.
                    execution.reply.poll()?;
                }
                done
            }
            StatementKind::Declare(declared) => {
                self.declare_cursors(declared, execution);
                Ok(Affected::Nothing)
            }
            StatementKind::Cursor(cursor) => self.on_cursor(cursor, (statement, slots), execution),
            StatementKind::CreateTable(_)
            | StatementKind::AlterTable(_)
            | StatementKind::CreateIndex(_)
            | StatementKind::AlterIndex(_)
            | StatementKind::DropIndex { .. }
            | StatementKind::View(_)
            | StatementKind::Procedure(_)
            | StatementKind::Trigger(_)
            | StatementKind::TriggerSwitch(_)
            | StatementKind::Sequence(_)
            | StatementKind::Synonym(_)
            | StatementKind::Function(_)
            | StatementKind::CreateType(_)
            | StatementKind::Schema(_) => self.define(statement, execution),
            StatementKind::Drop(drop) => match is_in_schemas(drop.kind) {
                true => self.define(statement, execution),
                false => self.administration().administer(statement, slots, execution),
            },
            StatementKind::Dbcc(dbcc) => self.dbcc(dbcc, (statement, slots), execution),
            StatementKind::ExecuteAs(execute) => {
                // It takes much longer than a step of a loop, after many of which the loop is interrupted.
                execution.reply.poll()?;
                self.execute_as(execute, (statement, slots))
            }
            StatementKind::Revert(cookie) => self.revert(cookie.as_deref(), (statement, slots)),
            StatementKind::Kill(kill) => Ok(self.administration().kill(kill).map(|()| Affected::Nothing)?),
            StatementKind::Checkpoint(_) => {
                self.administration().checkpoint(execution)?;
                Ok(Affected::Nothing)
            }
            StatementKind::Shutdown { .. } => {
                let refused = SqlError::unsupported("SHUTDOWN").with_ends(Ends::Statement);
                Err(refused.into())
            }
            _ => self.administration().administer(statement, slots, execution),
        }
    }
}

impl SessionExecutor<'_> {
    /// Bytes of memory that are kept from one request to the next, besides SQLite's.
    pub fn kept_memory(&self) -> u64 {
        self.plans.size() + self.cursors.memory_size() + self.cursor_work.size()
    }

    /// What names meant when a statement on tables ran last, or [`SessionExecutor::refresh`].
    pub fn objects(&self) -> &SessionObjects {
        &self.scope.objects
    }

    /// USE: the database of that name is in use from now on.
    ///
    /// # Errors
    /// 911 if there is none, 916 if the login may not use it.
    pub fn use_database(&mut self, name: &str) -> Result<CurrentDatabase, Failure> {
        let directory = self.registry.directory(self.session.instance)?;
        let found = directory.databases.iter().find(|record| same_name(&record.name, name));
        let Some(record) = found else {
            return Err(unknown_database(name).into());
        };
        let identity = self.contexts.current();
        if !self.lets_in(identity, record)? {
            return Err(no_access(&identity.login, &record.name).into());
        }
        Ok(self.put_in_use(record.id)?)
    }

    /// Binds an INSERT .. EXECUTE before what it calls is run.
    ///
    /// # Errors
    /// What is wrong with the INSERT.
    pub fn bind_insert(
        &mut self,
        statement: &TableStatement<'_>,
        mut execution: ExecutionContext<'_>,
    ) -> Result<Arc<Statement>, Failure> {
        self.bind_given(statement, &mut execution)
    }

    /// The folders whose files BULK INSERT may read.
    pub fn bulk_folders(&self) -> &[PathBuf] {
        &self.session.instance.config().bulk_folders
    }

    /// Refuses to read files to a login that may not: ADMINISTER BULK OPERATIONS, which only `sysadmin` has.
    ///
    /// # Errors
    /// 4834.
    pub fn permit_bulk(&mut self) -> Result<(), SqlError> {
        self.refresh_permissions()?;
        check_bulk(&self.permissions)
    }

    /// Sends the columns of the rows that a statement on tables would return.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn describe(
        &mut self,
        statement: &TableStatement<'_>,
        mut execution: ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        if !is_on_rows(&statement.statement.kind) {
            return Ok(Affected::Nothing);
        }
        self.permit(statement)?;
        self.describes = true;
        let mut slots = vec![Value::Null; statement.program.variables().slot_count()];
        let done = self.on_tables(statement, &mut slots, &mut execution);
        self.describes = false;
        done
    }

    /// Runs a statement on tables, of definitions or of administration. `slots` are all variables of the program;
    /// those that the statement assigns are written.
    ///
    /// # Errors
    /// The statement's. It leaves no change in the data.
    pub fn statement(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        mut execution: ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let Some(audited) = audit::of_statement(&statement.statement.kind) else {
            self.note_left_out(Instant::now());
            let done = self.carry_out_permitted(statement, slots, &mut execution);
            self.note_bulk_files();
            return done;
        };
        let database = self.current_database().name;
        let done = self.carry_out_permitted(statement, slots, &mut execution);
        self.note_bulk_files();
        self.note_audited(&audited, &database, Audited::error(&done));
        done
    }

    /// A text is about to run as sp_executesql of a database: if that is not the one in use, its frame begins there. Its
    /// program comes with whether it holds for the database in use alone.
    ///
    /// # Errors
    /// 911 if there is none, 916 if the login may not use it.
    pub fn run_in(&mut self, database: Option<&ast::Name>, text: (&Arc<Program>, bool)) -> Result<(), Failure> {
        self.note_text_database(database, text)
    }

    /// Finds a procedure, or runs it if it is the server's own; `None` if there is none of that name. The session's own
    /// (sp_executesql and related ones) do not come here.
    ///
    /// # Errors
    /// The procedure's own, if it was run.
    pub fn call(&mut self, call: &Call<'_>, mut execution: ExecutionContext<'_>) -> Result<Option<Callee>, Failure> {
        self.refresh_permissions()?;
        let done = match self.check_called_here(call.procedure) {
            Ok(()) => self.administration().call_security(call, &mut execution),
            Err(error) => Err(error.into()),
        };
        let done = match done {
            Ok(None) => match self.administration().call_accept(call) {
                Ok(None) => match self.administration().call_rename(call, &mut execution) {
                    Ok(None) => self.call_definition(call, &mut execution),
                    done => done,
                },
                done => done,
            },
            done => done,
        };
        if let Some(audited) = audit::of_call(call)
            && !matches!(done, Ok(None))
        {
            let database = self.current_database().name;
            self.note_audited(&audited, &database, Audited::error(&done));
        }
        if let Some(callee) = done? {
            return Ok(Some(callee));
        }
        if let Some(callee) = self.call_sequence_range(call, &mut execution)? {
            return Ok(Some(callee));
        }
        if let Some(callee) = super::session_context::set_session_context(call, &mut execution)? {
            return Ok(Some(callee));
        }
        self.refresh()?;
        let schema = self.scope.objects.catalog.schema.clone();
        let locked = self
            .administration()
            .call_lock(call, schema.principals(), &mut execution)?;
        if let Some(callee) = locked {
            return Ok(Some(callee));
        }
        match self.scope.other_database(call.procedure, self.transactions.current) {
            Some(id) => self.find_cross_database_procedure(id, call),
            None => self.find_procedure(call),
        }
    }

    /// Begins a frame. Temporary tables of a procedure or a dynamic text, and table variables of any frame, belong
    /// to it.
    ///
    /// # Errors
    /// The error that prevents it from running.
    pub fn enter(&mut self, program: &Arc<Program>, kind: FrameKind) -> Result<(), Failure> {
        // An error is reported by the first statement that needs the permissions.
        let _ = self.refresh_permissions();
        let contexts = self.contexts.count();
        let before = self.enter_procedure_database(program, kind)?;
        let entered = self.enter_text_context(kind).and_then(|()| self.enter_context(program));
        let entered = entered.map_err(Failure::from);
        let started = entered.and_then(|()| self.begin_frame(program, (kind, contexts), before));
        if started.is_err() {
            self.contexts.end_since(contexts);
            self.leave_procedure_database(before);
            let _ = self.refresh_permissions();
        }
        started
    }

    /// The frame that began last ends. Returns the database that is in use again, if a text has used another one.
    pub fn leave(&mut self) -> Option<CurrentDatabase> {
        let begun = self.frames.begun_in();
        let before = self.end_frame();
        let has_returned = begun.is_some_and(|id| self.use_again(id));
        self.leave_procedure_database(before);
        has_returned.then(|| self.current_database())
    }

    /// A step of the transaction; the machine has checked counts and names. Its isolation is the state's, which may
    /// change between two statements.
    ///
    /// # Errors
    /// Of a commit that did not succeed, or a savepoint's. A rollback always succeeds.
    pub fn transaction(&mut self, step: TransactionStep<'_>) -> Result<(), Failure> {
        if let TransactionStep::Commit { .. } | TransactionStep::Rollback = step {
            self.note_transaction_end();
        }
        Ok(self.transactions.step(step, &self.frames)?)
    }

    /// Whether SQLite has rolled back the open transaction in one of its databases.
    pub fn transaction_is_lost(&self) -> bool {
        self.transactions.check_lost().is_err()
    }

    /// RESETCONNECTION: temporary tables go, and the login's database is in use again. No transaction is open.
    ///
    /// # Errors
    /// Whatever keeps the session from going on.
    pub fn reset(&mut self) -> Result<CurrentDatabase, Failure> {
        if self.contexts.count() > 0 {
            return Err(reset_of_another().into());
        }
        self.transactions.reset();
        self.scope.objects.open_keys.clear();
        self.cursors.clear();
        self.drop_globals();
        self.identity_insert = None;
        let home = self.transactions.home();
        let directory = self.registry.directory(self.session.instance)?;
        let name = directory
            .databases
            .iter()
            .find(|record| record.id == home)
            .map(|record| record.name.clone());
        self.use_database(&name.unwrap_or_default())
    }
}

impl Drop for SessionExecutor<'_> {
    fn drop(&mut self) {
        self.note_rest();
        self.transactions.end();
        self.drop_globals();
    }
}

/// Whether what DROP removes is in a schema, or is one.
fn is_in_schemas(kind: ast::DropKind) -> bool {
    match kind {
        ast::DropKind::Table
        | ast::DropKind::View
        | ast::DropKind::Procedure
        | ast::DropKind::Function
        | ast::DropKind::Trigger
        | ast::DropKind::Sequence
        | ast::DropKind::Synonym
        | ast::DropKind::Statistics
        | ast::DropKind::Type
        | ast::DropKind::Schema => true,
        ast::DropKind::Database
        | ast::DropKind::Login
        | ast::DropKind::User
        | ast::DropKind::Role
        | ast::DropKind::ServerRole
        | ast::DropKind::Certificate
        | ast::DropKind::CryptographicProvider
        | ast::DropKind::Credential
        | ast::DropKind::AsymmetricKey
        | ast::DropKind::SymmetricKey => false,
    }
}
