//! File operations outside of SQLite: create, sync, rename, remove, read.
//!
//! A trait, so that a test can use a simulated disk. SQLite's own files go through a VFS instead.

mod claim;
mod disk;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

pub use disk::Disk;

pub use crate::platform::Attributes;

/// File operations by path. Every method has the errors of its counterpart in `std::fs`.
pub trait Storage: Send + Sync {
    /// The path with links resolved.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf>;
    /// Size, owner and mode; follows links, and does not open the file.
    fn attributes(&self, path: &Path) -> io::Result<Attributes>;
    /// The file names in a folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;
    /// Creates a new, empty file that only its owner can use.
    fn create(&self, path: &Path) -> io::Result<()>;
    /// Sets owner and mode of a file.
    fn set_owner_and_mode(&self, path: &Path, attributes: &Attributes) -> io::Result<()>;
    /// Syncs a file's content.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Syncs a folder.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Renames a file, atomically, and replaces an existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames a file; `AlreadyExists` if the name exists.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Opens a file for reading. The caller ensures that SQLite does not have it open (`raw_file.rs`,
    /// no-second-descriptor).
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>>;
    /// Opens a file for reading and writing that is regular and has one link. As for
    /// [`Storage::open`].
    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn WriteAt>>;
    /// Creates or takes a file that one process has locked at a time; not through a link. `None`
    /// if another process has it.
    fn claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>>;
    /// The content of that file; `None` if no process has it locked. Creates and removes nothing.
    fn read_claim(&self, path: &Path) -> io::Result<Option<String>>;
}

/// A locked file, which is removed when this is dropped.
pub trait Claim: Send + Sync {
    /// Replaces its content.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn write(&self, text: &str) -> io::Result<()>;
}

/// An open file.
pub trait ReadAt: Send + Sync {
    /// Reads at an offset; fewer bytes than requested only at the end.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Its present size.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn size(&self) -> io::Result<u64>;
}

/// An open file that can be written.
pub trait WriteAt: ReadAt {
    /// Writes all of it at an offset.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Truncates it, or extends it with zeros.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn set_size(&self, size: u64) -> io::Result<()>;

    /// Syncs what was written.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn sync(&self) -> io::Result<()>;
}
