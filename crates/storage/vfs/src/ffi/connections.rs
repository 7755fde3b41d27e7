//! Records on which VFS each connection's main database is, and so where its nameless files are
//! opened: recorded by the connection's own thread when it is opened, and kept until it is closed.
//!
//! SQLite opens temporary files through the VFS of the *main* database. SQLITE_FCNTL_PDB names a
//! connection, but in shared-cache mode that is the connection that last used the cache, on any
//! thread, and perhaps closed since: its address may be compared, but no function may be called
//! with it.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use super::sqlite::{Database, RawVfs};
use super::{Api, Code};

/// The VFS of a connection's main database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MainVfs {
    /// A VFS that seals its nameless files.
    Sealing,
    /// Another VFS.
    Other,
}

/// By the connection's address, from the end of its opening until it is closed.
static MAINS: Mutex<BTreeMap<usize, MainVfs>> = Mutex::new(BTreeMap::new());

/// Records the VFS of a connection's main database. The caller is the thread that uses the
/// connection, and holds no mutex of SQLite except the connection's own.
pub(super) fn note(api: &Api, database: *mut Database) {
    let place = main_vfs_of(api, database);
    let mut mains = MAINS.lock().unwrap_or_else(PoisonError::into_inner);
    mains.insert(database.addr(), place);
}

/// Removes a connection that is being closed.
pub(super) fn forget(address: usize) {
    let mut mains = MAINS.lock().unwrap_or_else(PoisonError::into_inner);
    mains.remove(&address);
}

/// The VFS of the main database of the connection at an address; `None` for a connection that is
/// still being opened, or was opened before this library was loaded.
pub(super) fn known(address: usize) -> Option<MainVfs> {
    let mains = MAINS.lock().unwrap_or_else(PoisonError::into_inner);
    mains.get(&address).copied()
}

/// Determines the VFS of a connection that the calling thread uses.
pub(super) fn main_vfs_of(api: &Api, database: *mut Database) -> MainVfs {
    const VFS_POINTER: c_int = 27;
    let mut main: *mut RawVfs = std::ptr::null_mut();
    // SAFETY: the caller's thread uses the connection, and the control fills one pointer.
    let code = unsafe { (api.file_control)(database, c"main".as_ptr(), VFS_POINTER, (&raw mut main).cast()) };
    // While main itself is being opened, SQLite may not know it yet: then this file is main.
    let is_sealing = Code::check(code).is_err() || super::vfs::is_sealing(main) || is_below_a_shim(api, database);
    if is_sealing { MainVfs::Sealing } else { MainVfs::Other }
}

fn is_below_a_shim(api: &Api, database: *mut Database) -> bool {
    let mut seen = false;
    super::function::visit_file(api, database, c"main", &mut |_| seen = true).is_ok() && seen
}
