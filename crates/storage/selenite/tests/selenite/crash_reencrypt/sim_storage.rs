//! The thread's simulated disk, for file operations outside of SQLite.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use selenite::storage::{Attributes, Claim, ReadAt, Storage, WriteAt};
use selenite_testing::{Disk, ExternalFile};

/// A disk, also for the threads that an operation starts.
pub struct SimStorage {
    disk: Arc<Disk>,
    forgets: Forgets,
}

/// The planted fault: operations that report success without effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forgets {
    Nothing,
    SyncsOfFiles,
    SyncsOfFolders,
}

impl SimStorage {
    pub fn of_thread() -> Self {
        Self::forgetful(Forgets::Nothing)
    }

    pub fn forgetful(forgets: Forgets) -> Self {
        let disk = Disk::of_thread().unwrap();
        Self { disk, forgets }
    }

    fn opened(&self, path: &Path) -> io::Result<File> {
        let opened = self.disk.open_external(name(path)?);
        Ok(File {
            file: opened.ok_or(io::ErrorKind::NotFound)?,
            forgets: self.forgets,
        })
    }
}

struct File {
    file: ExternalFile,
    forgets: Forgets,
}

struct Free;

fn name(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn found(is_there: bool) -> io::Result<()> {
    if is_there {
        Ok(())
    } else {
        Err(io::ErrorKind::NotFound.into())
    }
}

impl Storage for SimStorage {
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn attributes(&self, path: &Path) -> io::Result<Attributes> {
        let opened = self.opened(path)?;
        Ok(Attributes {
            size: opened.file.size(),
            identity: (0, opened.file.inode().0),
            user_id: 0,
            group_id: 0,
            mode: 0o600,
            link_count: 1,
            is_file: true,
        })
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let paths = self.disk.names().into_iter().map(PathBuf::from);
        let within = paths.filter(|path| path.parent() == Some(folder));
        Ok(within.filter_map(|path| Some(path.file_name()?.to_owned())).collect())
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        if self.disk.create(name(path)?) {
            Ok(())
        } else {
            Err(io::ErrorKind::AlreadyExists.into())
        }
    }

    fn set_owner_and_mode(&self, _: &Path, _: &Attributes) -> io::Result<()> {
        Ok(())
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.opened(path)?.sync()
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        if self.forgets != Forgets::SyncsOfFolders {
            self.disk.sync_folder();
        }
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        found(self.disk.rename(name(from)?, name(to)?))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.disk.bytes(name(to)?).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        found(self.disk.unlink(name(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(self.opened(path)?))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn WriteAt>> {
        Ok(Box::new(self.opened(path)?))
    }

    fn claim(&self, _: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        Ok(Some(Box::new(Free)))
    }

    fn read_claim(&self, _: &Path) -> io::Result<Option<String>> {
        Ok(None)
    }
}

impl ReadAt for File {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(self.file.read(out, offset))
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.file.size())
    }
}

impl WriteAt for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write(bytes, offset)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.file.set_size(size)
    }

    fn sync(&self) -> io::Result<()> {
        if self.forgets != Forgets::SyncsOfFiles {
            self.file.sync();
        }
        Ok(())
    }
}

impl Claim for Free {
    fn write(&self, _: &str) -> io::Result<()> {
        Ok(())
    }
}
