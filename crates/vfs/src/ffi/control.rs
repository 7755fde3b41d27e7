//! File controls (sqlite.org/c3ref/c_fcntl_begin_atomic_write.html), taken apart.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::sqlite::{Database, FCNTL_VISIT, RawVfs};
use super::{Api, Code, FileVisit};

/// A file control that a file may want to answer itself.
pub enum Control<'a> {
    /// A PRAGMA that names this database.
    Pragma(Pragma<'a>),
    /// The size that the file is about to reach.
    SizeHint,
    /// The steps in which the file should grow.
    ChunkSize,
    /// How much may be mapped: asked with a negative number.
    MmapSize(&'a mut i64),
    /// What this VFS is called, for people.
    VfsName(VfsName<'a>),
    /// A checkpoint begins to copy.
    CheckpointStart,
    /// A checkpoint has copied all it could.
    CheckpointDone,
    /// Whether a crash may damage more than was being written: always no here.
    PowersafeOverwrite(&'a mut c_int),
    /// The connection that opened this file.
    Connection(Connection<'a>),
    /// Our own.
    Visit(&'a mut FileVisit<'a>),
    /// Batch-atomic writes: begin, commit or roll back.
    Atomic,
    /// All others.
    Other,
}

/// A file control as it came: to be passed down.
#[derive(Clone, Copy)]
pub struct RawControl {
    pub(super) operation: c_int,
    pub(super) argument: *mut c_void,
    api: Api,
    vfs: *mut RawVfs,
}

impl RawControl {
    pub(super) fn new(operation: c_int, argument: *mut c_void, api: Api, vfs: *mut RawVfs) -> Self {
        Self {
            operation,
            argument,
            api,
            vfs,
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
                // SAFETY: SQLITE_FCNTL_PDB passes a pointer to a connection's pointer.
                let database = unsafe { *self.argument.cast::<*mut Database>() };
                Control::Connection(Connection {
                    api: &self.api,
                    database,
                    vfs: self.vfs,
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

/// A PRAGMA on its way to SQLite: answered here, or left to SQLite.
pub struct Pragma<'a> {
    control: &'a RawControl,
}

impl Pragma<'_> {
    /// Element 0 is for the answer, 1 the name, 2 the argument or null.
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

    /// What stands behind `=` or in parentheses.
    #[must_use]
    pub fn argument(&self) -> Option<&str> {
        self.text(2)
    }

    /// Gives the one row that the PRAGMA answers with. The caller then reports success, and SQLite does no more.
    pub fn answer(&self, text: &str) {
        let copy = self.control.api.allocate_text(text);
        // SAFETY: element 0 is ours to set, to memory that SQLite frees.
        unsafe { *self.control.argument.cast::<*mut c_char>() = copy };
    }
}

/// Asks which VFS this is.
pub struct VfsName<'a> {
    control: &'a RawControl,
}

impl VfsName<'_> {
    /// Puts `prefix/` before what the VFS below answered.
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
        // SAFETY: as above; what was there is freed below.
        unsafe { *place = copy };
        if !below.is_null() {
            // SAFETY: it was allocated by SQLite's allocator, as the file control demands.
            unsafe { (self.control.api.free)(below.cast()) };
        }
    }
}

/// The connection to which a file belongs, during one call.
pub struct Connection<'a> {
    api: &'a Api,
    database: *mut Database,
    vfs: *mut RawVfs,
}

impl Connection<'_> {
    /// Whether the connection opens its nameless files through this VFS.
    ///
    /// SQLite opens temporary files through the VFS of the *main* database (its pager says which).
    #[must_use]
    pub fn has_main_on_this_vfs(&self) -> bool {
        const VFS_POINTER: c_int = 27;
        let mut main: *mut RawVfs = std::ptr::null_mut();
        // SAFETY: the connection is alive (SQLite is calling us for it), and the control fills one pointer.
        let code =
            unsafe { (self.api.file_control)(self.database, c"main".as_ptr(), VFS_POINTER, (&raw mut main).cast()) };
        // While main itself is being opened there is no main to ask: the file is main.
        Code::check(code).is_err() || std::ptr::eq(main, self.vfs) || self.main_is_ours_below_a_shim()
    }

    fn main_is_ours_below_a_shim(&self) -> bool {
        let mut seen = false;
        super::function::visit_file(self.api, self.database, c"main", &mut |_| seen = true).is_ok() && seen
    }
}
