//! Where backups are kept: a folder by the device's path, or nowhere.
//!
//! - `paths-stay-below-backup`: a relative path is below `backup` in the data folder, and so is a
//!   path of Windows, whose drive is a folder there and whose case does not matter. A path that
//!   would lead out of `backup` is refused.
//! - `foreign-folder-is-no-medium`: a folder that contains anything but archives is not a medium:
//!   nothing is written there.
//! - `nul-discards`: backups to `nul` and `/dev/null` are read, encrypted, counted and discarded.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use selenite_backup::{Catalog, Destination, Entry, Folder, Object, StoreError, StoreErrorKind, Traffic};
use selenite_compiler::SqlError;
use selenite_tsql::ast::{BackupDevice, DeviceKind};

use super::{Refused, Words, backup_error};

/// A device.
pub(crate) struct Device {
    /// As it was written, for messages.
    pub name: String,
    /// Its folder; none is nowhere.
    pub path: Option<PathBuf>,
    /// Whether it is below `backup` in the data folder, or nowhere.
    pub is_below_backup: bool,
    /// What the engine writes to.
    pub destination: Arc<dyn Destination>,
}

impl Device {
    /// The one device of a statement.
    ///
    /// # Errors
    /// 40510 for several, and those of other kinds; 3206 for a logical one; 3201 for a path that leads elsewhere.
    pub fn of(devices: &[BackupDevice], words: Words<'_>, data_folder: &Path) -> Result<Self, super::Ended> {
        let [device] = devices else {
            return Err(SqlError::unsupported("A backup on several devices").into());
        };
        match device.kind {
            DeviceKind::Disk => {}
            DeviceKind::Tape => return Err(SqlError::unsupported("TO or FROM TAPE").into()),
            DeviceKind::Url => return Err(SqlError::unsupported("TO or FROM URL").into()),
            DeviceKind::Logical => {
                let name = logical_name(&device.path, words)?;
                return Err(Refused::because(backup_error::no_logical_device(&name)).into());
            }
        }
        let name = words.text(&device.path)?.unwrap_or_default();
        if name.is_empty() {
            return Err(Refused::because(backup_error::no_device_name()).into());
        }
        if is_nowhere(&name) {
            return Ok(Self {
                name,
                path: None,
                is_below_backup: true,
                destination: Arc::new(Nowhere::default()),
            });
        }
        let Some(path) = place(&name, data_folder) else {
            let denied = io::Error::from_raw_os_error(rustix::io::Errno::ACCESS.raw_os_error());
            return Err(Refused::because(backup_error::device_not_opened(&name, &denied)).into());
        };
        Ok(Self {
            is_below_backup: !Path::new(&name).is_absolute(),
            name,
            destination: Arc::new(Folder::new(&path)),
            path: Some(path),
        })
    }

    /// Its contents: the finished backups by their time, and the others.
    ///
    /// # Errors
    /// 3201 where there is nothing, unless there `may_be_none`; 3241 for what is not a medium
    /// (`foreign-folder-is-no-medium`).
    pub fn sets(&self, may_be_none: bool) -> Result<(Vec<Entry>, Vec<Entry>), Refused> {
        let Some(path) = &self.path else {
            // What went nowhere is not there.
            return Ok((Vec::new(), Vec::new()));
        };
        let not_opened = |error: &io::Error| Refused::because(backup_error::device_not_opened(&self.name, error));
        let is_empty = match std::fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == io::ErrorKind::NotFound && may_be_none => {
                return Ok((Vec::new(), Vec::new()));
            }
            Err(error) => return Err(not_opened(&error)),
        };
        let catalog = Catalog::list(self.destination.as_ref(), None)
            .map_err(|error| Refused::because(backup_error::of_store(&self.name, &error)))?;
        if catalog.entries.is_empty() && !is_empty {
            return Err(Refused::because(backup_error::no_medium(&self.name)));
        }
        let (mut finished, others): (Vec<Entry>, Vec<Entry>) =
            catalog.entries.into_iter().partition(|entry| entry.is_finished);
        finished.sort_by(|one, other| one.name.cmp(&other.name));
        Ok((finished, others))
    }

    /// The backup set of a number, from 1.
    ///
    /// # Errors
    /// As [`Device::sets`]; 3254 for an empty medium; 3250-like for a number that there is not.
    pub fn set(&self, number: usize) -> Result<Entry, Refused> {
        let (sets, _) = self.sets(false)?;
        if sets.is_empty() {
            return Err(Refused::because(backup_error::empty_medium(&self.name)));
        }
        let found = number.checked_sub(1).and_then(|index| sets.get(index).cloned());
        found.ok_or_else(|| Refused::because(backup_error::no_such_set(number, &self.name)))
    }
}

