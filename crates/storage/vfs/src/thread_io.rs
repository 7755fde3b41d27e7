//! What the calling thread has read and written in files of ours.
//!
//! - per-thread-counters: a thread counts for itself, without atomics: a caller that wants to show its
//!   figures to others copies them.

use std::cell::Cell;

/// Counts of one thread since it began. They only ever grow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ThreadIo {
    /// Reads of files, whether of one page or of several.
    pub reads: u64,
    /// Writes of files.
    pub writes: u64,
    /// Pages that the pool had.
    pub pool_hits: u64,
    /// Pages that were read ahead, and then asked for.
    pub ahead_used: u64,
    /// Pages that were read ahead, and never asked for.
    pub ahead_wasted: u64,
}

/// Those of the calling thread, up to now.
#[must_use]
pub fn read() -> ThreadIo {
    OF_THREAD.get()
}

/// Counts something.
pub(crate) fn note(change: impl FnOnce(&mut ThreadIo)) {
    // A thread that is ending counts no more.
    let _ = OF_THREAD.try_with(|counts| {
        let mut present = counts.get();
        change(&mut present);
        counts.set(present);
    });
}

thread_local! {
    static OF_THREAD: Cell<ThreadIo> = const { Cell::new(ThreadIo {
        reads: 0,
        writes: 0,
        pool_hits: 0,
        ahead_used: 0,
        ahead_wasted: 0,
    }) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_counts_for_itself() {
        note(|counts| counts.reads += 2);
        let other = std::thread::spawn(|| {
            note(|counts| counts.reads += 1);
            read().reads
        });
        assert_eq!(other.join().unwrap(), 1);
        assert_eq!(read().reads, 2);
    }
}
