//! The file of tempdb, which has what all sessions see of it: global temporary objects.
//!
//! - `key-in-no-file`: it is encrypted from the first byte on, under an identity that is drawn when
//!   it is made and kept in memory alone: a file that a kill leaves can't be read by anyone.
//! - `made-at-first-use`: most servers never need it. It is removed when the server ends, and what a
//!   kill has left when the next one begins.

use std::path::{Path, PathBuf};

use selenite::storage::Disk;
use selenite::{Access, Database, EngineError, Expected, Layout};
use selenite_keyring::{HeldAge, OriginPolicy, keygen};
use zeroize::Zeroizing;

/// The file of tempdb, which is removed when this is dropped.
pub struct TemporaryDatabase {
    path: PathBuf,
    access: Access,
    /// `key-in-no-file`.
    _held: Option<HeldAge>,
}

impl TemporaryDatabase {
    /// Makes it in a data folder.
    ///
    /// # Errors
    /// Those of the file and of the VFS.
    pub fn create(folder: &Path, access: &Access) -> Result<Self, EngineError> {
        let path = folder.join(FILE);
        let key = keygen(selenite::now());
        let texts = key.text.lines().filter(|line| line.starts_with("AGE-SECRET-KEY-"));
        let texts: Vec<_> = texts.map(|text| Zeroizing::new(text.to_owned())).collect();
        // The FIPS module has no such key: there it is the server's identity that encrypts.
        let held = HeldAge::new(texts).ok();
        let new = Access {
            identity: held.as_ref().map(HeldAge::spec).or_else(|| access.identity.clone()),
            more: Vec::new(),
            expected: Expected::default(),
            origin: Some(OriginPolicy::Any),
            ..access.clone()
        };
        // The server has the folder for itself: what has this name is of a server that was killed.
        remove_left(folder);
        drop(Database::create(&Disk, &path, &new, &Layout::default())?);
        let expected = Expected {
            is_encrypted: true,
            ..Expected::default()
        };
        Ok(Self {
            path,
            access: Access { expected, ..new },
            _held: held,
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it is opened.
    pub fn access(&self) -> &Access {
        &self.access
    }
}

impl Drop for TemporaryDatabase {
    fn drop(&mut self) {
        if let Some(folder) = self.path.parent() {
            remove_left(folder);
        }
    }
}

/// Removes what a server has left in a data folder. What can't be removed is in the way of the next one alone.
pub fn remove_left(folder: &Path) {
    let path = folder.join(FILE);
    for companion in ["", "-wal", "-shm", "-journal", "-selenite", "-selenite-pause"] {
        let mut name = path.as_os_str().to_owned();
        name.push(companion);
        let _ = std::fs::remove_file(PathBuf::from(name));
    }
}

/// No database of a user's has this name: theirs end with `.db`.
const FILE: &str = "selenite-tempdb";
