//! The origin key of an identity, which marks the key slots that its holder made or accepted (FORMAT 4.7).

use crate::pseudorandom_key::PseudorandomKey;
use crate::{DatabaseId, Secret, SlotId};

/// The origin key of an age identity. Only a holder of the identity can derive it.
pub struct OriginKey(PseudorandomKey);

impl OriginKey {
    /// Extracts the key from an identity's 32 secret bytes.
    pub fn new(identity: &Secret<32>) -> Self {
        Self(PseudorandomKey::extract(&[], identity.expose()))
    }

    /// The origin token of one key slot of one database.
    pub fn token(&self, database_id: DatabaseId, slot_id: SlotId) -> Secret<32> {
        self.0.expand(&[b"selenite/1 origin", &database_id.0, &slot_id.0])
    }
}
