//! Replaces a small file atomically: a reader gets the old content or the new, never a part.
//!
//! - regular-files-only: only a regular file is replaced: never `/dev/null`, for example.
//! - mode-by-umask-or-kept: a new file has the mode that the caller's umask gives, and a replaced
//!   one keeps its own, as other users may read it. So this never writes a secret.
//! - never-a-database: a database is never replaced: its path was probably given in place of
//!   another.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use selenite_keyring::platform::sync_folder;

use crate::EngineError;
use crate::draft::{beside_as_draft, folder_of};
use crate::error::io_error;
use crate::folder::is_database;

/// Replaces the file at `path`, or creates it. If `path` is a link, the file that it refers to.
///
/// # Errors
/// [`EngineError::Usage`] if something else than a regular file exists there; [`EngineError::Io`].
pub fn replace(path: &Path, contents: &[u8]) -> Result<(), EngineError> {
    let target = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        found => found.map_err(io_error("write", path))?,
    };
    let present = match fs::metadata(&target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => Some(found.map_err(io_error("write", path))?),
    };
    if present.as_ref().is_some_and(|present| !present.is_file()) {
        return Err(EngineError::usage(
            format!("{}: not a file that could be replaced", path.display()),
            "name a file, or leave it out for standard output",
        ));
    }
    if is_database(&target) {
        return Err(EngineError::usage(
            format!("{}: a database, which is not replaced", path.display()),
            "name another file",
        ));
    }
    let draft = beside_as_draft(&target)?;
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&draft)?;
        if let Some(present) = &present {
            file.set_permissions(present.permissions())?;
        }
        file.write_all(contents)?;
        file.sync_all()?;
        fs::rename(&draft, &target)
    };
    write().map_err(|error| {
        discard(&draft);
        io_error("write", path)(error)
    })?;
    let folder = folder_of(&target);
    sync_folder(folder).map_err(io_error("sync", folder))
}

/// The first error matters more than that the draft could not be removed.
fn discard(draft: &PathBuf) {
    let _ = fs::remove_file(draft);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn replace_leaves_one_file_that_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.prom");
        replace(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), 1);
    }

    #[test]
    fn replace_goes_through_a_link_and_never_over_a_folder_or_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        symlink(&real, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        for other in [folder.path(), Path::new("/dev/null")] {
            assert!(
                matches!(replace(other, b"x"), Err(EngineError::Usage { .. })),
                "{other:?}"
            );
        }
        assert_eq!(names(folder.path()), 2);
        fs::write(&real, b"SQLite format 3\0").unwrap();
        assert!(matches!(replace(&link, b"x"), Err(EngineError::Usage { .. })));
        assert_eq!(fs::read(&real).unwrap(), b"SQLite format 3\0");
        let missing = folder.path().join("missing").join("file");
        assert!(matches!(replace(&missing, b"x"), Err(EngineError::Io { .. })));
    }
}
