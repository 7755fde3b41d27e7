//! A statement on tables of several databases: see [`crate::execution::database_views`].

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::statement::{Binding, Statement};
use selenite_runtime::machine::{Affected, Failure, TableStatement};
use selenite_runtime::sqlite::LockTimeout;
use selenite_types::Value;

use crate::catalog::permission::no_access;
use crate::database::transaction::Writes;
use crate::database::transactions::not_open;
use crate::execution::cross_database_table::{
    AttachedDatabases, CrossDatabaseTable, Reach, attached_max, attached_schema, copy_all, drop_copies,
};
use crate::execution::database_views::{DatabaseView, DatabaseViews, DatabaseViewsCatalog};
use crate::execution::name_scope::PlanVersion;
use crate::execution::row_limit::limited;
use crate::execution::session_executor::SessionExecutor;
use crate::execution::table_statement::{ATTEMPTS_MAX, writes_of};
use crate::execution_context::ExecutionContext;
use crate::master::{DatabaseRecord, TEMPDB};
use crate::names::session_objects::SessionObjects;

impl SessionExecutor<'_> {
    /// Runs a statement whose names are of several databases.
    pub(crate) fn run_across_databases(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let current = self.transactions.current;
        let mut attempts = 0;
        loop {
            let version = self.return_to(current)?.version;
            if attempts > 0 {
                self.refresh_permissions()?;
            }
            let mut objects = self.scope.objects.clone();
            if let Some(schema) = self.module_of(statement.program).schema {
                objects.catalog.default_schema = schema;
            }
            let view = DatabaseView {
                id: current,
                objects,
                permissions: self.permissions.clone(),
                version,
            };
            let mut views = DatabaseViews::of(view, self.attached_max()?);
            let done = self.run_across(&mut views, statement, slots, execution);
            self.scope.substitute = None;
            self.return_to(current)?;
            for view in &views.known {
                self.transactions.close_if_idle(view.id);
            }
            attempts += 1;
            if !views.is_stale.get() || attempts == ATTEMPTS_MAX {
                return done;
            }
            execution.reply.poll()?;
        }
    }

    fn run_across(
        &mut self,
        views: &mut DatabaseViews,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let (bound, others) = self.bind_across_databases(views, statement, execution)?;
        let timeout = LockTimeout::of(execution.state.lock_timeout());
        self.show_to_functions(views)?;
        self.transactions.current = views.home;
        self.refresh_within(timeout, execution)?;
        if bound.holds() {
            self.transactions.hold(execution)?;
        }
        // Before SQLite's transaction begins, and until it has ended.
        let attached = self.attach_all(&others)?;
        let done = self.run_with_others(views, (&bound, &others), slots, execution);
        let detached = match self.transactions.connected() {
            Ok(home) => attached.detach(&home.database),
            Err(error) => Err(error),
        };
        let done = done?;
        detached?;
        Ok(done)
    }

    /// How many databases a statement may attach: none within a transaction, or where file descriptors are short.
    fn attached_max(&self) -> Result<usize, SqlError> {
        match self.transactions.is_in_transaction() || !self.session.instance.descriptors().has_room() {
            true => Ok(0),
            false => attached_max(&self.transactions.connected()?.database),
        }
    }

    /// Attaches the databases of `others` that are not copied from.
    fn attach_all(&self, others: &[CrossDatabaseTable]) -> Result<AttachedDatabases, SqlError> {
        let home = &self.transactions.connected()?.database;
        let mut attached = AttachedDatabases::default();
        let done = database_ids(others, Reach::Attached).into_iter().try_for_each(|id| {
            let source = self.transactions.get(id).ok_or_else(not_open)?;
            attached.attach(self.session.instance, &source.database, home)
        });
        match done {
            Ok(()) => Ok(attached),
            Err(error) => {
                attached.detach(home)?;
                Err(error)
            }
        }
    }

    fn run_with_others(
        &mut self,
        views: &DatabaseViews,
        (bound, others): (&Statement, &[CrossDatabaseTable]),
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let copies = others.iter().any(|other| other.reach == Reach::Copied);
        let scope = match self.is_own(bound) {
            true => self.transactions.begin_own(execution)?,
            false => self.transactions.begin_statement(
                writes_of(bound, bound.changes()),
                bound.is_single() && !copies,
                execution,
            )?,
        };
        // A statement that only reads gets a transaction, too, in which the schemas stay as they are checked.
        let home = &self.transactions.connected()?.database;
        home.begin_snapshot()?;
        let done = match self.check_schemas(views, others) {
            Err(error) => Err(error.into()),
            Ok(()) if copies => self.with_copies(views, (bound, others), slots, execution),
            Ok(()) => self.run(bound, slots, execution),
        };
        let done = self.transactions.end_statement(scope, done);
        let ended = self.transactions.end_snapshot();
        let done = done.and_then(|affected| Ok(ended.map(|()| affected)?));
        self.note_into(bound, done.is_ok())?;
        done
    }

    /// `bound-schema-is-read`: of all databases, and of what is attached to home.
    fn check_schemas(&self, views: &DatabaseViews, others: &[CrossDatabaseTable]) -> Result<(), SqlError> {
        let home = &self.transactions.connected()?.database;
        let directory = self.registry.directory(self.session.instance)?;
        let mut is_same = Arc::ptr_eq(&directory, &views.current()?.objects.directory);
        for view in &views.known {
            if let Some(used) = self.transactions.get(view.id) {
                is_same = is_same && used.database.version()? == view.version;
            }
        }
        if !is_same {
            return Err(views.stale());
        }
        database_ids(others, Reach::Attached)
            .into_iter()
            .try_for_each(|id| views.check_version(id, home.schema_version(&attached_schema(id))?))
    }

    /// Binds it. The tables are those of other databases. Databases are looked into as they are asked for.
    fn bind_across_databases(
        &mut self,
        views: &mut DatabaseViews,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(Arc<Statement>, Vec<CrossDatabaseTable>), Failure> {
        let row_count_max = execution.state.row_count_max;
        let limited = match row_count_max > 0 {
            true => limited(statement.statement, row_count_max)?,
            false => None,
        };
        let tree = limited.as_ref().unwrap_or(statement.statement);
        loop {
            let catalog = DatabaseViewsCatalog::of(views);
            let binding = Binding {
                catalog: &catalog,
                variables: statement.program.variables(),
            };
            let found = binding.statement(tree);
            // Home is what the statement writes to, which the first binding tells.
            let (missing, home) = match (catalog.missing(), &found) {
                (Some(id), _) => (Some(id), views.home),
                (None, Ok(bound)) => (None, catalog.home(bound)?),
                (None, Err(_)) => (None, views.home),
            };
            if let Some(id) = missing
                .or(Some(home))
                .filter(|id| views.known.iter().all(|view| view.id != *id))
            {
                let view = self.database_view(id, execution)?;
                views.known.push(view);
                continue;
            }
            if home != views.home {
                views.home = home;
                continue;
            }
            let bound = found?;
            catalog.check(&bound, &statement.statement.kind)?;
            return Ok((Arc::new(bound), catalog.cross_database_tables()));
        }
    }

    /// A database that the session's login may use, as it is now. The one in use stays.
    ///
    /// # Errors
    /// 916; what keeps it from being opened.
    fn database_view(&mut self, id: i32, execution: &mut ExecutionContext<'_>) -> Result<DatabaseView, Failure> {
        let record = self.admitted(id)?;
        let current = self.transactions.current;
        let timeout = LockTimeout::of(execution.state.lock_timeout());
        let temporary = self.scope.objects.catalog.temporary.clone();
        self.transactions.current = id;
        let found = self.refresh_within(timeout, execution);
        let mut objects = self.scope.objects.clone();
        self.transactions.current = current;
        self.scope.invalidate();
        let version = found?.version;
        self.refresh_within(timeout, execution)?;
        objects.database_id = id;
        if id == TEMPDB {
            objects.catalog.schema = Arc::new(objects.catalog.schema.with_temporary(&temporary));
            objects.catalog.temporary = temporary;
        }
        let identity = self.contexts.current();
        let permissions = identity.permissions(&objects.directory, record.id, &objects.catalog.schema);
        objects.catalog.default_schema = Arc::clone(&permissions.default_schema);
        Ok(DatabaseView {
            id,
            objects,
            permissions,
            version,
        })
    }

    /// The record of a database that the session's login may use.
    ///
    /// # Errors
    /// 916.
    pub(crate) fn admitted(&self, id: i32) -> Result<DatabaseRecord, SqlError> {
        let mut known = self.scope.objects.directory.databases.iter();
        let record = known.find(|record| record.id == id).cloned();
        let record = record.ok_or_else(|| SqlError::internal("a database that is gone"))?;
        let identity = self.contexts.current();
        match self.lets_in(identity, &record)? {
            true => Ok(record),
            false => Err(no_access(&identity.login, &record.name)),
        }
    }

    /// What functions see while the statement runs: the database in use, and the views of the others.
    fn show_to_functions(&mut self, views: &DatabaseViews) -> Result<(), SqlError> {
        let current = views.current()?;
        let others = views.known.iter().filter(|view| view.id != current.id);
        self.see(
            current.objects.clone(),
            others.map(|view| (view.id, view.objects.clone())).collect(),
        );
        Ok(())
    }

    /// The same, of one database and others.
    pub(crate) fn see(&mut self, mut from: SessionObjects, others: HashMap<i32, SessionObjects>) {
        from.other_databases = Arc::new(others);
        self.scope.substitute = Some(from);
    }

    /// How another database looks from the one in use, whose temporary tables are tempdb's.
    pub(crate) fn objects_from(&self, id: i32, from: &SessionObjects) -> SessionObjects {
        let mut objects = self.scope.objects.clone();
        objects.database_id = id;
        // Its views are bound by their own names.
        objects.catalog.is_other_database = false;
        if id == TEMPDB {
            let both = objects.catalog.schema.with_temporary(&from.catalog.temporary);
            objects.catalog.schema = Arc::new(both);
            objects.catalog.temporary = from.catalog.temporary.clone();
        }
        objects
    }

    /// Runs what was bound while home has the copies.
    fn with_copies(
        &mut self,
        views: &DatabaseViews,
        (bound, others): (&Statement, &[CrossDatabaseTable]),
        slots: &mut [Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let copied = self.copy_others(views, others, bound.holds(), execution);
        let done = match copied {
            Ok(()) => self.run(bound, slots, execution),
            Err(failure) => {
                // What was interrupted is no error of its own.
                execution.reply.poll()?;
                Err(failure)
            }
        };
        let dropped = drop_copies(&self.transactions.connected()?.database, others);
        let done = done?;
        dropped?;
        Ok(done)
    }

    fn copy_others(
        &mut self,
        views: &DatabaseViews,
        others: &[CrossDatabaseTable],
        holds: bool,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let ids = database_ids(others, Reach::Copied);
        let home = self.transactions.current;
        for id in &ids {
            // REPEATABLE READ and above hold what they read.
            self.transactions.current = *id;
            let mut held = self
                .transactions
                .begin_statement(Writes::Nothing, false, execution)
                .map(drop);
            if holds && held.is_ok() {
                held = self.transactions.hold(execution);
            }
            self.transactions.current = home;
            held?;
        }
        let home = &self.transactions.connected()?.database;
        home.execute("SAVEPOINT copies")?;
        let copied = ids.iter().try_for_each(|id| {
            let source = self.transactions.get(*id).ok_or_else(not_open)?;
            let is_its = |other: &&CrossDatabaseTable| other.database_id == *id && other.reach == Reach::Copied;
            let tables: Vec<&CrossDatabaseTable> = others.iter().filter(is_its).collect();
            copy_all(&source.database, home, &tables, |version| {
                views.check_version(*id, version)
            })
        });
        if copied.is_err() && !home.connection.is_autocommit() {
            home.execute("ROLLBACK TO copies")?;
        }
        if !home.connection.is_autocommit() {
            home.execute("RELEASE copies")?;
        }
        Ok(copied?)
    }

    /// The database in use is this one again.
    pub(crate) fn return_to(&mut self, current: i32) -> Result<PlanVersion, SqlError> {
        self.transactions.current = current;
        self.scope.invalidate();
        self.refresh()
    }
}

/// The databases of those tables that are reached so, each once.
fn database_ids(others: &[CrossDatabaseTable], reach: Reach) -> BTreeSet<i32> {
    let reached = others.iter().filter(|other| other.reach == reach);
    reached.map(|other| other.database_id).collect()
}
