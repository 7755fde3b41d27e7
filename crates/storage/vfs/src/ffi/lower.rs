//! The VFS below, as a safe value, and its files.

use std::ffi::{CStr, c_int};
use std::ptr::NonNull;

use super::sqlite::{IoMethods, OpenFlags, RawFile, RawVfs, SyncFlags};
use super::{Code, Name, RawControl, ShmLock, ShmRegion};
use crate::file_meter::FileMeter;
use crate::thread_io;

/// A VFS registered with SQLite.
#[derive(Clone, Copy)]
pub struct LowerVfs(NonNull<RawVfs>);

// SAFETY: SQLite calls a registered VFS from any thread; a registered VFS is not moved.
unsafe impl Send for LowerVfs {}
// SAFETY: as above.
unsafe impl Sync for LowerVfs {}

impl LowerVfs {
    pub(super) fn new(raw: *mut RawVfs) -> Option<Self> {
        NonNull::new(raw).map(Self)
    }

    pub(super) fn as_ptr(self) -> *mut RawVfs {
        self.0.as_ptr()
    }

    pub(super) fn raw(&self) -> &RawVfs {
        // SAFETY: SQLite's registered VFSs are never freed while a database may be opened through them.
        unsafe { self.0.as_ref() }
    }

    /// The VFS's name.
    #[must_use]
    pub fn name(&self) -> &CStr {
        // SAFETY: a registered VFS has a name that ends with a zero byte.
        unsafe { CStr::from_ptr(self.raw().name) }
    }

    /// Opens a file, and returns the flags with which it was opened.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn open(&self, name: Option<&Name<'_>>, flags: OpenFlags) -> Result<(LowerFile, OpenFlags), Code> {
        let open = self.raw().open.ok_or(Code::MISUSE)?;
        let size = usize::try_from(self.raw().file_size).map_err(|_| Code::MISUSE)?;
        let mut file = LowerFile {
            memory: vec![0_u64; size.div_ceil(size_of::<u64>()).max(1)].into_boxed_slice(),
            meter: None,
        };
        let mut out_flags = flags.0;
        let name = name.map_or(std::ptr::null(), Name::as_ptr);
        // SAFETY: the memory has the VFS's own size, zeroed and aligned; the name is null or
        // SQLite's own (names-outlive-files).
        let code = unsafe { open(self.as_ptr(), name, file.raw(), flags.0, &raw mut out_flags) };
        // A file whose methods were set is closed by `drop`, also after an error (sqlite.org/c3ref/vfs.html).
        Code::check(code)?;
        Ok((file, OpenFlags(out_flags)))
    }

    /// Deletes a file, and then syncs its folder if `sync_dir` is set.
    ///
    /// # Errors
    /// Those of the VFS below; `IOERR_DELETE_NOENT` if there is no such file.
    pub fn delete(&self, path: &CStr, sync_dir: bool) -> Result<(), Code> {
        let delete = self.raw().delete.ok_or(Code::MISUSE)?;
        // SAFETY: the path ends with a zero byte.
        Code::check(unsafe { delete(self.as_ptr(), path.as_ptr(), c_int::from(sync_dir)) })
    }

    /// Whether the file can be accessed as `flags` specify (`SQLITE_ACCESS_*`).
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn access(&self, path: &CStr, flags: c_int) -> Result<bool, Code> {
        let access = self.raw().access.ok_or(Code::MISUSE)?;
        let mut answer = 0;
        // SAFETY: the path ends with a zero byte; the result is one int.
        Code::check(unsafe { access(self.as_ptr(), path.as_ptr(), flags, &raw mut answer) })?;
        Ok(answer != 0)
    }

    /// Writes the absolute path, followed by a zero byte, into `out`, and returns whether a
    /// symbolic link was followed.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn full_pathname(&self, path: &CStr, out: &mut [u8]) -> Result<bool, Code> {
        let full = self.raw().full_pathname.ok_or(Code::MISUSE)?;
        let size = c_int::try_from(out.len()).map_err(|_| Code::CANTOPEN)?;
        // SAFETY: `out` has room for `size` bytes.
        let code = unsafe { full(self.as_ptr(), path.as_ptr(), size, out.as_mut_ptr().cast()) };
        if code == OK_SYMLINK {
            return Ok(true);
        }
        Code::check(code).map(|()| false)
    }
}

