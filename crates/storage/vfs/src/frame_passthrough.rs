//! Copies a page from the log into the database, in a checkpoint, without sealing it again.
//!
//! SQLite reads a frame's page from the WAL and writes the same bytes to the database. The sealed
//! image is valid in both files (FORMAT 5.5), so it need not be sealed a second time.
//!
//! - identical-image-only: an image is passed through only if the page number is the same, its
//!   epoch is the current one, and SQLite writes, byte by byte, the plaintext that was just opened
//!   from it: everything else is sealed. Whether a checkpoint is running decides only whether the
//!   image is remembered, never whether passing it through is correct.
//! - opened-first: the image was opened before it is passed through: a frame that is not authentic
//!   still ends the checkpoint with an error, and never replaces an older, valid page.
//! - used-once: an image is passed through once. The plaintext that it is compared with is wiped
//!   when the checkpoint ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use selenite_cipher::{Epoch, PageNo, TRAILER_SIZE, Trailer};
use zeroize::Zeroizing;

/// The page that was last read from the log, while a checkpoint is running.
#[derive(Default)]
pub struct FramePassthrough {
    is_open: AtomicBool,
    page: Mutex<Option<Box<Page>>>,
}

#[derive(Default)]
struct Page {
    /// The page that may be passed through, once.
    page_no: Option<PageNo>,
    /// The number of bytes of the frame before the image.
    skipped: usize,
    frame: Vec<u8>,
    plain: Zeroizing<Vec<u8>>,
}

impl FramePassthrough {
    /// Called when a checkpoint begins to copy.
    pub fn open(&self) {
        self.is_open.store(true, Ordering::Release);
    }

    /// Called when a checkpoint ends.
    pub fn close(&self) {
        if self.is_open.swap(false, Ordering::AcqRel) {
            *self.lock() = None;
        }
    }

    /// Remembers a page that was opened: `frame` contains its image after `skipped` bytes, and is
    /// exchanged for a used buffer.
    pub fn remember(&self, page_no: PageNo, frame: &mut Vec<u8>, skipped: usize, plain: &[u8]) {
        if !self.is_open.load(Ordering::Acquire) {
            return;
        }
        let mut held = self.lock();
        let page = held.get_or_insert_default();
        page.page_no = Some(page_no);
        page.skipped = skipped;
        std::mem::swap(&mut page.frame, frame);
        page.plain.resize(plain.len(), 0);
        page.plain.copy_from_slice(plain);
    }

    /// Passes the image of that page to `store`, if it is of that epoch and `plain` is the
    /// plaintext opened from it.
    pub fn pass<T>(&self, page_no: PageNo, epoch: Epoch, plain: &[u8], store: impl FnOnce(&[u8]) -> T) -> Option<T> {
        if !self.is_open.load(Ordering::Acquire) {
            return None;
        }
        let mut held = self.lock();
        let page = held.as_mut()?;
        let known = page.page_no.take();
        let image = page.frame.get(page.skipped..)?;
        let trailer: &[u8; TRAILER_SIZE] = image.last_chunk()?;
        let passes = known == Some(page_no)
            && image.len() == plain.len()
            && Trailer::parse(trailer).epoch == epoch
            && page.plain.as_slice() == plain;
        passes.then(|| store(image))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Page>>> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 1024;

    /// A frame of an epoch, with 24 bytes before its image.
    fn frame(epoch: u8, content: u8) -> Vec<u8> {
        let mut frame = vec![content; 24 + SIZE];
        let trailer = 24 + SIZE - TRAILER_SIZE;
        frame[trailer..trailer + 4].copy_from_slice(&[0, 0, 0, epoch]);
        frame
    }

    fn pass(passthrough: &FramePassthrough, page_no: u32, epoch: u32, plain: &[u8]) -> Option<Vec<u8>> {
        passthrough.pass(PageNo(page_no), Epoch(epoch), plain, <[u8]>::to_vec)
    }

    #[test]
    fn an_image_passes_once_in_a_checkpoint() {
        let passthrough = FramePassthrough::default();
        let plain = [7; SIZE];
        passthrough.remember(PageNo(3), &mut frame(1, 9), 24, &plain);
        assert_eq!(pass(&passthrough, 3, 1, &plain), None, "before the checkpoint");
        passthrough.open();
        passthrough.remember(PageNo(3), &mut frame(1, 9), 24, &plain);
        assert_eq!(pass(&passthrough, 3, 1, &plain).as_deref(), Some(&frame(1, 9)[24..]));
        assert_eq!(pass(&passthrough, 3, 1, &plain), None, "a second time");
        passthrough.remember(PageNo(3), &mut frame(1, 9), 24, &plain);
        passthrough.close();
        passthrough.open();
        assert_eq!(pass(&passthrough, 3, 1, &plain), None, "in the next checkpoint");
    }

    #[test]
    fn nothing_passes_that_is_not_the_same() {
        let plain = [7; SIZE];
        for place in [0, 500, SIZE - 1] {
            let passthrough = FramePassthrough::default();
            passthrough.open();
            passthrough.remember(PageNo(3), &mut frame(1, 9), 24, &plain);
            let mut other = plain;
            other[place] ^= 1;
            assert_eq!(pass(&passthrough, 3, 1, &other), None, "byte {place}");
        }
        for (page_no, epoch, size) in [(4, 1, SIZE), (3, 2, SIZE), (3, 1, SIZE - 1), (0, 1, SIZE)] {
            let passthrough = FramePassthrough::default();
            passthrough.open();
            passthrough.remember(PageNo(3), &mut frame(1, 9), 24, &plain);
            assert_eq!(pass(&passthrough, page_no, epoch, &plain[..size]), None);
        }
    }
}
