//! Counts the calls to the VFS below for one file: number, bytes and time.
//!
//! - physical-only: only calls to the VFS below are counted. A page from the pool, from pages read
//!   ahead or from the frame buffer is not a read. Files are never memory-mapped, so every byte is
//!   read by a call.
//! - timed-by-sample: each sync is timed, and of the reads and of the writes of a file the first and
//!   then one in `SAMPLE_EVERY`, which counts for those before it that were not: reading the clock
//!   twice costs a twentieth of reading a page from the system's cache. While calls are recorded,
//!   each is timed.
//! - reads-in-sequence: in a scan, most reads are of the page behind the previous one. What they need is
//!   in one cache line, and the rest is told of them when the sequence ends, or a read is timed.
//! - history-by-calls: the first timed call after the end of a minute enters a mark in the history
//!   of its database, before it is counted itself. It takes a lock once a minute; no timer thread is
//!   needed.

use std::sync::Arc;
use std::time::Instant;

use selenite_format::page_run::Runs;

use crate::database_meter::DatabaseMeter;
use crate::file_counts::{
    BYTES_APPENDED, BYTES_FOLLOWING, BYTES_READ, COUNT_COUNT, CallKind, FileSums, READ, READS_FOLLOWING,
    ROLLBACK_COMMITS, ROLLBACK_TRANSACTIONS, SYNC, TRANSACTIONS, WRITE,
};
use crate::owned_counts::OwnedCounts;
use crate::trace_recorder::TracedFile;

/// Counts the calls for one open file.
pub struct FileMeter {
    counts: OwnedCounts<COUNT_COUNT>,
    sequence: Sequence,
    /// The database of the file, and when the next mark in its history is due.
    history: Option<(Instant, Arc<DatabaseMeter>)>,
    /// The offset where the last read ended.
    read_end: Option<u64>,
    /// The pages read in sequence in this transaction.
    runs: Runs,
    /// Of a log: whether what is appended is counted.
    is_log: bool,
    /// The size of a log, or more, once it was written.
    end: Option<u64>,
    /// Where its calls are recorded.
    trace: Option<TracedFile>,
    /// Reads and writes since the last one that was timed; none before the first one.
    untimed: [Option<u32>; 2],
}

/// reads-in-sequence. The reads of a run forwards that `FileMeter`'s other fields do not know of yet.
#[derive(Default)]
struct Sequence {
    /// The offset of the next page.
    next: u64,
    /// The size of a page.
    size: usize,
    /// Reads that may follow before one is timed. 0 if there is no sequence.
    left: u32,
    /// Reads that have followed.
    reads: u32,
}

impl FileMeter {
    pub(crate) fn new(sums: &FileSums) -> Self {
        Self {
            counts: sums.owned(),
            sequence: Sequence::default(),
            history: None,
            read_end: None,
            runs: Runs::default(),
            is_log: false,
            end: None,
            trace: None,
            untimed: [None; 2],
        }
    }

    /// A meter that also maintains the history of its database.
    pub(crate) fn of_database(sums: &FileSums, database: &Arc<DatabaseMeter>) -> Self {
        Self {
            history: Some((database.due(), database.clone())),
            ..Self::new(sums)
        }
    }

