//! Closing a database file while other threads lock it.
//!
//! POSIX locks are the process's, and closing any descriptor of a file gives all of them up (fcntl(2)). SQLite's `unixClose`
//! keeps a descriptor open as long as the process holds a lock on the file; but it lets the file's mutex go between the
//! look and the close, and a lock that another thread gets in between is lost without a word (SQLite 3.25 to 3.54;
//! docs/decisions/0010-closing.md).
//!
//! C1. Nobody takes the first lock of a connection while a database file is closed, in this copy of SQLite. Whoever has
//!     one is safe: the descriptor of the other is kept.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Keeps first locks and closes apart.
#[derive(Default)]
pub struct Closing(RwLock<()>);

impl Closing {
    /// Held while a connection takes its first lock.
    pub fn hold_off(&self) -> RwLockReadGuard<'_, ()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held while a file is closed.
    pub fn begin(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
