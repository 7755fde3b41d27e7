//! A disk whose power fails at a chosen step: from then on all operations fail, and unsynced
//! writes are lost, completely or in part. A copy's writes wait until some of its runs are
//! recorded as done, so that some are recorded however busy the machine is.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use selenite::storage::{Attributes, Claim, Disk, ReadAt, Storage, WriteAt};

/// The disk of this machine, until its power fails.
#[derive(Clone)]
pub struct Power(Arc<(Mutex<State>, Condvar)>);

struct State {
    /// Only writes fail, for lack of space.
    is_full: bool,
    fails_at: u32,
    count: u32,
    unsynced: Vec<Unsynced>,
    /// Bytes written to a copy since runs were last recorded as done.
    not_noted: u64,
}

struct Unsynced {
    path: PathBuf,
    offset: u64,
    before: Vec<u8>,
}

impl Power {
    pub fn failing_at(fails_at: u32) -> Self {
        Self::new(fails_at, false)
    }

    /// Has room for this many writes, and its power does not fail.
    pub fn full_after(write_count: u32) -> Self {
        Self::new(write_count, true)
    }

    fn new(fails_at: u32, is_full: bool) -> Self {
        let state = State {
            is_full,
            fails_at,
            count: 0,
            unsynced: Vec::new(),
            not_noted: 0,
        };
        Self(Arc::new((Mutex::new(state), Condvar::new())))
    }

    /// How many steps there were.
    pub fn step_count(&self) -> u32 {
        self.state().count
    }

    /// Reverts some of the unsynced writes.
    pub fn lose(&self, random: &mut dyn FnMut() -> u64) {
        for lost in std::mem::take(&mut self.state().unsynced) {
            let Ok(file) = OpenOptions::new().write(true).open(&lost.path) else {
                continue;
            };
            let sectors: Vec<_> = lost.before.chunks(512).enumerate().collect();
            // All of its sectors, none, or some.
            let kind = random() % 3;
            for (index, sector) in sectors {
                if kind == 0 || (kind == 1 && random().is_multiple_of(2)) {
                    let offset = lost.offset + u64::try_from(index * 512).unwrap();
                    file.write_all_at(sector, offset).unwrap();
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap()
    }

    /// Blocks a copy's writes until some of them are recorded as done.
    fn wait_for_notes(&self, path: &Path, size: usize) {
        let mut state = self.state();
        if path.to_string_lossy().ends_with(NOTES) {
            state.not_noted = 0;
            self.0.1.notify_all();
            return;
        }
        state.not_noted += u64::try_from(size).unwrap();
        let is_ahead =
            |state: &mut State| !state.is_full && state.count < state.fails_at && state.not_noted > AHEAD_MAX;
        // The thread that records them may have failed: the wait is bounded.
        let _ = self
            .0
            .1
            .wait_timeout_while(state, Duration::from_secs(60), is_ahead)
            .unwrap();
    }

    fn step(&self) -> io::Result<()> {
        let mut state = self.state();
        if state.is_full {
            return Ok(());
        }
        if state.count >= state.fails_at {
            self.0.1.notify_all();
            return Err(io::Error::other("the power has failed"));
        }
        state.count += 1;
        Ok(())
    }

    fn take_room(&self) -> io::Result<()> {
        let mut state = self.state();
        if state.is_full {
            if state.count >= state.fails_at {
                return Err(io::ErrorKind::StorageFull.into());
            }
            state.count += 1;
        }
        Ok(())
    }

    fn forget(&self, path: &Path) {
        self.state().unsynced.retain(|write| write.path != path);
    }
}

impl Storage for Power {
    fn read_claim(&self, path: &Path) -> io::Result<Option<String>> {
        Disk.read_claim(path)
    }

    fn claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        Disk.claim(path)
    }

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
        self.step()?;
        Disk.create(path)
    }

    fn set_owner_and_mode(&self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        self.step()?;
        Disk.set_owner_and_mode(path, attributes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.forget(path);
        Disk.sync_file(path)
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.step()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        assert!(
            self.state().unsynced.iter().all(|write| write.path != from),
            "it gets the name before all of it is on disk"
        );
        Disk.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        Disk.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.forget(path);
        Disk.remove(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        Disk.open(path)
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn WriteAt>> {
        Ok(Box::new(PowerFile {
            file: Disk.open_to_write(path)?,
            path: path.to_owned(),
            power: self.clone(),
        }))
    }
}

struct PowerFile {
    file: Box<dyn WriteAt>,
    path: PathBuf,
    power: Power,
}

impl ReadAt for PowerFile {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(out, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

impl WriteAt for PowerFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.power.step()?;
        self.power.take_room()?;
        let mut before = vec![0; bytes.len()];
        let count = self.file.read_at(&mut before, offset)?;
        before[count..].fill(0);
        self.power.state().unsynced.push(Unsynced {
            path: self.path.clone(),
            offset,
            before,
        });
        self.file.write_at(bytes, offset)?;
        self.power.wait_for_notes(&self.path, bytes.len());
        Ok(())
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.power.step()?;
        self.file.set_size(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.power.step()?;
        // Concurrent writes of others may count as synced: that loses no more than a real disk
        // would.
        self.power.forget(&self.path);
        Ok(())
    }
}

/// The suffix of the file that records which runs of a copy are done.
const NOTES: &str = "-done";
/// More than is recorded at once.
const AHEAD_MAX: u64 = 3 << 20;
