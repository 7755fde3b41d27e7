//! Attributes of a file besides contents, owner and mode, for the file that replaces it: its access
//! control list (acl(5)) and its user attributes (xattr(7), `user.*`).
//!
//! - by-path: attributes are read and set by path, not by descriptor: closing one would release
//!   SQLite's locks (fcntl(2)).
//! - draft-access-list-removed: a draft may have inherited an access control list from its folder
//!   (`default` entries). Its mode keeps the list ineffective, because the mode's group bits are
//!   the list's mask. The list is removed before the mode is set; otherwise the users in it could
//!   read the new file.
//!
//! Attributes of the system (`security.*`, `trusted.*`) are left to the system.

use std::path::Path;

use rustix::fs::{XattrFlags, lgetxattr, lgetxattr_query, llistxattr, llistxattr_query, lremovexattr, lsetxattr};
use rustix::io::{Errno, Result};

/// Copies the attributes of `from` to `to`. Returns the names of those that could not be copied.
pub fn carry_over(from: &Path, to: &Path) -> Vec<String> {
    let mut lost = Vec::new();
    if carry_list(from, to).is_err() {
        lost.push(ACCESS_LIST.to_owned());
    }
    // A file system without attributes has none to lose.
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
    // The list inherited from the folder is removed first, whatever fails afterwards.
    match lremovexattr(to, ACCESS_LIST) {
        Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
        removed => removed?,
    }
    match list {
        None => Ok(()),
        Some(list) => lsetxattr(to, ACCESS_LIST, &list?, XattrFlags::empty()),
    }
}

/// The names of user attributes.
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
