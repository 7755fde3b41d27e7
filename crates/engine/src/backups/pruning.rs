//! Backups that no rule keeps are removed.
//!
//! P1. Everything is decided before anything is removed, and by what was authenticated: an archive that does not open stays, and with
//!     it all others of its database (R2 of `selenite_backup::retention`).
//! P2. An archive without a manifest is removed when its newest object is a day older than the newest in the destination, and a
//!     day old by this machine's clock: one of the two that is wrong removes nothing that is being written.
//! P3. Only what has the name, the beginning and the id of an archive is one; everything else is left alone, and counted. What has
//!     the name and a manifest may have been one: it can't be read (P1).
//! P4. A backup of which fewer parts are there than its manifest lists can't be restored: it takes no other's place. Whether each is
//!     what was written there is not read; `verify` does.

use std::collections::BTreeSet;

use selenite_backup::retention::{Candidate, Decision, Reason, Rules, State};
use selenite_backup::{ArchiveName, Backup, BackupError, Catalog, Destination, Entry, remove_archive};
use selenite_cipher::{ArchiveId, DatabaseId};
use selenite_format::archive::Base;

use super::{Reader, base_name};
use crate::keys::now;
use crate::{Access, DAY_SECONDS, EngineError, Watch};

/// What to prune.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// Of one database; else of all, each by itself.
    pub database_id: Option<DatabaseId>,
    /// What is kept.
    pub rules: Rules,
    /// Only say what would be removed.
    pub dry_run: bool,
    /// Backups from before the master key was renewed, too, whatever the keyring file says.
    pub unpinned: bool,
}

/// What was pruned.
#[derive(Clone, Debug, Default)]
pub struct Pruned {
    /// What is left, and why.
    pub kept: Vec<Kept>,
    /// What was removed, or would be; in that order.
    pub removed: Vec<Gone>,
    /// How many objects are none of ours.
    pub foreign_count: u64,
}

/// A backup that is left.
#[derive(Clone, Debug)]
pub struct Kept {
    /// What the destination says of it.
    pub entry: Entry,
    /// Why.
    pub reasons: BTreeSet<Reason>,
    /// Why it could not be read.
    pub why_not: Option<String>,
}

/// A backup that is removed.
#[derive(Clone, Debug)]
pub struct Gone {
    /// What the destination said of it.
    pub entry: Entry,
    /// When the database was so; nothing of what was never finished.
    pub made: Option<u64>,
}

/// An archive, and what is known of it.
struct Item {
    entry: Entry,
    state: State<ArchiveName>,
    why_not: Option<String>,
}

/// What is kept of a manifest, which lists every part: no more than is asked of it.
struct Opened {
    /// Of its item.
    index: usize,
    id: ArchiveId,
    base: Option<Base>,
    manifest: [u8; 32],
    made: u64,
    is_all_there: bool,
    lacks_pages: bool,
}

/// Removes what no rule keeps.
///
/// # Errors
/// [`EngineError::Key`] without an identity; [`EngineError::Backup`] where the destination fails: what was removed by then stays so, and
/// no backup that is left lacks what it rests on. [`EngineError::Interrupted`] as that.
pub fn prune(
    destination: &dyn Destination,
    access: &Access,
    what: &Prune,
    watch: &Watch,
) -> Result<Pruned, EngineError> {
    access.require()?;
    let reader = Reader::new(access, what.unpinned)?;
    let catalog = Catalog::read(destination, what.database_id).map_err(BackupError::from)?;
    // P2.
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
    for id in catalog.databases() {
        let entries = catalog.of(id).cloned();
        let items = look(destination, &reader, entries, newest, watch)?;
        let candidates: Vec<Candidate<ArchiveName>> = items
            .iter()
            .map(|item| Candidate {
                id: item.entry.name.clone(),
                state: item.state.clone(),
            })
            .collect();
        // By name, as a backup chooses it (`selenite_backup::Base`).
        let next_base = items.iter().rev().find(|item| item.entry.is_finished);
        let next_base = next_base.map(|item| &item.entry.name);
        let decision = what.rules.decide(&candidates, next_base, now());
        pruned.add(items, &decision);
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
        let mut gone: Vec<Gone> = Vec::new();
        for Item { entry, state, why_not } in items {
            if let Some(reasons) = decision.kept.get(&entry.name) {
                let reasons = reasons.clone();
                self.kept.push(Kept {
                    entry,
                    reasons,
                    why_not,
                });
                continue;
            }
            let made = match state {
                State::Complete { made, .. } => Some(made),
                State::Incomplete { .. } | State::Unfinished { .. } | State::Unreadable => None,
            };
            gone.push(Gone { entry, made });
        }
        let place = |gone: &Gone| decision.removed.iter().position(|name| *name == gone.entry.name);
        gone.sort_by_key(place);
        self.removed.extend(gone);
    }
}

