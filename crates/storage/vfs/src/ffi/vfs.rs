//! The C interface of a VFS: [`Vfs`] is implemented in safe code, [`register`] registers it with
//! SQLite.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

use super::file::OpenFile;
use super::guard::{guard, guard_or};
use super::lower::{LowerVfs, OK_SYMLINK};
use super::sqlite::{OpenFlags, RawFile, RawSystemCall, RawVfs};
use super::{Api, Code, File, Name};

/// The result of opening a file.
pub struct OpenedFile {
    /// The file.
    pub file: Box<dyn File>,
    /// The flags with which it was opened: read-only if writing was not allowed.
    pub flags: OpenFlags,
    /// Whether it can map shared memory.
    pub has_shm: bool,
}

/// A VFS, as SQLite uses it (sqlite.org/c3ref/vfs.html). Time, sleep and shared libraries are left
/// to the VFS below.
#[expect(missing_docs, reason = "named and documented at sqlite.org/c3ref/vfs.html")]
#[expect(clippy::missing_errors_doc, reason = "as above")]
pub trait Vfs: Send + Sync + 'static {
    fn open(&self, name: Option<&Name<'_>>, flags: OpenFlags) -> Result<OpenedFile, Code>;
    fn delete(&self, path: &CStr, sync_dir: bool) -> Result<(), Code>;
    fn access(&self, path: &CStr, flags: c_int) -> Result<bool, Code>;
    /// Returns whether a symbolic link was followed.
    fn full_pathname(&self, path: &CStr, out: &mut [u8]) -> Result<bool, Code>;
    /// Whether nameless files that are opened through this VFS are sealed.
    fn is_sealing(&self) -> bool {
        false
    }
}

/// A registered VFS; it exists until the process ends.
#[derive(Clone, Copy)]
pub struct Registered(&'static Home);

/// The C struct, followed by this module's state.
#[repr(C)]
struct Home {
    raw: RawVfs,
    api: Api,
    below: LowerVfs,
    vfs: Box<dyn Vfs>,
}

// SAFETY: `raw` is written once before it is shared (SQLite alone changes its `next`, under its own mutex).
unsafe impl Sync for Home {}

impl Registered {
    /// Makes it the default VFS of its SQLite, or no longer the default.
    ///
    /// # Errors
    /// Those of `sqlite3_vfs_register`.
    pub fn set_default(self, default: bool) -> Result<(), Code> {
        self.0.api.register_vfs((&raw const self.0.raw).cast_mut(), default)
    }
}

/// Registers a VFS as `name`. Methods that are not in [`Vfs`] are passed to `below`.
///
/// # Errors
/// Those of `sqlite3_vfs_register`.
pub fn register(api: Api, name: &CStr, below: LowerVfs, vfs: Box<dyn Vfs>, default: bool) -> Result<Registered, Code> {
    let name: &'static CStr = Box::leak(CString::from(name).into_boxed_c_str());
    let home: &'static mut Home = Box::leak(Box::new(Home {
        raw: raw_vfs(name, below.raw())?,
        api,
        below,
        vfs,
    }));
    let is_sealing = home.vfs.is_sealing();
    let raw = &raw mut home.raw;
    home.raw.app_data = std::ptr::from_mut(home).cast();
    if is_sealing {
        SEALING.lock().unwrap_or_else(PoisonError::into_inner).push(raw.addr());
    }
    api.register_vfs(raw, default)?;
    // SAFETY: leaked above, and later changed only by SQLite's own list of VFSs.
    Ok(Registered(unsafe { &*raw.cast::<Home>() }))
}

/// Whether `raw` is a VFS registered here that seals nameless files.
pub(super) fn is_sealing(raw: *const RawVfs) -> bool {
    let sealing = SEALING.lock().unwrap_or_else(PoisonError::into_inner);
    sealing.contains(&raw.addr())
}

/// The addresses of the VFSs that seal nameless files; none is ever freed.
static SEALING: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn raw_vfs(name: &'static CStr, below: &RawVfs) -> Result<RawVfs, Code> {
    Ok(RawVfs {
        version: below.version.min(3),
        file_size: c_int::try_from(size_of::<OpenFile>()).map_err(|_| Code::MISUSE)?,
        pathname_size_max: below.pathname_size_max,
        next: std::ptr::null_mut(),
        name: name.as_ptr(),
        app_data: std::ptr::null_mut(),
        open: Some(open),
        delete: Some(delete),
        access: Some(access),
        full_pathname: Some(full_pathname),
        dl_open: below.dl_open.and(Some(dl_open)),
        dl_error: below.dl_error.and(Some(dl_error)),
        dl_sym: below.dl_sym.and(Some(dl_sym)),
        dl_close: below.dl_close.and(Some(dl_close)),
        randomness: below.randomness.and(Some(randomness)),
        sleep: below.sleep.and(Some(sleep)),
        current_time: below.current_time.and(Some(current_time)),
        last_error: below.last_error.and(Some(last_error)),
        current_time_int64: below.current_time_int64.and(Some(current_time_int64)),
        set_system_call: below.set_system_call.and(Some(set_system_call)),
        system_call: below.system_call.and(Some(system_call)),
        next_system_call: below.next_system_call.and(Some(next_system_call)),
    })
}

