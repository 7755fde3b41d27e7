//! What a database's files hold of one read transaction.

use std::sync::mpsc::channel;

use rusqlite::config::DbConfig;
use selenite_vfs::snapshot::{self, Snapshot};

use crate::{Database, EngineError};

impl Database {
    /// Begins a read transaction, unless one is under way, and shows `reader` its pages as they lie in the files. The transaction
    /// ends with [`Database::end_read`].
    ///
    /// # Errors
    /// What `reader` answers; what SQLite and the VFS say, of a connection in exclusive mode, say.
    pub(crate) fn read<R: Send + 'static>(
        &self,
        reader: impl FnOnce(&mut Snapshot<'_>) -> Result<R, EngineError> + Send + 'static,
    ) -> Result<R, EngineError> {
        if self.connection().is_autocommit() {
            self.begin_read()?;
        }
        let (tell, told) = channel();
        let token = snapshot::stage(Box::new(move |snapshot| {
            // Nobody has stopped listening.
            let _ = tell.send(reader(snapshot));
        }));
        let read = self
            .connection()
            .query_row("SELECT selenite_read(?1)", [token], |_| Ok(()));
        snapshot::withdraw(token);
        match (told.try_recv(), read) {
            (Ok(outcome), _) => outcome,
            (Err(_), Err(error)) => Err(self.error(error)),
            (Err(_), Ok(())) => Err(EngineError::usage("the snapshot was not read", "report this")),
        }
    }

    /// Begins a read transaction: what others commit from now on is not in it.
    pub(crate) fn begin_read(&self) -> Result<(), EngineError> {
        self.batch("BEGIN")?;
        self.text("SELECT count(*) FROM sqlite_schema").map(drop)
    }

    /// Ends the read transaction.
    pub(crate) fn end_read(&self) -> Result<(), EngineError> {
        self.batch("ROLLBACK")
    }

    /// Ends the read transaction, if one is under way. There is nobody to hear that it could not be ended: the next one says so.
    pub(crate) fn end_any_read(&self) {
        if !self.connection().is_autocommit() {
            let _ = self.end_read();
        }
    }

    /// Leaves the log there when this is the last connection that is closed.
    pub(crate) fn keep_log_on_close(&self) -> Result<(), EngineError> {
        let kept = self
            .connection()
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        kept.map(drop).map_err(|error| self.error(error))
    }

    /// Has the log copied into the file as far as nobody is in the way. Answers how many of its frames are, and how many there
    /// are.
    pub(crate) fn checkpoint_passively(&self) -> Result<(u32, u32), EngineError> {
        let copied = self
            .connection()
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok((row.get::<_, i64>(2)?, row.get::<_, i64>(1)?))
            });
        let (copied, all) = copied.map_err(|error| self.error(error))?;
        // -1 where another's checkpoint is under way.
        let count = |number: i64| u32::try_from(number).unwrap_or(0);
        Ok((count(copied), count(all)))
    }
}
