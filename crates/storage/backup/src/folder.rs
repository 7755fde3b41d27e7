//! A folder as a destination: one file per object, in subfolders by the parts of its name.
//!
//! - whole-or-absent: a file gets its name only when it is complete and durable, and never replaces
//!   another: it is written under a temporary name, synced, and linked (`link(2)` fails if the name
//!   exists).
//! - bounded-read: a read returns at most as many bytes as the caller allows; a symbolic link in
//!   the last component is not followed.
//! - own-folders-only: only folders whose names can be those of a database or an archive are read:
//!   other content of a shared folder, whatever its size and permissions, is ignored. A folder with
//!   such a name that cannot be read is an error.
//! - append-by-descriptor: an object that follows others is written through a descriptor of the
//!   folder that contains them: never into another folder, such as one that an unmounted disk had
//!   covered. If the root folder is missing, the destination is unreachable and not empty
//!   ([`FolderPresence`]).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use selenite_keyring::os_random;
use selenite_keyring::platform::{open_without_link, sync_folder};

use crate::destination::AppendPrecondition;
use crate::destination::{Destination, Object, StoreError, StoreErrorKind, Traffic};
use crate::folder_presence::FolderPresence;
use crate::names::{ArchiveName, parse_database_id};
use crate::platform::{OpenFolder, create_private_folder};

/// A destination in a folder.
pub struct Folder {
    root: PathBuf,
    presence: FolderPresence,
    requests: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
}

impl Folder {
    /// The destination in this folder, which is created with the first object.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            presence: FolderPresence::default(),
            requests: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.presence.check(&self.root)?;
        let path = self.path(name);
        let folder = path.parent().unwrap_or(Path::new("."));
        make_folders(folder)?;
        let written = write_in(&OpenFolder::open(folder)?, last_of(name), bytes);
        if written.is_err() && folder != self.root {
            // A folder that was created for the object, and is empty.
            let _ = fs::remove_dir(folder);
        }
        written
    }

    /// Enforces `append-by-descriptor`.
    fn write_behind(&self, precondition: &AppendPrecondition, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.presence.check(&self.root)?;
        let path = self.path(name);
        let folder = OpenFolder::open(path.parent().unwrap_or(Path::new(".")))?;
        let last = precondition.last.as_ref().map(|(name, _)| name);
        for name in [Some(&precondition.manifest), last].into_iter().flatten() {
            folder.check_file(last_of(name))?;
        }
        write_in(&folder, last_of(name), bytes)
    }

    fn walk(&self, folder: &Path, below: &str, found: &mut Vec<Object>) -> io::Result<()> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                continue;
            };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                // own-folders-only.
                if can_be_ours(below, &name) {
                    self.walk(&entry.path(), &format!("{below}{name}/"), found)?;
                }
            } else if kind.is_file() && !name.starts_with('.') {
                // A file that was removed meanwhile is not listed.
                let Ok(attributes) = entry.metadata() else { continue };
                let since = attributes.modified()?.duration_since(UNIX_EPOCH);
                found.push(Object {
                    name: format!("{below}{name}"),
                    size: attributes.len(),
                    modified: since.map_or(0, |since| since.as_secs()),
                });
            }
        }
        Ok(())
    }

    fn error(&self, verb: &'static str, name: &str, error: &io::Error) -> StoreError {
        // missing-folder-is-away: the object is not known to be missing if the folder is.
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        let away = is_missing.then(|| self.presence.check(&self.root).err()).flatten();
        let error = away.as_ref().unwrap_or(error);
        StoreError {
            kind: kind_of(error.kind()),
            verb,
            // The path of the folder itself has no trailing slash.
            name: self.path(name).components().as_path().display().to_string(),
            what: error.to_string(),
        }
    }
}