fn logical_name(path: &selenite_tsql::ast::Expr, words: Words<'_>) -> Result<String, SqlError> {
    if let selenite_tsql::ast::ExprKind::Column(column) = &path.kind {
        return Ok(column.name.text.clone());
    }
    Ok(words.text(path)?.unwrap_or_default())
}

/// `nul-discards`: whether backups to this device are discarded.
fn is_nowhere(name: &str) -> bool {
    let bare = name.strip_suffix(':').unwrap_or(name);
    bare.eq_ignore_ascii_case("nul") || name == "/dev/null"
}

/// `paths-stay-below-backup`: the folder of a device.
fn place(name: &str, data_folder: &Path) -> Option<PathBuf> {
    if name.contains('\0') {
        return None;
    }
    let own = data_folder.join(FOLDER);
    if let Some(windows) = windows(name) {
        let lower = windows.to_lowercase();
        return below(&own, Path::new(&lower));
    }
    let path = Path::new(name);
    if path.is_absolute() {
        let is_plain = path
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        return is_plain.then(|| path.to_owned());
    }
    below(&own, path)
}

/// `C:\a\b.bak` as `C/a/b.bak`; `\\host\share\b.bak` as `host/share/b.bak`; `a\b.bak` as `a/b.bak`.
fn windows(name: &str) -> Option<String> {
    let mut signs = name.chars();
    let (drive, colon) = (signs.next()?, signs.next());
    if drive.is_ascii_alphabetic() && colon == Some(':') {
        return Some(format!("{drive}/{}", signs.as_str().replace('\\', "/")));
    }
    (name.contains('\\') && !name.contains('/')).then(|| name.replace('\\', "/"))
}

fn below(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut whole = folder.to_owned();
    for part in path
        .to_str()?
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
    {
        if part == ".." {
            return None;
        }
        whole.push(part);
    }
    (whole != folder).then_some(whole)
}

/// Nothing is kept there but for as long as a backup is made: what it begins with, which it looks for when it ends.
#[derive(Default)]
struct Nowhere {
    names: Mutex<Vec<(Object, Vec<u8>)>>,
    requests: AtomicU64,
    sent: AtomicU64,
}

impl Nowhere {
    fn missing(name: &str) -> StoreError {
        StoreError {
            kind: StoreErrorKind::Missing,
            verb: "read",
            name: name.to_owned(),
            what: "nothing is kept there".to_owned(),
        }
    }

    fn names(&self) -> std::sync::MutexGuard<'_, Vec<(Object, Vec<u8>)>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Destination for Nowhere {
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.sent.fetch_add(size, Ordering::Relaxed);
        let is_kept = name.ends_with("/begun") || name.ends_with("/manifest");
        let object = Object {
            name: name.to_owned(),
            size,
            modified: selenite::now(),
        };
        let kept = if is_kept { bytes.to_vec() } else { Vec::new() };
        self.names().push((object, kept));
        Ok(())
    }

    fn get(&self, name: &str, _size_max: usize) -> Result<Vec<u8>, StoreError> {
        let names = self.names();
        let found = names
            .iter()
            .find(|(object, bytes)| object.name == name && !bytes.is_empty());
        found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| Self::missing(name))
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError> {
        let names = self.names();
        let objects = names.iter().map(|(object, _)| object);
        Ok(objects
            .filter(|object| object.name.starts_with(prefix))
            .cloned()
            .collect())
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.names().retain(|(object, _)| object.name != name);
        Ok(())
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.requests.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
            ..Traffic::default()
        }
    }

    fn place(&self) -> String {
        "nul".to_owned()
    }
}

/// Below the data folder.
const FOLDER: &str = "backup";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_where_it_belongs() {
        let at = |name| place(name, Path::new("/data")).map(|path| path.display().to_string());
        for (name, path) in [
            ("a.bak", "/data/backup/a.bak"),
            ("./x/a b.bak", "/data/backup/x/a b.bak"),
            ("/srv/a.bak", "/srv/a.bak"),
            (
                "C:\\Program Files\\TestDB.bak",
                "/data/backup/c/program files/testdb.bak",
            ),
            ("d:a.bak", "/data/backup/d/a.bak"),
            ("\\\\host\\share\\a.bak", "/data/backup/host/share/a.bak"),
            ("x\\a.bak", "/data/backup/x/a.bak"),
        ] {
            assert_eq!(at(name).as_deref(), Some(path), "{name}");
        }
        for name in [
            "..",
            "../a",
            "a/../../b",
            "C:\\..\\..\\a",
            "/srv/../a",
            ".",
            "a\0b",
            "C:\\",
        ] {
            if name == "C:\\" {
                assert_eq!(at(name).as_deref(), Some("/data/backup/c"));
                continue;
            }
            assert_eq!(at(name), None, "{name}");
        }
        for name in ["nul", "NUL", "nul:", "/dev/null"] {
            assert!(is_nowhere(name), "{name}");
        }
        assert!(!is_nowhere("null") && !is_nowhere("nul.bak"));
    }
}
