//! age: keys made by `age-keygen` and `selenite keygen`, and age's plugins.
//!
//! - plugin-by-caller-only: a plugin is run only if the caller's identity file or recipient names
//!   it, never because a slot's identifier does (FORMAT 3.4).
//! - no-secret-in-errors: the text of a secret key is never part of an error; a line number is.

pub(crate) mod identity_file;
mod plugin;
mod sealed;

use std::str::FromStr;

use age::secrecy::ExposeSecret;
use age::x25519;
use selenite_cipher::{DatabaseId, IS_FIPS, OriginKey, Secret, SlotId, sha256};
use selenite_format::{SLOT_IDENTIFIER_SIZE_MAX, SLOT_WRAPPED_SIZE_MAX, Slot, SlotKind};
use zeroize::Zeroizing;

use super::{Effort, Identity, Recipient, SlotBody, bound, unbound};
use crate::{EXPORTED_KEY_SIZE, KeyError, OriginProof};

/// An identity that is an age key: `AGE-SECRET-KEY-1...`.
pub struct AgeIdentity {
    key: x25519::Identity,
    recipient: AgeRecipient,
    origin: OriginKey,
}

/// A recipient that is an age public key (`age1...`) or one of a plugin (`age1NAME1...`).
pub struct AgeRecipient {
    text: String,
    key: PublicKey,
}

enum PublicKey {
    Native(Box<dyn age::Recipient + Send + Sync>),
    Plugin(plugin::PluginRecipient),
}

impl AgeIdentity {
    /// Generates a key. Crate `age` draws the randomness from the system.
    pub fn generate() -> Self {
        Self::new(x25519::Identity::generate())
    }

    #[cfg(test)]
    pub(crate) fn secret_text(&self) -> String {
        self.key.to_string().expose_secret().to_owned()
    }

    fn new(key: x25519::Identity) -> Self {
        let public = key.to_public();
        let recipient = AgeRecipient {
            text: public.to_string(),
            key: PublicKey::Native(Box::new(public)),
        };
        let origin = origin_key(&key);
        Self { key, recipient, origin }
    }
}

impl FromStr for AgeIdentity {
    type Err = KeyError;

    /// Parses `AGE-SECRET-KEY-1...`. `BadSpec` for other text, which is not repeated.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        KeyError::refuse_in_fips("an age identity")?;
        let key = text.parse::<x25519::Identity>().map_err(|_| KeyError::BadSpec {
            spec: "(a secret key)".to_owned(),
            problem: "not an age secret key",
        })?;
        Ok(Self::new(key))
    }
}

impl AgeRecipient {
    /// The recipient's own text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a program must be run to wrap a key for this recipient.
    pub fn needs_plugin(&self) -> bool {
        matches!(self.key, PublicKey::Plugin(_))
    }

    /// The recipient of a slot, if it requires no plugin. The FIPS build has none.
    pub fn native_of(slot: &Slot) -> Option<Self> {
        if IS_FIPS {
            return None;
        }
        let is_age = slot.kind == SlotKind::Age;
        let text = std::str::from_utf8(&slot.identifier).ok().filter(|_| is_age)?;
        let key = PublicKey::Native(native(text)?);
        Some(Self {
            text: text.to_owned(),
            key,
        })
    }

    /// The key of a backup archive as an age file, of its bytes only (FORMAT 12.3).
    pub(crate) fn wrap_archive_key(&self, key: &Secret<32>) -> Result<Vec<u8>, KeyError> {
        self.seal(key)
    }

    /// The record of an exported key as an age file (FORMAT 13).
    pub(crate) fn seal_exported_key(&self, record: &Secret<EXPORTED_KEY_SIZE>) -> Result<Vec<u8>, KeyError> {
        self.seal(record)
    }

    /// Encrypts to a binary age file, within the size limit of slots and archives.
    fn seal<const N: usize>(&self, plain: &Secret<N>) -> Result<Vec<u8>, KeyError> {
        let sealed = match &self.key {
            PublicKey::Native(key) => {
                sealed::seal(key.as_ref(), plain).map_err(|_| self.cannot_wrap("age rejected it"))?
            }
            PublicKey::Plugin(plugin) => plugin.seal(plain)?,
        };
        if sealed.len() > SLOT_WRAPPED_SIZE_MAX {
            return Err(self.cannot_wrap("its wrapped key is too large for a key slot"));
        }
        Ok(sealed)
    }

    fn cannot_wrap(&self, problem: &'static str) -> KeyError {
        KeyError::CannotWrap {
            recipient: self.text.clone(),
            problem,
        }
    }
}

impl FromStr for AgeRecipient {
    type Err = KeyError;

