//! SQLite's file locks between the open files of one inode, as os_unix.c grants them (sqlite.org/lockingv3.html).

use std::collections::BTreeMap;

use selenite_vfs::ffi::LockLevel;

/// An open file handle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Handle(pub u64);

/// The lock level of each handle; handles without a lock are absent.
#[derive(Default)]
pub struct LockTable(BTreeMap<Handle, LockLevel>);

impl LockTable {
    /// Acquires a lock; `false` if a lock of another handle conflicts.
    ///
    /// PENDING stays held while waiting for readers before EXCLUSIVE: new readers are refused.
    pub fn lock(&mut self, handle: Handle, wanted: LockLevel) -> bool {
        if self.level(handle) >= wanted {
            return true;
        }
        let others = self.highest_but(handle);
        let granted = if wanted <= LockLevel::SHARED {
            others < LockLevel::PENDING
        } else {
            others < LockLevel::RESERVED
        };
        if !granted {
            return false;
        }
        if wanted == LockLevel::EXCLUSIVE && others >= LockLevel::SHARED {
            self.0.insert(handle, LockLevel::PENDING);
            return false;
        }
        self.0.insert(handle, wanted);
        true
    }

    /// Lowers the lock to `level`.
    pub fn unlock(&mut self, handle: Handle, level: LockLevel) {
        if level == LockLevel::NONE {
            self.0.remove(&handle);
        } else if self.level(handle) > level {
            self.0.insert(handle, level);
        }
    }

    /// Whether any handle holds RESERVED or more.
    pub fn is_reserved(&self) -> bool {
        self.0.values().any(|&level| level >= LockLevel::RESERVED)
    }

    fn level(&self, handle: Handle) -> LockLevel {
        self.0.get(&handle).copied().unwrap_or(LockLevel::NONE)
    }

    fn highest_but(&self, handle: Handle) -> LockLevel {
        let others = self.0.iter().filter(|(other, _)| **other != handle);
        others.map(|(_, &level)| level).max().unwrap_or(LockLevel::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Handle = Handle(1);
    const TWO: Handle = Handle(2);

    #[test]
    fn a_writer_waits_for_readers_and_refuses_new_ones() {
        let mut locks = LockTable::default();
        assert!(locks.lock(ONE, LockLevel::SHARED));
        assert!(locks.lock(TWO, LockLevel::SHARED));
        assert!(locks.lock(ONE, LockLevel::RESERVED));
        assert!(locks.is_reserved());
        assert!(!locks.lock(TWO, LockLevel::RESERVED));
        assert!(!locks.lock(ONE, LockLevel::EXCLUSIVE));
        assert!(!locks.lock(Handle(3), LockLevel::SHARED), "PENDING is held");
        locks.unlock(TWO, LockLevel::NONE);
        assert!(locks.lock(ONE, LockLevel::EXCLUSIVE));
        assert!(!locks.lock(TWO, LockLevel::SHARED));
        locks.unlock(ONE, LockLevel::SHARED);
        assert!(locks.lock(TWO, LockLevel::SHARED));
    }
}
