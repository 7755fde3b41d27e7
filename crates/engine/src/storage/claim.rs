//! A file that says who is at work on a database: held by one process at a time, and let go with it.
//!
//! C1. It is written only where it is a file of this one name: who may make a link beside a database decides nothing about
//!     what the link leads to.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::Claim;
use super::disk::open_sole;

/// A claim on this machine's disk, by flock(2): a process that ends has none. The file goes when it is dropped.
pub struct DiskClaim {
    file: File,
    path: PathBuf,
}

impl DiskClaim {
    /// Takes it; `None` where another holds it.
    ///
    /// # Errors
    /// As the system has it.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let file = open_sole(&mut options, path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            // The one before may have removed the file between the two calls.
            let is_same = fs::symlink_metadata(path).is_ok_and(|named| {
                file.metadata()
                    .is_ok_and(|held| (held.dev(), held.ino()) == (named.dev(), named.ino()))
            });
            if is_same {
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
        self.file.write_all_at(text.as_bytes(), 0)?;
        self.file.set_len(u64::try_from(text.len()).unwrap_or(0))
    }
}

impl Drop for DiskClaim {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_and_it_goes_with_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.db-selenite");
        let first = DiskClaim::take(&path).unwrap().unwrap();
        first.write("first, and long").unwrap();
        first.write("first").unwrap();
        assert!(DiskClaim::take(&path).unwrap().is_none());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        drop(first);
        assert!(!path.exists());
        assert!(DiskClaim::take(&path).unwrap().is_some());
    }
    /// C1.
    #[test]
    fn a_link_and_a_pipe_are_no_claim() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("app.db-selenite"), folder.path().join("other"));
        fs::write(&other, "other").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(DiskClaim::take(&path).is_err());
        fs::remove_file(&path).unwrap();
        fs::hard_link(&other, &path).unwrap();
        assert!(DiskClaim::take(&path).is_err());
        fs::remove_file(&path).unwrap();
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
        assert!(DiskClaim::take(&path).is_err());
        assert_eq!(fs::read(&other).unwrap(), b"other");
    }
}
