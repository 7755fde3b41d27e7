//! Checks which users can change or read a file with keys or a configuration.
//!
//! - only-owner-writes: a key file, configuration or keyring file is refused if users other than
//!   the process's user and root can write or replace it. Every folder of its path is checked,
//!   including those behind symbolic links (as OpenSSH does for `authorized_keys`). A folder with
//!   the sticky bit, such as /tmp, is accepted: users cannot replace the files of others in it.
//! - private-group-is-owner: write permission of the group is treated as the owner's own if group
//!   id and user id are equal (the private groups of Debian, Fedora and others, with their umask of
//!   002) and no access list gives the permission to another user.
//! - unnamed-by-opener: an object without a name on a disk (a pipe, a terminal) is trusted as far
//!   as the opener is.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use crate::{Distrust, KeyError};

/// Refuses ([`KeyError::Untrusted`]) a file that users other than this process's user and root can change.
pub fn check(path: &Path, file: &File) -> Result<(), KeyError> {
    check_for(rustix::process::geteuid().as_raw(), path, file)
}

/// Whether users other than its owner can read the file.
pub fn is_readable_by_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && others_may(READ, path, &facts))
}

fn check_for(user: u32, path: &Path, file: &File) -> Result<(), KeyError> {
    let failed = |source| KeyError::Io {
        verb: "look at",
        path: path.to_owned(),
        source,
    };
    let refused = |(place, problem): (PathBuf, Distrust)| KeyError::Untrusted { path: place, problem };
    let facts = file.metadata().map_err(failed)?;
    let kind = facts.file_type();
    if kind.is_char_device() || kind.is_socket() {
        return Ok(());
    }
    check_one(user, path, &facts).map_err(refused)?;
    if !facts.is_file() {
        return Ok(());
    }
    let mut walk = Walk::new(path).map_err(failed)?;
    while let Some((place, facts)) = walk.next().map_err(failed)? {
        check_one(user, &place, &facts).map_err(refused)?;
    }
    Ok(())
}

/// Checks one folder, link or file of the path.
fn check_one(user: u32, path: &Path, facts: &Metadata) -> Result<(), (PathBuf, Distrust)> {
    if facts.uid() != user && facts.uid() != ROOT {
        return Err((path.to_owned(), Distrust::OtherOwner));
    }
    // A link has no mode of its own: that of its folder applies.
    let is_shared = facts.is_dir() && facts.mode() & STICKY != 0;
    if !facts.is_symlink() && !is_shared && others_may(WRITE, path, facts) {
        return Err((path.to_owned(), Distrust::OthersWrite));
    }
    Ok(())
}

/// Whether users other than the owner have a permission; implements `private-group-is-owner`.
fn others_may(right: u32, path: &Path, facts: &Metadata) -> bool {
    let is_private = || facts.gid() == facts.uid() && !has_access_list(path);
    facts.mode() & right != 0 || (facts.mode() & (right << GROUP_SHIFT) != 0 && !is_private())
}

/// Whether an access control list (acl(5)) gives permissions beyond those of the mode.
#[cfg(target_os = "linux")]
fn has_access_list(path: &Path) -> bool {
    rustix::fs::getxattr(path, c"system.posix_acl_access", &mut [0_u8; 0][..]).is_ok_and(|size| size > 0)
}

/// Unknown: there may be one. The group's permission is then never treated as the owner's own.
#[cfg(not(target_os = "linux"))]
fn has_access_list(_path: &Path) -> bool {
    true
}

/// An iterator over the folders, links and the file of a path, from the root on.
struct Walk {
    /// The checked part of the path, without links.
    resolved: PathBuf,
    pending: VecDeque<OsString>,
    link_count: usize,
    has_begun: bool,
}

impl Walk {
    fn new(path: &Path) -> io::Result<Self> {
        let mut walk = Self {
            resolved: PathBuf::from("/"),
            pending: VecDeque::new(),
            link_count: 0,
            has_begun: false,
        };
        walk.go_to(&std::path::absolute(path)?);
        Ok(walk)
    }

    /// Puts the components of a path before the pending ones.
    fn go_to(&mut self, path: &Path) {
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.pending.push_front(name.to_owned()),
                Component::ParentDir => self.pending.push_front("..".into()),
                Component::RootDir => self.resolved = PathBuf::from("/"),
                Component::CurDir | Component::Prefix(_) => {}
            }
        }
    }

    fn next(&mut self) -> io::Result<Option<(PathBuf, Metadata)>> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return Ok(Some((self.resolved.clone(), fs::metadata(&self.resolved)?)));
        }
        // The descriptors in /proc refer to files that may have no name; the opened file itself was checked.
        if self.resolved.starts_with("/proc") {
            return Ok(None);
        }
        let Some(name) = self.pending.pop_front() else {
            return Ok(None);
        };
        if name == ".." {
            self.resolved.pop();
            return self.next();
        }
        let place = self.resolved.join(name);
        let facts = fs::symlink_metadata(&place)?;
        if facts.is_symlink() {
            self.link_count += 1;
            if self.link_count > LINK_COUNT_MAX {
                return Err(rustix::io::Errno::LOOP.into());
            }
            self.go_to(&fs::read_link(&place)?);
        } else {
            self.resolved = place.clone();
        }
        Ok(Some((place, facts)))
    }
}

