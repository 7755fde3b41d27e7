//! A session's executor: databases, transactions, statements.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use selenite_compiler::program::Program;
use selenite_compiler::statement::Statement;
use selenite_compiler::{Ends, PlanError, same_name};
use selenite_engine::thread_memory;
use selenite_runtime::machine::{Affected, Call, Callee, Failure, FrameKind, TableStatement, TransactionStep};
use selenite_tsql::ast::{self, StatementKind};
use selenite_types::Value;

use super::bound_cache::{BoundCache, Of, ProcedureCache};
use super::cleanups::CleanupCounts;
use super::cross_database_call::CrossDatabaseCall;
use super::database::OpenDatabase;
use super::database_registry::{DatabaseRegistry, of_master};
use super::definition::{Work, is_of_temporary};
use super::frames::Frames;
use super::identity_insert::IdentityInsert;
use super::objects::SessionObjects;
use super::permission::{Permissions, no_access};
use super::refusal::{too_many_files, unknown_database};
use super::session_catalog::SessionCatalog;
use super::table_statement::words;
use super::transaction::Transaction;
use super::used_database::Used;
use crate::audit::{self, Audited, RefusedCalls};
use crate::memory;
use crate::workbench::{CurrentDatabase, ExecutionContext, Objects, SessionInfo, Workbench};
use selenite_runtime::sqlite::LockTimeout;

/// What a session works with.
pub struct SessionExecutor<'a> {
    pub(super) database_registry: &'a DatabaseRegistry,
    pub(super) session_info: SessionInfo<'a>,
    /// Databases that the session has used, with its transaction in each.
    pub(super) open: HashMap<i32, Used>,
    pub(super) current: i32,
    home: i32,
    pub(super) objects: SessionObjects,
    /// What names mean to functions while a statement runs in another database than the one in use.
    pub(super) sight: Option<SessionObjects>,
    pub(super) bound: BoundCache,
    pub(super) procedures: ProcedureCache,
    /// Of the calls that are in the audit log.
    pub(super) refused: RefusedCalls,
    pub(super) frames: Frames,
    /// The procedure of another database that is about to begin.
    pub(super) elsewhere: Option<CrossDatabaseCall>,
    /// Whether a statement runs in another database than the one in use.
    pub(super) is_away: bool,
    /// Of what `objects` is a picture.
    pub(super) known: Option<Of>,
    pub(super) heeded: CleanupCounts,
    pub(super) identity_insert: Option<IdentityInsert>,
    /// Whether a transaction of the client's is open.
    in_transaction: bool,
    /// Whether the client knows that its transaction writes to several databases.
    pub(super) is_warned: bool,
    /// Rises when the session's temporary tables change.
    pub(super) temporary_version: u64,
    /// What the session's login is in the database in use, as statements were bound for it.
    pub(super) permissions: Permissions,
}

impl<'a> SessionExecutor<'a> {
    /// An executor with the login's database in use.
    ///
    /// # Errors
    /// What keeps the database from being opened.
    pub fn open(database_registry: &'a DatabaseRegistry, session_info: SessionInfo<'a>) -> Result<Self, PlanError> {
        let home = session_info.login_info.database_id;
        let directory = database_registry.directory(session_info.instance)?;
        let catalog = SessionCatalog {
            database: Arc::from(session_info.login_info.database.as_str()),
            schema: Arc::default(),
            temporary: Arc::default(),
            directory: directory.clone(),
            variables: Arc::default(),
            is_away: false,
            elsewhere: Arc::default(),
            interrupts: session_info.interrupts.clone(),
        };
        let (instance, interrupts) = (session_info.instance.clone(), session_info.interrupts.clone());
        let login_id = i32::try_from(session_info.login_info.login_id).unwrap_or(i32::MAX);
        let kept_max = memory::kept_max(&instance.config().limits);
        Ok(Self {
            database_registry,
            session_info,
            open: HashMap::new(),
            current: home,
            home,
            objects: SessionObjects {
                directory,
                database_id: home,
                login_id,
                catalog,
                shared: None,
                instance,
                interrupts,
                places: Arc::default(),
            },
            sight: None,
            bound: BoundCache::new(kept_max / 2),
            procedures: ProcedureCache::new(kept_max / 2),
            refused: RefusedCalls::default(),
            frames: Frames::default(),
            elsewhere: None,
            is_away: false,
            known: None,
            heeded: database_registry.cleanups.counts(),
            identity_insert: None,
            in_transaction: false,
            is_warned: false,
            temporary_version: 0,
            permissions: Permissions::administrator(),
        })
    }

