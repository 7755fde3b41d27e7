//! The changes that a log or journal makes to the database file.

use std::collections::HashMap;

/// Pages that differ from those of the database file, and the page count.
#[derive(Default)]
pub struct Overlay {
    pub pages: HashMap<u32, Vec<u8>>,
    pub page_count: Option<u32>,
}
