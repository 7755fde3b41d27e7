//! When a commit is on the disk: sessions that commit at the same time share one sync of the log (docs/decisions/0015).
//!
//! - `acknowledged-after-sync`: a commit writes its frames to SQLite's log without a sync
//!   (`synchronous = NORMAL`), and is noted here after that. It is acknowledged when a sync that
//!   began after it was noted has ended.
//! - `one-sync-for-all`: one session at a time syncs, for all commits that were noted by then. The
//!   others wait for it, and one of them syncs next.
//! - `sync-covers-earlier-commits`: a log is valid up to its first gap
//!   (sqlite.org/fileformat2.html#walformat): a sync of a commit includes all commits before it.
//! - `failed-sync-ends-acknowledgement`: after a failed sync it is unknown what is on the disk, and
//!   a later successful sync does not change that (<https://lwn.net/Articles/752063/>): nothing is
//!   acknowledged any more.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use selenite::Role;

/// The log of one database, as seen by sessions that wait for the disk.
pub struct LogSync {
    log: Box<dyn SyncedLog>,
    state: Mutex<SyncState>,
    moved: Condvar,
}

/// The file that is synced.
pub trait SyncedLog: Send + Sync {
    /// Returns when everything that was written before the call is on the disk.
    ///
    /// # Errors
    /// The system's error.
    fn sync(&self) -> io::Result<()>;
}

/// A commit that was noted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommitNo(u64);

/// A sync has failed: whether the last commits are on the disk is not known (`failed-sync-ends-acknowledgement`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogLost;

/// Counts since the server began.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SyncFigures {
    /// Commits that waited for a sync.
    pub commit_count: u64,
    /// Syncs for them.
    pub sync_count: u64,
}

#[derive(Default)]
struct SyncState {
    /// The last commit that was noted.
    noted: u64,
    /// The last one that is on the disk.
    synced: u64,
    sync_count: u64,
    is_syncing: bool,
    is_lost: bool,
}

impl LogSync {
    /// The log of a database that no session has open yet.
    pub fn new(log: Box<dyn SyncedLog>) -> Self {
        Self {
            log,
            state: Mutex::default(),
            moved: Condvar::new(),
        }
    }

    /// Notes a commit that SQLite has just made.
    pub fn note(&self) -> CommitNo {
        let mut state = self.lock();
        state.noted += 1;
        CommitNo(state.noted)
    }

    /// Returns when the commit is on the disk.
    ///
    /// # Errors
    /// [`LogLost`].
    pub fn wait(&self, commit: CommitNo) -> Result<(), LogLost> {
        let mut state = self.lock();
        loop {
            if state.synced >= commit.0 {
                return Ok(());
            }
            if state.is_lost {
                return Err(LogLost);
            }
            if state.is_syncing {
                state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // one-sync-for-all.
            state.is_syncing = true;
            let noted = state.noted;
            drop(state);
            let done = self.log.sync();
            state = self.lock();
            state.is_syncing = false;
            state.sync_count += 1;
            match done {
                Ok(()) => state.synced = noted,
                Err(_) => state.is_lost = true,
            }
            self.moved.notify_all();
        }
    }

    /// Whether nothing can be acknowledged any more.
    ///
    /// # Errors
    /// [`LogLost`].
    pub fn check(&self) -> Result<(), LogLost> {
        match self.lock().is_lost {
            true => Err(LogLost),
            false => Ok(()),
        }
    }

    /// The counts so far.
    pub fn figures(&self) -> SyncFigures {
        let state = self.lock();
        SyncFigures {
            commit_count: state.noted,
            sync_count: state.sync_count,
        }
    }

    fn lock(&self) -> MutexGuard<'_, SyncState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// SQLite's log beside a database: `NAME.db-wal`.
///
/// It is opened by its name at each sync. As long as the committing session is connected, SQLite keeps the file that
/// its frames are in. SQLite has no lock on it that closing a descriptor could release: its locks are on the database
/// and on `-shm`. Its syncs count as the VFS's own ([`selenite::file_counts`]).
pub struct LogFile {
    database: PathBuf,
    path: PathBuf,
    /// The file that the folder was synced for, so that its name exists after a crash, too.
    named: Mutex<Option<u64>>,
}

impl LogFile {
    /// The log of a database.
    pub fn of(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-wal");
        Self {
            database: database.to_owned(),
            path: path.into(),
            named: Mutex::default(),
        }
    }
}

impl SyncedLog for LogFile {
    fn sync(&self) -> io::Result<()> {
        let file = match File::open(&self.path) {
            // SQLite deletes a log when all of it is in the database, and that is synced.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        let started = Instant::now();
        let synced = file.sync_data();
        selenite::note_sync(&self.database, Role::Wal, started.elapsed());
        synced?;
        let inode = file.metadata()?.ino();
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if *named != Some(inode) {
            if let Some(folder) = self.path.parent() {
                File::open(folder)?.sync_all()?;
            }
            *named = Some(inode);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    /// A log whose syncs begin and end as the test says.
    struct ControlledLog {
        began: SyncSender<()>,
        end: Mutex<Receiver<io::Result<()>>>,
    }

    impl SyncedLog for ControlledLog {
        fn sync(&self) -> io::Result<()> {
            self.began.send(()).unwrap();
            self.end.lock().unwrap().recv().unwrap()
        }
    }

    fn controlled() -> (Arc<LogSync>, Receiver<()>, SyncSender<io::Result<()>>) {
        let (began, has_begun) = sync_channel(0);
        let (end, ended) = sync_channel(0);
        let log = ControlledLog {
            began,
            end: Mutex::new(ended),
        };
        (Arc::new(LogSync::new(Box::new(log))), has_begun, end)
    }

    #[test]
    fn commits_that_were_noted_during_a_sync_share_the_next() {
        let (log, began, end) = controlled();
        let first = log.note();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| log.wait(first));
            began.recv().unwrap();
            // The sync that runs does not count for them.
            let others: Vec<CommitNo> = (0..5).map(|_| log.note()).collect();
            let others: Vec<_> = others
                .into_iter()
                .map(|commit| {
                    let log = &log;
                    scope.spawn(move || log.wait(commit))
                })
                .collect();
            end.send(Ok(())).unwrap();
            assert_eq!(waiting.join().unwrap(), Ok(()));
            began.recv().unwrap();
            end.send(Ok(())).unwrap();
            for other in others {
                assert_eq!(other.join().unwrap(), Ok(()));
            }
        });
        let figures = SyncFigures {
            commit_count: 6,
            sync_count: 2,
        };
        assert_eq!(log.figures(), figures);
    }

    #[test]
    fn a_sync_that_failed_is_not_made_good_by_another() {
        let (log, began, end) = controlled();
        let first = log.note();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| log.wait(first));
            began.recv().unwrap();
            end.send(Err(io::Error::other("no disk"))).unwrap();
            assert_eq!(waiting.join().unwrap(), Err(LogLost));
        });
        assert_eq!(log.check(), Err(LogLost));
        let next = log.note();
        assert_eq!(log.wait(next), Err(LogLost));
        assert_eq!(log.figures().sync_count, 1);
    }

    #[test]
    fn the_log_is_found_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let log = LogFile::of(&folder.path().join("d.db"));
        log.sync().unwrap();
        assert_eq!(*log.named.lock().unwrap(), None);
        std::fs::write(folder.path().join("d.db-wal"), "frames").unwrap();
        log.sync().unwrap();
        let first = *log.named.lock().unwrap();
        log.sync().unwrap();
        assert!(first.is_some());
        assert_eq!(*log.named.lock().unwrap(), first);
    }
}
