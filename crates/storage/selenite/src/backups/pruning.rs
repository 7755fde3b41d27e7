//! Removes backups that no retention rule keeps.
//!
//! - decide-then-remove: everything is decided before anything is removed, and by what was
//!   authenticated: an archive that does not open is kept, and so are all others of its database
//!   (newest-is-kept in `selenite_backup::retention`).
//! - abandoned-after-a-day: an archive without a manifest is removed when its newest object is more
//!   than a day older than the newest object in the destination, and more than a day old by this
//!   machine's clock. If one of the two clocks is wrong, nothing is removed that is being written.
//! - archives-only: an archive is only what has the name, the beginning and the id of one;
//!   everything else is left alone, and counted. Objects with the name of an archive and a manifest
//!   may have been one: it is unreadable (decide-then-remove).
//! - incomplete-takes-no-place: a backup with a missing part, or a part of an impossible size,
//!   cannot be restored: no rule keeps it instead of another. The contents of parts are not read;
//!   `verify` reads them.
//! - useless-key-is-an-error: keys that open none of the requested backups prune nothing, and
//!   that is an error: the caller named them in order to prune.

use std::collections::BTreeSet;

use selenite_backup::retention::{ArchiveState, Candidate, Decision, Reason, Rules};
use selenite_backup::{
    ArchiveFault, ArchiveName, BackupError, BaseCandidate, Catalog, Destination, Entry, StoreErrorKind, next_bases,
    remove_archive,
};
use selenite_cipher::{ArchiveId, DatabaseId};
use selenite_format::archive::Base;

use super::Reader;
use crate::keys::now;
use crate::{Access, DAY_SECONDS, EngineError, Watch};

/// What to prune.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// One database; otherwise all, each by itself.
    pub database_id: Option<DatabaseId>,
    /// The retention rules.
    pub rules: Rules,
    /// Only report what would be removed.
    pub dry_run: bool,
    /// Also backups from before the master key was renewed, whatever the keyring file says.
    pub unpinned: bool,
}

/// The result of pruning.
#[derive(Clone, Debug, Default)]
pub struct Pruned {
    /// The backups that are kept, and why.
    pub kept: Vec<KeptBackup>,
    /// The backups that were removed, or would be, in this order.
    pub removed: Vec<RemovedBackup>,
    /// The number of objects that are not ours.
    pub foreign_count: u64,
}

/// A backup that is kept.
#[derive(Clone, Debug)]
pub struct KeptBackup {
    /// What the destination states about it.
    pub entry: Entry,
    /// Why it is kept.
    pub reasons: BTreeSet<Reason>,
    /// Why it could not be read.
    pub why_not: Option<String>,
}

/// A backup that is removed.
#[derive(Clone, Debug)]
pub struct RemovedBackup {
    /// What the destination stated about it.
    pub entry: Entry,
    /// The time of the state that was backed up; `None` for an unfinished backup.
    pub made: Option<u64>,
}

/// An archive and its state.
struct Item {
    entry: Entry,
    state: ArchiveState<ArchiveName>,
    why_not: Option<String>,
}

/// The part of a manifest that pruning needs; the manifest itself lists every part.
struct ManifestFacts {
    /// The index of its item.
    index: usize,
    id: ArchiveId,
    base: Option<Base>,
    manifest: [u8; 32],
    made: u64,
    fault: Option<ArchiveFault>,
    lacks_pages: bool,
    is_own: bool,
}

/// The archives of one database, as far as they were read.
#[derive(Default)]
struct DatabaseArchives {
    items: Vec<Item>,
    opened: Vec<ManifestFacts>,
    base_candidates: Vec<BaseCandidate>,
    /// The error of the first archive that no key opens.
    closed: Option<BackupError>,
}

/// Removes the backups that no rule keeps.
///
/// # Errors
/// [`EngineError::Key`] without an identity, and as [`BackupError::Key`] if it opens nothing
/// (useless-key-is-an-error); [`EngineError::Backup`] if the destination fails: what was removed by
/// then stays removed, and no remaining backup lacks its base. The same holds for
/// [`EngineError::Interrupted`].
pub fn prune(
    destination: &dyn Destination,
    access: &Access,
    what: &Prune,
    watch: &Watch,
) -> Result<Pruned, EngineError> {
    access.require()?;
    let reader = Reader::new(access, what.unpinned)?;
    destination.check_place().map_err(BackupError::from)?;
    let catalog = Catalog::read(destination, what.database_id).map_err(BackupError::from)?;
    // abandoned-after-a-day.
    let newest = destination.list("").map_err(BackupError::from)?;
    let newest = newest
        .iter()
        .map(|object| object.modified)
        .max()
        .unwrap_or(0)
        .min(now());
    let mut pruned = Pruned {
        foreign_count: catalog.foreign_count,
        ..Pruned::default()
    };
    let (mut has_opened, mut closed) = (false, None);
    for id in catalog.databases() {
        let mut archives = DatabaseArchives::default();
        for entry in catalog.of(id) {
            watch.check()?;
            archives.add(destination, &reader, entry.clone(), newest)?;
        }
        archives.judge(newest);
        has_opened |= !archives.opened.is_empty();
        closed = closed.or(archives.closed);
        let items = archives.items;
        let candidates: Vec<Candidate<ArchiveName>> = items
            .iter()
            .map(|item| Candidate {
                id: item.entry.name.clone(),
                state: item.state.clone(),
            })
            .collect();
        let next_bases = next_bases(&archives.base_candidates, now());
        let decision = what.rules.decide(&candidates, &next_bases, now());
        pruned.add(items, &decision);
    }
    // useless-key-is-an-error.
    if let Some(error) = closed.filter(|_| !has_opened) {
        return Err(error.into());
    }
    if what.dry_run {
        return Ok(pruned);
    }
    for gone in &pruned.removed {
        watch.check()?;
        let entry = &gone.entry;
        remove_archive(destination, entry.database_id, &entry.name, &mut |_| {}).map_err(BackupError::from)?;
    }
    Ok(pruned)
}

