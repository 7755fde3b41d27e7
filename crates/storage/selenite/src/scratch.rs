//! A temporary folder, which is removed with its content.
//!
//! - owned-by-flock: it is new, accessible to its owner only, and locked with flock(2) while it is
//!   in use. The lock of a process that was killed is gone: the next process that creates a folder
//!   in the same place removes that folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use selenite_keyring::os_random;

use crate::EngineError;
use crate::error::io_error;
use crate::platform;

/// A folder. It is removed when this is dropped.
pub struct Scratch {
    path: PathBuf,
    _held: File,
}

impl Scratch {
    /// Creates one in `place`, and removes those that killed processes left there. Returns their
    /// paths, too.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn create(place: &Path) -> Result<(Self, Vec<PathBuf>), EngineError> {
        let removed = remove_left(place);
        let mut tries = 0;
        loop {
            let mut random = [0; 8];
            os_random(&mut random);
            let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
            let path = place.join(format!("{PREFIX}{digits}"));
            platform::create_private_folder(&path).map_err(io_error("create", &path))?;
            tries += 1;
            match platform::lock_folder(&path) {
                Ok(held) if platform::is_same_file(&held, &path) => {
                    return Ok((Self { path, _held: held }, removed));
                }
                // Another process took the folder for a left one before it was locked.
                Ok(_) => {}
                Err(error) if tries < TRIES_MAX && is_taken(&error) => {}
                Err(error) => return Err(io_error("lock", &path)(error)),
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it.
    ///
    /// # Errors
    /// [`EngineError::Io`]: part of it remains.
    pub fn remove(self) -> Result<(), EngineError> {
        fs::remove_dir_all(&self.path).map_err(io_error("remove", &self.path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If that fails, the next run removes it.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// `owned-by-flock`: folders that are in use or can't be removed are left.
fn remove_left(place: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place) else {
        return Vec::new();
    };
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.strip_prefix(PREFIX).is_some_and(|digits| digits.len() == 16))
    };
    let left = entries.flatten().map(|entry| entry.path()).filter(is_ours);
    left.filter(|path| platform::lock_folder(path).is_ok_and(|_held| fs::remove_dir_all(path).is_ok()))
        .collect()
}

fn is_taken(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotFound, WouldBlock};
    matches!(error.kind(), NotFound | WouldBlock)
}

const PREFIX: &str = "selenite-drill-";
/// 100: each needs another process that creates a folder just then.
const TRIES_MAX: u32 = 100;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_scratch_folder_is_private_and_removed_with_its_content() {
        let place = tempfile::tempdir().unwrap();
        let (scratch, removed) = Scratch::create(place.path()).unwrap();
        assert!(removed.is_empty(), "{removed:?}");
        assert_eq!(
            fs::metadata(scratch.path()).unwrap().permissions().mode() & 0o777,
            0o700
        );
        fs::create_dir(scratch.path().join("a")).unwrap();
        fs::write(scratch.path().join("a/b"), "c").unwrap();
        drop(scratch);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    /// Another process may take a folder for one of a killed process before it is locked.
    #[test]
    fn folders_that_are_created_at_the_same_time_stay() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let (scratch, _) = Scratch::create(place.path()).unwrap();
                        fs::write(scratch.path().join("a"), "b").unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_of_a_killed_process_is_removed_and_one_in_use_stays() {
        let place = tempfile::tempdir().unwrap();
        let (used, _) = Scratch::create(place.path()).unwrap();
        let left = place.path().join("selenite-drill-0123456789abcdef");
        fs::create_dir_all(left.join("x")).unwrap();
        let other = place.path().join("selenite-drill-mine");
        fs::create_dir(&other).unwrap();
        let (_scratch, removed) = Scratch::create(place.path()).unwrap();
        assert_eq!(removed, std::slice::from_ref(&left));
        assert!(!left.exists() && used.path().exists() && other.exists());
    }
}
