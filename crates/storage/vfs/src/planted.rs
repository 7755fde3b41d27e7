//! Bugs that a test plants in its own process, to show that it would find them. A release build has none.

use std::sync::atomic::{AtomicU8, Ordering};

/// A bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// What was read ahead is kept when its lock goes.
    WindowOutlivesItsLock,
    /// The pool is kept when another connection's checkpoint or commit has changed the file.
    PoolOutlivesCheckpoint,
    /// A file is closed while another thread takes its first lock of it.
    LockedWhileClosing,
    /// An old epoch is dropped before the last look at every page.
    KeyDroppedBeforeScan,
    /// A cursor is written before what it promises is in the file, and synced.
    CursorBeforeSync,
}

static PLANTED: AtomicU8 = AtomicU8::new(0);

/// Plants a bug in this process.
#[doc(hidden)]
pub fn plant(bug: Option<Bug>) {
    PLANTED.store(bug.map_or(0, number), Ordering::Relaxed);
}

/// Whether that bug is planted here.
#[doc(hidden)]
#[must_use]
pub fn is_planted(bug: Bug) -> bool {
    cfg!(debug_assertions) && PLANTED.load(Ordering::Relaxed) == number(bug)
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
