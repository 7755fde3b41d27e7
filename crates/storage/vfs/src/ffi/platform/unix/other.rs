//! POSIX systems other than Linux, such as macOS: has never run.

use std::ffi::{CStr, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

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

/// Locking memory when it is first used is Linux's own.
///
/// # Errors
/// `Unsupported`.
pub fn lock_memory() -> io::Result<()> {
    Err(unsupported("locking memory"))
}

/// Not needed: [`lock_memory`] refuses.
///
/// # Errors
/// None.
pub fn locked_memory_limit() -> io::Result<Option<u64>> {
    Ok(None)
}

/// There is no proc(5).
#[must_use]
pub fn process_status() -> String {
    String::new()
}

/// There is no such advice.
pub fn forget_cached(_descriptor: i32) {}

/// Unknown: descriptors are not examined here yet.
pub fn descriptors(_path: &Path) -> impl Iterator<Item = i32> {
    std::iter::empty()
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

/// Never made: memory cannot be excluded from core dumps and from children by one call each.
pub(in crate::ffi) enum Mapping {}

impl Mapping {
    pub(in crate::ffi) fn new(_size: usize) -> Option<Self> {
        None
    }

    pub(in crate::ffi) fn start(&self) -> NonNull<u8> {
        match *self {}
    }
}

/// None: the handler of [`super::on_fork`] and the process id remain.
pub(in crate::ffi) fn map_fork_words() -> Option<(&'static [AtomicU64; 64], bool)> {
    None
}

fn unsupported(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("{what} is not implemented on this system yet"),
    )
}

/// 256 bytes: the limit of getentropy(2).
const ENTROPY_SIZE_MAX: usize = 256;
