//! How the log was written and brought into the database: what `selenite_status` says of it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one process, which only ever grow.
#[derive(Default)]
pub struct LogCounters {
    frames: AtomicU64,
    writes: AtomicU64,
    carried: AtomicU64,
}

/// A reading of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogReading {
    /// Frames, or pages of frames, that were written to a log.
    pub frames_written: u64,
    /// In how many writes.
    pub writes: u64,
    /// Pages that a checkpoint brought into the database as they were sealed in the log.
    pub pages_carried: u64,
}

impl LogCounters {
    /// Counts one write of so many frames.
    pub fn note_write(&self, frames: usize) {
        self.frames
            .fetch_add(u64::try_from(frames).unwrap_or(0), Ordering::Relaxed);
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a page that was brought over as it was sealed.
    pub fn note_carried(&self) {
        self.carried.fetch_add(1, Ordering::Relaxed);
    }

    /// Their present values.
    #[must_use]
    pub fn read(&self) -> LogReading {
        LogReading {
            frames_written: self.frames.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            pages_carried: self.carried.load(Ordering::Relaxed),
        }
    }
}
