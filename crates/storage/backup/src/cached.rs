//! A destination with a cache of read objects in a folder, so that an interrupted restore can resume.
//!
//! - cache-is-not-trusted: cached objects are sealed, as they were read. They are trusted no more
//!   than the destination: an object that cannot be opened is fetched again
//!   ([`Destination::get_uncached`]).
//! - full-cache-is-no-error: a lack of space for the cache is no error.

use std::path::{Path, PathBuf};

use crate::destination::{Destination, Object, StoreError, Traffic};
use crate::folder::Folder;

/// A remote destination, and a local folder as its cache.
pub struct Cached<'a> {
    remote: &'a dyn Destination,
    cache: Folder,
    folder: PathBuf,
}

impl<'a> Cached<'a> {
    /// Caches objects read from `remote` in `folder`, which is created with the first object.
    #[must_use]
    pub fn new(remote: &'a dyn Destination, folder: &Path) -> Self {
        Self {
            remote,
            cache: Folder::new(folder),
            folder: folder.to_owned(),
        }
    }

    /// Removes the cache. Errors are ignored.
    pub fn forget(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Destination for Cached<'_> {
    fn check_place(&self) -> Result<(), StoreError> {
        self.remote.check_place()
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.remote.put_new(name, bytes)
    }

    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        match self.cache.get(name, size_max) {
            Ok(bytes) => Ok(bytes),
            Err(_) => self.get_uncached(name, size_max),
        }
    }

    fn get_uncached(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        let bytes = self.remote.get_uncached(name, size_max)?;
        // full-cache-is-no-error.
        let _ = self.cache.remove(name).and_then(|()| self.cache.put_new(name, &bytes));
        Ok(bytes)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError> {
        self.remote.list(prefix)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.remote.remove(name)
    }

    fn traffic(&self) -> Traffic {
        self.remote.traffic()
    }

    fn place(&self) -> String {
        self.remote.place()
    }
}
