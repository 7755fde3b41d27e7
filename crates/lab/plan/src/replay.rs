//! A trace as a script that SQLite can repeat: which pages transactions read and write, and when checkpoints are made.
//!
//! A trace has the calls for files, not the statements. What is repeated has the same calls as far as they depend on
//! the application:
//!
//! - A page that was read from the database is read again, those of one transaction in one transaction. Pages in the
//!   order of the file are read by one scan.
//! - A commit writes as many pages as it had frames. A trace does not say which: the pages that were read last.
//!   In rollback mode they are those that were written.
//! - A page that was read from the log is a page of the database.
//! - A run of writes to the database in WAL mode is a checkpoint.
//!
//! Connections of a process to one database follow one another, and its databases, too: what waits for a lock does not
//! wait here. Pages beyond [`PAGES_BYTES_MAX`] are mapped to pages below.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use selenite_format::trace::{TraceEvent, TraceRecord, TraceRole};
use serde::{Deserialize, Serialize};

use crate::PlanError;

/// What is to be repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayScript {
    /// Seconds of the trace that it covers.
    pub seconds: f64,
    /// The databases: those with the most transactions first.
    pub databases: Vec<ReplayedDatabase>,
    /// How many databases are left out: all together would have more than [`PAGES_BYTES_MAX`] bytes, or be too many.
    pub left_out: usize,
    /// TDS packets sent and received, by their sizes in bytes, rounded up to a power of two.
    pub packets: BTreeMap<u32, u64>,
    /// Clients that connected.
    pub connections: u64,
}

/// A database of a script.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayedDatabase {
    /// Bytes of a page.
    pub page_size: u32,
    /// How many pages it needs.
    pub pages: u32,
    /// Whether it is in WAL mode.
    pub is_wal: bool,
    /// What is done, in order.
    pub steps: Vec<ReplayStep>,
}

/// A step of a script. Pages are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayStep {
    /// A transaction.
    Transaction {
        /// Runs of pages that are read: the first, and how many.
        reads: Vec<(u32, u32)>,
        /// Pages that are written.
        writes: Vec<u32>,
    },
    /// A checkpoint of the log.
    Checkpoint,
}

/// The numbers of a script, for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayTotals {
    /// Transactions, those included that write.
    pub transactions: u64,
    /// Pages read.
    pub pages_read: u64,
    /// Transactions that write.
    pub commits: u64,
    /// Pages that these write.
    pub pages_written: u64,
    /// Checkpoints.
    pub checkpoints: u64,
}

impl ReplayScript {
    /// Its numbers.
    #[must_use]
    pub fn totals(&self) -> ReplayTotals {
        let mut totals = ReplayTotals::default();
        for step in self.databases.iter().flat_map(|database| &database.steps) {
            match step {
                ReplayStep::Checkpoint => totals.checkpoints += 1,
                ReplayStep::Transaction { reads, writes } => {
                    totals.transactions += 1;
                    totals.pages_read += reads.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
                    totals.commits += u64::from(!writes.is_empty());
                    totals.pages_written += writes.len() as u64;
                }
            }
        }
        totals
    }
}

/// Makes a script of the records of traces, each in its order.
#[derive(Debug, Default)]
pub struct ReplayBuilder {
    traces: usize,
    /// By the trace's number and the file's: its database and kind.
    files: BTreeMap<(usize, u32), (u32, TraceRole)>,
    /// By the trace's number and the database's.
    databases: BTreeMap<(usize, u32), DatabaseBuilder>,
    packets: BTreeMap<u32, u64>,
    /// By the trace's number and theirs.
    connections: BTreeSet<(usize, u32)>,
    /// Of the current trace: its first and its last moment.
    times: Option<(u64, u64)>,
    microseconds: u64,
    calls: usize,
}

impl ReplayBuilder {
    /// The records that follow are of another process.
    pub fn begin_trace(&mut self) {
        self.end_trace();
        self.traces += 1;
    }

    fn end_trace(&mut self) {
        if let Some((first, last)) = self.times.take() {
            self.microseconds = self.microseconds.saturating_add(last - first);
        }
    }

