//! Work that writes a whole new file, which is deleted afterwards.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{Timed, WorkFigures, beside};
use crate::protocol::{DatabaseSpec, Sample};
use crate::{Engine, WorkerError};

/// SQLite's online backup into a new file with the same cipher and key.
///
/// The copy is written with a rollback journal: in a write-ahead log every page would be written twice.
pub fn backup(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    connection: &Connection,
    timed: Timed<'_>,
) -> Result<Sample, WorkerError> {
    let target = DatabaseSpec {
        path: beside(&database.path, "-backup"),
        journal_mode: "delete".to_owned(),
        ..database.clone()
    };
    remove(&target.path)?;
    let sample = timed(&mut || {
        let mut copy = engine.create(&target)?;
        let backup = Backup::new(connection, &mut copy)?;
        let step = backup.step(-1)?;
        if step != StepResult::Done {
            return Err(WorkerError::Engine(format!("the backup stopped: {step:?}")));
        }
        let pages = backup.progress().pagecount;
        drop(backup);
        copy.close().map_err(|(_, error)| error)?;
        Ok(WorkFigures {
            operations: 1,
            answer: if pages > 0 { "copied" } else { "empty" }.to_owned(),
            ..WorkFigures::default()
        })
    });
    remove(&target.path)?;
    sample
}

/// Copies a closed database with another cipher.
pub fn convert(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    to: &str,
    timed: Timed<'_>,
) -> Result<Sample, WorkerError> {
    let target = DatabaseSpec {
        path: beside(&database.path, "-converted"),
        cipher: to.to_owned(),
        ..database.clone()
    };
    remove(&target.path)?;
    let sample = timed(&mut || {
        engine.convert(database, &target)?;
        Ok(WorkFigures {
            operations: 1,
            answer: "converted".to_owned(),
            ..WorkFigures::default()
        })
    });
    remove(&target.path)?;
    sample
}

/// Removes a copy and SQLite's files beside it, where they exist.
fn remove(path: &Path) -> Result<(), WorkerError> {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let file = beside(path, ending);
        match std::fs::remove_file(&file) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(WorkerError::io("remove", file)(error)),
        }
    }
    Ok(())
}
