//! A disk that fails at each operation of a restore: full, or with I/O errors.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use selenite::restore::{Restore, Restored, restore};
use selenite::storage::{Attributes, Claim, Disk, ReadAt, Storage, WriteAt};
use selenite::{Class, EngineError, Watch};
use selenite_backup::Folder;

use crate::restore::{CONTENTS, back_up, made, same};
use crate::support::{Fixture, query};

/// The disk of this machine; one call fails, or, if the disk is full, all calls from then on.
#[derive(Clone)]
struct Faulty(Arc<Fault>);

struct Fault {
    fail_at: u32,
    is_full: bool,
    calls: AtomicU32,
}

impl Faulty {
    fn new(fail_at: u32, is_full: bool) -> Self {
        let calls = AtomicU32::new(0);
        Self(Arc::new(Fault {
            fail_at,
            is_full,
            calls,
        }))
    }

    /// On a full disk, calls that need space fail; otherwise, any call that changes something.
    fn call<T>(&self, takes_room: bool, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let fault = &self.0;
        if fault.is_full && !takes_room {
            return work();
        }
        let call = fault.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if fault.is_full && call >= fault.fail_at {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if call == fault.fail_at {
            // EIO
            return Err(io::Error::from_raw_os_error(5));
        }
        work()
    }
}

struct FaultyFile {
    file: Box<dyn WriteAt>,
    disk: Faulty,
}

impl ReadAt for FaultyFile {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(out, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

impl WriteAt for FaultyFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.disk.call(true, || self.file.write_at(bytes, offset))
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.disk.call(true, || self.file.set_size(size))
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.call(true, || self.file.sync())
    }
}

impl Storage for Faulty {
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Disk.real_path(path)
    }

    fn attributes(&self, path: &Path) -> io::Result<Attributes> {
        Disk.attributes(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        Disk.list(folder)
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        self.call(true, || Disk.create(path))
    }

    fn set_owner_and_mode(&self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        self.call(false, || Disk.set_owner_and_mode(path, attributes))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.call(true, || Disk.sync_file(path))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.call(false, || Disk.sync_folder(folder))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(false, || Disk.rename(from, to))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(false, || Disk.rename_new(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        Disk.open(path)
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn WriteAt>> {
        let file = Disk.open_to_write(path)?;
        let disk = self.clone();
        Ok(Box::new(FaultyFile { file, disk }))
    }

    fn claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        self.call(true, || Disk.claim(path))
    }

    fn read_claim(&self, path: &Path) -> io::Result<Option<String>> {
        Disk.read_claim(path)
    }
}

/// Two full runs of pages, and a partial one.
const ROWS: u32 = 12_000;

struct Trial {
    fixture: Fixture,
    source: PathBuf,
    to: PathBuf,
    /// The rows that existed before, if any.
    before: Option<String>,
}

impl Trial {
    fn new(is_there: bool) -> Self {
        let fixture = Fixture::new();
        let source = made(&fixture, "source.db", "WAL", ROWS);
        back_up(&fixture, &source);
        let to = fixture.path("app.db");
        let mut trial = Self {
            fixture,
            source,
            to,
            before: None,
        };
        if is_there {
            trial.put_old();
            trial.before = trial.rows();
        }
        trial
    }

    fn put_old(&self) {
        let _ = std::fs::remove_file(&self.to);
        made(&self.fixture, "app.db", "WAL", 20);
    }

    fn rows(&self) -> Option<String> {
        let rows = self
            .to
            .exists()
            .then(|| query(&self.to, &self.fixture.access(), "SELECT count(*) FROM t").unwrap());
        rows.map(|rows| format!("{rows:?}"))
    }

    fn restore(&self, disk: &dyn Storage) -> Result<Restored, EngineError> {
        let how = Restore {
            force: self.before.is_some(),
            keep_fetched: true,
            ..Restore::new(&self.to)
        };
        let destination = Folder::new(&self.fixture.path("backups"));
        restore(disk, &destination, &self.fixture.access(), &how, &Watch::none())
    }

    /// Fails at each call. Returns the number of calls.
    fn each_call(&self, is_full: bool) -> u32 {
        for fail_at in 1.. {
            let disk = Faulty::new(fail_at, is_full);
            let done = self.restore(&disk);
            let Err(error) = done else {
                assert!(
                    disk.0.calls.load(Ordering::SeqCst) < fail_at,
                    "call {fail_at} failed unseen"
                );
                assert!(same(&self.fixture, &self.source, &self.to));
                return fail_at - 1;
            };
            let about = format!("call {fail_at}, full {is_full}: {error}");
            assert_eq!(error.class(), Class::Io, "{about}");
            assert!(!error.advice().is_empty(), "{about}");
            if is_full {
                assert!(
                    matches!(
                        error,
                        EngineError::NoRoom {
                            needed: 1_000_000..,
                            ..
                        }
                    ),
                    "{about}"
                );
            }
            self.look(&error, &about);
            // The fetched parts may be kept for the next run: nothing else is left.
            let left: Vec<String> = self
                .fixture
                .names()
                .into_iter()
                .filter(|name| !name.ends_with("fetched"))
                .collect();
            let expected = ["app.db", "backups", "source.db"];
            let expected = if self.to.exists() {
                &expected[..]
            } else {
                &expected[1..]
            };
            assert_eq!(left, expected, "{about}");
            self.again(&about);
        }
        unreachable!("a restore has an end")
    }

    /// The file is unchanged, or the complete new one if the folder could not be synced after the
    /// rename.
    fn look(&self, error: &EngineError, about: &str) {
        if self.rows() == self.before {
            return;
        }
        assert!(matches!(error, EngineError::Io { verb: "sync", .. }), "{about}");
        assert_eq!(
            query(&self.to, &self.fixture.access(), CONTENTS).unwrap(),
            query(&self.source, &self.fixture.access(), CONTENTS).unwrap(),
            "{about}"
        );
    }

    /// Checks that the next run succeeds; then restores the initial state.
    fn again(&self, about: &str) {
        if self.before.is_none() && self.to.exists() {
            std::fs::remove_file(&self.to).unwrap();
        }
        self.restore(&Disk)
            .map(drop)
            .unwrap_or_else(|error| panic!("again: {about}: {error}"));
        assert_eq!(self.fixture.names(), ["app.db", "backups", "source.db"], "{about}");
        match self.before {
            Some(_) => self.put_old(),
            None => std::fs::remove_file(&self.to).unwrap(),
        }
    }
}

#[test]
fn a_failing_disk_leaves_no_file_or_the_complete_one() {
    let trial = Trial::new(false);
    // The claim, the draft, the superblocks, the size, three runs, syncs of file and folder, the
    // rename.
    let calls = trial.each_call(false);
    assert!(calls >= 12, "{calls}");
}

#[test]
fn a_failing_disk_leaves_the_old_database_or_the_complete_new_one() {
    let trial = Trial::new(true);
    let calls = trial.each_call(false);
    assert!(calls >= 12, "{calls}");
}

#[test]
fn a_full_disk_is_reported_with_the_needed_space_and_changes_nothing() {
    for is_there in [false, true] {
        let calls = Trial::new(is_there).each_call(true);
        assert!(calls >= 8, "{calls}");
    }
}
