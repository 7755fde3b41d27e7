//! The source of facts about the machine.

use std::fs;
use std::path::PathBuf;

/// A root with `proc` and `sys`: the machine's, or one for tests.
#[derive(Clone, Debug)]
pub struct Source {
    root: PathBuf,
}

impl Default for Source {
    fn default() -> Self {
        Self::at("/")
    }
}

impl Source {
    /// Reads below `root`.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// A file's text, trimmed; none if the file does not exist or is empty.
    #[must_use]
    pub fn read(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.root.join(path)).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Whether a file or folder exists.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The names in a folder, sorted; empty if the folder does not exist.
    #[must_use]
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}
