//! The thread's simulated disk, as the engine sees it beside SQLite.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use selenite_engine::storage::{Attributes, Claim, ReadAt, Storage, WriteAt};
use selenite_testing::Disk;

pub struct SimStorage;

struct Bytes(Vec<u8>);

struct Free;

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let disk = Disk::of_thread().map_err(|code| io::Error::other(code.to_string()))?;
    let name = path.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    disk.bytes(name).ok_or_else(|| io::ErrorKind::NotFound.into())
}

impl Storage for SimStorage {
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn attributes(&self, path: &Path) -> io::Result<Attributes> {
        Ok(Attributes {
            size: u64::try_from(bytes(path)?.len()).unwrap(),
            user_id: 0,
            group_id: 0,
            mode: 0o600,
            link_count: 1,
            is_file: true,
        })
    }

    fn list(&self, _: &Path) -> io::Result<Vec<OsString>> {
        Ok(Vec::new())
    }

    fn create(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set_owner_and_mode(&self, _: &Path, _: &Attributes) -> io::Result<()> {
        Ok(())
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        let disk = Disk::of_thread().map_err(|code| io::Error::other(code.to_string()))?;
        let is_there = disk.sync(path.to_str().ok_or(io::ErrorKind::InvalidInput)?);
        is_there.then_some(()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn rename_new(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        bytes(path)?;
        let disk = Disk::of_thread().map_err(|code| io::Error::other(code.to_string()))?;
        disk.remove(path.to_str().unwrap());
        Ok(())
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(Bytes(bytes(path)?)))
    }

    fn open_to_write(&self, _: &Path) -> io::Result<Box<dyn WriteAt>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn claim(&self, _: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        Ok(Some(Box::new(Free)))
    }
}

impl ReadAt for Bytes {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap().min(self.0.len());
        let size = out.len().min(self.0.len() - start);
        out[..size].copy_from_slice(&self.0[start..start + size]);
        Ok(size)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(u64::try_from(self.0.len()).unwrap())
    }
}

impl Claim for Free {
    fn write(&self, _: &str) -> io::Result<()> {
        Ok(())
    }
}
