//! Counts the calls to the VFS below for one file: number, bytes and time.
//!
//! - physical-only: only calls to the VFS below are counted. A page from the pool, from pages read
//!   ahead or from the frame buffer is not a read. Files are never memory-mapped, so every byte is
//!   read by a call.
//! - history-by-calls: the first call after the end of a minute enters a mark in the history of its
//!   database, before it is counted itself. It takes a lock once a minute; no timer thread is
//!   needed.

use std::sync::Arc;
use std::time::Instant;

use crate::database_meter::DatabaseMeter;
use crate::file_counts::{
    BYTES_FOLLOWING, COUNT_COUNT, CallKind, FileSums, READ, READS_FOLLOWING, SYNC, TRANSACTIONS, WRITE,
};
use crate::owned_counts::OwnedCounts;
use crate::trace_recorder::TracedFile;

/// Counts the calls for one open file.
pub struct FileMeter {
    counts: OwnedCounts<COUNT_COUNT>,
    /// The database of the file, and when the next mark in its history is due.
    history: Option<(Instant, Arc<DatabaseMeter>)>,
    /// The offset where the last read ended.
    read_end: Option<u64>,
    /// Where its calls are recorded.
    trace: Option<TracedFile>,
}

impl FileMeter {
    pub(crate) fn new(sums: &FileSums) -> Self {
        Self {
            counts: sums.owned(),
            history: None,
            read_end: None,
            trace: None,
        }
    }

    /// A meter that also maintains the history of its database.
    pub(crate) fn of_database(sums: &FileSums, database: &Arc<DatabaseMeter>) -> Self {
        Self {
            counts: sums.owned(),
            history: Some((database.due(), database.clone())),
            read_end: None,
            trace: None,
        }
    }

    /// Runs and counts a read of `size` bytes at `offset`.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn read<E>(&mut self, offset: u64, size: usize, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let bytes = u64::try_from(size).unwrap_or(0);
        let end = self.read_end.replace(offset.saturating_add(bytes));
        self.run(READ, (offset, size), call)?;
        if end == Some(offset) {
            self.counts.add(READS_FOLLOWING, 1);
            self.counts.add(BYTES_FOLLOWING, bytes);
        }
        Ok(())
    }

    /// Runs `call`, a write of `size` bytes at `offset`, and counts it.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn write<E>(&mut self, offset: u64, size: usize, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.run(WRITE, (offset, size), call)
    }

    /// Runs `call`, a sync, and counts it.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn sync<E>(&mut self, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.run(SYNC, (0, 0), call)
    }

    /// Counts a read transaction that has begun.
    pub fn begin_transaction(&mut self) {
        self.counts.add(TRANSACTIONS, 1);
        if let Some(trace) = &self.trace {
            trace.begin();
        }
    }

    fn run<E>(
        &mut self,
        kind: CallKind,
        (offset, size): (u64, usize),
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
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
        if let (Ok(()), Some(trace)) = (&done, &self.trace) {
            trace.record(kind.traced, start, offset, size);
        }
        done
    }

    /// Records the calls from now on.
    pub(crate) fn traced(mut self, trace: Option<TracedFile>) -> Self {
        self.trace = trace;
        self
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::file_counts::{DatabaseFileCounts, FileCounts, of_sync};
    use crate::role::Role;

    #[test]
    fn bytes_of_a_call_that_failed_do_not_count() {
        let sums = FileSums::default();
        let mut meter = FileMeter::new(&sums);
        assert_eq!(meter.read(0, 10, || Err("short")), Err("short"));
        assert_eq!(meter.read::<()>(50, 20, || Ok(())), Ok(()));
        assert_eq!(meter.write::<()>(0, 30, || Ok(())), Ok(()));
        assert_eq!(meter.sync(|| Err("no disk")), Err("no disk"));
        sums.add(of_sync(1000));
        let counts = FileCounts::read_from(&sums);
        assert_eq!((counts.reads, counts.bytes_read), (2, 20));
        assert_eq!((counts.writes, counts.bytes_written), (1, 30));
        assert!(counts.syncs == 2 && counts.sync_ns >= 1000);
    }

    #[test]
    fn a_read_follows_where_it_begins_at_the_end_of_the_one_before() {
        let sums = FileSums::default();
        let mut meter = FileMeter::new(&sums);
        for (offset, size) in [(0, 10), (10, 20), (30, 5), (0, 10), (40, 8), (48, 8)] {
            meter.read::<()>(offset, size, || Ok(())).unwrap();
        }
        // A read that failed is no part of the count, and the position behind it is.
        assert_eq!(meter.read(56, 8, || Err("short")), Err("short"));
        let counts = FileCounts::read_from(&sums);
        assert_eq!((counts.reads, counts.bytes_read), (7, 61));
        assert_eq!((counts.reads_following, counts.bytes_following), (3, 33));
    }

    #[test]
    fn the_call_that_finds_a_minute_over_enters_it_before_it_is_counted() {
        let began = Instant::now().checked_sub(Duration::from_secs(150)).unwrap();
        let database = Arc::new(DatabaseMeter::new(began));
        let mut meter = FileMeter::of_database(database.of(Role::Wal).unwrap(), &database);
        meter.write::<()>(0, 30, || Ok(())).unwrap();
        let (due, _) = meter.history.as_ref().unwrap();
        assert_eq!(*due, began + Duration::from_secs(180));
        let report = database.report();
        assert_eq!(report.counts.files.wal.bytes_written, 30);
        for (period, seconds) in [(report.present, 30), (report.hour, 150)] {
            let period = period.unwrap();
            assert_eq!(period.from.files, DatabaseFileCounts::default());
            let late = period.length.checked_sub(Duration::from_secs(seconds)).unwrap();
            assert!(late < Duration::from_secs(20), "{late:?}");
        }
    }
}
