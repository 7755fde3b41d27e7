//! The WAL index of one inode: its memory and its eight locks, as os_unix.c grants them.

use std::collections::BTreeSet;

use selenite_vfs::ffi::{ShmLock, ShmMemory, ShmRegion};

use crate::content::to_usize;
use crate::lock_table::Handle;

/// Memory and locks; both are discarded when the last connection unmaps.
#[derive(Default)]
pub struct ShmTable {
    regions: Vec<ShmMemory>,
    slots: [Slot; SLOT_COUNT],
    users: BTreeSet<Handle>,
}

#[derive(Default)]
struct Slot {
    exclusive: Option<Handle>,
    shared: BTreeSet<Handle>,
}

impl ShmTable {
    /// Maps region `index`; `None` if it does not exist and `extend` is false.
    pub fn map(&mut self, handle: Handle, index: usize, size: usize, extend: bool) -> Option<ShmRegion> {
        self.users.insert(handle);
        if self.regions.len() <= index && !extend {
            return None;
        }
        while self.regions.len() <= index {
            self.regions.push(ShmMemory::new(size));
        }
        Some(self.regions[index].region())
    }

    /// Acquires or releases; `false` if a lock of another handle conflicts.
    pub fn lock(&mut self, handle: Handle, lock: ShmLock) -> bool {
        self.users.insert(handle);
        let (first, count) = (i64::from(lock.first), i64::from(lock.count));
        let range = to_usize(first.unsigned_abs())..to_usize((first + count).unsigned_abs()).min(SLOT_COUNT);
        let slots = &mut self.slots[range];
        if !lock.lock {
            for slot in slots {
                slot.release(handle);
            }
            return true;
        }
        if !slots.iter().all(|slot| slot.grants(handle, lock.exclusive)) {
            return false;
        }
        for slot in slots {
            if lock.exclusive {
                slot.exclusive = Some(handle);
            } else {
                slot.shared.insert(handle);
            }
        }
        true
    }

    /// Whether a handle holds the write lock, the first of the eight.
    pub fn is_writer(&self, handle: Handle) -> bool {
        self.slots[0].exclusive == Some(handle)
    }

    /// Makes the second copy of the header differ from the first.
    pub fn tear(&mut self) {
        self.regions[0].set_word(16, 0x00c0_ffee);
    }

    /// Removes an open file.
    pub fn unmap(&mut self, handle: Handle) {
        self.users.remove(&handle);
        for slot in &mut self.slots {
            slot.release(handle);
        }
        if self.users.is_empty() {
            self.regions.clear();
        }
    }
}

impl Slot {
    fn grants(&self, handle: Handle, exclusive: bool) -> bool {
        let no_other_writer = self.exclusive.is_none_or(|other| other == handle);
        no_other_writer && !(exclusive && self.shared.iter().any(|&other| other != handle))
    }

    fn release(&mut self, handle: Handle) {
        self.shared.remove(&handle);
        if self.exclusive == Some(handle) {
            self.exclusive = None;
        }
    }
}

/// SQLITE_SHM_NLOCK.
const SLOT_COUNT: usize = 8;
