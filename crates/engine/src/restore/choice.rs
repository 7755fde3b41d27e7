//! Which backup is meant.

use selenite_backup::{ArchiveName, Backup, BackupError, Catalog, Chain, Destination, KeySource, OpenArchive};
use selenite_cipher::{ArchiveId, DatabaseId};

use super::{Restore, Which};
use crate::EngineError;

/// Opens the backup that is meant, and what it rests on.
pub fn open(destination: &dyn Destination, how: &Restore, keys: &KeySource<'_>) -> Result<Chain, EngineError> {
    let catalog = Catalog::list(destination, how.database_id).map_err(BackupError::from)?;
    let id = database_of(&catalog, destination, how)?;
    let names: Vec<ArchiveName> = catalog.of(id).map(|entry| entry.name.clone()).collect();
    let opened = |name: &ArchiveName| -> Result<Backup, BackupError> {
        OpenArchive::open(destination, id, name, keys)?.into_backup(destination)
    };
    let finished = || catalog.of(id).rev().filter(|entry| entry.is_finished);
    let tip = match &how.which {
        Which::Named(name) => opened(name)?,
        Which::Newest => {
            let mut found: Option<Backup> = None;
            for entry in finished() {
                match &mut found {
                    None => found = Some(opened(&entry.name)?),
                    Some(last) if is_same_second(last.name(), &entry.name) => {
                        let other = opened(&entry.name)?;
                        if is_later(&other, last) {
                            *last = other;
                        }
                    }
                    Some(_) => break,
                }
            }
            found.ok_or_else(|| none(destination, "it holds none that was finished"))?
        }
        Which::At(time) => {
            // A name says when its backup was begun, and the manifest which moment it is of: not before that.
            let last = ArchiveName::new(*time, ArchiveId([0xff; 16]));
            let mut found = None;
            for entry in finished().filter(|entry| entry.name <= last) {
                let backup = opened(&entry.name)?;
                if backup.facts.made <= *time {
                    found = Some(backup);
                    break;
                }
            }
            found.ok_or_else(|| none(destination, "it holds none that is as old as that"))?
        }
    };
    Ok(Chain::of(destination, tip, &names, keys)?)
}

/// Names tell seconds apart, and no less.
fn is_same_second(one: &ArchiveName, other: &ArchiveName) -> bool {
    let time = |name: &ArchiveName| name.as_str().split('-').next().map(str::to_owned);
    time(one) == time(other)
}

/// Of two that were begun in one second.
fn is_later(one: &Backup, other: &Backup) -> bool {
    let rests_on = |one: &Backup, other: &Backup| {
        let base = one.facts.base.map(|base| base.archive_id);
        base == Some(other.archive.begun.archive_id)
    };
    // SQLite's counter goes round.
    let ahead = one.facts.change_counter.wrapping_sub(other.facts.change_counter);
    rests_on(one, other) || (!rests_on(other, one) && ahead != 0 && ahead < 1 << 31)
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
