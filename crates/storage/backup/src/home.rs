//! Where a folder is: that it is gone, or that nothing is mounted there any more, is not that it is empty.
//!
//! - missing-folder-is-away: a folder that was there once and is no more is away: who made it again
//!   would write where no one looks, below the mount point of a disk that comes back.
//! - unmounted-is-away: so is one that a disk was mounted on, and that lies on the disk of the
//!   folder above now.
//! - no-open-handle: nothing is held: an open file would keep the disk from being unmounted.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What is known of a folder's place.
#[derive(Default)]
pub struct Home(Mutex<FolderState>);

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum FolderState {
    /// Not yet: it is made when the first object is written.
    #[default]
    Never,
    /// On the disk of the folder above.
    Plain,
    /// A disk is mounted there.
    Mounted,
}

impl Home {
    /// Whether the folder is where it was when it was looked at before.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotConnected`] where it is not (missing-folder-is-away, unmounted-is-away); what the system
    /// says.
    pub fn check(&self, folder: &Path) -> io::Result<()> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = match look(folder) {
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

    /// Of a folder that a disk was mounted on.
    #[cfg(test)]
    pub fn mounted() -> Self {
        Self(Mutex::new(FolderState::Mounted))
    }
}

/// As mountpoint(1) tells it.
fn look(folder: &Path) -> io::Result<FolderState> {
    let (own, above) = (fs::metadata(folder)?, fs::metadata(folder.join(".."))?);
    Ok(if own.dev() == above.dev() {
        FolderState::Plain
    } else {
        FolderState::Mounted
    })
}

fn away(what: &str, folder: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, format!("{}: {what}", folder.display()))
}
