//! The meters of all files of one copy of SQLite, by database and role.
//!
//! - counts-outlive-files: the counts of a database remain when its last connection closes it, and
//!   continue when it is opened again under the same path.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::commit_counts::CommitMeter;
use crate::database_meter::{DatabaseMeter, MeterReport};
use crate::file_counts::{DatabaseFileCounts, FileCounts, FileSums, of_sync};
use crate::file_meter::FileMeter;
use crate::role::Role;
use crate::trace_recorder::recorder;

/// The meters of all files.
#[derive(Default)]
pub struct FileMeters(Mutex<Meters>);

#[derive(Default)]
struct Meters {
    /// By the database's path in SQLite's form.
    databases: BTreeMap<String, KnownDatabase>,
    opened: u64,
    temporary: FileSums,
}

#[derive(Default)]
struct KnownDatabase {
    meter: Arc<DatabaseMeter>,
    /// The value of `Meters::opened` when a file of this database was last opened.
    opened: u64,
}

impl FileMeters {
    /// A meter for a file of the database at `path` that is being opened. `None` for a role that
    /// belongs to no database.
    #[must_use]
    pub fn meter(&self, path: &str, role: Role) -> Option<FileMeter> {
        let mut meters = self.lock();
        meters.opened += 1;
        let opened = meters.opened;
        if !meters.databases.contains_key(path) {
            if meters.databases.len() >= DATABASE_COUNT_MAX {
                meters.forget_closed();
            }
            meters.databases.insert(path.to_owned(), KnownDatabase::default());
        }
        let database = meters.databases.get_mut(path)?;
        database.opened = opened;
        let sums = database.meter.of(role)?;
        let trace = recorder().and_then(|recorder| recorder.open(path, role));
        let meter = FileMeter::of_database(sums, &database.meter).traced(trace);
        Some(match role {
            Role::Wal => meter.of_log(),
            Role::Main | Role::Journal | Role::SuperJournal | Role::Nameless => meter,
        })
    }

    /// A meter for the commits to a write-ahead log that is being opened. The log's file already
    /// has a meter.
    #[must_use]
    pub fn commit_meter(&self, path: &str) -> Option<CommitMeter> {
        let meters = self.lock();
        let known = meters.databases.get(path)?;
        let trace = recorder().map(|recorder| recorder.database(path));
        Some(CommitMeter::new(known.meter.commits(), trace))
    }

    /// A meter for a temporary file that is being opened.
    #[must_use]
    pub fn temporary_meter(&self) -> FileMeter {
        let trace = recorder().and_then(|recorder| recorder.open("", Role::Nameless));
        FileMeter::new(&self.lock().temporary).traced(trace)
    }

    /// The counts of the database at `path`, if it was ever opened.
    #[must_use]
    pub fn read(&self, path: &Path) -> Option<DatabaseFileCounts> {
        self.with(path, |meter| meter.read().files)
    }

    /// The counts of the database at `path` (in SQLite's form), and their history.
    #[must_use]
    pub fn report(&self, path: &str) -> Option<MeterReport> {
        let meter = self.lock().databases.get(path)?.meter.clone();
        Some(meter.report())
    }

    /// The counts of all temporary files.
    #[must_use]
    pub fn read_temporary(&self) -> FileCounts {
        FileCounts::read_from(&self.lock().temporary)
    }

    /// Counts a sync that was not made by the VFS. Returns whether the database was ever opened.
    pub fn note_sync(&self, path: &Path, role: Role, ns: u64) -> bool {
        let noted = self.with(path, |meter| meter.of(role).map(|sums| sums.add(of_sync(ns))));
        noted.is_some()
    }

    /// Removes the counts of a deleted database: another one at its path starts at 0.
    pub fn forget(&self, path: &Path) {
        let mut meters = self.lock();
        if let Some(key) = meters.key(path) {
            meters.databases.remove(&key);
        }
    }

