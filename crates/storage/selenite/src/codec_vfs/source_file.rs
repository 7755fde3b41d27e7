//! A database in another product's format, as one connection reads it.

use std::any::Any;
use std::ffi::c_int;
use std::sync::{Arc, PoisonError};

use selenite_vfs::ffi::{Code, File, LockLevel, LowerFile, RawControl, SyncFlags};

use super::ImportSource;
use crate::codec_source::SourcePages;

/// The open file.
pub struct SourceFile {
    source: Arc<ImportSource>,
    /// The locked file, in the first connection.
    lock: Option<LowerFile>,
    /// The page read last; 0 if none was.
    page_no: u32,
    page: Vec<u8>,
}

impl Drop for SourceFile {
    fn drop(&mut self) {
        if self.lock.take().is_some() {
            *self.source.is_locked.lock().unwrap_or_else(PoisonError::into_inner) = false;
        }
    }
}

impl SourceFile {
    /// `lock` is what the first connection holds.
    pub fn new(source: Arc<ImportSource>, lock: Option<LowerFile>) -> Self {
        Self {
            source,
            lock,
            page_no: 0,
            page: Vec::new(),
        }
    }

    /// Copies a part of a page, of which the last one is kept; a whole page is decrypted in place.
    fn copy(&mut self, page_no: u32, within: usize, out: &mut [u8]) -> Result<(), Code> {
        if out.len() == self.source.pages.get().map_or(0, SourcePages::page_size) {
            return self.read_page(page_no, out);
        }
        if self.page_no != page_no {
            let mut page = std::mem::take(&mut self.page);
            page.resize(self.source.pages.get().map_or(0, SourcePages::page_size), 0);
            self.page_no = 0;
            let read = self.read_page(page_no, &mut page);
            self.page = page;
            read?;
            self.page_no = page_no;
        }
        out.copy_from_slice(&self.page[within..within + out.len()]);
        Ok(())
    }

    fn read_page(&self, page_no: u32, out: &mut [u8]) -> Result<(), Code> {
        let pages = self.source.pages.get().ok_or(Code::IOERR)?;
        let read = pages.read(page_no, out);
        if read == Err(Code::CORRUPT) {
            let mut bad = self.source.bad.lock().unwrap_or_else(PoisonError::into_inner);
            if bad.len() < BAD_LISTED_MAX {
                bad.insert(page_no);
            }
        }
        read
    }
}

impl File for SourceFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        let size = self.size()?;
        let page_size = self.source.pages.get().map_or(0, SourcePages::page_size);
        let page_bytes = u64::try_from(page_size).map_err(|_| Code::IOERR)?.max(1);
        let mut at = offset;
        let mut rest = out;
        while !rest.is_empty() {
            if at >= size {
                rest.fill(0);
                return Err(Code::IOERR_SHORT_READ);
            }
            let page_no = u32::try_from(at / page_bytes + 1).map_err(|_| Code::IOERR)?;
            let within = usize::try_from(at % page_bytes).map_err(|_| Code::IOERR)?;
            let count = rest.len().min(page_size - within);
            let (now, later) = rest.split_at_mut(count);
            self.copy(page_no, within, now)?;
            at += u64::try_from(count).map_err(|_| Code::IOERR)?;
            rest = later;
        }
        Ok(())
    }

    fn write(&mut self, _: &[u8], _: u64) -> Result<(), Code> {
        Err(Code::READONLY)
    }

    fn truncate(&mut self, _: u64) -> Result<(), Code> {
        Err(Code::READONLY)
    }

    fn sync(&mut self, _: SyncFlags) -> Result<(), Code> {
        Ok(())
    }

    fn size(&mut self) -> Result<u64, Code> {
        Ok(self.source.pages.get().map_or(0, SourcePages::size))
    }

    fn lock(&mut self, _: LockLevel) -> Result<(), Code> {
        Ok(())
    }

    fn unlock(&mut self, _: LockLevel) -> Result<(), Code> {
        Ok(())
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        Ok(false)
    }

    fn control(&mut self, _: &mut RawControl) -> Result<(), Code> {
        Err(Code::NOTFOUND)
    }

    fn sector_size(&mut self) -> c_int {
        4096
    }

    fn device_characteristics(&mut self) -> c_int {
        0
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// 1,000: a longer list has no use beyond its count.
const BAD_LISTED_MAX: usize = 1000;
