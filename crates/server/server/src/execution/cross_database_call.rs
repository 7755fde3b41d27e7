//! A procedure of another database: it runs there, and then its caller continues in the database where it was.
//!
//! - `database-of-the-frame`: the procedure is looked up in its database. The database in use changes when the
//!   procedure's frame begins, and changes back when that frame ends, whatever ended it.
//! - `temporary-tables-stay`: temporary tables lie where the database in use is. The server's own procedures name
//!   none. For a user's procedure they would have to be moved there and back, which a transaction that writes does
//!   not allow: it is refused while there are any.

use std::sync::Arc;

use selenite_compiler::program::{Body, Program};
use selenite_compiler::{SqlError, same_name};
use selenite_runtime::machine::{Call, Callee, Failure, FrameKind};
use selenite_tsql::ast::{Name, ObjectName, StatementKind};

use crate::catalog::catalog_rows::CatalogRow;
use crate::catalog::permission::check_call;
use crate::catalog::running_module::RunningModule;
use crate::catalog::schema::{Schema, is_global, is_temporary};
use crate::database_error::unknown_database;
use crate::execution::procedures;
use crate::execution::session_executor::{CrossDatabaseCall, SessionExecutor};
use crate::memory;
use crate::names::session_catalog::{SessionCatalog, invalid_synonym};
use crate::session_state::CurrentDatabase;

impl SessionExecutor<'_> {
    /// The procedure of a name in another database.
    ///
    /// # Errors
    /// 916, 229; what is wrong with it.
    pub(crate) fn find_cross_database_procedure(
        &mut self,
        id: i32,
        call: &Call<'_>,
    ) -> Result<Option<Callee>, Failure> {
        self.pending_call = None;
        self.admitted(id)?;
        let before = self.switch_to(id)?;
        let found = match self.refresh_permissions() {
            Ok(()) => self.find_procedure(call),
            Err(error) => Err(error.into()),
        };
        self.switch_to(before)?;
        self.refresh_permissions()?;
        // A global temporary procedure runs in its caller's database.
        let is_of_caller = is_global(&call.procedure.name.text);
        if let (false, Ok(Some(Callee::Program(program)))) = (is_of_caller, &found) {
            self.pending_call = Some(CrossDatabaseCall {
                program: program.clone(),
                database_id: id,
            });
        } else {
            self.transactions.close_if_idle(id);
        }
        found
    }

    /// 40510: a procedure of the system that changes the database in use, or takes something of it, is called as another
    /// database's.
    pub(crate) fn check_called_here(&self, name: &ObjectName) -> Result<(), SqlError> {
        let schema = name.schema.as_ref();
        let is_systems = schema.is_none_or(|schema| schema.is("sys") || schema.is("dbo"));
        let is_it = |known: &&&str| is_systems && name.name.is(known);
        let is_here = |database: &Name| same_name(&database.text, &self.current_database().name);
        let is_elsewhere = name.server.is_some() || name.database.as_ref().is_some_and(|database| !is_here(database));
        match OF_DATABASE.iter().find(is_it).filter(|_| is_elsewhere) {
            Some(known) => Err(SqlError::unsupported(&format!("{known} of another database"))),
            None => Ok(()),
        }
    }

    /// Puts a database in use, and the temporary tables where it reaches them.
    ///
    /// # Errors
    /// What keeps it from being opened.
    pub(crate) fn put_in_use(&mut self, id: i32) -> Result<CurrentDatabase, SqlError> {
        let before = std::mem::replace(&mut self.transactions.current, id);
        self.scope.objects.database_id = id;
        let moved = self.refresh().and_then(|_| self.transactions.move_temporary(before));
        if let Err(error) = moved {
            self.transactions.current = before;
            self.scope.objects.database_id = before;
            return Err(error);
        }
        self.transactions.close_if_idle(before);
        Ok(self.current_database())
    }

    /// What USE did in a text ends with the text: the database before it is in use again, unless it is not there any
    /// more. Whether another one was.
    pub(crate) fn use_again(&mut self, id: i32) -> bool {
        if id == self.transactions.current || self.put_in_use(id).is_err() {
            return false;
        }
        // An error is reported by the next statement that needs the permissions.
        let _ = self.refresh_permissions();
        true
    }

    /// A text is about to run, as a procedure of that database. Its program comes with whether it holds for the database
    /// in use alone.
    ///
    /// # Errors
    /// 911, 916; 40510 for types of users, which are the other database's.
    pub(crate) fn note_text_database(
        &mut self,
        database: Option<&Name>,
        (program, is_of_database): (&Arc<Program>, bool),
    ) -> Result<(), Failure> {
        self.pending_call = None;
        let Some(database) = database else {
            return Ok(());
        };
        self.refresh()?;
        let known = &self.scope.objects.directory.databases;
        let found = known.iter().find(|record| same_name(&record.name, &database.text));
        let id = found.ok_or_else(|| unknown_database(&database.text))?.id;
        if id != self.transactions.current {
            self.admitted(id)?;
            if is_of_database {
                return Err(SqlError::unsupported("A type of a user in a text of another database").into());
            }
            self.pending_call = Some(CrossDatabaseCall {
                program: program.clone(),
                database_id: id,
            });
        }
        Ok(())
    }

    /// `database-of-the-frame`: a frame begins. That of a procedure of another database begins there. Returns the
    /// database to return to.
    ///
    /// # Errors
    /// 40510 for `temporary-tables-stay`; what keeps the database from being opened.
    pub(crate) fn enter_procedure_database(
        &mut self,
        program: &Arc<Program>,
        kind: FrameKind,
    ) -> Result<Option<i32>, Failure> {
        let found = self.pending_call.take();
        let is_it = |found: &CrossDatabaseCall| kind == FrameKind::Procedure && Arc::ptr_eq(&found.program, program);
        let Some(found) = found.filter(is_it) else {
            return Ok(None);
        };
        let is_servers = match program.body() {
            Body::Procedure { object_id, .. } => *object_id < 0,
            Body::Batch => false,
        };
        let temporary = &self.scope.objects.catalog.temporary;
        let has_none = temporary.is_empty() && self.frames.variables().is_empty();
        if !(is_servers || has_none) {
            let refused = "A procedure of another database while there are temporary tables or table variables";
            return Err(SqlError::unsupported(refused).into());
        }
        let before = self.switch_to(found.database_id)?;
        self.refresh_permissions()?;
        Ok(Some(before))
    }

    /// `database-of-the-frame`: the caller's database is in use again. An error that keeps it from being read is
    /// reported by the next statement.
    pub(crate) fn leave_procedure_database(&mut self, before: Option<i32>) {
        let Some(before) = before else { return };
        if let Ok(left) = self.switch_to(before) {
            self.transactions.close_if_idle(left);
        }
        let _ = self.refresh_permissions();
    }

    /// The procedure of a name, as the database in use has it.
    pub(crate) fn find_procedure(&mut self, call: &Call<'_>) -> Result<Option<Callee>, Failure> {
        if let Some(program) = procedures::find(call, &self.scope.objects)? {
            return Ok(Some(Callee::Program(program)));
        }
        let catalog = &self.scope.objects.catalog;
        if !is_temporary(&call.procedure.name.text) {
            catalog.check_place(call.procedure)?;
        }
        // `other..p` is in the caller's default schema there.
        let caller = match call.procedure.database {
            None => self.frames.module(),
            Some(_) => RunningModule::default(),
        };
        let found = catalog.called_procedure(call.procedure, caller.schema.as_deref());
        let Some(row) = found.map_or_else(|| procedure_of_synonym(catalog, call.procedure), |row| Ok(Some(row)))?
        else {
            return Ok(None);
        };
        let names = catalog.schema.names();
        let owner = names.named(&row.schema).map(|schema| schema.owner);
        let is_chained = caller.owner.is_some() && caller.owner == owner;
        check_call(
            (&row.schema, &row.name),
            is_chained,
            (&self.permissions, &catalog.database),
        )?;
        if let Some(program) = self.plans.procedures.find(self.transactions.current, row) {
            return Ok(Some(Callee::Program(program)));
        }
        let program = Arc::new(memory::measured_program(|| program_of(row, &catalog.schema))?);
        self.plans.procedures.keep(self.transactions.current, row, &program);
        Ok(Some(Callee::Program(program)))
    }

    /// Another database is in use, without a word to the client; answers which was.
    pub(crate) fn switch_to(&mut self, id: i32) -> Result<i32, SqlError> {
        let before = std::mem::replace(&mut self.transactions.current, id);
        self.scope.objects.database_id = id;
        self.scope.invalidate();
        if let Err(error) = self.refresh() {
            self.transactions.current = before;
            self.scope.objects.database_id = before;
            self.scope.invalidate();
            return Err(error);
        }
        Ok(before)
    }
}

