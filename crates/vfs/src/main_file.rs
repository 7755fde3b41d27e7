//! The database file.
//!
//! M1. A page is sealed into our buffer, never into SQLite's: that buffer is its page cache.
//! M2. Whatever SQLite reads before page 1 can be trusted is answered from the authenticated superblock: page 1 may be
//!     torn, with the journal that heals it still unread.
//! M3. Nothing is written that was not sealed: whole pages only, whose last 48 bytes are zero.
//! M4. A place that SQLite leaves out becomes a sealed page of zeros before anything behind it is written (FORMAT 2.5).
//! M5. A page that a checkpoint brings from the WAL is written as it was sealed there, if it is the very same
//!     (`passage.rs`).
//!
//! How pages are sealed is left to [`Sealer`], what the file is and when its keys change to [`Database`].

mod control;
mod locks;

use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;

use selenite_cipher::{PageNo, Suite, TRAILER_SIZE};
use selenite_format::{Geometry, PageSize, SQLITE_HEADER_SIZE, synthetic_header};
use selenite_page::Scan;
use zeroize::Zeroize;

use crate::database::{Content, Database};
use crate::device;
use crate::error::VfsError;
use crate::ffi::{Code, File, LockLevel, RawControl, ShmLock, ShmRegion, SyncFlags};
use crate::role::Role;
use crate::sealer::Sealer;
use crate::view::View;

/// An open database file.
pub struct MainFile {
    /// What it shares with its WAL and journal.
    pub database: Arc<Database>,
    sealer: Sealer,
    /// The sealed image of the page under way.
    image: Vec<u8>,
    /// The opened page, where SQLite wants a part of it.
    page: Vec<u8>,
    /// Bytes 24 to 40 of page 1, and the trailer of the image in which they were: SQLite reads them at the start of
    /// every read transaction in rollback mode.
    change_counter: Option<([u8; TRAILER_SIZE], [u8; 16])>,
    /// Whether a lock for writing was ever taken.
    was_reserved: bool,
    /// Attached to a main database on another VFS: nothing is read or written (see `Control::Connection`).
    refused: bool,
}

