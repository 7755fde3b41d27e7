//! What one generation of the superblock says, ready for use by a database's files.

use std::sync::Arc;

use selenite_cipher::LogKey;
use selenite_format::Geometry;
use selenite_keyring::Unlocked;
use selenite_page::PageKeys;

/// Keys and geometry of a database, immutable: a change of keys makes a new one.
pub struct View {
    /// The superblock with its master key.
    pub unlocked: Unlocked,
    /// The keys of its pages.
    pub page_keys: Arc<PageKeys>,
    /// The key of its logs.
    pub log_key: LogKey,
    /// Where its pages lie.
    pub geometry: Geometry,
}

impl View {
    /// The page size as a count of bytes.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.geometry.page_size().bytes()
    }
}