/// The bytes that [`LowerFile::map`] asks for: every database has them.
const MAPPED_AT_LEAST: c_int = 512;
/// SQLITE_OK_SYMLINK: SQLite refuses the file if the caller set SQLITE_OPEN_NOFOLLOW.
pub(super) const OK_SYMLINK: c_int = 512;

/// An open file of the VFS below; closed when dropped.
pub struct LowerFile {
    memory: Box<[u64]>,
    meter: Option<FileMeter>,
}

// SAFETY: SQLite moves its files between threads, one call at a time.
unsafe impl Send for LowerFile {}

impl LowerFile {
    fn raw(&mut self) -> *mut RawFile {
        self.memory.as_mut_ptr().cast()
    }

    fn methods(&self) -> Option<&IoMethods> {
        // SAFETY: the memory begins with a RawFile, all zero or set by the VFS's xOpen.
        let methods = unsafe { (*self.memory.as_ptr().cast::<RawFile>()).methods };
        // SAFETY: null, or a table that lives as long as the file.
        unsafe { methods.as_ref() }
    }

    fn method<T>(&self, pick: impl FnOnce(&IoMethods) -> Option<T>) -> Result<T, Code> {
        self.methods().and_then(pick).ok_or(Code::NOTFOUND)
    }

    /// Sets the meter that counts reads, writes and syncs from now on.
    pub fn set_meter(&mut self, meter: Option<FileMeter>) {
        self.meter = meter;
    }

    /// Counts a read transaction that has begun, in rollback mode or not, in the meter.
    pub fn note_transaction(&mut self, is_rollback_mode: bool) {
        if let Some(meter) = &mut self.meter {
            meter.begin_transaction(is_rollback_mode);
        }
    }

