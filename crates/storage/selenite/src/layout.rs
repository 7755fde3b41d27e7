//! How a new database is laid out.

use selenite_cipher::Suite;
use selenite_format::{AutoVacuum, PageSize};

/// What can't be changed later without a copy, and the suite.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// What its pages are sealed in.
    pub suite: Suite,
    /// The size of its pages.
    pub page_size: PageSize,
    /// How it gives up free pages.
    pub auto_vacuum: AutoVacuum,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            suite: Suite::Aes256,
            page_size: PageSize::DEFAULT,
            auto_vacuum: AutoVacuum::None,
        }
    }
}

/// As the URI has it.
pub(crate) fn auto_vacuum_word(auto_vacuum: AutoVacuum) -> &'static str {
    match auto_vacuum {
        AutoVacuum::None => "none",
        AutoVacuum::Full => "full",
        AutoVacuum::Incremental => "incremental",
    }
}
