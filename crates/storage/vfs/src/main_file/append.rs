//! Buffers pages appended to a growing file, to combine them into fewer writes.
//!
//! A write of 4 KiB at the end of a file costs ext4 5.3 us of CPU time, one of 64 KiB 1.7 us for
//! each 4 KiB.
//!
//! - append-under-exclusive: pages are buffered if SQLite appends them one after the other while it
//!   holds EXCLUSIVE in rollback mode: no other process reads there before the lock is released,
//!   and a rollback truncates them. Pages that a checkpoint copies are never buffered, with or
//!   without shared memory: SQLite ignores the result of SQLITE_FCNTL_CKPT_DONE.
//! - flushed-before-others: buffered pages are written before the file is written elsewhere, or
//!   synced, or a control is passed down, or the pages themselves are read (`MainFile::flush`),
//!   and before a lock is released.
//! - error-before-commit: SQLite receives an error before it commits: for every value of
//!   `synchronous`, `sqlite3PagerSync` sends SQLITE_FCNTL_SYNC before every commit, and its error
//!   fails the commit. After an error the pages remain buffered, for the next attempt.
//! - size-counts-buffer: on a full disk a rollback reads the size, and truncates: the size includes
//!   buffered pages, and those after the truncated end are dropped, so that neither needs disk
//!   space. `journal_mode = MEMORY` cannot recover from such an error.

use selenite_format::PREFIX_SIZE;

use super::MainFile;
use crate::error::VfsError;
use crate::ffi::LockLevel;
use crate::page_buffer::PageBuffer;

/// Consecutive sealed pages.
#[derive(Default)]
pub struct Append {
    offset: u64,
    size: usize,
    buffer: PageBuffer,
}

impl Append {
    /// Whether a page at that offset directly follows the buffered pages, and there is room for it.
    fn takes(&self, offset: u64, size: usize) -> bool {
        let end = u64::try_from(self.size).ok().map(|size| self.offset + size);
        self.size > 0 && end == Some(offset) && self.size + size <= SIZE_MAX
    }

    fn push(&mut self, offset: u64, image: &[u8]) {
        if self.size == 0 {
            self.offset = offset;
            self.buffer.resize(SIZE_MAX.max(image.len()));
        }
        self.buffer.bytes_mut()[self.size..self.size + image.len()].copy_from_slice(image);
        self.size += image.len();
    }

    /// Drops the bytes from offset `end` on.
    pub fn cut(&mut self, end: u64) {
        let left = usize::try_from(end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        self.size = self.size.min(left);
    }

    /// The offset of the end; 0 if nothing is buffered.
    pub fn end(&self) -> u64 {
        self.held()
            .map_or(0, |(offset, bytes)| offset + u64::try_from(bytes.len()).unwrap_or(0))
    }

    fn held(&self) -> Option<(u64, &[u8])> {
        (self.size > 0).then(|| (self.offset, &self.buffer.bytes()[..self.size]))
    }
}

impl MainFile {
    /// Buffers a page after the end, if that is allowed (append-under-exclusive), and returns
    /// whether it did.
    pub(super) fn try_append(&mut self, offset: u64, image: &[u8]) -> Result<bool, VfsError> {
        let has_log = self.read_lock.has_shm() || self.database.has_log();
        let is_alone = self.read_lock.level() == LockLevel::EXCLUSIVE && !has_log;
        if !is_alone || image.len() * 2 > SIZE_MAX {
            return Ok(false);
        }
        if !self.append.takes(offset, image.len()) {
            self.flush()?;
        }
        self.append.push(offset, image);
        Ok(true)
    }

    /// Writes the buffered pages, unless they are all after what SQLite reads up to `end`.
    pub(super) fn flush_before_reading(&mut self, end: u64) -> Result<(), VfsError> {
        // The prefix precedes the pages; and the displaced page is stored that much after its
        // number's offset (FORMAT 2.3).
        let farthest = end.saturating_add(2 * PREFIX_SIZE);
        match self.append.held() {
            Some((offset, _)) if offset < farthest => self.flush(),
            Some(_) | None => Ok(()),
        }
    }

    /// Writes the buffered pages (flushed-before-others).
    ///
    /// # Errors
    /// Those of the VFS below; the pages then remain buffered.
    pub(super) fn flush(&mut self) -> Result<(), VfsError> {
        let Some((offset, bytes)) = self.append.held() else {
            return Ok(());
        };
        self.database.lock().lower.write(bytes, offset)?;
        self.append.size = 0;
        Ok(())
    }
}

/// 64 KiB. The VFS below would split writes of 128 KiB and more (`seekAndWriteFd`).
const SIZE_MAX: usize = 65536;
