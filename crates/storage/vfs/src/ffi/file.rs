//! The C interface of an open file: a VFS implements [`File`] in safe code.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::slice;

use super::guard::{guard, guard_or};
use super::sqlite::{IoMethods, RawFile, SyncFlags};
use super::{Api, Code, RawControl, ShmLock, ShmRegion};

/// A level of SQLite's file locks (sqlite.org/lockingv3.html).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LockLevel(pub c_int);

#[expect(missing_docs, reason = "named as at sqlite.org/lockingv3.html")]
impl LockLevel {
    pub const NONE: Self = Self(0);
    pub const SHARED: Self = Self(1);
    pub const RESERVED: Self = Self(2);
    pub const PENDING: Self = Self(3);
    pub const EXCLUSIVE: Self = Self(4);
}

/// An open file, as SQLite uses it (sqlite.org/c3ref/io_methods.html). Dropping it closes it.
///
/// Errors are SQLite's result codes. A read beyond the end fills the missing bytes with zeros and
/// returns `IOERR_SHORT_READ`.
#[expect(missing_docs, reason = "named and documented at sqlite.org/c3ref/io_methods.html")]
#[expect(clippy::missing_errors_doc, reason = "as above")]
pub trait File: Send + Any {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code>;
    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code>;
    fn truncate(&mut self, size: u64) -> Result<(), Code>;
    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code>;
    fn size(&mut self) -> Result<u64, Code>;
    fn lock(&mut self, level: LockLevel) -> Result<(), Code>;
    fn unlock(&mut self, level: LockLevel) -> Result<(), Code>;
    fn check_reserved_lock(&mut self) -> Result<bool, Code>;
    fn control(&mut self, control: &mut RawControl) -> Result<(), Code>;
    fn sector_size(&mut self) -> c_int;
    fn device_characteristics(&mut self) -> c_int;
    // Only a database file has shared memory.
    fn shm_map(&mut self, _region: c_int, _size: c_int, _extend: bool) -> Result<Option<ShmRegion>, Code> {
        Err(Code::IOERR_SHMMAP)
    }
    fn shm_lock(&mut self, _lock: ShmLock) -> Result<(), Code> {
        Err(Code::MISUSE)
    }
    fn shm_barrier(&mut self) {}
    fn shm_unmap(&mut self, _delete: bool) -> Result<(), Code> {
        Ok(())
    }
    /// Called where SQLite would use a mapped page (xFetch). It gets none: it then calls `read`.
    fn map(&mut self) -> Result<(), Code> {
        Ok(())
    }
    /// Called where SQLite discards its mapping, because the file may have changed (xUnfetch).
    fn unmap(&mut self) -> Result<(), Code> {
        Ok(())
    }
    fn as_any(&mut self) -> &mut dyn Any;
}

/// The content of the memory that SQLite allocates for a file.
#[repr(C)]
pub struct OpenFile {
    base: RawFile,
    api: Api,
    file: Box<dyn File>,
}

impl OpenFile {
    /// Moves a file into SQLite's memory.
    ///
    /// # Safety
    /// `place` has room for an `OpenFile`: SQLite allocates `szOsFile` bytes, aligned to 8.
    pub unsafe fn store(place: *mut RawFile, api: Api, file: Box<dyn File>, has_shm: bool) {
        let methods = if has_shm {
            &raw const WITH_SHM
        } else {
            &raw const WITHOUT_SHM
        };
        let open = Self {
            base: RawFile { methods },
            api,
            file,
        };
        // SAFETY: the caller's promise.
        unsafe { place.cast::<Self>().write(open) };
    }

    /// # Safety
    /// `raw` was filled by `store`, and no other call on this file is in progress
    /// (one-call-per-file).
    unsafe fn of<'a>(raw: *mut RawFile) -> &'a mut Self {
        // SAFETY: the caller's promise.
        unsafe { &mut *raw.cast::<Self>() }
    }
}

fn offset_of(raw: i64) -> Result<u64, Code> {
    u64::try_from(raw).map_err(|_| Code::MISUSE)
}

unsafe extern "C" fn close(raw: *mut RawFile) -> c_int {
    guard(|| {
        // SAFETY: SQLite closes a file once, last; the memory is SQLite's own and is not used again.
        unsafe { std::ptr::drop_in_place(raw.cast::<OpenFile>()) };
        Ok(())
    })
}

unsafe extern "C" fn read(raw: *mut RawFile, out: *mut c_void, size: c_int, offset: i64) -> c_int {
    guard(|| {
        let size = usize::try_from(size).map_err(|_| Code::MISUSE)?;
        // SAFETY: SQLite gives xRead a buffer of that many bytes (sqlite.org/c3ref/io_methods.html).
        let out = unsafe { slice::from_raw_parts_mut(out.cast::<u8>(), size) };
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.read(out, offset_of(offset)?)
    })
}

