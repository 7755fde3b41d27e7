//! The path of a restored database: unused, or that of a file that it replaces.
//!
//! - locked-until-renamed: an existing file that can be opened is locked from before the first
//!   page is written until the new file has its name; connections that have it open are then
//!   notified.
//! - unopenable-without-lock: a file that can't be opened, since it is damaged or of another key,
//!   is replaced without a lock. Its logs are renamed first, and removed when the new file has the
//!   name: a kill between the two leaves them under the draft's name.
//! - same-file-replaced: the file replaced without a lock is the one that was examined. Another
//!   that appeared at the path meanwhile stays.
//! - silent-key-service-is-an-error: a key service that does not answer gives no information about
//!   the file: that is an error.

use std::path::{Path, PathBuf};

use selenite_format::Superblock;
use selenite_keyring::{Cache, KeyError};

use crate::conversion::{check_free, check_sole_name};
use crate::draft::{COMPANIONS, Draft, beside, folder_of, sync_folder};
use crate::error::io_error;
use crate::exclusive_source::ExclusiveSource;
use crate::storage::{Attributes, Storage};
use crate::superblock_file::{FileContent, inspect};
use crate::{Access, Class, EngineError, platform};

/// The path of a restored database.
pub struct RestoreTarget<'a> {
    storage: &'a dyn Storage,
    /// The path, with links resolved.
    pub path: PathBuf,
    kind: Kind,
}

enum Kind {
    Free,
    Locked(Box<ExclusiveSource>, Attributes),
    /// Enforces `unopenable-without-lock`.
    Unopened(String, Option<Attributes>),
}

/// The result for a file that existed at the path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Replaced {
    /// Whether there was a file.
    pub was_there: bool,
    /// Why it could not be opened, and was replaced without a lock.
    pub unopened: Option<String>,
    /// Why connections that have it open will not notice; `None` if they will.
    pub not_retired: Option<String>,
    /// Its attributes, besides owner and mode, that could not be set on the new file.
    pub not_kept: Vec<String>,
}

impl<'a> RestoreTarget<'a> {
    /// Examines the path, and locks an existing file.
    ///
    /// # Errors
    /// [`EngineError::Exists`], unless it may be replaced; [`EngineError::Busy`] if it is in use; [`EngineError::Io`].
    pub fn find(storage: &'a dyn Storage, to: &Path, access: &Access, may_replace: bool) -> Result<Self, EngineError> {
        let Ok(attributes) = storage.attributes(to) else {
            let folder = folder_of(to);
            storage.attributes(folder).map_err(io_error("open", folder))?;
            let kind = match check_free(storage, to) {
                Ok(()) => Kind::Free,
                Err(EngineError::Exists { .. }) if may_replace => {
                    Kind::Unopened("its logs exist, but the database does not".to_owned(), None)
                }
                Err(EngineError::Exists { path, .. }) => return Err(EngineError::Exists { path, can_force: true }),
                Err(error) => return Err(error),
            };
            let path = to.to_owned();
            return Ok(Self { storage, path, kind });
        };
        if !may_replace {
            return Err(EngineError::Exists {
                path: to.to_owned(),
                can_force: true,
            });
        }
        if !attributes.is_file {
            return Err(EngineError::usage(
                format!("{}: not a file", to.display()),
                "name a database file",
            ));
        }
        let path = storage.real_path(to).map_err(io_error("open", to))?;
        check_sole_name(&path, &attributes)?;
        let kind = match lock(storage, &path, access)? {
            Locked::Yes(source) => Kind::Locked(source, attributes),
            Locked::Unopenable(why) => Kind::Unopened(why, Some(attributes)),
        };
        Ok(Self { storage, path, kind })
    }

    /// The superblock of the existing file, if it is encrypted and could be opened.
    pub fn present(&mut self) -> Option<Superblock> {
        match &mut self.kind {
            Kind::Locked(source, _) => source.database().unlocked().ok().map(|unlocked| unlocked.superblock),
            Kind::Free | Kind::Unopened(..) => None,
        }
    }

