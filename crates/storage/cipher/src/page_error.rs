//! Why a page was not sealed or not opened.

use std::fmt;

use crate::{Epoch, Unauthentic};

/// Why a page was not sealed or not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageError {
    /// The file: wrong key, wrong place, altered bytes, or in clear where that is not allowed.
    Unauthentic,
    /// The file, or our view of it: the page is of an epoch that is not listed. The caller re-reads
    /// the superblock and tries again (FORMAT 3.8).
    UnknownEpoch {
        /// The epoch that the page says.
        epoch: Epoch,
        /// Whether that is above the highest that was ever used.
        above_highest: bool,
    },
    /// The caller: the suite is deprecated, and was not asked for by name.
    DeprecatedSuite,
    /// The caller: page size, reserved bytes or settings are not those of an encrypted database.
    SettingsMismatch,
}

impl fmt::Display for PageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::Unauthentic => Unauthentic.fmt(formatter),
            PageError::UnknownEpoch {
                epoch,
                above_highest: true,
            } => write!(
                formatter,
                "key epoch {epoch} is newer than the database's own record of its keys"
            ),
            PageError::UnknownEpoch {
                epoch,
                above_highest: false,
            } => write!(formatter, "key epoch {epoch} is no longer in use"),
            PageError::DeprecatedSuite => formatter.write_str("deprecated suite, refused unless allowed explicitly"),
            PageError::SettingsMismatch => {
                formatter.write_str("page size or reserved bytes are not those of this encrypted database")
            }
        }
    }
}

impl std::error::Error for PageError {}

impl From<Unauthentic> for PageError {
    fn from(Unauthentic: Unauthentic) -> Self {
        PageError::Unauthentic
    }
}
