//! Finds the pages written by commits after a position in a log, if no read mark protected the log
//! meanwhile.
//!
//! A reader that followed a log up to a position, and then held no mark for a moment, finds the log
//! longer, or restarted after all of the old one was copied. The old log's frames are still in the
//! file, after the end of the new log. They show only which pages were written; the pages' content
//! is read in the transaction. So a frame that was never committed adds a page number
//! unnecessarily, which is harmless.
//!
//! - no-third-log: there was no third log in between: `walRestartHdr` increments the first salt
//!   each time.
//! - frames-chained: the frames after the position are a chain: each has the old log's salts, and
//!   SQLite's checksum of it and all frames before. The first frame with other salts is after all
//!   frames committed in the old log, by place-intact.
//! - place-intact: the frame before the position is still there after all others were read. A
//!   process that writes a new log overwrites that frame first, and one that truncates the file
//!   before the position removes it.
//! - whole-frames: a log that had become longer than any before ends where the file ends. If
//!   `walLimitSize` truncates what is left of an older log, this VFS leaves a byte more than a
//!   whole frame (FORMAT 6.6): such an end shows nothing.

use selenite_format::archive::LogEnd;
use selenite_format::wal;
use zeroize::Zeroizing;

use super::anchor_check::Sealed;
use super::snapshot::Snapshot;
use crate::error::VfsError;
use crate::ffi::Code;

/// The pages that were written since a position.
pub struct PagesSince {
    /// Ascending, none above the page count of the transaction.
    pages: Vec<u32>,
    /// Every frame, in the order of the log.
    frames: Vec<(u32, Sealed)>,
}

impl PagesSince {
    /// Every frame with its page, in the order of the log: also those that others followed. One that was never committed
    /// may be among them.
    #[must_use]
    pub fn frames(&self) -> &[(u32, Sealed)] {
        &self.frames
    }
}

