//! The databases of a server, and an executor for each session.
//!
//! - `no-access-during-restore`: no session can open a database that is being restored to: a
//!   session that uses it meanwhile gets 927.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use selenite_compiler::{SqlError, same_name};

use crate::Instance;
use crate::catalog::directory::Directory;
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::principals::{Principals, has_guests};
use crate::database::application_locks::ApplicationLocks;
use crate::database::cleanups::Cleanups;
use crate::database::database_connection::SharedDatabase;
use crate::database::database_use::DatabaseUse;
use crate::database::expectation::tempdb;
use crate::database::globals::Globals;
use crate::database::log_sync::{LogSync, SyncFigures};
use crate::database::scans::Scans;
use crate::database::unfinished::Settlement;
use crate::database::write_queue::Waits;
use crate::database_error::of_master;
use crate::master::{DatabaseOptions, DatabaseRecord, LoginRecord, MASTER, TEMPDB, UserAccess};
use crate::temporary_database::remove_left;

/// All databases that sessions have used since the server began.
#[derive(Default)]
pub struct DatabaseRegistry {
    known: Mutex<HashMap<i32, Arc<SharedDatabase>>>,
    directory: Mutex<Option<Arc<Directory>>>,
    /// Held by a change of logins, roles of the server and permissions on it.
    server_change: Mutex<()>,
    scans: Scans,
    pub(crate) waits: Arc<Waits>,
    /// Locks that clients name themselves.
    pub(crate) application_locks: Arc<ApplicationLocks>,
    /// Global temporary objects.
    pub(crate) globals: Globals,
    /// The requests to drop caches.
    pub(crate) cleanups: Cleanups,
    /// `no-access-during-restore`: locked after `known`.
    closed: Mutex<HashSet<i32>>,
}

/// A database that no session can open until this is dropped.
pub struct Closure<'a> {
    database_registry: &'a DatabaseRegistry,
    id: i32,
}

