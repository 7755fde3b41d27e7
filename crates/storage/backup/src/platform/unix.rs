//! POSIX.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, linkat, openat, statat, unlinkat};
use rustix::io::Errno;

/// An open folder: its files are reached through its descriptor, whatever its path refers to
/// meanwhile.
pub(crate) struct OpenFolder(File);

impl OpenFolder {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// `NotFound` unless a regular file has that name; a link is none.
    pub(crate) fn check_file(&self, name: &str) -> io::Result<()> {
        let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if !FileType::from_raw_mode(found.st_mode).is_file() {
            return Err(Errno::NOENT.into());
        }
        Ok(())
    }

    /// Creates a file that only its owner can use.
    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    /// Gives a file a second name, which must not exist.
    pub(crate) fn link(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Makes the names in it durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}

/// Creates a folder that only its owner can use.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

/// Whether a folder is on another disk than the one above it, as mountpoint(1) determines it.
pub(crate) fn is_mount_point(folder: &Path) -> io::Result<bool> {
    let (own, above) = (fs::metadata(folder)?, fs::metadata(folder.join(".."))?);
    Ok(own.dev() != above.dev())
}
