//! The content of a database's files in one read transaction.

use std::sync::mpsc::channel;

use rusqlite::config::DbConfig;
use selenite_vfs::snapshot::{self, Snapshot};

use crate::{Database, EngineError};

impl Database {
    /// Begins a read transaction, unless one is open, and calls `reader` with its pages as they
    /// are in the files. The transaction ends with [`Database::end_read`].
    ///
    /// # Errors
    /// The errors of `reader`; those of SQLite and the VFS, for example for a connection in
    /// exclusive mode.
    pub(crate) fn read<R: Send + 'static>(
        &self,
        reader: impl FnOnce(&mut Snapshot<'_>) -> Result<R, EngineError> + Send + 'static,
    ) -> Result<R, EngineError> {
        if self.connection().is_autocommit() {
            self.begin_read()?;
        }
        let (sender, receiver) = channel();
        let token = snapshot::stage(Box::new(move |snapshot| {
            // The receiver lives until the query returns.
            let _ = sender.send(reader(snapshot));
        }));
        let read = self
            .connection()
            .query_row("SELECT selenite_read(?1)", [token], |_| Ok(()));
        snapshot::withdraw(token);
        match (receiver.try_recv(), read) {
            (Ok(outcome), _) => outcome,
            (Err(_), Err(error)) => Err(self.error(error)),
            (Err(_), Ok(())) => Err(EngineError::usage("the snapshot was not read", "report this")),
        }
    }

    /// Begins a read transaction: later commits of others are not in it.
    pub(crate) fn begin_read(&self) -> Result<(), EngineError> {
        self.batch("BEGIN")?;
        self.text("SELECT count(*) FROM sqlite_schema").map(drop)
    }

    /// Ends the read transaction.
    pub(crate) fn end_read(&self) -> Result<(), EngineError> {
        self.batch("ROLLBACK")
    }

    /// Ends the read transaction, if one is open. An error is ignored: the next operation reports
    /// it.
    pub(crate) fn end_any_read(&self) {
        if !self.connection().is_autocommit() {
            let _ = self.end_read();
        }
    }

    /// Keeps the log when this is the last connection that is closed.
    pub(crate) fn keep_log_on_close(&self) -> Result<(), EngineError> {
        let kept = self
            .connection()
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        kept.map(drop).map_err(|error| self.error(error))
    }

    /// Copies the log into the file as far as no other connection blocks that. Returns how many of
    /// its frames are copied, and how many there are.
    pub(crate) fn checkpoint_passively(&self) -> Result<(u32, u32), EngineError> {
        let copied = self
            .connection()
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok((row.get::<_, i64>(2)?, row.get::<_, i64>(1)?))
            });
        let (copied, all) = copied.map_err(|error| self.error(error))?;
        // -1 while another connection runs a checkpoint.
        let count = |number: i64| u32::try_from(number).unwrap_or(0);
        Ok((count(copied), count(all)))
    }
}

#[cfg(test)]
mod tests {
    use crate::storage::Disk;
    use crate::{Access, Database, Layout, install};

    /// SQLite keeps its read mark while a query runs, and the connection sees its own later
    /// writes.
    #[test]
    fn what_the_connection_wrote_while_it_read_is_in_its_snapshot() {
        install().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        std::fs::write(&key, [7; 32]).unwrap();
        let access = Access {
            identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
            ..Access::default()
        };
        let path = folder.path().join("app.db");
        let database = Database::create(&Disk, &path, &access, &Layout::default()).unwrap();
        database.text("PRAGMA journal_mode = WAL").unwrap();
        database
            .batch("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            .unwrap();
        let mut query = database.connection().prepare("SELECT a FROM t").unwrap();
        let mut rows = query.query([]).unwrap();
        assert!(rows.next().unwrap().is_some());
        database.batch("INSERT INTO t VALUES (4)").unwrap();
        let seen = database.read(|snapshot| Ok(snapshot.position().map(|position| position.frames)));
        let log = std::fs::metadata(folder.path().join("app.db-wal")).unwrap().len();
        assert_eq!(seen.unwrap().map(u64::from), Some((log - 32) / (24 + 4096)));
        assert!(rows.next().unwrap().is_some());
    }
}
