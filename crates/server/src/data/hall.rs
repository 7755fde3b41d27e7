//! The databases of a server, and a workbench for each session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use selenite_plan::PlanError;

use super::data_bench::DataBench;
use super::database::SharedDatabase;
use super::directory::Directory;
use super::encryption::Scans;
use crate::Instance;
use crate::master::{DatabaseName, DatabaseRecord, LoginRecord, MasterError};
use crate::workbench::{Patron, Workbench, Workshop};

/// All databases that sessions have used since the server began.
#[derive(Default)]
pub struct Hall {
    known: Mutex<HashMap<i32, Arc<SharedDatabase>>>,
    directory: Mutex<Option<Arc<Directory>>>,
    scans: Scans,
}

impl Hall {
    /// The database of a record.
    ///
    /// # Errors
    /// A name that is no file's.
    pub fn database(&self, instance: &Instance, record: &DatabaseRecord) -> Result<Arc<SharedDatabase>, PlanError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = known.get(&record.id)
            && shared.record == *record
        {
            return Ok(shared.clone());
        }
        let path = if record.is_reserved() && record.id != MASTER {
            None
        } else if record.id == MASTER {
            Some(instance.master().path().to_owned())
        } else {
            let name = DatabaseName::new(&record.name).map_err(|error| of_master(&error))?;
            Some(name.path(instance.data_folder()))
        };
        let shared = Arc::new(SharedDatabase::new(record.clone(), path));
        known.insert(record.id, shared.clone());
        Ok(shared)
    }

    /// Databases and logins, as they were told last.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn directory(&self, instance: &Instance) -> Result<Arc<Directory>, PlanError> {
        let mut kept = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = &*kept {
            return Ok(directory.clone());
        }
        let directory = Arc::new(Directory::of(instance).map_err(|error| of_master(&error))?);
        *kept = Some(directory.clone());
        Ok(directory)
    }

    /// Databases or logins were changed.
    pub fn reload(&self) {
        *self.directory.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Databases whose pages are being sealed anew.
    pub fn scans(&self) -> &Scans {
        &self.scans
    }

    /// Forgets a database that was dropped.
    pub fn forget(&self, id: i32) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}

impl Workshop for Hall {
    fn admits(&self, _instance: &Instance, _login: &LoginRecord, _database: &DatabaseRecord) -> bool {
        true
    }

    fn open<'a>(&'a self, patron: Patron<'a>) -> Result<Box<dyn Workbench + 'a>, PlanError> {
        Ok(Box::new(DataBench::open(self, patron)?))
    }

    fn begin(&self, instance: &Arc<Instance>) {
        self.scans.open(instance);
    }

    fn close(&self) {
        self.scans.close();
    }
}

/// What master.db says, as a T-SQL error.
pub fn of_master(error: &MasterError) -> PlanError {
    PlanError::new(
        50823,
        selenite_plan::Ends::Batch,
        format!("The database 'master' says: {error}."),
    )
}

/// The id of master.
pub const MASTER: i32 = 1;
