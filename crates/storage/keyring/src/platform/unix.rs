//! POSIX. What only Linux has is said at the function.

mod ownership;

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use nix::sys::signal::SigSet;
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

pub(crate) use self::ownership::{check as check_owners, is_readable_by_others};

/// Creates a folder and its parents; only their owner has access.
pub(crate) fn create_private_folders(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Opens a file; if that creates it, only its owner has access.
pub(crate) fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.mode(0o600).open(path)
}

/// Renames a file to a name that must not exist.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
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
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
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

    /// Waits until the leader has exited, without reaping it.
    pub(crate) fn wait_for_leader(self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        // Any other error (such as SIGCHLD being ignored) occurs again when the command is reaped.
        while let Err(Errno::INTR) = waitid(WaitId::Pid(self.0), options) {}
    }
}