impl Destination for Folder {
    fn check_place(&self) -> Result<(), StoreError> {
        let looked = fs::metadata(&self.root).and_then(|attributes| match attributes.is_dir() {
            true => Ok(()),
            false => Err(io::ErrorKind::NotADirectory.into()),
        });
        looked.map_err(|error| self.error("open", "", &error))
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let written = self.write(name, bytes);
        written.map_err(|error| self.error("write", name, &error))?;
        self.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn put_after(&self, precondition: &AppendPrecondition, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        precondition.check(self)?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        let written = self.write_behind(precondition, name, bytes);
        written.map_err(|error| self.error("write", name, &error))?;
        self.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let bytes = read(&self.path(name), size_max).map_err(|error| self.error("read", name, &error))?;
        self.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes)
    }

    fn beginning(&self, name: &str, size: usize) -> Result<Vec<u8>, StoreError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let file = open_to_read(&self.path(name));
        let bytes = file.and_then(|file| taken(&file, size));
        let bytes = bytes.map_err(|error| self.error("read", name, &error))?;
        self.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut found = Vec::new();
        let walked = self.presence.check(&self.root);
        let walked = walked.and_then(|()| self.walk(&self.path(prefix), prefix, &mut found));
        walked.map_err(|error| self.error("list", prefix, &error))?;
        found.sort_unstable_by(|one, two| one.name.cmp(&two.name));
        Ok(found)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.error("remove", name, &error)),
            _ => {}
        }
        // A folder is removed with its last content.
        let mut folder = path.parent();
        while let Some(empty) = folder.filter(|folder| *folder != self.root) {
            if fs::remove_dir(empty).is_err() {
                break;
            }
            folder = empty.parent();
        }
        Ok(())
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.requests.load(Ordering::Relaxed),
            retries: 0,
            sent: self.sent.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
        }
    }

    fn place(&self) -> String {
        self.root.display().to_string()
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the system has more kinds of errors than who waits for a backup can tell apart"
)]
fn kind_of(kind: io::ErrorKind) -> StoreErrorKind {
    match kind {
        io::ErrorKind::NotFound => StoreErrorKind::Missing,
        io::ErrorKind::AlreadyExists => StoreErrorKind::Exists,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreErrorKind::Denied,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => StoreErrorKind::Full,
        io::ErrorKind::InvalidData => StoreErrorKind::InvalidResponse,
        io::ErrorKind::NotConnected | io::ErrorKind::StaleNetworkFileHandle | io::ErrorKind::TimedOut => {
            StoreErrorKind::Unreachable
        }
        _ => StoreErrorKind::Other,
    }
}

/// Whether a folder of that name may contain objects of archives: `DATABASE/ARCHIVE`, and nothing deeper.
fn can_be_ours(below: &str, name: &str) -> bool {
    match below.matches('/').count() {
        0 => parse_database_id(name).is_some(),
        1 => name.parse::<ArchiveName>().is_ok(),
        _ => false,
    }
}

/// Creates a folder and its parents, and makes their names durable.
fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().unwrap_or(Path::new(""));
    make_folders(above)?;
    match create_private_folder(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let above = if above.as_os_str().is_empty() {
        Path::new(".")
    } else {
        above
    };
    sync_folder(above)
}

/// Enforces `whole-or-absent`.
fn write_in(folder: &OpenFolder, name: &str, bytes: &[u8]) -> io::Result<()> {
    // The name is random, and thus unique among other machines and killed processes, too.
    let mut drawn = [0; 8];
    os_random(&mut drawn);
    let draft = format!("{DRAFT}{:016x}", u64::from_be_bytes(drawn));
    let mut file = folder.create_new(&draft)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| folder.link(&draft, name));
    let removed = folder.remove(&draft);
    linked?;
    removed?;
    folder.sync()
}

/// The last component of an object's name.
fn last_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Enforces `bounded-read`.
fn open_to_read(path: &Path) -> io::Result<File> {
    let file = open_without_link(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a file"));
    }
    Ok(file)
}

