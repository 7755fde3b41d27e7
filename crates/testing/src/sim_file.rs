//! An open file of the VFS `sim`.

use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;

use selenite_vfs::ffi::{Code, Control, File, LockLevel, RawControl, ShmLock, ShmRegion, SyncFlags};
use selenite_vfs::role::Role;

use crate::disk::Late;
use crate::fault::Failure;
use crate::fault::code_of;
use crate::lock_table::Handle;
use crate::{Call, Disk, Inode, interleaved_task};

pub struct SimFile {
    pub disk: Arc<Disk>,
    pub inode: Inode,
    pub handle: Handle,
    pub role: Role,
    /// Whether its first sync makes its name durable, too.
    pub syncs_folder: bool,
    pub is_read_only: bool,
}

impl SimFile {
    fn refuse_read_only(&self) -> Result<(), Code> {
        if self.is_read_only { Err(Code::READONLY) } else { Ok(()) }
    }
}

impl File for SimFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        interleaved_task::run_if_due();
        let mut state = self.disk.lock();
        if let Err(failure) = state.enter(Call::Read, self.role, offset, out.len()) {
            out.fill(0);
            return Err(code_of(failure));
        }
        let known = state.read(self.inode, out, offset)?;
        if known < out.len() {
            return Err(Code::IOERR_SHORT_READ);
        }
        Ok(())
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        self.refuse_read_only()?;
        interleaved_task::run_if_due();
        if data.len() > WRITE_SIZE_MAX {
            return Err(Code::FULL);
        }
        let mut state = self.disk.lock();
        if let Err(failure) = state.enter(Call::Write, self.role, offset, data.len()) {
            match failure {
                Failure::PartialWrite(_) => state.write(self.inode, &data[..data.len() / 2], offset)?,
                Failure::Landed(_) => state.write(self.inode, data, offset)?,
                Failure::Lost => return Ok(()),
                Failure::Late => {
                    state.late.push((self.inode, self.handle, offset, data.to_vec()));
                    return Ok(());
                }
                Failure::Code(_) | Failure::ShortRead => {}
            }
            return Err(code_of(failure));
        }
        state.write(self.inode, data, offset)?;
        let is_due = |late: &Late| late.0 == self.inode && late.1 != self.handle;
        let due: Vec<Late> = state.late.extract_if(.., |late| is_due(late)).collect();
        for (inode, _, offset, data) in due {
            state.write(inode, &data, offset)?;
        }
        Ok(())
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        self.refuse_read_only()?;
        interleaved_task::run_if_due();
        let mut state = self.disk.lock();
        state.enter(Call::Truncate, self.role, size, 0).map_err(code_of)?;
        state.truncate(self.inode, size)
    }

    fn sync(&mut self, _flags: SyncFlags) -> Result<(), Code> {
        interleaved_task::run_if_due();
        let mut state = self.disk.lock();
        state.enter(Call::Sync, self.role, 0, 0).map_err(code_of)?;
        state.sync(self.inode, std::mem::take(&mut self.syncs_folder))
    }

    fn size(&mut self) -> Result<u64, Code> {
        interleaved_task::run_if_due();
        let mut state = self.disk.lock();
        state.enter(Call::Size, self.role, 0, 0).map_err(code_of)?;
        Ok(state.node(self.inode)?.content.size())
    }

    fn lock(&mut self, level: LockLevel) -> Result<(), Code> {
        interleaved_task::run_if_due();
        let mut state = self.disk.lock();
        state.enter(Call::Lock, self.role, 0, 0).map_err(code_of)?;
        let granted = state.node(self.inode)?.locks.lock(self.handle, level);
        if granted { Ok(()) } else { Err(Code::BUSY) }
    }

    fn unlock(&mut self, level: LockLevel) -> Result<(), Code> {
        interleaved_task::run_if_due();
        let mut state = self.disk.lock();
        state.node(self.inode)?.locks.unlock(self.handle, level);
        Ok(())
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        Ok(self.disk.lock().node(self.inode)?.locks.is_reserved())
    }

    fn control(&mut self, control: &mut RawControl) -> Result<(), Code> {
        let call = match control.parse() {
            Control::SizeHint | Control::ChunkSize => Call::SizeHint,
            Control::MmapSize(size) if *size > 0 => Call::Mmap,
            Control::MmapSize(_)
            | Control::Pragma(_)
            | Control::VfsName(_)
            | Control::CheckpointStart
            | Control::CheckpointDone
            | Control::PowersafeOverwrite(_)
            | Control::Connection(_)
            | Control::Visit(_)
            | Control::Atomic
            | Control::Other => return Err(Code::NOTFOUND),
        };
        self.disk.lock().enter(call, self.role, 0, 0).map_err(code_of)?;
        Err(Code::NOTFOUND)
    }

    fn sector_size(&mut self) -> c_int {
        let size = self.disk.lock().damaged_sector.unwrap_or(4096);
        c_int::try_from(size).unwrap_or(4096)
    }

    /// The properties that os_unix.c promises: powersafe overwrite, unless a test forbids it.
    fn device_characteristics(&mut self) -> c_int {
        const POWERSAFE_OVERWRITE: c_int = 0x1000;
        if self.disk.lock().damaged_sector.is_none() {
            POWERSAFE_OVERWRITE
        } else {
            0
        }
    }

    fn shm_map(&mut self, region: c_int, size: c_int, extend: bool) -> Result<Option<ShmRegion>, Code> {
        interleaved_task::run_if_due();
        let mut state = self.disk.lock();
        state.enter(Call::ShmMap, self.role, 0, 0).map_err(code_of)?;
        let region = usize::try_from(region).map_err(|_| Code::MISUSE)?;
        let size = usize::try_from(size).map_err(|_| Code::MISUSE)?;
        Ok(state.node(self.inode)?.shm.map(self.handle, region, size, extend))
    }

    fn shm_lock(&mut self, lock: ShmLock) -> Result<(), Code> {
        // A connection that arrives while a read mark is moved has to wait (`walTryBeginRead`),
        // which is impossible here.
        let moves_mark = !lock.lock && lock.exclusive && lock.first > WAL_READ_LOCK;
        if !moves_mark {
            interleaved_task::run_if_due();
        }
        let mut state = self.disk.lock();
        if lock.lock {
            state.enter(Call::ShmLock, self.role, 0, 0).map_err(code_of)?;
        }
        let granted = state.node(self.inode)?.shm.lock(self.handle, lock);
        if granted { Ok(()) } else { Err(Code::BUSY) }
    }

    fn shm_barrier(&mut self) {
        // The same applies to the barrier between the two copies of the index's header during a write.
        let writes = match self.disk.lock().node(self.inode) {
            Ok(node) => node.shm.is_writer(self.handle),
            Err(_) => true,
        };
        if !writes {
            interleaved_task::run_if_due();
        }
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }

    fn shm_unmap(&mut self, _delete: bool) -> Result<(), Code> {
        self.disk.lock().node(self.inode)?.shm.unmap(self.handle);
        Ok(())
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        self.disk.lock().close(self.inode, self.handle);
    }
}

/// os_unix.c, `seekAndWriteFd`: `nBuf &= 0x1ffff`. A longer write ends in a write of zero bytes, and SQLITE_FULL.
const WRITE_SIZE_MAX: usize = 0x1ffff;
/// WAL_READ_LOCK(0), of five (sqlite.org/walformat.html, section 2.3).
const WAL_READ_LOCK: i32 = 3;