unsafe extern "C" fn write(raw: *mut RawFile, data: *const c_void, size: c_int, offset: i64) -> c_int {
    guard(|| {
        let size = usize::try_from(size).map_err(|_| Code::MISUSE)?;
        // SAFETY: SQLite gives xWrite that many bytes (sqlite.org/c3ref/io_methods.html).
        let data = unsafe { slice::from_raw_parts(data.cast::<u8>(), size) };
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.write(data, offset_of(offset)?)
    })
}

unsafe extern "C" fn truncate(raw: *mut RawFile, size: i64) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.truncate(offset_of(size)?)
    })
}

unsafe extern "C" fn sync(raw: *mut RawFile, flags: c_int) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.sync(SyncFlags(flags))
    })
}

unsafe extern "C" fn file_size(raw: *mut RawFile, out: *mut i64) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        let size = i64::try_from(file.file.size()?).map_err(|_| Code::IOERR)?;
        // SAFETY: SQLite passes room for one number.
        unsafe { out.write(size) };
        Ok(())
    })
}

unsafe extern "C" fn lock(raw: *mut RawFile, level: c_int) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.lock(LockLevel(level))
    })
}

unsafe extern "C" fn unlock(raw: *mut RawFile, level: c_int) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.unlock(LockLevel(level))
    })
}

unsafe extern "C" fn check_reserved_lock(raw: *mut RawFile, out: *mut c_int) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        let answer = file.file.check_reserved_lock()?;
        // SAFETY: SQLite passes room for one int.
        unsafe { out.write(c_int::from(answer)) };
        Ok(())
    })
}

unsafe extern "C" fn file_control(raw: *mut RawFile, operation: c_int, argument: *mut c_void) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        let mut control = RawControl::new(operation, argument, file.api);
        file.file.control(&mut control)
    })
}

unsafe extern "C" fn sector_size(raw: *mut RawFile) -> c_int {
    // SAFETY: the file is open (one-call-per-file).
    guard_or(4096, || unsafe { OpenFile::of(raw) }.file.sector_size())
}

unsafe extern "C" fn device_characteristics(raw: *mut RawFile) -> c_int {
    // SAFETY: the file is open (one-call-per-file).
    guard_or(0, || unsafe { OpenFile::of(raw) }.file.device_characteristics())
}

unsafe extern "C" fn shm_map(
    raw: *mut RawFile,
    region: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        let region = file.file.shm_map(region, size, extend != 0)?;
        let start = region.map_or(std::ptr::null_mut(), ShmRegion::as_ptr);
        // SAFETY: SQLite passes room for one pointer.
        unsafe { out.write(start) };
        match region {
            Some(region) if region.is_read_only => Err(Code::READONLY),
            Some(_) | None => Ok(()),
        }
    })
}

unsafe extern "C" fn shm_lock(raw: *mut RawFile, first: c_int, count: c_int, flags: c_int) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.shm_lock(ShmLock::from_raw(first, count, flags))
    })
}

unsafe extern "C" fn shm_barrier(raw: *mut RawFile) {
    // SAFETY: the file is open (one-call-per-file).
    guard_or((), || unsafe { OpenFile::of(raw) }.file.shm_barrier());
}

unsafe extern "C" fn shm_unmap(raw: *mut RawFile, delete: c_int) -> c_int {
    guard(|| {
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.shm_unmap(delete != 0)
    })
}

/// SQLite may read from a mapping: it gets no page of it, which would be encrypted.
unsafe extern "C" fn fetch(raw: *mut RawFile, _offset: i64, _size: c_int, out: *mut *mut c_void) -> c_int {
    guard(|| {
        // SAFETY: SQLite passes room for one pointer.
        unsafe { out.write(std::ptr::null_mut()) };
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.map()
    })
}

unsafe extern "C" fn unfetch(raw: *mut RawFile, _offset: i64, page: *mut c_void) -> c_int {
    guard(|| {
        if !page.is_null() {
            return Err(Code::MISUSE);
        }
        // SAFETY: the file is open (one-call-per-file).
        let file = unsafe { OpenFile::of(raw) };
        file.file.unmap()
    })
}

const fn methods(version: c_int) -> IoMethods {
    IoMethods {
        version,
        close: Some(close),
        read: Some(read),
        write: Some(write),
        truncate: Some(truncate),
        sync: Some(sync),
        file_size: Some(file_size),
        lock: Some(lock),
        unlock: Some(unlock),
        check_reserved_lock: Some(check_reserved_lock),
        file_control: Some(file_control),
        sector_size: Some(sector_size),
        device_characteristics: Some(device_characteristics),
        shm_map: Some(shm_map),
        shm_lock: Some(shm_lock),
        shm_barrier: Some(shm_barrier),
        shm_unmap: Some(shm_unmap),
        fetch: Some(fetch),
        unfetch: Some(unfetch),
    }
}

/// Used if the VFS below has no shared memory: SQLite then uses a WAL only in exclusive mode.
static WITHOUT_SHM: IoMethods = methods(1);
static WITH_SHM: IoMethods = methods(3);
