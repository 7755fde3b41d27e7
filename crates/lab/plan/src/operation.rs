//! The operations whose cost encryption changes, and how many of them a system does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An operation whose CPU time changes when the database is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A page is read from the file in the order of the file, and decrypted.
    ReadSequential,
    /// A page is read from the file in no order, and decrypted.
    ReadRandom,
    /// A page is read from the write-ahead log, and decrypted.
    ReadLog,
    /// A page is encrypted and written to the log, over one that was there.
    Write,
    /// A page is encrypted and appended to the log, which grows.
    Append,
    /// A page is copied from the log to the database.
    Checkpoint,
    /// A transaction that wrote is committed. Its pages are [`Operation::Write`].
    Commit,
    /// A page is encrypted and written in rollback mode, to the journal or to the database.
    RollbackWrite,
    /// A transaction that wrote is committed in rollback mode. Its pages are [`Operation::RollbackWrite`].
    RollbackCommit,
    /// A transaction of SQLite begins to read. One that goes on to write is also
    /// [`Operation::Commit`] or [`Operation::RollbackCommit`].
    Transaction,
    /// The same in rollback mode.
    RollbackTransaction,
    /// A record is encrypted and appended to a log that does not consist of pages (PostgreSQL,
    /// MariaDB, SQL Server).
    LogRecord,
    /// A database is opened and its first page read.
    Open,
    /// A piece of the database is read for a backup, decrypted, and written encrypted.
    Backup,
    /// A packet is sent to or received from a client by TLS.
    Packet,
    /// A client logs in: a TLS handshake.
    Handshake,
}

impl Operation {
    /// All of them, in the order in which reports show them.
    pub const ALL: [Self; 16] = [
        Self::ReadSequential,
        Self::ReadRandom,
        Self::ReadLog,
        Self::Write,
        Self::Append,
        Self::Checkpoint,
        Self::Commit,
        Self::RollbackWrite,
        Self::RollbackCommit,
        Self::Transaction,
        Self::RollbackTransaction,
        Self::LogRecord,
        Self::Open,
        Self::Backup,
        Self::Packet,
        Self::Handshake,
    ];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadSequential => "pages read in sequence",
            Self::ReadRandom => "pages read at random",
            Self::ReadLog => "pages read from the log",
            Self::Write => "pages written",
            Self::Append => "pages appended",
            Self::Checkpoint => "pages checkpointed",
            Self::Commit => "commits",
            Self::RollbackWrite => "pages written in rollback mode",
            Self::RollbackCommit => "commits in rollback mode",
            Self::Transaction => "transactions begun",
            Self::RollbackTransaction => "transactions in rollback mode",
            Self::LogRecord => "log writes",
            Self::Open => "databases opened",
            Self::Backup => "backup",
            Self::Packet => "TLS packets",
            Self::Handshake => "TLS handshakes",
        }
    }

    /// Whether its cost depends on its size.
    #[must_use]
    pub fn has_size(self) -> bool {
        match self {
            Self::ReadSequential
            | Self::ReadRandom
            | Self::ReadLog
            | Self::Write
            | Self::Append
            | Self::RollbackWrite
            | Self::Checkpoint
            | Self::LogRecord
            | Self::Backup
            | Self::Packet => true,
            Self::Commit
            | Self::RollbackCommit
            | Self::Transaction
            | Self::RollbackTransaction
            | Self::Open
            | Self::Handshake => false,
        }
    }

    /// Whether it costs more among others than in a loop of its like, where the processor's caches have its code and
    /// data. Leagues found no such surcharge of long rows of reads, which are calibrated in such rows, and none in
    /// rollback mode, where waiting for the disk lies between any two operations of the calibration, too.
    #[must_use]
    pub fn is_among_others(self) -> bool {
        match self {
            Self::ReadRandom
            | Self::ReadLog
            | Self::Write
            | Self::Append
            | Self::Checkpoint
            | Self::Commit
            | Self::Transaction => true,
            Self::ReadSequential
            | Self::RollbackWrite
            | Self::RollbackCommit
            | Self::RollbackTransaction
            | Self::LogRecord
            | Self::Open
            | Self::Backup
            | Self::Packet
            | Self::Handshake => false,
        }
    }

    /// Whether it reads a page.
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, Self::ReadSequential | Self::ReadRandom | Self::ReadLog)
    }

    /// Whether it is encryption of the network, which the choice of a cipher for the database does not change.
    #[must_use]
    pub fn is_network(self) -> bool {
        matches!(self, Self::Packet | Self::Handshake)
    }
}

/// The amount of an operation: per second, or in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// How many.
    pub count: f64,
    /// KiB in all of them; 0 for operations without a size.
    #[serde(default)]
    pub kib: f64,
}

impl Amount {
    /// So many operations of no size.
    #[must_use]
    pub fn of(count: f64) -> Self {
        Self { count, kib: 0.0 }
    }

    /// So many operations of so many bytes each.
    #[must_use]
    pub fn of_size(count: f64, bytes_each: f64) -> Self {
        Self {
            count,
            kib: count * bytes_each / KIB,
        }
    }

    /// KiB of one of them.
    #[must_use]
    pub fn mean_kib(self) -> f64 {
        if self.count > 0.0 { self.kib / self.count } else { 0.0 }
    }
}

/// The amounts of all operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load(pub BTreeMap<Operation, Amount>);

impl Load {
    /// The amount of one operation.
    #[must_use]
    pub fn amount(&self, operation: Operation) -> Amount {
        self.0.get(&operation).copied().unwrap_or_default()
    }

    /// Adds to an operation.
    pub fn add(&mut self, operation: Operation, amount: Amount) {
        let known = self.0.entry(operation).or_default();
        known.count += amount.count;
        known.kib += amount.kib;
    }

    /// All amounts, multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let times = |amount: &Amount| Amount {
            count: amount.count * factor,
            kib: amount.kib * factor,
        };
        Self(
            self.0
                .iter()
                .map(|(operation, amount)| (*operation, times(amount)))
                .collect(),
        )
    }

    /// Whether all amounts are zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.values().all(|amount| amount.count == 0.0 && amount.kib == 0.0)
    }
}

/// Bytes of a KiB.
pub const KIB: f64 = 1024.0;
