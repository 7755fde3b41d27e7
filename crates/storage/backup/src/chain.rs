//! A chain: a backup and its bases, down to a full backup.
//!
//! - identified-by-hash: an archive is identified by its id and by the SHA-256 of its manifest,
//!   which contains the hash of the object `begun` and the salts of the parts: no object can differ
//!   from what it was when the next archive of the chain was made.

use std::collections::BTreeSet;

use selenite_cipher::{ArchiveId, DatabaseId, MasterKey};
use selenite_format::anchor::Mark;
use selenite_format::archive::{ArchiveHeader, Base};

use crate::BackupError;
use crate::destination::{Destination, StoreErrorKind};
use crate::key_source::{KeySource, OpenedBy};
use crate::names::{ArchiveName, Part, object_key};
use crate::opened::{BEGUN_SIZE_MAX, Backup, OpenArchive};

/// A backup and its bases.
pub struct Chain {
    links: Vec<Backup>,
}

impl Chain {
    /// Opens the named backup, and its bases, which are among `names`.
    ///
    /// # Errors
    /// [`BackupError::MissingLink`] and [`BackupError::Chain`] if a base does not match; those of
    /// [`OpenArchive::open`] and [`OpenArchive::into_backup`].
    pub fn open(
        destination: &dyn Destination,
        id: DatabaseId,
        name: &ArchiveName,
        names: &[ArchiveName],
        keys: &KeySource<'_>,
    ) -> Result<Self, BackupError> {
        let tip = OpenArchive::open(destination, id, name, keys)?.into_backup(destination)?;
        Self::of(destination, tip, names, keys)
    }

    /// Opens the bases of a backup.
    ///
    /// # Errors
    /// Those of [`Chain::open`].
    pub fn of(
        destination: &dyn Destination,
        tip: Backup,
        names: &[ArchiveName],
        keys: &KeySource<'_>,
    ) -> Result<Self, BackupError> {
        // Usually the whole chain has one master key.
        let mut masters = match &tip.archive.by {
            OpenedBy::Slot(unlocked) => vec![unlocked.duplicate().master],
            OpenedBy::Master | OpenedBy::Recipient => Vec::new(),
        };
        Self::below(destination, tip, names, keys, &mut masters)
    }

    fn below(
        destination: &dyn Destination,
        tip: Backup,
        names: &[ArchiveName],
        keys: &KeySource<'_>,
        masters: &mut Vec<MasterKey>,
    ) -> Result<Self, BackupError> {
        let mut seen = BTreeSet::from([tip.archive.begun.archive_id]);
        let mut links = vec![tip];
        while let Some((above, base)) = links.last().and_then(|link| link.facts.base.map(|base| (link, base))) {
            let refused = |what: String| BackupError::Chain {
                archive: above.name().clone(),
                what,
            };
            if !seen.insert(base.archive_id) {
                return Err(refused("its base depends on it".to_owned()));
            }
            let found = find(destination, above, base, names)?;
            let id = above.archive.begun.database_id;
            let link = OpenArchive::open_link(destination, id, &found, keys, (masters, true))?;
            let link = match link.into_backup(destination) {
                Err(BackupError::Unfinished { archive }) => {
                    return Err(refused(format!("its base, backup {archive}, has no manifest any more")));
                }
                link => link?,
            };
            if link.manifest_digest != base.manifest {
                let what = format!("the manifest of its base, backup {found}, has changed");
                return Err(refused(what));
            }
            if link.facts.page_size != above.facts.page_size {
                let what = format!("its base, backup {found}, has another page size");
                return Err(refused(what));
            }
            links.push(link);
        }
        Ok(Self { links })
    }

    /// The newest backup, which was requested.
    ///
    /// # Panics
    /// Never: a chain has a tip.
    #[must_use]
    pub fn tip(&self) -> &Backup {
        self.links.first().expect("a chain is made with its tip")
    }

    /// The requested backup and its bases, the full one last.
    #[must_use]
    pub fn links(&self) -> &[Backup] {
        &self.links
    }

    /// Whether the origin MACs of all backups prove that holders of the database's master keys made them.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.links.iter().all(Backup::is_own)
    }

    /// Removes the requested backup from the chain and returns it.
    ///
    /// # Panics
    /// Never: a chain has a tip.
    #[must_use]
    pub fn into_tip(mut self) -> Backup {
        self.links.swap_remove(0)
    }

    /// Calls `each` with the pages of all archives and their marks, the oldest first: later marks
    /// replace earlier ones. A mark of zeros is that of a missing page.
    ///
    /// # Errors
    /// Those of [`Backup::marks`].
    pub fn marks(&self, destination: &dyn Destination, each: &mut dyn FnMut(u32, Mark)) -> Result<(), BackupError> {
        self.links
            .iter()
            .rev()
            .try_for_each(|link| link.marks(destination, each))
    }
}

/// The name of an archive's base. Names contain only half of an id, so several may match.
fn find(
    destination: &dyn Destination,
    above: &Backup,
    base: Base,
    names: &[ArchiveName],
) -> Result<ArchiveName, BackupError> {
    let id = above.archive.begun.database_id;
    for name in names.iter().filter(|name| name.is_of(base.archive_id)) {
        let begun = destination.get(&object_key(id, name, Part::Begun), BEGUN_SIZE_MAX);
        match begun {
            Ok(bytes) if archive_id(&bytes).is_none_or(|found| found == base.archive_id) => return Ok(name.clone()),
            Ok(_) => {}
            Err(error) if error.kind == StoreErrorKind::Missing => {}
            Err(error) => return Err(error.into()),
        }
    }
    let name = ArchiveName::new(0, base.archive_id);
    Err(BackupError::MissingLink {
        archive: above.name().clone(),
        base: name.as_str().rsplit('-').next().unwrap_or_default().to_owned(),
    })
}

/// The archive id in the object `begun`; `None` if that cannot be parsed.
fn archive_id(begun: &[u8]) -> Option<ArchiveId> {
    ArchiveHeader::parse(begun).ok().map(|(begun, _, _)| begun.archive_id)
}
