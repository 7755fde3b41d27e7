//! How many pages of the file are sealed under which epoch, by their trailers: nothing is opened, and no lock is taken.

use std::collections::BTreeMap;

use selenite_cipher::Suite;

use super::MainFile;
use super::epochs::epoch_place;
use crate::database::Content;
use crate::error::VfsError;
use crate::ffi::Code;

/// The pages of one epoch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct EpochPages {
    /// Its number; 0 of places where no page lies yet.
    pub epoch: u32,
    /// The epoch's suite; `None` for an epoch that is not listed.
    pub suite: Option<Suite>,
    /// How many pages there are.
    pub pages: u64,
}

impl MainFile {
    /// Counts the pages of each epoch that is listed or met, as the file is now. A page whose newest version is in
    /// the log alone counts by the one in the file. An unencrypted database has none.
    ///
    /// # Errors
    /// As the VFS below has it; what refuses the database now.
    pub(crate) fn epoch_census(&mut self) -> Result<Vec<EpochPages>, VfsError> {
        self.settle()?;
        self.look_again()?;
        let database = self.database.clone();
        let mut inner = database.lock();
        let Content::Sealed(view) = inner.content().clone() else {
            return Ok(Vec::new());
        };
        let listed = &view.unlocked.superblock.epochs;
        let mut found: BTreeMap<u32, u64> = listed.iter().map(|epoch| (epoch.epoch.0, 0)).collect();
        for page in 1..=view.geometry.page_count(inner.lower.size()?) {
            let Some(place) = epoch_place(view.geometry, page) else {
                continue;
            };
            let mut epoch = [0; 4];
            match inner.lower.read(&mut epoch, place) {
                Ok(()) => *found.entry(u32::from_be_bytes(epoch)).or_default() += 1,
                // It was cut meanwhile, or lies apart from its neighbours (FORMAT 2.3).
                Err(Code::IOERR_SHORT_READ) => {}
                Err(code) => return Err(code.into()),
            }
        }
        let suite_of = |number: u32| {
            let epoch = listed.iter().find(|epoch| epoch.epoch.0 == number);
            epoch.map(|epoch| epoch.suite)
        };
        let pages = found.into_iter().map(|(epoch, pages)| EpochPages {
            epoch,
            suite: suite_of(epoch),
            pages,
        });
        Ok(pages.collect())
    }
}
