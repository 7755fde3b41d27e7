//! Databases and keys of one check, gone afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use selenite_worker::protocol::DatabaseSpec;
use tempfile::TempDir;

use crate::Fault;

/// A folder for databases, with two keys in it.
pub struct Folder(TempDir);

impl Folder {
    /// An empty one.
    pub fn new() -> Result<Self, Fault> {
        let folder = Self(tempfile::tempdir()?);
        fs::write(folder.path("key"), (0_u8..32).collect::<Vec<_>>())?;
        fs::write(folder.path("other-key"), (1_u8..33).collect::<Vec<_>>())?;
        Ok(folder)
    }

    /// Where a file of this name lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// How a database of this name and cipher is opened.
    pub fn spec(&self, name: &str, cipher: &str) -> DatabaseSpec {
        DatabaseSpec {
            path: self.path(name),
            cipher: cipher.to_owned(),
            key_file: self.path("key"),
            settings: BTreeMap::new(),
            page_size: 4096,
            cache_kib: 2048,
            journal_mode: "wal".to_owned(),
            synchronous: "normal".to_owned(),
        }
    }
}
