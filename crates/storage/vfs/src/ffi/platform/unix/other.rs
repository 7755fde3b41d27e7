//! POSIX systems other than Linux, such as macOS: has never run.

use std::ffi::{CStr, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use selenite_keyring::platform::unsupported;

pub(in crate::ffi) use super::super::absent::{Mapping, SharedAlias, map_fork_words};
pub use super::super::absent::{
    descriptors, descriptors_of, forget_cached, lock_byte_of_description, lock_memory, locked_memory_limit,
    process_status,
};

/// Fills `out` from the system's generator (getentropy(2)).
pub(in crate::ffi) fn fill_random(out: &mut [u8]) -> io::Result<()> {
    for piece in out.chunks_mut(ENTROPY_SIZE_MAX) {
        // SAFETY: `piece` has room for that many bytes.
        if unsafe { libc::getentropy(piece.as_mut_ptr().cast(), piece.len()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// As on Linux (issetugid(2)).
#[must_use]
pub fn is_elevated() -> bool {
    // SAFETY: the call only reads the kernel's data for this process.
    unsafe { libc::issetugid() != 0 }
}

/// As on Linux, but with a descriptor: mknod(2) needs root here. If another copy of SQLite in this
/// process opens the file before the descriptor is closed, it loses its locks.
///
/// # Errors
/// `AlreadyExists`; errors of open(2).
pub fn make_private_file(path: &CStr) -> io::Result<()> {
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map(drop)
}

/// `Ok(None)` if there is no file; every other is refused: without `O_PATH` it cannot be examined
/// without opening it.
///
/// # Errors
/// `Unsupported`; those of the system.
pub fn open_regular_file(name: &Path, _size_max: u64) -> io::Result<Option<File>> {
    match fs::symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(_) => Err(unsupported("reading the report of an operation")),
    }
}

/// 256 bytes: the limit of getentropy(2).
const ENTROPY_SIZE_MAX: usize = 256;
