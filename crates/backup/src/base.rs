//! What an incremental backup is based on.

use selenite_cipher::{DatabaseId, MasterKey};
use selenite_format::archive;
use selenite_keyring::AgeRecipient;

use crate::catalog::{Catalog, Entry};
use crate::chain::Chain;
use crate::destination::Destination;
use crate::error::{BackupError, machine};
use crate::key_source::KeySource;
use crate::marks::Marks;
use crate::names::{AHEAD_SECONDS, ArchiveName};
use crate::unfinished::is_for;

/// The backup on which another one is to rest.
pub struct Base {
    /// Its name.
    pub name: ArchiveName,
    /// How the other one knows it.
    pub link: archive::Base,
    /// Of its pages, and of those of all that it rests on.
    pub marks: Marks,
}

impl Base {
    /// The newest backup of a database that its present master key opens, with all that it rests on, and that is for these recipients;
    /// nothing where there is none. One under another master key is no base: nobody but that key's holders vouches for what is in it. Nor is
    /// one for other recipients: they could not restore what rests on it, or what it rests on. `now` is in seconds since
    /// 1970-01-01 UTC; names of a clock that was far ahead do not count.
    ///
    /// # Errors
    /// As [`Chain::open`] and [`Chain::marks`]: a newest backup that is not whole is no base, and is told of.
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
                Ok(chain) => return Self::of(destination, &chain).map(Some),
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
        })
    }
}
