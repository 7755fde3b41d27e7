//! Closing a database file while other threads lock it.
//!
//! POSIX locks belong to the process, and closing any descriptor of a file releases all of them
//! (fcntl(2)). SQLite's `unixClose` keeps a descriptor open as long as the process holds a lock on
//! the file; but it releases the file's mutex between the check and the close, and a lock that
//! another thread takes in between is lost without an error (SQLite 3.25 to 3.54;
//! docs/decisions/0010-closing.md).
//!
//! - no-first-lock-during-close: no connection takes its first lock on a file while that file is
//!   being closed, in this copy of SQLite. A connection that already holds a lock is safe: SQLite
//!   then keeps the other's descriptor open.
//! - lock-per-file: each file has its own lock, as in SQLite: a child that was forked while a
//!   thread of its parent held one waits for that file alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

/// Excludes first locks on a file while it is closed, and the reverse.
#[derive(Default)]
pub struct CloseLock(RwLock<()>);

/// Identifies a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileId {
    /// Device and inode.
    Inode((u64, u64)),
    /// The path, if device and inode are unknown.
    Path(String),
}

/// The [`CloseLock`] of every open file.
#[derive(Default)]
pub struct CloseLocks(Mutex<BTreeMap<FileId, Weak<CloseLock>>>);

impl CloseLocks {
    /// The [`CloseLock`] of a file, shared by all connections that have it open.
    pub fn of(&self, file: FileId) -> Arc<CloseLock> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(close_lock) = known.get(&file).and_then(Weak::upgrade) {
            return close_lock;
        }
        known.retain(|_, close_lock| close_lock.strong_count() > 0);
        let close_lock = Arc::new(CloseLock::default());
        known.insert(file, Arc::downgrade(&close_lock));
        close_lock
    }
}

impl CloseLock {
    /// The guard is held while a connection takes its first lock.
    pub fn lock_for_first_lock(&self) -> RwLockReadGuard<'_, ()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The guard is held while the file is closed.
    pub fn lock_for_close(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_its_own_lock_while_it_is_open() {
        let close_locks = CloseLocks::default();
        let (one, other) = (FileId::Inode((1, 2)), FileId::Path("2".to_owned()));
        let first = close_locks.of(one.clone());
        assert!(Arc::ptr_eq(&first, &close_locks.of(one.clone())));
        assert!(!Arc::ptr_eq(&first, &close_locks.of(other.clone())));
        drop(first);
        close_locks.of(other);
        assert_eq!(close_locks.0.lock().unwrap().len(), 1);
    }
}