    /// Runs and counts a read of `size` bytes at `offset`.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn read<E>(&mut self, offset: u64, size: usize, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let bytes = u64::try_from(size).unwrap_or(0);
        if self.sequence.left > 0 && self.sequence.next == offset && self.sequence.size == size {
            call().inspect_err(|_| self.fail_sequence())?;
            self.sequence.next += bytes;
            self.sequence.left -= 1;
            self.sequence.reads += 1;
            for (count, number) in [
                (READ.calls, 1),
                (BYTES_READ, bytes),
                (READS_FOLLOWING, 1),
                (BYTES_FOLLOWING, bytes),
            ] {
                self.counts.add(count, number);
            }
            return Ok(());
        }
        self.leave_sequence();
        let end = self.read_end.replace(offset.saturating_add(bytes));
        self.run(READ, (offset, size), call)?;
        if self.runs.note_read(offset, size, end) {
            self.counts.add(READS_FOLLOWING, 1);
            self.counts.add(BYTES_FOLLOWING, bytes);
            self.enter_sequence(offset, size);
        }
        Ok(())
    }

    /// Begins a sequence behind a read that belongs to a run forwards.
    fn enter_sequence(&mut self, offset: u64, size: usize) {
        let [untimed, _] = self.untimed;
        // While calls are recorded, each is timed.
        if let Some(untimed) = untimed
            && self.trace.is_none()
            && self.runs.is_forwards_at(offset, size)
        {
            self.sequence = Sequence {
                next: offset.saturating_add(u64::try_from(size).unwrap_or(0)),
                size,
                left: SAMPLE_EVERY - 1 - untimed,
                reads: 0,
            };
        }
    }

    /// Ends the sequence.
    fn leave_sequence(&mut self) {
        let Sequence { next, reads, .. } = std::mem::take(&mut self.sequence);
        if reads > 0 {
            self.runs.extend(reads);
            self.read_end = Some(next);
            self.note_untimed(reads);
        }
    }

    /// Ends the sequence by a read that failed: it is no part of the run.
    fn fail_sequence(&mut self) {
        let Sequence { next, size, .. } = self.sequence;
        self.leave_sequence();
        self.read_end = Some(next.saturating_add(u64::try_from(size).unwrap_or(0)));
        self.note_untimed(1);
        self.counts.add(READ.calls, 1);
    }

    fn note_untimed(&mut self, reads: u32) {
        let [untimed, _] = &mut self.untimed;
        *untimed = untimed.map(|count| count + reads);
    }

    /// Runs `call`, a write of `size` bytes at `offset`, and counts it.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn write<E>(&mut self, offset: u64, size: usize, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.run(WRITE, (offset, size), call)?;
        let bytes = u64::try_from(size).unwrap_or(0);
        if let Some(end) = &mut self.end {
            if offset >= *end {
                self.counts.add(BYTES_APPENDED, bytes);
            }
            *end = (*end).max(offset.saturating_add(bytes));
        }
        Ok(())
    }

    /// A meter that also counts what is appended. Where other connections have made the log longer, it counts what
    /// they have appended once more.
    pub(crate) fn of_log(self) -> Self {
        Self { is_log: true, ..self }
    }

    /// Whether it has to be told the size of the file before the next write.
    pub fn needs_size(&self) -> bool {
        self.is_log && self.end.is_none()
    }

    /// Notes the size of the file: after it was opened, and when it was truncated.
    pub fn set_size(&mut self, size: Option<u64>) {
        self.end = size;
    }

    /// Runs `call`, a sync, and counts it.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn sync<E>(&mut self, call: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.run(SYNC, (0, 0), call)
    }

    /// Counts a read transaction that has begun, in rollback mode or not.
    pub fn begin_transaction(&mut self, is_rollback_mode: bool) {
        self.leave_sequence();
        self.runs.clear();
        self.counts.add(TRANSACTIONS, 1);
        if is_rollback_mode {
            self.counts.add(ROLLBACK_TRANSACTIONS, 1);
        }
        if let Some(trace) = &self.trace {
            trace.begin();
        }
    }

    /// Counts a transaction in rollback mode that has written to the database.
    pub fn end_rollback_commit(&mut self) {
        self.counts.add(ROLLBACK_COMMITS, 1);
    }

    fn run<E>(
        &mut self,
        kind: CallKind,
        (offset, size): (u64, usize),
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut untimed = kind.sampled.map(|index| &mut self.untimed[index]);
        if let Some(Some(count)) = &mut untimed
            && *count + 1 < SAMPLE_EVERY
            && self.trace.is_none()
        {
            *count += 1;
            let done = call();
            self.counts.add(kind.calls, 1);
            if let (Ok(()), Some(bytes)) = (&done, kind.bytes) {
                self.counts.add(bytes, u64::try_from(size).unwrap_or(0));
            }
            return done;
        }
        let weight = 1 + u64::from(untimed.and_then(|count| count.replace(0)).unwrap_or(0));
        let start = Instant::now();
        if let Some((due, database)) = &mut self.history
            && start >= *due
        {
            *due = database.advance(start);
        }
        let done = call();
        let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.counts.add(kind.calls, 1);
        self.counts.add(kind.ns, ns.saturating_mul(weight));
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

/// A prime, so that it hits every part of a pattern: a log's frame is two writes. The clock then costs a few nanoseconds
/// a call.
const SAMPLE_EVERY: u32 = 61;

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
    fn reads_in_sequence_count_as_if_each_were_looked_at() {
        const EVERY: usize = SAMPLE_EVERY as usize;
        let sums = FileSums::default();
        let mut meter = FileMeter::new(&sums);
        let (mut runs, mut end, mut expected) = (Runs::default(), None, (0, 0, 0));
        let mut state = 20_261_130_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut page, mut step) = (0, 1);
        for number in 0..40_000 {
            match random(40) {
                0 => page = random(5000),
                1 => step = random(3),
                2 if number % 7 == 0 => {
                    meter.begin_transaction(false);
                    runs.clear();
                }
                _ => page += step,
            }
            let (offset, size) = if random(30) == 0 {
                (page * 16, 16)
            } else {
                (page * 4096, 4096)
            };
            let fails = random(50) == 0;
            let timed = FileCounts::read_from(&sums).read_ns;
            let done = meter.read(offset, size, || if fails { Err("no disk") } else { Ok(()) });
            assert_eq!(done.is_err(), fails);
            let is_timed = FileCounts::read_from(&sums).read_ns > timed;
            assert_eq!(is_timed, number % EVERY == 0, "read {number}");
            let bytes = u64::try_from(size).unwrap();
            let previous = end.replace(offset + bytes);
            expected.0 += 1;
            if !fails && runs.note_read(offset, size, previous) {
                expected.1 += 1;
                expected.2 += bytes;
            }
            let counts = FileCounts::read_from(&sums);
            let found = (counts.reads, counts.reads_following, counts.bytes_following);
            assert_eq!(found, expected, "read {number} at {offset}");
        }
        assert!(expected.1 > 10_000);
    }

    #[test]
    fn a_timed_call_counts_for_those_before_it() {
        const EVERY: usize = SAMPLE_EVERY as usize;
        let sums = FileSums::default();
        let mut meter = FileMeter::new(&sums);
        let mut times = Vec::new();
        for number in 0..2 * SAMPLE_EVERY {
            // Writes have a sample of their own.
            meter.write::<()>(0, 5, || Ok(())).unwrap();
            let call = || {
                let start = Instant::now();
                while number.is_multiple_of(SAMPLE_EVERY) && start.elapsed() < Duration::from_millis(1) {}
                Ok(())
            };
            meter.read::<()>(0, 10, call).unwrap();
            times.push(FileCounts::read_from(&sums).read_ns);
        }
        let counts = FileCounts::read_from(&sums);
        let reads = u64::from(2 * SAMPLE_EVERY);
        assert_eq!((counts.reads, counts.bytes_read), (reads, reads * 10));
        // The first call is one, the one after a whole sample stands for all of it.
        assert!(counts.write_ns > 0, "{counts:?}");
        assert!(times[0] >= 1_000_000 && times[0] == times[EVERY - 1]);
        let sample = times[EVERY] - times[EVERY - 1];
        assert!(
            sample >= u64::from(SAMPLE_EVERY) * 1_000_000 && times[EVERY] == times[2 * EVERY - 1],
            "{times:?}"
        );
    }

    #[test]
    fn pages_in_sequence_are_those_that_would_be_read_ahead() {
        let sums = FileSums::default();
        let mut meter = FileMeter::new(&sums);
        let following = |meter: &mut FileMeter, pages: &[u64]| {
            let before = FileCounts::read_from(&sums).reads_following;
            for page in pages {
                meter.read::<()>(page * 4096, 4096, || Ok(())).unwrap();
            }
            FileCounts::read_from(&sums).reads_following - before
        };
        // Backwards, as an integrity check reads, with a page of another tree in between.
        assert_eq!(following(&mut meter, &[50, 49, 900, 48, 47, 45]), 2);
        // A transaction has runs of its own.
        meter.begin_transaction(false);
        assert_eq!(following(&mut meter, &[44, 43]), 0);
    }

    #[test]
    fn what_is_written_behind_the_end_is_appended() {
        let sums = FileSums::default();
        assert!(!FileMeter::new(&sums).needs_size());
        let mut meter = FileMeter::new(&sums).of_log();
        let appended = || FileCounts::read_from(&sums).bytes_appended;
        assert!(meter.needs_size());
        // Without the size nothing is known.
        meter.write::<()>(0, 10, || Ok(())).unwrap();
        assert_eq!(appended(), 0);
        meter.set_size(Some(100));
        for (offset, size) in [(0, 50), (90, 20), (110, 7), (116, 1), (200, 5)] {
            meter.write::<()>(offset, size, || Ok(())).unwrap();
        }
        assert_eq!(meter.write(205, 9, || Err("full")), Err("full"));
        assert_eq!(appended(), 12);
        meter.set_size(Some(0));
        meter.write::<()>(0, 3, || Ok(())).unwrap();
        assert_eq!(appended(), 15);
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
