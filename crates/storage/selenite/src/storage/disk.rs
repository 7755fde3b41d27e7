//! The disk of this machine.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use selenite_keyring::platform::{open_private, read_at, rename_new, sync_folder, write_all_at};

use super::claim::DiskClaim;
use super::{Attributes, Claim, ReadAt, Storage, WriteAt};
use crate::platform;

/// The disk of this machine.
#[derive(Clone, Copy, Default, Debug)]
pub struct Disk;

impl Storage for Disk {
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn attributes(&self, path: &Path) -> io::Result<Attributes> {
        platform::attributes(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(folder)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect()
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        open_private(OpenOptions::new().write(true).create_new(true), path).map(drop)
    }

    fn set_owner_and_mode(&self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        platform::set_owner_and_mode(path, attributes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        sync_folder(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(File::open(path)?))
    }

    fn claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        Ok(DiskClaim::take(path)?.map(|claim| Box::new(claim) as Box<dyn Claim>))
    }

    fn read_claim(&self, path: &Path) -> io::Result<Option<String>> {
        let bytes = selenite_vfs::operation_file::read(path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn WriteAt>> {
        let mut options = OpenOptions::new();
        Ok(Box::new(platform::open_if_sole(options.read(true).write(true), path)?))
    }
}

impl ReadAt for File {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            let at = offset.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
            match read_at(self, &mut out[done..], at) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

impl WriteAt for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all_at(self, bytes, offset)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rename_new_never_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::write(&one, "1").unwrap();
        fs::write(&two, "2").unwrap();
        let error = Disk.rename_new(&one, &two).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&two).unwrap(), b"2");
        fs::remove_file(&two).unwrap();
        Disk.rename_new(&one, &two).unwrap();
        assert_eq!(fs::read(&two).unwrap(), b"1");
    }

    #[test]
    fn a_new_file_is_for_its_owner_only_and_takes_a_mode_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        Disk.create(&path).unwrap();
        let mut attributes = Disk.attributes(&path).unwrap();
        assert_eq!((attributes.mode, attributes.size, attributes.is_file), (0o600, 0, true));
        attributes.mode = 0o640;
        Disk.set_owner_and_mode(&path, &attributes).unwrap();
        assert_eq!(Disk.attributes(&path).unwrap().mode, 0o640);
        assert!(Disk.create(&path).is_err());
    }
}
