//! A database that no other connection can use, until another file has replaced it.
//!
//! - exclusive-throughout: from [`ExclusiveSource::lock`] on, this connection holds SQLite's
//!   EXCLUSIVE lock, also in WAL mode, where it keeps the WAL's index in its own memory
//!   (sqlite.org/wal.html, "Use of WAL Without Shared-Memory").
//! - no-log-at-rename: when the new file gets its name, the old connection has neither WAL nor
//!   journal: SQLite deletes them by name, which would then be that of the new database's files.
//! - old-file-retired: the old file is retired before the lock is released: a process that still
//!   has it open gets an error at its next read. After a kill, too: an unencrypted file is marked
//!   before the rename, which the next connection of the VFS takes back if the rename did not
//!   follow; connections look at the name of an encrypted one (`selenite_vfs`,
//!   `main_file/move_over.rs`: mark-is-taken-back, nothing-old-is-read).
//! - locked-file-has-the-name: the locked file is the one at the path. A connection that waits for
//!   the lock of a file may get it after another file has replaced that one: a copy of the old file
//!   would then replace the new one, and logs would be deleted by name. (A replaced file is usually
//!   retired, old-file-retired; not if a kill came in between, nor if another program replaced it.)

use std::path::{Path, PathBuf};

use crate::draft::{COMPANIONS, Draft, beside, sync_folder};
use crate::error::io_error;
use crate::storage::Storage;
use crate::{Access, Database, EngineError};

/// The connection that holds the lock.
pub struct ExclusiveSource {
    database: Database,
    path: PathBuf,
    /// Device and inode of the file.
    file: (u64, u64),
    is_wal: bool,
}

