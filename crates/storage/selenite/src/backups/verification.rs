//! Verifies that backups are what was written: all of them, or one with its chain of bases.
//!
//! - bases-first: every object of a backup is opened once, and each backup after its base. The set
//!   of its pages takes one bit for each page, and is kept until all dependents are verified.
//! - bad-base-spreads: a backup with a bad base is bad, and so is a followed one if an object of
//!   its log is bad.
//! - unopened-is-unknown: a backup that the keys given do not open is neither good nor bad, and so
//!   is one that is based on it, if all of its own objects are good.

use std::collections::{BTreeMap, BTreeSet};

use selenite_backup::{
    ArchiveFault, ArchiveName, Backup, BackupError, Catalog, Coverage, Destination, Entry, fault_of,
};
use selenite_cipher::{ArchiveId, DatabaseId};

use super::Reader;
use crate::watch::Phase;
use crate::{Access, EngineError, Watch};

/// What to verify.
#[derive(Clone, Debug, Default)]
pub struct Verify {
    /// One database; otherwise all.
    pub database_id: Option<DatabaseId>,
    /// One backup with its chain of bases; otherwise all.
    pub name: Option<ArchiveName>,
    /// Also backups from before the master key was renewed, whatever the keyring file says.
    pub unpinned: bool,
}

/// The result of a verification.
#[derive(Debug, Default)]
pub struct Verification {
    /// The verified archives, by database, each after its base.
    pub archives: Vec<Checked>,
    /// The number of objects that are not ours.
    pub foreign_count: u64,
}

/// An archive that was verified.
#[derive(Debug)]
pub struct Checked {
    /// What the destination states about it.
    pub entry: Entry,
    /// The result.
    pub outcome: ArchiveOutcome,
}

/// The result for one archive.
#[derive(Debug)]
pub enum ArchiveOutcome {
    /// All of it is authentic, and all pages are present.
    Good {
        /// Whether origin MACs show that a holder of the database's master key made it.
        is_own: bool,
        /// The number of pages of the database.
        page_count: u32,
        /// How many are in its own parts.
        own_count: u64,
        /// How many were missing when the backup was made.
        missing_count: usize,
        /// The number of backups in its chain of bases.
        below_count: usize,
        /// The time up to which its log goes, if it was followed: milliseconds since 1970-01-01 UTC.
        followed_until: Option<u64>,
    },
    /// It differs from what was written.
    Bad(Vec<ArchiveFault>),
    /// It has no manifest: it is no backup.
    Unfinished,
    /// No identity given opens it.
    Closed(BackupError),
    /// All of its own objects are authentic, but no identity given opens this one in its chain of bases.
    OnClosed(ArchiveName),
}

impl Verification {
    /// How many are bad.
    #[must_use]
    pub fn bad_count(&self) -> usize {
        let is_bad = |one: &&Checked| matches!(one.outcome, ArchiveOutcome::Bad(_));
        self.archives.iter().filter(is_bad).count()
    }

    /// How many are backups, and good.
    #[must_use]
    pub fn good_count(&self) -> usize {
        let is_good = |one: &&Checked| matches!(one.outcome, ArchiveOutcome::Good { .. });
        self.archives.iter().filter(is_good).count()
    }

    /// How many are neither, because the keys given do not open them or one of their bases.
    #[must_use]
    pub fn closed_count(&self) -> usize {
        let is_closed = |one: &&Checked| matches!(one.outcome, ArchiveOutcome::Closed(_) | ArchiveOutcome::OnClosed(_));
        self.archives.iter().filter(is_closed).count()
    }

    /// The error of the first that could not be opened.
    #[must_use]
    pub fn closed(self) -> Option<BackupError> {
        self.archives.into_iter().find_map(|one| match one.outcome {
            ArchiveOutcome::Closed(error) => Some(error),
            ArchiveOutcome::Good { .. }
            | ArchiveOutcome::Bad(_)
            | ArchiveOutcome::Unfinished
            | ArchiveOutcome::OnClosed(_) => None,
        })
    }
}

/// Opens every object of the backups that `what` selects.
///
/// # Errors
/// [`EngineError::Key`] without an identity; [`EngineError::Backup`] for the name of a backup that
/// does not exist, if there is no backup at all, and if the destination itself fails;
/// [`EngineError::Interrupted`]. A bad backup is not an error, but a result.
pub fn verify(
    destination: &dyn Destination,
    access: &Access,
    what: &Verify,
    watch: &Watch,
) -> Result<Verification, EngineError> {
    access.require()?;
    let reader = Reader::new(access, what.unpinned)?;
    destination.check_place().map_err(BackupError::from)?;
    let catalog = Catalog::list(destination, what.database_id).map_err(BackupError::from)?;
    let foreign_count = catalog.foreign_count;
    if let Some(name) = &what.name
        && !catalog.entries.iter().any(|entry| entry.name == *name)
    {
        let what = format!("{} has no backup {name}", destination.place());
        return Err(BackupError::NotThere { what }.into());
    }
    if catalog.entries.is_empty() {
        let place = destination.place();
        let none = || BackupError::NotThere {
            what: format!("{place}: no backups"),
        };
        let error = what
            .database_id
            .map_or_else(none, |id| BackupError::none_of(id, &place));
        return Err(error.into());
    }
    let mut archives = Vec::new();
    for id in catalog.databases() {
        let entries: Vec<Entry> = catalog.of(id).cloned().collect();
        let mut set = ArchiveSet::open(destination, &reader, entries, watch)?;
        if let Some(name) = &what.name {
            set.keep(name);
        }
        archives.extend(set.check(destination, watch)?);
    }
    Ok(Verification {
        archives,
        foreign_count,
    })
}

