//! POSIX, and Linux where it has more.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

use std::ffi::{CStr, OsStr};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

#[cfg(not(target_os = "linux"))]
use self::other as kernel;
#[cfg(target_os = "linux")]
use linux as kernel;

pub(in crate::ffi) use kernel::{Mapping, SharedAlias, fill_random, map_fork_words};
pub use kernel::{
    descriptors, descriptors_of, forget_cached, is_elevated, lock_byte_of_description, lock_memory,
    locked_memory_limit, make_private_file, open_regular_file, process_status,
};

/// Whether the VFS may be installed on this system.
///
/// # Errors
/// A message for the user.
pub fn check_support() -> Result<(), String> {
    Ok(())
}

/// The path that SQLite means by a name.
#[must_use]
pub fn path_of_name(name: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(name.to_bytes()))
}

/// Device and inode of the file at a path. The file is not opened: closing it would release
/// SQLite's locks.
#[must_use]
pub fn file_identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Opens a file; if that creates it, only its owner has access.
///
/// # Errors
/// Those of the system.
pub fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.mode(0o600).open(path)
}

/// The size of a page of memory in bytes: 4096 on x86-64; also 16384 or 65536 on ARM.
#[must_use]
pub fn system_page_size() -> usize {
    // SAFETY: the call reads a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).expect("every system has a page size (POSIX.1)")
}

/// Calls `handler` in every child of fork(2), before it continues (pthread_atfork(3)). The handler
/// does only what is safe between fork and exec.
pub(in crate::ffi) fn on_fork(handler: extern "C" fn()) {
    // SAFETY: the caller's duty.
    let _ = unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}

/// Calls `handler` when the process exits (atexit(3)). The handler uses no thread's local storage.
pub(in crate::ffi) fn on_exit(handler: extern "C" fn()) {
    // SAFETY: the handler is a function of this library, which SQLite never unloads
    // (SQLITE_OK_LOAD_PERMANENTLY). Without memory for it, nothing is called.
    let _ = unsafe { libc::atexit(handler) };
}
