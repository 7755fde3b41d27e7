//! Windows: compiles, and has never run. The VFS refuses to be installed there
//! (`selenite_vfs::ffi::check_support`), so no database is opened. What has an error of kind
//! `Unsupported` here is missing for a port.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use selenite_keyring::platform::unsupported;

use super::Attributes;

/// SQLite's names are UTF-8.
pub fn name_of(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
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

pub fn create_private_folder(_path: &Path) -> io::Result<()> {
    Err(unsupported("creating a folder for its owner only"))
}

pub fn lock_folder(_path: &Path) -> io::Result<File> {
    Err(unsupported("locking a folder"))
}

/// The standard library does not return the number of links.
pub fn open_if_sole(_options: &mut OpenOptions, _path: &Path) -> io::Result<File> {
    Err(unsupported("counting the names of a file"))
}

/// There is no such list.
pub fn listed_locks() -> String {
    String::new()
}

/// Not known.
pub fn processes() -> io::Result<Vec<u32>> {
    Err(unsupported("listing processes"))
}

/// Not known.
pub fn open_descriptions(_pid: u32, _file: (u64, u64)) -> io::Result<Vec<String>> {
    Err(unsupported("listing the open files of a process"))
}

/// Not known.
pub fn process_name(_pid: u32) -> Option<String> {
    None
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