    /// Renames a complete draft to the path.
    ///
    /// # Errors
    /// [`EngineError::Exists`]; [`EngineError::Busy`]; [`EngineError::Io`]. An existing file is
    /// then unchanged; but see `ExclusiveSource::hand_over`.
    pub fn take(self, draft: Draft<'_>) -> Result<Replaced, EngineError> {
        let (storage, path) = (self.storage, &self.path);
        match self.kind {
            Kind::Free => {
                let own = storage
                    .attributes(draft.path())
                    .map_err(io_error("read", draft.path()))?;
                draft.finish(&own)?;
                draft.publish(path)?;
                Ok(Replaced::default())
            }
            Kind::Locked(source, attributes) => {
                let not_kept = platform::carry_over(path, draft.path());
                draft.finish(&attributes)?;
                let not_retired = source.hand_over(storage, draft)?;
                Ok(Replaced {
                    was_there: true,
                    unopened: None,
                    not_retired: not_retired.map(|error| error.to_string()),
                    not_kept,
                })
            }
            Kind::Unopened(why, attributes) => {
                let not_kept = match &attributes {
                    Some(_) => platform::carry_over(path, draft.path()),
                    None => Vec::new(),
                };
                let own = storage
                    .attributes(draft.path())
                    .map_err(io_error("read", draft.path()))?;
                draft.finish(attributes.as_ref().unwrap_or(&own))?;
                replace_unopened(storage, (path, attributes.as_ref()), draft)?;
                Ok(Replaced {
                    was_there: attributes.is_some(),
                    unopened: Some(why),
                    not_retired: None,
                    not_kept,
                })
            }
        }
    }
}

/// The result of locking an existing file.
enum Locked {
    Yes(Box<ExclusiveSource>),
    /// unopenable-without-lock: the reason.
    Unopenable(String),
}

