//! Writes of the database file: sealed whole pages, without gaps between them.

use selenite_cipher::{PageNo, Scan, Suite, TRAILER_SIZE};
use selenite_format::{Geometry, PageSize};

use super::{MainFile, page_no};
use crate::{database::Content, error::VfsError, view::View};

impl MainFile {
    pub(super) fn try_write(&mut self, data: &[u8], offset: u64) -> Result<(), VfsError> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.error());
        }
        self.has_written |= !self.read_lock.has_shm();
        if self.sealer.view(&self.database).is_none() {
            let mut inner = self.database.lock();
            if matches!(inner.content(), Content::Empty) {
                // If the first page can't be sealed (the backup API copies the pages of an
                // unencrypted database), no database is created.
                check_first_page(data, offset, self.database.settings.page_size)?;
                self.database.create(&mut inner)?;
            }
            if matches!(inner.content(), Content::Plain) {
                return Ok(inner.lower.write(data, offset)?);
            }
        }
        let Some(view) = self.sealer.view(&self.database) else {
            return Err(VfsError::SettingsMismatch("a page written before the database"));
        };
        let page_size = view.geometry.page_size().as_u64();
        if data.len() != view.page_bytes() || !offset.is_multiple_of(page_size) {
            return Err(VfsError::SettingsMismatch("a write that is not one whole page"));
        }
        let number = page_no(offset / page_size)?;
        self.write_page(number, data, &view)
    }

    fn write_page(&mut self, number: PageNo, data: &[u8], view: &View) -> Result<(), VfsError> {
        if let Some(stored) = self.store_passthrough(number, data, view) {
            return stored;
        }
        self.image.resize(view.page_bytes());
        // nothing-unsealed: checked here, before a gap is filled or anything else is written.
        self.sealer.seal(&self.database, number, data, self.image.bytes_mut())?;
        let image = std::mem::take(&mut self.image);
        let stored = self.store_behind_gap(number, view.geometry, image.bytes());
        self.image = image;
        stored
    }

    /// `passthrough-from-log`: stores a page that a checkpoint has just read from the WAL, with the
    /// seal that it has there, if this is such a page.
    fn store_passthrough(&mut self, number: PageNo, data: &[u8], view: &View) -> Option<Result<(), VfsError>> {
        let keys = &view.page_keys;
        if keys.sealing_suite() == Suite::None && matches!(keys.scan(), Scan::SwitchingOn { .. }) {
            return None;
        }
        let database = self.database.clone();
        database.passthrough.pass(number, keys.sealing_epoch(), data, |image| {
            self.store_behind_gap(number, view.geometry, image)?;
            database.host.log_counters.note_carried();
            Ok(())
        })
    }

    /// Stores a sealed page, and zeros before it if SQLite skipped pages.
    fn store_behind_gap(&mut self, number: PageNo, geometry: Geometry, image: &[u8]) -> Result<(), VfsError> {
        let count = self.page_count(geometry)?;
        if number.0 > count {
            self.fill_gap(count, number, geometry)?;
        }
        self.store_image(number, geometry, image)
    }

    /// The number of pages, including buffered ones.
    fn page_count(&mut self, geometry: Geometry) -> Result<u32, VfsError> {
        if let Some(count) = self.database.lock().page_count {
            return Ok(count);
        }
        self.flush()?;
        let mut inner = self.database.lock();
        let count = geometry.page_count(inner.lower.size()?);
        inner.page_count = Some(count);
        Ok(count)
    }

    /// `gaps-are-sealed`: seals zeros into every page between the end and `number`, and next to the
    /// displaced page (FORMAT 2.3, 2.5).
    pub(super) fn fill_gap(&mut self, count: u32, number: PageNo, geometry: Geometry) -> Result<(), VfsError> {
        let last = if number == geometry.displaced_page() {
            geometry.lock_page().0
        } else {
            number.0
        };
        if count + 1 >= last {
            // The usual case: the file grows page by page.
            return Ok(());
        }
        let zeros = vec![0; geometry.page_size().bytes()];
        self.image.resize(zeros.len());
        for missing in (count + 1)..last {
            let missing = PageNo(missing);
            if missing == number || missing == geometry.lock_page() {
                continue;
            }
            self.sealer
                .seal(&self.database, missing, &zeros, self.image.bytes_mut())?;
            let image = std::mem::take(&mut self.image);
            let stored = self.store_image(missing, geometry, image.bytes());
            self.image = image;
            stored?;
        }
        Ok(())
    }

    fn store_image(&mut self, number: PageNo, geometry: Geometry, image: &[u8]) -> Result<(), VfsError> {
        let Some(place) = geometry.place(number) else {
            return Err(VfsError::SettingsMismatch("the lock-byte page was written"));
        };
        self.ahead.forget(number);
        self.pool_handle.forget();
        let is_behind_end = self.page_count(geometry)? < number.0;
        if !is_behind_end || !self.try_append(place.0, image)? {
            self.flush()?;
            self.database.lock().lower.write(image, place.0)?;
        }
        let mut inner = self.database.lock();
        let end = geometry.page_count(geometry.size_for(number.0));
        if inner.page_count.is_some_and(|count| count < end) {
            inner.page_count = Some(end);
        }
        Ok(())
    }
}

/// Whether a page may be the first that is written to a new database: the conditions of
/// `PageCipher::seal`.
fn check_first_page(data: &[u8], offset: u64, page_size: PageSize) -> Result<(), VfsError> {
    let reserve_is_free = data.last_chunk::<TRAILER_SIZE>() == Some(&[0; TRAILER_SIZE]);
    if data.len() != page_size.bytes() || !reserve_is_free || (offset == 0 && usize::from(data[20]) != TRAILER_SIZE) {
        return Err(VfsError::SettingsMismatch(
            "page size or reserved bytes of a new database: the backup API and sqlite3_recover copy pages as they are, and \
             those of an unencrypted database have no room; use selenite encrypt --to, or .recover and .dump as SQL",
        ));
    }
    Ok(())
}