/// The archives of one database.
struct ArchiveSet {
    done: Vec<Checked>,
    waiting: Vec<(Entry, Backup)>,
}

impl ArchiveSet {
    fn open(
        destination: &dyn Destination,
        reader: &Reader,
        entries: Vec<Entry>,
        watch: &Watch,
    ) -> Result<Self, EngineError> {
        let mut set = Self {
            done: Vec::new(),
            waiting: Vec::new(),
        };
        for entry in entries {
            watch.check()?;
            let outcome = match reader.open(destination, &entry) {
                Ok(backup) => {
                    set.waiting.push((entry, backup));
                    continue;
                }
                Err(_) if !entry.is_finished => ArchiveOutcome::Unfinished,
                Err(error @ BackupError::Key { .. }) => ArchiveOutcome::Closed(error),
                // The object that opens it is missing, but its manifest exists.
                Err(BackupError::NotThere { .. }) => ArchiveOutcome::Bad(vec![ArchiveFault {
                    object: entry.name.to_string(),
                    what: "what opens it is missing".to_owned(),
                }]),
                Err(error) => ArchiveOutcome::Bad(vec![fault_of(error)?]),
            };
            set.done.push(Checked { entry, outcome });
        }
        Ok(set)
    }

    /// Leaves out everything but one backup and its chain of bases.
    fn keep(&mut self, name: &ArchiveName) {
        let mut wanted = BTreeSet::from([name.clone()]);
        let mut next = Some(name.clone());
        while let Some(name) = next {
            let base = self.waiting.iter().find(|(entry, _)| entry.name == name);
            let base = base
                .and_then(|(_, backup)| backup.facts.base)
                .map(|base| base.archive_id);
            let found = base.and_then(|id| self.waiting.iter().find(|(_, backup)| id_of(backup) == id));
            let closed = || base.and_then(|id| self.unopened(id));
            let found = found.map(|(entry, _)| entry).or_else(closed);
            next = found
                .map(|entry| entry.name.clone())
                .filter(|name| wanted.insert(name.clone()));
        }
        self.waiting.retain(|(entry, _)| wanted.contains(&entry.name));
        self.done.retain(|one| wanted.contains(&one.entry.name));
    }

    /// An unopened archive that may have this id: half of it is in the name.
    fn unopened(&self, id: ArchiveId) -> Option<&Entry> {
        let mut done = self.done.iter().map(|one| &one.entry);
        done.find(|entry| entry.name.is_of(id))
    }

    /// Enforces `unopened-is-unknown`.
    fn closed(&self, id: ArchiveId) -> Option<ArchiveName> {
        let is_closed = |one: &&Checked| matches!(one.outcome, ArchiveOutcome::Closed(_)) && one.entry.name.is_of(id);
        self.done.iter().find(is_closed).map(|one| one.entry.name.clone())
    }

    /// Enforces `bases-first`.
    fn check(mut self, destination: &dyn Destination, watch: &Watch) -> Result<Vec<Checked>, EngineError> {
        let total = self.waiting.iter().map(|(entry, _)| entry.size).sum();
        let mut meter = Meter { watch, done: 0, total };
        let mut seen: BTreeMap<ArchiveId, CheckedBase> = BTreeMap::new();
        while let Some(index) = self.next(&seen) {
            let (entry, backup) = self.waiting.swap_remove(index);
            let id = id_of(&backup);
            let base = backup.facts.base.map(|base| base.archive_id);
            let base_result = match base.and_then(|id| seen.get(&id)) {
                Some(below) => BaseResult::CheckedBase(below),
                None => base
                    .and_then(|id| self.closed(id))
                    .map_or(BaseResult::Nothing, BaseResult::Closed),
            };
            let (outcome, coverage, below_count) = examine(destination, &entry, &backup, &base_result, &mut meter)?;
            let status = match &outcome {
                ArchiveOutcome::Good { .. } => BaseStatus::Good,
                ArchiveOutcome::OnClosed(base) => BaseStatus::OnClosed(base.clone()),
                ArchiveOutcome::Bad(_) | ArchiveOutcome::Unfinished | ArchiveOutcome::Closed(_) => BaseStatus::Bad,
            };
            seen.insert(
                id,
                CheckedBase {
                    manifest: backup.manifest_digest,
                    page_size: backup.facts.page_size.as_u32(),
                    coverage,
                    status,
                    below_count,
                },
            );
            self.done.push(Checked { entry, outcome });
            // No other backup needs it any more.
            for (id, one) in &mut seen {
                let is_needed =
                    |(_, backup): &(Entry, Backup)| backup.facts.base.is_some_and(|base| base.archive_id == *id);
                if !self.waiting.iter().any(is_needed) {
                    one.coverage = Coverage::default();
                }
            }
        }
        Ok(self.done)
    }