/// # Safety
/// `raw` is a VFS made by [`register`].
unsafe fn home<'a>(raw: *mut RawVfs) -> &'a Home {
    // SAFETY: the caller's promise.
    let home = unsafe { (*raw).app_data }.cast::<Home>();
    // SAFETY: `register` set it to the home, which is never freed.
    unsafe { &*home }
}

unsafe extern "C" fn open(
    raw: *mut RawVfs,
    name: *const c_char,
    file: *mut RawFile,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's memory for the file; SQLite does not close a file without methods.
    unsafe { (*file).methods = std::ptr::null() };
    guard(|| {
        // SAFETY: SQLite calls the VFS that was registered.
        let home = unsafe { home(raw) };
        let name = Name::from_raw(name, home.api);
        let opened = home.vfs.open(name.as_ref(), OpenFlags(flags))?;
        if !out_flags.is_null() {
            // SAFETY: not null, so room for one int.
            unsafe { out_flags.write(opened.flags.0) };
        }
        // SAFETY: SQLite allocated `szOsFile` bytes, which is the size of an OpenFile.
        unsafe { OpenFile::store(file, home.api, opened.file, opened.has_shm) };
        Ok(())
    })
}

unsafe extern "C" fn delete(raw: *mut RawVfs, path: *const c_char, sync_dir: c_int) -> c_int {
    guard(|| {
        // SAFETY: SQLite's paths end with a zero byte.
        let path = unsafe { CStr::from_ptr(path) };
        // SAFETY: SQLite calls the VFS that was registered.
        unsafe { home(raw) }.vfs.delete(path, sync_dir != 0)
    })
}

unsafe extern "C" fn access(raw: *mut RawVfs, path: *const c_char, flags: c_int, out: *mut c_int) -> c_int {
    guard(|| {
        // SAFETY: SQLite's paths end with a zero byte.
        let path = unsafe { CStr::from_ptr(path) };
        // SAFETY: SQLite calls the VFS that was registered.
        let answer = unsafe { home(raw) }.vfs.access(path, flags)?;
        // SAFETY: SQLite passes room for one int.
        unsafe { out.write(c_int::from(answer)) };
        Ok(())
    })
}

unsafe extern "C" fn full_pathname(raw: *mut RawVfs, path: *const c_char, size: c_int, out: *mut c_char) -> c_int {
    guard_or(Code::CANTOPEN.as_raw(), || {
        // SAFETY: SQLite's paths end with a zero byte.
        let path = unsafe { CStr::from_ptr(path) };
        let Ok(size) = usize::try_from(size) else {
            return Code::CANTOPEN.as_raw();
        };
        // SAFETY: SQLite passes room for `size` bytes.
        let out = unsafe { std::slice::from_raw_parts_mut(out.cast::<u8>(), size) };
        // SAFETY: SQLite calls the VFS that was registered.
        match unsafe { home(raw) }.vfs.full_pathname(path, out) {
            Ok(followed) => c_int::from(followed) * OK_SYMLINK,
            Err(code) => code.as_raw(),
        }
    })
}

/// Passes a call to the VFS below, which has the method: `raw_vfs` offers the method only then.
macro_rules! pass {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $answer:ty = $otherwise:expr;)*) => {
        $(unsafe extern "C" fn $name(raw: *mut RawVfs, $($argument: $type),*) -> $answer {
            // SAFETY: SQLite calls the VFS that was registered.
            let below = unsafe { home(raw) }.below;
            match below.raw().$name {
                // SAFETY: the arguments are SQLite's own, for a method of the same meaning.
                Some(method) => unsafe { method(below.as_ptr(), $($argument),*) },
                None => $otherwise,
            }
        })*
    };
}

pass! {
    dl_open(path: *const c_char) -> *mut c_void = std::ptr::null_mut();
    dl_error(size: c_int, out: *mut c_char) -> () = ();
    dl_sym(library: *mut c_void, symbol: *const c_char) -> RawSystemCall = None;
    dl_close(library: *mut c_void) -> () = ();
    randomness(size: c_int, out: *mut c_char) -> c_int = 0;
    sleep(microseconds: c_int) -> c_int = 0;
    current_time(out: *mut f64) -> c_int = Code::ERROR.as_raw();
    last_error(size: c_int, out: *mut c_char) -> c_int = 0;
    current_time_int64(out: *mut i64) -> c_int = Code::ERROR.as_raw();
    set_system_call(name: *const c_char, call: RawSystemCall) -> c_int = Code::NOTFOUND.as_raw();
    system_call(name: *const c_char) -> RawSystemCall = None;
    next_system_call(name: *const c_char) -> *const c_char = std::ptr::null();
}
