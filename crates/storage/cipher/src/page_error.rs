//! The errors of sealing and opening pages.

use std::fmt;

use crate::{Epoch, Suite, Unauthentic};

/// Why a page could not be sealed or opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageError {
    /// The file: wrong key, wrong position, altered bytes, or plaintext where that is not allowed.
    Unauthentic,
    /// The file, or our view of it: the epoch of the page is not listed. The caller rereads the
    /// superblock and retries (FORMAT 3.8).
    UnknownEpoch {
        /// The epoch in the page's trailer.
        epoch: Epoch,
        /// Whether the epoch is above the highest ever used.
        above_highest: bool,
    },
    /// The caller: the suite is deprecated, and was not requested by name.
    DeprecatedSuite,
    /// The build: the FIPS build does not do this in this suite.
    NotApproved(Suite),
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
            PageError::NotApproved(suite) => write!(formatter, "{suite} is not approved in the FIPS build"),
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
