//! File controls (sqlite.org/c3ref/c_fcntl_begin_atomic_write.html), parsed.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::connections::{self, MainVfs};
use super::sqlite::{Database, FCNTL_VISIT};
use super::{Api, FileVisit, Name};

/// A file control that a file may handle itself.
pub enum Control<'a> {
    /// A PRAGMA that names this database.
    Pragma(Pragma<'a>),
    /// The size that the file is about to have.
    SizeHint,
    /// The increments in which the file should grow.
    ChunkSize,
    /// The maximal size of the memory mapping; a negative number is a query.
    MmapSize(&'a mut i64),
    /// The name of this VFS, for display.
    VfsName(VfsName<'a>),
    /// A checkpoint begins to copy.
    CheckpointStart,
    /// A checkpoint has copied as much as it could.
    CheckpointDone,
    /// Whether a crash damages only the bytes that were being written.
    PowersafeOverwrite(&'a mut c_int),
    /// A connection that uses this file.
    Connection(Connection<'a>),
    /// This crate's own control.
    Visit(&'a mut FileVisit<'a>),
    /// Batch-atomic writes: begin, commit or roll back.
    Atomic,
    /// All others.
    Other,
}

/// A file control in SQLite's form, to be passed to the VFS below.
#[derive(Clone, Copy)]
pub struct RawControl {
    pub(super) operation: c_int,
    pub(super) argument: *mut c_void,
    api: Api,
}

impl RawControl {
    pub(super) fn new(operation: c_int, argument: *mut c_void, api: Api) -> Self {
        Self {
            operation,
            argument,
            api,
        }
    }

    /// The control's meaning.
    pub fn parse(&mut self) -> Control<'_> {
        match self.operation {
            14 => Control::Pragma(Pragma { control: self }),
            5 => Control::SizeHint,
            6 => Control::ChunkSize,
            12 => Control::VfsName(VfsName { control: self }),
            37 => Control::CheckpointDone,
            39 => Control::CheckpointStart,
            31..=33 => Control::Atomic,
            13 if !self.argument.is_null() => {
                // SAFETY: SQLITE_FCNTL_POWERSAFE_OVERWRITE passes an int.
                Control::PowersafeOverwrite(unsafe { &mut *self.argument.cast::<c_int>() })
            }
            18 if !self.argument.is_null() => {
                // SAFETY: SQLITE_FCNTL_MMAP_SIZE passes an sqlite3_int64.
                Control::MmapSize(unsafe { &mut *self.argument.cast::<i64>() })
            }
            30 if !self.argument.is_null() => {
                // SAFETY: SQLITE_FCNTL_PDB passes a pointer to a connection's pointer, which lives as long as the
                // file is open. In shared-cache mode other threads change it meanwhile.
                let database = unsafe { AtomicPtr::from_ptr(self.argument.cast::<*mut Database>()) };
                Control::Connection(Connection {
                    api: &self.api,
                    database: database.load(Ordering::Relaxed),
                })
            }
            FCNTL_VISIT if !self.argument.is_null() => {
                // SAFETY: only `visit_file` uses this number, and it passes a FileVisit.
                Control::Visit(unsafe { &mut *self.argument.cast::<FileVisit<'_>>() })
            }
            _ => Control::Other,
        }
    }
}

/// A PRAGMA, answered here or left to SQLite.
pub struct Pragma<'a> {
    control: &'a RawControl,
}

impl Pragma<'_> {
    /// Element 0 is for the answer, element 1 is the name, element 2 the argument or null.
    fn text(&self, index: usize) -> Option<&str> {
        // SAFETY: SQLITE_FCNTL_PRAGMA passes an array of three strings.
        let texts = unsafe { &*self.control.argument.cast::<[*const c_char; 3]>() };
        let text = texts[index];
        if text.is_null() {
            return None;
        }
        // SAFETY: each is null or ends with a zero byte, and outlives this call.
        unsafe { CStr::from_ptr(text) }.to_str().ok()
    }

    /// The pragma's name, as typed.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text(1).unwrap_or("")
    }

    /// The text after `=` or in parentheses.
    #[must_use]
    pub fn argument(&self) -> Option<&str> {
        self.text(2)
    }

    /// Sets the single row that is the PRAGMA's result. The caller then reports success, and SQLite
    /// does nothing more.
    pub fn answer(&self, text: &str) {
        let copy = self.control.api.allocate_text(text);
        // SAFETY: element 0 may be set, to memory that SQLite frees.
        unsafe { *self.control.argument.cast::<*mut c_char>() = copy };
    }
}

/// A query for the name of the VFS.
pub struct VfsName<'a> {
    control: &'a RawControl,
}

impl VfsName<'_> {
    /// Puts `prefix/` before the name that the VFS below returned.
    pub fn prepend(&self, prefix: &str) {
        let place = self.control.argument.cast::<*mut c_char>();
        // SAFETY: SQLITE_FCNTL_VFSNAME passes a pointer to a string's pointer.
        let below = unsafe { *place };
        let text = if below.is_null() {
            prefix.to_owned()
        } else {
            // SAFETY: the VFS below set it to a string that ends with a zero byte.
            let below = unsafe { CStr::from_ptr(below) }.to_string_lossy().into_owned();
            format!("{prefix}/{below}")
        };
        let copy = self.control.api.allocate_text(&text);
        // SAFETY: as above; the previous string is freed below.
        unsafe { *place = copy };
        if !below.is_null() {
            // SAFETY: it was allocated by SQLite's allocator, as the file control requires.
            unsafe { (self.control.api.free)(below.cast()) };
        }
    }
}

/// The connection that SQLite passes to a file, during one call.
pub struct Connection<'a> {
    api: &'a Api,
    database: *mut Database,
}

impl Connection<'_> {
    /// Whether the connection opens its nameless files through a VFS that does not seal them.
    ///
    /// `is_opener` is for the first call after the file was opened: until then no other connection
    /// can know the file, so the connection is the one that has just opened it, on this thread, and
    /// may be used. In any later call, which occurs in shared-cache mode only, it may be another
    /// thread's or closed: only its address is looked up.
    #[must_use]
    pub fn main_is_on_other_vfs(&self, is_opener: bool) -> bool {
        let place = match connections::known(self.database.addr()) {
            Some(place) => place,
            None if is_opener => connections::main_vfs_of(self.api, self.database),
            None => MainVfs::Sealing,
        };
        place == MainVfs::Other
    }

    /// Whether the connection's main database is already open, possibly as this file: the first
    /// file of a connection is main. May be called only in the first call after the file was
    /// opened: see [`Connection::main_is_on_other_vfs`].
    #[must_use]
    pub fn has_main(&self) -> bool {
        !self.main_name().is_null()
    }

    /// A parameter of the URI with which the connection's main database was opened; of the file's
    /// own URI if it is main. May be called under the condition of [`Connection::has_main`].
    #[must_use]
    pub fn opening_parameter(&self, key: &CStr) -> Option<String> {
        Name::from_raw(self.main_name(), *self.api)?.parameter(key)
    }

    /// The main database's file name: empty for a database in memory, null if none is open.
    fn main_name(&self) -> *const c_char {
        // SAFETY: in the first call the connection is the calling thread's. "main" is always the first database.
        unsafe { (self.api.db_filename)(self.database, c"main".as_ptr()) }
    }
}
