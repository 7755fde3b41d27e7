//! A destination that fails at each call of a backup, with every kind of fault.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use selenite::backup::{Backup, backup};
use selenite::restore::{Restore, Which, restore};
use selenite::storage::Disk;
use selenite::{Database, EngineError, Layout, Watch};
use selenite_backup::{ArchiveName, CompressionLevel, Destination, Object, StoreError, StoreErrorKind, Traffic};

use crate::support::{Fixture, query};

/// How a call fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// It returns an error, and did nothing.
    Refuses(StoreErrorKind),
    /// It did what was requested, and returns an error.
    LosesTheAnswer,
    /// It writes or returns half an object, or an empty list, without an error.
    Corrupts,
}

const FAULTS: [Fault; 6] = [
    Fault::Refuses(StoreErrorKind::Missing),
    Fault::Refuses(StoreErrorKind::Denied),
    Fault::Refuses(StoreErrorKind::Full),
    Fault::Refuses(StoreErrorKind::Unreachable),
    Fault::LosesTheAnswer,
    Fault::Corrupts,
];

#[derive(Default)]
struct MemoryDestination(Mutex<State>);

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    calls: u32,
    fault: Option<(u32, Fault)>,
}

impl MemoryDestination {
    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn call<T>(
        &self,
        name: &str,
        honest: impl FnOnce(&mut State) -> Result<T, StoreErrorKind>,
        lie: impl FnOnce(&mut State) -> T,
    ) -> Result<T, StoreError> {
        let answered = self.with(|state| {
            state.calls += 1;
            match state.fault.filter(|(at, _)| *at == state.calls) {
                None => honest(state),
                Some((_, Fault::Refuses(kind))) => Err(kind),
                Some((_, Fault::LosesTheAnswer)) => honest(state).and(Err(StoreErrorKind::Unreachable)),
                Some((_, Fault::Corrupts)) => Ok(lie(state)),
            }
        });
        answered.map_err(|kind| StoreError {
            kind,
            verb: "use",
            name: name.to_owned(),
            what: "planted".to_owned(),
        })
    }

    /// The archives that have a manifest.
    fn finished(&self) -> Vec<ArchiveName> {
        let archive = |name: &String| name.strip_suffix("/manifest")?.split('/').nth(1)?.parse().ok();
        self.with(|state| state.objects.keys().filter_map(archive).collect())
    }

    /// The numbers of parts, of indexes and of all objects in an archive.
    fn counts(&self, archive: &ArchiveName) -> [usize; 3] {
        let of = |kind: &str| {
            let part = format!("/{archive}/{kind}");
            self.with(|state| state.objects.keys().filter(|name| name.contains(&part)).count())
        };
        [of("part-"), of("index-"), of("")]
    }
}

impl Destination for MemoryDestination {
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let write = |state: &mut State, bytes: &[u8]| {
            if state.objects.contains_key(name) {
                return Err(StoreErrorKind::Exists);
            }
            state.objects.insert(name.to_owned(), bytes.to_vec());
            Ok(())
        };
        let half = &bytes[..bytes.len() / 2];
        self.call(name, |state| write(state, bytes), |state| write(state, half).unwrap())
    }

    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        let read = |state: &State| state.objects.get(name).cloned().ok_or(StoreErrorKind::Missing);
        let honest = |state: &mut State| {
            read(state).and_then(|bytes| {
                Some(bytes)
                    .filter(|b| b.len() <= size_max)
                    .ok_or(StoreErrorKind::InvalidResponse)
            })
        };
        let half =
            |state: &mut State| read(state).map_or_else(|_| Vec::new(), |bytes| bytes[..bytes.len() / 2].to_vec());
        self.call(name, honest, half)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError> {
        let object = |(name, bytes): (&String, &Vec<u8>)| Object {
            name: name.clone(),
            size: bytes.len() as u64,
            // Just now: without `resume`, a backup leaves an unfinished one alone.
            modified: u64::MAX,
        };
        let found = |state: &mut State| -> Vec<Object> {
            let all = state.objects.iter().filter(|(name, _)| name.starts_with(prefix));
            all.map(object).collect()
        };
        self.call(prefix, |state| Ok(found(state)), |_| Vec::new())
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        let removed = |state: &mut State| drop(state.objects.remove(name));
        let remove = |state: &mut _| {
            removed(state);
            Ok(())
        };
        self.call(name, remove, |_| ())
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    fn place(&self) -> String {
        "a destination in memory".to_owned()
    }
}

struct Trial {
    fixture: Fixture,
    database: PathBuf,
    rows: String,
    /// One part at a time, each sent before the next is filled.
    frugal: bool,
}

const ROWS: &str = "SELECT count(*), sum(id), sum(length(data)), group_concat(substr(hex(data), 1, 8)) FROM note";

impl Trial {
    fn new(rows: u32, size: u32) -> Self {
        let fixture = Fixture::new();
        let database = fixture.path("app.db");
        drop(Database::create(&Disk, &database, &fixture.access(), &Layout::default()).unwrap());
        let trial = Self {
            fixture,
            database,
            rows: String::new(),
            frugal: false,
        };
        trial.run(&format!(
            "PRAGMA journal_mode = wal; CREATE TABLE note(id INTEGER PRIMARY KEY, data);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
             INSERT INTO note SELECT i, randomblob({size}) FROM n;"
        ));
        trial.seen()
    }

    fn run(&self, sql: &str) {
        query(&self.database, &self.fixture.access(), sql).unwrap();
    }

    /// Updates the rows that restored databases are expected to have.
    fn seen(self) -> Self {
        let rows = self.rows_of(&self.database);
        Self { rows, ..self }
    }