impl Snapshot<'_> {
    /// Finds the pages that were written after `from`, in this log or in the previous one and this.
    /// `None` if they cannot be determined.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn pages_since(&mut self, from: LogEnd) -> Result<Option<PagesSince>, VfsError> {
        match self.find_pages_since(from) {
            // The log was truncated.
            Err(VfsError::Lower(Code::IOERR_SHORT_READ)) => Ok(None),
            found => found,
        }
    }

    fn find_pages_since(&mut self, from: LogEnd) -> Result<Option<PagesSince>, VfsError> {
        let Some(now) = self.end else { return Ok(None) };
        let (old, new) = (from.position, now.position);
        let mut frames = Vec::new();
        let is_told = if old.frames == 0 {
            // Nothing was in the log, and it was not restarted.
            old.salts == new.salts && self.frames_of(now, &mut frames)?
        } else if old.salts == new.salts {
            self.chain_behind(from, Some(now), &mut frames)?
        } else {
            // no-third-log.
            first_salt(new.salts) == first_salt(old.salts).wrapping_add(1)
                && self.chain_behind(from, None, &mut frames)?
                && self.frames_of(now, &mut frames)?
        };
        if !is_told || old.frames > 0 && !self.frame_is_intact(from)? {
            return Ok(None);
        }
        let mut pages: Vec<u32> = frames.iter().map(|(page_no, _)| *page_no).collect();
        pages.sort_unstable();
        pages.dedup();
        let page_count = self.page_count();
        pages.retain(|page_no| *page_no <= page_count);
        Ok(Some(PagesSince { pages, frames }))
    }

    /// Follows frames-chained up to `to`, or to the end of the log. Returns whether it reached it.
    fn chain_behind(
        &mut self,
        from: LogEnd,
        to: Option<LogEnd>,
        frames: &mut Vec<(u32, Sealed)>,
    ) -> Result<bool, VfsError> {
        let view = self.view()?;
        let mut image = vec![0; view.page_bytes()];
        let mut plain = Zeroizing::new(vec![0; view.page_bytes()]);
        let Some(log) = &mut self.log else { return Ok(false) };
        let order = log.file.word_order()?;
        let mut checksum = words(from.checksum);
        for next in from.position.frames..=u32::MAX {
            if let Some(to) = to.filter(|to| to.position.frames <= next) {
                return Ok(to.position.frames == next && words(to.checksum) == checksum);
            }
            let Some(log) = &mut self.log else { return Ok(false) };
            let Some(header) = log.file.header_at(u64::from(next), &view)? else {
                // whole-frames.
                return Ok(to.is_none() && log.file.ends_after(next, &view)?);
            };
            if header.salts() != from.position.salts {
                return Ok(to.is_none());
            }
            log.file.committed_image(u64::from(next), &mut image, &view)?;
            if self.open(header.page_no.0, &image, &mut plain).is_err() {
                return Ok(false);
            }
            checksum = wal::checksum(order, checksum, &header.encode()[..8]);
            checksum = wal::checksum(order, checksum, &plain);
            // A transaction that was rolled back may have left the frame; or it is damaged.
            if header.checksum() != checksum {
                return Ok(false);
            }
            frames.push((header.page_no.0, Sealed::of(&image)));
        }
        Ok(false)
    }

    /// Every frame of the present log, in its order, as far as they are there: on mark 0 it may be restarted meanwhile.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn frames(&mut self) -> Result<Vec<(u32, Sealed)>, VfsError> {
        let mut frames = Vec::new();
        let Some(now) = self.end else { return Ok(frames) };
        match self.frames_of(now, &mut frames) {
            Err(VfsError::Lower(Code::IOERR_SHORT_READ) | VfsError::Unauthentic { .. }) => {}
            read => drop(read?),
        }
        Ok(frames)
    }

    /// The frames of the log that the transaction reads, or would read if their pages were not in the file.
    /// Returns whether all frames are there.
    pub(super) fn frames_of(&mut self, now: LogEnd, frames: &mut Vec<(u32, Sealed)>) -> Result<bool, VfsError> {
        let view = self.view()?;
        let mut image = vec![0; view.page_bytes()];
        let mut plain = Zeroizing::new(vec![0; view.page_bytes()]);
        for frame in 0..now.position.frames {
            let Some(log) = &mut self.log else { return Ok(false) };
            let header = log.file.header_at(u64::from(frame), &view)?;
            let Some(header) = header.filter(|header| header.salts() == now.position.salts) else {
                return Ok(false);
            };
            log.file.committed_image(u64::from(frame), &mut image, &view)?;
            self.open(header.page_no.0, &image, &mut plain)?;
            frames.push((header.page_no.0, Sealed::of(&image)));
        }
        Ok(true)
    }

    /// Enforces `place-intact`.
    fn frame_is_intact(&mut self, place: LogEnd) -> Result<bool, VfsError> {
        let view = self.view()?;
        let (Some(log), Some(last)) = (&mut self.log, place.position.frames.checked_sub(1)) else {
            return Ok(false);
        };
        let header = log.file.header_at(u64::from(last), &view)?;
        Ok(header
            .is_some_and(|header| (header.salts(), header.checksum_bytes()) == (place.position.salts, place.checksum)))
    }

    /// Passes these pages to `each` as the transaction sees them, sealed and opened.
    ///
    /// # Errors
    /// Those of `each`, of [`Snapshot::open`] and of the VFS below.
    pub fn read_pages_since<E: From<VfsError>>(
        &mut self,
        since: &PagesSince,
        mut each: impl FnMut(u32, &[u8], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let view = self.view()?;
        let mut image = vec![0; view.page_bytes()];
        let mut plain = Zeroizing::new(vec![0; view.page_bytes()]);
        for &page_no in &since.pages {
            self.read(page_no, &mut image)?;
            self.open(page_no, &image, &mut plain)?;
            each(page_no, &image, &plain)?;
        }
        Ok(())
    }
}

fn first_salt([a, b, c, d, ..]: [u8; 8]) -> u32 {
    u32::from_be_bytes([a, b, c, d])
}

fn words(bytes: [u8; 8]) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = bytes;
    [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])]
}
