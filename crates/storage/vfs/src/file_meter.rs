//! What the VFS below is asked for one file: calls, bytes and time.
//!
//! - physical-only: only a call of the VFS below counts. A page from the pool, from the pages that were read ahead or
//!   from the frame buffer is no read. Files are never memory-mapped, so every byte comes by a read.
//! - history-by-calls: the call that finds a minute over enters a mark in the history of its database, before it is
//!   counted itself. It takes a lock once a minute; no thread waits for the minute.

use std::sync::Arc;
use std::time::Instant;

use crate::database_meter::DatabaseMeter;
use crate::owned_counts::{CountSums, OwnedCounts};

/// Reads, writes and syncs of a file, by all connections of this process, since the file was first opened.
///
/// They only ever grow, also over closing and reopening. A call that failed is counted with its time, but without
/// bytes; so is a read that was cut short by the end of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileCounts {
    /// Calls that read, of one page or of several.
    pub reads: u64,
    /// Bytes that they read.
    pub bytes_read: u64,
    /// Nanoseconds in them.
    pub read_ns: u64,
    /// Calls that wrote.
    pub writes: u64,
    /// Bytes that they wrote.
    pub bytes_written: u64,
    /// Nanoseconds in them.
    pub write_ns: u64,
    /// Syncs.
    pub syncs: u64,
    /// Nanoseconds in them.
    pub sync_ns: u64,
}

impl FileCounts {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            reads: self.reads.wrapping_add(other.reads),
            bytes_read: self.bytes_read.wrapping_add(other.bytes_read),
            read_ns: self.read_ns.wrapping_add(other.read_ns),
            writes: self.writes.wrapping_add(other.writes),
            bytes_written: self.bytes_written.wrapping_add(other.bytes_written),
            write_ns: self.write_ns.wrapping_add(other.write_ns),
            syncs: self.syncs.wrapping_add(other.syncs),
            sync_ns: self.sync_ns.wrapping_add(other.sync_ns),
        }
    }

    /// What was counted since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            bytes_read: self.bytes_read.saturating_sub(earlier.bytes_read),
            read_ns: self.read_ns.saturating_sub(earlier.read_ns),
            writes: self.writes.saturating_sub(earlier.writes),
            bytes_written: self.bytes_written.saturating_sub(earlier.bytes_written),
            write_ns: self.write_ns.saturating_sub(earlier.write_ns),
            syncs: self.syncs.saturating_sub(earlier.syncs),
            sync_ns: self.sync_ns.saturating_sub(earlier.sync_ns),
        }
    }

    pub(crate) fn read_from(sums: &FileSums) -> Self {
        let [
            reads,
            bytes_read,
            read_ns,
            writes,
            bytes_written,
            write_ns,
            syncs,
            sync_ns,
        ] = sums.read();
        Self {
            reads,
            bytes_read,
            read_ns,
            writes,
            bytes_written,
            write_ns,
            syncs,
            sync_ns,
        }
    }
}

/// The counts of all open files of one path and role.
pub(crate) type FileSums = CountSums<COUNT_COUNT>;

/// Counts the calls for one open file.
pub struct FileMeter {
    counts: OwnedCounts<COUNT_COUNT>,
    /// The database of the file, and when its history is due.
    history: Option<(Instant, Arc<DatabaseMeter>)>,
}

impl FileMeter {
    pub(crate) fn new(sums: &FileSums) -> Self {
        Self {
            counts: sums.owned(),
            history: None,
        }
    }

    /// A meter that keeps the history of its database, too.
    pub(crate) fn of_database(sums: &FileSums, database: &Arc<DatabaseMeter>) -> Self {
        Self {
            counts: sums.owned(),
            history: Some((database.due(), database.clone())),
        }
    }

    /// Runs and counts a read of `size` bytes.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn read<E>(&mut self, size: usize, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.run(READ, size, call)
    }

    /// Runs and counts a write of `size` bytes.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn write<E>(&mut self, size: usize, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.run(WRITE, size, call)
    }

    /// Runs and counts a sync.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn sync<E>(&mut self, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.run(SYNC, 0, call)
    }

    fn run<E>(&mut self, kind: Kind, size: usize, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let start = Instant::now();
        if let Some((due, database)) = &mut self.history
            && start >= *due
        {
            *due = database.advance(start);
        }
        let done = call();
        let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.counts.add(kind.calls, 1);
        self.counts.add(kind.ns, ns);
        if let (Ok(()), Some(bytes)) = (&done, kind.bytes) {
            self.counts.add(bytes, u64::try_from(size).unwrap_or(0));
        }
        done
    }
}

/// The counts of a sync that took so long, and that no open file's meter has seen.
pub(crate) fn of_sync(ns: u64) -> [u64; COUNT_COUNT] {
    let mut counts = [0; COUNT_COUNT];
    counts[SYNC.calls] = 1;
    counts[SYNC.ns] = ns;
    counts
}

/// Where the counts of one kind of call are.
#[derive(Clone, Copy)]
struct Kind {
    calls: usize,
    bytes: Option<usize>,
    ns: usize,
}

const READ: Kind = Kind {
    calls: 0,
    bytes: Some(1),
    ns: 2,
};
const WRITE: Kind = Kind {
    calls: 3,
    bytes: Some(4),
    ns: 5,
};
const SYNC: Kind = Kind {
    calls: 6,
    bytes: None,
    ns: 7,
};
pub(crate) const COUNT_COUNT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_call_that_failed_do_not_count() {
        let sums = FileSums::default();
        let mut meter = FileMeter::new(&sums);
        assert_eq!(meter.read(10, || Err("short")), Err("short"));
        assert_eq!(meter.read::<()>(20, || Ok(())), Ok(()));
        assert_eq!(meter.write::<()>(30, || Ok(())), Ok(()));
        assert_eq!(meter.sync(|| Err("no disk")), Err("no disk"));
        sums.add(of_sync(1000));
        let counts = FileCounts::read_from(&sums);
        assert_eq!((counts.reads, counts.bytes_read), (2, 20));
        assert_eq!((counts.writes, counts.bytes_written), (1, 30));
        assert!(counts.syncs == 2 && counts.sync_ns >= 1000);
    }
}
