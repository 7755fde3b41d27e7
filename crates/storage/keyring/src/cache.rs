//! A cache of the master keys that this process has unwrapped, which saves stretching a passphrase
//! or calling a key service at every open.
//!
//! - same-identity-same-slot: an entry is found only by the same identity for the same bytes of a
//!   slot: a slot changed in any way is unwrapped again. The caller still checks a cached key
//!   against the superblock's MAC.
//! - secrets-only: keys are stored as secrets only, and are zeroed when they are removed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selenite_cipher::{DatabaseId, Secret, SlotId, sha256};
use selenite_format::Slot;

use crate::Identity;

/// Unwrapped master keys. One per process is intended, shared by all connections.
#[derive(Default)]
pub struct Cache(Mutex<HashMap<Entry, Secret<32>>>);

#[derive(PartialEq, Eq, Hash)]
struct Entry {
    database_id: DatabaseId,
    slot_id: SlotId,
    slot_digest: [u8; 32],
    identity: [u8; 32],
}

impl Cache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all keys.
    pub fn clear(&self) {
        self.entries().clear();
    }

    pub(crate) fn find(&self, database_id: DatabaseId, slot: &Slot, identity: &dyn Identity) -> Option<Secret<32>> {
        let entries = self.entries();
        if entries.is_empty() {
            return None;
        }
        entries
            .get(&Entry::new(database_id, slot, identity))
            .map(Secret::duplicate)
    }

    pub(crate) fn keep(&self, database_id: DatabaseId, slot: &Slot, identity: &dyn Identity, master: &Secret<32>) {
        let mut entries = self.entries();
        if entries.len() >= ENTRY_COUNT_MAX {
            entries.clear();
        }
        entries.insert(Entry::new(database_id, slot, identity), master.duplicate());
    }

    /// Recovers from poisoning: a thread that panicked with the lock held left no partial entry,
    /// since every change is one step.
    fn entries(&self) -> MutexGuard<'_, HashMap<Entry, Secret<32>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn new(database_id: DatabaseId, slot: &Slot, identity: &dyn Identity) -> Self {
        Self {
            database_id,
            slot_id: slot.id,
            slot_digest: digest(slot),
            identity: identity.fingerprint(),
        }
    }
}

/// A digest of all parts of a slot. Each part is digested separately, so that the boundaries
/// between parts are unambiguous.
fn digest(slot: &Slot) -> [u8; 32] {
    let Slot {
        kind,
        id,
        created,
        label,
        identifier,
        parameters,
        wrapped,
    } = slot;
    let parts: [&[u8]; 7] = [
        &kind.id().to_be_bytes(),
        &id.0,
        &created.to_be_bytes(),
        label.as_bytes(),
        identifier,
        parameters,
        wrapped,
    ];
    sha256(&parts.map(sha256).concat())
}

/// 1024: far more databases than a process has open. There is a limit because any number of files can be made.
const ENTRY_COUNT_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use selenite_format::SlotKind;

    use super::*;
    use crate::fixture::{DATABASE, MASTER, SLOT, master, slot_of};
    use crate::{RawIdentity, SlotBody};

    fn identity(byte: u8) -> RawIdentity {
        RawIdentity::new(Secret::new([byte; 32]))
    }

    fn slot() -> Slot {
        let body = SlotBody {
            identifier: vec![1, 2],
            parameters: vec![3],
            wrapped: vec![4, 5],
        };
        slot_of(SlotKind::Raw, body)
    }

    #[test]
    fn find_returns_kept_keys_until_clear() {
        let cache = Cache::new();
        assert!(cache.find(DATABASE, &slot(), &identity(1)).is_none());
        cache.keep(DATABASE, &slot(), &identity(1), &master());
        assert_eq!(cache.find(DATABASE, &slot(), &identity(1)).unwrap().expose(), &MASTER);
        cache.clear();
        assert!(cache.find(DATABASE, &slot(), &identity(1)).is_none());
    }

    #[test]
    fn find_never_returns_a_key_for_a_different_slot() {
        let cache = Cache::new();
        cache.keep(DATABASE, &slot(), &identity(1), &master());
        let changed = [
            Slot {
                kind: SlotKind::Age,
                ..slot()
            },
            Slot {
                id: SlotId([0; 16]),
                ..slot()
            },
            Slot { created: 1, ..slot() },
            Slot {
                label: "x".to_owned(),
                ..slot()
            },
            Slot {
                identifier: vec![1],
                parameters: vec![2, 3],
                ..slot()
            },
            Slot {
                parameters: vec![],
                wrapped: vec![3, 4, 5],
                ..slot()
            },
            Slot {
                wrapped: vec![4, 6],
                ..slot()
            },
        ];
        for slot in changed {
            assert!(cache.find(DATABASE, &slot, &identity(1)).is_none(), "{slot:?}");
        }
        assert!(
            cache.find(DATABASE, &slot(), &identity(2)).is_none(),
            "another identity"
        );
        assert!(cache.find(DatabaseId([0; 16]), &slot(), &identity(1)).is_none());
    }

    #[test]
    fn the_cache_has_a_limited_size() {
        let cache = Cache::new();
        for created in 0..3000 {
            cache.keep(
                DATABASE,
                &Slot {
                    created,
                    id: SLOT,
                    ..slot()
                },
                &identity(1),
                &master(),
            );
        }
        assert!(cache.entries().len() <= ENTRY_COUNT_MAX);
    }
}