impl DatabaseRegistry {
    /// The database of a record.
    ///
    /// # Errors
    /// An invalid file name; 927 for a database that is being restored.
    pub fn database(&self, instance: &Instance, record: &DatabaseRecord) -> Result<Arc<SharedDatabase>, SqlError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if self.closed().contains(&record.id) {
            return Err(in_restore(&record.name));
        }
        let options = self.directory(instance)?.options(record.id);
        if options.is_offline() {
            return Err(offline(&record.name));
        }
        if let Some(shared) = known.get(&record.id)
            && shared.record == *record
        {
            return Ok(shared.clone());
        }
        let path = if record.id == TEMPDB {
            Some(tempdb(instance)?.path().to_owned())
        } else if record.is_reserved() && record.id != MASTER {
            None
        } else if record.id == MASTER {
            Some(instance.master().path().to_owned())
        } else {
            let path = record.path(instance.data_folder());
            Some(path.map_err(|error| of_master(&error))?)
        };
        let shared = Arc::new(SharedDatabase::new(record.clone(), path, self.waits.clone()));
        shared.set_read_only(options.is_read_only());
        known.insert(record.id, shared.clone());
        Ok(shared)
    }

    /// Databases and logins, as they were last read.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn directory(&self, instance: &Instance) -> Result<Arc<Directory>, SqlError> {
        let mut kept = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = &*kept {
            return Ok(directory.clone());
        }
        let directory = Arc::new(Directory::of(instance).map_err(|error| of_master(&error))?);
        *kept = Some(directory.clone());
        Ok(directory)
    }

    /// The database of an id, if a session has used it.
    pub(crate) fn known(&self, id: i32) -> Option<Arc<SharedDatabase>> {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned()
    }

    /// ALTER DATABASE has set a database's options.
    pub(crate) fn note_options(&self, id: i32, options: &DatabaseOptions) {
        if let Some(shared) = self.known(id) {
            shared.set_read_only(options.is_read_only());
        }
    }

    /// Notes that a session uses a database, which it will open.
    ///
    /// # Errors
    /// 924 for a database in SINGLE_USER that another session uses.
    pub(crate) fn begin_use(
        &self,
        instance: &Instance,
        shared: &SharedDatabase,
        session: u16,
    ) -> Result<DatabaseUse, SqlError> {
        let name = &shared.record.name;
        let is_single = self.directory(instance)?.options(shared.record.id).user_access() == UserAccess::Single;
        shared.users.begin(session, is_single).ok_or_else(|| {
            let text = format!("Database '{name}' is already open and can only have one user at a time.");
            // 924: a database in SINGLE_USER that another session uses.
            SqlError::new(924, selenite_compiler::Ends::Batch, text).with_severity(14)
        })
    }

    /// Refuses a database in RESTRICTED_USER to a login that is no administrator and not in its `db_owner`.
    ///
    /// # Errors
    /// 923; what keeps its users from being read.
    pub(crate) fn check_restricted(
        &self,
        instance: &Instance,
        (record, connection): (&DatabaseRecord, &Connection),
        sid: &[u8],
    ) -> Result<(), SqlError> {
        if self.directory(instance)?.options(record.id).user_access() != UserAccess::Restricted {
            return Ok(());
        }
        let principals = Principals::load(connection)?;
        let user = principals.of_login(sid);
        if user.is_some_and(|user| principals.with_roles(user.id).contains(&FixedRole::Owner.id())) {
            return Ok(());
        }
        let name = &record.name;
        let text = format!(
            "Database '{name}' is in restricted mode. Only the database owner and members of the dbcreator and sysadmin \
             roles can access it."
        );
        // 923: a database in RESTRICTED_USER.
        Err(SqlError::new(923, selenite_compiler::Ends::Batch, text).with_severity(14))
    }

    /// Whether a login may use a database.
    ///
    /// # Errors
    /// What keeps its users from being read.
    pub fn lets_in(&self, instance: &Instance, sid: &[u8], record: &DatabaseRecord) -> Result<bool, SqlError> {
        let directory = self.directory(instance)?;
        if directory.is_administrator(sid) || has_guests(record.id) {
            return Ok(true);
        }
        let shared = self.database(instance, record)?;
        let Some(path) = &shared.path else { return Ok(false) };
        let connection = crate::database::database_connection::look_at(instance, record, path)?;
        Ok(Principals::load(&connection)?.lets_in(sid, directory.has_control(sid)))
    }

    /// Begins a change of logins, roles of the server or permissions on it: one at a time.
    pub(crate) fn begin_server_change(&self) -> MutexGuard<'_, ()> {
        self.server_change.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Databases or logins were changed.
    pub fn reload(&self) {
        *self.directory.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Databases whose pages are being re-encrypted.
    pub fn scans(&self) -> &Scans {
        &self.scans
    }

    /// How many commits waited for how many syncs since the server began; `None` for a database that no session has
    /// used.
    #[must_use]
    pub fn sync_figures(&self, database: &str) -> Option<SyncFigures> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = known.values().find(|shared| same_name(&shared.record.name, database))?;
        shared.log.as_ref().map(LogSync::figures)
    }

    /// Prevents the database from being opened; `None` if a session has it open.
    pub fn close_for_restore(&self, id: i32) -> Option<Closure<'_>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.get(&id).is_some_and(|shared| Arc::strong_count(shared) > 1) {
            return None;
        }
        let is_free = self.closed().insert(id);
        // What was known of its file applies to the previous one.
        known.remove(&id);
        is_free.then_some(Closure {
            database_registry: self,
            id,
        })
    }

    fn closed(&self) -> MutexGuard<'_, HashSet<i32>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a database that was dropped.
    pub fn forget(&self, id: i32) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}

impl Drop for Closure<'_> {
    fn drop(&mut self) {
        self.database_registry.closed().remove(&self.id);
    }
}

/// 942: a database that is offline.
fn offline(name: &str) -> SqlError {
    let text = format!("Database '{name}' cannot be opened because it is offline.");
    SqlError::new(942, selenite_compiler::Ends::Batch, text)
        .with_severity(14)
        .with_state(4)
}

/// 927: a database that is being restored.
fn in_restore(name: &str) -> SqlError {
    let text = format!("Database '{name}' cannot be opened. It is in the middle of a restore.");
    SqlError::new(927, selenite_compiler::Ends::Batch, text)
        .with_severity(14)
        .with_state(2)
}

impl DatabaseRegistry {
    /// Whether a login may use an existing database.
    pub(crate) fn admits(&self, instance: &Instance, login: &LoginRecord, database: &DatabaseRecord) -> bool {
        let is_open = self
            .directory(instance)
            .map(|directory| !directory.options(database.id).is_offline());
        match is_open.and_then(|is_open| Ok(is_open && self.lets_in(instance, &login.sid, database)?)) {
            Ok(is_let_in) => is_let_in,
            Err(error) => {
                let name = &database.name;
                instance.log().line(&format!(
                    "whether a login may use '{name}' could not be found out: {error}"
                ));
                false
            }
        }
    }

    /// The server has started: unfinished background work continues. Called once, before the first session.
    pub(crate) fn begin(&self, instance: &Arc<Instance>) {
        remove_left(instance.data_folder());
        let settlement = Settlement {
            master: instance.master(),
            folder: instance.data_folder(),
            access: instance.access(),
            log: instance.log(),
        };
        settlement.all();
        self.scans.open(instance);
    }

    /// Ends the background work. Called once, when no session is left.
    pub(crate) fn close(&self) {
        self.scans.close();
    }
}
