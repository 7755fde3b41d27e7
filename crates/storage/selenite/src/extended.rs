//! What a file has besides contents, owner and mode, for the file that takes its place: its access
//! list (acl(5)) and the attributes that its users gave it (xattr(7), `user.*`).
//!
//! - by-path: by path, not by descriptor: closing one would give up SQLite's locks (fcntl(2)).
//! - draft-access-list-removed: a draft may have got an access list from its folder (`default`
//!   entries), which its mode keeps shut: the mode's group bits are the list's mask. It is gone
//!   before the mode is set, or those whom it names could read the new file.
//!
//! Labels of the system's (`security.*`, `trusted.*`) are the system's to give.

use std::path::Path;

use rustix::fs::{XattrFlags, lgetxattr, lgetxattr_query, llistxattr, llistxattr_query, lremovexattr, lsetxattr};
use rustix::io::{Errno, Result};

/// Gives `to` what `from` has. Answers what could not be given.
pub fn carry_over(from: &Path, to: &Path) -> Vec<String> {
    let mut lost = Vec::new();
    if carry_list(from, to).is_err() {
        lost.push(ACCESS_LIST.to_owned());
    }
    // A file system without attributes has none that could be lost.
    for name in names(from).unwrap_or_default() {
        let carried = value(from, &name).and_then(|value| lsetxattr(to, &name, &value, XattrFlags::empty()));
        if carried.is_err() {
            lost.push(name);
        }
    }
    lost
}

/// Enforces `draft-access-list-removed`.
fn carry_list(from: &Path, to: &Path) -> Result<()> {
    let list = match value(from, ACCESS_LIST) {
        Err(Errno::NODATA | Errno::OPNOTSUPP) => None,
        found => Some(found),
    };
    // First of all the folder's goes, whatever comes of the rest.
    match lremovexattr(to, ACCESS_LIST) {
        Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
        removed => removed?,
    }
    match list {
        None => Ok(()),
        Some(list) => lsetxattr(to, ACCESS_LIST, &list?, XattrFlags::empty()),
    }
}

/// Those that a user gave.
fn names(path: &Path) -> Result<Vec<String>> {
    let mut list = vec![0; llistxattr_query(path)?];
    let size = llistxattr(path, list.as_mut_slice())?;
    let names = list[..size].split(|&byte| byte == 0);
    let names = names.filter_map(|name| std::str::from_utf8(name).ok());
    let own = names.filter(|name| name.starts_with("user."));
    Ok(own.map(str::to_owned).collect())
}

fn value(path: &Path, name: &str) -> Result<Vec<u8>> {
    let mut value = vec![0; lgetxattr_query(path, name)?];
    let size = lgetxattr(path, name, value.as_mut_slice())?;
    value.truncate(size);
    Ok(value)
}

const ACCESS_LIST: &str = "system.posix_acl_access";
