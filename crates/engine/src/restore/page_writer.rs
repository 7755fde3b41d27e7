//! Seals pages as they come, and writes those that lie side by side at once.

use std::path::Path;

use selenite_cipher::PageNo;
use selenite_page::PageCipher;
use selenite_vfs::error::VfsError;
use selenite_vfs::session::Nonces;
use selenite_vfs::view::View;

use crate::EngineError;
use crate::error::io_error;
use crate::storage::WriteAt;

/// Writes a new file's pages.
pub struct PageWriter<'a> {
    target: (&'a dyn WriteAt, &'a Path),
    view: &'a View,
    sealing: PageCipher,
    nonces: Nonces,
    /// Sealed, and not yet written.
    images: Vec<u8>,
    /// Where the first of them goes.
    place: u64,
}

impl<'a> PageWriter<'a> {
    /// Writes pages of `view` to `target`.
    pub fn new(target: (&'a dyn WriteAt, &'a Path), view: &'a View) -> Result<Self, EngineError> {
        let nonces = Nonces::new().map_err(|code| EngineError::of_vfs(&VfsError::Lower(code), target.1))?;
        Ok(Self {
            target,
            view,
            sealing: PageCipher::new(view.page_keys.clone()),
            nonces,
            images: Vec::with_capacity(RUN_SIZE + view.page_bytes()),
            place: 0,
        })
    }

    /// Seals a page, of its size and with a place, and writes it by and by. Answers whether a run of them was written.
    ///
    /// # Errors
    /// [`EngineError::Refused`] for a page that no database has; [`EngineError::Io`].
    pub fn add(&mut self, page_no: u32, plain: &[u8]) -> Result<bool, EngineError> {
        let page = PageNo(page_no);
        let Some(place) = self.view.geometry.place(page) else {
            return Err(refused(page_no, "it has no place in a database"));
        };
        let next = self
            .place
            .saturating_add(u64::try_from(self.images.len()).unwrap_or(u64::MAX));
        let is_run = !self.images.is_empty() && place.0 == next && self.images.len() < RUN_SIZE;
        let is_written = !is_run && !self.images.is_empty();
        if !is_run {
            self.flush()?;
            self.place = place.0;
            self.nonces.renew();
        }
        let drawn = self.nonces.draw(self.view.page_keys.sealing_suite());
        let nonce = drawn.map_err(|code| EngineError::of_vfs(&VfsError::Lower(code), self.target.1))?;
        let start = self.images.len();
        self.images.resize(start + self.view.page_bytes(), 0);
        let sealed = self.sealing.seal(page, nonce, plain, &mut self.images[start..]);
        sealed.map_err(|error| refused(page_no, &error.to_string()))?;
        Ok(is_written)
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn flush(&mut self) -> Result<(), EngineError> {
        let (file, path) = self.target;
        let written = file.write_at(&self.images, self.place);
        written.map_err(io_error("write", path))?;
        self.images.clear();
        Ok(())
    }
}

fn refused(page_no: u32, what: &str) -> EngineError {
    EngineError::Refused {
        what: format!("page {page_no} of the backup: {what}"),
        pages: Vec::new(),
    }
}

/// 1 MiB: large enough that a call costs nothing beside what it moves.
const RUN_SIZE: usize = 1 << 20;
