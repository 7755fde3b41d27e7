//! Counts of the calling thread's reads and writes of database files.
//!
//! - per-thread-counters: each thread has its own counts, without atomics: a caller that shows its
//!   counts to others copies them.

use std::cell::Cell;

/// The counts of one thread since it started. They never decrease.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ThreadIo {
    /// Reads of files, whether of one page or of several.
    pub reads: u64,
    /// Writes of files.
    pub writes: u64,
    /// Pages found in the pool.
    pub pool_hits: u64,
    /// Pages that were read ahead and then requested.
    pub ahead_used: u64,
    /// Pages that were read ahead and never requested.
    pub ahead_wasted: u64,
}

/// The current counts of the calling thread.
#[must_use]
pub fn read() -> ThreadIo {
    OF_THREAD.get()
}

/// Changes the counts of the calling thread.
pub(crate) fn note(change: impl FnOnce(&mut ThreadIo)) {
    // A thread that is ending is no longer counted.
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