    /// Whether it has as many calls and pages as a script may have: what follows is left out.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.calls >= CALLS_MAX
    }

    /// Adds a record of the last trace that was begun.
    pub fn add(&mut self, record: &TraceRecord) {
        let at = record.microseconds;
        let (first, last) = self.times.unwrap_or((at, at));
        self.times = Some((first.min(at), last.max(at)));
        match record.event {
            TraceEvent::Open { file, database, role } => {
                self.files.insert((self.traces, file), (database, role));
                if role == TraceRole::Wal {
                    self.databases.entry((self.traces, database)).or_default().is_wal = true;
                }
            }
            TraceEvent::Close { file } => drop(self.files.remove(&(self.traces, file))),
            TraceEvent::Begin { file } => self.in_database(file, 0, |database, _| database.begin()),
            TraceEvent::Commit { database, frames } => {
                self.calls = self.calls.saturating_add(frames.min(FRAMES_MAX) as usize + 1);
                let database = self.databases.entry((self.traces, database)).or_default();
                database.commit(frames);
            }
            TraceEvent::Read { file, offset, size } => {
                self.in_database(file, size, |database, role| database.read(role, offset, size));
            }
            TraceEvent::Write { file, offset, size } => {
                self.in_database(file, size, |database, role| database.write(role, offset, size));
            }
            TraceEvent::Received { connection, size } | TraceEvent::Sent { connection, size } => {
                self.calls = self.calls.saturating_add(1);
                self.connections.insert((self.traces, connection));
                *self.packets.entry(packet_class(size)).or_default() += 1;
            }
            TraceEvent::Sync { .. } | TraceEvent::Full => {}
        }
    }

    fn in_database(&mut self, file: u32, size: u32, change: impl FnOnce(&mut DatabaseBuilder, TraceRole)) {
        let Some((database, role)) = self.files.get(&(self.traces, file)) else {
            return;
        };
        if *role != TraceRole::Temporary {
            self.calls = self.calls.saturating_add((size / PAGE_USUAL) as usize + 1);
            change(self.databases.entry((self.traces, *database)).or_default(), *role);
        }
    }

    /// The script.
    ///
    /// # Errors
    /// [`PlanError::Input`] for traces without a page of a database and without a packet.
    pub fn finish(mut self) -> Result<ReplayScript, PlanError> {
        self.end_trace();
        let mut found: Vec<ReplayedDatabase> = self
            .databases
            .into_values()
            .filter_map(DatabaseBuilder::finish)
            .collect();
        let count = found.len();
        found.sort_by_key(|database| std::cmp::Reverse(database.steps.len()));
        let (mut databases, mut bytes) = (Vec::new(), 0_u64);
        for database in found {
            let size = u64::from(database.pages) * u64::from(database.page_size);
            if bytes + size <= PAGES_BYTES_MAX.into() && databases.len() < DATABASES_MAX {
                bytes += size;
                databases.push(database);
            }
        }
        if databases.is_empty() && self.packets.is_empty() {
            return Err(PlanError::input("trace", "no page of a database was read or written"));
        }
        Ok(ReplayScript {
            seconds: self.microseconds as f64 / 1e6,
            left_out: count - databases.len(),
            databases,
            packets: self.packets,
            connections: self.connections.len() as u64,
        })
    }
}

/// The steps of one database. Offsets become pages once the size of a page is known.
#[derive(Debug, Default)]
struct DatabaseBuilder {
    is_wal: bool,
    /// How often each size was read or written.
    sizes: BTreeMap<u32, u64>,
    steps: Vec<CallStep>,
    /// Whether the last step is a transaction that has not ended.
    is_open: bool,
}

#[derive(Debug)]
enum CallStep {
    Transaction {
        /// Offsets and bytes.
        reads: Vec<(u64, u32)>,
        writes: Vec<(u64, u32)>,
        log_reads: u32,
        frames: u32,
    },
    Checkpoint,
}

impl DatabaseBuilder {
    fn begin(&mut self) {
        self.steps.push(CallStep::Transaction {
            reads: Vec::new(),
            writes: Vec::new(),
            log_reads: 0,
            frames: 0,
        });
        self.is_open = true;
    }

    /// The transaction that calls belong to; none after a commit.
    fn current(&mut self) -> Option<&mut CallStep> {
        self.steps.last_mut().filter(|_| self.is_open)
    }

    fn read(&mut self, role: TraceRole, offset: u64, size: u32) {
        match role {
            TraceRole::Database => {
                *self.sizes.entry(size).or_default() += 1;
                if let Some(CallStep::Transaction { reads, .. }) = self.current() {
                    reads.push((offset, size));
                }
            }
            // Outside of a transaction, a checkpoint reads the log.
            TraceRole::Wal => {
                if let Some(CallStep::Transaction { log_reads, .. }) = self.current() {
                    *log_reads += 1;
                }
            }
            TraceRole::Journal | TraceRole::Temporary => {}
        }
    }

    fn write(&mut self, role: TraceRole, offset: u64, size: u32) {
        if role != TraceRole::Database {
            return;
        }
        *self.sizes.entry(size).or_default() += 1;
        if self.is_wal {
            self.is_open = false;
            if !matches!(self.steps.last(), Some(CallStep::Checkpoint)) {
                self.steps.push(CallStep::Checkpoint);
            }
        } else if let Some(CallStep::Transaction { writes, .. }) = self.current() {
            writes.push((offset, size));
        }
    }

