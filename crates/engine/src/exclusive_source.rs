//! A database that nobody else can use, until another file has taken its place.
//!
//! X1. From [`ExclusiveSource::lock`] on this connection holds SQLite's EXCLUSIVE lock: in WAL mode, too, where it
//!     keeps the WAL's index in its own memory (sqlite.org/wal.html, "Use of WAL Without Shared-Memory").
//! X2. When the new file gets its name, the old connection has neither WAL nor journal: SQLite deletes those by name,
//!     and the name would be the new database's.
//! X3. Whoever still has the old file open is told at its next read: it is retired before the lock is released.

use std::path::{Path, PathBuf};

use crate::draft::{COMPANIONS, Draft, beside, sync_folder};
use crate::storage::Storage;
use crate::{Access, Database, EngineError};

/// The connection that holds the lock.
pub struct ExclusiveSource {
    database: Database,
    path: PathBuf,
    is_wal: bool,
}

impl ExclusiveSource {
    /// Takes the lock. `path` is the file's own name, without links.
    ///
    /// # Errors
    /// [`EngineError::Busy`] if anybody uses it; what SQLite and the VFS say.
    pub fn lock(path: &Path, access: &Access) -> Result<Self, EngineError> {
        let database = Database::connect(path, &access.uri(path), access)?;
        // Before the first read: then a WAL is used without shared memory, which needs the lock on the whole file.
        database.text("PRAGMA main.locking_mode = EXCLUSIVE")?;
        database.batch("BEGIN EXCLUSIVE")?;
        let is_wal = database.text("PRAGMA main.journal_mode")? == "wal";
        database.batch("COMMIT")?;
        Ok(Self {
            database,
            path: path.to_owned(),
            is_wal,
        })
    }

    /// The connection.
    pub fn database(&mut self) -> &mut Database {
        &mut self.database
    }

    /// Whether it is in WAL mode.
    pub fn is_wal(&self) -> bool {
        self.is_wal
    }

    /// Has everything in the database file: its log is empty then, and stays so.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn empty_log(&self) -> Result<(), EngineError> {
        if self.is_wal && self.database.text("PRAGMA main.wal_checkpoint(TRUNCATE)")? != "0" {
            return Err(EngineError::Busy {
                path: self.path.clone(),
                what: "its log can't be emptied",
            });
        }
        Ok(())
    }

    /// Puts the draft in its place, which is complete and on disk, and retires the old file. Answers why that could not
    /// be told to who has the old file open, if so: the new one is in its place all the same.
    ///
    /// # Errors
    /// [`EngineError::Io`] and what SQLite says; then the old database is in its place, as it was. Only if the folder
    /// can't be synced after the rename ([`EngineError::Io`], `sync`) is the new one there, until the power fails.
    pub fn hand_over(self, storage: &dyn Storage, mut draft: Draft<'_>) -> Result<Option<EngineError>, EngineError> {
        let replaced = self.put_away_logs(storage).and_then(|()| draft.replace(&self.path));
        if let Err(error) = replaced {
            self.take_back();
            return Err(error);
        }
        // Not retired before the new name is on disk: a power failure could bring the old one back.
        sync_folder(storage, &self.path)?;
        let retired = self.database.text("SELECT selenite_retire('main')");
        let closed = self.database.batch("ROLLBACK").and_then(|()| self.database.close());
        Ok(retired.and(closed.map(|()| String::new())).err())
    }

    /// X2. The lock is held throughout: a change of locking mode alone releases nothing, and the transaction that
    /// follows begins with the lock that is there.
    fn put_away_logs(&self, storage: &dyn Storage) -> Result<(), EngineError> {
        // PERSIST leaves WAL mode; and SQLite deletes its journal at once where PERSIST is left with the lock held.
        let mode = self.database.text("PRAGMA main.journal_mode = PERSIST")?;
        if mode != "persist" {
            return Err(EngineError::Busy {
                path: self.path.clone(),
                what: "its WAL can't be put away",
            });
        }
        self.database.text("PRAGMA main.locking_mode = NORMAL")?;
        self.database.batch("BEGIN EXCLUSIVE")?;
        self.database.text("PRAGMA main.journal_mode = DELETE")?;
        // Of a process that ended without closing; nobody uses it now.
        let _ = storage.remove(&beside(&self.path, "-shm"));
        for companion in COMPANIONS {
            let path = beside(&self.path, companion);
            if storage.attributes(&path).is_ok() {
                return Err(EngineError::Busy {
                    path,
                    what: "it belongs to this database, and is still there",
                });
            }
        }
        sync_folder(storage, &self.path)
    }

    /// Back to the mode in which it was found. What fails here leaves it in rollback mode, whole.
    fn take_back(&self) {
        let _ = self.database.batch("ROLLBACK");
        if self.is_wal {
            let _ = self.database.text("PRAGMA main.journal_mode = WAL");
        }
    }
}
