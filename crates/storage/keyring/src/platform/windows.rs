//! Windows: compiles, and has never run. Access control lists and job objects are missing: key
//! files, the configuration and the keyring file are neither read nor written, and no key command
//! is started.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Child, Command};

use super::unsupported;
use crate::KeyError;

pub(crate) fn check_owners(path: &Path, _file: &File) -> Result<(), KeyError> {
    Err(KeyError::Io {
        verb: "check the access control list of",
        path: path.to_owned(),
        source: unsupported("reading access control lists"),
    })
}

/// Unknown, which is reported as readable.
pub(crate) fn is_readable_by_others(path: &Path) -> bool {
    path.is_file()
}

pub(crate) fn create_private_folders(_folder: &Path) -> io::Result<()> {
    Err(unsupported("creating a folder for its owner only"))
}

/// A name that is not Unicode is not recognised.
#[must_use]
pub fn part_of_name(bytes: &[u8]) -> Option<&OsStr> {
    std::str::from_utf8(bytes).ok().map(OsStr::new)
}

/// # Errors
/// `Unsupported`.
pub fn open_private(_options: &mut OpenOptions, _path: &Path) -> io::Result<File> {
    Err(unsupported("creating a file for its owner only"))
}

/// The link itself is opened, which is not a regular file: the caller refuses it.
///
/// # Errors
/// Those of the system.
pub fn open_without_link(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
}

/// # Errors
/// Those of the system.
pub fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(out, offset)
}

/// # Errors
/// Those of the system.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = file.seek_write(bytes, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[count..];
        offset = offset.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// A hard link never replaces a file.
///
/// # Errors
/// `AlreadyExists`; those of the system.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// `FlushFileBuffers` needs a handle with the right to write; a folder is opened only with
/// `FILE_FLAG_BACKUP_SEMANTICS`.
///
/// # Errors
/// Those of the system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    options.open(folder)?.sync_all()
}

/// Named pipes are not files of a folder.
pub(crate) fn is_pipe(_facts: &Metadata) -> bool {
    false
}

/// There are none to block.
pub(crate) fn block_signals() -> bool {
    true
}

#[derive(Clone, Copy)]
pub(crate) struct ProcessGroup;

impl ProcessGroup {
    pub(crate) fn spawn(_command: &mut Command) -> io::Result<(Child, Self)> {
        Err(unsupported("running a key command, which needs a job object,"))
    }

    pub(crate) fn kill(self) {}

    pub(crate) fn wait_for_leader(self) -> bool {
        false
    }
}

/// Whether a child's status is not known because SIGCHLD is ignored: there is no such signal.
pub(crate) fn is_status_lost(_: &io::Error) -> bool {
    false
}

/// CreateFileW
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// CreateFileW
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
