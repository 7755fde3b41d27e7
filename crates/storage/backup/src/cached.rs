//! A destination of which what was read is kept in a folder, so that what was cut off goes on with it.
//!
//! - cache-is-not-trusted: what is kept is sealed, as it came. It is believed no more than the
//!   destination: where it does not open, it is fetched again ([`Destination::get_anew`]).
//! - full-cache-is-no-error: that there is no room to keep it is no error.

use std::path::{Path, PathBuf};

use crate::destination::{Destination, Object, StoreError, Traffic};
use crate::folder::Folder;

/// A destination, and a folder nearer than it.
pub struct Cached<'a> {
    far: &'a dyn Destination,
    near: Folder,
    folder: PathBuf,
}

impl<'a> Cached<'a> {
    /// Keeps what is read from `far` in `folder`, which is made when there is something to keep.
    #[must_use]
    pub fn new(far: &'a dyn Destination, folder: &Path) -> Self {
        Self {
            far,
            near: Folder::new(folder),
            folder: folder.to_owned(),
        }
    }

    /// Removes what was kept, as far as it can be.
    pub fn forget(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Destination for Cached<'_> {
    fn check_place(&self) -> Result<(), StoreError> {
        self.far.check_place()
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.far.put_new(name, bytes)
    }

    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        match self.near.get(name, size_max) {
            Ok(bytes) => Ok(bytes),
            Err(_) => self.get_anew(name, size_max),
        }
    }

    fn get_anew(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        let bytes = self.far.get_anew(name, size_max)?;
        // full-cache-is-no-error.
        let _ = self.near.remove(name).and_then(|()| self.near.put_new(name, &bytes));
        Ok(bytes)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError> {
        self.far.list(prefix)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.far.remove(name)
    }

    fn traffic(&self) -> Traffic {
        self.far.traffic()
    }

    fn place(&self) -> String {
        self.far.place()
    }
}
