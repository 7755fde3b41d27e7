//! Keys in the memory of this process: a master key, from an exported key, for opening a database
//! that no identity opens; or age identities that are not in a file.
//!
//! - found-by-random-number: they are found by a random number of 128 bits in the spec, during the
//!   lifetime of [`HeldMaster`] or [`HeldAge`]. A URI can pass the number to the VFS, but not to
//!   another process. The number is no key, and is useless afterwards.
//! - in-no-file: the keys are not in any file. A master key is in no cache
//!   ([`Identity::may_be_cached`]) and in no slot.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selenite_cipher::{DatabaseId, MasterKey, Secret, SlotId, sha256};
use selenite_format::{Slot, SlotKind};
use zeroize::Zeroizing;

use super::age::AgeIdentity;
use super::{Effort, Identity, Recipient, SlotBody};
use crate::{KeyError, OriginProof, Spec, os_random, random};

/// A master key that is available as [`Spec::Held`] until this is dropped.
pub struct HeldMaster {
    token: [u8; 16],
}

impl HeldMaster {
    /// Holds a database's master key.
    #[must_use]
    pub fn new(database_id: DatabaseId, master: &MasterKey) -> Self {
        let token = random::draw(&mut os_random);
        held().insert(token, HeldKeys::Master(database_id, master.secret().duplicate()));
        Self { token }
    }

    /// The spec of the key.
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

/// Age identities that are available as [`Spec::Held`] until this is dropped.
pub struct HeldAge {
    token: [u8; 16],
}

impl HeldAge {
    /// Holds identities from their texts: `AGE-SECRET-KEY-1...`.
    ///
    /// # Errors
    /// `BadSpec` for a text that is not an identity.
    pub fn new(texts: Vec<Zeroizing<String>>) -> Result<Self, KeyError> {
        for text in &texts {
            text.parse::<AgeIdentity>()?;
        }
        let token = random::draw(&mut os_random);
        held().insert(token, HeldKeys::Age(texts));
        Ok(Self { token })
    }

    /// The spec of the identities.
    #[must_use]
    pub fn spec(&self) -> Spec {
        Spec::Held(self.token)
    }
}

impl Drop for HeldAge {
    fn drop(&mut self) {
        held().remove(&self.token);
    }
}

/// The identities that are held under this number.
pub fn load_held(spec: &Spec, token: [u8; 16]) -> Result<Vec<Box<dyn Identity>>, KeyError> {
    match held().get(&token) {
        Some(HeldKeys::Master(database_id, master)) => Ok(vec![Box::new(HeldIdentity {
            token,
            database_id: *database_id,
            master: master.duplicate(),
        })]),
        Some(HeldKeys::Age(texts)) => {
            let identity = |text: &Zeroizing<String>| -> Result<Box<dyn Identity>, KeyError> {
                Ok(Box::new(text.parse::<AgeIdentity>()?))
            };
            texts.iter().map(identity).collect()
        }
        None => Err(KeyError::BadSpec {
            spec: spec.to_string(),
            problem: "no key with this number in this process",
        }),
    }
}

/// The identity of a held master key.
pub struct HeldIdentity {
    token: [u8; 16],
    database_id: DatabaseId,
    master: Secret<32>,
}

impl Recipient for HeldIdentity {
    /// Has no meaning here: [`Recipient::wrap`] makes no slot.
    fn kind(&self) -> SlotKind {
        SlotKind::Raw
    }

    fn describe(&self) -> String {
        "exported key".to_owned()
    }

    fn wrap(&self, _: DatabaseId, _: SlotId, _: &Secret<32>) -> Result<SlotBody, KeyError> {
        Err(KeyError::CannotWrap {
            recipient: self.describe(),
            problem: "this is the master key itself, which has no slot",
        })
    }

    fn owns(&self, _: DatabaseId, _: &Slot) -> Result<bool, KeyError> {
        Ok(false)
    }
}

impl Identity for HeldIdentity {
    /// Any slot can be opened, since the key is not taken from it.
    fn can_open(&self, _: &Slot) -> bool {
        true
    }

    fn effort(&self, _: &Slot) -> Effort {
        Effort::Little
    }

    fn fingerprint(&self) -> [u8; 32] {
        sha256(&[b"held".as_slice(), &self.token].concat())
    }

    /// The caller obtained the master key independently of the database.
    fn origin_proof(&self) -> OriginProof {
        OriginProof::Possession
    }

    fn unwrap(&self, database_id: DatabaseId, _: &Slot) -> Result<Secret<32>, KeyError> {
        let is_its = database_id == self.database_id;
        is_its.then(|| self.master.duplicate()).ok_or(KeyError::WrongKey)
    }

    fn may_be_cached(&self) -> bool {
        false
    }
}

/// Locks the map. Poisoning is ignored, since every change is one step.
fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

type Held = BTreeMap<[u8; 16], HeldKeys>;

/// The keys held under a number.
enum HeldKeys {
    Master(DatabaseId, Secret<32>),
    Age(Vec<Zeroizing<String>>),
}

static HELD: Mutex<Held> = Mutex::new(BTreeMap::new());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{database, raw};
    use crate::{Cache, Config, Trust, load, unlock};

    #[test]
    fn a_held_key_opens_its_database_while_it_is_held_and_no_longer() {
        let made = database(vec![raw(1)]);
        let bytes = made.encode().unwrap();
        let held = HeldMaster::new(made.superblock.database_id, &made.master);
        let spec: Spec = held.spec().to_string().parse().unwrap();
        let cache = Cache::new();
        let open = |identities: &[Box<dyn Identity>]| unlock(&bytes, identities, &Trust::default(), &cache);
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
    fn age_identities_are_found_while_they_are_held() {
        let (one, two) = (crate::keygen(0), crate::keygen(0));
        let secret = |text: &str| {
            let line = text.lines().find(|line| line.starts_with("AGE-SECRET-KEY-"));
            Zeroizing::new(line.unwrap().to_owned())
        };
        let held = HeldAge::new(vec![secret(&one.text), secret(&two.text)]).unwrap();
        let spec = held.spec();
        let identities = load(&spec, &Config::default()).unwrap();
        let names: Vec<String> = identities.iter().map(|identity| identity.describe()).collect();
        assert_eq!(names, [one.recipient, two.recipient]);
        drop(held);
        assert!(matches!(load(&spec, &Config::default()), Err(KeyError::BadSpec { .. })));
        let none = HeldAge::new(vec![Zeroizing::new("AGE-SECRET-KEY-1QQQ".to_owned())]);
        let told = none.err().unwrap().to_string();
        assert!(!told.contains("QQQ"), "{told}");
    }

    #[test]
    fn it_opens_no_other_database_and_none_of_another_master_key() {
        let (made, other) = (database(vec![raw(1)]), database(vec![raw(1)]));
        let of = |id, held: &crate::Unlocked| {
            let held = HeldMaster::new(id, &held.master);
            let identities = load(&held.spec(), &Config::default()).unwrap();
            unlock(&made.encode().unwrap(), &identities, &Trust::default(), &Cache::new())
        };
        let error = of(other.superblock.database_id, &made).unwrap_err();
        assert!(matches!(error, KeyError::WrongKey), "{error}");
        let error = of(made.superblock.database_id, &other).unwrap_err();
        assert!(matches!(error, KeyError::Tampered { what: "its MAC", .. }), "{error}");
    }
}
