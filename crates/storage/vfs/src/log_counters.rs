//! Counts of writes to the log and of checkpointed pages, for `selenite_status`.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of one process. They never decrease.
#[derive(Default)]
pub struct LogCounters {
    frames: AtomicU64,
    writes: AtomicU64,
    carried: AtomicU64,
}

/// A reading of the counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogReading {
    /// Frames, or pages of frames, written to a log.
    pub frames_written: u64,
    /// The number of writes.
    pub writes: u64,
    /// Pages that a checkpoint copied into the database without sealing them again.
    pub pages_carried: u64,
}

impl LogCounters {
    /// Counts one write of `frames` frames.
    pub fn note_write(&self, frames: usize) {
        self.frames
            .fetch_add(u64::try_from(frames).unwrap_or(0), Ordering::Relaxed);
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a page that was copied without sealing it again.
    pub fn note_carried(&self) {
        self.carried.fetch_add(1, Ordering::Relaxed);
    }

    /// The current values.
    #[must_use]
    pub fn read(&self) -> LogReading {
        LogReading {
            frames_written: self.frames.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            pages_carried: self.carried.load(Ordering::Relaxed),
        }
    }
}
