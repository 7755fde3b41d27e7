//! Statements about databases as a whole: CREATE and DROP DATABASE, CHECKPOINT.

use selenite_engine::storage::Disk;
use selenite_engine::{Database, Layout, Suite};
use selenite_plan::machine::{Affected, Failure, TableStatement};
use selenite_plan::{Ends, PlanError, same_name};
use selenite_tsql::ast::{self, StatementKind};
use selenite_types::Value;

use super::data_bench::{DataBench, words};
use super::hall::of_master;
use crate::master::{DatabaseName, MasterError};
use crate::workbench::Errand;

impl DataBench<'_> {
    /// Carries out a statement that is about no rows and no objects.
    pub(super) fn administer(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &[Value],
        errand: &mut Errand<'_>,
    ) -> Result<Affected, Failure> {
        if self.encryption(statement, errand)? {
            return Ok(Affected::Nothing);
        }
        let kind = &statement.statement.kind;
        if let StatementKind::AlterDatabase(alter) = kind
            && self.set_durability(alter, errand)?.is_some()
        {
            return Ok(Affected::Nothing);
        }
        if let Some(affected) = self.secure(statement, errand)? {
            return Ok(affected);
        }
        if let StatementKind::Backup(backup) = kind {
            return self.back_up(backup, statement, slots, errand);
        }
        if let StatementKind::Restore(restore) = kind {
            return self.restore(restore, statement, slots, errand);
        }
        if let StatementKind::CreateDatabase(create) = kind {
            self.create_database(create)?;
            return Ok(Affected::Nothing);
        }
        if let StatementKind::Drop(drop) = kind
            && drop.kind == ast::DropKind::Database
        {
            for name in &drop.names {
                self.drop_database(&name.name.text, drop.if_exists)?;
            }
            return Ok(Affected::Nothing);
        }
        Err(PlanError::unsupported(&words(statement))
            .with_ends(Ends::Statement)
            .into())
    }

    fn create_database(&mut self, create: &ast::CreateDatabase) -> Result<(), PlanError> {
        self.check_no_transaction("CREATE DATABASE")?;
        let name = DatabaseName::new(&create.name.text).map_err(|error| of_master(&error))?;
        let instance = self.patron.instance;
        let record = match instance.master().add_database(&name) {
            Ok(record) => record,
            Err(MasterError::Taken(name)) => {
                let text = format!("Database '{name}' already exists. Choose a different database name.");
                return Err(PlanError::new(1801, Ends::Batch, text).with_state(3));
            }
            Err(error) => return Err(of_master(&error)),
        };
        // In clear until SET ENCRYPTION ON, as SQL Server has it; the layout is the one that it is switched on in.
        let layout = Layout {
            suite: Suite::None,
            ..Layout::default()
        };
        let access = selenite_engine::Access {
            allow_plain: true,
            ..instance.access().clone()
        };
        let path = name.path(instance.data_folder());
        let made = Database::create(&Disk, &path, &access, &layout);
        if let Err(error) = made {
            // The name is free again; what is there of the file is somebody else's.
            let _ = instance.master().remove_database(name.as_str());
            let text = format!("CREATE DATABASE failed: {error}.");
            return Err(PlanError::new(1802, Ends::Batch, text).with_state(4));
        }
        self.hall.reload();
        let shared = self.hall.database(instance, &record)?;
        let database =
            super::database::OpenDatabase::connect(shared, instance.access(), self.patron.interrupts.clone())?;
        super::catalog_rows::ensure(&database.connection, "main")?;
        database.wait_for_disk(database.note_commit())
    }

    fn drop_database(&mut self, name: &str, if_exists: bool) -> Result<(), PlanError> {
        self.check_no_transaction("DROP DATABASE")?;
        let instance = self.patron.instance;
        let found = self.hall.directory(instance)?;
        let found = found
            .databases
            .iter()
            .find(|record| same_name(&record.name, name))
            .cloned();
        let Some(record) = found else {
            if if_exists {
                return Ok(());
            }
            let text =
                format!("Cannot drop the database '{name}', because it does not exist or you do not have permission.");
            return Err(PlanError::new(3701, Ends::Statement, text).with_severity(11));
        };
        if record.is_reserved() {
            let text = format!("Cannot drop database '{name}' because it is a system database.");
            return Err(PlanError::new(3708, Ends::Statement, text));
        }
        let in_use = || {
            let text = format!("Cannot drop database \"{name}\" because it is currently in use.");
            PlanError::new(3702, Ends::Statement, text).with_state(4)
        };
        if self.current == record.id || self.is_being_scanned(record.id) {
            return Err(in_use());
        }
        self.close_database(record.id);
        let shared = self.hall.database(instance, &record)?;
        // Whoever else has it open has the value, too: the hall's, and this one.
        if std::sync::Arc::strong_count(&shared) > 2 {
            return Err(in_use());
        }
        let path = shared.path.clone();
        drop(shared);
        self.hall.forget(record.id);
        instance
            .master()
            .remove_database(&record.name)
            .map_err(|error| of_master(&error))?;
        self.hall.reload();
        for suffix in ["-selenite", "-selenite-pause", "-wal", "-shm", "-journal", ""] {
            if let Some(path) = &path {
                let mut name = path.clone().into_os_string();
                name.push(suffix);
                match std::fs::remove_file(&name) {
                    Ok(()) => {}
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => {
                        let text = format!(
                            "The file of the database '{}' could not be removed: {error}.",
                            record.name
                        );
                        return Err(PlanError::new(5009, Ends::Statement, text));
                    }
                }
            }
        }
        Ok(())
    }

    /// 226 in a transaction of the client's.
    pub(super) fn check_no_transaction(&self, statement: &str) -> Result<(), PlanError> {
        if self.is_in_transaction() {
            let text = format!("{statement} statement not allowed within multi-statement transaction.");
            return Err(PlanError::new(226, Ends::Batch, text).with_state(6));
        }
        Ok(())
    }
}
