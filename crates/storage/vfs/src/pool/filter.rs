//! Lock-free information about a page: whether it may be in the pool, and whether it was read
//! recently.
//!
//! - present-has-a-count: a page in the pool has a count of at least one: if the count is 0, no
//!   lookup is needed. Pages may share a count.
//! - recent-reads-known: the pages most recently read are recorded, for each generation apart: at
//!   least as many as the pool has room for, and at most twice as many. So a repeated scan of more
//!   pages than that is not recognised, nor are random reads of a file many times as large as the
//!   pool: a page that would be evicted before it is read again is not stored.

use crate::atomics::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// A page of one of the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageAddress {
    /// The file's number in the pool.
    pub file: u32,
    /// The page's number in the file, never 0.
    pub page: u32,
}

/// The counts and marks of one pool.
pub struct Filter {
    held: Box<[AtomicU8]>,
    /// One bit per page, of the pages read most recently and of those before them.
    seen: [Box<[AtomicU64]>; 2],
    /// Its lowest bit is the index of the bits for the pages read most recently.
    newest_index: AtomicUsize,
    /// The number of pages marked there.
    newest_count: AtomicUsize,
    window: usize,
}

impl Filter {
    /// A filter for a pool with room for `page_count` pages.
    pub fn new(page_count: usize) -> Self {
        let counts = Self::count_of(page_count);
        let marks = || (0..counts * 2 / 64).map(|_| AtomicU64::new(0)).collect();
        Self {
            held: (0..counts).map(|_| AtomicU8::new(0)).collect(),
            seen: [marks(), marks()],
            newest_index: AtomicUsize::new(0),
            newest_count: AtomicUsize::new(0),
            window: page_count.max(1),
        }
    }

    /// The size of a filter in bytes.
    pub fn size_for(page_count: usize) -> usize {
        let counts = Self::count_of(page_count);
        counts + 2 * (counts * 2 / 8)
    }

    /// Eight times as many counts as pages, up to 16 MiB: for seven out of eight pages that are not
    /// in the pool, no lookup is made.
    fn count_of(page_count: usize) -> usize {
        page_count.saturating_mul(8).clamp(64, 1 << 24).next_power_of_two()
    }

    /// Enforces `present-has-a-count`.
    pub fn may_hold(&self, key: PageAddress) -> bool {
        self.count(key).load(Ordering::Relaxed) != 0
    }

    /// Notes that a page was stored. The caller holds its shard's lock, here and below.
    pub fn enter(&self, key: PageAddress) {
        let up = |count: u8| (count != u8::MAX).then(|| count + 1);
        let _ = self.count(key).fetch_update(Ordering::Relaxed, Ordering::Relaxed, up);
    }

    /// Notes that a page was removed. A count that reached its maximum stays there.
    pub fn leave(&self, key: PageAddress) {
        let down = |count: u8| (count != u8::MAX).then(|| count.saturating_sub(1));
        let _ = self.count(key).fetch_update(Ordering::Relaxed, Ordering::Relaxed, down);
    }

    /// Marks a page as read in a generation, and returns whether it was read before in that generation
    /// (recent-reads-known).
    pub fn note(&self, key: PageAddress, generation: u64) -> bool {
        let newest_index = self.newest_index.load(Ordering::Relaxed);
        let (newer, older) = (&self.seen[newest_index % 2], &self.seen[(newest_index + 1) % 2]);
        let first = usize::try_from(generation.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).unwrap_or(0);
        let index = spread(key).wrapping_add(first) % (newer.len() * 64);
        let (word, bit) = (index / 64, 1 << (index % 64));
        if newer[word].load(Ordering::Relaxed) & bit != 0 {
            return true;
        }
        let known = older[word].load(Ordering::Relaxed) & bit != 0;
        // Without a locked instruction: a mark that is lost in a race only delays storing a page.
        newer[word].store(newer[word].load(Ordering::Relaxed) | bit, Ordering::Relaxed);
        let newest_count = self.newest_count.load(Ordering::Relaxed) + 1;
        self.newest_count.store(newest_count, Ordering::Relaxed);
        if newest_count >= self.window {
            self.newest_count.store(0, Ordering::Relaxed);
            older.iter().for_each(|word| word.store(0, Ordering::Relaxed));
            self.newest_index.store(newest_index.wrapping_add(1), Ordering::Relaxed);
        }
        known
    }

    fn count(&self, key: PageAddress) -> &AtomicU8 {
        &self.held[spread(key) % self.held.len()]
    }
}

/// Neighbours remain neighbours: a scan accesses the counts in the order of the file.
fn spread(key: PageAddress) -> usize {
    let place = key.page.wrapping_add(key.file.wrapping_mul(0x9e37_79b1));
    usize::try_from(place).unwrap_or(0)
}

#[cfg(test)]
#[cfg(not(selenite_loom))]
mod tests {
    use super::*;

    fn key(page: u32) -> PageAddress {
        PageAddress { file: 3, page }
    }

    #[test]
    fn a_page_is_known_until_twice_as_many_others_were_read_as_there_is_room_for() {
        let filter = Filter::new(64);
        assert!(!filter.note(key(1), 1) && filter.note(key(1), 1));
        assert!(!filter.note(key(1), 2), "another generation");
        (10..72).for_each(|page| assert!(!filter.note(key(page), 1)));
        assert!(filter.note(key(1), 1), "one window ago");
        (100..228).for_each(|page| assert!(!filter.note(key(page), 1)));
        assert!(!filter.note(key(1), 1), "two windows ago");
    }

    #[test]
    fn counts_go_up_and_down_and_stop_at_the_end() {
        let filter = Filter::new(64);
        assert!(!filter.may_hold(key(1)));
        (0..2).for_each(|_| filter.enter(key(1)));
        filter.leave(key(1));
        assert!(filter.may_hold(key(1)));
        filter.leave(key(1));
        assert!(!filter.may_hold(key(1)));
        (0..300).for_each(|_| filter.enter(key(1)));
        (0..300).for_each(|_| filter.leave(key(1)));
        assert!(filter.may_hold(key(1)), "who lost count says yes");
    }
}
