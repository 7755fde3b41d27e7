//! The open databases of one copy of SQLite, so that a WAL, a journal or a connection finds its
//! database.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::database::Database;
use crate::ffi::{Name, SchemaFile};
use crate::host::Host;
use crate::last_errors::{LastError, OpenFile};

/// The open databases of one copy of SQLite.
#[derive(Default)]
pub struct OpenDatabases {
    open: Mutex<Vec<Open>>,
}

struct Open {
    name_address: usize,
    path: String,
    database: Weak<Database>,
    /// The result of [`LastErrors::opened`].
    since: u64,
}

impl OpenDatabases {
    /// Adds an open database, so that its WAL and journals find it.
    pub fn add(&self, name: &Name<'_>, database: &Arc<Database>) {
        let since = database.host.last_errors().opened(&name.path().to_string_lossy());
        let mut open = self.lock();
        open.retain(|entry| entry.database.strong_count() > 0);
        open.push(Open {
            name_address: name.address(),
            path: name.path().to_string_lossy().into_owned(),
            database: Arc::downgrade(database),
            since,
        });
    }

    /// The database to which a WAL or journal belongs: by the connection's own name, or else by
    /// path (a VFS above this one may pass its own names).
    #[must_use]
    pub fn find(&self, database_name: &Name<'_>) -> Option<Arc<Database>> {
        let open = self.lock();
        let own = open
            .iter()
            .rev()
            .find(|entry| entry.name_address == database_name.address());
        if let Some(database) = own.and_then(|entry| entry.database.upgrade()) {
            return Some(database);
        }
        database_at(&open, &database_name.path().to_string_lossy())
    }

    /// The database to which a WAL or journal belongs, if the name does not refer to one: SQLite's
    /// multiplexor passes only a copy of the path (`sqlite3_create_filename`).
    #[must_use]
    pub fn find_by_suffix(&self, name: &Name<'_>) -> Option<Arc<Database>> {
        let path = name.path().to_string_lossy();
        let path = ["-journal", "-wal"]
            .iter()
            .find_map(|suffix| path.strip_suffix(suffix))?;
        database_at(&self.lock(), path)
    }

    /// Why a file of the connection was last refused, or one that it could not attach.
    pub(crate) fn last_error_of(&self, host: &Host, files: &[SchemaFile]) -> Option<LastError> {
        let open = self.lock();
        let main = files.first().and_then(|file| {
            let entry = open
                .iter()
                .rev()
                .find(|entry| Some(entry.name_address) == file.address)?;
            Some(OpenFile {
                path: entry.path.clone(),
                since: entry.since,
            })
        });
        let attached: Vec<String> = files.iter().filter_map(|file| file.path.clone()).collect();
        host.last_errors().of_connection(main.as_ref(), &attached).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The database that was opened last under that path.
fn database_at(open: &[Open], path: &str) -> Option<Arc<Database>> {
    open.iter()
        .rev()
        .filter(|entry| entry.path == path)
        .find_map(|entry| entry.database.upgrade())
}
