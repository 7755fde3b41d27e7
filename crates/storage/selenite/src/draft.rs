//! A new database file that is not complete yet: beside its final name, and removed if it is not
//! completed.
//!
//! Its name is `.NAME.selenite-tmp-XXXXXXXX`, or ends with `offline` if a later run can resume it.
//! It is never taken for the database, and a later run finds what a killed one left.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use selenite_keyring::platform::part_of_name;

use crate::EngineError;
use crate::error::io_error;
use crate::storage::{Attributes, Storage};

/// A file that is removed when it is dropped, unless it was published.
pub struct Draft<'a> {
    storage: &'a dyn Storage,
    path: PathBuf,
    published: bool,
}

impl<'a> Draft<'a> {
    /// Creates an empty draft beside `target`, accessible to its owner only.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn create(storage: &'a dyn Storage, target: &Path) -> Result<Self, EngineError> {
        Self::create_at(storage, beside_as_draft(target)?)
    }

    /// Creates an empty draft at `path`, accessible to its owner only.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn create_at(storage: &'a dyn Storage, path: PathBuf) -> Result<Self, EngineError> {
        storage.create(&path).map_err(io_error("create", &path))?;
        Ok(Self {
            storage,
            path,
            published: false,
        })
    }

    /// Resumes a draft that an earlier run left.
    pub fn take_over(storage: &'a dyn Storage, path: PathBuf) -> Self {
        Self {
            storage,
            path,
            published: false,
        }
    }

    /// The name of a draft for `target`.
    ///
    /// # Errors
    /// [`EngineError::Usage`] if `target` is not the name of a file.
    pub fn path_of(target: &Path, tail: &str) -> Result<PathBuf, EngineError> {
        let mut name = stem(target)?;
        name.push(tail);
        Ok(folder_of(target).join(name))
    }

    /// Keeps the file, for a later run to resume.
    pub fn keep(mut self) {
        self.published = true;
    }

    /// The path of the draft.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets owner and mode as those of `like`, and syncs the file.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn finish(&self, like: &Attributes) -> Result<(), EngineError> {
        let set = self.storage.set_owner_and_mode(&self.path, like);
        set.map_err(io_error("set owner and mode of", &self.path))?;
        self.storage.sync_file(&self.path).map_err(io_error("sync", &self.path))
    }

    /// Replaces `target` by the draft, atomically. The caller syncs the folder.
    ///
    /// # Errors
    /// [`EngineError::Io`]; the old file is then still there.
    pub fn replace(&mut self, target: &Path) -> Result<(), EngineError> {
        let renamed = self.storage.rename(&self.path, target);
        renamed.map_err(io_error("replace", target))?;
        self.published = true;
        Ok(())
    }

    /// Renames the draft to `target`, which must not exist, and syncs the folder.
    ///
    /// # Errors
    /// [`EngineError::Exists`]; [`EngineError::Io`].
    pub fn publish(mut self, target: &Path) -> Result<(), EngineError> {
        self.take_free(target)?;
        sync_folder(self.storage, target)
    }

    /// As [`Draft::publish`], but the caller syncs the folder.
    ///
    /// # Errors
    /// [`EngineError::Exists`]; [`EngineError::Io`].
    pub fn take_free(&mut self, target: &Path) -> Result<(), EngineError> {
        match self.storage.rename_new(&self.path, target) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(EngineError::Exists {
                    path: target.to_owned(),
                    can_force: false,
                });
            }
            Err(error) => return Err(io_error("create", target)(error)),
        }
        self.published = true;
        Ok(())
    }

    /// The drafts for `target` that exist.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn leftovers(storage: &dyn Storage, target: &Path) -> Result<Vec<PathBuf>, EngineError> {
        let folder = folder_of(target);
        let stem = stem(target)?;
        let names = storage.list(folder).map_err(io_error("list", folder))?;
        let mut found: Vec<PathBuf> = names
            .into_iter()
            .filter(|name| name.as_encoded_bytes().starts_with(stem.as_encoded_bytes()))
            .map(|name| folder.join(name))
            .collect();
        found.sort();
        Ok(found)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if self.published {
            return;
        }
        // A file that cannot be removed now is found by the next run.
        for companion in COMPANIONS {
            let _ = self.storage.remove(&beside(&self.path, companion));
        }
        let _ = self.storage.remove(&self.path);
    }
}

/// A new random name for a draft of `target`.
pub(crate) fn beside_as_draft(target: &Path) -> Result<PathBuf, EngineError> {
    let mut tail = [0; 4];
    selenite_keyring::os_random(&mut tail);
    let mut name = stem(target)?;
    name.push(format!("{:08x}", u32::from_be_bytes(tail)));
    Ok(folder_of(target).join(name))
}

