//! The files of a database: one with its companions, or all of a server's data folder.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The existing files of a database: itself and its companions with the given suffixes, or every
/// regular file of its folder, in the order of their paths.
///
/// # Errors
/// A folder that cannot be read.
pub fn files(database: &Path, suffixes: &[&str]) -> io::Result<Vec<PathBuf>> {
    if database.is_dir() {
        let mut found = Vec::new();
        collect(database, &mut found)?;
        found.sort();
        return Ok(found);
    }
    let companions = suffixes.iter().map(|suffix| {
        let mut path = OsString::from(database);
        path.push(suffix);
        PathBuf::from(path)
    });
    let there = companions.filter(|path| path.exists());
    Ok(std::iter::once(database.to_owned()).chain(there).collect())
}

/// The size of a database without companions, in bytes.
///
/// # Errors
/// It cannot be read.
pub fn bytes(database: &Path) -> io::Result<u64> {
    let sizes = files(database, &[])?;
    sizes.iter().map(|path| Ok(fs::metadata(path)?.len())).sum()
}

/// Copies a database without companions to a path that does not exist, and syncs it.
///
/// # Errors
/// Those of the operating system.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return copy_file(from, to);
    }
    fs::create_dir(to)?;
    // A server accepts no folder that others may read.
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(from.join(&folder))? {
            let entry = entry?;
            let inner = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                fs::create_dir(to.join(&inner))?;
                fs::set_permissions(to.join(&inner), entry.metadata()?.permissions())?;
                folders.push(inner);
            } else if kind.is_file() {
                copy_file(&entry.path(), &to.join(&inner))?;
            }
        }
        fs::File::open(to.join(&folder))?.sync_all()?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    fs::File::open(to)?.sync_all()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), found)?;
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_copied_with_all_its_files_and_modes() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a.db"), folder.path().join("b.db"));
        fs::create_dir_all(from.join("x/y")).unwrap();
        fs::set_permissions(&from, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(from.join("x/y/1"), "one").unwrap();
        fs::write(from.join("2"), "two!").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(from.join("socket")).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(files(&to, &["-wal"]).unwrap(), [to.join("2"), to.join("x/y/1")]);
        assert_eq!(bytes(&to).unwrap(), 7);
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(copy(&from, &to).is_err());
    }

    #[test]
    fn a_file_has_companions_that_do_not_count_in_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        fs::write(&path, "rows").unwrap();
        fs::write(folder.path().join("a.db-wal"), "log").unwrap();
        let all = files(&path, &["-wal", "-shm"]).unwrap();
        assert_eq!(all, [path.clone(), folder.path().join("a.db-wal")]);
        assert_eq!(bytes(&path).unwrap(), 4);
    }
}