const ROOT: u32 = 0;
const STICKY: u32 = 0o1000;
const READ: u32 = 0o4;
const WRITE: u32 = 0o2;
const GROUP_SHIFT: u32 = 3;
/// The limit of Linux (path_resolution(7)).
const LINK_COUNT_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    /// A folder for its owner only, below /tmp, with a key file in it.
    struct TestFolder(tempfile::TempDir);

    impl TestFolder {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            fs::create_dir(place.path("in")).unwrap();
            place.set("in", 0o755);
            fs::write(place.path("in/key"), [7; 32]).unwrap();
            place.set("in/key", 0o600);
            place
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn set(&self, name: &str, mode: u32) {
            fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
        }

        fn check(&self, name: &str) -> Result<(), KeyError> {
            let path = self.path(name);
            check(&path, &File::open(&path).unwrap())
        }

        /// The last name of the path that is refused, if any.
        fn refused(&self, name: &str) -> Option<String> {
            match self.check(name) {
                Ok(()) => None,
                Err(KeyError::Untrusted { path, .. }) => Some(path.file_name().unwrap().display().to_string()),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn a_file_that_others_can_write_or_replace_is_refused() {
        let place = TestFolder::new();
        for (mode, is_refused) in [
            (0o600, false),
            (0o400, false),
            (0o644, false),
            (0o602, true),
            (0o666, true),
        ] {
            place.set("in/key", mode);
            assert_eq!(place.refused("in/key").is_some(), is_refused, "{mode:o}");
        }
        place.set("in/key", 0o600);
        for (mode, is_refused) in [
            (0o700, false),
            (0o755, false),
            (0o757, true),
            (0o1777, false),
            (0o777, true),
        ] {
            place.set("in", mode);
            assert_eq!(place.refused("in/key"), is_refused.then(|| "in".to_owned()), "{mode:o}");
        }
    }

    #[test]
    fn the_folders_of_a_link_and_of_its_target_are_checked() {
        let place = TestFolder::new();
        fs::create_dir(place.path("other")).unwrap();
        symlink("../in/./key", place.path("other/first")).unwrap();
        symlink(place.path("other/first"), place.path("second")).unwrap();
        assert_eq!(place.refused("second"), None);
        place.set("other", 0o777);
        assert_eq!(place.refused("second"), Some("other".to_owned()));
        place.set("other", 0o755);
        place.set("in", 0o777);
        assert_eq!(place.refused("second"), Some("in".to_owned()));
    }

    #[test]
    fn a_private_group_is_its_owner_and_another_is_not() {
        let place = TestFolder::new();
        let facts = fs::metadata(place.path("in/key")).unwrap();
        let is_private = facts.uid() == facts.gid();
        for name in ["in/key", "in"] {
            place.set(name, 0o770);
            assert_eq!(place.refused("in/key").is_none(), is_private, "{name}");
        }
        if facts.uid() != ROOT {
            eprintln!("skipped: only root can give a file to another group");
            return;
        }
        chown(place.path("in"), None, Some(12)).unwrap();
        assert_eq!(place.refused("in/key"), Some("in".to_owned()));
    }

    #[test]
    fn a_file_or_folder_of_another_user_is_refused() {
        let place = TestFolder::new();
        let path = place.path("in/key");
        let file = File::open(&path).unwrap();
        let owner = fs::metadata(&path).unwrap().uid();
        if owner != ROOT {
            let error = check_for(owner + 1, &path, &file).unwrap_err();
            assert!(matches!(error, KeyError::Untrusted { .. }), "{error}");
            return;
        }
        // Files of root are trusted by every user.
        check_for(12, &path, &file).unwrap();
        chown(place.path("in"), Some(12), None).unwrap();
        assert_eq!(place.refused("in/key"), Some("in".to_owned()));
        check_for(12, &path, &file).unwrap();
    }

    #[test]
    fn an_open_descriptor_is_checked_itself() {
        use std::os::fd::AsRawFd;
        let place = TestFolder::new();
        let held = File::open(place.path("in/key")).unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", held.as_raw_fd()));
        check(&path, &File::open(&path).unwrap()).unwrap();
        let (reader, _writer) = io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        check(&path, &File::open(&path).unwrap()).unwrap();
        place.set("in/key", 0o666);
        let path = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
        check(&path, &File::open(&path).unwrap()).unwrap_err();
    }

    #[test]
    fn permissions_to_read_are_reported() {
        let place = TestFolder::new();
        for (mode, is_readable) in [(0o600, false), (0o604, true), (0o644, true)] {
            place.set("in/key", mode);
            assert_eq!(is_readable_by_others(&place.path("in/key")), is_readable, "{mode:o}");
        }
        assert!(!is_readable_by_others(&place.path("none")));
    }
}
