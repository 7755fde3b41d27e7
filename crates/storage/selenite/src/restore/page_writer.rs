//! Seals pages one by one, and writes contiguous ones in one call.

use std::path::Path;

use selenite_cipher::{PageCipher, PageNo};
use selenite_vfs::error::VfsError;
use selenite_vfs::session::Nonces;
use selenite_vfs::view::View;

use crate::{EngineError, error::io_error, storage::WriteAt};

/// Writes the pages of a new file.
pub struct PageWriter<'a> {
    target: (&'a dyn WriteAt, &'a Path),
    view: &'a View,
    sealing: PageCipher,
    nonces: Nonces,
    /// Sealed pages that are not yet written.
    images: Vec<u8>,
    /// The offset of the first of them.
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

    /// Seals a page, which must have the page size and a place, and buffers it. Returns whether a
    /// run was written.
    ///
    /// # Errors
    /// [`EngineError::Refused`] for a page that no database can have; [`EngineError::Io`].
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

    /// Writes the buffered pages.
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

/// 1 MiB: the cost of a call is then negligible beside that of its data.
const RUN_SIZE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use selenite_cipher::Suite;
    use selenite_format::PageSize;
    use selenite_keyring::{RawIdentity, Recipient, create, os_random};

    use super::*;

    /// FORMAT 2.3: the displaced page, the one that SQLite never uses, and the pages around them.
    #[test]
    fn pages_around_the_lock_bytes_are_written_to_their_places() {
        let recipients: Vec<Box<dyn Recipient>> =
            vec![Box::new(RawIdentity::new(selenite_cipher::Secret::new([1; 32])))];
        let folder = tempfile::tempdir().unwrap();
        for page_size in [1024, 4096, 65536] {
            let page_size = PageSize::try_from(page_size).unwrap();
            let unlocked = create(page_size, Suite::Aes256, &recipients, 0, &mut os_random).unwrap();
            let view = View::new(unlocked, false, false).unwrap();
            let path = folder.path().join(page_size.as_u32().to_string());
            let mut options = std::fs::OpenOptions::new();
            let file = options.read(true).write(true).create_new(true).open(&path).unwrap();
            let (displaced, lock) = (view.geometry.displaced_page().0, view.geometry.lock_page().0);
            let pages: Vec<u32> = (displaced - 3..=lock + 3).filter(|&page_no| page_no != lock).collect();
            let plain_of = |page_no: u32| {
                let mut plain = vec![0; page_size.bytes()];
                plain[..4].copy_from_slice(&page_no.to_be_bytes());
                plain
            };
            let mut writer = PageWriter::new((&file, &path), &view).unwrap();
            // In the order of a backup: the last pages first, in runs.
            for run in pages.chunks(10).rev() {
                for &page_no in run {
                    writer.add(page_no, &plain_of(page_no)).unwrap();
                }
            }
            assert!(writer.add(lock, &plain_of(lock)).is_err());
            writer.flush().unwrap();
            let mut cipher = PageCipher::new(view.page_keys.clone());
            for page_no in pages {
                let place = view.geometry.place(PageNo(page_no)).unwrap().0;
                let (mut image, mut plain) = (vec![0; page_size.bytes()], vec![0; page_size.bytes()]);
                crate::storage::ReadAt::read_at(&file, &mut image, place).unwrap();
                cipher.open(PageNo(page_no), &image, &mut plain).unwrap();
                assert_eq!(plain, plain_of(page_no));
            }
            let mut locks = [1; 510];
            crate::storage::ReadAt::read_at(&file, &mut locks, 1 << 30).unwrap();
            assert_eq!(locks, [0; 510]);
        }
    }

    #[test]
    fn a_page_that_no_database_has_is_refused() {
        let recipients: Vec<Box<dyn Recipient>> =
            vec![Box::new(RawIdentity::new(selenite_cipher::Secret::new([1; 32])))];
        let unlocked = create(PageSize::DEFAULT, Suite::Aes256, &recipients, 0, &mut os_random).unwrap();
        let view = View::new(unlocked, false, false).unwrap();
        let file = tempfile::tempfile().unwrap();
        let mut writer = PageWriter::new((&file, Path::new("new.db")), &view).unwrap();
        // Page 1 without SQLite's header, and a page with bytes where its trailer goes.
        for page_no in [1, 2] {
            let refused = writer.add(page_no, &vec![7; view.page_bytes()]).unwrap_err();
            assert!(matches!(refused, EngineError::Refused { .. }), "{refused}");
        }
    }
}
