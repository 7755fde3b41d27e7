//! What was sealed and opened, by the role of the file.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::role::Role;

/// Counters of one process. Reading them takes no lock; they only ever grow.
#[derive(Default)]
pub struct Counters {
    roles: [RoleCounters; 5],
}

/// The counters of one role.
#[derive(Default)]
pub struct RoleCounters {
    pages_sealed: AtomicU64,
    pages_opened: AtomicU64,
    bytes: AtomicU64,
    tags_refused: AtomicU64,
    sampled_ns: AtomicU64,
    samples: AtomicU64,
}

/// A reading of one role's counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    /// Pages (of a nameless file: blocks) sealed.
    pub pages_sealed: u64,
    /// Pages opened.
    pub pages_opened: u64,
    /// Bytes of both.
    pub bytes: u64,
    /// Pages that did not open.
    pub tags_refused: u64,
    /// An estimate of the time spent sealing and opening: one page in [`SAMPLE_EVERY`] is timed.
    pub cipher_ns_estimated: u64,
}

/// One page in so many is timed: a clock costs about a tenth of a page.
pub const SAMPLE_EVERY: u64 = 64;

impl Counters {
    /// Those of one role.
    #[must_use]
    pub fn of(&self, role: Role) -> &RoleCounters {
        &self.roles[role.index()]
    }
}

impl RoleCounters {
    /// Runs and counts the sealing of a page of `size` bytes.
    pub fn seal<E>(&self, size: usize, body: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let number = self.pages_sealed.fetch_add(1, Ordering::Relaxed);
        self.run(number, size, body)
    }

    /// Runs and counts the opening of a page of `size` bytes.
    pub fn open<E>(&self, size: usize, body: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let number = self.pages_opened.fetch_add(1, Ordering::Relaxed);
        self.run(number, size, body)
    }

    /// Counts a page that did not open.
    pub fn refuse(&self) {
        self.tags_refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Their present values.
    #[must_use]
    pub fn read(&self) -> Reading {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let pages = load(&self.pages_sealed) + load(&self.pages_opened);
        let samples = load(&self.samples);
        let each = load(&self.sampled_ns).checked_div(samples).unwrap_or(0);
        Reading {
            pages_sealed: load(&self.pages_sealed),
            pages_opened: load(&self.pages_opened),
            bytes: load(&self.bytes),
            tags_refused: load(&self.tags_refused),
            cipher_ns_estimated: each.saturating_mul(pages),
        }
    }

    fn run<E>(&self, number: u64, size: usize, body: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.bytes
            .fetch_add(u64::try_from(size).unwrap_or(0), Ordering::Relaxed);
        if !number.is_multiple_of(SAMPLE_EVERY) {
            return body();
        }
        let start = Instant::now();
        let done = body();
        let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.sampled_ns.fetch_add(ns, Ordering::Relaxed);
        self.samples.fetch_add(1, Ordering::Relaxed);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_in_sixty_four_is_timed() {
        let counters = Counters::default();
        let wal = counters.of(Role::Wal);
        for _ in 0..129 {
            wal.seal(4096, || Ok::<(), ()>(())).unwrap();
        }
        assert_eq!(wal.samples.load(Ordering::Relaxed), 3);
        assert_eq!(wal.read().pages_sealed, 129);
        assert_eq!(wal.read().bytes, 129 * 4096);
        assert_eq!(counters.of(Role::Main).read(), Reading::default());
    }
}
