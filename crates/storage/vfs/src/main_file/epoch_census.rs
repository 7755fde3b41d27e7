//! Counts the file's pages by the epoch in their trailers: no page is opened, and no lock is taken.

use std::collections::BTreeMap;

use selenite_cipher::Suite;

use super::MainFile;
use super::epochs::epoch_place;
use crate::database::Content;
use crate::error::VfsError;
use crate::ffi::Code;

/// The number of pages of one epoch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct EpochPages {
    /// The epoch's number; 0 for pages that were not written yet.
    pub epoch: u32,
    /// The epoch's suite; `None` for an epoch that is not listed.
    pub suite: Option<Suite>,
    /// The number of pages.
    pub pages: u64,
}

impl MainFile {
    /// Counts the pages of each epoch that is listed or found, in the current file. A page whose
    /// newest version is only in the log is counted by the version in the file. An unencrypted
    /// database has none.
    ///
    /// # Errors
    /// Those of the VFS below; the reason why the database is now refused.
    pub(crate) fn epoch_census(&mut self) -> Result<Vec<EpochPages>, VfsError> {
        self.flush()?;
        self.refresh()?;
        let database = self.database.clone();
        let mut inner = database.lock();
        let Content::Sealed(view) = inner.content().clone() else {
            return Ok(Vec::new());
        };
        let listed = &view.unlocked.superblock.epochs;
        let mut found: BTreeMap<u32, u64> = listed.iter().map(|epoch| (epoch.epoch.0, 0)).collect();
        // No lock keeps others from truncating the file: beyond the end, a mapping would be fatal.
        self.is_mapped = false;
        inner.lower.unmap()?;
        for page in 1..=view.geometry.page_count(inner.lower.size()?) {
            let Some(place) = epoch_place(view.geometry, page) else {
                continue;
            };
            let mut epoch = [0; 4];
            match inner.lower.read(&mut epoch, place) {
                Ok(()) => *found.entry(u32::from_be_bytes(epoch)).or_default() += 1,
                // The file was truncated meanwhile, or the page is not adjacent to its neighbours
                // (FORMAT 2.3).
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
