//! Files that are passed through unchanged: super-journals, which contain only names, and journals
//! of unencrypted databases.

use std::any::Any;
use std::ffi::c_int;

use crate::ffi::{Code, Control, File, LockLevel, LowerFile, RawControl, SyncFlags};

/// An open file of the VFS below.
pub struct ClearFile {
    lower: LowerFile,
}

impl ClearFile {
    /// Passes `lower` through.
    #[must_use]
    pub fn new(lower: LowerFile) -> Self {
        Self { lower }
    }
}

impl File for ClearFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        self.lower.read(out, offset)
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        self.lower.write(data, offset)
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

    fn control(&mut self, control: &mut RawControl) -> Result<(), Code> {
        let raw = *control;
        match control.parse() {
            Control::Visit(_) => Err(Code::NOTFOUND),
            Control::Pragma(_)
            | Control::SizeHint
            | Control::ChunkSize
            | Control::MmapSize(_)
            | Control::VfsName(_)
            | Control::CheckpointStart
            | Control::CheckpointDone
            | Control::PowersafeOverwrite(_)
            | Control::Connection(_)
            | Control::Atomic
            | Control::Other => self.lower.control(&raw),
        }
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
