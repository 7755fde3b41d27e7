//! The layout of a new database.

use selenite_cipher::Suite;
use selenite_format::{AutoVacuum, PageSize};

/// Properties that cannot be changed later without a copy, and the suite.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The suite that its pages are encrypted with.
    pub suite: Suite,
    /// The size of its pages.
    pub page_size: PageSize,
    /// How free pages are released.
    pub auto_vacuum: AutoVacuum,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            suite: Suite::DEFAULT,
            page_size: PageSize::DEFAULT,
            auto_vacuum: AutoVacuum::None,
        }
    }
}

/// The value in the URI.
pub(crate) fn auto_vacuum_word(auto_vacuum: AutoVacuum) -> &'static str {
    match auto_vacuum {
        AutoVacuum::None => "none",
        AutoVacuum::Full => "full",
        AutoVacuum::Incremental => "incremental",
    }
}
