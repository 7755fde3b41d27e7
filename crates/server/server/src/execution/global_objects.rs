//! Global temporary objects: `##` tables and procedures, which all sessions see.
//!
//! - `in-tempdbs-file`: they are objects of tempdb, in whatever database they are named. A statement
//!   on one runs like any other on tables of several databases
//!   ([`crate::execution::database_views`]); a definition has tempdb in use while it is carried out.
//! - `ends-with-its-session`: the session that made one drops it when it ends, once no other session
//!   writes to tempdb. Where another one holds it for too long, the next session that ends drops it.

use std::time::Duration;

use selenite_compiler::definition::quoted;
use selenite_compiler::{SqlError, same_name};
use selenite_runtime::machine::{Affected, Failure, Stop, TableStatement};
use selenite_runtime::sqlite::tsql_error;
use selenite_tsql::ast::{ObjectName, Statement, StatementKind};

use crate::catalog::catalog_rows;
use crate::catalog::schema::is_global;
use crate::database::database_connection::DatabaseConnection;
use crate::database::transaction::{Transaction, Writes};
use crate::database_error::of_master;
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;
use crate::master::TEMPDB;

impl SessionExecutor<'_> {
    /// CREATE, ALTER and DROP of objects.
    pub(crate) fn define(
        &mut self,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let names = defined(statement.statement);
        let global_count = names.iter().filter(|name| is_global(&name.name.text)).count();
        if global_count == 0 {
            return self.define_in_use(statement, execution);
        }
        if global_count < names.len() {
            let refused = "A statement that defines global temporary objects and others";
            return Err(SqlError::unsupported(refused).into());
        }
        self.in_tempdb(|executor| {
            let done = executor.define_in_use(statement, execution);
            if done.is_ok() {
                names.iter().for_each(|name| executor.note_global(&name.name.text));
            }
            done
        })?
    }

    /// Does something with tempdb in use.
    ///
    /// # Errors
    /// What keeps tempdb from being opened.
    pub(crate) fn in_tempdb<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> Result<R, SqlError> {
        let before = self.switch_to(TEMPDB)?;
        let done = body(self);
        self.switch_to(before)?;
        self.transactions.close_if_idle(TEMPDB);
        Ok(done)
    }

    /// Notes the object of a name, if this session has just made it.
    pub(crate) fn note_global(&mut self, name: &str) {
        let schema = &self.scope.objects.catalog.schema;
        let listed = schema.objects().into_iter();
        let mut found = listed.filter(|object| object.parent == 0 && same_name(&object.name, name));
        if let Some(object) = found.next()
            && !self.registry.globals.is_known(object.id)
        {
            self.registry.globals.note(object.id);
            self.globals.push(object.id);
        }
    }

    /// `ends-with-its-session`: the session ends, or is reset. Its transaction is over.
    pub(crate) fn drop_globals(&mut self) {
        let own = std::mem::take(&mut self.globals);
        if own.is_empty() && !self.registry.globals.has_left() {
            return;
        }
        // A session that has made none does not wait for what others have left.
        let wait = if own.is_empty() { Duration::ZERO } else { WAIT };
        let left = self.registry.globals.take_left();
        let ids: Vec<i32> = own.into_iter().chain(left).collect();
        if let Err(error) = self.drop_objects(&ids, wait) {
            self.session
                .instance
                .log()
                .line(&format!("Global temporary objects could not be dropped yet: {error}."));
            self.registry.globals.leave(ids);
        }
    }

    fn drop_objects(&self, ids: &[i32], wait: Duration) -> Result<(), SqlError> {
        let instance = self.session.instance;
        let record = instance.master().database_of(TEMPDB);
        let record = record.map_err(|error| of_master(&error))?;
        let record = record.ok_or_else(|| SqlError::internal("a server without tempdb"))?;
        let shared = self.registry.database(instance, &record)?;
        let database = DatabaseConnection::connect(shared, instance, self.session.interrupts.clone())?;
        let mut transaction = Transaction::new(database, None);
        let waits = (self.session.entry.spid(), wait);
        transaction
            .ensure_write(waits, Writes::Shared, || Ok::<(), Stop>(()))
            .map_err(|failure| match failure {
                Failure::Error(error) => error,
                Failure::Stop(_) => SqlError::internal("a wait that nothing stops"),
            })?;
        transaction.note_change();
        let database = &transaction.database;
        let done = database.undisturbed(|| ids.iter().try_for_each(|id| drop_object(database, *id)));
        match done {
            Ok(()) => transaction.commit(),
            Err(error) => {
                transaction.rollback();
                Err(error)
            }
        }?;
        ids.iter().for_each(|id| self.registry.globals.forget(*id));
        Ok(())
    }
}

/// Drops an object of tempdb, if it is still there.
fn drop_object(database: &DatabaseConnection, id: i32) -> Result<(), SqlError> {
    let (_, schema) = database.definitions()?;
    if !schema.objects().iter().any(|object| object.id == id) {
        return Ok(());
    }
    let run = |sql: &str| {
        database
            .connection
            .execute_batch(sql)
            .map_err(|error| tsql_error(&error))
    };
    let mut tables = schema.tables();
    if let Some(table) = tables.find(|table| table.table.object_id == id) {
        run(&format!("DROP TABLE main.{}", quoted(&table.table.sqlite.name)))?;
    }
    catalog_rows::remove(&database.connection, "main", id)?;
    database.shared.identities.forget(id, &database.identity_journal);
    database.note_change();
    let next = database.schema_version("main")? + 1;
    run(&format!("PRAGMA main.schema_version = {next}"))
}

/// What a statement defines.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other object can be global")]
fn defined(statement: &Statement) -> Vec<&ObjectName> {
    match &statement.kind {
        StatementKind::CreateTable(create) => vec![&create.name],
        StatementKind::AlterTable(alter) => vec![&alter.name],
        StatementKind::CreateIndex(create) => vec![&create.table],
        StatementKind::AlterIndex(alter) => vec![&alter.table],
        StatementKind::DropIndex { indexes, .. } => indexes.iter().map(|index| &index.table).collect(),
        StatementKind::Procedure(procedure) => vec![&procedure.name],
        StatementKind::Drop(drop) => drop.names.iter().collect(),
        _ => Vec::new(),
    }
}

/// As long as a session waits for another one's transaction at most.
const WAIT: Duration = Duration::from_secs(30);
