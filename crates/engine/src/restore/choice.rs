//! Which backup is meant.
//!
//! C1. A time in a name is a clock's word: a backup from the future is not the newest, unless there is no other. A clock that jumped
//!     ahead once must not hide all that was backed up since.

use selenite_backup::{
    AHEAD_SECONDS, ArchiveName, Backup, BackupError, Catalog, Chain, Destination, KeySource, LogPlan, OpenArchive,
    Part, object_key,
};
use selenite_cipher::{ArchiveId, DatabaseId};

use super::{Restore, Which, latest};
use crate::EngineError;
use crate::keys::now;

/// What is meant.
pub struct Choice {
    /// The backup, and what it rests on.
    pub chain: Chain,
    /// What of its log is laid over it.
    pub log: LogPlan,
    /// Those from the future that were passed over for it (C1).
    pub passed_over: Vec<ArchiveName>,
}

/// Opens the backup that is meant, and what it rests on.
pub fn open(destination: &dyn Destination, how: &Restore, keys: &KeySource<'_>) -> Result<Choice, EngineError> {
    destination.check_place().map_err(BackupError::from)?;
    let catalog = Catalog::list(destination, how.database_id).map_err(BackupError::from)?;
    let id = database_of(&catalog, destination, how)?;
    let names: Vec<ArchiveName> = catalog.of(id).map(|entry| entry.name.clone()).collect();
    let opened = |name: &ArchiveName| -> Result<Backup, BackupError> {
        OpenArchive::open(destination, id, name, keys)?.into_backup(destination)
    };
    // One that is listed with a manifest was a backup, whatever is gone of it.
    let wanted = |name: &ArchiveName| -> Result<Backup, BackupError> {
        let entry = catalog.of(id).find(|entry| entry.name == *name);
        if entry.is_some_and(|entry| entry.is_finished && !entry.has_begun) {
            return Err(BackupError::Missing {
                object: object_key(id, name, Part::Begun),
            });
        }
        opened(name)
    };
    let finished = || catalog.of(id).rev().filter(|entry| entry.is_finished);
    let mut passed_over = Vec::new();
    let tip = match &how.which {
        Which::Named(name) => wanted(name)?,
        Which::Newest => {
            // C1.
            let last = ArchiveName::new(now().saturating_add(AHEAD_SECONDS), ArchiveId([0xff; 16]));
            let past = finished().find(|entry| entry.name <= last);
            if past.is_some() {
                let future = finished().take_while(|entry| entry.name > last);
                passed_over = future.map(|entry| entry.name.clone()).collect();
            }
            match past.or_else(|| finished().next()) {
                Some(entry) => wanted(&entry.name)?,
                None => return Err(none(destination, "it holds none that was finished").into()),
            }
        }
        Which::At(time) => {
            // A name says when its backup was begun, and the manifest which moment it is of: not before that.
            let last = ArchiveName::new(*time, ArchiveId([0xff; 16]));
            let mut found = None;
            for entry in finished().filter(|entry| entry.name <= last) {
                let backup = wanted(&entry.name)?;
                if backup.facts.made <= *time {
                    found = Some(backup);
                    break;
                }
            }
            found.ok_or_else(|| none(destination, "it holds none that is as old as that"))?
        }
    };
    let until = match &how.which {
        Which::Named(_) => None,
        Which::Newest => Some(u64::MAX),
        Which::At(time) => Some(time.saturating_mul(1000)),
    };
    let tip = match until {
        Some(until) => latest::latest(destination, tip, finished(), until, &opened)?,
        None => tip,
    };
    let count = (catalog.of(id).find(|entry| entry.name == *tip.name())).map_or(0, |entry| entry.log_count);
    let log = until.map_or_else(|| Ok(LogPlan::default()), |until| tip.log(destination, count, until))?;
    Ok(Choice {
        chain: Chain::of(destination, tip, &names, keys)?,
        log,
        passed_over,
    })
}

fn database_of(catalog: &Catalog, destination: &dyn Destination, how: &Restore) -> Result<DatabaseId, EngineError> {
    if let Some(id) = how.database_id {
        let is_there = catalog.of(id).next().is_some();
        return is_there
            .then_some(id)
            .ok_or_else(|| BackupError::none_of(id, &destination.place()).into());
    }
    let mut ids = catalog.databases();
    if let Which::Named(name) = &how.which {
        ids.retain(|&id| catalog.of(id).any(|entry| entry.name == *name));
        if ids.is_empty() {
            return Err(none(destination, &format!("it holds no backup {name}")).into());
        }
    }
    match ids.as_slice() {
        [] => Err(none(destination, "it holds no backup").into()),
        [id] => Ok(*id),
        several => {
            let ids: Vec<String> = several.iter().map(|&id| hex(id)).collect();
            Err(EngineError::usage(
                format!(
                    "{} holds backups of several databases: {}",
                    destination.place(),
                    ids.join(", ")
                ),
                "name one of them: --database ID",
            ))
        }
    }
}

fn none(destination: &dyn Destination, what: &str) -> BackupError {
    BackupError::NotThere {
        what: format!("{}: {what}", destination.place()),
    }
}

/// As the name of its folder has it.
pub fn hex(id: DatabaseId) -> String {
    id.0.iter().map(|byte| format!("{byte:02x}")).collect()
}