    /// Parses `age1...`. `BadRecipient` for text that is neither a native recipient nor a plugin's.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        KeyError::refuse_in_fips("an age recipient")?;
        let bad = |problem| KeyError::BadRecipient {
            text: text.to_owned(),
            problem,
        };
        if text.len() > SLOT_IDENTIFIER_SIZE_MAX {
            return Err(bad("too long for a key slot's identifier"));
        }
        let key = match native(text) {
            Some(key) => PublicKey::Native(key),
            None => PublicKey::Plugin(plugin::PluginRecipient::parse(text).ok_or_else(|| bad("not an age recipient"))?),
        };
        Ok(Self {
            text: text.to_owned(),
            key,
        })
    }
}

impl Recipient for AgeRecipient {
    fn kind(&self) -> SlotKind {
        SlotKind::Age
    }

    fn describe(&self) -> String {
        self.text.clone()
    }

    fn wrap(&self, database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Result<SlotBody, KeyError> {
        let wrapped = self.seal(&bound(database_id, slot_id, master))?;
        let identifier = self.text.clone().into_bytes();
        Ok(SlotBody {
            identifier,
            parameters: Vec::new(),
            wrapped,
        })
    }

    fn owns(&self, _: DatabaseId, slot: &Slot) -> Result<bool, KeyError> {
        Ok(slot.kind == SlotKind::Age && slot.identifier == self.text.as_bytes())
    }
}

impl Recipient for AgeIdentity {
    fn kind(&self) -> SlotKind {
        SlotKind::Age
    }

    fn describe(&self) -> String {
        self.recipient.describe()
    }

    fn wrap(&self, database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Result<SlotBody, KeyError> {
        self.recipient.wrap(database_id, slot_id, master)
    }

    fn owns(&self, database_id: DatabaseId, slot: &Slot) -> Result<bool, KeyError> {
        self.recipient.owns(database_id, slot)
    }

    fn origin_token(&self, database_id: DatabaseId, slot_id: SlotId) -> Option<Secret<32>> {
        Some(self.origin.token(database_id, slot_id))
    }
}

impl Identity for AgeIdentity {
    fn can_open(&self, slot: &Slot) -> bool {
        slot.kind == SlotKind::Age
    }

    fn is_named_by(&self, slot: &Slot) -> bool {
        slot.kind == SlotKind::Age && slot.identifier == self.recipient.text.as_bytes()
    }

    fn effort(&self, _: &Slot) -> Effort {
        Effort::Little
    }

    fn fingerprint(&self) -> [u8; 32] {
        sha256(&[b"age".as_slice(), self.recipient.text.as_bytes()].concat())
    }

    fn origin_proof(&self) -> OriginProof {
        OriginProof::Token
    }

    fn unwrap(&self, database_id: DatabaseId, slot: &Slot) -> Result<Secret<32>, KeyError> {
        // All errors of the age file are reported as `WrongKey`: a file for this key would be valid.
        let plain = sealed::open::<64>(&self.key, &slot.wrapped).map_err(|_| KeyError::WrongKey)?;
        unbound(database_id, slot.id, plain.expose())
    }

    fn open_exported_key(&self, file: &[u8]) -> Result<Secret<EXPORTED_KEY_SIZE>, KeyError> {
        sealed::open(&self.key, file).map_err(|_| KeyError::WrongKey)
    }

    fn unwrap_archive_key(&self, file: &[u8]) -> Result<Secret<32>, KeyError> {
        sealed::open(&self.key, file).map_err(|_| KeyError::WrongKey)
    }
}

/// The origin key of an identity, from the payload of its text, since crate `age` exposes the
/// secret bytes only in that form.
fn origin_key(key: &x25519::Identity) -> OriginKey {
    let text = key.to_string();
    let (_, payload) = bech32::decode(text.expose_secret()).expect("crate age wrote it in Bech32");
    let payload = Zeroizing::new(payload);
    let bytes: &[u8; 32] = payload.as_slice().try_into().expect("an x25519 key has 32 bytes");
    OriginKey::new(&Secret::fill(|secret| secret.copy_from_slice(bytes)))
}

/// A recipient of a type that crate `age` supports without a plugin.
fn native(text: &str) -> Option<Box<dyn age::Recipient + Send + Sync>> {
    if let Ok(key) = text.parse::<x25519::Recipient>() {
        return Some(Box::new(key));
    }
    if let Ok(key) = text.parse::<age::tag::Recipient>() {
        return Some(Box::new(key));
    }
    match text.parse::<age::tagpq::Recipient>() {
        Ok(key) => Some(Box::new(key)),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests;
