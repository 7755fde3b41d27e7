//! An open encrypted database: SQL, and changes of its keys.

use std::cell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthContext, Authorization};
use rusqlite::{Connection, OpenFlags};
use selenite_keyring::Unlocked;
use selenite_vfs::change;
use selenite_vfs::error::VfsError;

use crate::sqlite_error::translate;
use crate::storage::Storage;
use crate::superblock_file::{FileContent, inspect};
use crate::{Access, EngineError, Layout, Watch, sqlite};

/// An open database. It is closed when it is dropped.
pub struct Database {
    connection: Connection,
    path: PathBuf,
    /// How long to wait for locks.
    policy: cell::Cell<Duration>,
}

/// A value in a row.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "SQLite's own types")]
pub enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// Receives the rows of statements.
pub trait Rows {
    /// A statement that returns rows begins; `columns` are the names of its columns.
    fn begin(&mut self, columns: &[String]);

    /// A row. Returns whether to continue.
    fn row(&mut self, cells: Vec<Cell>) -> bool;

    /// The statement is complete.
    fn end(&mut self);
}

/// The decision on a change of keys.
pub(crate) enum KeyChange<R> {
    /// Write these keys. The flag is true if the change revokes access.
    Write(Box<Unlocked>, bool, R),
    /// Write nothing.
    Keep(R),
}

impl Database {
    /// Opens an existing database.
    ///
    /// # Errors
    /// [`EngineError::NotEncrypted`], [`EngineError::Key`], [`EngineError::Io`]; errors of SQLite
    /// and the VFS.
    pub fn open(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Self, EngineError> {
        Self::open_with(storage, path, access, FLAGS)
    }

    /// As [`Database::open`], for reading: a hot journal is an error and stays as it is.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub(crate) fn open_to_read(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Self, EngineError> {
        let flags = FLAGS.difference(OpenFlags::SQLITE_OPEN_READ_WRITE) | OpenFlags::SQLITE_OPEN_READ_ONLY;
        Self::open_with(storage, path, access, flags)
    }

    fn open_with(storage: &dyn Storage, path: &Path, access: &Access, flags: OpenFlags) -> Result<Self, EngineError> {
        sqlite::install()?;
        access.check()?;
        storage.attributes(path).map_err(crate::error::io_error("open", path))?;
        check_file(storage, path, access)?;
        Self::connect_with(path, &access.uri(path), access, flags)
    }

    /// Creates a new database for the identity in force.
    ///
    /// # Errors
    /// [`EngineError::Exists`] if the file exists already; [`EngineError::Key`] without an
    /// identity; errors of SQLite and the VFS.
    pub fn create(storage: &dyn Storage, path: &Path, access: &Access, layout: &Layout) -> Result<Self, EngineError> {
        sqlite::install()?;
        access.check()?;
        if storage.attributes(path).is_ok_and(|attributes| attributes.size > 0) {
            return Err(EngineError::Exists {
                path: path.to_owned(),
                can_force: false,
            });
        }
        access.require_identity_to_create()?;
        let flags = FLAGS | OpenFlags::SQLITE_OPEN_CREATE;
        let database = Self::connect_with(path, &access.new_uri(path, layout), access, flags)?;
        // SQLite writes a new file only with its first table. Setting the version, even to 0, makes
        // it write at once.
        database.batch("BEGIN IMMEDIATE; PRAGMA user_version = 0; COMMIT")?;
        Ok(database)
    }

    /// Returns the connection, and keeps it open.
    pub(crate) fn into_connection(self) -> Connection {
        self.connection
    }

    pub(crate) fn connect(path: &Path, uri: &crate::file_uri::FileUri, access: &Access) -> Result<Self, EngineError> {
        Self::connect_with(path, uri, access, FLAGS)
    }

    fn connect_with(
        path: &Path,
        uri: &crate::file_uri::FileUri,
        access: &Access,
        flags: OpenFlags,
    ) -> Result<Self, EngineError> {
        let connection = Connection::open_with_flags(uri.as_str(), flags).map_err(|error| translate(error, path))?;
        let database = Self {
            connection,
            path: path.to_owned(),
            policy: cell::Cell::default(),
        };
        database.wait_for_locks(access.busy_wait)?;
        Ok(database)
    }

