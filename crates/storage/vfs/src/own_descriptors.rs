//! Whether this process already has a file open, other than through this VFS.
//!
//! POSIX locks belong to the process: closing any descriptor of a file releases all of them
//! (fcntl(2)). Two copies of SQLite in one process (Python's `sqlite3` and apsw) that use one file
//! would silently lose their locks.

//!
//! - look-and-open-under-gate: a caller holds the [`gate`] from this check until it has opened the
//!   file: of two concurrent threads, one finds the descriptor of the other.

use std::cell::Cell;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ffi::descriptors;

/// `look-and-open-under-gate`: while it is held, no other thread of this copy opens a database
/// file, or reads one for a moment without SQLite. It is reentrant.
pub fn gate() -> Gate {
    static GATE: Mutex<()> = Mutex::new(());
    let is_first = HELD.get() == 0;
    HELD.set(HELD.get() + 1);
    Gate {
        _lock: is_first.then(|| GATE.lock().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// Proof that a thread holds the [`gate`].
pub struct Gate {
    _lock: Option<MutexGuard<'static, ()>>,
}

impl Drop for Gate {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
    }
}

thread_local! {
    /// How often this thread holds the gate.
    static HELD: Cell<u32> = const { Cell::new(0) };
}

/// Whether a descriptor of this process is open on the file at `path`. `false` for a file that does
/// not exist, and if the system does not list descriptors.
#[must_use]
pub fn has_open(path: &Path) -> bool {
    descriptors(path).next().is_some()
}

/// The numbers of the descriptors of this process that are open on the file at `path`, with the
/// limits of [`has_open`].
#[must_use]
pub fn of(path: &Path) -> Vec<i32> {
    descriptors(path).collect()
}

/// Opens the file at `path`, under the [`gate`], and returns the descriptors that came with it. There is none if SQLite
/// uses one again whose close it has put off (`findReusableFd` in os_unix.c).
///
/// # Errors
/// That of `open`.
pub fn noting<T, E>(path: &Path, open: impl FnOnce() -> Result<T, E>) -> Result<(T, Vec<i32>), E> {
    let _gate = gate();
    let before = of(path);
    let opened = open()?;
    let mut descriptors = of(path);
    descriptors.retain(|descriptor| !before.contains(descriptor));
    Ok((opened, descriptors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_is_found_and_a_closed_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(!has_open(&path));
        let file = std::fs::File::create(&path).unwrap();
        assert!(has_open(&path));
        assert_eq!(of(&path), [std::os::fd::AsRawFd::as_raw_fd(&file)]);
        drop(file);
        assert!(!has_open(&path));
    }
}
