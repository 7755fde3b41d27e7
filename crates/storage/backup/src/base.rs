//! The base of an incremental backup.

use std::collections::BTreeMap;

use selenite_cipher::{DatabaseId, MasterKey};
use selenite_format::{FormatError, Superblock, archive};
use selenite_keyring::AgeRecipient;

use crate::catalog::{Catalog, Entry};
use crate::chain::Chain;
use crate::destination::Destination;
use crate::error::{BackupError, machine};
use crate::key_source::KeySource;
use crate::marks::Marks;
use crate::names::{AHEAD_SECONDS, ArchiveName};
use crate::opened::Backup;
use crate::unfinished::is_for;

/// The backup on which another one will be based.
pub struct Base {
    /// Its name.
    pub name: ArchiveName,
    /// The reference to it in the manifest of the other backup.
    pub link: archive::Base,
    /// The marks of its pages, including those of its own bases.
    pub marks: Marks,
    /// The number of backups in its chain.
    pub link_count: usize,
}

impl Base {
    /// The newest backup of a database that its present master key opens and that is for these
    /// recipients, with its chain; `None` if there is none. A backup under another master key is
    /// not used: only holders of that key could have authenticated its content. Neither is one for
    /// other recipients: they could not restore a backup based on it, or its bases. `now` is in
    /// seconds since 1970-01-01 UTC; names from a clock that was far ahead are ignored.
    ///
    /// # Errors
    /// Those of [`Chain::open`] and [`Chain::marks`]: a newest backup that is not complete is not
    /// used and is reported, as is one of which an object is missing according to the listed names
    /// and sizes.
    pub fn newest(
        destination: &dyn Destination,
        id: DatabaseId,
        (master, recipients): (&MasterKey, &[AgeRecipient]),
        now: u64,
    ) -> Result<Option<Self>, BackupError> {
        let catalog = Catalog::list(destination, Some(id))?;
        let names: Vec<ArchiveName> = catalog.of(id).map(|entry| entry.name.clone()).collect();
        let is_candidate =
            |entry: &&Entry| entry.is_finished && !entry.name.is_after(now.saturating_add(AHEAD_SECONDS));
        for entry in catalog.of(id).rev().filter(is_candidate) {
            match Chain::open(destination, id, &entry.name, &names, &KeySource::Master(master)) {
                Ok(chain) if !is_for(&chain.tip().archive, recipients) => {}
                Ok(chain) => {
                    check_all_there(&catalog, &chain)?;
                    return Self::of(destination, &chain).map(Some);
                }
                Err(BackupError::Key { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn of(destination: &dyn Destination, chain: &Chain) -> Result<Self, BackupError> {
        let mut marks = Marks::new().map_err(machine)?;
        let mut set = Ok(());
        chain.marks(destination, &mut |page_no, mark| {
            if set.is_ok() {
                set = marks.set(page_no, mark);
            }
        })?;
        set.and_then(|()| marks.settle()).map_err(machine)?;
        let tip = chain.tip();
        Ok(Self {
            name: tip.name().clone(),
            link: archive::Base {
                archive_id: tip.archive.begun.archive_id,
                manifest: tip.manifest_digest,
            },
            marks,
            link_count: chain.links().len(),
        })
    }
}

fn check_all_there(catalog: &Catalog, chain: &Chain) -> Result<(), BackupError> {
    for link in chain.links() {
        let id = link.archive.begun.database_id;
        let entry = catalog.of(id).find(|entry| entry.name == *link.name());
        if let Some(entry) = entry {
            entry.check(&link.facts)?;
        }
    }
    Ok(())
}

/// The properties of a backup that decide whether the next incremental one may be based on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BaseCandidate {
    /// Its name.
    pub name: ArchiveName,
    /// The generation of its superblock: the highest one has the present master key.
    pub generation: u64,
    /// The creation time of that master key.
    pub master_created: u64,
    /// The number of additional recipients. Their identities can be checked only by naming them.
    pub recipient_count: usize,
}

impl BaseCandidate {
    /// The properties of an opened backup.
    ///
    /// # Errors
    /// [`FormatError`] if its superblock is invalid.
    pub fn of(backup: &Backup) -> Result<Self, FormatError> {
        let begun = &backup.archive.begun;
        let superblock = Superblock::parse(&begun.superblock)?;
        Ok(Self {
            name: backup.name().clone(),
            generation: superblock.generation,
            master_created: superblock.master_created,
            recipient_count: begun.recipients.len(),
        })
    }
}

/// The backups of a database that [`Base::newest`] may choose as the next base, for a caller that
/// has neither the database nor a list of recipients: of those under the newest master key, the
/// newest for each number of recipients.
#[must_use]
pub fn next_bases(of: &[BaseCandidate], now: u64) -> Vec<ArchiveName> {
    let Some(present) = of.iter().max_by_key(|one| one.generation) else {
        return Vec::new();
    };
    let mut newest: BTreeMap<usize, &ArchiveName> = BTreeMap::new();
    for one in of {
        if one.master_created == present.master_created && !one.name.is_after(now.saturating_add(AHEAD_SECONDS)) {
            let name = newest.entry(one.recipient_count).or_insert(&one.name);
            *name = (*name).max(&one.name);
        }
    }
    newest.into_values().cloned().collect()
}

#[cfg(test)]
mod tests {
    use selenite_cipher::ArchiveId;

    use super::*;

    fn one(begun: u64, generation: u64, master_created: u64, recipient_count: usize) -> BaseCandidate {
        BaseCandidate {
            name: ArchiveName::new(begun, ArchiveId([1; 16])),
            generation,
            master_created,
            recipient_count,
        }
    }

    #[test]
    fn the_next_base_is_the_newest_under_the_present_master_key_and_not_from_the_future() {
        let now = 1_800_000_000;
        let names = |of: &[BaseCandidate]| next_bases(of, now);
        assert_eq!(names(&[]), []);
        let (old, new) = (one(now - 20, 5, 1, 0), one(now - 10, 5, 1, 0));
        assert_eq!(names(&[old.clone(), new.clone()]), std::slice::from_ref(&new.name));
        let ahead = one(now + AHEAD_SECONDS + 10, 5, 1, 0);
        let with_ahead = [old.clone(), new.clone(), ahead.clone()];
        assert_eq!(names(&with_ahead), std::slice::from_ref(&new.name));
        assert_eq!(names(&[ahead]), []);
        // A backup without the recipients of all others.
        let for_others = one(now - 15, 5, 1, 1);
        let both = names(&[old.clone(), for_others.clone(), new.clone()]);
        assert_eq!(both, [new.name.clone(), for_others.name.clone()]);
        // Backups under a former master key are no bases, whatever their time.
        let renewed = one(now - 30, 6, 2, 0);
        assert_eq!(names(&[renewed.clone(), old, for_others, new]), [renewed.name]);
    }
}
