//! Chooses the backup to restore.
//!
//! - future-is-not-newest: the time in a name comes from a clock and may be wrong: a backup from
//!   the future is not the newest, unless there is no other. A clock that was once ahead must not
//!   hide all backups made since.
//! - gaps-are-reported: later commits that are listed but unreachable, since an object before them
//!   is missing, are reported: as an error if the chosen backup is the one with the gap.

use selenite_backup::{
    AHEAD_SECONDS, ArchiveName, Backup, BackupError, Catalog, Chain, Destination, Entry, KeySource, LogObject, LogPlan,
    OpenArchive, Part, object_key,
};
use selenite_cipher::{ArchiveId, DatabaseId};

use super::{Restore, Which, latest};
use crate::keys::now;
use crate::{EngineError, utc};

/// The chosen backup.
pub struct Choice {
    /// The backup, and those that it depends on.
    pub chain: Chain,
    /// The part of its log that is applied to it.
    pub log: LogPlan,
    /// Backups from the future that were skipped (future-is-not-newest).
    pub passed_over: Vec<ArchiveName>,
    /// Other backups with a gap in their log and later commits behind it (gaps-are-reported).
    pub unreachable: Vec<Unreachable>,
}

/// Unreachable objects of a backup's log: one before them is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreachable {
    /// The backup.
    pub archive: ArchiveName,
    /// The object that is missing.
    pub object: String,
    /// How many objects are behind it.
    pub count: u32,
    /// The time of the last of them, in seconds since 1970-01-01 UTC.
    pub made: u64,
}

