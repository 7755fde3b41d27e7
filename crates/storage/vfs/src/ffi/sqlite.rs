//! The parts of SQLite's C interface that a VFS needs, declared from its documentation
//! (sqlite.org/c3ref/vfs.html, sqlite.org/c3ref/io_methods.html).

use std::ffi::{c_char, c_int, c_void};

/// A database connection: used only as a pointer.
#[repr(C)]
pub struct Database {
    _opaque: [u8; 0],
}

/// `sqlite3_api_routines`: a long struct of function pointers, read by index in [`super::Api`].
#[repr(C)]
pub struct RawApi {
    _opaque: [u8; 0],
}

/// `sqlite3_context`.
#[repr(C)]
pub struct RawContext {
    _opaque: [u8; 0],
}

/// `sqlite3_value`.
#[repr(C)]
pub struct RawValue {
    _opaque: [u8; 0],
}

/// `sqlite3_stmt`.
#[repr(C)]
pub struct RawStatement {
    _opaque: [u8; 0],
}

/// `sqlite3_file`, the first field of every VFS's own file struct.
#[repr(C)]
pub struct RawFile {
    pub methods: *const IoMethods,
}

/// `sqlite3_io_methods`, version 3.
#[repr(C)]
pub struct IoMethods {
    pub version: c_int,
    pub close: Option<unsafe extern "C" fn(*mut RawFile) -> c_int>,
    pub read: Option<unsafe extern "C" fn(*mut RawFile, *mut c_void, c_int, i64) -> c_int>,
    pub write: Option<unsafe extern "C" fn(*mut RawFile, *const c_void, c_int, i64) -> c_int>,
    pub truncate: Option<unsafe extern "C" fn(*mut RawFile, i64) -> c_int>,
    pub sync: Option<unsafe extern "C" fn(*mut RawFile, c_int) -> c_int>,
    pub file_size: Option<unsafe extern "C" fn(*mut RawFile, *mut i64) -> c_int>,
    pub lock: Option<unsafe extern "C" fn(*mut RawFile, c_int) -> c_int>,
    pub unlock: Option<unsafe extern "C" fn(*mut RawFile, c_int) -> c_int>,
    pub check_reserved_lock: Option<unsafe extern "C" fn(*mut RawFile, *mut c_int) -> c_int>,
    pub file_control: Option<unsafe extern "C" fn(*mut RawFile, c_int, *mut c_void) -> c_int>,
    pub sector_size: Option<unsafe extern "C" fn(*mut RawFile) -> c_int>,
    pub device_characteristics: Option<unsafe extern "C" fn(*mut RawFile) -> c_int>,
    pub shm_map: Option<unsafe extern "C" fn(*mut RawFile, c_int, c_int, c_int, *mut *mut c_void) -> c_int>,
    pub shm_lock: Option<unsafe extern "C" fn(*mut RawFile, c_int, c_int, c_int) -> c_int>,
    pub shm_barrier: Option<unsafe extern "C" fn(*mut RawFile)>,
    pub shm_unmap: Option<unsafe extern "C" fn(*mut RawFile, c_int) -> c_int>,
    pub fetch: Option<unsafe extern "C" fn(*mut RawFile, i64, c_int, *mut *mut c_void) -> c_int>,
    pub unfetch: Option<unsafe extern "C" fn(*mut RawFile, i64, *mut c_void) -> c_int>,
}

/// A system call in SQLite's test interface.
pub type RawSystemCall = Option<unsafe extern "C" fn()>;

/// `sqlite3_vfs`, version 3.
#[repr(C)]
pub struct RawVfs {
    pub version: c_int,
    pub file_size: c_int,
    pub pathname_size_max: c_int,
    pub next: *mut RawVfs,
    pub name: *const c_char,
    pub app_data: *mut c_void,
    pub open: Option<unsafe extern "C" fn(*mut RawVfs, *const c_char, *mut RawFile, c_int, *mut c_int) -> c_int>,
    pub delete: Option<unsafe extern "C" fn(*mut RawVfs, *const c_char, c_int) -> c_int>,
    pub access: Option<unsafe extern "C" fn(*mut RawVfs, *const c_char, c_int, *mut c_int) -> c_int>,
    pub full_pathname: Option<unsafe extern "C" fn(*mut RawVfs, *const c_char, c_int, *mut c_char) -> c_int>,
    pub dl_open: Option<unsafe extern "C" fn(*mut RawVfs, *const c_char) -> *mut c_void>,
    pub dl_error: Option<unsafe extern "C" fn(*mut RawVfs, c_int, *mut c_char)>,
    pub dl_sym: Option<unsafe extern "C" fn(*mut RawVfs, *mut c_void, *const c_char) -> RawSystemCall>,
    pub dl_close: Option<unsafe extern "C" fn(*mut RawVfs, *mut c_void)>,
    pub randomness: Option<unsafe extern "C" fn(*mut RawVfs, c_int, *mut c_char) -> c_int>,
    pub sleep: Option<unsafe extern "C" fn(*mut RawVfs, c_int) -> c_int>,
    pub current_time: Option<unsafe extern "C" fn(*mut RawVfs, *mut f64) -> c_int>,
    pub last_error: Option<unsafe extern "C" fn(*mut RawVfs, c_int, *mut c_char) -> c_int>,
    pub current_time_int64: Option<unsafe extern "C" fn(*mut RawVfs, *mut i64) -> c_int>,
    pub set_system_call: Option<unsafe extern "C" fn(*mut RawVfs, *const c_char, RawSystemCall) -> c_int>,
    pub system_call: Option<unsafe extern "C" fn(*mut RawVfs, *const c_char) -> RawSystemCall>,
    pub next_system_call: Option<unsafe extern "C" fn(*mut RawVfs, *const c_char) -> *const c_char>,
}

/// The open mode and type of a file: `SQLITE_OPEN_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenFlags(pub c_int);

#[expect(missing_docs, reason = "named as at sqlite.org/c3ref/c_open_autoproxy.html")]
impl OpenFlags {
    pub const READ_ONLY: Self = Self(0x1);
    pub const READ_WRITE: Self = Self(0x2);
    pub const CREATE: Self = Self(0x4);
    pub const DELETE_ON_CLOSE: Self = Self(0x8);
    pub const MAIN_DB: Self = Self(0x100);
    pub const TEMP_DB: Self = Self(0x200);
    pub const TRANSIENT_DB: Self = Self(0x400);
    pub const MAIN_JOURNAL: Self = Self(0x800);
    pub const TEMP_JOURNAL: Self = Self(0x1000);
    pub const SUB_JOURNAL: Self = Self(0x2000);
    pub const SUPER_JOURNAL: Self = Self(0x4000);
    pub const WAL: Self = Self(0x8_0000);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The kind of sync: `SQLITE_SYNC_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SyncFlags(pub c_int);

impl SyncFlags {
    /// An ordinary fsync.
    pub const NORMAL: Self = Self(2);
    /// A full barrier, if the system distinguishes the two.
    pub const FULL: Self = Self(3);
}

/// The private file control that finds a file of this VFS below other VFSs.
pub const FCNTL_VISIT: c_int = 0x53_4c_4e_54;
