//! POSIX. What only Linux has is said at the function.

mod extended;
mod shared_folder;

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

pub use self::extended::carry_over;
pub use self::shared_folder::SharedFolder;
use super::Attributes;

/// The file name of these bytes.
pub fn name_of(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// Device and inode of a file or folder, which is not opened.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// Whether an open file is the one of that name, which is not a link.
pub fn is_same_file(held: &File, path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|named| {
        held.metadata()
            .is_ok_and(|held| (held.dev(), held.ino()) == (named.dev(), named.ino()))
    })
}

/// Size, owner and mode; follows links, and does not open the file.
pub fn attributes(path: &Path) -> io::Result<Attributes> {
    let metadata = fs::metadata(path)?;
    Ok(Attributes {
        size: metadata.len(),
        user_id: metadata.uid(),
        group_id: metadata.gid(),
        mode: metadata.mode() & MODE_BITS,
        identity: (metadata.dev(), metadata.ino()),
        link_count: metadata.nlink(),
        is_file: metadata.is_file(),
    })
}

/// Sets owner and mode of a file.
pub fn set_owner_and_mode(path: &Path, wanted: &Attributes) -> io::Result<()> {
    let present = attributes(path)?;
    if (present.user_id, present.group_id) != (wanted.user_id, wanted.group_id) {
        std::os::unix::fs::chown(path, Some(wanted.user_id), Some(wanted.group_id))?;
    }
    // After the owner: a change of owner may take bits of the mode away (chown(2)).
    fs::set_permissions(path, Permissions::from_mode(wanted.mode))
}

/// Creates a folder that only its owner can use.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Opens and locks a folder. Fails if another process has it locked.
pub fn lock_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}

/// Opens a regular file with one link, for its owner only if that creates it; fails for a link or
/// anything that would block.
pub fn open_if_sole(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = options.mode(0o600).custom_flags(flags.bits().cast_signed()).open(path);
    let file = match opened {
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err(io::Error::other("it is a link: remove it"));
        }
        opened => opened?,
    };
    let found = file.metadata()?;
    if !found.is_file() || found.nlink() > 1 {
        return Err(io::Error::other("not a regular file with one name: remove it"));
    }
    Ok(file)
}

/// The system's list of locks (proc_locks(5)); empty if it has none, as on all systems but Linux.
pub fn listed_locks() -> String {
    fs::read_to_string("/proc/locks").unwrap_or_default()
}

/// The processes, by id (proc(5)).
pub fn processes() -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        if let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            found.push(pid);
        }
    }
    Ok(found)
}

/// What the system says of each descriptor that a process has on a file (proc_pid_fdinfo(5)): locks of its open file
/// description are among it. None for a process that has ended. The file is not opened.
///
/// # Errors
/// `PermissionDenied` if this process may not look.
pub fn open_descriptions(pid: u32, file: (u64, u64)) -> io::Result<Vec<String>> {
    let is_gone = |error: &io::Error| {
        let number = error.raw_os_error();
        error.kind() == io::ErrorKind::NotFound || number == Some(Errno::SRCH.raw_os_error())
    };
    let look = || -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
            let entry = entry?;
            let described = fs::metadata(entry.path()).and_then(|metadata| {
                if (metadata.dev(), metadata.ino()) != file {
                    return Ok(None);
                }
                let name = entry.file_name();
                fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", name.to_string_lossy())).map(Some)
            });
            match described {
                Ok(described) => found.extend(described),
                // Closed meanwhile.
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    };
    match look() {
        Err(error) if is_gone(&error) => Ok(Vec::new()),
        found => found,
    }
}

/// The name of a process's program; `None` if it is not known.
pub fn process_name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// The number of a device.
#[cfg(target_os = "linux")]
pub fn device_number(major: u32, minor: u32) -> Option<u64> {
    Some(rustix::fs::makedev(major, minor))
}

/// Only Linux lists locks with numbers of devices.
#[cfg(not(target_os = "linux"))]
pub fn device_number(_major: u32, _minor: u32) -> Option<u64> {
    None
}

const MODE_BITS: u32 = 0o7777;
