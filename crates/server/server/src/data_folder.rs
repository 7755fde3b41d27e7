//! The folder of the databases, which belongs to one server at a time.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::ServerError;
use crate::master::FILE as MASTER;

/// The folder of the databases. Its lock excludes a second server until it is released or dropped.
pub struct DataFolder {
    path: PathBuf,
    lock: Mutex<Option<File>>,
}

impl DataFolder {
    /// Creates the folder if it is missing, and locks it.
    ///
    /// # Errors
    /// [`ServerError::InUse`] where another server has it; [`ServerError::Usage`] where other users may read it;
    /// [`ServerError::Io`].
    pub fn take(path: &Path) -> Result<Self, ServerError> {
        let failed = |verb| {
            move |source| ServerError::Io {
                verb,
                path: path.to_owned(),
                source,
            }
        };
        DirBuilder::new()
            .recursive(true)
            .mode(OWNER_ONLY)
            .create(path)
            .map_err(failed("make"))?;
        let path = path.canonicalize().map_err(failed("open"))?;
        close_to_others(&path)?;
        refuse_linked_master(&path)?;
        let lock = lock(&path)?;
        let lock = Mutex::new(Some(lock));
        Ok(Self { path, lock })
    }

    /// Releases the folder for another server.
    pub fn release(&self) {
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A user who may list the folder sees names and sizes, and one who may write there can replace files.
fn close_to_others(path: &Path) -> Result<(), ServerError> {
    let failed = |verb| {
        move |source| ServerError::Io {
            verb,
            path: path.to_owned(),
            source,
        }
    };
    let found = fs::metadata(path).map_err(failed("read"))?;
    let mode = found.mode() & 0o7777;
    if mode & OTHERS == 0 {
        return Ok(());
    }
    let mut entries = fs::read_dir(path).map_err(failed("read"))?;
    if entries.next().is_some() && !path.join(LOCK).exists() {
        return Err(ServerError::Usage {
            what: format!("{}: others may look into it (mode {mode:o})", path.display()),
            next: format!(
                "name a folder of its own, or close this one: chmod 700 {}",
                path.display()
            ),
        });
    }
    fs::set_permissions(path, fs::Permissions::from_mode(OWNER_ONLY)).map_err(failed("close to others"))
}

/// A link at the path of master.db would make another database, wherever it is, this server's.
fn refuse_linked_master(folder: &Path) -> Result<(), ServerError> {
    let master = folder.join(MASTER);
    match fs::symlink_metadata(&master) {
        Ok(found) if found.is_symlink() => Err(ServerError::Usage {
            what: format!("{} is a symbolic link", master.display()),
            next: "put the file itself there, or remove the link".to_owned(),
        }),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The lock is released with the descriptor, however the process ends; the file stays, since removing it would allow
/// a third process to take the lock.
fn lock(folder: &Path) -> Result<File, ServerError> {
    let path = folder.join(LOCK);
    let failed = |source| ServerError::Io {
        verb: "lock",
        path: path.clone(),
        source,
    };
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(ServerError::InUse {
                path: folder.to_owned(),
                by: holder(&mut file),
            });
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    let write = |file: &mut File| -> io::Result<()> {
        file.set_len(0)?;
        writeln!(file, "{}", std::process::id())
    };
    write(&mut file).map_err(failed)?;
    Ok(file)
}

/// The process that holds the lock, according to the lock file.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(PROCESS_SIZE_MAX).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

const LOCK: &str = ".selenite-server";
const OWNER_ONLY: u32 = 0o700;
const OTHERS: u32 = 0o077;
/// A process's number and a line's end.
const PROCESS_SIZE_MAX: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_folder_is_made_for_its_owner_and_taken_once() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a").join("data");
        let folder = DataFolder::take(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        match DataFolder::take(&path) {
            Err(ServerError::InUse { by, .. }) => assert_eq!(by, Some(std::process::id())),
            other => panic!("{:?}", other.err()),
        }
        folder.release();
        assert!(DataFolder::take(&path).is_ok());
        drop(folder);
        assert!(DataFolder::take(&path).is_ok());
    }

    #[test]
    fn a_folder_that_is_open_to_others_is_closed_only_if_nothing_else_is_in_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("data");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(path.join("mine"), "").unwrap();
        assert!(matches!(DataFolder::take(&path), Err(ServerError::Usage { .. })));
        assert_eq!(mode(&path), 0o755);
        fs::remove_file(path.join("mine")).unwrap();
        drop(DataFolder::take(&path).unwrap());
        assert_eq!(mode(&path), 0o700);
        // Its own is closed again.
        fs::write(path.join("mine"), "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
        drop(DataFolder::take(&path).unwrap());
        assert_eq!(mode(&path), 0o700);
    }
    #[test]
    fn a_folder_whose_master_is_a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("data");
        drop(DataFolder::take(&path).unwrap());
        for target in ["app.db", "nowhere"] {
            fs::write(place.path().join("app.db"), "an application's").unwrap();
            std::os::unix::fs::symlink(place.path().join(target), path.join(MASTER)).unwrap();
            assert!(
                matches!(DataFolder::take(&path), Err(ServerError::Usage { .. })),
                "{target}"
            );
            fs::remove_file(path.join(MASTER)).unwrap();
        }
        assert!(DataFolder::take(&path).is_ok());
    }
}