    /// An archive whose base was verified or is not waiting; if all wait for one another, any of them.
    fn next(&self, seen: &BTreeMap<ArchiveId, CheckedBase>) -> Option<usize> {
        let is_waiting = |id: ArchiveId| self.waiting.iter().any(|(_, backup)| id_of(backup) == id);
        let is_free = |(_, backup): &(Entry, Backup)| match backup.facts.base {
            None => true,
            Some(base) => seen.contains_key(&base.archive_id) || !is_waiting(base.archive_id),
        };
        let free = self.waiting.iter().position(is_free);
        free.or_else(|| (!self.waiting.is_empty()).then_some(0))
    }
}

/// The result for a backup that others may be based on.
struct CheckedBase {
    manifest: [u8; 32],
    page_size: u32,
    coverage: Coverage,
    status: BaseStatus,
    below_count: usize,
}

enum BaseStatus {
    Good,
    OnClosed(ArchiveName),
    Bad,
}

/// The base of a backup.
enum BaseResult<'a> {
    CheckedBase(&'a CheckedBase),
    /// Enforces `unopened-is-unknown`.
    Closed(ArchiveName),
    /// It is a full one; or its base does not exist.
    Nothing,
}

struct Meter<'a> {
    watch: &'a Watch,
    done: u64,
    total: u64,
}

fn examine(
    destination: &dyn Destination,
    entry: &Entry,
    backup: &Backup,
    base_result: &BaseResult<'_>,
    meter: &mut Meter<'_>,
) -> Result<(ArchiveOutcome, Coverage, usize), EngineError> {
    let below = match base_result {
        BaseResult::CheckedBase(below) => Some(below),
        BaseResult::Closed(_) | BaseResult::Nothing => None,
    };
    let objects = u64::try_from(backup.facts.parts.len() * 2).unwrap_or(u64::MAX).max(1);
    let (step, done) = (entry.size / objects, meter.done);
    let mut read = || {
        meter.done += step;
        meter
            .watch
            .report(Phase::Verifying, meter.done.min(meter.total), meter.total);
        !meter.watch.is_interrupted()
    };
    let found = backup.inspect(destination, below.map(|below| &below.coverage), &mut read)?;
    meter.done = done + entry.size;
    let mut faults = found.faults;
    // Only what was there when it was listed; objects added later are left to the next verification.
    let followed_until = match backup.log(destination, entry.log_count, u64::MAX) {
        Ok(log) => log.end.map(|(_, until)| until),
        Err(error) => {
            faults.push(fault_of(error)?);
            None
        }
    };
    let mut closed = None;
    if let Some(base) = backup.facts.base {
        // Then all pages that it does not contain itself are missing: that is not reported in addition.
        if !matches!(
            base_result,
            BaseResult::CheckedBase(CheckedBase {
                status: BaseStatus::Good,
                ..
            })
        ) {
            faults.retain(|fault| fault.object != entry.name.as_str());
        }
        let fault = |what: &str| ArchiveFault {
            object: entry.name.to_string(),
            what: what.to_owned(),
        };
        match base_result {
            BaseResult::Nothing => faults.push(fault("its base is missing or cannot be read")),
            BaseResult::Closed(name) => closed = Some(name.clone()),
            BaseResult::CheckedBase(below) if below.manifest != base.manifest => {
                faults.push(fault("the manifest of its base has changed"));
            }
            BaseResult::CheckedBase(below) if below.page_size != backup.facts.page_size.as_u32() => {
                faults.push(fault("its base has another page size"));
            }
            BaseResult::CheckedBase(below) => match &below.status {
                BaseStatus::Good => {}
                BaseStatus::OnClosed(name) => closed = Some(name.clone()),
                BaseStatus::Bad => faults.push(fault("its base is bad")),
            },
        }
    }
    let below_count = below.map_or(0, |below| below.below_count + 1);
    let outcome = if let (Some(name), true) = (closed, faults.is_empty()) {
        ArchiveOutcome::OnClosed(name)
    } else if faults.is_empty() {
        ArchiveOutcome::Good {
            is_own: backup.is_own(),
            page_count: backup.facts.page_count,
            own_count: found.page_count,
            missing_count: backup.facts.missing.len(),
            below_count,
            followed_until,
        }
    } else {
        ArchiveOutcome::Bad(faults)
    };
    Ok((outcome, found.coverage, below_count))
}

fn id_of(backup: &Backup) -> ArchiveId {
    backup.archive.begun.archive_id
}