/// Opens the chosen backup, and those that it depends on.
pub fn open(destination: &dyn Destination, how: &Restore, keys: &KeySource<'_>) -> Result<Choice, EngineError> {
    destination.check_place().map_err(BackupError::from)?;
    let catalog = Catalog::list(destination, how.database_id).map_err(BackupError::from)?;
    let id = database_of(&catalog, destination, how)?;
    let names: Vec<ArchiveName> = catalog.of(id).map(|entry| entry.name.clone()).collect();
    let opened = |name: &ArchiveName| -> Result<Backup, BackupError> {
        OpenArchive::open(destination, id, name, keys)?.into_backup(destination)
    };
    let wanted = |name: &ArchiveName| -> Result<Backup, BackupError> {
        check_begun(&catalog, id, name)?;
        opened(name)
    };
    let finished = || catalog.of(id).rev().filter(|entry| entry.is_finished);
    let mut passed_over = Vec::new();
    let tip = match &how.which {
        Which::Named(name) => wanted(name)?,
        Which::Newest => {
            // future-is-not-newest.
            let last = ArchiveName::new(now().saturating_add(AHEAD_SECONDS), ArchiveId([0xff; 16]));
            let past = finished().find(|entry| entry.name <= last);
            if past.is_some() {
                let future = finished().take_while(|entry| entry.name > last);
                passed_over = future.map(|entry| entry.name.clone()).collect();
            }
            match past.or_else(|| finished().next()) {
                Some(entry) => wanted(&entry.name)?,
                None => return Err(none(destination, "it has no finished backup").into()),
            }
        }
        Which::At(time) => {
            // A name has the time when its backup was begun, and the manifest the time of its
            // content, which is not earlier.
            let last = ArchiveName::new(*time, ArchiveId([0xff; 16]));
            let mut found = None;
            for entry in finished().filter(|entry| entry.name <= last) {
                let backup = wanted(&entry.name)?;
                if backup.facts.made <= *time {
                    found = Some(backup);
                    break;
                }
            }
            found.ok_or_else(|| none(destination, "it has none that old"))?
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
    let (mut log, mut unreachable) = (LogPlan::default(), Vec::new());
    if let Some(until) = until {
        let entry = catalog.of(id).find(|entry| entry.name == *tip.name());
        log = tip.log(destination, entry.map_or(0, |entry| entry.log_whole), until)?;
        if let Some(entry) = entry {
            check_gap(destination, (&tip, entry), &log)?;
        }
        let made = log.end.map_or(tip.facts.made, |(_, made)| made / 1000);
        let others = finished().filter(|entry| entry.name != *tip.name() && has_gap(entry));
        unreachable.extend(others.filter_map(|entry| {
            let beyond = behind_gap(destination, &opened(&entry.name).ok()?, entry)?;
            (beyond.made > made && beyond.made.saturating_mul(1000) <= until).then_some(beyond)
        }));
    }
    Ok(Choice {
        chain: Chain::of(destination, tip, &names, keys)?,
        log,
        passed_over,
        unreachable,
    })
}

/// An entry that is listed with a manifest was a backup, whichever of its objects are missing.
fn check_begun(catalog: &Catalog, id: DatabaseId, name: &ArchiveName) -> Result<(), BackupError> {
    let entry = catalog.of(id).find(|entry| entry.name == *name);
    if entry.is_some_and(|entry| entry.is_finished && !entry.has_begun) {
        return Err(BackupError::Missing {
            object: object_key(id, name, Part::Begun),
        });
    }
    Ok(())
}

fn has_gap(entry: &Entry) -> bool {
    entry.log_whole < entry.log_end
}

/// The objects behind the gap in a log, with the time of the last one.
fn behind_gap(destination: &dyn Destination, backup: &Backup, entry: &Entry) -> Option<Unreachable> {
    let archive = &backup.archive;
    let place = (&archive.key, archive.begun.database_id, backup.name());
    let last = LogObject::fetch(destination, place, entry.log_end - 1).ok()?;
    Some(Unreachable {
        archive: backup.name().clone(),
        object: Part::Log(entry.log_whole).to_string(),
        count: entry.log_count - entry.log_whole,
        made: last.facts.made / 1000,
    })
}

/// Enforces `gaps-are-reported`.
fn check_gap(destination: &dyn Destination, (tip, entry): (&Backup, &Entry), log: &LogPlan) -> Result<(), EngineError> {
    // The log before the gap may already reach beyond the requested time: then the gap is after
    // that.
    let is_before = entry.log_whole > 0 && log.all_until.is_none();
    if !has_gap(entry) || is_before {
        return Ok(());
    }
    let beyond = entry.log_count - entry.log_whole;
    let later = match behind_gap(destination, tip, entry) {
        Some(last) => format!("of up to {}", utc(last.made)),
        None => "of which the last is not authentic".to_owned(),
    };
    // Times are requested in seconds: the second of the last object before the gap is only partly
    // covered.
    let last = log.all_until.map(|millis| millis.saturating_sub(1) / 1000);
    let next = match last.filter(|&last| last >= tip.facts.made) {
        Some(last) => format!("restore an earlier state: --at {}, or before", utc(last)),
        None => format!("restore the backup itself: --backup {}", entry.name),
    };
    Err(EngineError::Backup(BackupError::Gap {
        archive: entry.name.clone(),
        object: Part::Log(entry.log_whole).to_string(),
        beyond: format!(
            "commits from then on cannot be restored, including {beyond} later {} {later}",
            if beyond == 1 { "object" } else { "objects" }
        ),
        next: format!("{next}; or find that object, for example below a mount point, and put it back"),
    }))
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
            return Err(none(destination, &format!("it has no backup {name}")).into());
        }
    }
    match ids.as_slice() {
        [] => Err(none(destination, "it has no backups").into()),
        [id] => Ok(*id),
        several => {
            let ids: Vec<String> = several.iter().map(|&id| hex(id)).collect();
            Err(EngineError::usage(
                format!(
                    "{} has backups of several databases: {}",
                    destination.place(),
                    ids.join(", ")
                ),
                "choose one: --database ID",
            ))
        }
    }
}

fn none(destination: &dyn Destination, what: &str) -> BackupError {
    BackupError::NotThere {
        what: format!("{}: {what}", destination.place()),
    }
}

/// In hexadecimal, as in the name of its folder.
pub fn hex(id: DatabaseId) -> String {
    id.0.iter().map(|byte| format!("{byte:02x}")).collect()
}
