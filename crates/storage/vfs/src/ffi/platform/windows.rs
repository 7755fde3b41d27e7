//! Windows: compiles, and has never run. [`check_support`] refuses to install the VFS until files
//! are identified here.

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

pub(in crate::ffi) use super::absent::{Mapping, SharedAlias, map_fork_words};
pub use super::absent::{
    descriptors, descriptors_of, forget_cached, lock_byte_of_description, lock_memory, locked_memory_limit,
    process_status,
};

/// # Errors
/// Always: [`file_identity`] is missing.
pub fn check_support() -> Result<(), String> {
    Err("Selenite does not run on Windows yet (docs/PLATFORMS.md)".to_owned())
}

/// SQLite's names are UTF-8. Another one is replaced by a name that no file has: `|` is not
/// permitted in it.
#[must_use]
pub fn path_of_name(name: &CStr) -> &Path {
    Path::new(name.to_str().unwrap_or("|"))
}

/// Unknown: the standard library does not return the volume and the file's index.
#[must_use]
pub fn file_identity(_path: &Path) -> Option<(u64, u64)> {
    None
}

/// Access is what the folder grants: the mode has no counterpart here.
///
/// # Errors
/// Those of the system.
pub fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// The allocator's memory is used, which needs no alignment to pages.
#[must_use]
pub fn system_page_size() -> usize {
    4096
}

/// Nothing is done at exit here yet: a trace loses what a killed process loses.
pub(in crate::ffi) fn on_exit(_handler: extern "C" fn()) {}

/// There is no fork.
pub(in crate::ffi) fn on_fork(_handler: extern "C" fn()) {}

pub(in crate::ffi) fn fill_random(out: &mut [u8]) -> io::Result<()> {
    selenite_keyring::os_random(out);
    Ok(())
}

/// No: a program cannot be installed so that it has rights that the user who starts it lacks.
#[must_use]
pub fn is_elevated() -> bool {
    false
}

/// As [`open_private`]. Locks belong to a handle here: closing another releases none.
///
/// # Errors
/// `AlreadyExists`; those of the system.
pub fn make_private_file(path: &CStr) -> io::Result<()> {
    File::create_new(path_of_name(path)).map(drop)
}

/// A file with several names is not refused: opening and closing it releases no locks here.
///
/// # Errors
/// Those of the system, and if it is something else.
pub fn open_regular_file(name: &Path, size_max: u64) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    let file = match options.open(name) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let attributes = file.metadata()?;
    if !attributes.is_file() || attributes.len() > size_max {
        return Err(io::Error::other("what has its name is no report"));
    }
    Ok(Some(file))
}

/// CreateFileW
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
