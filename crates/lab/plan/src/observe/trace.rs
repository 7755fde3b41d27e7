//! An application with SQLite and Selenite's extension, by a trace of its calls (FORMAT 14).
//!
//! Calls become operations as the counts of [`super::sqlite`] do. Intervals are windows of 10 s.
//! Temporary files are not included. A file that was open before the trace began is not in it.

use std::collections::{BTreeMap, BTreeSet};

use selenite_format::page_run::Runs;
use selenite_format::trace::{TraceEvent, TraceRecord, TraceRole};

use super::snapshot::Supplement;
use super::sqlite::FileTotals;
use crate::observation::{Engine, ObservedInterval};
use crate::{Observation, PlanError};

/// Collects the records of one trace or several, each in its order.
#[derive(Debug, Default)]
pub struct TraceObserver {
    /// By the trace's number and the file's.
    files: BTreeMap<(usize, u32), TracedFile>,
    /// By their number since 1970-01-01.
    windows: BTreeMap<u64, FileTotals>,
    /// Databases with a write-ahead log, by the trace's number and theirs.
    logs: BTreeSet<(usize, u32)>,
    /// Database files of which the current transaction has written in rollback mode.
    writing: BTreeSet<(usize, u32)>,
    /// Connections of clients, by the trace's number and theirs.
    connections: BTreeSet<(usize, u32)>,
    /// How often each size of a page was read or written.
    sizes: BTreeMap<u32, u64>,
    /// The first and the last moment.
    times: Option<(u64, u64)>,
    traces: usize,
    /// What the traces are called, in their order.
    names: Vec<String>,
    /// Traces that have reached their limit.
    full: BTreeSet<usize>,
    /// Traces with bytes at the end that are no whole section.
    cut: BTreeSet<usize>,
}

#[derive(Debug)]
struct TracedFile {
    role: TraceRole,
    database: u32,
    read_end: Option<u64>,
    /// The pages read in sequence in this transaction.
    runs: Runs,
    /// Where the last byte that was written ends.
    written_end: u64,
}

impl TraceObserver {
    /// The records that follow are of another process, whose trace has this name.
    pub fn begin_trace(&mut self, name: &str) {
        self.traces += 1;
        self.names.push(name.to_owned());
    }

    /// Adds records of the last trace that was begun.
    pub fn add(&mut self, records: &[TraceRecord]) {
        for record in records {
            self.record(record);
        }
    }

    /// The trace that was begun last ends, with so many bytes that are no whole section.
    pub fn end_trace(&mut self, left_over: usize) {
        if left_over > 0 {
            self.cut.insert(self.traces);
        }
    }

