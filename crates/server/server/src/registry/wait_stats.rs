//! How sessions waited, all together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::wait_type::WaitType;

/// Waits by their type, since the server began or [`WaitStats::clear`].
pub struct WaitStats {
    /// Moments count from here.
    origin: Instant,
    counters: [Counter; WaitType::ALL.len()],
}

/// The waits of one type up to a moment.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct WaitCounts {
    /// How many.
    pub count: u64,
    /// All of them together.
    pub total: Duration,
    /// The longest.
    pub max: Duration,
}

/// Cache lines of its own: waits for the network and waits for the disk do not share one.
#[derive(Default)]
#[repr(align(64))]
struct Counter {
    count: AtomicU64,
    total_ns: AtomicU64,
    max_ns: AtomicU64,
}

impl Default for WaitStats {
    fn default() -> Self {
        Self {
            origin: Instant::now(),
            counters: Default::default(),
        }
    }
}

impl WaitStats {
    /// What was counted of a type.
    #[must_use]
    pub fn counts(&self, kind: WaitType) -> WaitCounts {
        let counter = &self.counters[kind.index()];
        WaitCounts {
            count: counter.count.load(Ordering::Relaxed),
            total: Duration::from_nanos(counter.total_ns.load(Ordering::Relaxed)),
            max: Duration::from_nanos(counter.max_ns.load(Ordering::Relaxed)),
        }
    }

    /// Counts from 0 again: DBCC SQLPERF. A wait that ends meanwhile may be counted in part.
    pub fn clear(&self) {
        for counter in &self.counters {
            counter.count.store(0, Ordering::Relaxed);
            counter.total_ns.store(0, Ordering::Relaxed);
            counter.max_ns.store(0, Ordering::Relaxed);
        }
    }

    /// Counts several waits, each no longer than all of them together.
    pub(super) fn record(&self, kind: WaitType, count: u64, total: Duration) {
        let total_ns = u64::try_from(total.as_nanos()).unwrap_or(u64::MAX);
        let counter = &self.counters[kind.index()];
        counter.count.fetch_add(count, Ordering::Relaxed);
        counter.total_ns.fetch_add(total_ns, Ordering::Relaxed);
        // Of several that were not measured one by one the mean is the least that the longest can have been.
        let each_ns = total_ns.checked_div(count).unwrap_or(0);
        counter.max_ns.fetch_max(each_ns, Ordering::Relaxed);
    }

    /// Nanoseconds of a moment, from 1 up.
    pub(super) fn moment(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.origin);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_counted_by_type_until_they_are_cleared() {
        let stats = WaitStats::default();
        stats.record(WaitType::WaitFor, 1, Duration::from_millis(5));
        stats.record(WaitType::WaitFor, 2, Duration::from_millis(4));
        let counts = stats.counts(WaitType::WaitFor);
        let expected = WaitCounts {
            count: 3,
            total: Duration::from_millis(9),
            max: Duration::from_millis(5),
        };
        assert_eq!(counts, expected);
        assert_eq!(stats.counts(WaitType::WriteLog), WaitCounts::default());
        stats.clear();
        assert_eq!(stats.counts(WaitType::WaitFor), WaitCounts::default());
    }
}
