//! The VFS `spy`, above Selenite: records what SQLite reads and writes, so that tests can search
//! for it below Selenite.

use std::any::Any;
use std::ffi::{CStr, c_int};

use selenite_vfs::ffi::{
    Api, Code, File, LockLevel, LowerFile, LowerVfs, Name, OpenFlags, OpenedFile, RawControl, ShmLock, ShmRegion,
    SyncFlags, Vfs, register,
};
use selenite_vfs::role::Role;

use crate::disk::{BUFFER_BYTE, SpiedCall};
use crate::{Call, Disk};

/// Registers `spy` above `selenite`.
pub(crate) fn register_above(api: Api) -> Result<(), String> {
    let lower = api.find_vfs(Some(c"selenite")).ok_or("selenite was not registered")?;
    register(api, c"spy", lower, Box::new(Spy(lower)), false)
        .map(|_| ())
        .map_err(|code| code.to_string())
}

struct Spy(LowerVfs);

struct SpyFile {
    lower: LowerFile,
    role: Role,
}

impl Vfs for Spy {
    fn open(&self, name: Option<&Name<'_>>, flags: OpenFlags) -> Result<OpenedFile, Code> {
        let role = Role::of(flags, name.is_some());
        let (lower, flags) = self.0.open(name, flags)?;
        let has_shm = lower.has_shm();
        Ok(OpenedFile {
            file: Box::new(SpyFile { lower, role }),
            flags,
            has_shm,
        })
    }

    fn delete(&self, path: &CStr, sync_dir: bool) -> Result<(), Code> {
        self.0.delete(path, sync_dir)
    }

    fn access(&self, path: &CStr, flags: c_int) -> Result<bool, Code> {
        self.0.access(path, flags)
    }

    fn full_pathname(&self, path: &CStr, out: &mut [u8]) -> Result<bool, Code> {
        self.0.full_pathname(path, out)
    }
}

impl SpyFile {
    fn record(&self, call: Call, offset: u64, data: &[u8], answer: Result<(), Code>) -> Result<(), Code> {
        Disk::current()?.record_spied_call(SpiedCall {
            call,
            role: self.role,
            offset,
            data: data.into(),
            answer,
        });
        answer
    }
}

impl File for SpyFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        out.fill(BUFFER_BYTE);
        let answer = self.lower.read(out, offset);
        self.record(Call::Read, offset, out, answer)
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        // Recorded before it is passed on, because a shim below may read the record.
        self.record(Call::Write, offset, data, Ok(()))?;
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
        self.lower.control(control)
    }

    fn sector_size(&mut self) -> c_int {
        self.lower.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        self.lower.device_characteristics()
    }

    fn shm_map(&mut self, region: c_int, size: c_int, extend: bool) -> Result<Option<ShmRegion>, Code> {
        self.lower.shm_map(region, size, extend)
    }

    fn shm_lock(&mut self, lock: ShmLock) -> Result<(), Code> {
        self.lower.shm_lock(lock)
    }

    fn shm_barrier(&mut self) {
        self.lower.shm_barrier();
    }

    fn shm_unmap(&mut self, delete: bool) -> Result<(), Code> {
        self.lower.shm_unmap(delete)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}
