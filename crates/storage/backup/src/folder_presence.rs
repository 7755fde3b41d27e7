//! Detects that a folder is gone, or that its disk is no longer mounted, which is different from an empty folder.
//!
//! - missing-folder-is-away: a folder that existed and no longer exists is unreachable. Recreating
//!   it would write to an unexpected place, below the mount point of a disk that is mounted again
//!   later.
//! - unmounted-is-away: so is a folder that was a mount point, and is now on the disk of its parent
//!   folder.
//! - no-open-handle: no handle is kept: an open file would prevent unmounting the disk.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::platform::is_mount_point;

/// The known state of a folder.
#[derive(Default)]
pub struct FolderPresence(Mutex<FolderState>);

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum FolderState {
    /// Not seen yet: it is created with the first object.
    #[default]
    Never,
    /// On the disk of its parent folder.
    Plain,
    /// A mount point.
    Mounted,
}

impl FolderPresence {
    /// Checks that the folder is still what it was at the previous check.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotConnected`] if it is not (missing-folder-is-away, unmounted-is-away);
    /// the errors of the system.
    pub fn check(&self, folder: &Path) -> io::Result<()> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = match state_of(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match *seen {
                FolderState::Never => return Ok(()),
                FolderState::Plain | FolderState::Mounted => return Err(away("the folder no longer exists", folder)),
            },
            now => now?,
        };
        if (*seen, now) == (FolderState::Mounted, FolderState::Plain) {
            return Err(away("nothing is mounted there any longer", folder));
        }
        *seen = now;
        Ok(())
    }

    /// The state of a folder that was a mount point.
    #[cfg(test)]
    pub fn mounted() -> Self {
        Self(Mutex::new(FolderState::Mounted))
    }
}

fn state_of(folder: &Path) -> io::Result<FolderState> {
    Ok(if is_mount_point(folder)? {
        FolderState::Mounted
    } else {
        FolderState::Plain
    })
}

fn away(what: &str, folder: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, format!("{}: {what}", folder.display()))
}
