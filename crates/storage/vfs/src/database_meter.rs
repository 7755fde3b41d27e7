//! The meter of one database: the counts of its files and commits, and their history.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::commit_counts::{CommitCounts, CommitSums};
use crate::file_counts::{DatabaseFileCounts, FileCounts, FileSums};
use crate::meter_history::{History, Since};
use crate::role::Role;

/// What all connections of this process count of one database.
pub struct DatabaseMeter {
    database: FileSums,
    wal: FileSums,
    journal: FileSums,
    commits: CommitSums,
    began: Instant,
    /// The same moment by the clock, since 1970.
    began_at: Duration,
    /// 20 KiB after an hour.
    history: Mutex<History<DatabaseReading>>,
}

/// All counts of a database at a moment. They only ever grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatabaseReading {
    /// Reads, writes and syncs.
    pub files: DatabaseFileCounts,
    /// Commits to the write-ahead log.
    pub commits: CommitCounts,
}

impl DatabaseReading {
    /// What was counted since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            files: self.files.since(&earlier.files),
            commits: self.commits.since(&earlier.commits),
        }
    }
}

/// The meter at a moment, with its history.
#[derive(Clone, Copy, Debug)]
pub struct MeterReport {
    /// When the database was first opened in this process, since 1970.
    pub began_at: Duration,
    /// How long ago that is.
    pub age: Duration,
    /// The present counts.
    pub counts: DatabaseReading,
    /// Since the minute began, or a little longer.
    pub present: Option<Since<DatabaseReading>>,
    /// The last hour.
    pub hour: Option<Since<DatabaseReading>>,
}

impl DatabaseMeter {
    /// Of a database that was first opened at that moment, which is now.
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

    /// The present counts.
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

    /// Enters the marks that are due; answers when the next one is.
    pub(crate) fn advance(&self, now: Instant) -> Instant {
        self.history().advance(now, || self.read())
    }

    /// When the next mark is due.
    pub(crate) fn due(&self) -> Instant {
        self.history().due()
    }

    /// The counts of now, of the minute and of the hour.
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