    /// What the traces lack, for display. A process that exits closes its files.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let is_told = |trace: &usize| self.full.contains(trace) || self.cut.contains(trace);
        let open = self.files.keys().map(|(trace, _)| *trace);
        let open: BTreeSet<usize> = open.filter(|trace| !is_told(trace)).collect();
        let notes = [
            (
                &self.full,
                "the limit of a trace was reached: what came later is not included",
            ),
            (
                &self.cut,
                "the end is no whole section, and left out: the process was killed while it wrote, or still writes; \
                 the file was copied in part; or these bytes are not the trace's. How much is missing is not known",
            ),
            (
                &open,
                "files are open at the end: the process was killed or still runs, and its last calls, of at most a \
                 second, are not included; or the file was copied in part, and more is missing",
            ),
        ];
        let is_there = |(traces, _): &(&BTreeSet<usize>, &str)| !traces.is_empty();
        let note = |(traces, what): (&BTreeSet<usize>, &str)| format!("{}: {what}", self.named(traces));
        notes.into_iter().filter(is_there).map(note).collect()
    }

    /// The names of all traces, for errors.
    #[must_use]
    pub fn place(&self) -> String {
        self.named(&(1..=self.traces).collect())
    }

    fn named(&self, traces: &BTreeSet<usize>) -> String {
        let names = traces
            .iter()
            .filter_map(|number| self.names.get(number.checked_sub(1)?));
        let first: Vec<&str> = names.take(NAMES_MAX).map(String::as_str).collect();
        let text = first.join(", ");
        match traces.len() - first.len() {
            0 if text.is_empty() => "no trace".to_owned(),
            0 => text,
            more => format!("{text} and {more} others"),
        }
    }

    fn record(&mut self, record: &TraceRecord) {
        let at = record.microseconds;
        let (first, last) = self.times.unwrap_or((at, at));
        self.times = Some((first.min(at), last.max(at)));
        let totals = self.windows.entry(at / WINDOW).or_default();
        match record.event {
            TraceEvent::Open { file, role, database } => {
                let opened = TracedFile {
                    role,
                    database,
                    read_end: None,
                    runs: Runs::default(),
                    written_end: 0,
                };
                self.files.insert((self.traces, file), opened);
                if role == TraceRole::Wal {
                    self.logs.insert((self.traces, database));
                }
            }
            TraceEvent::Close { file } => drop(self.files.remove(&(self.traces, file))),
            TraceEvent::Commit { .. } => totals.commits += 1.0,
            TraceEvent::Begin { file } => {
                totals.transactions += 1.0;
                self.writing.remove(&(self.traces, file));
                if let Some(known) = self.files.get_mut(&(self.traces, file)) {
                    known.runs.clear();
                    if !self.logs.contains(&(self.traces, known.database)) {
                        totals.rollback_transactions += 1.0;
                    }
                }
            }
            TraceEvent::Full => drop(self.full.insert(self.traces)),
            TraceEvent::Sync { .. } => {}
            TraceEvent::Received { connection, size } | TraceEvent::Sent { connection, size } => {
                totals.packets += 1.0;
                totals.packet_bytes += f64::from(size);
                if self.connections.insert((self.traces, connection)) {
                    totals.connections += 1.0;
                }
            }
            TraceEvent::Read { file, offset, size } => self.read(at, file, offset, size),
            TraceEvent::Write { file, offset, size } => self.write(at, file, offset, size),
        }
    }

    fn read(&mut self, at: u64, file: u32, offset: u64, size: u32) {
        let totals = self.windows.entry(at / WINDOW).or_default();
        let Some(file) = self.files.get_mut(&(self.traces, file)) else {
            return;
        };
        let bytes = f64::from(size);
        let end = file.read_end.replace(offset.saturating_add(size.into()));
        match file.role {
            TraceRole::Database => {
                totals.reads += 1.0;
                totals.read += bytes;
                if file
                    .runs
                    .note_read(offset, usize::try_from(size).unwrap_or(usize::MAX), end)
                {
                    totals.reads_following += 1.0;
                    totals.read_following += bytes;
                }
                *self.sizes.entry(size).or_default() += 1;
            }
            TraceRole::Wal => totals.log_read += bytes,
            TraceRole::Journal => totals.journal_read += bytes,
            TraceRole::Temporary => {}
        }
    }

    fn write(&mut self, at: u64, number: u32, offset: u64, size: u32) {
        let totals = self.windows.entry(at / WINDOW).or_default();
        let Some(file) = self.files.get_mut(&(self.traces, number)) else {
            return;
        };
        let bytes = f64::from(size);
        let end = file.written_end;
        file.written_end = end.max(offset.saturating_add(size.into()));
        match file.role {
            TraceRole::Database => {
                totals.written += bytes;
                let is_wal = self.logs.contains(&(self.traces, file.database));
                if !is_wal && self.writing.insert((self.traces, number)) {
                    totals.rollback_commits += 1.0;
                }
                *self.sizes.entry(size).or_default() += 1;
            }
            TraceRole::Wal => {
                totals.log_written += bytes;
                // A log begins empty: SQLite removes it when the last connection closes.
                if offset >= end {
                    totals.log_appended += bytes;
                }
            }
            TraceRole::Journal => totals.journal_written += bytes,
            TraceRole::Temporary => {}
        }
    }

    /// The observation.
    ///
    /// # Errors
    /// [`PlanError::Input`] for traces without a call for a database, or of a single moment.
    pub fn finish(self, supplement: &Supplement) -> Result<Observation, PlanError> {
        let is_page = |size: &u32| size.is_power_of_two() && (512..=65_536).contains(size);
        let pages = self.sizes.iter().filter(|(size, _)| is_page(size));
        let Some((page_size, _)) = pages.max_by_key(|(_, count)| **count) else {
            return Err(PlanError::input(
                self.place(),
                "no page of a database was read or written",
            ));
        };
        let (first, last) = self.times.unwrap_or_default();
        if last == first {
            return Err(PlanError::input(self.place(), "it has a single moment"));
        }
        if last / WINDOW - first / WINDOW >= WINDOWS_MAX {
            return Err(PlanError::input(self.place(), "it is longer than a month"));
        }
        let page = f64::from(*page_size);
        let intervals = (first / WINDOW..=last / WINDOW).map(|window| {
            let (begin, end) = (first.max(window * WINDOW), last.min((window + 1) * WINDOW));
            ObservedInterval {
                // The last window may be a moment.
                seconds: end.saturating_sub(begin).max(1000) as f64 / 1e6,
                load: self
                    .windows
                    .get(&window)
                    .map_or_else(Default::default, |totals| totals.load(page)),
                requests: None,
                cpu_seconds: None,
            }
        });
        supplement.complete(Observation {
            engine: Engine::Sqlite,
            notes: self.missing(),
            page_size: *page_size,
            cores: None,
            database_mib: None,
            serialized_share: None,
            intervals: intervals.collect(),
        })
    }
}

