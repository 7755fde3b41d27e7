//! The memory of a pool and its tables, for one limit.
//!
//! - chunks-on-demand: memory is allocated in chunks of 2 MiB, when the first page is stored and
//!   when there is no room left and growth-pays says so, up to the limit; the last chunk is smaller. A chunk belongs to
//!   one page size, in equal parts to its shards. One arena per page size would have to know in
//!   advance how much each needs, and a process seldom has more than one.
//! - growth-pays: using a chunk for the first time costs about as much as its pages save when each
//!   is found once: the system fills it with zeros, and a hypervisor may have to find it. So another
//!   chunk is added when as many reads were answered since the last one as a chunk has pages
//!   (`Shard::has_paid`). Random reads of a file many times as large as the pool, and a check that
//!   reads each page two or three times, then pay for one chunk and not for all.
//! - reserved-before-taken: everything is reserved in the budget before it is allocated: chunks,
//!   and the tables in their final size. What does not fit is not allocated.
//! - equal-shares: if the limit is reached and a page size has less than its equal share of the
//!   chunks, the size with the most chunks gives one up. Page sizes without any page give theirs up
//!   when a file is closed.
//! - closed-is-empty: when the tables are closed, all pages are wiped and all chunks freed; a
//!   caller that still has the tables finds nothing in them.

use std::sync::{Arc, OnceLock, TryLockError};

use super::filter::{Filter, PageAddress};
use super::lock;
use super::shard::{Room, Shard};
use crate::atomics::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering};
use crate::ffi::{Arena, system_page_size};

/// The limit of the memory, and the bytes in use.
#[derive(Default)]
pub struct Budget {
    /// The limit in bytes.
    pub limit: AtomicUsize,
    /// Bytes in use.
    pub used: AtomicUsize,
}

impl Budget {
    fn reserve(&self, size: usize) -> bool {
        let limit = self.limit.load(Ordering::SeqCst);
        let grow = |used: usize| used.checked_add(size).filter(|sum| *sum <= limit);
        self.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, grow).is_ok()
    }

    fn release(&self, size: usize) {
        self.used.fetch_sub(size, Ordering::SeqCst);
    }

    fn room(&self) -> usize {
        let used = self.used.load(Ordering::SeqCst);
        self.limit.load(Ordering::SeqCst).saturating_sub(used)
    }
}

/// The pages of a pool.
pub struct Tables {
    budget: Arc<Budget>,
    limit: usize,
    /// The bytes that are returned to the budget when this is dropped.
    reserved: AtomicUsize,
    filter: Filter,
    classes: [OnceLock<Class>; CLASS_COUNT],
    /// The sizes of the chunks of each class. Taken before the lock of a shard.
    chunks: Mutex<[Vec<usize>; CLASS_COUNT]>,
    is_closed: AtomicBool,
}

/// The pages of one size.
struct Class {
    page_bytes: usize,
    shards: [Mutex<Shard>; SHARD_COUNT],
    /// Whether there was no memory, or none left, at the last attempt.
    is_full: AtomicBool,
}

