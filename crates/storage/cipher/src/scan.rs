//! The scan over all pages of a database.

use crate::PageNo;

/// The state of a database that is in use (FORMAT 3.1), as far as pages are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// No scan.
    Steady,
    /// From NONE to another suite; pages up to the cursor are converted.
    SwitchingOn {
        /// The last page known to be converted and synced; page 0 if none is.
        cursor: PageNo,
    },
    /// From another suite to NONE.
    SwitchingOff,
    /// From one key or suite to another, neither of them NONE.
    Changing,
    /// All pages are converted, but a log may still contain pages of the old epoch.
    Finishing,
}