    fn with<T>(&self, path: &Path, body: impl FnOnce(&DatabaseMeter) -> T) -> Option<T> {
        let meters = self.lock();
        meters.databases.get(&meters.key(path)?).map(|known| body(&known.meter))
    }

    fn lock(&self) -> MutexGuard<'_, Meters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Meters {
    /// The path in SQLite's form: absolute and without symbolic links. For a deleted file no links
    /// can be resolved.
    fn key(&self, path: &Path) -> Option<String> {
        let known = |path: &Path| {
            let text = path.to_string_lossy();
            self.databases.contains_key(&*text).then(|| text.into_owned())
        };
        let resolved = || {
            let folder = std::fs::canonicalize(path.parent()?).ok()?;
            Some(folder.join(path.file_name()?))
        };
        known(path)
            .or_else(|| known(&std::path::absolute(path).ok()?))
            .or_else(|| known(&std::fs::canonicalize(path).ok()?))
            .or_else(|| known(&resolved()?))
    }

    /// Removes the counts of half of the databases that have no open file: those that were opened
    /// longest ago.
    fn forget_closed(&mut self) {
        let closed = self.databases.values().filter(|known| !known.meter.is_open());
        let mut opened: Vec<u64> = closed.map(|known| known.opened).collect();
        opened.sort_unstable();
        let Some(last) = opened.get(opened.len() / 2).copied() else {
            return;
        };
        self.databases
            .retain(|_, known| known.meter.is_open() || known.opened > last);
    }
}

/// A program may open any number of databases one after the other. Each takes about a kilobyte, and
/// another 20 if it was used for an hour; counts of closed databases are removed only above this
/// limit.
const DATABASE_COUNT_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(meters: &FileMeters, path: &str) -> Option<u64> {
        meters.read(Path::new(path)).map(|counts| counts.wal.writes)
    }

    fn write(meter: &mut FileMeter) {
        meter.write::<()>(0, 1, || Ok(())).unwrap();
    }

    #[test]
    fn counts_go_on_when_a_database_is_opened_again() {
        let meters = FileMeters::default();
        for turn in 1..=3 {
            let mut wal = meters.meter("/meters/one.db", Role::Wal).unwrap();
            write(&mut wal);
            assert_eq!(writes(&meters, "/meters/one.db"), Some(turn));
        }
        assert_eq!(writes(&meters, "/meters/two.db"), None);
        assert!(meters.meter("/meters/one.db", Role::SuperJournal).is_none());
        assert!(meters.note_sync(Path::new("/meters/one.db"), Role::Wal, 7));
        assert!(!meters.note_sync(Path::new("/meters/two.db"), Role::Wal, 7));
        let wal = meters.read(Path::new("/meters/one.db")).unwrap().wal;
        assert_eq!((wal.writes, wal.syncs, wal.sync_ns), (3, 1, 7));
        meters.forget(Path::new("/meters/one.db"));
        assert_eq!(writes(&meters, "/meters/one.db"), None);
    }

    #[test]
    fn only_counts_of_databases_closed_long_ago_are_forgotten() {
        let meters = FileMeters::default();
        let path = |number: usize| format!("/meters/{number}.db");
        let open = meters.meter(&path(0), Role::Main).unwrap();
        for number in 1..=DATABASE_COUNT_MAX {
            drop(meters.meter(&path(number), Role::Main));
        }
        let is_known = |number| meters.read(Path::new(&path(number))).is_some();
        assert!(is_known(0) && !is_known(1) && is_known(DATABASE_COUNT_MAX));
        assert!(meters.lock().databases.len() < DATABASE_COUNT_MAX);
        drop(open);
    }

    #[test]
    fn temporary_files_are_counted_together() {
        let meters = FileMeters::default();
        let (mut one, mut other) = (meters.temporary_meter(), meters.temporary_meter());
        write(&mut one);
        write(&mut other);
        assert_eq!(meters.read_temporary().writes, 2);
    }
}
