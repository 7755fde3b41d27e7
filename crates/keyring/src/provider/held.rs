//! A master key that this process has in its memory: from an exported key, to open a database that no identity opens.
//!
//! H1. It is found under a number of 128 random bits, which stands in the spec, for as long as [`HeldMaster`] lives: a URI
//!     can carry that to the VFS, and to no other process. The number is no key, and is worth nothing afterwards.
//! H2. The key is in no file, in no cache ([`Identity::may_be_cached`]) and in no slot.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selenite_cipher::{DatabaseId, MasterKey, Secret, SlotId, sha256};
use selenite_format::{Slot, SlotKind};

use super::{Effort, Identity, Recipient, SlotBody};
use crate::{KeyError, Spec, os_random, random};

/// A master key that [`Spec::Held`] finds, until this is dropped.
pub struct HeldMaster {
    token: [u8; 16],
}

impl HeldMaster {
    /// Holds a database's master key.
    #[must_use]
    pub fn new(database_id: DatabaseId, master: &MasterKey) -> Self {
        let token = random::draw(&mut os_random);
        held().insert(token, (database_id, master.secret().duplicate()));
        Self { token }
    }

    /// How it is named.
    #[must_use]
    pub fn spec(&self) -> Spec {
        Spec::Held(self.token)
    }
}

impl Drop for HeldMaster {
    fn drop(&mut self) {
        held().remove(&self.token);
    }
}

/// The identity that a held master key is.
pub struct HeldIdentity {
    token: [u8; 16],
    database_id: DatabaseId,
    master: Secret<32>,
}

impl HeldIdentity {
    /// The key that is held under this number.
    pub fn find(token: [u8; 16]) -> Option<Self> {
        let held = held();
        let (database_id, master) = held.get(&token)?;
        Some(Self {
            token,
            database_id: *database_id,
            master: master.duplicate(),
        })
    }
}

impl Recipient for HeldIdentity {
    /// It has none: [`Recipient::wrap`] makes no slot.
    fn kind(&self) -> SlotKind {
        SlotKind::Raw
    }

    fn describe(&self) -> String {
        "exported key".to_owned()
    }

    fn wrap(&self, _: DatabaseId, _: SlotId, _: &Secret<32>) -> Result<SlotBody, KeyError> {
        Err(KeyError::CannotWrap {
            recipient: self.describe(),
            problem: "it is the master key itself, and has no slot",
        })
    }

    fn owns(&self, _: DatabaseId, _: &Slot) -> Result<bool, KeyError> {
        Ok(false)
    }
}

impl Identity for HeldIdentity {
    /// Whatever is in the slot, the key is not taken from it.
    fn can_open(&self, _: &Slot) -> bool {
        true
    }

    fn effort(&self, _: &Slot) -> Effort {
        Effort::Little
    }

    fn fingerprint(&self) -> [u8; 32] {
        sha256(&[b"held".as_slice(), &self.token].concat())
    }

    fn unwrap(&self, database_id: DatabaseId, _: &Slot) -> Result<Secret<32>, KeyError> {
        let is_its = database_id == self.database_id;
        is_its.then(|| self.master.duplicate()).ok_or(KeyError::WrongKey)
    }

    fn may_be_cached(&self) -> bool {
        false
    }
}

/// Nothing here is done in two steps.
fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

type Held = BTreeMap<[u8; 16], (DatabaseId, Secret<32>)>;

static HELD: Mutex<Held> = Mutex::new(BTreeMap::new());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{database, raw};
    use crate::{Cache, Config, Keyring, load, unlock};

    #[test]
    fn a_held_key_opens_its_database_while_it_is_held_and_no_longer() {
        let made = database(vec![raw(1)]);
        let bytes = made.encode().unwrap();
        let held = HeldMaster::new(made.superblock.database_id, &made.master);
        let spec: Spec = held.spec().to_string().parse().unwrap();
        let cache = Cache::new();
        let open = |identities: &[Box<dyn Identity>]| unlock(&bytes, identities, &Keyring::default(), &cache);
        let identities = load(&spec, &Config::default()).unwrap();
        assert!(open(&identities).unwrap().master.secret().ct_eq(made.master.secret()));
        drop(held);
        let error = load(&spec, &Config::default()).err().unwrap();
        assert!(matches!(error, KeyError::BadSpec { .. }), "{error}");
        let slot = &made.superblock.slots[0];
        let kept = cache.find(made.superblock.database_id, slot, identities[0].as_ref());
        assert!(kept.is_none(), "it was cached");
    }

    #[test]
    fn it_opens_no_other_database_and_none_of_another_master_key() {
        let (made, other) = (database(vec![raw(1)]), database(vec![raw(1)]));
        let of = |id, held: &crate::Unlocked| {
            let held = HeldMaster::new(id, &held.master);
            let identities = load(&held.spec(), &Config::default()).unwrap();
            unlock(&made.encode().unwrap(), &identities, &Keyring::default(), &Cache::new())
        };
        let error = of(other.superblock.database_id, &made).unwrap_err();
        assert!(matches!(error, KeyError::WrongKey), "{error}");
        let error = of(made.superblock.database_id, &other).unwrap_err();
        assert!(matches!(error, KeyError::Tampered { what: "its MAC", .. }), "{error}");
    }
}
