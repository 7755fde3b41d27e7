//! Shared memory of a WAL: regions that SQLite maps, reads and writes directly.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::atomics::{AtomicU32, Ordering};

/// One mapped region of the WAL index.
#[derive(Clone, Copy)]
pub struct ShmRegion {
    start: NonNull<c_void>,
    word_count: usize,
    /// Whether it is read-only: xShmMap then returns an error code together with the region.
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

    /// In bytes.
    pub(super) fn size(self) -> usize {
        self.word_count * size_of::<u32>()
    }

    /// A word of the region in the machine's byte order, as in the WAL index; `None` beyond its
    /// end.
    #[must_use]
    pub fn word(&self, index: usize) -> Option<u32> {
        if index >= self.word_count {
            return None;
        }
        // SAFETY: the index is within the region, whose start is page-aligned or from `ShmMemory`.
        let word = unsafe { self.start.cast::<AtomicU32>().add(index) };
        // SAFETY: the region stays mapped until xShmUnmap, before which every holder has dropped
        // it.
        let word = unsafe { word.as_ref() };
        Some(word.load(Ordering::Acquire))
    }

    /// Writes a word, unless the region is read-only.
    pub fn set_word(&self, index: usize, value: u32) {
        if index >= self.word_count || self.is_read_only {
            return;
        }
        // SAFETY: as in `word`.
        let word = unsafe { self.start.cast::<AtomicU32>().add(index) };
        // SAFETY: as in `word`; other processes also use this word only atomically.
        let word = unsafe { word.as_ref() };
        word.store(value, Ordering::SeqCst);
    }
}

/// Memory for a region, for a VFS whose files are in memory.
#[derive(Clone)]
pub struct ShmMemory(Arc<[AtomicU32]>);

impl ShmMemory {
    /// Allocates `size` bytes of zeros.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self(
            (0..size.div_ceil(size_of::<u32>()))
                .map(|_| AtomicU32::new(0))
                .collect(),
        )
    }

    /// Writes a word, as another process would.
    ///
    /// # Panics
    /// If the index is out of bounds: the caller created the memory.
    pub fn set_word(&self, index: usize, word: u32) {
        assert!(index < self.0.len(), "no word {index}");
        self.0[index].store(word, Ordering::Release);
    }

    /// The memory as a region for SQLite. The caller keeps `self` until every connection unmapped
    /// it.
    #[must_use]
    pub fn region(&self) -> ShmRegion {
        ShmRegion {
            start: NonNull::from(&self.0[..]).cast(),
            word_count: self.0.len(),
            is_read_only: false,
        }
    }
}

/// The arguments of xShmLock (sqlite.org/c3ref/c_shm_exclusive.html).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShmLock {
    /// The first of the eight lock bytes.
    pub first: i32,
    /// The number of lock bytes.
    pub count: i32,
    /// Whether the locks are taken, or released.
    pub lock: bool,
    /// Whether the locks are exclusive, or shared.
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

    /// Whether this includes that lock byte.
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
