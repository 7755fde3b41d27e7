//! An identity for the databases of one test, in a folder that is removed with it.

use std::path::PathBuf;

use tempfile::TempDir;

/// An identity in a file.
pub struct KeyFile {
    folder: TempDir,
    kind: &'static str,
}

impl KeyFile {
    /// A raw key of 32 equal bytes.
    #[must_use]
    pub fn new(byte: u8) -> Self {
        Self::holding("raw", &[byte; 32])
    }

    /// A file with an identity of the given kind: `raw`, `age`, `passphrase`.
    ///
    /// # Panics
    /// If the file cannot be written.
    #[must_use]
    pub fn holding(kind: &'static str, contents: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("tests have a folder for temporary files");
        let file = Self { folder, kind };
        std::fs::write(file.path(), contents).expect("a new folder can be written");
        file
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("key")
    }

    /// The identity in the form of a URI parameter.
    #[must_use]
    pub fn spec(&self) -> String {
        format!("{}:{}", self.kind, self.path().display())
    }
}
