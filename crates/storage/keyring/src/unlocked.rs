//! An unlocked database: its superblock and master key.

use std::fmt;

use selenite_cipher::{DataKey, Epoch, LogKey, MasterKey, Secret, SlotId, Unauthentic};
use selenite_format::{EpochRecord, State, Superblock};

use crate::{KeyError, Origin, Pin};

/// A superblock that is authenticated, or that was made here, with its master key.
///
/// The superblock may be changed; [`Unlocked::encode`] returns the new one with a new MAC. The
/// caller is responsible for generation, order of writes and locks (FORMAT 3.7).
pub struct Unlocked {
    /// The superblock.
    pub superblock: Superblock,
    /// The master key of the superblock.
    pub master: MasterKey,
    /// The slot that was opened; of a new database or after a change, one of its slots.
    pub slot: SlotId,
    /// The entry in the keyring file: `Pinned` or `Unknown`.
    pub pin: Pin,
    /// The origin of the database. `Own` for a new database; a change does not affect it.
    pub origin: Origin,
}

impl Unlocked {
    /// The data keys of all epochs, in the superblock's order.
    ///
    /// `Tampered` if one does not unwrap: the MAC was valid, so its writer had the master key.
    pub fn data_keys(&self) -> Result<Vec<DataKey>, KeyError> {
        self.superblock
            .epochs
            .iter()
            .map(|epoch| self.data_key(epoch))
            .collect()
    }

    /// The identifier of an epoch's data key (FORMAT 10.2), if the superblock lists that epoch. `Tampered` as for
    /// [`Unlocked::data_keys`].
    pub fn data_key_id(&self, epoch: Epoch) -> Result<Option<[u8; 16]>, KeyError> {
        let record = self.superblock.epochs.iter().find(|record| record.epoch == epoch);
        record.map(|record| Ok(self.data_key(record)?.id())).transpose()
    }

    /// The log key. `Tampered` as for [`Unlocked::data_keys`].
    pub fn log_key(&self) -> Result<LogKey, KeyError> {
        Ok(LogKey::new(self.log_secret()?, self.superblock.database_id))
    }

    /// The superblock's bytes, with MAC and checksum.
    ///
    /// `Unencodable` if it breaks a rule of the format.
    pub fn encode(&self) -> Result<Vec<u8>, KeyError> {
        self.superblock
            .encode(|bytes| self.master.mac(bytes))
            .map_err(KeyError::Unencodable)
    }

    /// A copy. There is no `Clone`, since it copies a key.
    pub fn duplicate(&self) -> Self {
        Self {
            superblock: self.superblock.clone(),
            master: MasterKey::new(self.master.secret().duplicate(), self.superblock.database_id),
            slot: self.slot,
            pin: self.pin,
            origin: self.origin,
        }
    }

    /// A copy with another generation.
    #[must_use]
    pub fn with_generation(&self, generation: u64) -> Self {
        let mut next = self.duplicate();
        next.superblock.generation = generation;
        next
    }

    /// Sets whether pages exist (FORMAT 3.9).
    pub fn set_pages_exist(&mut self, pages_exist: bool) {
        self.superblock.pages_exist = pages_exist;
    }

    /// Sets the state and its cursor, which is 0 in states that have none.
    pub fn set_state(&mut self, state: State, cursor: u32) {
        self.superblock.state = state;
        self.superblock.cursor = if state.has_cursor() { cursor } else { 0 };
    }

    /// Marks the file as replaced by another of the same name (FORMAT 3.10). This revokes access (FORMAT 3.7).
    pub fn retire(&mut self) {
        self.set_state(State::Retired, 0);
    }

    fn data_key(&self, record: &EpochRecord) -> Result<DataKey, KeyError> {
        let secret = self.data_secret(record)?;
        Ok(DataKey::new(
            secret,
            self.superblock.database_id,
            record.epoch,
            record.suite,
        ))
    }

    pub(crate) fn data_secret(&self, epoch: &EpochRecord) -> Result<Secret<32>, KeyError> {
        self.master
            .unwrap_data_key(epoch.epoch, epoch.suite, &epoch.wrapped)
            .map_err(|Unauthentic| tampered("a wrapped data key"))
    }

    pub(crate) fn log_secret(&self) -> Result<Secret<32>, KeyError> {
        self.master
            .unwrap_log_key(&self.superblock.log_key)
            .map_err(|Unauthentic| tampered("the wrapped log key"))
    }
}

/// Omits the keys.
impl fmt::Debug for Unlocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unlocked")
            .field("database_id", &self.superblock.database_id)
            .field("generation", &self.superblock.generation)
            .field("slot", &self.slot)
            .field("pin", &self.pin)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

pub(crate) fn tampered(what: &'static str) -> KeyError {
    KeyError::Tampered { what, source: None }
}
