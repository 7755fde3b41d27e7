//! Shared memory of a WAL: regions that SQLite maps, reads and writes by itself.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::atomics::{AtomicU32, Ordering};

/// One mapped region of the WAL index.
#[derive(Clone, Copy)]
pub struct ShmRegion {
    start: NonNull<c_void>,
    word_count: usize,
    /// Whether it may only be read: xShmMap says so by its code, and gives the region all the same.
    pub(super) is_read_only: bool,
}

// SAFETY: the region is shared memory, used here only through atomics.
unsafe impl Send for ShmRegion {}

impl ShmRegion {
    pub(super) fn from_raw(start: *mut c_void, size: usize, is_read_only: bool) -> Option<Self> {
        Some(Self {
            start: NonNull::new(start)?,
            word_count: size / size_of::<u32>(),
            is_read_only,
        })
    }

    pub(super) fn as_ptr(self) -> *mut c_void {
        self.start.as_ptr()
    }

    /// A word of the region in the machine's byte order, as the WAL index has it; `None` beyond its end.
    #[must_use]
    pub fn word(&self, index: usize) -> Option<u32> {
        if index >= self.word_count {
            return None;
        }
        // SAFETY: the index is within the region, whose start is page-aligned or from `ShmMemory`.
        let word = unsafe { self.start.cast::<AtomicU32>().add(index) };
        // SAFETY: the region stays mapped until xShmUnmap, by which every holder of it has dropped it.
        let word = unsafe { word.as_ref() };
        Some(word.load(Ordering::Acquire))
    }

    /// Writes a word, where the region may be written to.
    pub fn set_word(&self, index: usize, value: u32) {
        if index >= self.word_count || self.is_read_only {
            return;
        }
        // SAFETY: as in `word`.
        let word = unsafe { self.start.cast::<AtomicU32>().add(index) };
        // SAFETY: as in `word`; other processes, too, use this word by atomics only.
        let word = unsafe { word.as_ref() };
        word.store(value, Ordering::SeqCst);
    }
}

/// Memory for a region, for a VFS that keeps its files in memory.
#[derive(Clone)]
pub struct ShmMemory(Arc<[AtomicU32]>);

impl ShmMemory {
    /// `size` bytes of zeros.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self(
            (0..size.div_ceil(size_of::<u32>()))
                .map(|_| AtomicU32::new(0))
                .collect(),
        )
    }

    /// Writes a word, as another process does.
    ///
    /// # Panics
    /// If there is no such word: the caller made the memory.
    pub fn set_word(&self, index: usize, word: u32) {
        assert!(index < self.0.len(), "no word {index}");
        self.0[index].store(word, Ordering::Release);
    }

    /// The memory as SQLite wants it. The caller keeps `self` until every connection unmapped it.
    #[must_use]
    pub fn region(&self) -> ShmRegion {
        ShmRegion {
            start: NonNull::from(&self.0[..]).cast(),
            word_count: self.0.len(),
            is_read_only: false,
        }
    }
}

/// What xShmLock asks for (sqlite.org/c3ref/c_shm_exclusive.html).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShmLock {
    /// The first of the eight lock bytes.
    pub first: i32,
    /// How many.
    pub count: i32,
    /// Taken, or given back.
    pub lock: bool,
    /// Exclusive, or shared.
    pub exclusive: bool,
}

impl ShmLock {
    pub(super) fn from_raw(first: c_int, count: c_int, flags: c_int) -> Self {
        Self {
            first,
            count,
            lock: flags & 2 != 0,
            exclusive: flags & 8 != 0,
        }
    }

    pub(super) fn flags(self) -> c_int {
        (if self.lock { 2 } else { 1 }) | (if self.exclusive { 8 } else { 4 })
    }

    /// Whether this touches that lock byte.
    #[must_use]
    pub fn covers(self, byte: i32) -> bool {
        self.first <= byte && byte < self.first + self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_survive_the_way_there_and_back() {
        for flags in [1 | 4, 1 | 8, 2 | 4, 2 | 8] {
            assert_eq!(ShmLock::from_raw(3, 1, flags).flags(), flags);
        }
    }

    #[test]
    fn a_word_beyond_the_region_is_none() {
        let memory = ShmMemory::new(8);
        assert_eq!(memory.region().word(1), Some(0));
        assert_eq!(memory.region().word(2), None);
    }
}
