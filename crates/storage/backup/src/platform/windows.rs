//! Windows: compiles, and has never run.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// An open folder. The handle does not share the right to delete: while it is open, neither the
/// folder nor one above it is renamed or removed, so that the path stays that of this folder.
pub(crate) struct OpenFolder {
    path: PathBuf,
    handle: File,
}

impl OpenFolder {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            handle: open_folder(path)?,
        })
    }

    /// `NotFound` unless a regular file has that name; a link is none.
    pub(crate) fn check_file(&self, name: &str) -> io::Result<()> {
        if !fs::symlink_metadata(self.path.join(name))?.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(())
    }

    /// Access is what the folder grants. The content is encrypted.
    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        File::create_new(self.path.join(name))
    }

    /// Gives a file a second name, which must not exist.
    pub(crate) fn link(&self, from: &str, to: &str) -> io::Result<()> {
        fs::hard_link(self.path.join(from), self.path.join(to))
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.handle.sync_all()
    }
}

/// Access is what the folder above grants. The content is encrypted.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)
}

/// Unknown: the standard library does not return the volume. A drive that is gone has no folder,
/// which is detected; a volume that was mounted in a folder is not.
pub(crate) fn is_mount_point(folder: &Path) -> io::Result<bool> {
    fs::metadata(folder).map(|_| false)
}

/// `FlushFileBuffers` needs a handle with the right to write; a folder is opened only with
/// `FILE_FLAG_BACKUP_SEMANTICS`.
fn open_folder(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
    options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// CreateFileW
const FILE_SHARE_READ: u32 = 1;
/// CreateFileW
const FILE_SHARE_WRITE: u32 = 2;
/// CreateFileW
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
