//! A backup that is made while the one before is followed, on a thread and a connection of its own.
//!
//! Its read transaction goes on when it is done: whoever takes it over follows from there.

use std::path::PathBuf;
use std::thread::JoinHandle;

use selenite_backup::{BackupError, LogWriter};

use super::look::{self, Look};
use super::{Place, connect};
use crate::backup::copy;
use crate::{Database, EngineError};

/// One that is under way.
pub struct NewArchive(JoinHandle<Result<Made, EngineError>>);

/// One that is there.
pub struct Made {
    /// In the transaction of which the archive is.
    pub database: Database,
    /// What it sees.
    pub look: Look,
    /// Adds to the archive.
    pub writer: LogWriter,
}

impl NewArchive {
    /// Begins one.
    pub fn begin(place: &Place<'_>) -> Result<Self, EngineError> {
        let database = connect(place)?;
        let (destination, watch) = (place.destination.clone(), place.watch.clone());
        let (backup, path) = (place.backup.clone(), place.path.to_owned());
        let run = move || {
            let (to, how) = (destination.clone(), backup.clone());
            let (look, report, kept) = database.read(move |snapshot| {
                let look = look::of(snapshot)?;
                let (report, kept) = copy(snapshot, &how, to.as_ref(), &watch)?;
                Ok((look, report, kept))
            })?;
            let archive = (kept.key, kept.database_id, report.name);
            let mut writer = LogWriter::new(destination, archive, kept.manifest, look.end, backup.level);
            // It says where the archive was taken: one who resumes needs it (F2).
            let turn = writer.turn(look.end, (look.page_size, look.page_count), look.made)?;
            turn.finish()?;
            Ok(Made { database, look, writer })
        };
        let thread = std::thread::Builder::new().name("backup".to_owned()).spawn(run);
        thread.map(Self).map_err(|source| EngineError::Io {
            verb: "start a thread for",
            path: PathBuf::from(path),
            source,
        })
    }

    /// Whether it came to an end.
    pub fn is_ready(&self) -> bool {
        self.0.is_finished()
    }

    /// What became of it.
    pub fn wait(self) -> Result<Made, EngineError> {
        let bug = || {
            EngineError::Backup(BackupError::Machine {
                what: "a thread ended with a bug in selenite: report this".to_owned(),
            })
        };
        self.0.join().map_err(|_| bug())?
    }
}
