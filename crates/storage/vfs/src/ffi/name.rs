//! A file name as SQLite passes it to `xOpen`: followed by URI parameters.

use std::ffi::{CStr, OsString, c_char};
use std::marker::PhantomData;
use std::path::Path;

use super::Api;
use super::platform::path_of_name;

/// `sqlite3_filename`: valid until the file opened with it is closed.
pub struct Name<'a> {
    pointer: *const c_char,
    api: Api,
    life: PhantomData<&'a CStr>,
}

/// A name that its file keeps, and so never longer than it is valid (names-outlive-files).
pub struct KeptName(Name<'static>);

// SAFETY: SQLite passes a file with its name from thread to thread, and changes neither meanwhile.
unsafe impl Send for KeptName {}

impl KeptName {
    /// The name.
    #[must_use]
    pub fn get(&self) -> &Name<'_> {
        &self.0
    }
}

impl<'a> Name<'a> {
    /// Wraps the pointer that SQLite passed to `xOpen`; `None` for a file without a name.
    pub(super) fn from_raw(pointer: *const c_char, api: Api) -> Option<Self> {
        (!pointer.is_null()).then_some(Self {
            pointer,
            api,
            life: PhantomData,
        })
    }

    pub(super) fn same(&self) -> Self {
        Self {
            pointer: self.pointer,
            api: self.api,
            life: PhantomData,
        }
    }

    /// The name for as long as the file that is opened with it: to open that file again.
    #[must_use]
    pub fn keep(&self) -> KeptName {
        KeptName(Name {
            pointer: self.pointer,
            api: self.api,
            life: PhantomData,
        })
    }

    pub(super) fn as_ptr(&self) -> *const c_char {
        self.pointer
    }

    /// Distinguishes names of one connection from equal names of another: SQLite has one string per
    /// pager.
    #[must_use]
    pub fn address(&self) -> usize {
        self.pointer.addr()
    }

    /// The name itself, without parameters.
    #[must_use]
    pub fn text(&self) -> &'a CStr {
        // SAFETY: SQLite's names end with a zero byte and are valid as long as the file
        // (names-outlive-files).
        unsafe { CStr::from_ptr(self.pointer) }
    }

    /// The name as a path.
    #[must_use]
    pub fn path(&self) -> &'a Path {
        path_of_name(self.text())
    }

    /// A parameter of the URI with which the database was opened.
    #[must_use]
    pub fn parameter(&self, key: &CStr) -> Option<String> {
        Some(self.bytes_of(key)?.to_string_lossy().into_owned())
    }

    /// A parameter whose value may be a path.
    #[must_use]
    pub fn path_parameter(&self, key: &CStr) -> Option<OsString> {
        Some(path_of_name(self.bytes_of(key)?).as_os_str().to_owned())
    }

    fn bytes_of(&self, key: &CStr) -> Option<&CStr> {
        // SAFETY: the name came from SQLite's own xOpen (sqlite.org/c3ref/uri_boolean.html); the key ends with zero.
        let value = unsafe { (self.api.uri_parameter)(self.pointer, key.as_ptr()) };
        if value.is_null() {
            return None;
        }
        // SAFETY: a parameter ends with a zero byte and is valid as long as the name.
        Some(unsafe { CStr::from_ptr(value) })
    }

    /// The names of all parameters of that URI.
    #[must_use]
    pub fn parameter_names(&self) -> Vec<String> {
        let name = |index| {
            // SAFETY: the name came from SQLite's own xOpen (sqlite.org/c3ref/uri_boolean.html).
            let key = unsafe { (self.api.uri_key)(self.pointer, index) };
            // SAFETY: it is null after the last one, or ends with a zero byte and is valid as long
            // as the name.
            (!key.is_null()).then(|| unsafe { CStr::from_ptr(key) }.to_string_lossy().into_owned())
        };
        (0..).map_while(name).collect()
    }

    /// For the name of a journal or WAL: the name of its database.
    #[must_use]
    pub fn database(&self) -> Name<'a> {
        self.api.database_name(self)
    }

    /// For the name of a database: the name of its WAL, valid as long.
    #[must_use]
    pub fn log(&self) -> Option<Name<'a>> {
        self.api.log_name(self)
    }
}
