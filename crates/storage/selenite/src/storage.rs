//! What is done to files other than through SQLite: made, synced, renamed, removed, read.
//!
//! A trait, so that a test can put a simulated disk below. Where SQLite's own files go, a VFS below ours decides.

mod claim;
mod disk;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

pub use disk::Disk;

/// Files by name. Every method fails as its namesake in `std::fs` does.
pub trait Storage: Send + Sync {
    /// The file's own name, without links.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf>;
    /// Size, owner and mode; follows links and opens nothing.
    fn attributes(&self, path: &Path) -> io::Result<Attributes>;
    /// The names in a folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;
    /// Makes a new, empty file that only its owner can use.
    fn create(&self, path: &Path) -> io::Result<()>;
    /// Gives a file owner and mode.
    fn set_owner_and_mode(&self, path: &Path, attributes: &Attributes) -> io::Result<()>;
    /// Has a file's contents on disk before it returns.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Has a folder's names on disk before it returns.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Renames a file, over another if there is one, in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames a file; `AlreadyExists` where there is another.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Opens a file for reading. The caller ensures that SQLite does not have it open (`raw_file.rs`,
    /// no-second-descriptor).
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>>;
    /// Opens a file for reading and writing that has no other name, and no link. As for [`Storage::open`].
    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn WriteAt>>;
    /// Makes or takes a file that one process holds at a time, and no link; `None` where another does.
    fn claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>>;
    /// What the one who holds that file has written in it; `None` where no process holds it. Makes and removes nothing.
    fn read_claim(&self, path: &Path) -> io::Result<Option<String>>;
}

/// A file that is held; it goes when this is dropped.
pub trait Claim: Send + Sync {
    /// Writes what others find in it.
    ///
    /// # Errors
    /// As the system has it.
    fn write(&self, text: &str) -> io::Result<()>;
}

/// What a file is, but for its contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attributes {
    /// Its size in bytes.
    pub size: u64,
    /// Its owner.
    pub user_id: u32,
    /// Its group.
    pub group_id: u32,
    /// Who may do what: the lower 12 bits.
    pub mode: u32,
    /// Its device and inode: two names with the same are names of one file.
    pub identity: (u64, u64),
    /// How many names it has.
    pub link_count: u64,
    /// Whether it is a file, and no folder or device.
    pub is_file: bool,
}

/// An open file.
pub trait ReadAt: Send + Sync {
    /// Reads at an offset; fewer bytes than asked for only at the end.
    ///
    /// # Errors
    /// As the system has it.
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize>;

    /// How long it is now.
    ///
    /// # Errors
    /// As the system has it.
    fn size(&self) -> io::Result<u64>;
}

/// An open file that can be written.
pub trait WriteAt: ReadAt {
    /// Writes all of it at an offset.
    ///
    /// # Errors
    /// As the system has it.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Cuts it, or makes it longer by zeros.
    ///
    /// # Errors
    /// As the system has it.
    fn set_size(&self, size: u64) -> io::Result<()>;

    /// Has what was written on disk before it returns.
    ///
    /// # Errors
    /// As the system has it.
    fn sync(&self) -> io::Result<()>;
}
