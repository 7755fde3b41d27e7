//! The backups of a destination, for people.

use selenite_backup::{ArchiveName, Backup, BackupError, Catalog, Destination, Entry, Fault};
use selenite_cipher::{ArchiveId, DatabaseId};
use selenite_format::archive::Base;

use super::Reader;
use crate::restore::latest::followed_until;
use crate::{Access, EngineError, Watch};

/// What a destination holds.
#[derive(Clone, Debug)]
pub struct Listing {
    /// By database, and when they were begun.
    pub archives: Vec<Listed>,
    /// How many objects are none of ours.
    pub foreign_count: u64,
    /// Whether there was an identity to read them by.
    pub has_key: bool,
}

/// An archive.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What the destination says of it.
    pub entry: Entry,
    /// What its manifest says, if it has one and that could be read.
    pub known: Option<Known>,
    /// Why it could not.
    pub why_not: Option<String>,
    /// What is wrong with it, as far as names and sizes of its objects tell.
    pub fault: Option<Fault>,
}

/// What a manifest says.
#[derive(Clone, Debug)]
pub struct Known {
    /// When the database was so: seconds since 1970-01-01 UTC.
    pub made: u64,
    /// What it is based on; nothing for a full backup.
    pub base: Option<ArchiveName>,
    /// Whether that is there.
    pub base_is_there: bool,
    /// What all that it rests on is like.
    pub ground: BaseState,
    /// Whether origin MACs show that a holder of the database's master key made it.
    pub is_own: bool,
    /// How many pages the database had.
    pub page_count: u32,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// How many pages are missing in it.
    pub missing_count: usize,
    /// Whether it has a digest of the rows.
    pub has_digest: bool,
    /// Up to when it was followed, in milliseconds since 1970-01-01 UTC, as its log says.
    pub followed_until: Option<u64>,
}

/// What all that a backup rests on is like, as far as names, sizes and manifests tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BaseState {
    /// It is there; or there is none, under a full backup.
    Whole,
    /// One of them is not opened by the keys given.
    Closed,
    /// One of them is not there, not all of it is, or it can't be read.
    Broken,
}

/// Lists the backups of one database, or of all. Without an identity, what can be said without.
///
/// # Errors
/// [`EngineError::Backup`] where the destination is not there, can't be listed or read; [`EngineError::Key`] for a
/// key file that is none.
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
    // No more is kept of each than is told: a manifest lists every part.
    let mut links = Vec::with_capacity(catalog.entries.len());
    for entry in catalog.entries {
        watch.check()?;
        let Look {
            backup,
            why_not,
            is_closed,
            followed_until,
        } = look(&reader, destination, &entry)?;
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
            known.ground = link.ground(&links);
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
    /// Where it was opened.
    id: Option<ArchiveId>,
    base: Option<Base>,
    is_finished: bool,
    is_closed: bool,
    is_whole: bool,
}

impl Link {
    /// What it is based on. The id of one that was not opened is known by half, from its name.
    fn below<'a>(&self, all: &'a [Self]) -> Option<&'a Self> {
        let base = self.base?;
        let is_base = |other: &&Self| match other.id {
            Some(id) => id == base.archive_id,
            None => other.is_finished && other.name.is_of(base.archive_id),
        };
        let mut own = all.iter().filter(|other| other.database_id == self.database_id);
        own.find(is_base)
    }

    fn ground(&self, all: &[Self]) -> BaseState {
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
        // It leads back to itself.
        BaseState::Broken
    }
}

/// What came of opening one.
#[derive(Default)]
struct Look {
    backup: Option<Backup>,
    why_not: Option<String>,
    /// Whether that is the keys' fault.
    is_closed: bool,
    followed_until: Option<u64>,
}

/// Opens it, or says why not. That the destination fails is an error.
fn look(reader: &Reader, destination: &dyn Destination, entry: &Entry) -> Result<Look, EngineError> {
    if !reader.has_key() || !entry.is_finished {
        return Ok(Look::default());
    }
    let not_read = |why_not: String, is_closed| Look {
        why_not: Some(why_not),
        is_closed,
        ..Look::default()
    };
    match reader.open(destination, entry) {
        Ok(backup) => Ok(Look {
            followed_until: moment(destination, &backup, entry.log_whole)?,
            backup: Some(backup),
            ..Look::default()
        }),
        Err(error @ BackupError::Key { .. }) => Ok(not_read(error.to_string(), true)),
        Err(error) => match selenite_backup::fault_of(error) {
            Ok(fault) => Ok(not_read(format!("{}: {}", fault.object, fault.what), false)),
            // Removed meanwhile.
            Err(error @ BackupError::NotThere { .. }) => Ok(not_read(error.to_string(), false)),
            Err(error) => Err(error.into()),
        },
    }
}

/// Up to when its log goes; nothing where the log's end does not open, which `backups verify` tells of.
fn moment(destination: &dyn Destination, backup: &Backup, log_count: u32) -> Result<Option<u64>, EngineError> {
    match followed_until(destination, backup, log_count) {
        Ok(until) => Ok(until),
        Err(error) => match selenite_backup::fault_of(error) {
            Ok(_) | Err(BackupError::NotThere { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        },
    }
}

/// All but its base, of which the name may be that of a later one.
fn known(backup: &Backup, followed_until: Option<u64>) -> Known {
    let facts = &backup.facts;
    Known {
        made: facts.made,
        base: None,
        base_is_there: facts.base.is_none(),
        ground: BaseState::Whole,
        is_own: backup.is_own(),
        page_count: facts.page_count,
        page_size: facts.page_size.as_u32(),
        missing_count: facts.missing.len(),
        has_digest: facts.digest.is_some(),
        followed_until,
    }
}
