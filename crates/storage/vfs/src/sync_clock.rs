//! The time that this process has spent in syncs. Measurements of how long a write lock was held
//! subtract it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The time spent in syncs of all files of one copy of SQLite.
#[derive(Default)]
pub struct SyncClock(AtomicU64);

impl SyncClock {
    /// Runs `sync`, and adds its time.
    pub fn time<T>(&self, sync: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let synced = sync();
        let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(took, Ordering::Relaxed);
        synced
    }

    /// Nanoseconds so far.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
