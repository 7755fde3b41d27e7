//! Counts of calls for files, made by a [`FileMeter`](crate::file_meter::FileMeter).

use crate::owned_counts::CountSums;
use crate::trace_recorder::TracedCall;

/// Reads, writes and syncs of a file, by all connections of this process, since the file was first
/// opened.
///
/// The counts never decrease, and continue when the file is closed and reopened. For a failed call
/// only the call and its time are counted, not the bytes; likewise for a read that reached the end
/// of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileCounts {
    /// Read calls, of one page or several.
    pub reads: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Nanoseconds spent in reads.
    pub read_ns: u64,
    /// Write calls.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Nanoseconds spent in writes.
    pub write_ns: u64,
    /// Syncs.
    pub syncs: u64,
    /// Nanoseconds spent in syncs.
    pub sync_ns: u64,
    /// Of the reads, those in sequence: of a run of pages that the VFS would read ahead, and those that begin where
    /// the previous read of the same open file ended.
    pub reads_following: u64,
    /// Bytes that these read.
    pub bytes_following: u64,
    /// Of a database file: read transactions begun, those included that went on to write.
    pub transactions: u64,
    /// Of a database file: transactions in rollback mode that wrote to it.
    pub rollback_commits: u64,
    /// Of a database file: those of its read transactions that began in rollback mode.
    pub rollback_transactions: u64,
    /// Of a log: bytes of the writes that began at its end or beyond.
    pub bytes_appended: u64,
}

impl FileCounts {
    /// The sum of both.
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
            reads_following: self.reads_following.wrapping_add(other.reads_following),
            bytes_following: self.bytes_following.wrapping_add(other.bytes_following),
            transactions: self.transactions.wrapping_add(other.transactions),
            rollback_commits: self.rollback_commits.wrapping_add(other.rollback_commits),
            rollback_transactions: self.rollback_transactions.wrapping_add(other.rollback_transactions),
            bytes_appended: self.bytes_appended.wrapping_add(other.bytes_appended),
        }
    }

    /// The difference to an earlier reading.
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
            reads_following: self.reads_following.saturating_sub(earlier.reads_following),
            bytes_following: self.bytes_following.saturating_sub(earlier.bytes_following),
            transactions: self.transactions.saturating_sub(earlier.transactions),
            rollback_commits: self.rollback_commits.saturating_sub(earlier.rollback_commits),
            rollback_transactions: self.rollback_transactions.saturating_sub(earlier.rollback_transactions),
            bytes_appended: self.bytes_appended.saturating_sub(earlier.bytes_appended),
        }
    }

    pub(crate) fn read_from(sums: &FileSums) -> Self {
        let [
            reads,
            bytes_read,
            read_ns,
            reads_following,
            bytes_following,
            transactions,
            writes,
            bytes_written,
            write_ns,
            syncs,
            sync_ns,
            rollback_commits,
            rollback_transactions,
            bytes_appended,
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
            reads_following,
            bytes_following,
            transactions,
            rollback_commits,
            rollback_transactions,
            bytes_appended,
        }
    }
}

/// The counts of all open files of one path and role.
pub(crate) type FileSums = CountSums<COUNT_COUNT>;

/// Counts of reads, writes and syncs of the files of one database, by role.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatabaseFileCounts {
    /// The database file.
    pub database: FileCounts,
    /// The write-ahead log.
    pub wal: FileCounts,
    /// The rollback journal.
    pub journal: FileCounts,
}

impl DatabaseFileCounts {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            database: self.database.plus(other.database),
            wal: self.wal.plus(other.wal),
            journal: self.journal.plus(other.journal),
        }
    }

    /// The difference to an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            database: self.database.since(&earlier.database),
            wal: self.wal.since(&earlier.wal),
            journal: self.journal.since(&earlier.journal),
        }
    }
}

/// The counts of one sync of `ns` nanoseconds that was made without an open file's meter.
pub(crate) fn of_sync(ns: u64) -> [u64; COUNT_COUNT] {
    let mut counts = [0; COUNT_COUNT];
    counts[SYNC.calls] = 1;
    counts[SYNC.ns] = ns;
    counts
}

/// The indexes of the counts of one kind of call. Those of reads and transactions are together in a cache line.
#[derive(Clone, Copy)]
pub(crate) struct CallKind {
    pub calls: usize,
    pub bytes: Option<usize>,
    pub ns: usize,
    /// Which of the kinds it is that are timed by sample; none for one of which each call is timed.
    pub sampled: Option<usize>,
    /// How it is recorded.
    pub traced: TracedCall,
}

pub(crate) const READ: CallKind = CallKind {
    calls: 0,
    bytes: Some(BYTES_READ),
    ns: 2,
    sampled: Some(0),
    traced: TracedCall::Read,
};
pub(crate) const WRITE: CallKind = CallKind {
    calls: 6,
    bytes: Some(7),
    ns: 8,
    sampled: Some(1),
    traced: TracedCall::Write,
};
pub(crate) const SYNC: CallKind = CallKind {
    calls: 9,
    bytes: None,
    ns: 10,
    sampled: None,
    traced: TracedCall::Sync,
};
/// Where bytes read are counted.
pub(crate) const BYTES_READ: usize = 1;
/// Where the reads that follow the previous one are counted, and their bytes.
pub(crate) const READS_FOLLOWING: usize = 3;
pub(crate) const BYTES_FOLLOWING: usize = 4;
/// Where read transactions are counted.
pub(crate) const TRANSACTIONS: usize = 5;
/// Where transactions in rollback mode that wrote are counted.
pub(crate) const ROLLBACK_COMMITS: usize = 11;
/// Where read transactions that begin in rollback mode are counted.
pub(crate) const ROLLBACK_TRANSACTIONS: usize = 12;
/// Where bytes written at the end of the file or beyond are counted.
pub(crate) const BYTES_APPENDED: usize = 13;
pub(crate) const COUNT_COUNT: usize = 14;
