//! Identities: what is outside a database and opens it.
//!
//! A provider is a file below `provider/` that implements two traits: [`Recipient`] wraps a master key into a slot,
//! [`Identity`] unwraps it as well. Nothing else in this crate knows which providers there are, but for
//! [`crate::load_identity`].
//!
//! - slots-name-nothing: a slot names nothing that is run, opened or connected to (FORMAT 3.4):
//!   that comes from the identity.
//! - bound-to-place: an identity gives back a master key only from a slot that was made for this
//!   database and this place (FORMAT 4.5); anything else is `WrongKey`.
//! - bounded-cost: whatever a slot asks to be spent is checked against a limit first.

pub(crate) mod age;
pub(crate) mod command;
pub(crate) mod held;
pub(crate) mod passphrase;
pub(crate) mod raw;

use std::fmt;

use selenite_cipher::{DatabaseId, Secret, SlotId};
use selenite_format::{Slot, SlotKind};

use crate::KeyError;

/// Bytes of an exported key: of the record in its age file.
pub const EXPORTED_KEY_SIZE: usize = 112;

/// How an identity proves who wrote the key slot that it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginProof {
    /// It derives origin tokens: a native age identity.
    Token,
    /// Only who holds the secret can write such a slot: a raw key, a passphrase, a master key.
    Possession,
    /// It proves nothing: an age plugin, a command. Databases are pinned on first use.
    None,
}

/// Someone for whom a master key can be wrapped.
pub trait Recipient: Send + Sync {
    /// The kind of slot that is made.
    fn kind(&self) -> SlotKind;

    /// Who this is, for people: `age1...`, a key id, a command's name. No secret, no path.
    fn describe(&self) -> String;

    /// Wraps the master key into the body of a slot.
    ///
    /// `KeyServiceAway` if a service had to be asked and did not answer, or did not keep what it was given.
    fn wrap(&self, database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Result<SlotBody, KeyError>;

    /// Whether the slot was made for this recipient, so that it may be recreated for them.
    fn owns(&self, database_id: DatabaseId, slot: &Slot) -> Result<bool, KeyError>;

    /// The origin token of a slot (FORMAT 4.7), if the secret of a native age identity is available.
    fn origin_token(&self, _database_id: DatabaseId, _slot_id: SlotId) -> Option<Secret<32>> {
        None
    }
}

/// Someone who can unwrap a master key again.
pub trait Identity: Recipient {
    /// Whether it makes sense to try this slot.
    fn can_open(&self, slot: &Slot) -> bool;

    /// Whether the slot's identifier names this identity: such slots are tried first.
    fn is_named_by(&self, slot: &Slot) -> bool {
        self.can_open(slot)
    }

    /// What trying this slot takes.
    fn effort(&self, slot: &Slot) -> Effort;

    /// Whether trying a slot takes next to nothing, whichever it is.
    fn is_quick(&self) -> bool {
        matches!(self.kind(), SlotKind::Raw | SlotKind::Age) && self.origin_proof() != OriginProof::None
    }

    /// A number that two identities share only if they are the same: by it, unwrapped keys are cached. It never
    /// leaves the process.
    fn fingerprint(&self) -> [u8; 32];

    /// Unwraps the master key from a slot.
    ///
    /// `WrongKey` if the slot is not this identity's, or was made for another database or slot; `KeyServiceAway` if
    /// a service had to be asked and did not help; `KeyRefused` if the slot asks for more than a slot may.
    fn unwrap(&self, database_id: DatabaseId, slot: &Slot) -> Result<Secret<32>, KeyError>;

    /// How it proves who wrote a slot that it opens.
    fn origin_proof(&self) -> OriginProof;

    /// Whether an unwrapped key may be kept for as long as the process lives ([`crate::Cache`]).
    fn may_be_cached(&self) -> bool {
        true
    }

    /// Opens an exported key's age file: the bytes of its record (FORMAT 13). Nothing is known of
    /// them but for whom they were sealed.
    ///
    /// `WrongKey` for what is no age key, too; else as [`Identity::unwrap`].
    fn open_exported_key(&self, _file: &[u8]) -> Result<Secret<EXPORTED_KEY_SIZE>, KeyError> {
        Err(KeyError::WrongKey)
    }

    /// Unwraps the key of a backup archive from an age file. Nothing in it says what it is of: the archive's MAC does.
    ///
    /// `WrongKey` for what is no age key, too; else as [`Identity::unwrap`].
    fn unwrap_archive_key(&self, _file: &[u8]) -> Result<Secret<32>, KeyError> {
        Err(KeyError::WrongKey)
    }
}

/// What trying a slot takes; less is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Next to nothing.
    Little,
    /// Another process, perhaps a network or a person.
    Service,
    /// A passphrase is stretched: KiB of memory, times passes.
    Stretch(u64),
}

/// What a provider puts into a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotBody {
    /// By which the identity is found again.
    pub identifier: Vec<u8>,
    /// What it needs to know to unwrap.
    pub parameters: Vec<u8>,
    /// The wrapped master key.
    pub wrapped: Vec<u8>,
}

impl fmt::Debug for dyn Recipient + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient({})", self.describe())
    }
}

impl fmt::Debug for dyn Identity + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.describe())
    }
}

/// What is wrapped where the wrapping itself does not bind it to its place: `id || slot id || master key`.
fn bound(database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Secret<64> {
    Secret::fill(|plain: &mut [u8; 64]| {
        plain[..16].copy_from_slice(&database_id.0);
        plain[16..32].copy_from_slice(&slot_id.0);
        plain[32..].copy_from_slice(master.expose());
    })
}

/// The master key from what [`bound`] made, for this place only.
fn unbound(database_id: DatabaseId, slot_id: SlotId, plain: &[u8; 64]) -> Result<Secret<32>, KeyError> {
    let (place, master) = plain.split_at(32);
    if place[..16] != database_id.0 || place[16..] != slot_id.0 {
        return Err(KeyError::WrongKey);
    }
    Ok(Secret::fill(|bytes: &mut [u8; 32]| bytes.copy_from_slice(master)))
}
