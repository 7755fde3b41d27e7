//! A folder that several users write to, any of whom may have put anything into it.
//!
//! - no-links: no link in it is followed, nor may it be a link itself: this process may be root,
//!   and the link of another user could lead anywhere. The folders above it in its path are the
//!   caller's choice.
//! - regular-files-only: only regular files are read, without blocking: a pipe would block.
//! - written-then-renamed: a file is written under an unused name, and renamed: that replaces the
//!   directory entry, and does not write to the file that it named.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

/// The open folder.
pub struct SharedFolder(OwnedFd);

impl SharedFolder {
    /// Opens it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Opens it, and creates it if it is missing.
    pub fn make(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).create(path)?;
        Self::open(path)
    }

    /// The text of a file: at most its first `size_max` bytes.
    pub fn read(&self, name: &str, size_max: u64) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.0, name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a file"));
        }
        let mut text = String::new();
        file.take(size_max).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Replaces or creates a whole file. A replaced file keeps its mode bits for reading and
    /// writing; a new one has the mode that the umask gives. Not synced: after a power failure it
    /// may be the old one, empty or missing.
    pub fn replace(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        let present = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
        let mode = present
            .ok()
            .filter(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
        let draft = draft_of(name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.0, &draft, flags, READ_WRITE)?);
        let mut write = || {
            if let Some(present) = mode {
                rustix::fs::fchmod(&file, Mode::from_raw_mode(present.st_mode) & READ_WRITE)?;
            }
            file.write_all(contents)?;
            Ok(rustix::fs::renameat(&self.0, &draft, &self.0, name)?)
        };
        let written: io::Result<()> = write();
        if written.is_err() {
            // The first error matters more than that the draft could not be removed.
            let _ = rustix::fs::unlinkat(&self.0, &draft, AtFlags::empty());
        }
        written
    }
}

fn draft_of(name: &str) -> String {
    let mut tail = [0; 4];
    selenite_keyring::os_random(&mut tail);
    format!(".{name}.selenite-tmp-{:08x}", u32::from_be_bytes(tail))
}

/// Read and write for all, subject to the umask.
const READ_WRITE: Mode = Mode::from_raw_mode(0o666);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_that_is_replaced_keeps_its_mode_and_a_link_is_replaced_itself() {
        let folder = tempfile::tempdir().unwrap();
        let shared = SharedFolder::open(folder.path()).unwrap();
        let file = folder.path().join("note");
        shared.replace("note", b"one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o4640)).unwrap();
        shared.replace("note", b"two").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o640);
        assert_eq!(shared.read("note", 3).unwrap(), "two");
        assert_eq!(shared.read("note", 2).unwrap(), "tw");
        let other = folder.path().join("other");
        fs::write(&other, "other").unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap();
        fs::remove_file(&file).unwrap();
        symlink(&other, &file).unwrap();
        assert!(shared.read("note", 100).is_err());
        shared.replace("note", b"three").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"other");
        assert!(fs::symlink_metadata(&file).unwrap().is_file());
    }

    #[test]
    fn a_failed_replace_leaves_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let shared = SharedFolder::open(folder.path()).unwrap();
        fs::create_dir_all(folder.path().join("note").join("full")).unwrap();
        assert!(shared.replace("note", b"one").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