/// What is known of the archives of one database.
fn look(
    destination: &dyn Destination,
    reader: &Reader,
    entries: impl Iterator<Item = Entry>,
    newest: u64,
    watch: &Watch,
) -> Result<Vec<Item>, EngineError> {
    let mut items = Vec::new();
    let mut opened = Vec::new();
    for entry in entries {
        watch.check()?;
        let is_stale = is_old(&entry, newest);
        let unfinished = |is_stale| (State::Unfinished { is_stale }, None);
        let (state, why_not) = if entry.is_finished {
            match reader.open(destination, &entry) {
                Ok(backup) => {
                    opened.push(Opened {
                        index: items.len(),
                        id: backup.archive.begun.archive_id,
                        base: backup.facts.base,
                        manifest: backup.manifest_digest,
                        made: backup.facts.made,
                        is_all_there: is_all_there(&entry, &backup),
                        lacks_pages: !backup.facts.missing.is_empty(),
                    });
                    // Its base has no name yet.
                    (State::Unreadable, None)
                }
                // Removed meanwhile: the manifest goes first.
                Err(BackupError::Unfinished { .. }) => unfinished(false),
                // P3.
                Err(BackupError::NotThere { .. }) => (State::Unreadable, Some("what opens it is missing".to_owned())),
                Err(error @ (BackupError::Store(_) | BackupError::Machine { .. } | BackupError::Stopped)) => {
                    return Err(error.into());
                }
                Err(error) => (State::Unreadable, Some(error.to_string())),
            }
        } else {
            unfinished(is_stale)
        };
        items.push(Item { entry, state, why_not });
    }
    let names: Vec<(ArchiveId, ArchiveName)> = opened
        .iter()
        .map(|one| (one.id, items[one.index].entry.name.clone()))
        .collect();
    for one in &opened {
        // One of another manifest is not what it is based on.
        let fits = one.base.is_none_or(|base| {
            let mut bases = opened.iter().filter(|other| other.id == base.archive_id);
            bases.all(|other| other.manifest == base.manifest)
        });
        let names = if fits { names.as_slice() } else { &[] };
        let (made, base) = (one.made, base_name(one.base, names));
        let entry = &items[one.index].entry;
        let is_followed = entry.log_count > 0 && !is_old(entry, newest);
        items[one.index].state = if one.is_all_there {
            State::Complete {
                made,
                base,
                is_followed,
                lacks_pages: one.lacks_pages,
            }
        } else {
            State::Incomplete { base }
        };
    }
    Ok(items)
}

/// P4.
fn is_all_there(entry: &Entry, backup: &Backup) -> bool {
    let has = |count: u32, listed: &[[u8; 16]]| usize::try_from(count).is_ok_and(|count| count >= listed.len());
    has(entry.part_count, &backup.facts.parts) && has(entry.index_count, &backup.facts.indexes)
}

/// P2.
fn is_old(entry: &Entry, newest: u64) -> bool {
    newest.saturating_sub(entry.modified) > DAY_SECONDS
}