/// Another process that uses the file, or a disk that does not respond, is an error instead.
fn lock(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Locked, EngineError> {
    let present = match inspect(storage, path) {
        Err(error) if matches!(error.class(), Class::NotEncrypted | Class::Data) => {
            return Ok(Locked::Unopenable(error.to_string()));
        }
        present => present?,
    };
    let superblock = match present {
        FileContent::Plain => None,
        FileContent::Sealed { bytes, .. } => Some(bytes),
        FileContent::Empty | FileContent::Foreign => {
            let error = EngineError::NotEncrypted {
                path: path.to_owned(),
                what: "not a database",
            };
            return Ok(Locked::Unopenable(error.to_string()));
        }
    };
    let locked = ExclusiveSource::lock(storage, path, &access.allowing_plain()).and_then(|source| {
        // A log that can't be emptied would make the hand-over fail, after all pages are written.
        source.empty_log()?;
        Ok(source)
    });
    let error = match locked {
        Ok(source) => return Ok(Locked::Yes(Box::new(source))),
        Err(error) => error,
    };
    let is_unopenable = match error.class() {
        Class::NotEncrypted | Class::Data => true,
        Class::Key => match &superblock {
            Some(bytes) => is_of_another_key(path, bytes, access)?,
            None => false,
        },
        Class::Other | Class::Usage | Class::Io | Class::Busy | Class::Interrupted => false,
    };
    if is_unopenable {
        return Ok(Locked::Unopenable(error.to_string()));
    }
    Err(error)
}

/// `silent-key-service-is-an-error`: SQLite's error code says that no key was available, but not
/// why: the key is requested once more.
fn is_of_another_key(path: &Path, superblock: &[u8], access: &Access) -> Result<bool, EngineError> {
    let config = Access::config()?;
    let identities = access.identities(&config)?;
    let unlocked = selenite_keyring::unlock(superblock, &identities, &access.trust(&config, path)?, &Cache::new());
    let Err(error) = unlocked else { return Ok(false) };
    let is_the_files = matches!(
        error,
        KeyError::WrongKey
            | KeyError::DatabaseReplaced { .. }
            | KeyError::NotListed { .. }
            | KeyError::ForeignOrigin { .. }
            | KeyError::OriginUnknown { .. }
            | KeyError::PathReplaced { .. }
            | KeyError::Tampered { .. }
            | KeyError::Damaged
            | KeyError::UnsupportedVersion { .. }
    );
    if is_the_files { Ok(true) } else { Err(error.into()) }
}

/// Enforces `same-file-replaced`.
fn check_same(storage: &dyn Storage, path: &Path, looked_at: Option<&Attributes>) -> Result<(), EngineError> {
    let found = match storage.attributes(path) {
        Ok(found) => Some(found.identity),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(io_error("read", path)(error)),
    };
    if found == looked_at.map(|attributes| attributes.identity) {
        return Ok(());
    }
    Err(EngineError::Busy {
        path: path.to_owned(),
        what: "it was replaced by another file",
    })
}

fn replace_unopened(
    storage: &dyn Storage,
    (path, looked_at): (&Path, Option<&Attributes>),
    mut draft: Draft<'_>,
) -> Result<(), EngineError> {
    // same-file-replaced: the logs that are renamed belong to that file, too.
    check_same(storage, path, looked_at)?;
    let pairs = COMPANIONS.map(|companion| (beside(path, companion), beside(draft.path(), companion)));
    let mut aside = Vec::new();
    let put_back = |aside: &[(PathBuf, PathBuf)]| {
        for (from, to) in aside {
            let _ = storage.rename(to, from);
        }
    };
    for (from, to) in pairs {
        match storage.rename(&from, &to) {
            Ok(()) => aside.push((from, to)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                put_back(&aside);
                return Err(io_error("put aside", &from)(error));
            }
        }
    }
    let replaced = sync_folder(storage, path)
        .and_then(|()| check_same(storage, path, looked_at))
        .and_then(|()| match looked_at {
            Some(_) => draft.replace(path),
            None => draft.take_free(path),
        });
    if let Err(error) = replaced {
        put_back(&aside);
        return Err(error);
    }
    sync_folder(storage, path)?;
    for (_, to) in aside {
        // If that fails, the next run removes it.
        let _ = storage.remove(&to);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Disk;

    const JUNK: &str = "junk";
    const OTHER: &str = "another file";

    fn at(folder: &Path) -> (PathBuf, Access) {
        crate::install().unwrap();
        (folder.join("app.db"), Access::default())
    }

    /// Checks `same-file-replaced`.
    #[test]
    fn only_the_examined_file_is_replaced() {
        for (was_there, has_log) in [(true, false), (true, true), (false, true)] {
            let folder = tempfile::tempdir().unwrap();
            let (path, access) = at(folder.path());
            let log = beside(&path, "-wal");
            if was_there {
                std::fs::write(&path, JUNK).unwrap();
            }
            if has_log {
                std::fs::write(&log, JUNK).unwrap();
            }
            let place = RestoreTarget::find(&Disk, &path, &access, true).unwrap();
            let draft = Draft::create(&Disk, &path).unwrap();
            let other = folder.path().join("other");
            std::fs::write(&other, OTHER).unwrap();
            std::fs::rename(&other, &path).unwrap();
            let error = place.take(draft).unwrap_err();
            assert!(matches!(error, EngineError::Busy { .. }), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), OTHER);
            assert_eq!(log.exists(), has_log);
            let count = std::fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(count, 1 + usize::from(has_log));
        }
    }

    #[test]
    fn a_file_that_can_not_be_opened_is_replaced() {
        for was_there in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let (path, access) = at(folder.path());
            if was_there {
                std::fs::write(&path, JUNK).unwrap();
            }
            std::fs::write(beside(&path, "-wal"), JUNK).unwrap();
            let place = RestoreTarget::find(&Disk, &path, &access, true).unwrap();
            let draft = Draft::create(&Disk, &path).unwrap();
            let replaced = place.take(draft).unwrap();
            assert_eq!((replaced.was_there, replaced.unopened.is_some()), (was_there, true));
            assert_eq!(std::fs::read(&path).unwrap(), b"");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
