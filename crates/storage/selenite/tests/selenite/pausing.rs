//! A disk that calls back before each of its operations.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use selenite::storage::{Attributes, Claim, Disk, ReadAt, Storage, WriteAt};
use selenite::{Observer, Progress, Watch};

/// Receives every step of an operation, by name.
pub trait Steps: Send + Sync + 'static {
    fn step(&self, name: &str);
}

/// The disk of this machine, with a callback.
pub struct Pausing<S>(pub Arc<S>);

impl<S: Steps> Storage for Pausing<S> {
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.step("real_path");
        Disk.real_path(path)
    }

    fn attributes(&self, path: &Path) -> io::Result<Attributes> {
        self.0.step("attributes");
        Disk.attributes(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.0.step("list");
        Disk.list(folder)
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        self.0.step("create");
        Disk.create(path)
    }

    fn set_owner_and_mode(&self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        self.0.step("set_owner_and_mode");
        Disk.set_owner_and_mode(path, attributes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.0.step("sync_file");
        Disk.sync_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.0.step("sync_folder");
        Disk.sync_folder(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.step("rename");
        Disk.rename(from, to)?;
        self.0.step("renamed");
        Ok(())
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.step("rename_new");
        Disk.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.step("remove");
        Disk.remove(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        self.0.step("open");
        Disk.open(path)
    }

    fn read_claim(&self, path: &Path) -> io::Result<Option<String>> {
        Disk.read_claim(path)
    }

    fn claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        self.0.step("claim");
        Disk.claim(path)
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn WriteAt>> {
        self.0.step("open_to_write");
        Ok(Box::new(PausingFile {
            file: Disk.open_to_write(path)?,
            steps: self.0.clone(),
        }))
    }
}

struct PausingFile<S> {
    file: Box<dyn WriteAt>,
    steps: Arc<S>,
}

impl<S: Steps> ReadAt for PausingFile<S> {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(out, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

impl<S: Steps> WriteAt for PausingFile<S> {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.steps.step("write_at");
        self.file.write_at(bytes, offset)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.steps.step("set_size");
        self.file.set_size(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.steps.step("sync");
        self.file.sync()
    }
}

struct StepObserver<S>(Arc<S>);

impl<S: Steps> Observer for StepObserver<S> {
    fn progress(&self, progress: Progress) {
        self.0.step(&format!("{:?}", progress.phase));
    }

    fn is_interrupted(&self) -> bool {
        false
    }
}

/// A watch that reports progress as steps, too.
pub fn watch<S: Steps>(steps: &Arc<S>) -> Watch {
    Watch::new(Arc::new(StepObserver(steps.clone())))
}
