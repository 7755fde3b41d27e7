//! The backups of a destination, for people.

use selenite_backup::{ArchiveName, Backup, BackupError, Catalog, Destination, Entry};
use selenite_cipher::{ArchiveId, DatabaseId};
use selenite_format::archive::Base;

use super::{Reader, base_name};
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
    /// How many pages the database had.
    pub page_count: u32,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// How many pages are missing in it.
    pub missing_count: usize,
    /// Whether it has a digest of the rows.
    pub has_digest: bool,
}

/// Lists the backups of one database, or of all. Without an identity, what can be said without.
///
/// # Errors
/// [`EngineError::Backup`] where the destination can't be listed or read; [`EngineError::Key`] for a key file that is none.
pub fn list(
    destination: &dyn Destination,
    access: &Access,
    of: Option<DatabaseId>,
    watch: &Watch,
) -> Result<Listing, EngineError> {
    let reader = Reader::new(access, true)?;
    let catalog = Catalog::list(destination, of).map_err(BackupError::from)?;
    let mut archives = Vec::with_capacity(catalog.entries.len());
    // No more is kept of each than is told: a manifest lists every part.
    let mut names: Vec<(ArchiveId, ArchiveName)> = Vec::new();
    let mut bases: Vec<Option<Base>> = Vec::new();
    for entry in catalog.entries {
        watch.check()?;
        let (backup, why_not) = look(&reader, destination, &entry)?;
        if let Some(backup) = &backup {
            names.push((backup.archive.begun.archive_id, backup.name().clone()));
        }
        bases.push(backup.as_ref().and_then(|backup| backup.facts.base));
        archives.push(Listed {
            entry,
            known: backup.map(|backup| known(&backup)),
            why_not,
        });
    }
    let is_there = |base: Base| names.iter().any(|(id, _)| *id == base.archive_id);
    for (listed, base) in archives.iter_mut().zip(bases) {
        if let Some(known) = &mut listed.known {
            known.base = base_name(base, &names);
            known.base_is_there = base.is_none_or(is_there);
        }
    }
    Ok(Listing {
        archives,
        foreign_count: catalog.foreign_count,
        has_key: reader.has_key(),
    })
}

/// Opens it, or says why not. That the destination fails is an error.
fn look(
    reader: &Reader,
    destination: &dyn Destination,
    entry: &Entry,
) -> Result<(Option<Backup>, Option<String>), EngineError> {
    if !reader.has_key() || !entry.is_finished {
        return Ok((None, None));
    }
    match reader.open(destination, entry) {
        Ok(backup) => Ok((Some(backup), None)),
        Err(error @ BackupError::Key { .. }) => Ok((None, Some(error.to_string()))),
        Err(error) => match selenite_backup::fault_of(error) {
            Ok(fault) => Ok((None, Some(format!("{}: {}", fault.object, fault.what)))),
            // Removed meanwhile.
            Err(error @ BackupError::NotThere { .. }) => Ok((None, Some(error.to_string()))),
            Err(error) => Err(error.into()),
        },
    }
}

/// All but its base, of which the name may be that of a later one.
fn known(backup: &Backup) -> Known {
    let facts = &backup.facts;
    Known {
        made: facts.made,
        base: None,
        base_is_there: facts.base.is_none(),
        page_count: facts.page_count,
        page_size: facts.page_size.as_u32(),
        missing_count: facts.missing.len(),
        has_digest: facts.digest.is_some(),
    }
}
