//! Pages behind the end of a file that grows, buffered into fewer writes.
//!
//! A write of 4 KiB behind the end of a file costs ext4 5.3 us of CPU time, one of 64 KiB 1.7 us for each 4 KiB.
//!
//! - append-under-exclusive: gathered is what SQLite writes behind the end while it holds EXCLUSIVE
//!   in rollback mode, page after page: no other process reads there before the lock goes, and a
//!   rollback cuts it off. Pages that a checkpoint brings are never buffered, with shared memory or
//!   without: SQLite does not look at the outcome of SQLITE_FCNTL_CKPT_DONE.
//! - flushed-before-others: what is buffered is written before the file is written elsewhere, or
//!   synced, or a control is passed down, or the pages themselves are read (`MainFile::settle`),
//!   and before a lock is given back.
//! - error-before-commit: SQLite hears of an error before it commits: whatever `synchronous` says,
//!   `sqlite3PagerSync` gives SQLITE_FCNTL_SYNC before every commit, and its error is the commit's.
//!   After an error the pages are held still, for the next attempt.
//! - size-counts-buffer: on a disk that is full a rollback asks for the size, and cuts: the size
//!   counts what is buffered, and what lies behind the cut is forgotten, so that neither needs
//!   room. `journal_mode = MEMORY` has no second chance.

use selenite_format::PREFIX_SIZE;

use super::MainFile;
use crate::error::VfsError;
use crate::ffi::LockLevel;
use crate::page_buffer::PageBuffer;

/// Sealed pages that lie one behind the other.
#[derive(Default)]
pub struct Append {
    offset: u64,
    size: usize,
    buffer: PageBuffer,
}

impl Append {
    /// Whether a page at that offset comes right behind those that are here, with room for it.
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

    /// Forgets what lies at or behind `end`.
    pub fn cut(&mut self, end: u64) {
        let left = usize::try_from(end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        self.size = self.size.min(left);
    }

    /// Where it ends; 0 where nothing is buffered.
    pub fn end(&self) -> u64 {
        self.held()
            .map_or(0, |(offset, bytes)| offset + u64::try_from(bytes.len()).unwrap_or(0))
    }

    fn held(&self) -> Option<(u64, &[u8])> {
        (self.size > 0).then(|| (self.offset, &self.buffer.bytes()[..self.size]))
    }
}

impl MainFile {
    /// buffers a page behind the end, where that is allowed (append-under-exclusive), and says whether it did.
    pub(super) fn try_append(&mut self, offset: u64, image: &[u8]) -> Result<bool, VfsError> {
        let has_log = self.read_lock.has_shm() || self.database.has_log();
        let is_alone = self.read_lock.level() == LockLevel::EXCLUSIVE && !has_log;
        if !is_alone || image.len() * 2 > SIZE_MAX {
            return Ok(false);
        }
        if !self.append.takes(offset, image.len()) {
            self.settle()?;
        }
        self.append.push(offset, image);
        Ok(true)
    }

    /// Writes what was buffered, unless it all lies behind what SQLite reads up to `end`.
    pub(super) fn settle_before_reading(&mut self, end: u64) -> Result<(), VfsError> {
        // In front of the pages lies the prefix; and the displaced page is as far behind its
        // number's place (FORMAT 2.3).
        let farthest = end.saturating_add(2 * PREFIX_SIZE);
        match self.append.held() {
            Some((offset, _)) if offset < farthest => self.settle(),
            Some(_) | None => Ok(()),
        }
    }

    /// Writes what was buffered (flushed-before-others).
    ///
    /// # Errors
    /// As the VFS below has it; it is buffered still.
    pub(super) fn settle(&mut self) -> Result<(), VfsError> {
        let Some((offset, bytes)) = self.append.held() else {
            return Ok(());
        };
        self.database.lock().lower.write(bytes, offset)?;
        self.append.size = 0;
        Ok(())
    }
}

/// 64 KiB. The VFS below would cut writes of 128 KiB and more (`seekAndWriteFd`).
const SIZE_MAX: usize = 65536;
