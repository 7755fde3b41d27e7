//! Lists the backups of a destination for display.

use selenite_backup::{ArchiveFault, ArchiveName, Backup, BackupError, Catalog, Destination, Entry};
use selenite_cipher::{ArchiveId, DatabaseId};
use selenite_format::archive::Base;

use super::Reader;
use crate::restore::latest::followed_until;
use crate::{Access, EngineError, Watch};

/// The contents of a destination.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The archives, by database and by the time when they were begun.
    pub archives: Vec<Listed>,
    /// The number of objects that are not ours.
    pub foreign_count: u64,
    /// Whether there was an identity to read them with.
    pub has_key: bool,
}

/// An archive.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What the destination states about it.
    pub entry: Entry,
    /// What its manifest states; `None` if there is no manifest or it could not be read.
    pub known: Option<Known>,
    /// Why the manifest could not be read.
    pub why_not: Option<String>,
    /// What is wrong with it, judged by the names and sizes of its objects.
    pub fault: Option<ArchiveFault>,
}

/// What a manifest states.
#[derive(Clone, Debug)]
pub struct Known {
    /// The time of the state that was backed up: seconds since 1970-01-01 UTC.
    pub made: u64,
    /// The backup that it is based on; `None` for a full backup.
    pub base: Option<ArchiveName>,
    /// Whether that exists.
    pub base_is_there: bool,
    /// The state of the whole chain that it is based on.
    pub chain_state: BaseState,
    /// Whether origin MACs show that a holder of the database's master key made it.
    pub is_own: bool,
    /// The number of pages of the database.
    pub page_count: u32,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// The number of pages that are missing in it.
    pub missing_count: usize,
    /// Whether it contains a digest of the rows.
    pub has_digest: bool,
    /// The time up to which it was followed, according to its log: milliseconds since 1970-01-01 UTC.
    pub followed_until: Option<u64>,
}

/// The state of the chain that a backup is based on, judged by names, sizes and manifests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BaseState {
    /// The chain is complete; or the backup is a full one.
    Whole,
    /// The keys given do not open one of the chain.
    Closed,
    /// One of the chain is missing, incomplete or unreadable.
    Broken,
}

/// Lists the backups of one database, or of all. Without an identity, manifests are not read.
///
/// # Errors
/// [`EngineError::Backup`] if the destination does not exist or cannot be listed or read;
/// [`EngineError::Key`] for a file that is no key file.
pub fn list(
    destination: &dyn Destination,
    access: &Access,
    of: Option<DatabaseId>,
    watch: &Watch,
) -> Result<Listing, EngineError> {
    let reader = Reader::new(access, true)?;
    destination.check_place().map_err(BackupError::from)?;
    let catalog = Catalog::list(destination, of).map_err(BackupError::from)?;
    let mut archives = Vec::with_capacity(catalog.entries.len());
    // Only what is reported is kept: a manifest lists every part.
    let mut links = Vec::with_capacity(catalog.entries.len());
    for entry in catalog.entries {
        watch.check()?;
        let OpenResult {
            backup,
            why_not,
            is_closed,
            followed_until,
        } = open_entry(&reader, destination, &entry)?;
        let fault = entry.fault(backup.as_ref().map(|backup| &backup.facts));
        links.push(Link {
            database_id: entry.database_id,
            name: entry.name.clone(),
            id: backup.as_ref().map(|backup| backup.archive.begun.archive_id),
            base: backup.as_ref().and_then(|backup| backup.facts.base),
            is_finished: entry.is_finished,
            is_closed,
            is_whole: backup.is_some() && fault.is_none(),
        });
        archives.push(Listed {
            known: backup.map(|backup| known(&backup, followed_until)),
            entry,
            why_not,
            fault,
        });
    }
    for (listed, link) in archives.iter_mut().zip(&links) {
        if let (Some(known), Some(base)) = (&mut listed.known, link.base) {
            let found = link.below(&links);
            known.base_is_there = found.is_some();
            known.base = Some(found.map_or_else(|| ArchiveName::new(0, base.archive_id), |found| found.name.clone()));
            known.chain_state = link.chain_state(&links);
        }
    }
    Ok(Listing {
        archives,
        foreign_count: catalog.foreign_count,
        has_key: reader.has_key(),
    })
}

