//! What a log or journal makes of the database file.

use std::collections::HashMap;

/// Pages that are no longer, or not yet, those of the database file, and how many there are.
#[derive(Default)]
pub struct Overlay {
    pub pages: HashMap<u32, Vec<u8>>,
    pub page_count: Option<u32>,
}