impl ExclusiveSource {
    /// Takes the lock. `path` is the path of the file without symbolic links.
    ///
    /// # Errors
    /// [`EngineError::Busy`] if another connection uses it, or if another file replaced it
    /// meanwhile; errors of SQLite and the VFS.
    pub fn lock(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Self, EngineError> {
        Self::open(storage, path, access)?.locked(storage)
    }

    /// Opens the database, without a lock.
    fn open(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Self, EngineError> {
        // Read before SQLite opens it: if the path has the same file before and after, that is the
        // file that was opened in between.
        let file = file_at(storage, path)?;
        let database = Database::connect(path, &access.uri(path), access)?;
        Ok(Self {
            database,
            path: path.to_owned(),
            file,
            is_wal: false,
        })
    }

    fn locked(mut self, storage: &dyn Storage) -> Result<Self, EngineError> {
        // Before the first read: then a WAL is used without shared memory, which needs the lock on the whole file.
        self.database.text("PRAGMA main.locking_mode = EXCLUSIVE")?;
        self.database.batch("BEGIN EXCLUSIVE")?;
        self.check_name(storage)?;
        self.is_wal = self.database.text("PRAGMA main.journal_mode")? == "wal";
        self.database.batch("COMMIT")?;
        Ok(self)
    }

    /// Enforces `locked-file-has-the-name`.
    fn check_name(&self, storage: &dyn Storage) -> Result<(), EngineError> {
        if file_at(storage, &self.path)? == self.file {
            return Ok(());
        }
        Err(EngineError::Busy {
            path: self.path.clone(),
            what: "it was replaced by another file",
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

    /// Copies the log into the database file: the log is empty then, and stays so.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn empty_log(&self) -> Result<(), EngineError> {
        if self.is_wal && self.database.text("PRAGMA main.wal_checkpoint(TRUNCATE)")? != "0" {
            return Err(EngineError::Busy {
                path: self.path.clone(),
                what: "its log cannot be checkpointed",
            });
        }
        Ok(())
    }

    /// Replaces the database by the draft, which is complete and synced, and retires the old file.
    /// Returns an error of retiring it: processes that have the old file open do not notice then,
    /// but the new one is in its place nevertheless.
    ///
    /// # Errors
    /// [`EngineError::Io`] and errors of SQLite; then the old database is in its place, unchanged.
    /// Only if the folder cannot be synced after the rename ([`EngineError::Io`], `sync`), the new
    /// one is there, until a power failure.
    pub fn hand_over(self, storage: &dyn Storage, mut draft: Draft<'_>) -> Result<Option<EngineError>, EngineError> {
        let replaced = self
            .check_name(storage)
            .and_then(|()| self.put_away_logs(storage))
            .and_then(|()| self.check_name(storage))
            .and_then(|()| self.announce(true))
            .and_then(|()| draft.replace(&self.path));
        if let Err(error) = replaced {
            let _ = self.announce(false);
            self.take_back(storage);
            return Err(error);
        }
        // An encrypted file is retired only after the new name is on disk: before, a power failure
        // could bring it back.
        sync_folder(storage, &self.path)?;
        let retired = self.database.text("SELECT selenite_retire('main')");
        let closed = self.database.batch("ROLLBACK").and_then(|()| self.database.close());
        Ok(retired.and(closed.map(|()| String::new())).err())
    }

    /// Marks an unencrypted file as one whose name another takes, or takes the mark back.
    fn announce(&self, is_next: bool) -> Result<(), EngineError> {
        let is_next = u8::from(is_next);
        let announced = self
            .database
            .text(&format!("SELECT selenite_announce('main', {is_next})"));
        announced.map(drop)
    }

    /// `no-log-at-rename`: the lock is held throughout: a change of locking mode alone releases
    /// nothing, and the next transaction begins with the lock that is held.
    fn put_away_logs(&self, storage: &dyn Storage) -> Result<(), EngineError> {
        // PERSIST leaves WAL mode; and SQLite deletes its journal at once when PERSIST is left
        // while the lock is held.
        let mode = self.database.text("PRAGMA main.journal_mode = PERSIST")?;
        if mode != "persist" {
            return Err(EngineError::Busy {
                path: self.path.clone(),
                what: "its WAL cannot be removed",
            });
        }
        self.database.text("PRAGMA main.locking_mode = NORMAL")?;
        self.database.batch("BEGIN EXCLUSIVE")?;
        self.database.text("PRAGMA main.journal_mode = DELETE")?;
        // Left by a process that ended without closing; no process uses it now.
        let _ = storage.remove(&beside(&self.path, "-shm"));
        for companion in COMPANIONS {
            let path = beside(&self.path, companion);
            if storage.attributes(&path).is_ok() {
                return Err(EngineError::Busy {
                    path,
                    what: "it belongs to this database and still exists",
                });
            }
        }
        sync_folder(storage, &self.path)
    }

    /// Returns to the mode in which the database was found. An error here leaves it in rollback
    /// mode, intact.
    fn take_back(&self, storage: &dyn Storage) {
        let _ = self.database.batch("ROLLBACK");
        // locked-file-has-the-name: a WAL is named after its database.
        if self.is_wal && self.check_name(storage).is_ok() {
            let _ = self.database.text("PRAGMA main.journal_mode = WAL");
        }
    }
}

/// Uses stat(2): closing a descriptor would release the process's locks.
pub(crate) fn file_at(storage: &dyn Storage, path: &Path) -> Result<(u64, u64), EngineError> {
    let found = storage.attributes(path).map_err(io_error("read", path))?;
    Ok(found.identity)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::install;
    use crate::storage::Disk;

    const OTHER: &str = "another file";

    fn made(folder: &Path) -> PathBuf {
        install().unwrap();
        let path = folder.join("app.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE t (a)").unwrap();
        std::fs::write(folder.join("other"), OTHER).unwrap();
        path
    }

    fn replace(path: &Path) {
        std::fs::rename(path.with_file_name("other"), path).unwrap();
        std::fs::write(beside(path, "-shm"), OTHER).unwrap();
    }

    fn check(path: &Path) {
        assert_eq!(std::fs::read_to_string(path).unwrap(), OTHER);
        assert_eq!(std::fs::read_to_string(beside(path, "-shm")).unwrap(), OTHER);
    }

    /// locked-file-has-the-name: as if it had waited for the lock of a process that replaced the
    /// file, and was killed before it retired the old one.
    #[test]
    fn a_file_that_was_replaced_before_it_was_locked_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        let waiting = ExclusiveSource::open(&Disk, &path, &Access::default().allowing_plain()).unwrap();
        replace(&path);
        assert!(matches!(waiting.locked(&Disk), Err(EngineError::Busy { .. })));
        check(&path);
    }

    #[test]
    fn a_file_that_is_replaced_while_it_is_locked_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        let source = ExclusiveSource::lock(&Disk, &path, &Access::default().allowing_plain()).unwrap();
        let draft = Draft::create(&Disk, &path).unwrap();
        replace(&path);
        assert!(matches!(source.hand_over(&Disk, draft), Err(EngineError::Busy { .. })));
        check(&path);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
