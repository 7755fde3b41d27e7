//! A new database in another product's format, as VACUUM INTO writes it.

use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;

use selenite_keyring::os_random;
use selenite_vfs::ffi::{Code, File, LockLevel, LowerFile, RawControl, SyncFlags};

use super::ExportTarget;

/// The open file.
pub struct TargetFile {
    target: Arc<ExportTarget>,
    lower: LowerFile,
    page: Vec<u8>,
}

impl TargetFile {
    /// Encrypts what is written to `lower`.
    pub fn new(target: Arc<ExportTarget>, lower: LowerFile) -> Self {
        let page = vec![0; target.page_size];
        Self { target, lower, page }
    }

    /// The page at an offset, and where the offset is in it.
    fn place(&self, offset: u64) -> Result<(u32, usize), Code> {
        let size = u64::try_from(self.target.page_size).map_err(|_| Code::IOERR)?;
        let page_no = u32::try_from(offset / size + 1).map_err(|_| Code::IOERR)?;
        let within = usize::try_from(offset % size).map_err(|_| Code::IOERR)?;
        Ok((page_no, within))
    }
}

impl File for TargetFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        let (page_no, within) = self.place(offset)?;
        let end = within + out.len();
        if end > self.page.len() {
            return Err(Code::IOERR_READ);
        }
        let start = offset - u64::try_from(within).map_err(|_| Code::IOERR)?;
        if let Err(code) = self.lower.read(&mut self.page, start) {
            out.fill(0);
            return Err(code);
        }
        let decrypted = self.target.codec.decrypt(page_no, &mut self.page);
        decrypted.map_err(|_| Code::IOERR_DATA)?;
        out.copy_from_slice(&self.page[within..end]);
        Ok(())
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        let (page_no, within) = self.place(offset)?;
        // SQLite writes a database file by whole pages.
        if within != 0 || data.len() != self.page.len() {
            return Err(Code::IOERR_WRITE);
        }
        self.page.copy_from_slice(data);
        let mut nonce = [0; 32];
        os_random(&mut nonce);
        self.target.codec.encrypt(page_no, &mut self.page, nonce);
        self.lower.write(&self.page, offset)
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        self.lower.truncate(size)
    }

    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        self.lower.sync(flags)
    }

    fn size(&mut self) -> Result<u64, Code> {
        self.lower.size()
    }

    fn lock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.lower.lock(level.0)
    }

    fn unlock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.lower.unlock(level.0)
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        self.lower.check_reserved_lock()
    }

    fn control(&mut self, _: &mut RawControl) -> Result<(), Code> {
        Err(Code::NOTFOUND)
    }

    fn sector_size(&mut self) -> c_int {
        self.lower.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        self.lower.device_characteristics()
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}
