//! Passphrases, stretched with Argon2id or PBKDF2.
//!
//! The costs are in the slot and not authenticated when they are read: they are checked against the
//! limits of FORMAT 4.5 before they are spent. `stretching` has the two ways.

mod stretching;

use std::path::Path;

use selenite_cipher::{CostRefused, DatabaseId, FIPS_PASSPHRASE_SIZE_MIN, IS_FIPS, Secret, SlotId, sha256};
use selenite_format::{Slot, SlotKind};
use zeroize::Zeroizing;

use self::stretching::Stretching;
use super::{Effort, Identity, Recipient, SlotBody};
use crate::key_error::Refusal;
use crate::{KeyError, OriginProof, os_random, random};

/// An identity that is a passphrase.
pub struct PassphraseIdentity {
    passphrase: Zeroizing<Vec<u8>>,
    cost: Cost,
    cost_max: u32,
}

/// How new passphrase slots are stretched, and what opening them costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Argon2id.
    Argon2id {
        /// Memory in KiB.
        memory_kib: u32,
        /// Passes over that memory.
        passes: u32,
        /// Lanes.
        lanes: u32,
    },
    /// PBKDF2-HMAC-SHA-256.
    Pbkdf2 {
        /// Iterations.
        iterations: u32,
    },
}

impl Cost {
    /// The second choice of RFC 9106.
    pub const ARGON2ID: Self = Self::Argon2id {
        memory_kib: 65536,
        passes: 3,
        lanes: 4,
    };
    /// Takes about as long.
    pub const PBKDF2: Self = Self::Pbkdf2 { iterations: 1_000_000 };
    /// What this build makes: the FIPS build knows PBKDF2 only.
    pub const DEFAULT: Self = if IS_FIPS { Self::PBKDF2 } else { Self::ARGON2ID };
}

impl PassphraseIdentity {
    /// The identity of a passphrase, without one trailing line ending; `None` if it is empty. The
    /// bytes are zeroed on drop.
    pub fn new(passphrase: Vec<u8>) -> Option<Self> {
        let passphrase = Zeroizing::new(passphrase);
        let is_empty = matches!(passphrase.as_slice(), b"" | b"\n" | b"\r\n");
        (!is_empty).then(|| Self {
            passphrase,
            cost: Cost::DEFAULT,
            cost_max: u32::MAX,
        })
    }

    /// Sets the cost of the slots that this identity makes.
    #[must_use]
    pub fn with_cost(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    /// Sets the maximum cost of slots that are tried, as a multiple of the default cost.
    #[must_use]
    pub fn with_cost_max(self, cost_max: u32) -> Self {
        Self { cost_max, ..self }
    }

    /// The identity in a passphrase file. `BadFile` if the contents are empty or not UTF-8.
    pub(crate) fn from_file(path: &Path, contents: &[u8]) -> Result<Self, KeyError> {
        let bad = |problem: &'static str| KeyError::BadFile {
            path: path.to_owned(),
            line: None,
            problem: problem.into(),
        };
        if std::str::from_utf8(contents).is_err() {
            return Err(bad("not UTF-8, so not a passphrase"));
        }
        let identity = Self::new(contents.to_vec()).ok_or_else(|| bad("empty, contains no passphrase"))?;
        if IS_FIPS && contents.trim_ascii_end().len() < FIPS_PASSPHRASE_SIZE_MIN {
            return Err(bad(
                "a passphrase of fewer than 14 bytes, which the FIPS build does not stretch",
            ));
        }
        Ok(identity)
    }
}

impl Recipient for PassphraseIdentity {
    fn kind(&self) -> SlotKind {
        SlotKind::Passphrase
    }

    fn describe(&self) -> String {
        "passphrase".to_owned()
    }

    fn wrap(&self, database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Result<SlotBody, KeyError> {
        let stretching = Stretching::of(self.cost, random::draw(&mut os_random));
        let key = stretching
            .key(&self.passphrase)
            .map_err(|refused| KeyError::KeyRefused {
                slot: slot_id,
                refusal: refused.into(),
            })?;
        let nonce = random::draw(&mut os_random);
        let wrapped = key.wrap(nonce, database_id, slot_id, SlotKind::Passphrase.id(), master);
        Ok(SlotBody {
            identifier: Vec::new(),
            parameters: stretching.encode(),
            wrapped: wrapped.to_vec(),
        })
    }

    fn owns(&self, database_id: DatabaseId, slot: &Slot) -> Result<bool, KeyError> {
        if !self.can_open(slot) {
            return Ok(false);
        }
        // A slot does not identify its passphrase: the only test is to open it.
        match self.unwrap(database_id, slot) {
            Ok(_) => Ok(true),
            Err(KeyError::WrongKey) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Identity for PassphraseIdentity {
    fn can_open(&self, slot: &Slot) -> bool {
        slot.kind == SlotKind::Passphrase
    }

    fn effort(&self, slot: &Slot) -> Effort {
        // A cost that exceeds a limit will be refused and not spent.
        let stretching = Stretching::parse(&slot.parameters);
        let spent = stretching.filter(|one| one.check().is_ok() && one.is_within(self.cost_max));
        Effort::Stretch(spent.map_or(0, |one| one.effort()))
    }

    fn fingerprint(&self) -> [u8; 32] {
        let text = Zeroizing::new([b"passphrase".as_slice(), &self.passphrase].concat());
        sha256(&text)
    }

    fn origin_proof(&self) -> OriginProof {
        OriginProof::Possession
    }

    fn unwrap(&self, database_id: DatabaseId, slot: &Slot) -> Result<Secret<32>, KeyError> {
        let refused = |refusal| KeyError::KeyRefused { slot: slot.id, refusal };
        let stretching = Stretching::parse(&slot.parameters).ok_or_else(|| refused(Refusal::Size))?;
        if slot.wrapped.len() != WRAPPED_SIZE {
            return Err(refused(Refusal::Size));
        }
        if stretching.check().is_ok() && !stretching.is_within(self.cost_max) {
            return Err(refused(Refusal::CostLimit));
        }
        let key = stretching
            .key(&self.passphrase)
            .map_err(|refusal| refused(refusal.into()))?;
        key.unwrap(database_id, slot.id, SlotKind::Passphrase.id(), &slot.wrapped)
            .map_err(|_| KeyError::WrongKey)
    }
}

impl From<CostRefused> for Refusal {
    fn from(refused: CostRefused) -> Self {
        match refused {
            CostRefused::OutOfMemory => Self::OutOfMemory,
            CostRefused::NotApproved => Self::NotApproved,
            CostRefused::OutsideLimits | _ => Self::Cost,
        }
    }
}

/// The maximum total cost of the passphrase slots tried in one unlocking, in KiB times passes: 32
/// slots of the default cost. A slot within the limits of the identity that costs more is tried if
/// it is the first.
pub(crate) const STRETCH_MAX: u64 = 65_536 * 3 * 32;

const WRAPPED_SIZE: usize = 92;

#[cfg(test)]
mod tests;
