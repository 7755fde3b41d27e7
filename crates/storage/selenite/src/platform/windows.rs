//! Windows: compiles, and has never run. The VFS refuses to be installed there
//! (`selenite_vfs::ffi::check_support`), so no database is opened. What has an error of kind
//! `Unsupported` here is missing for a port.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::Attributes;

/// SQLite's names are UTF-8.
pub fn name_of(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// A name that is not Unicode is not recognised.
pub fn part_of_name(bytes: &[u8]) -> Option<&OsStr> {
    std::str::from_utf8(bytes).ok().map(OsStr::new)
}

pub fn identity(_path: &Path) -> io::Result<(u64, u64)> {
    Err(unsupported("identifying files"))
}

/// Unknown.
pub fn is_same_file(_held: &File, _path: &Path) -> bool {
    false
}

pub fn attributes(_path: &Path) -> io::Result<Attributes> {
    Err(unsupported("identifying files"))
}

pub fn set_owner_and_mode(_path: &Path, _wanted: &Attributes) -> io::Result<()> {
    Err(unsupported("setting the owner of a file"))
}

/// The names of what is not copied.
pub fn carry_over(_from: &Path, _to: &Path) -> Vec<String> {
    vec!["access control list".to_owned()]
}

pub fn create_private(_path: &Path) -> io::Result<()> {
    Err(unsupported("creating a file for its owner only"))
}

pub fn create_private_folder(_path: &Path) -> io::Result<()> {
    Err(unsupported("creating a folder for its owner only"))
}

pub fn lock_folder(_path: &Path) -> io::Result<File> {
    Err(unsupported("locking a folder"))
}

/// `FlushFileBuffers` needs a handle with the right to write; a folder is opened only with
/// `FILE_FLAG_BACKUP_SEMANTICS`.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    options.open(folder)?.sync_all()
}

/// A hard link does not replace an existing name.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// The link itself is opened, which is not a regular file: the caller refuses it.
pub fn open_without_link(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
}

/// The standard library does not return the number of links.
pub fn open_if_sole(_options: &mut OpenOptions, _path: &Path) -> io::Result<File> {
    Err(unsupported("counting the names of a file"))
}

pub fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(out, offset)
}

pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = file.seek_write(bytes, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[count..];
        offset = offset.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// There is no such list.
pub fn listed_locks() -> String {
    String::new()
}

/// There is no such number.
pub fn device_number(_major: u32, _minor: u32) -> Option<u64> {
    None
}

/// A folder that several users write to: not opened here yet.
pub enum SharedFolder {}

impl SharedFolder {
    pub fn open(_path: &Path) -> io::Result<Self> {
        Err(unsupported("opening a folder by a handle"))
    }

    pub fn make(path: &Path) -> io::Result<Self> {
        Self::open(path)
    }

    pub fn read(&self, _name: &str, _size_max: u64) -> io::Result<String> {
        match *self {}
    }

    pub fn replace(&self, _name: &str, _contents: &[u8]) -> io::Result<()> {
        match *self {}
    }
}

fn unsupported(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("{what} is not implemented on Windows yet"),
    )
}

/// CreateFileW
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// CreateFileW
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
