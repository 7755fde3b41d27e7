//! A database in rollback mode is in WAL mode while it is copied and followed (`wal-throughout`).
//!
//! SQLite changes the mode under its exclusive lock; connections that are in no transaction then find it in page 1
//! (`lockBtree` in btree.c). Back it goes only if no other connection has the database open in WAL mode, or the one
//! that was replaced: each holds SHARED. Otherwise it stays in WAL mode, and the outcome says so.
//!
//! In rollback mode a connection outside a transaction holds no lock, so that its process is only known by its
//! descriptors. All processes are looked at, here and at the end.

use std::time::Duration;

use super::{FIRST_PAUSE, Run, TRY_MAX, begin_reading};
use crate::error::Class;
use crate::{Access, Database, EngineError, lock_holders};

impl Run<'_> {
    /// How the database is opened, whether it was converted or not.
    fn either(&self) -> Access {
        self.access.allowing_plain()
    }

    /// # Errors
    /// [`EngineError::Busy`] if the database is not in WAL mode.
    pub fn check_mode(&self, source: &Database) -> Result<(), EngineError> {
        match source.text("PRAGMA main.journal_mode")?.as_str() {
            "wal" => Ok(()),
            _ => Err(self.busy("another process has changed its journal mode")),
        }
    }

    /// Changes a database in rollback mode to WAL mode. Returns a connection that keeps it there; `None` if it was in WAL
    /// mode.
    ///
    /// # Errors
    /// [`EngineError::Busy`] if a process would not move, or transactions of others don't end; errors of SQLite.
    pub fn enter_wal(&mut self) -> Result<Option<Database>, EngineError> {
        let source = self.source();
        let database = Database::connect(&self.path, &source.uri(&self.path), &source)?;
        if database.text("PRAGMA main.journal_mode")? == "wal" {
            return Ok(None);
        }
        self.check_layout(&database)?;
        self.was_in_rollback_mode = true;
        // With a lock, so that this process is listed.
        database.batch("BEGIN")?;
        database.number("SELECT count(*) FROM main.sqlite_schema")?;
        let checked = self.check_strangers();
        database.batch("ROLLBACK")?;
        checked?;
        // While SQLite waits for readers to end, no other begins to read.
        database.wait_for_locks(self.limits.lock_max)?;
        for number in 0..TRY_MAX {
            match database.text("PRAGMA main.journal_mode = WAL") {
                Ok(mode) if mode == "wal" => {
                    begin_reading(&database)?;
                    database.batch("ROLLBACK")?;
                    return Ok(Some(database));
                }
                Ok(_) => break,
                Err(error) if error.class() == Class::Busy => self.pause(FIRST_PAUSE * 2_u32.pow(number))?,
                Err(error) => return Err(error),
            }
        }
        Err(lock_holders::with_lock_holders(
            self.busy("others did not let it change the journal mode"),
            &self.path,
        ))
    }

    /// Changes the database back to rollback mode. Returns whether it did.
    pub fn leave_wal(&self, held: Database) -> bool {
        // It may be that of the old file, and this process must not close a descriptor of the new one later.
        let _ = held.close();
        // A connection that uses a log of the old file needs one in the new file, too.
        if lock_holders::is_used(self.attributes.identity) {
            return false;
        }
        let access = self.either();
        let changed = Database::connect(&self.path, &access.uri(&self.path), &access).and_then(|database| {
            database.wait_for_locks(Duration::ZERO)?;
            let mode = database.text("PRAGMA main.journal_mode = DELETE")?;
            database.close()?;
            Ok(mode)
        });
        changed.is_ok_and(|mode| mode == "delete")
    }
}

/// Adds to an error that the database is still in WAL mode.
pub fn advise(error: EngineError, is_left_in_wal: bool) -> EngineError {
    if !is_left_in_wal {
        return error;
    }
    EngineError::Sqlite {
        class: error.class(),
        what: error.to_string(),
        next: format!(
            "{}; the database is in WAL mode now: PRAGMA journal_mode = DELETE once no other has it open",
            error.advice()
        ),
    }
}
