//! A file that says who is at work on a database: held by one process at a time, and let go with it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::Claim;

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
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            // The one before may have removed the file between the two calls.
            let is_same = fs::metadata(path).is_ok_and(|named| {
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

impl DiskClaim {
    /// Whether somebody has it. For a moment this has a lock itself, which is in nobody's way who asks the same.
    ///
    /// # Errors
    /// As the system has it.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(error.into()),
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
        assert!(DiskClaim::is_held(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        drop(first);
        assert!(!path.exists() && !DiskClaim::is_held(&path).unwrap());
        fs::write(&path, "left by a kill").unwrap();
        assert!(!DiskClaim::is_held(&path).unwrap());
        assert!(DiskClaim::take(&path).unwrap().is_some());
    }
}