impl Tables {
    /// Tables without memory for pages; `None` if the limit does not suffice for the tables.
    pub fn new(budget: &Arc<Budget>) -> Option<Self> {
        let limit = budget.limit.load(Ordering::SeqCst);
        let page_count = limit / PAGE_BYTES_USUAL;
        let size = size_of::<Self>() + Filter::size_for(page_count);
        budget.reserve(size).then(|| Self {
            budget: budget.clone(),
            limit,
            reserved: AtomicUsize::new(size),
            filter: Filter::new(page_count),
            classes: Default::default(),
            chunks: Mutex::default(),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Copies a page, if it is here in that generation, and returns whether it is.
    pub fn read(&self, key: PageAddress, generation: u64, out: &mut [u8]) -> bool {
        self.filter.may_hold(key)
            && self
                .class(out.len())
                .is_some_and(|class| class.shard(key).read(key, generation, out))
    }

    /// Stores a page that is not here in that generation, if it was read before in it and there is room.
    pub fn offer(&self, key: PageAddress, generation: u64, bytes: &[u8], is_of_scan: bool) {
        if !self.filter.note(key, generation) {
            return;
        }
        if let Some(class) = self.class(bytes.len()) {
            let mut shard = class.shard(key);
            if shard.renew(key, generation, bytes) || shard.put(key, generation, bytes, Room::Vacant, &self.filter) {
                return;
            }
            if !shard.has_paid() && !class.is_full.load(Ordering::Relaxed) {
                let room = if is_of_scan {
                    Room::Dead
                } else {
                    shard.room_when_refused()
                };
                shard.put(key, generation, bytes, room, &self.filter);
                return;
            }
        }
        let has_grown = self.grow(bytes.len());
        let room = match (has_grown, is_of_scan) {
            (true, _) => Room::Vacant,
            (false, true) => Room::Dead,
            (false, false) => Room::Any,
        };
        if let Some(class) = self.class(bytes.len()) {
            let mut shard = class.shard(key);
            // Another thread may have stored it meanwhile.
            if !shard.renew(key, generation, bytes) {
                shard.put(key, generation, bytes, room, &self.filter);
            }
        }
    }

    /// Removes the pages of a file (equal-shares).
    pub fn forget_file(&self, file: u32) {
        let mut chunks = lock(&self.chunks);
        for (class, chunks) in self.classes.iter().zip(chunks.iter_mut()) {
            let Some(class) = class.get() else { continue };
            class.is_full.store(false, Ordering::Relaxed);
            for shard in &class.shards {
                lock(shard).forget_file(file, &self.filter);
            }
            while !chunks.is_empty() && class.shards.iter().all(|shard| lock(shard).is_empty()) {
                self.give_up(class, chunks);
            }
        }
    }

    /// Enforces `closed-is-empty`.
    pub fn close(&self) {
        let mut chunks = lock(&self.chunks);
        self.is_closed.store(true, Ordering::SeqCst);
        for (class, chunks) in self.classes.iter().zip(chunks.iter_mut()) {
            while let Some(class) = class.get()
                && !chunks.is_empty()
            {
                self.give_up(class, chunks);
            }
        }
    }

    fn class(&self, page_bytes: usize) -> Option<&Class> {
        let class = self.classes.get(class_of(page_bytes))?.get()?;
        (class.page_bytes == page_bytes).then_some(class)
    }

    /// Allocates a chunk for a page size, and returns whether it succeeded.
    fn grow(&self, page_bytes: usize) -> bool {
        if self
            .class(page_bytes)
            .is_some_and(|class| class.is_full.load(Ordering::Relaxed))
        {
            return false;
        }
        let mut chunks = match self.chunks.try_lock() {
            Ok(chunks) => chunks,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread is allocating.
            Err(TryLockError::WouldBlock) => return false,
        };
        if self.is_closed.load(Ordering::SeqCst) {
            return false;
        }
        let index = class_of(page_bytes);
        let mut has_grown = self.add_chunk(page_bytes, &mut chunks[index]);
        if !has_grown && self.give_up_share(index, &mut chunks) {
            has_grown = self.add_chunk(page_bytes, &mut chunks[index]);
        }
        if let Some(class) = self.class(page_bytes) {
            let is_last = self.budget.room() < page_bytes && Self::richest(index, &chunks).is_none();
            class.is_full.store(!has_grown || is_last, Ordering::Relaxed);
        }
        has_grown
    }

    /// Adds a chunk, as large as possible. None can follow a smaller one: that is given up when
    /// there is room for more.
    fn add_chunk(&self, page_bytes: usize, chunks: &mut Vec<usize>) -> bool {
        let Some(class) = self.class_or_new(page_bytes) else {
            return false;
        };
        if let Some(last) = chunks.last().filter(|size| **size < CHUNK_SIZE) {
            if self.budget.room() + last < CHUNK_SIZE {
                return false;
            }
            self.give_up(class, chunks);
        }
        let size = self.take(class);
        chunks.extend(size);
        size.is_some()
    }

    fn class_or_new(&self, page_bytes: usize) -> Option<&Class> {
        let class = self.classes.get(class_of(page_bytes))?;
        if class.get().is_none() {
            let size = Class::table_bytes(page_bytes, self.limit);
            if !page_bytes.is_power_of_two() || self.budget.room() < size + page_bytes || !self.budget.reserve(size) {
                return None;
            }
            self.reserved.fetch_add(size, Ordering::SeqCst);
            let _ = class.set(Class::new(page_bytes, self.limit));
        }
        class.get()
    }

    /// Allocates a chunk, as large as the limit allows, and returns its size.
    fn take(&self, class: &Class) -> Option<usize> {
        let (slots, size) = chunk(self.budget.room(), class.page_bytes, system_page_size());
        if slots == 0 || !self.budget.reserve(size) {
            return None;
        }
        let Some(arena) = Arena::take(size) else {
            self.budget.release(size);
            return None;
        };
        let sizes: Vec<usize> = (0..SHARD_COUNT)
            .map(|shard| (slots / SHARD_COUNT + usize::from(shard < slots % SHARD_COUNT)) * class.page_bytes)
            .collect();
        for (shard, part) in class.shards.iter().zip(arena.cut(&sizes)) {
            lock(shard).add_part(part);
        }
        Some(size)
    }

    /// `equal-shares`: returns whether a chunk was given up.
    fn give_up_share(&self, index: usize, chunks: &mut [Vec<usize>; CLASS_COUNT]) -> bool {
        let richest = Self::richest(index, chunks);
        if let Some((class, chunks)) = richest.and_then(|index| self.classes[index].get().zip(chunks.get_mut(index))) {
            self.give_up(class, chunks);
        }
        richest.is_some()
    }

    /// The page size that has to give up a chunk for another, if there is one.
    fn richest(index: usize, chunks: &[Vec<usize>; CLASS_COUNT]) -> Option<usize> {
        let richest = (0..CLASS_COUNT).max_by_key(|other| chunks[*other].len())?;
        (chunks[richest].len() >= chunks[index].len() + 2).then_some(richest)
    }

    /// Frees the chunk that a class got last.
    fn give_up(&self, class: &Class, chunks: &mut Vec<usize>) {
        for shard in &class.shards {
            lock(shard).remove_part(chunks.len(), &self.filter);
        }
        if let Some(size) = chunks.pop() {
            self.budget.release(size);
        }
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        self.close();
        self.budget.release(self.reserved.load(Ordering::SeqCst));
    }
}

impl Class {
    fn new(page_bytes: usize, limit: usize) -> Self {
        let (per_part, most) = Self::slot_counts(page_bytes, limit);
        Self {
            page_bytes,
            shards: std::array::from_fn(|_| Mutex::new(Shard::new(page_bytes, per_part, most))),
            is_full: AtomicBool::new(false),
        }
    }

    fn table_bytes(page_bytes: usize, limit: usize) -> usize {
        let (per_part, most) = Self::slot_counts(page_bytes, limit);
        SHARD_COUNT * Shard::table_bytes(per_part, most)
    }

    /// The number of slots of a shard in a whole chunk, and the maximum.
    fn slot_counts(page_bytes: usize, limit: usize) -> (usize, usize) {
        let most = (limit / page_bytes).div_ceil(SHARD_COUNT);
        (CHUNK_SIZE / SHARD_COUNT / page_bytes, most)
    }

    fn shard(&self, key: PageAddress) -> MutexGuard<'_, Shard> {
        // Neighbours are in different shards: parallel scans do not contend.
        let index = key.page.wrapping_add(key.file) % SHARD_COUNT_U32;
        lock(&self.shards[usize::try_from(index).unwrap_or(0)])
    }
}

/// The slots of the largest chunk for which there is room, and its size in whole pages of the
/// system.
fn chunk(room: usize, page_bytes: usize, system_page: usize) -> (usize, usize) {
    let room = room / system_page * system_page;
    let slots = room.min(CHUNK_SIZE) / page_bytes;
    (slots, (slots * page_bytes).next_multiple_of(system_page))
}

/// Page sizes are powers of two from 1 KiB to 64 KiB.
fn class_of(page_bytes: usize) -> usize {
    usize::try_from(page_bytes.trailing_zeros().saturating_sub(10)).map_or(0, |class| class.min(CLASS_COUNT - 1))
}

const CLASS_COUNT: usize = 7;
const SHARD_COUNT: usize = if cfg!(selenite_loom) { 2 } else { 16 };
const SHARD_COUNT_U32: u32 = if cfg!(selenite_loom) { 2 } else { 16 };
/// The size of a large page of the system. For pages of 64 KiB each shard has two slots of a chunk.
const CHUNK_SIZE: usize = 2 << 20;
const PAGE_BYTES_USUAL: usize = 4096;

#[cfg(all(test, selenite_loom))]
mod model;

#[cfg(all(test, not(selenite_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_whole_pages_of_the_system_and_within_its_room() {
        for system_page in [4096, 16384, 65536] {
            for page_bytes in (10..=16).map(|bits| 1 << bits) {
                for room in (0..3 << 20).step_by(1024) {
                    let (slots, size) = chunk(room, page_bytes, system_page);
                    assert!(size.is_multiple_of(system_page) && size <= room.min(CHUNK_SIZE));
                    assert!(slots * page_bytes <= size);
                    let next = ((slots + 1) * page_bytes).next_multiple_of(system_page);
                    assert!(next > room.min(CHUNK_SIZE), "{slots} of {page_bytes} in {room}");
                }
            }
        }
    }
}
