//! Closing a database file while other threads lock it.
//!
//! POSIX locks are the process's, and closing any descriptor of a file gives all of them up
//! (fcntl(2)). SQLite's `unixClose` keeps a descriptor open as long as the process holds a lock on
//! the file; but it lets the file's mutex go between the look and the close, and a lock that
//! another thread gets in between is lost without a word (SQLite 3.25 to 3.54;
//! docs/decisions/0010-closing.md).
//!
//! - no-first-lock-during-close: no one takes the first lock of a connection to a file while that
//!   file is closed, in this copy of SQLite. A connection that has one is safe: the descriptor of the other
//!   is kept.
//! - lock-per-file: each file has a lock of its own, as it has in SQLite: a child that was forked
//!   while a thread of its parent held one waits for that file alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

/// Keeps first locks of a file and its closes apart.
#[derive(Default)]
pub struct Closing(RwLock<()>);

/// What tells files apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileId {
    /// Device and inode.
    Inode((u64, u64)),
    /// Where these are not known, the path.
    Path(String),
}

/// Those of all files that are open.
#[derive(Default)]
pub struct Closings(Mutex<BTreeMap<FileId, Weak<Closing>>>);

impl Closings {
    /// That of a file, for all who have it open.
    pub fn of(&self, file: FileId) -> Arc<Closing> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(closing) = known.get(&file).and_then(Weak::upgrade) {
            return closing;
        }
        known.retain(|_, closing| closing.strong_count() > 0);
        let closing = Arc::new(Closing::default());
        known.insert(file, Arc::downgrade(&closing));
        closing
    }
}

impl Closing {
    /// Held while a connection takes its first lock.
    pub fn hold_off(&self) -> RwLockReadGuard<'_, ()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held while the file is closed.
    pub fn begin(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_while_it_is_open_and_another_file_another() {
        let closings = Closings::default();
        let (one, other) = (FileId::Inode((1, 2)), FileId::Path("2".to_owned()));
        let first = closings.of(one.clone());
        assert!(Arc::ptr_eq(&first, &closings.of(one.clone())));
        assert!(!Arc::ptr_eq(&first, &closings.of(other.clone())));
        drop(first);
        closings.of(other);
        assert_eq!(closings.0.lock().unwrap().len(), 1);
    }
}
