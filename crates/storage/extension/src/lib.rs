//! `libselenite.so`: the extension's entry point, and `selenite_backup()`.
#![expect(unsafe_code, reason = "the entry point is called by C")]

use std::ffi::{c_char, c_int};

use selenite_vfs::ffi::{Database, Installer, RawApi, entry_point};

mod backup;

/// SQLite calls this when it loads the extension: the name is derived from the file's
/// (sqlite.org/loadext.html).
///
/// # Safety
/// The arguments are those that SQLite passes to an entry point.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_selenite_init(
    database: *mut Database,
    error: *mut *mut c_char,
    routines: *const RawApi,
) -> c_int {
    let installer = Installer {
        own_functions: backup::FUNCTIONS,
        ..selenite_vfs::extension_installer()
    };
    // SAFETY: the caller's promise.
    unsafe { entry_point(installer, database, error, routines) }
}
