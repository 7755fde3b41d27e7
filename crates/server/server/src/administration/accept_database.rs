//! `sp_accept_database`: the master key of a database was renewed by the command line, and an administrator says so.

use selenite::Access;
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::machine::{Call, Callee, Failure};
use selenite_types::Value;

use crate::administration::Administration;
use crate::administration::security::argument;
use crate::database::expectation::plain_access;
use crate::database_error::of_master;
use crate::master::load_commitment;

impl Administration<'_, '_> {
    /// Runs the procedure; none if it is another. What counts as the database is its file with the id that is known,
    /// and the mark of the server's identity, under whatever master key.
    ///
    /// # Errors
    /// 15247, 911, 3702; 50827, of a file that can't be accepted.
    pub(crate) fn call_accept(&mut self, call: &Call<'_>) -> Result<Option<Callee>, Failure> {
        let schema = call.procedure.schema.as_ref();
        let is_system = schema.is_none_or(|schema| schema.is("sys") || schema.is("dbo"));
        if !is_system || !call.procedure.name.is("sp_accept_database") {
            return Ok(None);
        }
        if !self.permissions.is_administrator {
            let text = "User does not have permission to perform this action.";
            return Err(SqlError::new(15247, Ends::Statement, text).into());
        }
        let name = argument(call, "@dbname", 0)?;
        self.accept_database(&name)?;
        Ok(Some(Callee::Done {
            status: 0,
            outputs: call
                .arguments
                .iter()
                .filter(|one| one.is_output)
                .map(|_| Value::Null)
                .collect(),
        }))
    }

    fn accept_database(&mut self, name: &str) -> Result<(), SqlError> {
        let instance = self.session.instance;
        let directory = self.registry.directory(instance)?;
        let found = directory.databases.iter().find(|record| same_name(&record.name, name));
        let record = found.filter(|record| !record.is_reserved()).cloned();
        let record = record.ok_or_else(|| {
            let text = format!("Database '{name}' does not exist. Make sure that the name is entered correctly.");
            SqlError::new(911, Ends::Statement, text)
        })?;
        let in_use = || {
            let text = format!(
                "Cannot accept database \"{}\" because it is currently in use.",
                record.name
            );
            SqlError::new(3702, Ends::Statement, text).with_state(4)
        };
        if self.transactions.current == record.id || self.is_being_scanned(record.id) {
            return Err(in_use());
        }
        self.transactions.close(record.id);
        // No one opens it meanwhile.
        let _closure = self.registry.close_for_restore(record.id).ok_or_else(in_use)?;
        let master = instance.master();
        let file = master.file(record.id).map_err(|fault| of_master(&fault))?;
        let expected_id = file.and_then(|file| file.file_id);
        let path = record.path(instance.data_folder());
        let path = path.map_err(|error| of_master(&error))?;
        let access: Access = plain_access(instance.access());
        let refused = |why: &str| {
            let text = format!("The database '{}' was not accepted: {why}.", record.name);
            // 50827: a file that cannot be accepted.
            SqlError::new(50_827, Ends::Statement, text)
        };
        let loaded = load_commitment(&path, &access).map_err(|error| refused(&error.to_string()))?;
        let (id, commitment) = loaded.ok_or_else(|| refused("its file has no master key"))?;
        if expected_id.is_some_and(|expected| expected != id) {
            return Err(refused("its file is another database, with another id"));
        }
        let noted = master.note_commitment(record.id, commitment);
        noted.map_err(|fault| of_master(&fault))?;
        let line = format!("Database '{}' is accepted with another master key.", record.name);
        instance.log().line(&line);
        Ok(())
    }
}
