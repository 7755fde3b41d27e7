//! Bugs that a test injects into its own process, to show that it would detect them. A release
//! build has none.

use std::sync::atomic::{AtomicU8, Ordering};

/// A bug that can be injected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// Pages that were read ahead are kept after their lock is released.
    WindowOutlivesItsLock,
    /// The pool's pages are kept after another connection's checkpoint or commit has changed the
    /// file.
    PoolOutlivesCheckpoint,
    /// A file is closed while another thread takes its first lock on it.
    LockedWhileClosing,
    /// An old epoch is removed before the final scan of all pages.
    KeyDroppedBeforeScan,
    /// A cursor is written before the pages that it confirms are in the file, and synced.
    CursorBeforeSync,
}

static INJECTED: AtomicU8 = AtomicU8::new(0);

/// Activates a bug in this process.
#[doc(hidden)]
pub fn inject(bug: Option<Bug>) {
    INJECTED.store(bug.map_or(0, number), Ordering::Relaxed);
}

/// Whether that bug is active in this process.
#[doc(hidden)]
#[must_use]
pub fn is_injected(bug: Bug) -> bool {
    cfg!(debug_assertions) && INJECTED.load(Ordering::Relaxed) == number(bug)
}

fn number(bug: Bug) -> u8 {
    match bug {
        Bug::WindowOutlivesItsLock => 1,
        Bug::PoolOutlivesCheckpoint => 2,
        Bug::LockedWhileClosing => 3,
        Bug::KeyDroppedBeforeScan => 4,
        Bug::CursorBeforeSync => 5,
    }
}
