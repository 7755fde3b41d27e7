//! What was committed in a log behind a place, read where no read mark kept it.
//!
//! One who followed up to a place in a log, and then held no mark for a moment, finds the log longer, or begun anew, with all of the
//! old one copied. Its frames lie in the file still, up to where the new log has come.
//!
//! Z1. There was no third log in between: `walRestartHdr` raises the first salt by one each time.
//! Z2. The frames behind the place follow each other: each has the old log's salts, and SQLite's checksum of it and all before.
//!     The last of them that ends a transaction is the last that was committed: the next to commit would have been written
//!     behind it.
//! Z3. The new log is shorter than the place, and when all was read, what lies there is as it was: whoever writes comes by there
//!     first. So nothing that was read is of the new log.
//! Z4. `walLimitSize` may have cut the file: to what the new log's first commit takes, which is before the place; or to a limit, which
//!     is no frame's end. A limit that is one, to the byte, nobody can tell from the end.

use selenite_format::archive::{LogEnd, LogPosition};
use selenite_format::wal::{self, FrameHeader};
use zeroize::Zeroizing;

use super::snapshot::Snapshot;
use crate::error::VfsError;

/// What was committed behind a place.
pub struct Rest {
    /// Where it ends: at the place itself, if nothing was.
    pub end: LogEnd,
    /// How many pages the database had there; 0 if nothing was committed.
    pub page_count: u32,
    /// Page and last frame, by ascending page number.
    frames: Vec<(u32, u32)>,
    /// Z3.
    place: u32,
    first: Option<FrameHeader>,
}

impl Snapshot<'_> {
    /// Looks for what was committed behind `from`, in this log or in the one before. Nothing where that can't be told.
    ///
    /// # Errors
    /// As the VFS below has it.
    pub fn rest_behind(&mut self, from: LogEnd) -> Result<Option<Rest>, VfsError> {
        let view = self.view()?;
        let Some(now) = self.end else { return Ok(None) };
        let (old, new) = (from.position, now.position);
        let is_same = old.salts == new.salts;
        let first_salt = |salts: [u8; 8]| u32::from_be_bytes([salts[0], salts[1], salts[2], salts[3]]);
        // Z1, Z3.
        let is_next = first_salt(new.salts) == first_salt(old.salts).wrapping_add(1) && new.frames < old.frames;
        if old.frames == 0 || !(is_same || is_next) {
            return Ok(None);
        }
        let Some(log) = &mut self.log else { return Ok(None) };
        let order = log.file.word_order()?;
        let first = log.file.header_at(u64::from(old.frames), &view)?;
        let mut image = vec![0; view.page_bytes()];
        let mut plain = Zeroizing::new(vec![0; view.page_bytes()]);
        let mut checksum = words(from.checksum);
        let (mut frames, mut end, mut page_count) = (Vec::new(), from, 0);
        let mut committed = 0;
        let mut next = old.frames;
        // Z2.
        loop {
            let Some(log) = &mut self.log else { return Ok(None) };
            let Some(header) = log.file.header_at(u64::from(next), &view)? else {
                if !log.file.ends_with_a_frame(&view)? {
                    return Ok(None);
                }
                break;
            };
            if header.salts() != old.salts {
                // Z3. One of the new log has taken the place of who knows what.
                if first_salt(header.salts()) == first_salt(old.salts).wrapping_add(1) {
                    return Ok(None);
                }
                break;
            }
            match log.file.committed_image(u64::from(next), &mut image, &view) {
                Ok(()) => {}
                Err(VfsError::Lower(crate::ffi::Code::IOERR_SHORT_READ)) => return Ok(None),
                Err(error) => return Err(error),
            }
            if self.open(header.page_no.0, &image, &mut plain).is_err() {
                return Ok(None);
            }
            checksum = wal::checksum(order, checksum, &header.encode()[..8]);
            checksum = wal::checksum(order, checksum, &plain);
            // A transaction that was rolled back may have left it; or it is damaged.
            if header.checksum() != checksum {
                return Ok(None);
            }
            frames.push((header.page_no.0, next));
            next += 1;
            if header.commit_size > 0 {
                committed = frames.len();
                page_count = header.commit_size;
                end = LogEnd {
                    position: LogPosition { frames: next, ..old },
                    checksum: header.checksum_bytes(),
                };
            }
        }
        if is_same && end != now {
            return Ok(None);
        }
        frames.truncate(committed);
        frames.sort_unstable();
        frames.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                kept.1 = later.1;
            }
            is_same
        });
        frames.retain(|(page_no, _)| *page_no <= page_count);
        Ok(Some(Rest {
            end,
            page_count,
            frames,
            place: old.frames,
            first,
        }))
    }

    /// Its pages, as [`Snapshot::log_pages`]. They count if the rest [is there](Snapshot::is_there) after.
    ///
    /// # Errors
    /// As [`Snapshot::log_pages`].
    pub fn rest_pages<E: From<VfsError>>(
        &mut self,
        rest: &Rest,
        mut each: impl FnMut(u32, &[u8], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let view = self.view()?;
        let mut image = vec![0; view.page_bytes()];
        let mut plain = Zeroizing::new(vec![0; view.page_bytes()]);
        for &(page_no, frame) in &rest.frames {
            let Some(log) = &mut self.log else { break };
            log.file.committed_image(u64::from(frame), &mut image, &view)?;
            self.open(page_no, &image, &mut plain)?;
            each(page_no, &image, &plain)?;
        }
        Ok(())
    }

    /// Z3. Whether nobody has come by the place since the rest was found.
    ///
    /// # Errors
    /// As the VFS below has it.
    pub fn is_there(&mut self, rest: &Rest) -> Result<bool, VfsError> {
        let view = self.view()?;
        let Some(log) = &mut self.log else { return Ok(false) };
        Ok(log.file.header_at(u64::from(rest.place), &view)? == rest.first)
    }
}

fn words(bytes: [u8; 8]) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = bytes;
    [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])]
}
