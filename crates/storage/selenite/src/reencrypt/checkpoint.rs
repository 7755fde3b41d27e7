//! SQLite's checkpoints and their results (sqlite.org/pragma.html#pragma_wal_checkpoint).

use super::ReencryptionJob;
use crate::EngineError;

/// The result of a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checkpoint {
    /// Complete. In rollback mode there is no log, and nothing to do.
    Done,
    /// Another connection runs a checkpoint; this one did not wait.
    Elsewhere,
    /// A reader still needs frames that would be overwritten, or a writer is active.
    Held,
}

impl Checkpoint {
    /// Copies the log into the database, as far as readers allow, and syncs. Blocks no other
    /// connection.
    ///
    /// # Errors
    /// The errors of SQLite and the VFS.
    pub fn passive(work: &ReencryptionJob<'_>) -> Result<Self, EngineError> {
        Self::run(work, "PRAGMA main.wal_checkpoint(PASSIVE)")
    }

    /// Copies all of the log, and truncates it: with the write lock held, for as long as this
    /// connection waits for others.
    ///
    /// # Errors
    /// The errors of SQLite and the VFS.
    pub fn truncate(work: &ReencryptionJob<'_>) -> Result<Self, EngineError> {
        Self::run(work, "PRAGMA main.wal_checkpoint(TRUNCATE)")
    }

    fn run(work: &ReencryptionJob<'_>, sql: &str) -> Result<Self, EngineError> {
        let connection = work.database.connection();
        let answer = connection.query_row(sql, [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        });
        match answer.map_err(|error| work.database.error(error)) {
            Ok(answer) => Ok(Self::of(answer)),
            Err(EngineError::Busy { .. }) => Ok(Self::Held),
            Err(error) => Err(error),
        }
    }

    /// From the three columns: busy, frames in the log, frames copied. The last two are -1 if no
    /// checkpoint began: in rollback mode, or when another connection has the checkpoint lock
    /// (sqlite3WalCheckpoint in wal.c takes that one without waiting).
    fn of((busy, in_log, copied): (i64, i64, i64)) -> Self {
        match (busy, in_log) {
            (0, _) if in_log == copied => Self::Done,
            (0, _) => Self::Held,
            (_, ..0) => Self::Elsewhere,
            _ => Self::Held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Checkpoint;

    #[test]
    fn the_result_follows_from_the_three_columns_of_the_pragma() {
        assert_eq!(Checkpoint::of((0, -1, -1)), Checkpoint::Done);
        assert_eq!(Checkpoint::of((0, 0, 0)), Checkpoint::Done);
        assert_eq!(Checkpoint::of((0, 7, 7)), Checkpoint::Done);
        assert_eq!(Checkpoint::of((0, 7, 5)), Checkpoint::Held);
        assert_eq!(Checkpoint::of((1, 7, 7)), Checkpoint::Held);
        assert_eq!(Checkpoint::of((1, -1, -1)), Checkpoint::Elsewhere);
    }
}
