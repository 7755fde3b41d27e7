//! Finds the pages of the file that are not sealed under the current epoch, by their trailers: no
//! page is opened.

use selenite_cipher::PageNo;
use selenite_format::Geometry;

use super::MainFile;
use crate::database::Content;
use crate::error::VfsError;
use crate::ffi::Code;
use crate::view::View;

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OldPages {
    /// The page at which to continue; 0 at the end of the file.
    pub next: u32,
    /// Ranges of adjacent pages: first and last.
    pub runs: Vec<(u32, u32)>,
}

impl OldPages {
    fn add(&mut self, page: u32) {
        match self.runs.last_mut() {
            Some((_, last)) if *last + 1 == page => *last = page,
            Some(_) | None => self.runs.push((page, page)),
        }
    }
}

impl MainFile {
    /// Examines up to `look_count` pages from `first` on, until `find_count` of another epoch were
    /// found.
    ///
    /// # Errors
    /// `NotEncrypted`; errors of the VFS below.
    pub(crate) fn old_pages(&mut self, first: u32, look_count: u32, find_count: u32) -> Result<OldPages, VfsError> {
        self.flush()?;
        let database = self.database.clone();
        let mut inner = database.lock();
        database.refresh(&mut inner)?;
        let Content::Sealed(view) = inner.content().clone() else {
            return Err(VfsError::NotEncrypted("it has no key epochs"));
        };
        // No lock keeps others from truncating the file: beyond the end, a mapping would be fatal.
        self.is_mapped = false;
        inner.lower.unmap()?;
        let page_count = view.geometry.page_count(inner.lower.size()?);
        let sealing = view.page_keys.sealing_epoch().0.to_be_bytes();
        let last = first.saturating_add(look_count.max(1) - 1).min(page_count);
        let mut found = OldPages::default();
        let mut left = find_count.max(1);
        for page in first.max(1)..=last {
            let Some(place) = epoch_place(view.geometry, page) else {
                continue;
            };
            let mut epoch = [0; 4];
            match inner.lower.read(&mut epoch, place) {
                Ok(()) => {}
                // The file was truncated meanwhile, or the page is not adjacent to its neighbours
                // (FORMAT 2.3): the pages after it were not read.
                Err(Code::IOERR_SHORT_READ) => continue,
                Err(code) => return Err(code.into()),
            }
            if epoch != sealing {
                found.add(page);
                left -= 1;
                if left == 0 {
                    found.next = if page == page_count { 0 } else { page + 1 };
                    return Ok(found);
                }
            }
        }
        found.next = if last >= page_count { 0 } else { last + 1 };
        Ok(found)
    }

    /// Truncates the file after the last page that page 1 counts: SQLite leaves pages there, and
    /// never reads them. Pages that cannot be truncated, since the displaced page is after them
    /// (FORMAT 2.4), become zeros, re-encrypted. The caller holds the write lock, and there is no
    /// log.
    ///
    /// # Errors
    /// Without the write lock; if page 1 cannot be opened; errors of the VFS below.
    pub(crate) fn cut_behind_end(&mut self) -> Result<(), VfsError> {
        let Some(view) = self.sealer.view(&self.database) else {
            return Err(VfsError::NotEncrypted("it has no key epochs"));
        };
        if !self.database.holds_write_lock(&self.database.lock()) {
            return Err(VfsError::SettingsMismatch("a file is cut inside BEGIN IMMEDIATE only"));
        }
        let Some(count) = self.count_in_header(&view)? else {
            return Ok(());
        };
        let present = {
            let mut inner = self.database.lock();
            view.geometry.page_count(inner.lower.size()?)
        };
        if present > count {
            self.try_truncate(u64::from(count) * view.geometry.page_size().as_u64())?;
            let left = view.geometry.page_count(view.geometry.size_for(count));
            if left > count {
                self.fill_gap(count, PageNo(left + 1), view.geometry)?;
            }
        }
        Ok(())
    }

    /// The page count in SQLite's header, if that is valid (sqlite.org/fileformat.html, 1.3.8).
    fn count_in_header(&mut self, view: &View) -> Result<Option<u32>, VfsError> {
        let mut page = vec![0; view.page_bytes()];
        let read = self.read_one(PageNo(1), &mut page, view.geometry);
        let is_valid = page[24..28] == page[92..96];
        let count = u32::from_be_bytes([page[28], page[29], page[30], page[31]]);
        page.fill(0);
        read?;
        Ok((is_valid && count > 0).then_some(count))
    }
}

pub(super) fn epoch_place(geometry: Geometry, page: u32) -> Option<u64> {
    let place = geometry.place(PageNo(page))?;
    Some(place.0 + geometry.page_size().as_u64() - TRAILER_SIZE)
}

const TRAILER_SIZE: u64 = 48;
