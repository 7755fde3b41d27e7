//! What a database's files hold of one read transaction.

use std::sync::mpsc::channel;

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
}
