//! The meter of one database: the counts of its files and commits, and their history.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::commit_counts::{CommitCounts, CommitSums};
use crate::file_counts::{DatabaseFileCounts, FileCounts, FileSums};
use crate::meter_history::{History, Since};
use crate::role::Role;

/// The counts of one database over all connections of this process.
pub struct DatabaseMeter {
    database: FileSums,
    wal: FileSums,
    journal: FileSums,
    commits: CommitSums,
    began: Instant,
    /// The same moment as UTC, since 1970.
    began_at: Duration,
    /// 20 KiB after an hour.
    history: Mutex<History<DatabaseReading>>,
}

/// All counts of a database at one time. They never decrease.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatabaseReading {
    /// Reads, writes and syncs.
    pub files: DatabaseFileCounts,
    /// Commits to the write-ahead log.
    pub commits: CommitCounts,
}

impl DatabaseReading {
    /// The difference to an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            files: self.files.since(&earlier.files),
            commits: self.commits.since(&earlier.commits),
        }
    }
}

/// The counts at one time, with their history.
#[derive(Clone, Copy, Debug)]
pub struct MeterReport {
    /// When the database was first opened in this process: UTC, since 1970.
    pub began_at: Duration,
    /// The time since then.
    pub age: Duration,
    /// The current counts.
    pub counts: DatabaseReading,
    /// Since the start of the current minute, or slightly longer.
    pub present: Option<Since<DatabaseReading>>,
    /// The last hour.
    pub hour: Option<Since<DatabaseReading>>,
}

impl DatabaseMeter {
    /// A meter for a database that is first opened now, at `began`.
    pub(crate) fn new(began: Instant) -> Self {
        Self {
            database: FileSums::default(),
            wal: FileSums::default(),
            journal: FileSums::default(),
            commits: CommitSums::default(),
            began,
            began_at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            history: Mutex::new(History::new(began, DatabaseReading::default())),
        }
    }

    pub(crate) fn of(&self, role: Role) -> Option<&FileSums> {
        match role {
            Role::Main => Some(&self.database),
            Role::Wal => Some(&self.wal),
            Role::Journal => Some(&self.journal),
            Role::SuperJournal | Role::Nameless => None,
        }
    }

    pub(crate) fn commits(&self) -> &CommitSums {
        &self.commits
    }

    pub(crate) fn is_open(&self) -> bool {
        [&self.database, &self.wal, &self.journal]
            .iter()
            .any(|sums| sums.owner_count() > 0)
    }

    /// The current counts.
    #[must_use]
    pub fn read(&self) -> DatabaseReading {
        DatabaseReading {
            files: DatabaseFileCounts {
                database: FileCounts::read_from(&self.database),
                wal: FileCounts::read_from(&self.wal),
                journal: FileCounts::read_from(&self.journal),
            },
            commits: CommitCounts::read_from(&self.commits),
        }
    }

    /// Enters the marks that are due; returns when the next one is due.
    pub(crate) fn advance(&self, now: Instant) -> Instant {
        self.history().advance(now, || self.read())
    }

    /// When the next mark is due.
    pub(crate) fn due(&self) -> Instant {
        self.history().due()
    }

    /// The current counts, those of the current minute and of the last hour.
    #[must_use]
    pub fn report(&self) -> MeterReport {
        let now = Instant::now();
        let mut history = self.history();
        history.advance(now, || self.read());
        MeterReport {
            began_at: self.began_at,
            age: now.saturating_duration_since(self.began),
            counts: self.read(),
            present: history.present(now),
            hour: history.hour(now),
        }
    }

    fn history(&self) -> MutexGuard<'_, History<DatabaseReading>> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for DatabaseMeter {
    fn default() -> Self {
        Self::new(Instant::now())
    }
}