    /// Sets how long to wait for locks from now on.
    pub(crate) fn wait_for_locks(&self, policy: Duration) -> Result<(), EngineError> {
        self.policy.set(policy);
        let waits = self.connection.busy_timeout(policy);
        waits.map_err(|error| self.error(error))
    }

    /// Takes SQLite's write lock. SQLite's own busy handler waits in steps of up to 100 ms and, if
    /// others write continuously, rarely tries between two of their commits. This function tries
    /// every millisecond.
    ///
    /// # Errors
    /// [`EngineError::Busy`]; errors of SQLite.
    pub(crate) fn begin(&self) -> Result<(), EngineError> {
        self.try_begin().map_err(|error| self.error(error))
    }

    fn try_begin(&self) -> Result<(), rusqlite::Error> {
        let until = Instant::now() + self.policy.get();
        self.connection.busy_timeout(Duration::ZERO)?;
        let begun = loop {
            match self.connection.execute_batch("BEGIN IMMEDIATE") {
                Err(error) if is_busy(&error) && Instant::now() < until => std::thread::sleep(LOOK_AGAIN),
                begun => break begun,
            }
        };
        self.connection.busy_timeout(self.policy.get())?;
        begun
    }

    /// Interrupts long statements when `watch` demands it.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn watch(&mut self, watch: &Watch) -> Result<(), EngineError> {
        let watch = watch.clone();
        self.on_progress(move || watch.is_interrupted())
    }

    /// Runs statements one after the other, and passes their rows on.
    ///
    /// # Errors
    /// Errors of SQLite and the VFS; the statements before are complete then.
    pub fn run(&self, sql: &str, rows: &mut dyn Rows) -> Result<(), EngineError> {
        self.try_run(sql, rows).map_err(|error| self.error(error))
    }

    fn try_run(&self, sql: &str, rows: &mut dyn Rows) -> Result<(), rusqlite::Error> {
        let mut batch = rusqlite::Batch::new(&self.connection, sql);
        while let Some(mut statement) = batch.next()? {
            // `column_names` is another type in rusqlite before 0.41.
            let columns = (0..statement.column_count())
                .map(|index| statement.column_name(index).map(str::to_owned))
                .collect::<Result<Vec<_>, _>>()?;
            let mut answer = statement.raw_query();
            if columns.is_empty() {
                while answer.next()?.is_some() {}
                continue;
            }
            rows.begin(&columns);
            while let Some(row) = answer.next()? {
                let cells = (0..columns.len())
                    .map(|index| row.get_ref(index).map(cell))
                    .collect::<Result<Vec<_>, _>>()?;
                if !rows.row(cells) {
                    break;
                }
            }
            rows.end();
        }
        Ok(())
    }

    /// Changes keys under SQLite's write lock. `change` receives the keys that are on disk then.
    pub(crate) fn change<R: Send + 'static>(
        &self,
        change: impl FnOnce(&Unlocked) -> Result<KeyChange<R>, EngineError> + Send + 'static,
    ) -> Result<R, EngineError> {
        let outcome = Arc::new(Mutex::new(None));
        let shared = outcome.clone();
        let token = change::stage(Box::new(move |unlocked| {
            let set = |value| *shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            match change(unlocked) {
                Ok(KeyChange::Write(new, revokes_access, result)) => {
                    set(Ok((true, result)));
                    Ok((*new, revokes_access))
                }
                Ok(KeyChange::Keep(result)) => {
                    set(Ok((false, result)));
                    Err(VfsError::Setting("nothing to change".to_owned()))
                }
                Err(error) => {
                    set(Err(error));
                    Err(VfsError::Setting("the change was refused".to_owned()))
                }
            }
        }));
        let applied = self.apply(token);
        change::withdraw(token);
        let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (applied, outcome) {
            (_, Some(Err(error))) => Err(error),
            (Ok(()), Some(Ok((_, result)))) | (Err(_), Some(Ok((false, result)))) => Ok(result),
            (Err(error), _) => Err(self.error(error)),
            (Ok(()), None) => Err(EngineError::usage("the change was not made", "report this")),
        }
    }

    fn apply(&self, token: i64) -> Result<(), rusqlite::Error> {
        self.try_begin()?;
        let applied = self
            .connection
            .query_row("SELECT selenite_apply(?1)", [token], |_| Ok(()));
        // Not COMMIT: it would wait for readers to end (vdbeCommit in vdbeaux.c takes the exclusive
        // lock), and SQLite itself has nothing to write.
        let ended = self.connection.execute_batch("ROLLBACK");
        applied.and(ended)
    }

    /// The keys of this database, as the VFS has them: no identity is asked a second time.
    pub(crate) fn unlocked(&self) -> Result<Unlocked, EngineError> {
        self.change(|unlocked| Ok(KeyChange::Keep(unlocked.duplicate())))
    }

    pub(crate) fn batch(&self, sql: &str) -> Result<(), EngineError> {
        self.connection.execute_batch(sql).map_err(|error| self.error(error))
    }

    /// The first value of the first row, as text; empty if there is none.
    pub(crate) fn text(&self, sql: &str) -> Result<String, EngineError> {
        let first = self.connection.query_row(sql, [], |row| row.get_ref(0).map(cell));
        match first {
            Ok(Cell::Text(text)) => Ok(text),
            Ok(Cell::Integer(number)) => Ok(number.to_string()),
            Ok(Cell::Null | Cell::Real(_) | Cell::Blob(_)) | Err(rusqlite::Error::QueryReturnedNoRows) => {
                Ok(String::new())
            }
            Err(error) => Err(self.error(error)),
        }
    }

    /// The first value of the first row, as a number; 0 if it is none.
    pub(crate) fn number(&self, sql: &str) -> Result<u64, EngineError> {
        Ok(self.text(sql)?.parse().unwrap_or(0))
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn error(&self, error: rusqlite::Error) -> EngineError {
        translate(error, &self.path)
    }

    /// Calls `stop` regularly while statements run; true interrupts them.
    pub(crate) fn on_progress(&mut self, stop: impl FnMut() -> bool + Send + 'static) -> Result<(), EngineError> {
        let set = self.connection.progress_handler(STEP_COUNT, Some(stop));
        set.map_err(|error| self.error(error))
    }

    /// Calls `decide` for what a statement would do, while it is compiled.
    pub(crate) fn authorize(
        &mut self,
        decide: impl FnMut(AuthContext<'_>) -> Authorization + Send + 'static,
    ) -> Result<(), EngineError> {
        let set = self.connection.authorizer(Some(decide));
        set.map_err(|error| self.error(error))
    }

    /// Closes the connection. Returns errors of closing, which a drop ignores.
    pub(crate) fn close(self) -> Result<(), EngineError> {
        let path = self.path;
        self.connection.close().map_err(|(_, error)| translate(error, &path))
    }
}

/// Refuses a file that is not encrypted, unless this process has it open: then SQLite has checked
/// it already.
fn check_file(storage: &dyn Storage, path: &Path, access: &Access) -> Result<(), EngineError> {
    match inspect(storage, path) {
        Err(EngineError::Busy { .. }) => Ok(()),
        Ok(FileContent::Plain) if access.allow_plain => Ok(()),
        Ok(FileContent::Sealed { .. }) => access.require(),
        present => present?.sealed(path).map(drop),
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

fn cell(value: rusqlite::types::ValueRef<'_>) -> Cell {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

/// The file must exist; one thread at a time.
const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_URI)
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// 4096 instructions of SQLite's virtual machine: a fraction of a millisecond.
const STEP_COUNT: i32 = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Disk;
    use crate::{Layout, install};

    #[test]
    fn a_change_that_could_not_be_made_is_not_kept() {
        install().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        std::fs::write(&key, [7; 32]).unwrap();
        let access = Access {
            identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
            busy_wait: std::time::Duration::from_millis(20),
            ..Access::default()
        };
        let path = folder.path().join("app.db");
        let holder = Database::create(&Disk, &path, &access, &Layout::default()).unwrap();
        let other = Database::open(&Disk, &path, &access).unwrap();
        holder.batch("BEGIN IMMEDIATE").unwrap();

        let kept = Arc::new(());
        let inside = kept.clone();
        let changed = other.change(move |_| {
            drop(inside);
            Ok(KeyChange::Keep(()))
        });
        assert!(matches!(changed, Err(EngineError::Busy { .. })), "{changed:?}");
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
