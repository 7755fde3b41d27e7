//! Identities, which open key slots, and recipients, for which slots are made.
//!
//! A provider is a file below `provider/` that implements two traits: [`Recipient`] wraps a master
//! key into a slot, [`Identity`] also unwraps it. No other code of this crate depends on the set of
//! providers, except [`crate::load_identity`].
//!
//! - slots-name-nothing: a slot never determines what is run, opened or connected to (FORMAT 3.4):
//!   the identity does.
//! - bound-to-place: an identity returns a master key only from a slot that was made for this
//!   database and this place (FORMAT 4.5); any other slot is `WrongKey`.
//! - bounded-cost: any cost that a slot requests is first checked against a limit.

pub(crate) mod age;
pub(crate) mod command;
pub(crate) mod held;
pub(crate) mod passphrase;
pub(crate) mod raw;

use std::fmt;

use selenite_cipher::{DatabaseId, Secret, SlotId};
use selenite_format::{Slot, SlotKind};

use crate::KeyError;

/// The size of the record of an exported key in its age file, in bytes.
pub const EXPORTED_KEY_SIZE: usize = 112;

/// How an identity proves the origin of the key slot that it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginProof {
    /// It derives origin tokens: a native age identity.
    Token,
    /// Only a holder of the secret can write such a slot: a raw key, a passphrase, a master key.
    Possession,
    /// No proof: an age plugin, a command. Databases are pinned on first use.
    None,
}

/// A recipient, for which a master key can be wrapped.
pub trait Recipient: Send + Sync {
    /// The kind of the slots made.
    fn kind(&self) -> SlotKind;

    /// A description for users: `age1...`, a key id, a command's name. No secret, no path.
    fn describe(&self) -> String;

    /// Wraps the master key into the body of a slot.
    ///
    /// `KeyServiceUnavailable` if a required service did not respond, or unwrapping did not return
    /// the wrapped bytes.
    fn wrap(&self, database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Result<SlotBody, KeyError>;

    /// Whether the slot was made for this recipient, so that it may be recreated for it.
    fn owns(&self, database_id: DatabaseId, slot: &Slot) -> Result<bool, KeyError>;

    /// The origin token of a slot (FORMAT 4.7), if the secret of a native age identity is available.
    fn origin_token(&self, _database_id: DatabaseId, _slot_id: SlotId) -> Option<Secret<32>> {
        None
    }
}

/// An identity, which can unwrap a master key.
pub trait Identity: Recipient {
    /// Whether this identity may be able to open the slot.
    fn can_open(&self, slot: &Slot) -> bool;

    /// Whether the slot's identifier is that of this identity: such slots are tried first.
    fn is_named_by(&self, slot: &Slot) -> bool {
        self.can_open(slot)
    }

    /// The effort of trying this slot.
    fn effort(&self, slot: &Slot) -> Effort;

    /// Whether trying any slot is nearly free.
    fn is_quick(&self) -> bool {
        matches!(self.kind(), SlotKind::Raw | SlotKind::Age) && self.origin_proof() != OriginProof::None
    }

    /// A digest that is equal only for equal identities: the key of the cache of unwrapped keys. It
    /// never leaves the process.
    fn fingerprint(&self) -> [u8; 32];

    /// Unwraps the master key from a slot.
    ///
    /// `WrongKey` if the slot does not belong to this identity, or was made for another database or
    /// slot; `KeyServiceUnavailable` if a required service failed; `KeyRefused` if the slot
    /// requests more than a slot may, or the service answered another key.
    fn unwrap(&self, database_id: DatabaseId, slot: &Slot) -> Result<Secret<32>, KeyError>;

    /// How this identity proves the origin of a slot that it opens.
    fn origin_proof(&self) -> OriginProof;

    /// Whether an unwrapped key may be cached for the lifetime of the process ([`crate::Cache`]).
    fn may_be_cached(&self) -> bool {
        true
    }

    /// Opens the age file of an exported key and returns the bytes of its record (FORMAT 13). They
    /// are not authenticated.
    ///
    /// `WrongKey` also for identities other than age keys; else the errors of [`Identity::unwrap`].
    fn open_exported_key(&self, _file: &[u8]) -> Result<Secret<EXPORTED_KEY_SIZE>, KeyError> {
        Err(KeyError::WrongKey)
    }

    /// Unwraps the key of a backup archive from an age file. It is not authenticated: the archive's MAC decides.
    ///
    /// `WrongKey` also for identities other than age keys; else the errors of [`Identity::unwrap`].
    fn unwrap_archive_key(&self, _file: &[u8]) -> Result<Secret<32>, KeyError> {
        Err(KeyError::WrongKey)
    }
}

/// The effort of trying a slot; lower efforts are tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Nearly none.
    Little,
    /// Another process, perhaps a network or a user.
    Service,
    /// Stretching a passphrase: KiB of memory times passes.
    Stretch(u64),
}

/// The content that a provider writes into a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotBody {
    /// The identifier that refers to the identity.
    pub identifier: Vec<u8>,
    /// The parameters for unwrapping.
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

/// The plaintext for providers whose wrapping does not bind it to its place: `id || slot id || master key`.
fn bound(database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Secret<64> {
    Secret::fill(|plain: &mut [u8; 64]| {
        plain[..16].copy_from_slice(&database_id.0);
        plain[16..32].copy_from_slice(&slot_id.0);
        plain[32..].copy_from_slice(master.expose());
    })
}

/// The master key from a plaintext made by [`bound`], for this place only.
fn unbound(database_id: DatabaseId, slot_id: SlotId, plain: &[u8; 64]) -> Result<Secret<32>, KeyError> {
    let (place, master) = plain.split_at(32);
    if place[..16] != database_id.0 || place[16..] != slot_id.0 {
        return Err(KeyError::WrongKey);
    }
    Ok(Secret::fill(|bytes: &mut [u8; 32]| bytes.copy_from_slice(master)))
}
