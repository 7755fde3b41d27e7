//! Counts of pages sealed and opened, by the role of the file.
//!
//! Every open file has its own counters (single-writer in `owned_counts.rs`).

use std::time::Instant;

use crate::owned_counts::{CountSums, OwnedCounts};
use crate::role::Role;
use crate::thread_io;

/// The counters of one process. They never decrease.
#[derive(Default)]
pub struct Counters {
    roles: [CountSums<COUNT_COUNT>; 5],
}

/// A reading of one role's counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    /// Pages (of a nameless file: blocks) sealed.
    pub pages_sealed: u64,
    /// Pages opened.
    pub pages_opened: u64,
    /// Bytes sealed and opened.
    pub bytes: u64,
    /// Pages that could not be authenticated.
    pub tags_refused: u64,
    /// An estimate of the time spent sealing and opening: one page in [`SAMPLE_EVERY`] is timed.
    pub cipher_ns_estimated: u64,
    /// Pages that were read ahead and then requested.
    pub read_ahead_used: u64,
    /// Pages that were read ahead and never requested.
    pub read_ahead_wasted: u64,
    /// Pages that were found in the pool.
    pub pool_hits: u64,
    /// Pages that were looked up in the pool and not found.
    pub pool_misses: u64,
}

/// One page in 64 is timed: reading the clock costs about a tenth of sealing a page.
pub const SAMPLE_EVERY: u64 = 64;

/// The counters of one file.
pub struct FileCounters(OwnedCounts<COUNT_COUNT>);

impl Counters {
    /// The counters of a newly opened file of that role.
    #[must_use]
    pub fn for_file(&self, role: Role) -> FileCounters {
        FileCounters(self.roles[role.index()].owned())
    }

    /// The current values of one role.
    #[must_use]
    pub fn read(&self, role: Role) -> Reading {
        let sums = self.roles[role.index()].read();
        let pages = sums[SEALED].wrapping_add(sums[OPENED]);
        let each = sums[SAMPLED_NS].checked_div(sums[SAMPLES]).unwrap_or(0);
        Reading {
            pages_sealed: sums[SEALED],
            pages_opened: sums[OPENED],
            bytes: sums[BYTES],
            tags_refused: sums[REFUSED],
            cipher_ns_estimated: each.saturating_mul(pages),
            read_ahead_used: sums[AHEAD_USED],
            read_ahead_wasted: sums[AHEAD_WASTED],
            pool_hits: sums[POOL_HITS],
            pool_misses: sums[POOL_MISSES],
        }
    }
}

impl FileCounters {
    /// Runs `body`, which seals a page of `size` bytes, and counts it.
    pub fn seal<T>(&mut self, size: usize, body: impl FnOnce() -> T) -> T {
        self.run(SEALED, size, body)
    }

    /// Runs `body`, which opens a page of `size` bytes, and counts it.
    pub fn open<T>(&mut self, size: usize, body: impl FnOnce() -> T) -> T {
        self.run(OPENED, size, body)
    }

    /// Counts a page that could not be authenticated.
    pub fn refuse(&mut self) {
        self.0.add(REFUSED, 1);
    }

    /// Counts pages that were read ahead.
    pub fn read_ahead(&mut self, used: u64, wasted: u64) {
        self.0.add(AHEAD_USED, used);
        self.0.add(AHEAD_WASTED, wasted);
        thread_io::note(|counts| {
            counts.ahead_used += used;
            counts.ahead_wasted += wasted;
        });
    }

    /// Counts a lookup of a page in the pool.
    pub fn pool(&mut self, hit: bool) {
        self.0.add(if hit { POOL_HITS } else { POOL_MISSES }, 1);
        if hit {
            thread_io::note(|counts| counts.pool_hits += 1);
        }
    }

    fn run<T>(&mut self, index: usize, size: usize, body: impl FnOnce() -> T) -> T {
        let number = self.0.load(index);
        self.0.add(index, 1);
        self.0.add(BYTES, u64::try_from(size).unwrap_or(0));
        if !number.is_multiple_of(SAMPLE_EVERY) {
            return body();
        }
        let start = Instant::now();
        let done = body();
        let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.add(SAMPLED_NS, ns);
        self.0.add(SAMPLES, 1);
        done
    }
}

const SEALED: usize = 0;
const OPENED: usize = 1;
const BYTES: usize = 2;
const REFUSED: usize = 3;
const SAMPLED_NS: usize = 4;
const SAMPLES: usize = 5;
const AHEAD_USED: usize = 6;
const AHEAD_WASTED: usize = 7;
const POOL_HITS: usize = 8;
const POOL_MISSES: usize = 9;
const COUNT_COUNT: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_in_sixty_four_is_timed() {
        let counters = Counters::default();
        let mut wal = counters.for_file(Role::Wal);
        for _ in 0..129 {
            wal.seal(4096, || ());
        }
        assert_eq!(wal.0.load(SAMPLES), 3);
        assert_eq!(counters.read(Role::Wal).pages_sealed, 129);
        assert_eq!(counters.read(Role::Wal).bytes, 129 * 4096);
        assert_eq!(counters.read(Role::Main), Reading::default());
    }

    #[test]
    fn counts_of_a_closed_file_are_kept() {
        let counters = Counters::default();
        let mut one = counters.for_file(Role::Main);
        let mut other = counters.for_file(Role::Main);
        one.open(4096, || ());
        other.open(4096, || ());
        other.refuse();
        drop(one);
        other.open(4096, || ());
        let reading = counters.read(Role::Main);
        assert_eq!((reading.pages_opened, reading.tags_refused), (3, 1));
        assert_eq!(counters.roles[Role::Main.index()].owner_count(), 1);
    }
}
