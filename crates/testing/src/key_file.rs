//! A key for the databases of one test, in a folder that goes with it.

use std::path::PathBuf;

use tempfile::TempDir;

/// A raw key in a file.
pub struct KeyFile {
    folder: TempDir,
}

impl KeyFile {
    /// A key of 32 equal bytes.
    ///
    /// # Panics
    /// If there is nowhere to write it.
    #[must_use]
    pub fn new(byte: u8) -> Self {
        let folder = tempfile::tempdir().expect("tests have a folder for temporary files");
        let file = Self { folder };
        std::fs::write(file.path(), [byte; 32]).expect("a new folder can be written");
        file
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("raw.key")
    }

    /// As a URI names it.
    #[must_use]
    pub fn spec(&self) -> String {
        format!("raw:{}", self.path().display())
    }
}
