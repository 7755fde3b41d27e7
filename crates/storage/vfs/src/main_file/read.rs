//! Reads of the database file: whole pages, the header before page 1 is trusted, and parts of
//! pages.

use selenite_cipher::{PageNo, TRAILER_SIZE};
use selenite_format::{Geometry, SQLITE_HEADER_SIZE, synthetic_header};

use super::read_ahead::Plan;
use super::{MainFile, page_no};
use crate::database::Content;
use crate::error::VfsError;
use crate::ffi::{Code, LockLevel, os_random};
use crate::role::Role;

impl MainFile {
    pub(super) fn try_read(&mut self, out: &mut [u8], offset: u64) -> Result<(), VfsError> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.error());
        }
        if offset == 24 && out.len() == CHANGE_COUNTER_SIZE && std::mem::take(&mut self.hides_change_counter) {
            return Ok(os_random(out)?);
        }
        let Some(geometry) = self.sealer.geometry(&self.database) else {
            return self.read_unsealed(out, offset);
        };
        self.flush_before_reading(offset.saturating_add(u64::try_from(out.len()).unwrap_or(0)))?;
        let page_size = geometry.page_size();
        if out.len() == page_size.bytes() && offset.is_multiple_of(page_size.as_u64()) {
            let page_no = page_no(offset / page_size.as_u64())?;
            if self.anchor_check.is_none() {
                return self.read_page(page_no, out, geometry);
            }
            self.check_anchor_before_reading()?;
            self.read_page(page_no, out, geometry)?;
            self.end_anchor_check(page_no, out);
            return Ok(());
        }
        if offset == 0 && out.len() == SQLITE_HEADER_SIZE {
            self.read_header(out, geometry);
            return Ok(());
        }
        if offset == 24 && out.len() == CHANGE_COUNTER_SIZE {
            return self.read_change_counter(out, geometry);
        }
        self.read_parts(out, offset, geometry)
    }

    fn read_unsealed(&mut self, out: &mut [u8], offset: u64) -> Result<(), VfsError> {
        let mut inner = self.database.lock();
        if matches!(inner.content(), Content::Plain) {
            inner.lower.read(out, offset)?;
            drop(inner);
            return match self.move_from_retired(out, offset)? {
                true => self.try_read(out, offset),
                false => Ok(()),
            };
        }
        out.fill(0);
        if offset == 0 && out.len() == SQLITE_HEADER_SIZE {
            let settings = &self.database.settings;
            out.copy_from_slice(&synthetic_header(settings.page_size, settings.auto_vacuum));
            return Ok(());
        }
        Err(Code::IOERR_SHORT_READ.into())
    }

    /// `header-from-superblock`: SQLite takes page size and reserve from this read; it reads the
    /// other fields again from page 1.
    fn read_header(&self, out: &mut [u8], geometry: Geometry) {
        let auto_vacuum = self.database.settings.auto_vacuum;
        out.copy_from_slice(&synthetic_header(geometry.page_size(), auto_vacuum));
    }

    /// Answers from memory as long as page 1 is the image that was last opened: this reads its
    /// trailer instead of the whole page.
    fn read_change_counter(&mut self, out: &mut [u8], geometry: Geometry) -> Result<(), VfsError> {
        let mut trailer = [0; TRAILER_SIZE];
        let read = self.database.lock().lower.read(&mut trailer, trailer_place(geometry));
        if read.is_ok() && self.read_lock.level() == LockLevel::SHARED {
            self.trailer = Some(trailer);
        }
        if let (Ok(()), Some((known, bytes))) = (read, &self.change_counter)
            && *known == trailer
        {
            out.copy_from_slice(bytes);
            return Ok(());
        }
        self.read_parts(out, 24, geometry)
    }

    fn read_page(&mut self, number: PageNo, out: &mut [u8], geometry: Geometry) -> Result<(), VfsError> {
        if self.read_lock.is_held() {
            if self.read_pooled(number, out, geometry) {
                return Ok(());
            }
            if let Some(plan) = self.ahead.note(number, geometry) {
                self.read_ahead(plan, geometry);
            }
            if self.open_ahead(number, out) {
                self.offer(number, out, true);
                return Ok(());
            }
            self.read_one(number, out, geometry)?;
            self.offer(number, out, false);
            return Ok(());
        }
        self.read_one(number, out, geometry)
    }

    /// Reads the planned pages, up to the end of the file and of the snapshot: a checkpoint by
    /// another process may cut off what is behind that. If the read fails nothing is read ahead, and
    /// SQLite receives the error when it reads the page.
    fn read_ahead(&mut self, plan: Plan, geometry: Geometry) {
        let mut inner = self.database.lock();
        let page_count = match self.ahead.page_count() {
            Some(count) => count,
            None => inner.lower.size().map_or(0, |size| geometry.page_count(size)),
        };
        let page_count = page_count.min(self.read_lock.page_count());
        let Some(plan) = plan.up_to(page_count) else { return };
        let Some(place) = geometry.place(PageNo(plan.first)) else {
            return;
        };
        let page_bytes = geometry.page_size().bytes();
        let images = self.ahead.begin(plan, page_bytes);
        if inner.lower.read(images, place.0).is_ok() {
            self.ahead.fill(plan, page_bytes, page_count);
        }
    }

    /// Opens a page that was read ahead, if there is one and it is authentic
    /// (unrequested-may-be-torn in `read_ahead.rs`).
    fn open_ahead(&mut self, number: PageNo, out: &mut [u8]) -> bool {
        let Some(image) = self.ahead.image(number) else {
            return false;
        };
        if self.sealer.open_ahead(&self.database, number, image, out) {
            self.ahead.serve(number);
            return true;
        }
        self.ahead.forget(number);
        false
    }

    /// Drops the pages read ahead, and counts how many were used.
    pub(super) fn drop_ahead(&mut self) {
        self.pool_handle.forget();
        self.trailer = None;
        self.ahead.clear();
        let (used, wasted) = self.ahead.take_counts();
        self.sealer.count_ahead(used, wasted);
    }

    /// If the page's epoch is unknown, reads the superblock again, and then the page (FORMAT 3.8).
    pub(super) fn read_one(&mut self, number: PageNo, out: &mut [u8], geometry: Geometry) -> Result<(), VfsError> {
        match self.read_and_open(number, out, geometry) {
            Err(VfsError::UnknownEpoch { role, page_no, epoch }) => {
                let changed = self.database.refresh(&mut self.database.lock())?;
                if !changed {
                    return Err(VfsError::UnknownEpoch { role, page_no, epoch });
                }
                self.read_and_open(number, out, geometry)
            }
            read => read,
        }
    }

    /// Reads the sealed image into SQLite's buffer, and opens it there. `out` is zero on error.
    fn read_and_open(&mut self, number: PageNo, out: &mut [u8], geometry: Geometry) -> Result<(), VfsError> {
        let Some(place) = geometry.place(number) else {
            // The lock-byte page has no content, and SQLite never reads it.
            out.fill(0);
            return Ok(());
        };
        let read = self.database.lock().lower.read(out, place.0);
        match read {
            Ok(()) => {}
            // Beyond the end. A part of a page is refused below.
            Err(Code::IOERR_SHORT_READ) if out.iter().all(|&byte| byte == 0) => {
                if self.is_within(number, geometry)? {
                    return Err(VfsError::Unauthentic {
                        role: Role::Main,
                        page_no: number.0,
                    });
                }
                return Err(Code::IOERR_SHORT_READ.into());
            }
            Err(Code::IOERR_SHORT_READ) => {}
            Err(code) => {
                out.fill(0);
                return Err(code.into());
            }
        }
        let trailer = out.last_chunk::<TRAILER_SIZE>().copied();
        self.image.resize(geometry.page_size().bytes());
        self.sealer
            .open_in_place(&self.database, number, out, self.image.bytes_mut())?;
        if number == PageNo(1)
            && let Some(trailer) = trailer
        {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&out[24..40]);
            self.change_counter = Some((trailer, bytes));
        }
        Ok(())
    }

    fn is_within(&self, number: PageNo, geometry: Geometry) -> Result<bool, VfsError> {
        let size = self.database.lock().lower.size()?;
        Ok(number.0 <= geometry.page_count(size))
    }

    /// Handles reads of any offset and size: SQLite 3.46 reads parts of overflow pages.
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
}

/// The offset of the trailer of page 1.
pub(super) fn trailer_place(geometry: Geometry) -> u64 {
    geometry.offset(PageNo(1)).0 + geometry.page_size().as_u64() - TRAILER_SIZE_U64
}

const TRAILER_SIZE_U64: u64 = 48;

/// SQLite reads so many bytes at offset 24 to learn whether the database has changed (`dbFileVers` in pager.c).
const CHANGE_COUNTER_SIZE: usize = 16;
