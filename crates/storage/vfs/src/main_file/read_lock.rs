//! Whether this connection is in a read transaction during which the file cannot change, derived
//! from its locks.

use crate::ffi::{LockLevel, ShmLock, ShmRegion};
use crate::index_header::IndexHeader;

/// The locks that this connection is known to hold.
pub struct ReadLock {
    level: LockLevel,
    /// Whether the WAL's shared memory is in use: then SHARED is held as long as the file is open,
    /// and gives no information.
    has_shm: bool,
    /// Which of the five read marks are held as shared locks.
    marks: u8,
    /// The WAL index's header when the read mark was taken.
    ///
    /// `walTryBeginRead` compares the header with its copy after it took the lock, and releases the
    /// lock if they differ: so the header read in between is the one that it continues with.
    index: Option<IndexHeader>,
}

impl ReadLock {
    /// The locks of a file that was just opened.
    pub fn new() -> Self {
        Self {
            level: LockLevel::NONE,
            has_shm: false,
            marks: 0,
            index: None,
        }
    }

    /// Whether the pages that SQLite reads from the file now stay unchanged until a lock is
    /// released: see shared-excludes-writers and read-mark-keeps-pages in `read_ahead.rs`.
    pub fn is_held(&self) -> bool {
        if self.has_shm {
            self.marks != 0
        } else {
            self.level >= LockLevel::SHARED
        }
    }

    /// Whether the WAL's shared memory is in use.
    pub fn has_shm(&self) -> bool {
        self.has_shm
    }

    /// The level of the lock on the file.
    pub fn level(&self) -> LockLevel {
        self.level
    }

    /// Sets the level of the lock on the file.
    pub fn set_level(&mut self, level: LockLevel) {
        self.level = level;
    }

    /// The end of the log in this read transaction, and whether the transaction reads the log at
    /// all: on read mark 0 it does not, because the whole log has been copied to the file.
    pub fn log_end(&self) -> Option<(IndexHeader, bool)> {
        let index = self.index.filter(|_| self.marks != 0)?;
        Some((index, self.marks != READ_MARK_0))
    }

    /// How many pages the file has at least as long as this lock is held, if it has them now: a
    /// checkpoint that copies the whole log truncates the file after the last page of the snapshot,
    /// while others read that, too (wal.c, `walCheckpoint`). If the log has never had a frame there is nothing
    /// to copy, and in rollback mode SHARED excludes writers.
    pub fn page_count(&self) -> u32 {
        if !self.has_shm {
            return u32::MAX;
        }
        match self.log_end() {
            Some((index, _)) if index.page_count() == 0 => u32::MAX,
            Some((index, _)) => index.page_count(),
            None => 0,
        }
    }

    /// Notes that the shared memory was mapped or unmapped.
    pub fn set_shm(&mut self, has_shm: bool) {
        self.has_shm = has_shm;
        self.marks = 0;
        self.index = None;
    }

    /// Notes that this connection has written to the log, and still holds the write lock: its
    /// transaction sees its own writes.
    pub fn note_end(&mut self, region: Option<&ShmRegion>) {
        if self.marks != 0 {
            self.index = region.and_then(IndexHeader::read);
        }
    }

    /// Notes a lock of the shared memory that was taken or is being released; `region` is the first
    /// of the WAL index.
    pub fn note(&mut self, lock: ShmLock, region: Option<&ShmRegion>) {
        let marks = marks_of(lock);
        if lock.lock && !lock.exclusive {
            self.marks |= marks;
            if marks != 0 {
                // Another connection may be committing.
                self.index = region.and_then(IndexHeader::read_first);
            }
        } else {
            self.marks &= !marks;
        }
    }
}

/// Whether a read mark is among the locks.
pub fn has_mark(lock: ShmLock) -> bool {
    marks_of(lock) != 0
}

fn marks_of(lock: ShmLock) -> u8 {
    let covered = ((1_u32 << lock.count.clamp(0, LOCK_COUNT)) - 1) << lock.first.clamp(0, LOCK_COUNT);
    let marks = (covered >> WAL_READ_LOCK) & ((1 << READ_MARK_COUNT) - 1);
    marks.to_le_bytes()[0]
}

/// WAL_READ_LOCK(0), the first of WAL_NREADER = 5 (sqlite.org/walformat.html, section 2.3).
const WAL_READ_LOCK: i32 = 3;
const READ_MARK_COUNT: i32 = 5;
/// Its bit in the set of marks.
const READ_MARK_0: u8 = 1;
/// SQLITE_SHM_NLOCK.
const LOCK_COUNT: i32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn shm(first: i32, count: i32, lock: bool, exclusive: bool) -> ShmLock {
        ShmLock {
            first,
            count,
            lock,
            exclusive,
        }
    }

    #[test]
    fn in_rollback_mode_shared_counts() {
        let mut lock = ReadLock::new();
        assert!(!lock.is_held());
        lock.set_level(LockLevel::SHARED);
        assert!(lock.is_held());
        lock.set_level(LockLevel::NONE);
        assert!(!lock.is_held());
    }

    #[test]
    fn in_wal_mode_a_read_mark_counts_and_shared_does_not() {
        let mut lock = ReadLock::new();
        lock.set_level(LockLevel::SHARED);
        lock.set_shm(true);
        assert!(!lock.is_held());
        lock.note(shm(0, 1, true, true), None);
        assert!(!lock.is_held(), "the write lock is no read mark");
        lock.note(shm(4, 1, true, true), None);
        assert!(!lock.is_held(), "a mark that is being moved is no read mark");
        lock.note(shm(4, 1, false, true), None);
        lock.note(shm(4, 1, true, false), None);
        assert!(lock.is_held());
        lock.note(shm(4, 1, false, false), None);
        assert!(!lock.is_held());
        lock.note(shm(3, 1, true, false), None);
        lock.set_shm(false);
        assert!(lock.is_held(), "SHARED is held");
        lock.set_level(LockLevel::NONE);
        assert!(!lock.is_held());
    }

    /// `walIndexWriteHdr` writes the second copy, then the first: a connection that takes a read mark in
    /// between sees the log of the first.
    #[test]
    fn a_mark_taken_during_a_commit_sees_the_log_before_that_commit() {
        use crate::index_header::{CHECKSUM, FRAME_MAX, VERSION, WORD_COUNT, checksum};

        let header = |frames: u32| {
            let mut words = [0; WORD_COUNT];
            (words[0], words[3], words[FRAME_MAX]) = (VERSION, u32::from_ne_bytes([1, 0, 0, 0]), frames);
            let sum = checksum(&words[..CHECKSUM]);
            words[CHECKSUM..].copy_from_slice(&sum);
            words
        };
        let memory = crate::ffi::ShmMemory::new(4096);
        for (place, word) in header(7).into_iter().chain(header(9)).enumerate() {
            memory.set_word(place, word);
        }
        let mut lock = ReadLock::new();
        lock.set_shm(true);
        lock.note(shm(4, 1, true, false), Some(&memory.region()));
        let (index, looks_in_log) = lock.log_end().expect("it has a mark");
        assert!(looks_in_log);
        assert_eq!(index.frame_count(), 7);
    }
}