/// An archive in a chain.
struct Link {
    database_id: DatabaseId,
    name: ArchiveName,
    /// `None` if it was not opened.
    id: Option<ArchiveId>,
    base: Option<Base>,
    is_finished: bool,
    is_closed: bool,
    is_whole: bool,
}

impl Link {
    /// The base. If that was not opened, only half of its id is known, from its name.
    fn below<'a>(&self, all: &'a [Self]) -> Option<&'a Self> {
        let base = self.base?;
        let is_base = |other: &&Self| match other.id {
            Some(id) => id == base.archive_id,
            None => other.is_finished && other.name.is_of(base.archive_id),
        };
        let mut own = all.iter().filter(|other| other.database_id == self.database_id);
        own.find(is_base)
    }

    fn chain_state(&self, all: &[Self]) -> BaseState {
        let mut link = self;
        for _ in all {
            if link.base.is_none() {
                return BaseState::Whole;
            }
            link = match link.below(all) {
                Some(below) if below.is_closed => return BaseState::Closed,
                Some(below) if below.is_whole => below,
                Some(_) | None => return BaseState::Broken,
            };
        }
        // The chain has a cycle.
        BaseState::Broken
    }
}

/// The result of opening an archive.
#[derive(Default)]
struct OpenResult {
    backup: Option<Backup>,
    why_not: Option<String>,
    /// Whether it was not opened for lack of a key.
    is_closed: bool,
    followed_until: Option<u64>,
}

/// Opens an archive, or returns why it cannot. A failure of the destination is an error.
fn open_entry(reader: &Reader, destination: &dyn Destination, entry: &Entry) -> Result<OpenResult, EngineError> {
    if !reader.has_key() || !entry.is_finished {
        return Ok(OpenResult::default());
    }
    let not_read = |why_not: String, is_closed| OpenResult {
        why_not: Some(why_not),
        is_closed,
        ..OpenResult::default()
    };
    match reader.open(destination, entry) {
        Ok(backup) => Ok(OpenResult {
            followed_until: moment(destination, &backup, entry.log_whole)?,
            backup: Some(backup),
            ..OpenResult::default()
        }),
        Err(error @ BackupError::Key { .. }) => Ok(not_read(error.to_string(), true)),
        Err(error) => match selenite_backup::fault_of(error) {
            Ok(fault) => Ok(not_read(format!("{}: {}", fault.object, fault.what), false)),
            // It was removed meanwhile.
            Err(error @ BackupError::NotThere { .. }) => Ok(not_read(error.to_string(), false)),
            Err(error) => Err(error.into()),
        },
    }
}

/// The time up to which its log goes; `None` if the end of the log does not open, which `backups
/// verify` reports.
fn moment(destination: &dyn Destination, backup: &Backup, log_count: u32) -> Result<Option<u64>, EngineError> {
    match followed_until(destination, backup, log_count) {
        Ok(until) => Ok(until),
        Err(error) => match selenite_backup::fault_of(error) {
            Ok(_) | Err(BackupError::NotThere { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        },
    }
}

/// Everything but the base, whose name may be that of a later entry.
fn known(backup: &Backup, followed_until: Option<u64>) -> Known {
    let facts = &backup.facts;
    Known {
        made: facts.made,
        base: None,
        base_is_there: facts.base.is_none(),
        chain_state: BaseState::Whole,
        is_own: backup.is_own(),
        page_count: facts.page_count,
        page_size: facts.page_size.as_u32(),
        missing_count: facts.missing.len(),
        has_digest: facts.digest.is_some(),
        followed_until,
    }
}