impl MainFile {
    /// A file that was just opened.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn new(database: Arc<Database>) -> Result<Self, VfsError> {
        let sealer = Sealer::new(Role::Main)?;
        Ok(Self {
            database,
            sealer,
            image: Vec::new(),
            page: Vec::new(),
            change_counter: None,
            was_reserved: false,
            refused: false,
        })
    }

    /// Before 3.53 SQLite can't VACUUM INTO a file whose page size is given (sqlite3BtreeSetPageSize answers
    /// SQLITE_READONLY), fails with "out of memory", and closes the new file without ever locking it for writing.
    fn advise_on_vacuum_into(&self) {
        let is_empty = matches!(self.database.content(), Content::Empty);
        let host = &self.database.host;
        if is_empty && !self.was_reserved && host.api.version() < 3_053_000 {
            host.advise(
                &self.database.path,
                "nothing was written to this new database; VACUUM INTO an encrypted file wants SQLite 3.53: use selenite \
                 encrypt --to, or the backup API",
            );
        }
    }

    fn try_read(&mut self, out: &mut [u8], offset: u64) -> Result<(), VfsError> {
        if self.refused {
            return Err(VfsError::MainElsewhere);
        }
        let Some(view) = self.sealer.view(&self.database) else {
            return self.read_unsealed(out, offset);
        };
        if offset == 0 && out.len() == SQLITE_HEADER_SIZE {
            self.read_header(out, view.geometry);
            return Ok(());
        }
        if offset == 24 && out.len() == 16 {
            return self.read_change_counter(out, view.geometry);
        }
        let page_size = view.geometry.page_size().as_u64();
        if out.len() == view.page_bytes() && offset.is_multiple_of(page_size) {
            return self.read_page(page_no(offset / page_size)?, out, view.geometry);
        }
        self.read_parts(out, offset, view.geometry)
    }

    fn read_unsealed(&mut self, out: &mut [u8], offset: u64) -> Result<(), VfsError> {
        let mut inner = self.database.lock();
        if matches!(inner.content(), Content::Plain) {
            return Ok(inner.lower.read(out, offset)?);
        }
        out.fill(0);
        if offset == 0 && out.len() == SQLITE_HEADER_SIZE {
            let settings = &self.database.settings;
            out.copy_from_slice(&synthetic_header(settings.page_size, settings.auto_vacuum));
            return Ok(());
        }
        Err(Code::IOERR_SHORT_READ.into())
    }

    /// M2. What SQLite takes from this read is page size and reserve; the rest it reads again from page 1.
    fn read_header(&self, out: &mut [u8], geometry: Geometry) {
        let auto_vacuum = self.database.settings.auto_vacuum;
        out.copy_from_slice(&synthetic_header(geometry.page_size(), auto_vacuum));
    }

    /// Answers from memory as long as page 1 is the image that was opened last: one read of its trailer instead of the
    /// whole page.
    fn read_change_counter(&mut self, out: &mut [u8], geometry: Geometry) -> Result<(), VfsError> {
        let mut trailer = [0; TRAILER_SIZE];
        let place = geometry.offset(PageNo(1)).0 + geometry.page_size().as_u64() - TRAILER_SIZE_U64;
        let read = self.database.lock().lower.read(&mut trailer, place);
        if let (Ok(()), Some((known, bytes))) = (read, &self.change_counter)
            && *known == trailer
        {
            out.copy_from_slice(bytes);
            return Ok(());
        }
        self.read_parts(out, 24, geometry)
    }

    fn read_page(&mut self, number: PageNo, out: &mut [u8], geometry: Geometry) -> Result<(), VfsError> {
        self.image.resize(geometry.page_size().bytes(), 0);
        let Some(place) = geometry.place(number) else {
            // The lock-byte page holds nothing, and SQLite never asks for it.
            out.fill(0);
            return Ok(());
        };
        let read = self.database.lock().lower.read(&mut self.image, place.0);
        match read {
            Ok(()) => {}
            // Beyond the end. A part of a page is not a page: it is refused below.
            Err(Code::IOERR_SHORT_READ) if self.image.iter().all(|&byte| byte == 0) => {
                out.fill(0);
                if self.is_within(number, geometry)? {
                    return Err(VfsError::Unauthentic {
                        role: Role::Main,
                        page_no: number.0,
                    });
                }
                return Err(Code::IOERR_SHORT_READ.into());
            }
            Err(Code::IOERR_SHORT_READ) => {}
            Err(code) => return Err(code.into()),
        }
        self.open_page(number, out)?;
        if number == PageNo(1)
            && let Some(trailer) = self.image.last_chunk::<TRAILER_SIZE>()
        {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&out[24..40]);
            self.change_counter = Some((*trailer, bytes));
        }
        Ok(())
    }

    /// Opens `self.image`. A page of an unknown epoch makes this connection look at the superblock again (FORMAT 3.8).
    fn open_page(&mut self, number: PageNo, out: &mut [u8]) -> Result<(), VfsError> {
        match self.sealer.open(&self.database, number, &self.image, out) {
            Err(VfsError::UnknownEpoch { role, page_no, epoch }) => {
                let changed = self.database.refresh(&mut self.database.lock())?;
                if !changed {
                    return Err(VfsError::UnknownEpoch { role, page_no, epoch });
                }
                self.sealer.open(&self.database, number, &self.image, out)
            }
            opened => opened,
        }
    }

    fn is_within(&self, number: PageNo, geometry: Geometry) -> Result<bool, VfsError> {
        let size = self.database.lock().lower.size()?;
        Ok(number.0 <= geometry.page_count(size))
    }

    /// Reads of any offset and size: SQLite 3.46 reads parts of overflow pages.
    fn read_parts(&mut self, out: &mut [u8], offset: u64, geometry: Geometry) -> Result<(), VfsError> {
        let page_size = geometry.page_size().as_u64();
        let mut page = std::mem::take(&mut self.page);
        page.resize(geometry.page_size().bytes(), 0);
        let mut done = 0;
        let mut result = Ok(());
        while done < out.len() {
            let at = offset + u64::try_from(done).map_err(|_| Code::IOERR_READ)?;
            let within = usize::try_from(at % page_size).map_err(|_| Code::IOERR_READ)?;
            let size = (page.len() - within).min(out.len() - done);
            result = page_no(at / page_size).and_then(|number| self.read_page(number, &mut page, geometry));
            if result.is_err() {
                out[done..].fill(0);
                break;
            }
            out[done..done + size].copy_from_slice(&page[within..within + size]);
            done += size;
        }
        page.fill(0);
        self.page = page;
        result
    }

    fn try_write(&mut self, data: &[u8], offset: u64) -> Result<(), VfsError> {
        if self.refused {
            return Err(VfsError::MainElsewhere);
        }
        if self.sealer.view(&self.database).is_none() {
            let mut inner = self.database.lock();
            if matches!(inner.content(), Content::Empty) {
                // A page that can't be sealed (the backup API copies those of a database in clear) makes no database.
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
        if let Some(carried) = self.carry(number, data, &view) {
            return carried;
        }
        self.image.resize(view.page_bytes(), 0);
        // M3: checked here, before a gap is filled or anything else is written.
        self.sealer.seal(&self.database, number, data, &mut self.image)?;
        let image = std::mem::take(&mut self.image);
        let stored = self.store_behind_gap(number, view.geometry, &image);
        self.image = image;
        stored
    }

    /// M5. Stores a page that a checkpoint has just read from the WAL as it was sealed there, where this is one.
    fn carry(&mut self, number: PageNo, data: &[u8], view: &View) -> Option<Result<(), VfsError>> {
        let keys = &view.page_keys;
        if keys.sealing_suite() == Suite::None && matches!(keys.scan(), Scan::SwitchingOn { .. }) {
            return None;
        }
        let database = self.database.clone();
        database.passage.leave(number, keys.sealing_epoch(), data, |image| {
            self.store_behind_gap(number, view.geometry, image)?;
            database.host.log_counters.note_carried();
            Ok(())
        })
    }

    /// Stores a page that is sealed, and zeros before it where SQLite left places out.
    fn store_behind_gap(&mut self, number: PageNo, geometry: Geometry, image: &[u8]) -> Result<(), VfsError> {
        let count = self.page_count(geometry)?;
        if number.0 > count {
            self.fill_gap(count, number, geometry)?;
        }
        self.store_image(number, geometry, image)
    }

    fn page_count(&self, geometry: Geometry) -> Result<u32, VfsError> {
        let mut inner = self.database.lock();
        if let Some(count) = inner.page_count {
            return Ok(count);
        }
        let count = geometry.page_count(inner.lower.size()?);
        inner.page_count = Some(count);
        Ok(count)
    }

    /// M4. Seals zeros into every place between the end and `number`, and beside the displaced page (FORMAT 2.3, 2.5).
    fn fill_gap(&mut self, count: u32, number: PageNo, geometry: Geometry) -> Result<(), VfsError> {
        let last = if number == geometry.displaced_page() {
            geometry.lock_page().0
        } else {
            number.0
        };
        let zeros = vec![0; geometry.page_size().bytes()];
        self.image.resize(zeros.len(), 0);
        for missing in (count + 1)..last {
            let missing = PageNo(missing);
            if missing == number || missing == geometry.lock_page() {
                continue;
            }
            self.sealer.seal(&self.database, missing, &zeros, &mut self.image)?;
            self.store_image(missing, geometry, &self.image)?;
        }
        Ok(())
    }

    fn store_image(&self, number: PageNo, geometry: Geometry, image: &[u8]) -> Result<(), VfsError> {
        let Some(place) = geometry.place(number) else {
            return Err(VfsError::SettingsMismatch("the lock-byte page was written"));
        };
        let mut inner = self.database.lock();
        inner.lower.write(image, place.0)?;
        let end = geometry.page_count(geometry.size_for(number.0));
        if inner.page_count.is_some_and(|count| count < end) {
            inner.page_count = Some(end);
        }
        Ok(())
    }

    fn try_truncate(&mut self, size: u64) -> Result<(), VfsError> {
        let Some(view) = self.sealer.view(&self.database) else {
            return Ok(self.database.lock().lower.truncate(size)?);
        };
        let pages = size.div_ceil(view.geometry.page_size().as_u64());
        let pages = u32::try_from(pages).map_err(|_| Code::IOERR_TRUNCATE)?;
        let mut inner = self.database.lock();
        if pages == 0 {
            self.database.note_pages(&mut inner, false)?;
        }
        inner.page_count = None;
        Ok(inner.lower.truncate(view.geometry.size_for(pages))?)
    }

    fn try_size(&mut self) -> Result<u64, VfsError> {
        let Some(view) = self.sealer.view(&self.database) else {
            let mut inner = self.database.lock();
            return match inner.content() {
                Content::Plain => Ok(inner.lower.size()?),
                Content::Empty | Content::Sealed(_) => Ok(0),
            };
        };
        let mut inner = self.database.lock();
        let size = inner.lower.size()?;
        let count = view.geometry.page_count(size);
        if count == 0 {
            self.database.check_not_emptied(&mut inner)?;
        }
        Ok(u64::from(count) * view.geometry.page_size().as_u64())
    }
}

impl File for MainFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        self.try_read(out, offset).map_err(|error| self.database.report(&error))
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        self.try_write(data, offset)
            .map_err(|error| self.database.report(&error))
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        self.try_truncate(size).map_err(|error| self.database.report(&error))
    }

    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        self.database.lock().lower.sync(flags)
    }

    fn size(&mut self) -> Result<u64, Code> {
        self.try_size().map_err(|error| self.database.report(&error))
    }

    fn lock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.try_lock(level).map_err(|error| self.database.report(&error))
    }

    fn unlock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.try_unlock(level).map_err(|error| self.database.report(&error))
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        self.database.lock().lower.check_reserved_lock()
    }

    fn control(&mut self, control: &mut RawControl) -> Result<(), Code> {
        self.try_control(control).map_err(|error| self.database.report(&error))
    }

    fn sector_size(&mut self) -> c_int {
        self.database.lock().lower.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        let is_plain = matches!(self.database.content(), Content::Plain);
        device::characteristics(self.database.lock().lower.device_characteristics(), is_plain)
    }

    fn shm_map(&mut self, region: c_int, size: c_int, extend: bool) -> Result<Option<ShmRegion>, Code> {
        self.database.lock().lower.shm_map(region, size, extend)
    }

    fn shm_lock(&mut self, lock: ShmLock) -> Result<(), Code> {
        self.try_shm_lock(lock).map_err(|error| self.database.report(&error))
    }

    fn shm_barrier(&mut self) {
        self.database.lock().lower.shm_barrier();
    }

    fn shm_unmap(&mut self, delete: bool) -> Result<(), Code> {
        self.database.lock().lower.shm_unmap(delete)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Drop for MainFile {
    fn drop(&mut self) {
        self.advise_on_vacuum_into();
        self.page.zeroize();
        if let Some((_, bytes)) = &mut self.change_counter {
            bytes.zeroize();
        }
    }
}

/// Whether a page may be the first that is written to a new database: the same that `PageCipher::seal` will ask of it.
fn check_first_page(data: &[u8], offset: u64, page_size: PageSize) -> Result<(), VfsError> {
    let reserve_is_free = data.last_chunk::<TRAILER_SIZE>() == Some(&[0; TRAILER_SIZE]);
    if data.len() != page_size.bytes() || !reserve_is_free || (offset == 0 && usize::from(data[20]) != TRAILER_SIZE) {
        return Err(VfsError::SettingsMismatch(
            "page size or reserved bytes of a new database",
        ));
    }
    Ok(())
}

/// Page numbers count from 1, and end where SQLite's do.
fn page_no(index: u64) -> Result<PageNo, VfsError> {
    u32::try_from(index + 1)
        .map(PageNo)
        .map_err(|_| VfsError::Lower(Code::IOERR_READ))
}

const TRAILER_SIZE_U64: u64 = 48;
