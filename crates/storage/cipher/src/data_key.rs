//! The data key of an epoch, from which page keys are derived.

use crate::pseudorandom_key::PseudorandomKey;
use crate::{DatabaseId, Epoch, Secret, SessionId, Suite};

/// An extracted data key (FORMAT 4.4).
pub struct DataKey {
    extracted: PseudorandomKey,
    database_id: DatabaseId,
    epoch: Epoch,
    suite: Suite,
}

impl DataKey {
    /// Extracts the key from the data key of an epoch. The secret is wiped afterwards.
    pub fn new(secret: Secret<32>, database_id: DatabaseId, epoch: Epoch, suite: Suite) -> Self {
        Self {
            extracted: PseudorandomKey::extract(&database_id.0, secret.expose()),
            database_id,
            epoch,
            suite,
        }
    }

    /// The epoch of the key.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The suite that pages of this epoch are sealed in.
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// The database of the key.
    pub fn database_id(&self) -> DatabaseId {
        self.database_id
    }

    /// An identifier of the key (FORMAT 10.2); it reveals nothing about the key.
    pub fn id(&self) -> [u8; 16] {
        *self.extracted.expand::<16>(&[b"selenite/1 data key id"]).expose()
    }

    /// The key bytes of a session.
    pub(crate) fn expand<const N: usize>(&self, session: SessionId) -> Secret<N> {
        assert_eq!(N, self.suite.key_size());
        self.extracted.expand(&[
            b"selenite/1 page",
            &self.database_id.0,
            &self.epoch.0.to_be_bytes(),
            &self.suite.id().to_be_bytes(),
            &session.0,
        ])
    }
}
