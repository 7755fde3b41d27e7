//! The pages of a database at one moment, for who copies them.

use std::fmt;

use crate::PageSize;

/// The pages of a database as one transaction left them. They do not change while this is held.
pub trait PageSource {
    /// Of every page.
    fn page_size(&self) -> PageSize;

    /// How many pages the database has.
    fn page_count(&self) -> u32;

    /// Reads the sealed images of pages that lie side by side, from `first` on, into `images`, which has room for
    /// whole pages. That of the lock-byte page, which has no place, is zeros.
    ///
    /// # Errors
    /// [`SourceError::Read`].
    ///
    /// # Panics
    /// If `images` has no room for whole pages.
    fn read(&mut self, first: u32, images: &mut [u8]) -> Result<(), SourceError>;

    /// Opens an image that [`PageSource::read`] gave into `plain`, as SQLite has the page.
    ///
    /// # Errors
    /// [`SourceError::Unauthentic`] for this page alone; [`SourceError::Read`].
    fn open(&mut self, page_no: u32, image: &[u8], plain: &mut [u8]) -> Result<(), SourceError>;
}

/// Why a page is not to be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SourceError {
    /// It is not what was written there.
    Unauthentic {
        /// The page.
        page_no: u32,
        /// Why, and of which file.
        what: String,
    },
    /// It can't be read, nor can others.
    Read {
        /// Why.
        what: String,
    },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unauthentic { what, .. } | Self::Read { what } => f.write_str(what),
        }
    }
}

impl std::error::Error for SourceError {}
