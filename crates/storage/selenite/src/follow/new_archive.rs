//! A backup that is made while the previous archive is followed, on a thread and a connection of its own.
//!
//! Its read transaction remains open when it is complete: the follower takes it over and continues
//! from there.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use selenite_backup::{ArchiveName, BackupError, Destination, LogWriter};

use super::log_view::{self, Keys, LogView};
use super::{FollowContext, connect};
use crate::backup::{Backup, Beginning, Plan, base, is_fault_of_base};
use crate::{Database, EngineError, Watch};

/// A backup in progress.
pub struct NewArchive {
    thread: JoinHandle<Result<Made, EngineError>>,
    begun: NewArchiveName,
}

/// The name of the archive, once it has one.
type NewArchiveName = Arc<Mutex<Option<ArchiveName>>>;

/// A completed backup.
pub struct Made {
    /// In the read transaction of the archive.
    pub database: Database,
    /// What it sees.
    pub view: LogView,
    /// Adds log objects to the archive.
    pub writer: LogWriter,
    /// The keys that open it.
    pub keys: Keys,
}

impl NewArchive {
    /// Begins a backup, or resumes one that failed.
    pub fn begin(place: &FollowContext<'_>, unfinished: Option<ArchiveName>) -> Result<Self, EngineError> {
        let database = connect(place)?;
        let (destination, watch) = (place.destination.clone(), place.watch.clone());
        let (how, path) = (place.backup.clone(), place.path.to_owned());
        let begun = NewArchiveName::default();
        let name = begun.clone();
        let run = move || make(database, &destination, &how, watch, (unfinished, &name));
        let thread = std::thread::Builder::new().name("backup".to_owned()).spawn(run);
        let thread = thread.map_err(|source| EngineError::Io {
            verb: "start a thread for",
            path,
            source,
        })?;
        Ok(Self { thread, begun })
    }

    /// The name of the archive, if it has one yet.
    pub fn name(&self) -> Option<ArchiveName> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it has ended.
    pub fn is_ready(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the result.
    pub fn wait(self) -> Result<Made, EngineError> {
        let thread_panicked = || {
            EngineError::Backup(BackupError::Machine {
                what: "a thread ended with a bug in selenite: report this".to_owned(),
            })
        };
        self.thread.join().map_err(|_| thread_panicked())?
    }
}

fn make(
    database: Database,
    destination: &Arc<dyn Destination>,
    how: &Arc<Backup>,
    watch: Watch,
    (unfinished, begun): (Option<ArchiveName>, &NewArchiveName),
) -> Result<Made, EngineError> {
    let path = database.path().to_owned();
    let refused = move |error| EngineError::of_vfs(&error, &path);
    let unlocked = database.read(move |snapshot| snapshot.unlocked().map_err(refused))?;
    database.end_read()?;
    let keys = Keys::of(&unlocked);
    let (base, others) = match base((&unlocked, &how.recipients), destination.as_ref()) {
        Ok(None) => (None, false),
        // A restore reads every link of the chain, and no link can be removed.
        Ok(Some(base)) => (Some(base).filter(|base| base.link_count < LINKS_MAX), true),
        // The base is incomplete: the new backup contains all pages.
        Err(EngineError::Backup(error)) if is_fault_of_base(&error) => (None, true),
        Err(error) => return Err(error),
    };
    let beginning = match &unfinished {
        Some(own) => Beginning::Own(own),
        // Of the archives of a follower, the one with the newest name is continued.
        None if others => Beginning::Newest,
        None => Beginning::Unfinished,
    };
    let plan = Plan::make(how.clone(), (&unlocked, base), destination, beginning)?;
    *begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan.name().clone());
    let (view, report, handle) = database.read(move |snapshot| {
        let view = log_view::of(snapshot)?;
        let (report, handle) = plan.carry_out(snapshot, (crate::now(), None), &watch)?;
        Ok((view, report, handle))
    })?;
    let archive = (handle.key, handle.database_id, report.name);
    let mut writer = LogWriter::new(destination.clone(), archive, handle.manifest, view.end, how.level);
    // This object records where the archive was taken, which a later run needs (nothing-is-sent-twice).
    let turn = writer.turn(view.end, (view.page_size, view.page_count), view.made)?;
    match turn.finish() {
        // The writer keeps the object, and sends it again.
        Ok(()) | Err(BackupError::Store(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Made {
        database,
        view,
        writer,
        keys,
    })
}

/// The maximum length of a chain of backups: with a new backup each day, a full one each week.
const LINKS_MAX: usize = 7;
