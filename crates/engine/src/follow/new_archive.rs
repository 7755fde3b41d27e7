//! A backup that is made while the one before is followed, on a thread and a connection of its own.
//!
//! Its read transaction goes on when it is done: whoever takes it over follows from there.

use std::sync::Arc;
use std::thread::JoinHandle;

use selenite_backup::{BackupError, Destination, LogWriter};

use super::look::{self, Keys, Look};
use super::{Place, connect};
use crate::backup::{Backup, Plan, base};
use crate::{Database, EngineError, Watch};

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
    /// Who can open it.
    pub keys: Keys,
}

impl NewArchive {
    /// Begins one.
    pub fn begin(place: &Place<'_>) -> Result<Self, EngineError> {
        let database = connect(place)?;
        let (destination, watch) = (place.destination.clone(), place.watch.clone());
        let (how, path) = (place.backup.clone(), place.path.to_owned());
        let run = move || make(database, &destination, &how, watch);
        let thread = std::thread::Builder::new().name("backup".to_owned()).spawn(run);
        thread.map(Self).map_err(|source| EngineError::Io {
            verb: "start a thread for",
            path,
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

fn make(
    database: Database,
    destination: &Arc<dyn Destination>,
    how: &Arc<Backup>,
    watch: Watch,
) -> Result<Made, EngineError> {
    let path = database.path().to_owned();
    let refused = move |error| EngineError::of_vfs(&error, &path);
    let unlocked = database.read(move |snapshot| snapshot.unlocked().map_err(refused))?;
    database.end_read()?;
    let keys = Keys::of(&unlocked);
    let base = base((&unlocked, &how.recipients), destination.as_ref())?;
    // Of the archives of one who follows, the newest name is the one to go on with.
    let may_go_on = base.is_none();
    let plan = Plan::make(how.clone(), (&unlocked, base), destination, may_go_on)?;
    let (look, report, kept) = database.read(move |snapshot| {
        let look = look::of(snapshot)?;
        let (report, kept) = plan.carry_out(snapshot, (crate::now(), None), &watch)?;
        Ok((look, report, kept))
    })?;
    let archive = (kept.key, kept.database_id, report.name);
    let mut writer = LogWriter::new(destination.clone(), archive, kept.manifest, look.end, how.level);
    // It says where the archive was taken: one who resumes needs it (F2).
    let turn = writer.turn(look.end, (look.page_size, look.page_count), look.made)?;
    turn.finish()?;
    Ok(Made {
        database,
        look,
        writer,
        keys,
    })
}
