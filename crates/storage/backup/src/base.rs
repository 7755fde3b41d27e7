//! What an incremental backup is based on.

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

/// The backup on which another one is to rest.
pub struct Base {
    /// Its name.
    pub name: ArchiveName,
    /// How the other one knows it.
    pub link: archive::Base,
    /// Of its pages, and of those of all that it rests on.
    pub marks: Marks,
    /// How many backups it is, with all that it rests on.
    pub link_count: usize,
}

impl Base {
    /// The newest backup of a database that its present master key opens, with all that it rests
    /// on, and that is for these recipients; nothing where there is none. One under another master
    /// key is no base: no one but that key's holders vouches for what is in it. Nor is one for
    /// other recipients: they could not restore what rests on it, or what it rests on. `now` is in
    /// seconds since 1970-01-01 UTC; names of a clock that was far ahead do not count.
    ///
    /// # Errors
    /// As [`Chain::open`] and [`Chain::marks`]: a newest backup that is not whole is no base, and is told of. So is
    /// one of which something is not there, by the names and sizes that were listed.
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

/// What of a backup says whether the next incremental one may rest on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PerhapsBase {
    /// Its name.
    pub name: ArchiveName,
    /// The generation of the superblock in it: the highest there is tells the present master key.
    pub generation: u64,
    /// When that master key was made.
    pub master_created: u64,
    /// How many recipients may open it besides. Which they are no one can tell but by naming them.
    pub recipient_count: usize,
}

impl PerhapsBase {
    /// Of a backup that was opened.
    ///
    /// # Errors
    /// [`FormatError`] for a superblock that is none.
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

/// On which of a database's backups [`Base::newest`] may come to rest another one, for who has
/// neither the database nor a list of recipients: of those under the newest master key, the newest
/// for each number of recipients.
#[must_use]
pub fn next_bases(of: &[PerhapsBase], now: u64) -> Vec<ArchiveName> {
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

    fn one(begun: u64, generation: u64, master_created: u64, recipient_count: usize) -> PerhapsBase {
        PerhapsBase {
            name: ArchiveName::new(begun, ArchiveId([1; 16])),
            generation,
            master_created,
            recipient_count,
        }
    }

    #[test]
    fn the_next_rests_on_the_newest_under_the_present_master_key_and_none_of_a_clock_that_was_ahead() {
        let now = 1_800_000_000;
        let names = |of: &[PerhapsBase]| next_bases(of, now);
        assert_eq!(names(&[]), []);
        let (old, new) = (one(now - 20, 5, 1, 0), one(now - 10, 5, 1, 0));
        assert_eq!(names(&[old.clone(), new.clone()]), std::slice::from_ref(&new.name));
        let ahead = one(now + AHEAD_SECONDS + 10, 5, 1, 0);
        let with_ahead = [old.clone(), new.clone(), ahead.clone()];
        assert_eq!(names(&with_ahead), std::slice::from_ref(&new.name));
        assert_eq!(names(&[ahead]), []);
        // Someone makes one without the recipients that all others are for.
        let for_others = one(now - 15, 5, 1, 1);
        let both = names(&[old.clone(), for_others.clone(), new.clone()]);
        assert_eq!(both, [new.name.clone(), for_others.name.clone()]);
        // Of a former master key none is a base, whatever a clock says.
        let renewed = one(now - 30, 6, 2, 0);
        assert_eq!(names(&[renewed.clone(), old, for_others, new]), [renewed.name]);
    }
}
