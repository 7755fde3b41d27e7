//! A file that records which process works on a database: locked by one process at a time, and
//! released when it ends.
//!
//! - one-name-only: it is written only if it is a regular file with one link: otherwise a user who
//!   can create a link beside a database could have another file overwritten.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use selenite_keyring::platform::write_all_at;

use super::Claim;
use crate::platform;

/// A claim on this machine's disk, by flock(2): it ends with its process. The file is removed when
/// this is dropped.
pub struct DiskClaim {
    file: File,
    path: PathBuf,
}

impl DiskClaim {
    /// Takes it; `None` if another process has it.
    ///
    /// # Errors
    /// The errors of the operating system.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = platform::open_if_sole(&mut options, path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // The previous holder may have removed the file between the two calls.
            if platform::is_same_file(&file, path) {
                return Ok(Some(Self {
                    file,
                    path: path.to_owned(),
                }));
            }
        }
    }
}

impl Claim for DiskClaim {
    fn write(&self, text: &str) -> io::Result<()> {
        // In one write, over all of the former content: empty lines have no meaning, and a process
        // that reads meanwhile sees no rest of it.
        let before = usize::try_from(self.file.metadata()?.len()).unwrap_or(0);
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(bytes.len().max(before), b'\n');
        write_all_at(&self.file, &bytes, 0)
    }
}

impl Drop for DiskClaim {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use selenite_vfs::operation_file::read;

    use super::*;

    #[test]
    fn a_claim_has_one_holder_and_is_removed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.db-selenite");
        let first = DiskClaim::take(&path).unwrap().unwrap();
        first.write("first, and long").unwrap();
        first.write("first").unwrap();
        assert!(DiskClaim::take(&path).unwrap().is_none());
        assert_eq!(read(&path).unwrap().unwrap().trim_ascii(), b"first");
        assert_eq!(fs::read_to_string(&path).unwrap().trim_end(), "first");
        drop(first);
        assert!(!path.exists() && read(&path).unwrap().is_none());
        fs::write(&path, "left by a kill").unwrap();
        assert!(read(&path).unwrap().is_none());
        assert!(DiskClaim::take(&path).unwrap().is_some());
    }

    /// Checks `one-name-only`.
    #[test]
    fn a_claim_is_never_a_link_or_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("app.db-selenite"), folder.path().join("other"));
        fs::write(&other, "other").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(DiskClaim::take(&path).is_err() && read(&path).is_err());
        fs::remove_file(&path).unwrap();
        fs::hard_link(&other, &path).unwrap();
        assert!(DiskClaim::take(&path).is_err());
        fs::remove_file(&path).unwrap();
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
        assert!(DiskClaim::take(&path).is_err() && read(&path).is_err());
        assert_eq!(fs::read(&other).unwrap(), b"other");
    }
}
