//! One run at a time on a store: a lock on a file beside it, which the system releases when the process ends.
//!
//! The store itself is not locked: closing a second descriptor of it would release SQLite's locks.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::error::StoreError;

/// Held until drop.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock.
    ///
    /// Errors: `Running` if another process has it; `Io`.
    pub(super) fn take(store: &Path) -> Result<Lock, StoreError> {
        let mut name = store.as_os_str().to_owned();
        name.push("-lock");
        let path = PathBuf::from(name);
        for _ in 0..TRIES {
            let opened = File::options().create(true).truncate(false).write(true).open(&path);
            let file = opened.map_err(|error| StoreError::io(&path, error))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Err(StoreError::Running(store.to_owned())),
                Err(error) => return Err(StoreError::io(&path, error.into())),
            }
            // The previous holder may have removed the file after it was opened here, and before it was locked.
            let here = file.metadata().map_err(|error| StoreError::io(&path, error))?;
            if fs::metadata(&path).is_ok_and(|there| there.ino() == here.ino() && there.dev() == here.dev()) {
                return Ok(Lock { file, path });
            }
        }
        Err(StoreError::Running(store.to_owned()))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while the lock is held; a process that waits for it detects that the file is gone.
        let _ = fs::remove_file(&self.path);
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// An attempt fails only if another run ended at that moment.
const TRIES: u32 = 8;
