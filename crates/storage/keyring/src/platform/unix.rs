//! POSIX. What only Linux has is said at the function.

mod ownership;

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use nix::sys::signal::SigSet;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

pub(crate) use self::ownership::{check as check_owners, is_readable_by_others};

/// Creates a folder and its parents; only their owner has access.
pub(crate) fn create_private_folders(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A part of a file name, by the bytes of [`OsStr::as_encoded_bytes`]; `None` if it is no name.
#[must_use]
pub fn part_of_name(bytes: &[u8]) -> Option<&OsStr> {
    Some(OsStr::from_bytes(bytes))
}

/// Opens a file; if that creates it, only its owner has access.
///
/// # Errors
/// Those of the system.
pub fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.mode(0o600).open(path)
}

/// Opens a file to read it; fails for a link, and does not block on a pipe.
///
/// # Errors
/// Those of the system.
pub fn open_without_link(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Reads once, without moving the file's position.
///
/// # Errors
/// Those of the system.
pub fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(out, offset)
}

/// Writes all bytes, without moving the file's position.
///
/// # Errors
/// Those of the system.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Renames a file to a name that must not exist.
///
/// # Errors
/// `AlreadyExists` if it does; those of the system.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system does not support RENAME_NOREPLACE (macOS: ENOTSUP). A hard link never
        // replaces a file either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            std::fs::hard_link(from, to)?;
            std::fs::remove_file(from)
        }
        renamed => Ok(renamed?),
    }
}

/// Makes the names in a folder durable.
///
/// # Errors
/// Those of the system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Whether a file is a named pipe.
pub(crate) fn is_pipe(facts: &Metadata) -> bool {
    facts.file_type().is_fifo()
}

/// Blocks all signals in this thread; whether it did.
pub(crate) fn block_signals() -> bool {
    // It cannot fail: the argument is valid, and blocking all signals is allowed.
    SigSet::all().thread_block().is_ok()
}

/// Whether a child's status is not known because SIGCHLD is ignored (wait(2)).
pub(crate) fn is_status_lost(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::CHILD.raw_os_error())
}

/// The process group that a command leads.
#[derive(Clone, Copy)]
pub(crate) struct ProcessGroup(Pid);

impl ProcessGroup {
    /// Starts a command as the leader of a new process group.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<(Child, Self)> {
        let child = command.process_group(0).spawn()?;
        let group = Self(Pid::from_child(&child));
        Ok((child, group))
    }

    /// Kills all processes of the group.
    pub(crate) fn kill(self) {
        // An error means that the group has already ended.
        let _ = kill_process_group(self.0, Signal::KILL);
    }

    /// Waits until the leader has exited, without reaping it. Returns whether the system has done that, because SIGCHLD is
    /// ignored.
    pub(crate) fn wait_for_leader(self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.0), options) {
                Err(Errno::INTR) => {}
                // Any other error occurs again when the command is reaped.
                waited => return waited.is_err_and(|error| error == Errno::CHILD),
            }
        }
    }
}
