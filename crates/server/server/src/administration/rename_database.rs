//! `ALTER DATABASE .. MODIFY NAME`, `sp_renamedb`, and `sp_rename` of a database.
//!
//! - `files-keep-their-name`: a database that is renamed keeps its file, as in SQL Server: its name is one row of
//!   master.db, so that a kill leaves the one name or the other. Another database of the earlier name can be created
//!   once that file is gone.
//! - `renamed-without-users`: no session uses the database meanwhile, the one that renames it included. Bound
//!   statements are dropped: a name in them may be another database's from now on.

use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::machine::{Call, Callee, Failure};
use selenite_tsql::ast::{AlterDatabase, AlterDatabaseAction};

use super::{Administration, info, taken};
use crate::administration::security::argument;
use crate::catalog::permission::no_action;
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::master::{DatabaseName, DatabaseRecord, MasterError};

impl Administration<'_, '_> {
    /// Renames a database, if it is such a statement. Returns whether it was one.
    ///
    /// # Errors
    /// 226, 1801, 5011, 5016, 5030.
    pub(crate) fn modify_name(
        &mut self,
        alter: &AlterDatabase,
        line: u32,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<bool, Failure> {
        let AlterDatabaseAction::ModifyName(new) = &alter.action else {
            return Ok(false);
        };
        self.transactions.check_none("ALTER DATABASE")?;
        let record = match &alter.name {
            Some(name) => self.record(&name.text)?,
            None => self.record_in_use()?,
        };
        let name = alter.name.as_ref().map_or("", |name| &name.text);
        let record = record.ok_or_else(|| super::set_options::not_altered(name))?;
        self.rename_to(&record, &new.text)?;
        let text = format!("The database name '{}' has been set.", new.text);
        execution.reply.message(&info(5021, &text, line))?;
        Ok(true)
    }

    /// Runs `sp_renamedb`, or `sp_rename` of a database; none if it is another procedure.
    ///
    /// # Errors
    /// 15010, 15247; those of ALTER DATABASE.
    pub(crate) fn call_rename(
        &mut self,
        call: &Call<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Option<Callee>, Failure> {
        let schema = call.procedure.schema.as_ref();
        let is_system = schema.is_none_or(|schema| schema.is("sys") || schema.is("dbo"));
        let name = &call.procedure.name;
        let names = if name.is("sp_renamedb") {
            ["@dbname", "@newname"]
        } else if name.is("sp_rename") && argument(call, "@objtype", 2).is_ok_and(|kind| same_name(&kind, "DATABASE")) {
            ["@objname", "@newname"]
        } else {
            return Ok(None);
        };
        if !is_system {
            return Ok(None);
        }
        if !self.permissions.is_administrator {
            return Err(no_action().into());
        }
        self.transactions.check_none("sp_renamedb")?;
        let (old, new) = (argument(call, names[0], 0)?, argument(call, names[1], 1)?);
        let record = self.record(&old)?.ok_or_else(|| {
            let text = format!(
                "The database '{old}' does not exist. Supply a valid database name. To see available databases, use \
                 sys.databases."
            );
            // 15010: a procedure's database that there is not.
            SqlError::new(15_010, Ends::Statement, text)
        })?;
        self.rename_to(&record, &new)?;
        let text = format!("The database name '{new}' has been set.");
        execution.reply.message(&info(5021, &text, call.line))?;
        Ok(Some(Callee::Done {
            status: 0,
            outputs: Vec::new(),
        }))
    }

    fn rename_to(&mut self, record: &DatabaseRecord, new: &str) -> Result<(), SqlError> {
        let instance = self.session.instance;
        if record.is_reserved() {
            let text = format!("Cannot change the name of the system database {}.", record.name);
            // 5016: MODIFY NAME of a system database.
            return Err(SqlError::new(5016, Ends::Statement, text));
        }
        let new = DatabaseName::new(new).map_err(|error| of_master(&error))?;
        let known = self.record(new.as_str())?;
        if known.is_some_and(|known| known.id != record.id) {
            return Err(taken(new.as_str()).with_ends(Ends::Statement));
        }
        if self.transactions.current == record.id || self.is_being_scanned(record.id) {
            return Err(not_locked());
        }
        self.transactions.close(record.id);
        let _closure = self.registry.close_for_restore(record.id).ok_or_else(not_locked)?;
        let renamed = instance.master().rename_database(record.id, &new);
        self.registry.reload();
        self.registry.cleanups.drop_plans();
        renamed.map_err(|error| {
            if let MasterError::Taken(name) = &error {
                // Another session was quicker.
                return taken(name).with_ends(Ends::Statement);
            }
            of_master(&error)
        })
    }

    fn record(&self, name: &str) -> Result<Option<DatabaseRecord>, SqlError> {
        let directory = self.registry.directory(self.session.instance)?;
        let mut databases = directory.databases.iter();
        Ok(databases.find(|record| same_name(&record.name, name)).cloned())
    }

    fn record_in_use(&self) -> Result<Option<DatabaseRecord>, SqlError> {
        let directory = self.registry.directory(self.session.instance)?;
        let mut databases = directory.databases.iter();
        Ok(databases.find(|record| record.id == self.transactions.current).cloned())
    }
}

/// 5030: MODIFY NAME of a database that sessions use.
fn not_locked() -> SqlError {
    let text = "The database could not be exclusively locked to perform the operation.";
    SqlError::new(5030, Ends::Statement, text).with_state(2)
}
