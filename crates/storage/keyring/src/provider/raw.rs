//! Raw keys: 32 bytes in a file.

use std::path::Path;

use selenite_cipher::{DatabaseId, Secret, SlotId, SlotKey, sha256};
use selenite_format::{Slot, SlotKind};

use super::{Effort, Identity, Recipient, SlotBody};
use crate::{KeyError, OriginProof, hex, os_random, random};

/// An identity that is a raw key of 32 bytes.
pub struct RawIdentity {
    key: Secret<32>,
    key_id: [u8; 16],
}

impl RawIdentity {
    /// The identity of a raw key.
    pub fn new(key: Secret<32>) -> Self {
        let key_id = SlotKey::raw_key_id(&key);
        Self { key, key_id }
    }

    /// The identity in a key file. `BadFile` for any size other than 32 bytes.
    pub(crate) fn from_file(path: &Path, contents: &[u8]) -> Result<Self, KeyError> {
        let key: &[u8; 32] = contents.try_into().map_err(|_| KeyError::BadFile {
            path: path.to_owned(),
            line: None,
            problem: format!("contains {} bytes; a raw key has 32", contents.len()).into(),
        })?;
        Ok(Self::new(Secret::fill(|bytes: &mut [u8; 32]| {
            bytes.copy_from_slice(key)
        })))
    }
}

impl Recipient for RawIdentity {
    fn kind(&self) -> SlotKind {
        SlotKind::Raw
    }

    fn describe(&self) -> String {
        format!("raw key {}", hex::encode(&self.key_id))
    }

    fn wrap(&self, database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Result<SlotBody, KeyError> {
        let key = SlotKey::from_raw(&self.key, slot_id);
        // This key is derived for the slot and wraps once for each master key: random nonces do not collide.
        let nonce = random::draw(&mut os_random);
        let wrapped = key.wrap(nonce, database_id, slot_id, SlotKind::Raw.id(), master);
        Ok(SlotBody {
            identifier: self.key_id.to_vec(),
            parameters: Vec::new(),
            wrapped: wrapped.to_vec(),
        })
    }

    fn owns(&self, _: DatabaseId, slot: &Slot) -> Result<bool, KeyError> {
        Ok(self.is_named_by(slot))
    }
}

impl Identity for RawIdentity {
    fn can_open(&self, slot: &Slot) -> bool {
        slot.kind == SlotKind::Raw
    }

    fn is_named_by(&self, slot: &Slot) -> bool {
        slot.kind == SlotKind::Raw && slot.identifier == self.key_id
    }

    fn effort(&self, _: &Slot) -> Effort {
        Effort::Little
    }

    fn fingerprint(&self) -> [u8; 32] {
        sha256(&[b"raw".as_slice(), &self.key_id].concat())
    }

    fn origin_proof(&self) -> OriginProof {
        OriginProof::Possession
    }

    fn unwrap(&self, database_id: DatabaseId, slot: &Slot) -> Result<Secret<32>, KeyError> {
        let key = SlotKey::from_raw(&self.key, slot.id);
        key.unwrap(database_id, slot.id, SlotKind::Raw.id(), &slot.wrapped)
            .map_err(|_| KeyError::WrongKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{DATABASE, MASTER, SLOT, master, slot_of};

    fn identity(byte: u8) -> RawIdentity {
        RawIdentity::new(Secret::new([byte; 32]))
    }

    #[test]
    fn a_raw_key_unwraps_what_it_wrapped_and_no_other_key_does() {
        let body = identity(1).wrap(DATABASE, SLOT, &master()).unwrap();
        assert_eq!(body.wrapped.len(), 92);
        let slot = slot_of(SlotKind::Raw, body);
        assert_eq!(identity(1).unwrap(DATABASE, &slot).unwrap().expose(), &MASTER);
        let error = identity(2).unwrap(DATABASE, &slot).err().unwrap();
        assert!(matches!(error, KeyError::WrongKey), "{error}");
    }

    #[test]
    fn a_raw_key_is_found_by_its_id() {
        let slot = slot_of(SlotKind::Raw, identity(1).wrap(DATABASE, SLOT, &master()).unwrap());
        assert!(identity(1).is_named_by(&slot));
        assert!(identity(1).owns(DATABASE, &slot).unwrap());
        assert!(!identity(2).is_named_by(&slot));
        assert!(
            identity(2).can_open(&slot),
            "a slot with a wrong identifier is tried, but last"
        );
    }

    #[test]
    fn a_slot_of_another_database_place_or_size_is_the_wrong_key() {
        let body = identity(1).wrap(DATABASE, SLOT, &master()).unwrap();
        let slot = slot_of(SlotKind::Raw, body);
        assert!(identity(1).unwrap(DatabaseId([9; 16]), &slot).is_err());
        let moved = Slot {
            id: SlotId([9; 16]),
            ..slot.clone()
        };
        assert!(identity(1).unwrap(DATABASE, &moved).is_err());
        for size in [1, 91, 93, 8192] {
            let mut wrapped = slot.wrapped.clone();
            wrapped.resize(size, 0);
            assert!(
                identity(1)
                    .unwrap(
                        DATABASE,
                        &Slot {
                            wrapped,
                            ..slot.clone()
                        }
                    )
                    .is_err()
            );
        }
    }

    #[test]
    fn a_key_file_of_another_size_is_refused_with_its_size() {
        for size in [0, 31, 33, 64] {
            let error = RawIdentity::from_file(Path::new("k"), &vec![7; size]).err().unwrap();
            assert_eq!(error.to_string(), format!("k: contains {size} bytes; a raw key has 32"));
        }
        assert!(RawIdentity::from_file(Path::new("k"), &[7; 32]).is_ok());
    }
}