/// Microseconds of an interval: 10 s.
const WINDOW: u64 = 10_000_000;
/// A note lists no more.
const NAMES_MAX: usize = 3;
/// A month.
const WINDOWS_MAX: u64 = 31 * 24 * 360;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn record(seconds: f64, event: TraceEvent) -> TraceRecord {
        // Tests name moments of a few minutes.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let microseconds = 1_000_000_000_000 + (seconds * 1e6) as u64;
        TraceRecord { microseconds, event }
    }

    fn open(file: u32, role: TraceRole) -> TraceRecord {
        record(
            0.0,
            TraceEvent::Open {
                file,
                database: 1,
                role,
            },
        )
    }

    fn read(seconds: f64, file: u32, page: u64, size: u32) -> TraceRecord {
        let offset = page * 4096;
        record(seconds, TraceEvent::Read { file, offset, size })
    }

    #[test]
    fn calls_become_operations_in_their_windows() {
        let mut observer = TraceObserver::default();
        observer.begin_trace("app.trace.1");
        observer.add(&[
            open(1, TraceRole::Database),
            open(2, TraceRole::Wal),
            read(0.0, 1, 5, 4096),
            read(1.0, 1, 6, 4096),
            read(2.0, 1, 9, 8192),
            record(
                3.0,
                TraceEvent::Write {
                    file: 2,
                    offset: 32,
                    size: 4120,
                },
            ),
            record(
                3.0,
                TraceEvent::Write {
                    file: 2,
                    offset: 32,
                    size: 4120,
                },
            ),
            record(2.5, TraceEvent::Begin { file: 1 }),
            record(3.0, TraceEvent::Commit { database: 1, frames: 1 }),
            record(20.0, TraceEvent::Sync { file: 2 }),
        ]);
        let observation = observer.finish(&Supplement::default()).unwrap();
        assert_eq!((observation.page_size, observation.intervals.len()), (4096, 3));
        let load = &observation.intervals[0].load;
        assert_eq!(load.amount(Operation::ReadSequential).count, 2.0);
        assert_eq!(load.amount(Operation::ReadRandom).count, 2.0);
        // The log grows by the first write; the second one is over it.
        assert_eq!(load.amount(Operation::Append).count, 1.0);
        assert_eq!(load.amount(Operation::Write).count, 1.0);
        assert_eq!(load.amount(Operation::Transaction).count, 1.0);
        assert_eq!(load.amount(Operation::Commit).count, 1.0);
        assert!(observation.intervals[1].load.is_zero());
        assert!((observation.seconds() - 20.0).abs() < 0.01);
    }

    #[test]
    fn a_transaction_that_writes_the_database_without_a_log_is_a_commit_in_rollback_mode() {
        let mut observer = TraceObserver::default();
        observer.begin_trace("app.trace.1");
        let begin = |seconds| record(seconds, TraceEvent::Begin { file: 1 });
        let write = |seconds, file| {
            let (offset, size) = (4096, 4096);
            record(seconds, TraceEvent::Write { file, offset, size })
        };
        observer.add(&[
            open(1, TraceRole::Database),
            open(2, TraceRole::Journal),
            begin(0.0),
            write(0.5, 2),
            write(0.6, 1),
            write(0.7, 1),
            begin(1.0),
            read(1.5, 1, 5, 4096),
            begin(2.0),
            write(2.5, 1),
        ]);
        let load = observer
            .finish(&Supplement::default())
            .unwrap()
            .intervals
            .remove(0)
            .load;
        assert_eq!(load.amount(Operation::RollbackCommit).count, 2.0);
        assert_eq!(load.amount(Operation::RollbackTransaction).count, 3.0);
        assert_eq!(load.amount(Operation::Transaction).count, 0.0);
        assert_eq!(load.amount(Operation::Commit).count, 0.0);
    }

    #[test]
    fn files_of_two_processes_have_numbers_of_their_own() {
        let mut observer = TraceObserver::default();
        for role in [TraceRole::Database, TraceRole::Temporary] {
            observer.begin_trace("app.trace.1");
            observer.add(&[open(1, role), read(1.0, 1, 5, 4096)]);
        }
        let observation = observer.finish(&Supplement::default()).unwrap();
        assert_eq!(
            observation
                .load_per_second()
                .amount(Operation::ReadRandom)
                .count
                .round(),
            1.0
        );
    }

    #[test]
    fn a_trace_without_its_end_is_noted_with_what_is_known() {
        let notes = |records: &[TraceRecord], left_over: usize| {
            let mut observer = TraceObserver::default();
            observer.begin_trace("app.trace.7");
            observer.add(&[open(1, TraceRole::Database), read(1.0, 1, 5, 4096)]);
            observer.add(records);
            observer.end_trace(left_over);
            observer.finish(&Supplement::default()).unwrap().notes.join("\n")
        };
        let close = record(2.0, TraceEvent::Close { file: 1 });
        assert_eq!(notes(&[close], 0), "");
        // Nothing says why bytes are no section, or how many more there were.
        for records in [&[close][..], &[]] {
            let cut = notes(records, 3);
            assert!(cut.starts_with("app.trace.7: the end is no whole section"), "{cut}");
            assert!(!cut.contains("second"), "{cut}");
        }
        let open = notes(&[], 0);
        assert!(open.starts_with("app.trace.7: files are open at the end"), "{open}");
        assert!(open.contains("copied in part"), "{open}");
        // Behind the limit nothing is recorded, not even the end.
        let full = notes(&[record(2.0, TraceEvent::Full)], 0);
        assert!(
            full.starts_with("app.trace.7: the limit") && !full.contains("open"),
            "{full}"
        );
    }

    #[test]
    fn an_error_of_traces_names_their_files() {
        let mut observer = TraceObserver::default();
        for number in 1..=5 {
            observer.begin_trace(&format!("t.{number}"));
        }
        let error = observer.finish(&Supplement::default()).unwrap_err().to_string();
        assert!(error.starts_with("t.1, t.2, t.3 and 2 others: no page"), "{error}");
    }

    #[test]
    fn a_trace_without_pages_or_of_a_moment_is_refused_and_a_full_one_noted() {
        let refused = |records: &[TraceRecord]| {
            let mut observer = TraceObserver::default();
            observer.begin_trace("app.trace.1");
            observer.add(records);
            observer.finish(&Supplement::default())
        };
        assert!(refused(&[]).is_err());
        assert!(refused(&[open(1, TraceRole::Database), read(0.0, 1, 5, 4096)]).is_err());
        assert!(refused(&[open(1, TraceRole::Database), read(3.0, 1, 5, 100)]).is_err());
        let late = [
            open(1, TraceRole::Database),
            read(0.0, 1, 5, 4096),
            read(1e9, 1, 5, 4096),
        ];
        assert!(refused(&late).is_err());
        let full = [
            open(1, TraceRole::Database),
            read(3.0, 1, 5, 4096),
            record(4.0, TraceEvent::Full),
        ];
        assert_eq!(refused(&full).unwrap().notes.len(), 1);
    }
}
