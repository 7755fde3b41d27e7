//! The files of a folder and of all folders below it.
//!
//! - no-links-no-loops: links are not followed, devices, pipes and sockets are not listed, and no
//!   folder is visited twice, as a folder that is mounted below itself would be.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Unreadable;
use crate::platform::identity;

/// The regular files in one folder.
pub struct Names {
    /// The folder.
    pub path: PathBuf,
    /// Their names, sorted.
    pub names: Vec<OsString>,
}

/// Visits a folder and all folders below it.
pub struct Walk {
    ahead: Vec<PathBuf>,
    /// Device and inode of the folders that were visited.
    visited: HashSet<(u64, u64)>,
}

impl Walk {
    /// Begins at `folder`, which may be a link.
    pub fn of(folder: &Path) -> Self {
        Self {
            ahead: vec![folder.to_owned()],
            visited: HashSet::new(),
        }
    }

    /// The files of the next folder. Folders that cannot be listed are skipped, and added to
    /// `unreadable`.
    pub fn next(&mut self, unreadable: &mut Vec<Unreadable>) -> Option<Names> {
        while let Some(path) = self.ahead.pop() {
            let mut say = |path: &Path, error: &io::Error| {
                unreadable.push(Unreadable {
                    path: path.to_owned(),
                    why: error.to_string(),
                });
            };
            match identity(&path) {
                Ok(found) if !self.visited.insert(found) => continue,
                Ok(_) => {}
                Err(error) => {
                    say(&path, &error);
                    continue;
                }
            }
            match self.list(&path, &mut say) {
                Ok(names) => return Some(Names { path, names }),
                Err(error) => say(&path, &error),
            }
        }
        None
    }

    fn list(&mut self, folder: &Path, say: &mut dyn FnMut(&Path, &io::Error)) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    // The names before the error are known; whether there are more is unknown.
                    say(folder, &error);
                    break;
                }
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.ahead.push(entry.path()),
                Ok(kind) if kind.is_file() => names.push(entry.file_name()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => say(&entry.path(), &error),
            }
        }
        names.sort();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn all(folder: &Path) -> Vec<PathBuf> {
        let mut walk = Walk::of(folder);
        let mut unreadable = Vec::new();
        let mut found = Vec::new();
        while let Some(names) = walk.next(&mut unreadable) {
            found.extend(names.names.iter().map(|name| names.path.join(name)));
        }
        assert!(unreadable.is_empty(), "{unreadable:?}");
        found.sort();
        found
    }

    #[test]
    fn links_are_not_followed_and_deep_folders_are_reached() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut deep = folder.path().to_owned();
        for _ in 0..200 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "x").unwrap();
        symlink(outside.path(), folder.path().join("away")).unwrap();
        symlink(folder.path(), folder.path().join("loop")).unwrap();
        symlink(outside.path().join("secret"), folder.path().join("link")).unwrap();
        assert_eq!(all(folder.path()), [deep.join("file")]);
        // The given folder may be a link.
        let link = outside.path().join("link");
        symlink(&deep, &link).unwrap();
        assert_eq!(all(&link), [link.join("file")]);
    }

    /// Root may list every folder, so a removed folder represents one that cannot be listed.
    #[test]
    fn a_folder_that_cannot_be_listed_is_reported_and_the_others_are_visited() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("file"), "x").unwrap();
        }
        let mut walk = Walk::of(folder.path());
        let mut unreadable = Vec::new();
        assert!(walk.next(&mut unreadable).unwrap().names.is_empty());
        fs::remove_dir_all(folder.path().join("b")).unwrap();
        let mut found = Vec::new();
        while let Some(names) = walk.next(&mut unreadable) {
            found.push(names.path);
        }
        found.sort();
        assert_eq!(found, [folder.path().join("a"), folder.path().join("c")]);
        let [one] = &unreadable[..] else {
            panic!("{unreadable:?}")
        };
        assert_eq!(one.path, folder.path().join("b"));
    }
}
