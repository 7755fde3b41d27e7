//! What was committed in a log behind a place, where no read mark kept it: which pages that wrote.
//!
//! One who followed up to a place in a log, and then held no mark for a moment, finds the log
//! longer, or restarted, with all of the old one copied. Its frames lie in the file still, up to
//! where the new log has come. They say which pages were written, and no more: what these hold, the
//! transaction itself sees. So a frame that no one committed names a page too many, and does no
//! harm.
//!
//! - no-third-log: there was no third log in between: `walRestartHdr` raises the first salt by one
//!   each time.
//! - frames-chained: the frames behind the place follow each other: each has the old log's salts,
//!   and SQLite's checksum of it and all before. The first of other salts lies behind all that was
//!   committed in the old log, by place-intact.
//! - place-intact: the frame before the place is there when all others were read. A process that writes a
//!   new log comes by there first, and who cuts the file before the place cuts it there.
//! - truncated-file: the end of the file ends no log that was restarted: `walLimitSize` may have
//!   cut it there.

use selenite_format::archive::LogEnd;
use selenite_format::wal;
use zeroize::Zeroizing;

use super::snapshot::Snapshot;
use crate::error::VfsError;
use crate::ffi::Code;

/// The pages that were written since a place.
pub struct Rest {
    /// Ascending, none above the page count of the transaction.
    pages: Vec<u32>,
}

impl Snapshot<'_> {
    /// Looks for the pages that were written behind `from`, in this log or in the one before and
    /// this. Nothing where that can't be told.
    ///
    /// # Errors
    /// As the VFS below has it.
    pub fn rest_behind(&mut self, from: LogEnd) -> Result<Option<Rest>, VfsError> {
        match self.find_rest(from) {
            // The log was cut.
            Err(VfsError::Lower(Code::IOERR_SHORT_READ)) => Ok(None),
            found => found,
        }
    }

    fn find_rest(&mut self, from: LogEnd) -> Result<Option<Rest>, VfsError> {
        let Some(now) = self.end else { return Ok(None) };
        let (old, new) = (from.position, now.position);
        if old.frames == 0 {
            return Ok(None);
        }
        let mut pages = Vec::new();
        let is_told = if old.salts == new.salts {
            self.chain_behind(from, Some(now), &mut pages)?
        } else {
            // no-third-log.
            first_salt(new.salts) == first_salt(old.salts).wrapping_add(1)
                && self.chain_behind(from, None, &mut pages)?
                && self.frames_of(now, &mut pages)?
        };
        if !is_told || !self.is_there(from)? {
            return Ok(None);
        }
        pages.sort_unstable();
        pages.dedup();
        let page_count = self.page_count();
        pages.retain(|page_no| *page_no <= page_count);
        Ok(Some(Rest { pages }))
    }

    /// frames-chained, up to `to`, or to where the log ends. Answers whether it came there.
    fn chain_behind(&mut self, from: LogEnd, to: Option<LogEnd>, pages: &mut Vec<u32>) -> Result<bool, VfsError> {
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
            // truncated-file.
            let Some(header) = log.file.header_at(u64::from(next), &view)? else {
                return Ok(false);
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
            // A transaction that was rolled back may have left it; or it is damaged.
            if header.checksum() != checksum {
                return Ok(false);
            }
            pages.push(header.page_no.0);
        }
        Ok(false)
    }

    /// The pages in the log that the transaction sees, or would see if they were not in the file.
    /// Answers whether they are all there.
    fn frames_of(&mut self, now: LogEnd, pages: &mut Vec<u32>) -> Result<bool, VfsError> {
        let view = self.view()?;
        let Some(log) = &mut self.log else { return Ok(false) };
        for frame in 0..now.position.frames {
            let header = log.file.header_at(u64::from(frame), &view)?;
            let Some(header) = header.filter(|header| header.salts() == now.position.salts) else {
                return Ok(false);
            };
            pages.push(header.page_no.0);
        }
        Ok(true)
    }

    /// Enforces `place-intact`.
    fn is_there(&mut self, place: LogEnd) -> Result<bool, VfsError> {
        let view = self.view()?;
        let (Some(log), Some(last)) = (&mut self.log, place.position.frames.checked_sub(1)) else {
            return Ok(false);
        };
        let header = log.file.header_at(u64::from(last), &view)?;
        Ok(header
            .is_some_and(|header| (header.salts(), header.checksum_bytes()) == (place.position.salts, place.checksum)))
    }

    /// These pages as the transaction sees them, sealed as they are, and as SQLite has them.
    ///
    /// # Errors
    /// What `each` answers; as [`Snapshot::open`]; as the VFS below has it.
    pub fn rest_pages<E: From<VfsError>>(
        &mut self,
        rest: &Rest,
        mut each: impl FnMut(u32, &[u8], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let view = self.view()?;
        let mut image = vec![0; view.page_bytes()];
        let mut plain = Zeroizing::new(vec![0; view.page_bytes()]);
        for &page_no in &rest.pages {
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