    fn rows_of(&self, path: &Path) -> String {
        format!("{:?}", query(path, &self.fixture.access(), ROWS).unwrap())
    }

    fn back_up(
        &self,
        destination: &Arc<MemoryDestination>,
        incremental: bool,
        resume: bool,
    ) -> Result<ArchiveName, EngineError> {
        let how = Backup {
            level: CompressionLevel::None,
            incremental,
            resume,
            frugal: self.frugal,
            ..Backup::default()
        };
        let place: Arc<dyn Destination> = destination.clone();
        let done = backup(
            &Disk,
            &self.database,
            &self.fixture.access(),
            how,
            &place,
            &Watch::none(),
        );
        done.map(|report| report.name)
    }

    /// The rows of a restored backup, or the error of the restore.
    fn restored(&self, destination: &MemoryDestination, name: &ArchiveName) -> Result<String, EngineError> {
        let to = self.fixture.path("restored.db");
        let how = Restore {
            which: Which::Named(name.clone()),
            ..Restore::new(&to)
        };
        restore(&Disk, destination, &self.fixture.access(), &how, &Watch::none())?;
        let rows = self.rows_of(&to);
        std::fs::remove_file(&to).unwrap();
        Ok(rows)
    }

    /// Fails at every call of a backup, with every fault. Returns the number of calls.
    fn each_call(&self, base: &MemoryDestination, incremental: bool) -> u32 {
        let objects = base.with(|state| state.objects.clone());
        let before = base.finished();
        let mut calls = 0;
        for at in 1.. {
            let mut is_reached = false;
            for fault in FAULTS {
                let destination = Arc::new(MemoryDestination::default());
                destination.with(|state| {
                    state.objects = objects.clone();
                    state.fault = Some((at, fault));
                });
                let done = self.back_up(&destination, incremental, false);
                is_reached |= destination.with(|state| {
                    state.fault = None;
                    state.calls >= at
                });
                let about = format!("call {at}, {fault:?}, incremental {incremental}: {done:?}");
                self.look_at(&destination, &before, (fault, &done), &about);
                // The next backup works, whether or not it continues the archive that exists.
                let next = self.back_up(&destination, incremental, at % 2 == 0);
                let restored = next.and_then(|name| self.restored(&destination, &name));
                match (restored, fault) {
                    (Ok(rows), _) => assert_eq!(rows, self.rows, "next: {about}"),
                    // It depends on a bad backup, and is rejected, never accepted as complete; a
                    // full one depends on none.
                    (Err(EngineError::Backup(_) | EngineError::BadBase { .. }), Fault::Corrupts) if incremental => {
                        let full = self.back_up(&destination, false, false).unwrap();
                        assert_eq!(self.restored(&destination, &full).unwrap(), self.rows, "full: {about}");
                    }
                    (Err(error), _) => panic!("next: {about}: {error}"),
                }
            }
            if !is_reached {
                break;
            }
            calls = at;
        }
        calls
    }

    fn look_at(
        &self,
        destination: &MemoryDestination,
        before: &[ArchiveName],
        (fault, done): (Fault, &Result<ArchiveName, EngineError>),
        about: &str,
    ) {
        let new: Vec<ArchiveName> = destination
            .finished()
            .into_iter()
            .filter(|name| !before.contains(name))
            .collect();
        match done {
            Ok(name) => assert_eq!(new, std::slice::from_ref(name), "{about}"),
            Err(error) => {
                assert!(!error.to_string().is_empty(), "{about}");
                // The last listing, after the manifest, may fail: the backup then exists and is
                // complete.
                assert!(new.len() <= 1, "{about}");
            }
        }
        for name in &new {
            let [parts, indexes, all] = destination.counts(name);
            assert!(parts >= 1 && parts == indexes && all == parts + indexes + 2, "{about}");
            match (self.restored(destination, name), fault) {
                (Ok(rows), _) => assert_eq!(rows, self.rows, "{about}"),
                // Half of an object is rejected, never accepted as the whole.
                (Err(EngineError::Backup(_)), Fault::Corrupts) => {}
                (Err(error), _) => panic!("{about}: {error}"),
            }
        }
    }
}

#[test]
fn a_full_backup_is_whole_or_none_wherever_its_destination_fails() {
    // Two parts.
    let trial = Trial::new(180, 100_000);
    let calls = trial.each_call(&MemoryDestination::default(), false);
    // The listing, the object with the keys, two parts and their indexes, the manifest.
    assert!(calls >= 7, "{calls}");
}

/// Each part waits for the one before: a failure at any of them is reported at once, and no wait
/// is endless.
#[test]
fn a_frugal_backup_is_whole_or_none_wherever_its_destination_fails() {
    let trial = Trial {
        frugal: true,
        ..Trial::new(400, 100_000)
    };
    let destination = Arc::new(MemoryDestination::default());
    let name = trial.back_up(&destination, false, false).unwrap();
    assert_eq!(destination.counts(&name)[0], 3);
    assert_eq!(trial.restored(&destination, &name).unwrap(), trial.rows);
    let calls = trial.each_call(&MemoryDestination::default(), false);
    assert!(calls >= 9, "{calls}");
}

#[test]
fn an_incremental_backup_is_whole_or_none_wherever_its_destination_fails() {
    let trial = Trial::new(300, 1000);
    let base = Arc::new(MemoryDestination::default());
    trial.back_up(&base, false, false).unwrap();
    trial.run("UPDATE note SET data = randomblob(900) WHERE id % 50 = 0");
    let trial = trial.seen();
    let calls = trial.each_call(&base, true);
    // The base is read in addition.
    assert!(calls >= 8, "{calls}");
}