    fn commit(&mut self, count: u32) {
        self.is_wal = true;
        if self.current().is_none() {
            self.begin();
        }
        if let Some(CallStep::Transaction { frames, .. }) = self.current() {
            *frames = count;
        }
        self.is_open = false;
    }

    /// None if no page was read or written.
    fn finish(self) -> Option<ReplayedDatabase> {
        let is_page = |size: &u32| size.is_power_of_two() && (512..=65_536).contains(size);
        let sizes = self.sizes.iter().filter(|(size, _)| is_page(size));
        let (page_size, _) = sizes.max_by_key(|(_, count)| **count)?;
        let mut pages = PageNumbers::new(*page_size);
        let steps: Vec<ReplayStep> = self.steps.into_iter().map(|step| pages.step(step)).collect();
        Some(ReplayedDatabase {
            page_size: *page_size,
            pages: pages.count.max(1),
            is_wal: self.is_wal,
            steps,
        })
    }
}

/// Offsets as numbers of pages.
struct PageNumbers {
    size: u32,
    /// More than any page number so far.
    count: u32,
    most: u32,
    /// Pages that were read last.
    recent: VecDeque<u32>,
    next: u32,
}

impl PageNumbers {
    fn new(size: u32) -> Self {
        Self {
            size,
            count: 0,
            most: PAGES_BYTES_MAX / size,
            recent: VecDeque::new(),
            next: 0,
        }
    }

    fn page(&mut self, offset: u64) -> u32 {
        let page = offset / u64::from(self.size) % u64::from(self.most);
        let page = u32::try_from(page).unwrap_or(0);
        self.count = self.count.max(page + 1);
        page
    }

    fn step(&mut self, step: CallStep) -> ReplayStep {
        let (reads, writes, log_reads, frames) = match step {
            CallStep::Checkpoint => return ReplayStep::Checkpoint,
            CallStep::Transaction {
                reads,
                writes,
                log_reads,
                frames,
            } => (reads, writes, log_reads, frames),
        };
        let (size, mut runs) = (self.size, Vec::<(u32, u32)>::new());
        // Shorter reads are of headers and counters.
        for (offset, bytes) in reads.into_iter().filter(|(_, bytes)| *bytes >= size) {
            let (first, count) = (self.page(offset), bytes / size);
            // A run that crosses the largest page number is cut.
            let count = count.min(self.most - first);
            self.page((u64::from(first) + u64::from(count) - 1) * u64::from(self.size));
            self.read_lately(first);
            match runs.last_mut() {
                Some((begin, length)) if *begin + *length == first => *length += count,
                Some(_) | None => runs.push((first, count)),
            }
        }
        for _ in 0..log_reads {
            let page = self.any_page();
            runs.push((page, 1));
        }
        let mut written: Vec<u32> = Vec::new();
        for (offset, bytes) in writes {
            let first = self.page(offset);
            written.extend((0..(bytes / size).max(1)).map(|page| (first + page) % self.most));
        }
        self.count = written.iter().fold(self.count, |count, page| count.max(page + 1));
        for _ in 0..frames.min(FRAMES_MAX) {
            let page = self.recent.pop_back().unwrap_or_else(|| self.any_page());
            written.push(page);
        }
        written.sort_unstable();
        written.dedup();
        ReplayStep::Transaction {
            reads: runs,
            writes: written,
        }
    }

    fn read_lately(&mut self, page: u32) {
        if self.recent.len() >= RECENT_PAGES {
            self.recent.pop_front();
        }
        self.recent.push_back(page);
    }

    /// A page where the trace does not say which: another one each time.
    fn any_page(&mut self) -> u32 {
        // A prime number of pages further: pages that follow one another are rare.
        self.next = (self.next + PAGE_STEP) % self.count.max(1);
        self.next
    }
}

/// The size of a packet, rounded up to a power of two.
fn packet_class(size: u32) -> u32 {
    size.clamp(PACKET_MIN, PACKET_MAX).next_power_of_two().min(PACKET_MAX)
}

/// Bytes of the databases that a replay makes: copies of them are made for each cipher.
pub const PAGES_BYTES_MAX: u32 = 256 << 20;
/// A program that opens more has them one after the other.
const DATABASES_MAX: usize = 64;
/// Calls, and pages in calls of several. So many are repeated in about two seconds.
pub const CALLS_MAX: usize = 200_000;
/// SQLite's default.
const PAGE_USUAL: u32 = 4096;
/// More pages are not written in one transaction.
const FRAMES_MAX: u32 = 100_000;
/// Pages of the transactions that wrote them.
const RECENT_PAGES: usize = 256;
/// A prime number.
const PAGE_STEP: u32 = 7919;
/// A short request.
const PACKET_MIN: u32 = 128;
/// The largest packet of TDS.
const PACKET_MAX: u32 = 32_767;

#[cfg(test)]
mod tests;
