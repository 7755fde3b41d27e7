//! Files that BULK INSERT and OPENROWSET may read: those in the folders of `bulk-folders`.
//!
//! - `paths-stay-in-their-folder`: below the folder no part of a path is `..` or a symbolic link, and what is opened is
//!   a regular file.
//! - `one-error-for-all`: whatever prevents a file from being read, the error is 4860: it does not tell whether there is
//!   such a file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use selenite_compiler::{Ends, SqlError};

use crate::memory;

/// Opens a file for reading. A relative path is looked for in each folder.
///
/// # Errors
/// 4860.
pub(crate) fn open_allowed(folders: &[PathBuf], name: &str) -> Result<File, SqlError> {
    let path = Path::new(name);
    let opened = folders.iter().find_map(|folder| {
        let below = match path.is_absolute() {
            true => path.strip_prefix(folder).ok()?,
            false => path,
        };
        open_below(folder, below).ok()
    });
    opened.ok_or_else(|| missing(name))
}

/// The contents of such a file, for whose size memory is requested first. What is appended meanwhile is left out.
///
/// # Errors
/// 4860 if it can't be read; 701.
pub(crate) fn read_allowed(file: File, name: &str) -> Result<Vec<u8>, SqlError> {
    let size = file.metadata().map_err(|_| missing(name))?.len();
    memory::reserve(usize::try_from(size).unwrap_or(usize::MAX))?;
    let mut contents = Vec::new();
    let read = file.take(size).read_to_end(&mut contents);
    read.map_err(|_| missing(name))?;
    Ok(contents)
}

/// 4860: a data file that is not there, or may not be read.
fn missing(name: &str) -> SqlError {
    let text = format!("Cannot bulk load. The file \"{name}\" does not exist or you don't have file access rights.");
    SqlError::new(4860, Ends::Statement, text)
}

/// The files that a session's statements have read.
#[derive(Default)]
pub(crate) struct ReadFiles(Mutex<Vec<(String, Option<i32>)>>);

impl ReadFiles {
    /// Notes one, with the number of the error if there was one.
    pub fn note(&self, path: &str, error: Option<i32>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((path.to_owned(), error));
    }

    /// Takes what was noted.
    pub fn take(&self) -> Vec<(String, Option<i32>)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn open_below(folder: &Path, below: &Path) -> io::Result<File> {
    let mut parts = Vec::new();
    for part in below.components() {
        match part {
            Component::Normal(part) => parts.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(not_allowed()),
        }
    }
    let (name, folders) = parts.split_last().ok_or_else(not_allowed)?;
    let in_folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = rustix::fs::open(folder, in_folder, Mode::empty())?;
    for part in folders {
        at = openat(&at, *part, in_folder | OFlags::NOFOLLOW, Mode::empty())?;
    }
    // A pipe would wait for its other end.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&at, *name, flags, Mode::empty())?;
    match FileType::from_raw_mode(fstat(&file)?.st_mode) == FileType::RegularFile {
        true => Ok(File::from(file)),
        false => Err(not_allowed()),
    }
}

fn not_allowed() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_files_of_the_folders_are_opened() {
        let place = tempfile::tempdir().unwrap();
        let (inside, outside) = (place.path().join("in"), place.path().join("out"));
        std::fs::create_dir_all(inside.join("deep")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(inside.join("deep/a.csv"), "inside").unwrap();
        std::fs::write(outside.join("a.csv"), "outside").unwrap();
        symlink(outside.join("a.csv"), inside.join("link")).unwrap();
        symlink(&outside, inside.join("folder")).unwrap();
        symlink(inside.join("deep/a.csv"), inside.join("deep/link")).unwrap();
        let folders = [inside.clone()];
        let read = |name: &str| {
            let mut text = String::new();
            let opened = open_allowed(&folders, name);
            opened.map(|mut file| file.read_to_string(&mut text).map(|_| text).unwrap())
        };
        assert_eq!(read("deep/a.csv").unwrap(), "inside");
        assert_eq!(read("./deep/a.csv").unwrap(), "inside");
        let absolute = inside.join("deep/a.csv");
        assert_eq!(read(absolute.to_str().unwrap()).unwrap(), "inside");
        let out = outside.join("a.csv");
        for name in [
            "",
            ".",
            "..",
            "deep",
            "link",
            "folder/a.csv",
            "deep/link",
            "../out/a.csv",
            "deep/../../out/a.csv",
            "deep/../deep/a.csv",
            "missing.csv",
            "deep/a.csv/x",
            out.to_str().unwrap(),
            "/etc/passwd",
            "a\0b",
        ] {
            let error = read(name).unwrap_err();
            assert_eq!(error.number(), 4860, "{name}");
        }
        assert_eq!(open_allowed(&[], "deep/a.csv").unwrap_err().number(), 4860);
    }
}
