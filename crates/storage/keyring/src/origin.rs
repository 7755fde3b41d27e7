//! Origin: whether the holder of an identity made, or accepted, the database that it opens (FORMAT 4.7).
//!
//! A superblock's MAC proves that a file is consistent with its master key, not who chose that key:
//! anyone who knows a public age recipient can seal a forged database to it. An *origin mark* in a
//! key slot proves that the holder of the identity, or of the database's master key, wrote the
//! slot.
//!
//! - *no silent mark*: a mark is made with a new slot for an identity, or by
//!   [`crate::change::accept`]; a change of the master key preserves existing marks.
//! - *no oracle*: a missing mark, one of another size, and an invalid one have the same result: [`Origin::Foreign`].

use std::fmt;
use std::str::FromStr;

use selenite_cipher::MasterKey;
use selenite_format::{ORIGIN_MARK_SIZE, Slot, SlotKind, Superblock};

use crate::{Identity, KeyError, OriginProof, Random, Recipient, random};

/// The origin of a database, as far as the identity that opened it can determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The holder of the identity made or accepted it.
    Own,
    /// There is no proof that the holder of the identity made or accepted it.
    Foreign,
    /// The identity cannot determine the origin ([`OriginProof::None`]).
    Unknown,
}

/// The origins that are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OriginPolicy {
    /// Databases of own origin, and pinned databases.
    #[default]
    Own,
    /// All databases that an identity opens.
    Any,
}

impl OriginPolicy {
    /// The word in the configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Any => "any",
        }
    }
}

impl FromStr for OriginPolicy {
    type Err = KeyError;

    /// Parses `own` or `any`; `BadOrigin` for other text.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text {
            "own" => Ok(Self::Own),
            "any" => Ok(Self::Any),
            _ => Err(KeyError::BadOrigin { value: text.to_owned() }),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "own",
            Self::Foreign => "foreign",
            Self::Unknown => "unknown",
        })
    }
}

/// The origin of an authenticated superblock that `opened_by` opened.
///
/// A valid mark of any of `identities` in any slot counts, not just that of the slot that was opened.
pub(crate) fn judge(
    superblock: &Superblock,
    master: &MasterKey,
    opened_by: &dyn Identity,
    identities: &[Box<dyn Identity>],
) -> Origin {
    if opened_by.origin_proof() == OriginProof::Possession {
        return Origin::Own;
    }
    let is_marked = |slot: &Slot| {
        identities
            .iter()
            .any(|identity| has_mark(superblock, master, slot, identity.as_ref()))
    };
    if superblock.slots.iter().any(is_marked) {
        return Origin::Own;
    }
    // If one of the identities proves origins, a database that only another identity opens is not
    // pinned: an attacker may have made it so.
    if identities
        .iter()
        .all(|identity| identity.origin_proof() == OriginProof::None)
    {
        return Origin::Unknown;
    }
    Origin::Foreign
}

/// Whether the slot has a valid mark of this identity, compared in constant time.
pub(crate) fn has_mark(superblock: &Superblock, master: &MasterKey, slot: &Slot, identity: &dyn Identity) -> bool {
    let (Some(mark), Some(expected)) = (mark_of(slot), identity.origin_token(superblock.database_id, slot.id)) else {
        return false;
    };
    master
        .unwrap_origin_token(slot.id, mark)
        .is_ok_and(|token| token.ct_eq(&expected))
}

/// Sets the parameters of a new slot to the recipient's mark, if the recipient has the secret for one.
pub(crate) fn mark(slot: &mut Slot, recipient: &dyn Recipient, master: &MasterKey, random: &mut Random<'_>) {
    if let Some(token) = recipient
        .origin_token(master.database_id(), slot.id)
        .filter(|_| slot.kind == SlotKind::Age)
    {
        let mark = master.wrap_origin_token(random::draw(random), slot.id, &token);
        slot.parameters = mark.to_vec();
    }
}

/// Copies the mark of `old` to `new`, which is the same slot with another master key. An invalid
/// mark is omitted.
pub(crate) fn carry(old: &Slot, from: &MasterKey, new: &mut Slot, to: &MasterKey, random: &mut Random<'_>) {
    let token = mark_of(old).and_then(|mark| from.unwrap_origin_token(old.id, mark).ok());
    if let Some(token) = token {
        new.parameters = to.wrap_origin_token(random::draw(random), new.id, &token).to_vec();
    }
}

/// The mark of an age slot, if its parameters have the size of a mark.
fn mark_of(slot: &Slot) -> Option<&[u8; ORIGIN_MARK_SIZE]> {
    match slot.kind {
        SlotKind::Age => slot.parameters.as_slice().try_into().ok(),
        SlotKind::Raw
        | SlotKind::Passphrase
        | SlotKind::Command
        | SlotKind::Pkcs11
        | SlotKind::KeyService
        | SlotKind::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests;