    /// Counts a transaction in rollback mode that has written, in the meter.
    pub fn note_rollback_commit(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.end_rollback_commit();
        }
    }

    /// Whether the file can map shared memory.
    #[must_use]
    pub fn has_shm(&self) -> bool {
        self.methods()
            .is_some_and(|methods| methods.version >= 2 && methods.shm_map.is_some())
    }

    /// Reads exactly `out.len()` bytes.
    ///
    /// # Errors
    /// `IOERR_SHORT_READ` if the file ends earlier; the rest of `out` is then zero.
    pub fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        thread_io::note(|counts| counts.reads += 1);
        let read = self.method(|methods| methods.read)?;
        let (start, wanted) = (out.as_mut_ptr(), out.len());
        let size = c_int::try_from(wanted).map_err(|_| Code::IOERR_READ)?;
        let signed_offset = i64::try_from(offset).map_err(|_| Code::IOERR_READ)?;
        let file = self.raw();
        // SAFETY: `out` has room for `size` bytes, and is ours until this call ends.
        let call = || Code::check(unsafe { read(file, start.cast(), size, signed_offset) });
        match &mut self.meter {
            Some(meter) => meter.read(offset, wanted, call),
            None => call(),
        }
    }

    /// As [`LowerFile::read`], for data that SQLite did not request: it is not counted by the
    /// meter.
    ///
    /// # Errors
    /// As [`LowerFile::read`].
    pub fn read_uncounted(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        let meter = self.meter.take();
        let read = self.read(out, offset);
        self.meter = meter;
        read
    }

    /// Writes all of `data`.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        thread_io::note(|counts| counts.writes += 1);
        let write = self.method(|methods| methods.write)?;
        let size = c_int::try_from(data.len()).map_err(|_| Code::IOERR_WRITE)?;
        let signed_offset = i64::try_from(offset).map_err(|_| Code::IOERR_WRITE)?;
        if self.meter.as_ref().is_some_and(FileMeter::needs_size) {
            let size = self.size().ok();
            if let Some(meter) = &mut self.meter {
                meter.set_size(size);
            }
        }
        let file = self.raw();
        // SAFETY: `data` has `size` bytes.
        let call = || Code::check(unsafe { write(file, data.as_ptr().cast(), size, signed_offset) });
        match &mut self.meter {
            Some(meter) => meter.write(offset, data.len(), call),
            None => call(),
        }
    }

    /// Truncates or extends the file.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn truncate(&mut self, size: u64) -> Result<(), Code> {
        let truncate = self.method(|methods| methods.truncate)?;
        if let Some(meter) = &mut self.meter {
            meter.set_size(Some(size));
        }
        let size = i64::try_from(size).map_err(|_| Code::IOERR_TRUNCATE)?;
        // SAFETY: the file is open.
        Code::check(unsafe { truncate(self.raw(), size) })
    }

    /// Syncs the file.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        let sync = self.method(|methods| methods.sync)?;
        let file = self.raw();
        // SAFETY: the file is open.
        let call = || Code::check(unsafe { sync(file, flags.0) });
        match &mut self.meter {
            Some(meter) => meter.sync(call),
            None => call(),
        }
    }

    /// The file's size in bytes.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn size(&mut self) -> Result<u64, Code> {
        let file_size = self.method(|methods| methods.file_size)?;
        let mut size = 0_i64;
        // SAFETY: the file is open; the result is one number.
        Code::check(unsafe { file_size(self.raw(), &raw mut size) })?;
        u64::try_from(size).map_err(|_| Code::IOERR)
    }

    /// Takes a lock (`SQLITE_LOCK_*`).
    ///
    /// # Errors
    /// `BUSY` if another connection holds a conflicting one.
    pub fn lock(&mut self, level: c_int) -> Result<(), Code> {
        let lock = self.method(|methods| methods.lock)?;
        // SAFETY: the file is open.
        Code::check(unsafe { lock(self.raw(), level) })
    }

    /// Releases locks down to `level`.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn unlock(&mut self, level: c_int) -> Result<(), Code> {
        let unlock = self.method(|methods| methods.unlock)?;
        // SAFETY: the file is open.
        Code::check(unsafe { unlock(self.raw(), level) })
    }

    /// Whether any connection holds RESERVED or a higher lock.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        let check = self.method(|methods| methods.check_reserved_lock)?;
        let mut answer = 0;
        // SAFETY: the file is open; the result is one int.
        Code::check(unsafe { check(self.raw(), &raw mut answer) })?;
        Ok(answer != 0)
    }

    /// Passes a file control unchanged to the VFS below.
    ///
    /// # Errors
    /// `NOTFOUND` if the VFS below does not know it.
    pub fn control(&mut self, control: &RawControl) -> Result<(), Code> {
        let method = self.method(|methods| methods.file_control)?;
        // SAFETY: operation and argument are SQLite's own.
        Code::check(unsafe { method(self.raw(), control.operation, control.argument) })
    }

    /// Disables memory mapping in the VFS below.
    pub fn forbid_mapping(&mut self) {
        let mut size = 0_i64;
        if let Ok(method) = self.method(|methods| methods.file_control) {
            // SAFETY: SQLITE_FCNTL_MMAP_SIZE (18) takes an sqlite3_int64.
            let _ = unsafe { method(self.raw(), 18, (&raw mut size).cast()) };
        }
    }

    /// Makes the VFS below map the file, as far as SQLITE_FCNTL_MMAP_SIZE lets it. Its xRead then
    /// copies from the mapping instead of calling the system (os_unix.c, `unixRead`).
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn map(&mut self) -> Result<(), Code> {
        let methods = self.methods().filter(|methods| methods.version >= 3);
        let Some((fetch, unfetch)) = methods.and_then(|methods| methods.fetch.zip(methods.unfetch)) else {
            return Ok(());
        };
        let mut start = std::ptr::null_mut();
        // SAFETY: the file is open; the result is one pointer.
        Code::check(unsafe { fetch(self.raw(), 0, MAPPED_AT_LEAST, &raw mut start) })?;
        if start.is_null() {
            return Ok(());
        }
        // SAFETY: the pointer is from xFetch at the same offset, and is not used.
        Code::check(unsafe { unfetch(self.raw(), 0, start) })
    }

    /// Makes the VFS below unmap the file.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn unmap(&mut self) -> Result<(), Code> {
        let methods = self.methods().filter(|methods| methods.version >= 3);
        let Some(unfetch) = methods.and_then(|methods| methods.unfetch) else {
            return Ok(());
        };
        // SAFETY: the file is open, and no page is fetched.
        Code::check(unsafe { unfetch(self.raw(), 0, std::ptr::null_mut()) })
    }

    /// Whether its path now refers to another file; `false` if the VFS below does not support the
    /// query.
    pub fn has_moved(&mut self) -> bool {
        let mut moved: c_int = 0;
        if let Ok(method) = self.method(|methods| methods.file_control) {
            // SAFETY: SQLITE_FCNTL_HAS_MOVED (20) sets an int.
            let _ = unsafe { method(self.raw(), 20, (&raw mut moved).cast()) };
        }
        moved != 0
    }

    /// The unit of the disk's atomic writes, in bytes.
    #[must_use]
    pub fn sector_size(&mut self) -> c_int {
        match self.method(|methods| methods.sector_size) {
            // SAFETY: the file is open.
            Ok(method) => unsafe { method(self.raw()) },
            Err(_) => 4096,
        }
    }

    /// The device's characteristics: `SQLITE_IOCAP_*`.
    #[must_use]
    pub fn device_characteristics(&mut self) -> c_int {
        match self.method(|methods| methods.device_characteristics) {
            // SAFETY: the file is open.
            Ok(method) => unsafe { method(self.raw()) },
            Err(_) => 0,
        }
    }

    /// Maps a region of shared memory; `None` if it does not exist and may not be created.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn shm_map(&mut self, region: c_int, size: c_int, extend: bool) -> Result<Option<ShmRegion>, Code> {
        let map = self.method(|methods| methods.shm_map)?;
        let mut start = std::ptr::null_mut();
        // SAFETY: the file is open; the result is one pointer.
        let code = unsafe { map(self.raw(), region, size, c_int::from(extend), &raw mut start) };
        let is_read_only = code == Code::READONLY.as_raw();
        let region = ShmRegion::from_raw(start, usize::try_from(size).unwrap_or(0), is_read_only);
        if region.is_none() || !is_read_only {
            Code::check(code)?;
        }
        Ok(region)
    }

    /// Takes or releases locks of the shared memory.
    ///
    /// # Errors
    /// `BUSY` if another connection holds a conflicting one.
    pub fn shm_lock(&mut self, lock: ShmLock) -> Result<(), Code> {
        let method = self.method(|methods| methods.shm_lock)?;
        // SAFETY: the file is open.
        Code::check(unsafe { method(self.raw(), lock.first, lock.count, lock.flags()) })
    }

    /// A memory barrier.
    pub fn shm_barrier(&mut self) {
        if let Ok(barrier) = self.method(|methods| methods.shm_barrier) {
            // SAFETY: the file is open.
            unsafe { barrier(self.raw()) };
        }
    }

    /// Unmaps the shared memory, and deletes it if `delete` is set.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn shm_unmap(&mut self, delete: bool) -> Result<(), Code> {
        let unmap = self.method(|methods| methods.shm_unmap)?;
        // SAFETY: the file is open.
        Code::check(unsafe { unmap(self.raw(), c_int::from(delete)) })
    }
}

impl LowerFile {
    /// Closes the file, once. Every later call returns an error.
    pub fn close(&mut self) {
        if let Ok(close) = self.method(|methods| methods.close) {
            // SAFETY: the file is open, and this is its last use.
            let _ = unsafe { close(self.raw()) };
            self.memory.fill(0);
        }
    }
}

impl Drop for LowerFile {
    fn drop(&mut self) {
        self.close();
    }
}
