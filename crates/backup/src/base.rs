//! What an incremental backup is based on.

use selenite_cipher::DatabaseId;
use selenite_format::archive;

use crate::catalog::Catalog;
use crate::chain::Chain;
use crate::destination::Destination;
use crate::error::{BackupError, machine};
use crate::key_source::KeySource;
use crate::marks::Marks;
use crate::names::ArchiveName;

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
    /// The newest backup of a database, by the time in its name; nothing where there is none.
    ///
    /// # Errors
    /// As [`Chain::open`] and [`Chain::marks`]: a newest backup that is not whole is no base, and is told of.
    pub fn newest(
        destination: &dyn Destination,
        id: DatabaseId,
        keys: &KeySource<'_>,
    ) -> Result<Option<Self>, BackupError> {
        let catalog = Catalog::list(destination, Some(id))?;
        let names: Vec<ArchiveName> = catalog.of(id).map(|entry| entry.name.clone()).collect();
        let Some(newest) = catalog.of(id).rev().find(|entry| entry.is_finished) else {
            return Ok(None);
        };
        let chain = Chain::open(destination, id, &newest.name, &names, keys)?;
        let mut marks = Marks::new().map_err(machine)?;
        let mut set = Ok(());
        chain.marks(destination, &mut |page_no, mark| {
            if set.is_ok() {
                set = marks.set(page_no, mark);
            }
        })?;
        set.and_then(|()| marks.settle()).map_err(machine)?;
        let tip = chain.tip();
        Ok(Some(Self {
            name: tip.name().clone(),
            link: archive::Base {
                archive_id: tip.archive.begun.archive_id,
                manifest: tip.manifest_digest,
            },
            marks,
        }))
    }
}