    /// The database in use, connected to if it was not yet, with its objects as they are now.
    pub(super) fn used(&mut self) -> Result<(&mut Used, Of), PlanError> {
        self.heed_cleanups();
        let id = self.current;
        if !self.open.contains_key(&id) {
            let instance = self.session_info.instance;
            let record = instance.master().database_of(id).map_err(|error| of_master(&error))?;
            let record = record.ok_or_else(|| PlanError::internal("a database that is gone"))?;
            let shared = self.database_registry.database(instance, &record)?;
            if !self.session_info.login_info.is_administrator && !instance.descriptors().has_room() {
                return Err(too_many_files(&record.name));
            }
            let database = OpenDatabase::connect(shared, instance, self.session_info.interrupts.clone())?;
            let mut transaction = Transaction::default();
            if self.in_transaction {
                transaction.begin();
            }
            self.open.insert(id, Used { database, transaction });
        }
        let used = self
            .open
            .get_mut(&id)
            .ok_or_else(|| PlanError::internal("a database that is not open"))?;
        let version = used.database.version()?;
        let of = Of {
            database_id: id,
            version,
            temporary: self.temporary_version,
            variables: self.frames.mark(),
            is_away: self.is_away,
        };
        let directory = self.database_registry.directory(self.session_info.instance)?;
        // The objects' own directory is renewed elsewhere, too: it tells nothing of the catalog's.
        let is_known = self.known == Some(of) && Arc::ptr_eq(&directory, &self.objects.catalog.directory);
        if !is_known {
            self.objects.directory = directory;
            self.objects.shared = Some(used.database.shared.clone());
            self.objects.catalog = SessionCatalog {
                database: Arc::from(used.database.shared.record.name.as_str()),
                schema: used.database.schema(version)?,
                temporary: used.database.temporary(),
                directory: self.objects.directory.clone(),
                variables: Arc::default(),
                is_away: self.is_away,
                elsewhere: Arc::default(),
                interrupts: self.session_info.interrupts.clone(),
            };
            self.known = Some(of);
        }
        self.objects.catalog.variables = self.frames.variables();
        Ok((used, of))
    }

