//! The pages of a database at one time, for copying.

use std::fmt;

use crate::PageSize;

/// The pages of a database after one transaction. They do not change during the lifetime of this value.
pub trait PageSource {
    /// The size of a page.
    fn page_size(&self) -> PageSize;

    /// The page count of the database.
    fn page_count(&self) -> u32;

    /// Reads the sealed images of consecutive pages, from `first` on, into `images`, whose size is
    /// a multiple of the page size. The image of the lock-byte page, which has no place, is zero.
    ///
    /// # Errors
    /// [`SourceError::Read`].
    ///
    /// # Panics
    /// If the size of `images` is not a multiple of the page size.
    fn read(&mut self, first: u32, images: &mut [u8]) -> Result<(), SourceError>;

    /// Opens an image from [`PageSource::read`] into `plain`, as SQLite has the page.
    ///
    /// # Errors
    /// [`SourceError::Unauthentic`] if only this page is affected; [`SourceError::Read`].
    fn open(&mut self, page_no: u32, image: &[u8], plain: &mut [u8]) -> Result<(), SourceError>;
}

/// Why a page is not available.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SourceError {
    /// The image is not authentic.
    Unauthentic {
        /// The number of the page.
        page_no: u32,
        /// The reason, and the file.
        what: String,
    },
    /// The page cannot be read, nor can others.
    Read {
        /// The reason.
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