impl Pruned {
    fn add(&mut self, items: Vec<Item>, decision: &Decision<ArchiveName>) {
        let mut gone: Vec<RemovedBackup> = Vec::new();
        for Item { entry, state, why_not } in items {
            if let Some(reasons) = decision.kept.get(&entry.name) {
                let reasons = reasons.clone();
                self.kept.push(KeptBackup {
                    entry,
                    reasons,
                    why_not,
                });
                continue;
            }
            let made = match state {
                ArchiveState::Complete { made, .. } => Some(made),
                ArchiveState::Incomplete { .. } | ArchiveState::Unfinished { .. } | ArchiveState::Unreadable => None,
            };
            gone.push(RemovedBackup { entry, made });
        }
        let place = |gone: &RemovedBackup| decision.removed.iter().position(|name| *name == gone.entry.name);
        gone.sort_by_key(place);
        self.removed.extend(gone);
    }
}

impl DatabaseArchives {
    /// Opens an archive and records its state, except its base.
    fn add(
        &mut self,
        destination: &dyn Destination,
        reader: &Reader,
        entry: Entry,
        newest: u64,
    ) -> Result<(), EngineError> {
        let unfinished = |is_stale| (ArchiveState::Unfinished { is_stale }, None);
        let (state, why_not) = if entry.is_finished {
            match reader.open(destination, &entry) {
                Ok(backup) => {
                    let fault = entry.fault(Some(&backup.facts));
                    let why_not = fault.as_ref().map(|fault| format!("{}: {}", fault.object, fault.what));
                    // No other backup is a base.
                    if backup.is_own() {
                        self.base_candidates.extend(BaseCandidate::of(&backup));
                    }
                    self.opened.push(ManifestFacts {
                        index: self.items.len(),
                        id: backup.archive.begun.archive_id,
                        base: backup.facts.base,
                        manifest: backup.manifest_digest,
                        made: backup.facts.made,
                        fault,
                        lacks_pages: !backup.facts.missing.is_empty(),
                        is_own: backup.is_own(),
                    });
                    // The name of its base is not known yet.
                    (ArchiveState::Unreadable, why_not)
                }
                // It was removed meanwhile: the manifest is removed first.
                Err(BackupError::Unfinished { .. }) => unfinished(false),
                // archives-only.
                Err(BackupError::NotThere { .. }) => {
                    let why_not = format!("backup {}: what opens it is missing", entry.name);
                    (ArchiveState::Unreadable, Some(why_not))
                }
                // The object of that name may not be ours: no reason to stop for all others.
                Err(BackupError::Store(error)) if error.kind == StoreErrorKind::InvalidResponse => {
                    (ArchiveState::Unreadable, Some(error.to_string()))
                }
                Err(error @ (BackupError::Store(_) | BackupError::Machine { .. } | BackupError::Stopped)) => {
                    return Err(error.into());
                }
                Err(error) => {
                    let why_not = error.to_string();
                    if matches!(error, BackupError::Key { .. }) {
                        self.closed.get_or_insert(error);
                    }
                    (ArchiveState::Unreadable, Some(why_not))
                }
            }
        } else {
            unfinished(is_old(&entry, newest))
        };
        self.items.push(Item { entry, state, why_not });
        Ok(())
    }

    /// Sets the states of the archives that were opened, now that all are known.
    fn judge(&mut self, newest: u64) {
        for one in &self.opened {
            let base = one.base.map(|base| self.name_of(base));
            let item = &mut self.items[one.index];
            let is_followed = item.entry.log_count > 0 && !is_old(&item.entry, newest);
            item.state = if one.fault.is_none() {
                ArchiveState::Complete {
                    made: one.made,
                    base,
                    is_followed,
                    lacks_pages: one.lacks_pages,
                    is_own: one.is_own,
                }
            } else {
                ArchiveState::Incomplete { base }
            };
        }
    }

    /// The name of a base; if it does not exist, a name made of its id. Of an unread archive only
    /// half of the id is known, from its name.
    fn name_of(&self, base: Base) -> ArchiveName {
        // An archive with another manifest is not the base.
        let opened = self.opened.iter().find(|other| other.id == base.archive_id);
        let name = match opened {
            Some(other) if other.manifest == base.manifest => Some(&self.items[other.index].entry.name),
            Some(_) => None,
            None => {
                let is_unread = |index: usize| self.opened.iter().all(|other| other.index != index);
                let mut others = self.items.iter().enumerate().filter(|(index, item)| {
                    item.entry.is_finished && is_unread(*index) && item.entry.name.is_of(base.archive_id)
                });
                others.next().map(|(_, item)| &item.entry.name)
            }
        };
        name.cloned().unwrap_or_else(|| ArchiveName::new(0, base.archive_id))
    }
}

/// Enforces `abandoned-after-a-day`.
fn is_old(entry: &Entry, newest: u64) -> bool {
    newest.saturating_sub(entry.modified) > DAY_SECONDS
}