    /// The same, with time for another process that is at it.
    pub(super) fn used_in(
        &mut self,
        timeout: LockTimeout,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Of, Failure> {
        loop {
            match self.used() {
                Ok((_, of)) => return Ok(of),
                Err(error) if error.number() == 1222 && !timeout.is_over() => execution.receiver.poll()?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// CREATE, ALTER and DROP of objects.
    fn define(
        &mut self,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        self.used()?;
        let scope = match is_of_temporary(statement.statement) && !self.is_in_transaction() {
            true => self.begin_own(execution)?,
            false => self.begin_statement(true, false, execution)?,
        };
        let done = self.carry_out(statement, execution);
        let done = self.end_statement(scope, done);
        if let StatementKind::CreateTable(create) = &statement.statement.kind
            && done.is_ok()
            && create.name.name.text.starts_with('#')
        {
            self.frames.note_temporary(&create.name.name.text);
        }
        self.note_definitions()?;
        self.note_dropped();
        done
    }

    /// Temporary tables may have changed, whether or not the statement succeeded.
    pub(super) fn note_definitions(&mut self) -> Result<(), PlanError> {
        if let Some(used) = self.open.get(&self.current) {
            used.database.reload_temporary()?;
        }
        self.temporary_version += 1;
        // What asks no table, OBJECT_ID, sees them from now on.
        self.used().map(drop)
    }

    fn carry_out(
        &mut self,
        statement: &TableStatement<'_>,
        execution: &ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let Some(used) = self.open.get(&self.current) else {
            return Err(PlanError::internal("a database that is not open").into());
        };
        let work = Work {
            database: &used.database,
            catalog: &self.objects.catalog,
            source: statement.program.source(),
            state: execution.state,
            objects: &self.objects,
        };
        // An index is sorted in memory.
        let done = thread_memory::enforced(|| work.carry_out(statement.statement));
        if thread_memory::take_refused() && done.is_err() {
            return Err(PlanError::out_of_memory().into());
        }
        match done? {
            Some(()) => Ok(Affected::Nothing),
            None => Err(PlanError::unsupported(&words(statement))
                .with_ends(Ends::Statement)
                .into()),
        }
    }

    /// Finds out what the session's login is in the database in use. What was bound for another standing is forgotten.
    pub(super) fn refresh_permissions(&mut self) -> Result<(), PlanError> {
        let instance = self.session_info.instance;
        let directory = self.database_registry.directory(instance)?;
        self.objects.directory = directory.clone();
        let sid = &self.session_info.login_info.sid;
        let is_administrator = directory.is_administrator(sid);
        if is_administrator && self.permissions.is_administrator {
            return Ok(());
        }
        let permissions = if is_administrator {
            Permissions::administrator()
        } else {
            self.used()?;
            Permissions::of(sid, &directory, self.current, self.objects.catalog.schema.principals())
        };
        if permissions != self.permissions {
            self.bound.clear();
            self.permissions = permissions;
        }
        Ok(())
    }

    /// Runs a change of the database in use within the transaction that it needs.
    pub(super) fn change_database(
        &mut self,
        execution: &mut ExecutionContext<'_>,
        change: impl FnOnce(&OpenDatabase) -> Result<(), PlanError>,
    ) -> Result<(), Failure> {
        self.used()?;
        let scope = self.begin_statement(true, false, execution)?;
        let done = match self.open.get(&self.current) {
            Some(used) => change(&used.database).map_err(Failure::from),
            None => Err(PlanError::internal("a database that is not open").into()),
        };
        self.end_statement(scope, done)
    }

    /// The id and name of a database.
    fn current_database(&self) -> CurrentDatabase {
        let record = self
            .objects
            .directory
            .databases
            .iter()
            .find(|record| record.id == self.current);
        CurrentDatabase {
            id: self.current,
            name: Arc::from(record.map_or("", |record| record.name.as_str())),
        }
    }

    /// The database in use, which is connected to.
    pub(super) fn in_use(&self) -> Result<&Used, PlanError> {
        let used = self.open.get(&self.current);
        used.ok_or_else(|| PlanError::internal("a database that is not open"))
    }

    /// Whether the session has a transaction of its own.
    pub(super) fn is_in_transaction(&self) -> bool {
        self.in_transaction
    }

    /// A database that the session has left is in use by it only as long as it has a transaction or temporary tables there.
    pub(super) fn let_go(&mut self, left: i32) {
        // What is in memory alone goes with its connection.
        let is_idle = |used: &Used| used.database.temporary().is_empty() && used.database.shared.path.is_some();
        if left != self.current && !self.in_transaction && self.open.get(&left).is_some_and(is_idle) {
            self.close_database(left);
        }
    }

    /// Closes the session's connection to a database.
    pub(super) fn close_database(&mut self, id: i32) {
        self.open.remove(&id);
        self.known = None;
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
            | StatementKind::Truncate(_) => {
                let done = self.on_tables(statement, slots, execution);
                if let Err(Failure::Error(_)) = done {
                    // Binding that was stopped is no error of the statement's.
                    execution.receiver.poll()?;
                }
                done
            }
            // A table variable, which was made when its frame began.
            StatementKind::Declare(_) => Ok(Affected::Nothing),
            StatementKind::CreateTable(_)
            | StatementKind::AlterTable(_)
            | StatementKind::CreateIndex(_)
            | StatementKind::AlterIndex(_)
            | StatementKind::DropIndex { .. }
            | StatementKind::View(_)
            | StatementKind::Procedure(_)
            | StatementKind::CreateSchema(_) => self.define(statement, execution),
            StatementKind::Drop(drop) => match drop.kind {
                ast::DropKind::Table
                | ast::DropKind::View
                | ast::DropKind::Procedure
                | ast::DropKind::Function
                | ast::DropKind::Trigger
                | ast::DropKind::Schema => self.define(statement, execution),
                ast::DropKind::Database
                | ast::DropKind::Login
                | ast::DropKind::User
                | ast::DropKind::Role
                | ast::DropKind::Certificate => self.administer(statement, slots, execution),
            },
            StatementKind::Dbcc(dbcc) => self.dbcc(dbcc, (statement, slots), execution),
            StatementKind::Kill(kill) => {
                self.kill(kill)?;
                Ok(Affected::Nothing)
            }
            StatementKind::Checkpoint(_) => {
                self.checkpoint(execution)?;
                Ok(Affected::Nothing)
            }
            StatementKind::Shutdown { .. } => {
                let refused = PlanError::unsupported("SHUTDOWN").with_ends(Ends::Statement);
                Err(refused.into())
            }
            _ => self.administer(statement, slots, execution),
        }
    }
}

impl Workbench for SessionExecutor<'_> {
    fn kept_memory(&self) -> u64 {
        self.bound.size().saturating_add(self.procedures.size())
    }

    fn objects(&self) -> &dyn Objects {
        &self.objects
    }

    fn look_at_names(&mut self) -> Result<(), PlanError> {
        self.used().map(drop)
    }

    fn use_database(&mut self, name: &str, _errand: ExecutionContext<'_>) -> Result<CurrentDatabase, Failure> {
        let directory = self.database_registry.directory(self.session_info.instance)?;
        let found = directory.databases.iter().find(|record| same_name(&record.name, name));
        let Some(record) = found else {
            return Err(unknown_database(name).into());
        };
        if !self
            .database_registry
            .lets_in(self.session_info.instance, &self.session_info.login_info.sid, record)?
        {
            return Err(no_access(&self.session_info.login_info.login, &record.name).into());
        }
        let before = std::mem::replace(&mut self.current, record.id);
        self.objects.database_id = record.id;
        if let Err(error) = self.used() {
            self.current = before;
            self.objects.database_id = before;
            return Err(error.into());
        }
        if let Err(error) = self.move_temporary(before) {
            self.current = before;
            self.objects.database_id = before;
            return Err(error.into());
        }
        self.let_go(before);
        Ok(self.current_database())
    }

    fn bind_insert(
        &mut self,
        statement: &TableStatement<'_>,
        mut execution: ExecutionContext<'_>,
    ) -> Result<Arc<Statement>, Failure> {
        self.bind_given(statement, &mut execution)
    }

    fn statement(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        mut execution: ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let Some(audited) = audit::of_statement(&statement.statement.kind) else {
            self.note_left_out(Instant::now());
            return self.carry_out_permitted(statement, slots, &mut execution);
        };
        let database = self.current_database().name;
        let done = self.carry_out_permitted(statement, slots, &mut execution);
        self.note_audited(&audited, &database, Audited::error(&done));
        done
    }

    fn run_in(&mut self, database: Option<&ast::Name>, program: &Arc<Program>) -> Result<(), Failure> {
        self.text_in(database, program)
    }

    fn call(&mut self, call: &Call<'_>, mut execution: ExecutionContext<'_>) -> Result<Option<Callee>, Failure> {
        self.refresh_permissions()?;
        let may = (self.permissions.owns(), self.permissions.is_administrator);
        let done = match self.call_security(call, may, &mut execution) {
            Ok(None) => self.call_accept(call),
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
        self.used()?;
        match self.place_of(call.procedure) {
            Some(id) => self.call_elsewhere(id, call),
            None => self.called_here(call),
        }
    }

    fn enter(&mut self, program: &Arc<Program>, kind: FrameKind) -> Result<(), Failure> {
        // What keeps it from being known is told by the first statement that needs it.
        let _ = self.refresh_permissions();
        let before = self.go_elsewhere(program, kind)?;
        let started = self.begin_frame(program, kind, before);
        if started.is_err() {
            self.come_back(before);
        }
        started
    }

    fn leave(&mut self) {
        let before = self.end_frame();
        self.come_back(before);
    }

    fn transaction(&mut self, step: TransactionStep<'_>, _errand: ExecutionContext<'_>) -> Result<(), Failure> {
        match step {
            TransactionStep::Begin { .. } => {
                self.in_transaction = true;
                self.is_warned = false;
                for used in self.open.values_mut() {
                    used.transaction.begin();
                }
            }
            TransactionStep::Commit { delayed_durability } => {
                self.in_transaction = false;
                self.commit(delayed_durability)?;
            }
            TransactionStep::Rollback => {
                self.in_transaction = false;
                self.roll_back(|used| {
                    used.transaction.rollback(&used.database);
                    Ok(())
                })?;
            }
            TransactionStep::Save { name } => {
                for used in self.open.values_mut() {
                    used.transaction.save(&used.database, name)?;
                }
            }
            TransactionStep::RollbackTo { name } => {
                self.roll_back(|used| used.transaction.rollback_to(&used.database, name))?;
            }
        }
        Ok(())
    }

    fn identity_insert(
        &mut self,
        table: &ast::ObjectName,
        on: bool,
        _errand: ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        self.set_identity_insert(table, on)
    }

    fn reset(&mut self, execution: ExecutionContext<'_>) -> Result<CurrentDatabase, Failure> {
        // Connections go, and temporary tables with them.
        self.open.clear();
        self.known = None;
        self.temporary_version += 1;
        self.identity_insert = None;
        self.in_transaction = false;
        let home = self.home;
        let directory = self.database_registry.directory(self.session_info.instance)?;
        let name = directory
            .databases
            .iter()
            .find(|record| record.id == home)
            .map(|record| record.name.clone());
        self.use_database(&name.unwrap_or_default(), execution)
    }
}

impl Drop for SessionExecutor<'_> {
    fn drop(&mut self) {
        self.note_rest();
        for used in self.open.values_mut() {
            used.transaction.rollback(&used.database);
        }
    }
}
