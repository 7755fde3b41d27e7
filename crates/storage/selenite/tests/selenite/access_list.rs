//! A file that replaces a database has the access rights of the old one, and no others.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{XattrFlags, getxattr, setxattr};
use selenite::offline::{Offline, offline};
use selenite::storage::Disk;
use selenite::{Encrypt, Target, Watch, decrypt, encrypt};

use crate::support::Fixture;

const LIST: &str = "system.posix_acl_access";

/// The owner may read and write, this user may read, and others have no access
/// (linux/posix_acl_xattr.h).
fn list_for(user: u32) -> Vec<u8> {
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in [
        (1_u16, 6_u16, u32::MAX),
        (2, 4, user),
        (4, 4, u32::MAX),
        (16, 4, u32::MAX),
        (32, 0, u32::MAX),
    ] {
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

fn read(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = [0; 200];
    let size = getxattr(path, name, &mut value[..]).ok()?;
    Some(value[..size].to_vec())
}

/// Runs every operation that replaces a database with a new file.
fn replace_in_every_way(fixture: &Fixture, path: &Path, check: impl Fn(&str)) {
    let (access, watch) = (fixture.access(), Watch::none());
    let inode = || fs::metadata(path).unwrap().ino();
    let mut last = inode();
    let mut check = |how: &str| {
        assert_ne!(inode(), last, "{how}");
        last = inode();
        check(how);
    };
    let done = encrypt(&Disk, path, &access, &Encrypt::default(), &watch).unwrap();
    assert_eq!(done.not_kept, [""; 0]);
    check("encrypt");
    let done = offline(&Disk, path, &access, &Offline::default(), &watch).unwrap();
    assert_eq!(done.not_kept, [""; 0]);
    check("offline");
    decrypt(&Disk, path, &access, &Target::InPlace, &watch).unwrap();
    check("decrypt");
}

#[test]
fn an_access_list_and_user_attributes_are_kept() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let list = list_for(12345);
    setxattr(&path, LIST, &list, XattrFlags::empty()).expect("a file system with access lists");
    setxattr(&path, "user.origin", b"here", XattrFlags::empty()).unwrap();
    replace_in_every_way(&fixture, &path, |how| {
        assert_eq!(read(&path, LIST).as_deref(), Some(&list[..]), "{how}");
        assert_eq!(read(&path, "user.origin").as_deref(), Some(&b"here"[..]), "{how}");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640,
            "{how}"
        );
    });
}

/// The default list of a folder is for new files: this file replaces an old one, which no other
/// user could read.
#[test]
fn a_user_without_access_to_the_old_file_has_none_to_the_new_one() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let folder = fixture.folder.path();
    setxattr(
        folder,
        "system.posix_acl_default",
        &list_for(12345),
        XattrFlags::empty(),
    )
    .expect("a file system with access lists");
    assert_eq!(read(&path, LIST), None, "it was there before");
    replace_in_every_way(&fixture, &path, |how| {
        assert_eq!(read(&path, LIST), None, "{how}");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640,
            "{how}"
        );
    });
}