/// Procedures of the system that are carried out in the database in use.
const OF_DATABASE: &[&str] = &[
    "sp_addextendedproperty",
    "sp_addrolemember",
    "sp_dropextendedproperty",
    "sp_droprolemember",
    "sp_getapplock",
    "sp_releaseapplock",
    "sp_rename",
    "sp_sequence_get_range",
    "sp_settriggerorder",
    "sp_updateextendedproperty",
];

/// The procedure for which a synonym stands.
///
/// Errors: 5313 for what is no procedure; 40510 for one of another database.
fn procedure_of_synonym<'c>(
    catalog: &'c SessionCatalog,
    name: &ObjectName,
) -> Result<Option<&'c Arc<CatalogRow>>, SqlError> {
    let Some(synonym) = catalog.synonym(name) else {
        return Ok(None);
    };
    catalog.check_base(synonym)?;
    let found = catalog.called_procedure(&synonym.object, None);
    found.map(Some).ok_or_else(|| invalid_synonym(&synonym.row.name))
}

/// The program of a procedure.
fn program_of(row: &CatalogRow, schema: &Schema) -> Result<Program, SqlError> {
    let tree = schema.parsed_in(&row.schema, &row.definition)?;
    let Some(StatementKind::Procedure(procedure)) = tree.statements.into_iter().next().map(|one| one.kind) else {
        return Err(SqlError::internal("a procedure's definition"));
    };
    Program::of_procedure(&row.definition, &procedure, &row.name, row.object_id).map_err(|mut errors| errors.remove(0))
}