/// The target of the draft to which a file of that name belongs, if it belongs to one.
pub(crate) fn target_of_draft(name: &OsStr) -> Option<&OsStr> {
    let rest = name.as_encoded_bytes().strip_prefix(b".")?;
    let at = rest.windows(MARK.len()).rposition(|window| window == MARK.as_bytes())?;
    let (target, tail) = (&rest[..at], &rest[at + MARK.len()..]);
    let belongings = COMPANIONS.iter().chain([&DONE, &CLAIM]);
    let own = belongings.fold(tail, |tail, belonging| {
        tail.strip_suffix(belonging.as_bytes()).unwrap_or(tail)
    });
    let is_drawn = own.len() == DRAWN_SIZE && own.iter().all(u8::is_ascii_hexdigit);
    let is_named = [OFFLINE, RESTORE].iter().any(|name| own == name.as_bytes());
    let is_ours = !target.is_empty() && (is_drawn || is_named);
    is_ours.then(|| part_of_name(target)).flatten()
}

/// The path of a file that SQLite has beside a database.
pub(crate) fn beside(path: &Path, companion: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(companion);
    PathBuf::from(name)
}

/// Syncs the folder of a file.
pub(crate) fn sync_folder(storage: &dyn Storage, path: &Path) -> Result<(), EngineError> {
    let folder = folder_of(path);
    storage.sync_folder(folder).map_err(io_error("sync", folder))
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn stem(target: &Path) -> Result<OsString, EngineError> {
    let name = target.file_name().ok_or_else(|| {
        EngineError::usage(
            format!("{}: not the name of a file", target.display()),
            "name a database file",
        )
    })?;
    let mut stem = OsString::from(".");
    stem.push(name);
    stem.push(OsStr::new(MARK));
    Ok(stem)
}

const MARK: &str = ".selenite-tmp-";
/// Eight random hexadecimal digits.
const DRAWN_SIZE: usize = 8;
/// A draft that another run can resume.
pub(crate) const OFFLINE: &str = "offline";
/// The file that records the progress of such a draft.
pub(crate) const DONE: &str = "-done";
/// The draft of a restore: one at a time, filled by the holder of its claim.
pub(crate) const RESTORE: &str = "restore";
/// The file that claims such a draft.
pub(crate) const CLAIM: &str = "-claim";
/// The suffixes of SQLite's files beside a database.
pub(crate) const COMPANIONS: [&str; 3] = ["-journal", "-wal", "-shm"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Disk;

    #[test]
    fn a_draft_that_was_not_published_is_gone_with_its_companions() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("app.db");
        let draft = Draft::create(&Disk, &target).unwrap();
        std::fs::write(beside(draft.path(), "-wal"), "x").unwrap();
        assert_eq!(Draft::leftovers(&Disk, &target).unwrap().len(), 2);
        drop(draft);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn leftovers_of_another_database_are_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let one = Draft::create(&Disk, &folder.path().join("app.db")).unwrap();
        let other = Draft::create(&Disk, &folder.path().join("app.db2")).unwrap();
        let found = Draft::leftovers(&Disk, &folder.path().join("app.db")).unwrap();
        assert_eq!(found, [one.path()]);
        assert_ne!(one.path(), other.path());
        assert_eq!(
            target_of_draft(one.path().file_name().unwrap()),
            Some(OsStr::new("app.db"))
        );
        for tail in [
            "01234567",
            "restore",
            "restore-claim",
            "offline",
            "offline-done",
            "offline-wal",
            "01234567-journal",
        ] {
            let name = OsString::from(format!(".app.db.selenite-tmp-{tail}"));
            assert_eq!(target_of_draft(&name), Some(OsStr::new("app.db")), "{tail}");
        }
        for other in [
            ".app.db.selenite-tmp-1234567",
            ".app.db.selenite-tmp-1234567x",
            ".app.db.selenite-tmp-offlined",
            ".app.db.selenite-tmp-",
            ".selenite-tmp-offline",
            "app.db",
            ".selenite-tmp-12345678",
        ] {
            assert_eq!(target_of_draft(OsStr::new(other)), None);
        }
    }

    #[test]
    fn publish_refuses_a_name_that_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("app.db");
        std::fs::write(&target, "there").unwrap();
        let draft = Draft::create(&Disk, &target).unwrap();
        assert!(matches!(draft.publish(&target), Err(EngineError::Exists { .. })));
        assert_eq!(std::fs::read(&target).unwrap(), b"there");
    }
}