/// Reads the whole file, up to `size_max` bytes.
fn taken(file: &File, size_max: usize) -> io::Result<Vec<u8>> {
    // The capacity is that of the file, since parts are the largest objects of this process.
    let size = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(size.min(size_max) + 1);
    file.take(size_max as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read(path: &Path, size_max: usize) -> io::Result<Vec<u8>> {
    let bytes = taken(&open_to_read(path)?, size_max.saturating_add(1))?;
    if bytes.len() > size_max {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "too large for an object of its kind",
        ));
    }
    Ok(bytes)
}

/// The prefix of temporary names, which are no objects.
const DRAFT: &str = ".writing-";

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASE: &str = "00112233445566778899aabbccddeeff";
    const ARCHIVE: &str = "20261122T005456Z-abababababababab";

    #[test]
    fn an_object_is_written_once_and_listed_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let place = Folder::new(&folder.path().join("not/there/yet"));
        assert_eq!(place.list("").unwrap(), []);
        let missing = place.check_place().unwrap_err();
        assert_eq!(missing.kind, StoreErrorKind::Missing);
        assert!(missing.name.ends_with("not/there/yet"), "{missing}");
        let (inner, outer) = (format!("{DATABASE}/{ARCHIVE}/one"), format!("{DATABASE}/a"));
        place.put_new(&inner, b"1").unwrap();
        place.put_new(&outer, b"22").unwrap();
        let again = place.put_new(&outer, b"3").unwrap_err();
        assert_eq!(again.kind, StoreErrorKind::Exists);
        assert_eq!(place.get(&outer, 2).unwrap(), b"22");
        let found = |prefix: &str| -> Vec<(String, u64)> {
            let objects = place.list(prefix).unwrap().into_iter();
            objects.map(|object| (object.name, object.size)).collect()
        };
        assert_eq!(found(""), [(inner.clone(), 1), (outer, 2)]);
        assert_eq!(found(&format!("{DATABASE}/{ARCHIVE}/")), [(inner, 1)]);
        assert_eq!(found("c/"), []);
        assert_eq!((place.traffic().sent, place.traffic().received), (3, 2));
        place.check_place().unwrap();
        let file = Folder::new(&folder.path().join("not/there/yet").join(format!("{DATABASE}/a")));
        file.check_place().unwrap_err();
    }

    const HASH: [u8; 32] = [0; 32];

    /// Checks `append-by-descriptor`.
    #[test]
    fn appending_creates_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let place = Folder::new(&folder.path().join("place"));
        let object = |name: &str| format!("{DATABASE}/{ARCHIVE}/{name}");
        let behind = |last: Option<&str>| AppendPrecondition {
            manifest: object("manifest"),
            last: last.map(|name| (object(name), HASH)),
            seen: std::time::Instant::now(),
        };
        place.put_new(&object("manifest"), b"1").unwrap();
        place.put_after(&behind(None), &object("log-0"), b"2").unwrap();
        place.put_after(&behind(Some("log-0")), &object("log-1"), b"3").unwrap();
        let again = place.put_after(&behind(Some("log-0")), &object("log-1"), b"4");
        assert_eq!(again.unwrap_err().kind, StoreErrorKind::Exists);
        let refused = |last: Option<&str>, kind| {
            let before = place.list("").unwrap_or_default();
            let error = place.put_after(&behind(last), &object("log-9"), b"4").unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
            assert_eq!(place.list("").unwrap_or_default(), before);
        };
        refused(Some("log-8"), StoreErrorKind::Missing);
        place.remove(&object("manifest")).unwrap();
        refused(Some("log-1"), StoreErrorKind::Missing);
        std::fs::remove_dir_all(folder.path().join("place").join(DATABASE)).unwrap();
        refused(Some("log-1"), StoreErrorKind::Missing);
        assert_eq!(std::fs::read_dir(folder.path().join("place")).unwrap().count(), 0);
    }

    /// Checks `missing-folder-is-away`.
    #[test]
    fn a_missing_folder_is_unreachable_and_not_empty() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("place");
        let place = Folder::new(&root);
        // The folder has never existed.
        assert_eq!(place.list("").unwrap(), []);
        assert_eq!(place.get("a/b", 9).unwrap_err().kind, StoreErrorKind::Missing);
        place.put_new("a/b", b"1").unwrap();
        place.list("").unwrap();
        std::fs::rename(&root, folder.path().join("aside")).unwrap();
        let errors = [
            place.list("").unwrap_err(),
            place.get("a/b", 9).unwrap_err(),
            place.put_new("a/c", b"2").unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind, StoreErrorKind::Unreachable);
            assert!(error.what.contains("no longer exists"), "{error}");
        }
        assert!(!root.exists());
        // A new folder in its place is an empty destination.
        std::fs::create_dir(&root).unwrap();
        assert_eq!(place.list("").unwrap(), []);
        assert_eq!(place.get("a/b", 9).unwrap_err().kind, StoreErrorKind::Missing);
    }

    /// Checks `unmounted-is-away` of `folder_presence.rs`.
    #[test]
    fn an_unmounted_folder_is_unreachable() {
        let folder = tempfile::tempdir().unwrap();
        let place = Folder {
            presence: FolderPresence::mounted(),
            ..Folder::new(folder.path())
        };
        let errors = [
            place.list("").unwrap_err(),
            place.get("a/b", 9).unwrap_err(),
            place.put_new("a/c", b"2").unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind, StoreErrorKind::Unreachable);
            assert!(error.what.contains("nothing is mounted there"), "{error}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_write_that_fails_leaves_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let place = Folder::new(folder.path());
        // The name exceeds the limit of file systems.
        let name = format!("{DATABASE}/{ARCHIVE}/{}", "x".repeat(300));
        place.put_new(&name, b"1").unwrap_err();
        assert_eq!(std::fs::read_dir(folder.path().join(DATABASE)).unwrap().count(), 0);
    }

    /// Checks `own-folders-only`.
    #[test]
    fn foreign_folders_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let place = Folder::new(folder.path());
        let ours = format!("{DATABASE}/{ARCHIVE}/manifest");
        for name in [
            ours.as_str(),
            "readme",
            "lost+found/manifest",
            &format!("{DATABASE}0/{ARCHIVE}/manifest"),
            &format!("{DATABASE}/notes/manifest"),
            &format!("{DATABASE}/{ARCHIVE}/old/manifest"),
        ] {
            place.put_new(name, b"1").unwrap();
        }
        let names = |prefix: &str| -> Vec<String> {
            let objects = place.list(prefix).unwrap().into_iter();
            objects.map(|object| object.name).collect()
        };
        assert_eq!(names(""), [ours.as_str(), "readme"]);
        assert_eq!(names(&format!("{DATABASE}/")), [ours.as_str()]);
        assert_eq!(names(&format!("{DATABASE}/{ARCHIVE}/")), [ours.as_str()]);
    }

    #[test]
    fn reads_of_long_missing_or_special_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = Folder::new(folder.path());
        place.put_new("a", b"333").unwrap();
        std::os::unix::fs::symlink(folder.path().join("a"), folder.path().join("link")).unwrap();
        let kind = |name, size_max| place.get(name, size_max).unwrap_err().kind;
        assert_eq!(kind("a", 2), StoreErrorKind::InvalidResponse);
        assert_eq!(kind("b", 2), StoreErrorKind::Missing);
        assert_eq!(kind("link", 9), StoreErrorKind::Other);
        std::fs::create_dir(folder.path().join("c")).unwrap();
        assert_eq!(kind("c", 9), StoreErrorKind::InvalidResponse);
    }

    #[test]
    fn removal_leaves_no_empty_folders() {
        let folder = tempfile::tempdir().unwrap();
        let place = Folder::new(folder.path());
        place.put_new("a/b/one", b"1").unwrap();
        place.put_new("a/two", b"1").unwrap();
        place.remove("a/b/one").unwrap();
        place.remove("a/b/one").unwrap();
        assert!(!folder.path().join("a/b").exists() && folder.path().join("a").exists());
        place.remove("a/two").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
