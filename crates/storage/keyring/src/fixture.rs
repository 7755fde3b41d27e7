//! Shared fixtures of tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use selenite_cipher::{DatabaseId, Secret, SlotId, Suite};
use selenite_format::{PageSize, Slot, SlotKind};

use crate::{
    AgeIdentity, CommandIdentity, Cost, Effort, Identity, KeyError, OriginProof, PassphraseIdentity, RawIdentity,
    Recipient, SlotBody, Unlocked, create, os_random,
};

pub const DATABASE: DatabaseId = DatabaseId([0xd1; 16]);
pub const SLOT: SlotId = SlotId([0x51; 16]);
pub const MASTER: [u8; 32] = [0x3a; 32];

/// The minimum cost of a passphrase.
pub const CHEAP: Cost = Cost::Argon2id {
    memory_kib: 8192,
    passes: 1,
    lanes: 1,
};

pub fn master() -> Secret<32> {
    Secret::new(MASTER)
}

pub fn slot_of(kind: SlotKind, body: SlotBody) -> Slot {
    let SlotBody {
        identifier,
        parameters,
        wrapped,
    } = body;
    Slot {
        kind,
        id: SLOT,
        created: 0,
        label: String::new(),
        identifier,
        parameters,
        wrapped,
    }
}

pub fn raw(byte: u8) -> Box<RawIdentity> {
    Box::new(RawIdentity::new(Secret::new([byte; 32])))
}

/// A command that exchanges the lower and upper half of byte values, and is its own inverse.
pub const ROTATE: &str = "LC_ALL=C tr '\\000-\\177\\200-\\377' '\\200-\\377\\000-\\177'";

/// A command with a shell script as the key service. No test reaches its time limit.
pub fn command(script: &str) -> Box<CommandIdentity> {
    let argv = ["sh", "-c", script, "sh"].map(str::to_owned);
    Box::new(CommandIdentity::new("kms", &argv).with_time_limit(Duration::from_secs(60)))
}

pub fn passphrase(text: &str) -> Box<PassphraseIdentity> {
    Box::new(
        PassphraseIdentity::new(text.as_bytes().to_vec())
            .unwrap()
            .with_cost(CHEAP),
    )
}

pub fn age() -> Box<AgeIdentity> {
    Box::new(AgeIdentity::generate())
}

/// Counts the calls of `unwrap`.
pub struct Counted<I>(pub I, pub Arc<AtomicU32>);

impl<I: Identity> Recipient for Counted<I> {
    fn kind(&self) -> SlotKind {
        self.0.kind()
    }

    fn describe(&self) -> String {
        self.0.describe()
    }

    fn wrap(&self, of: DatabaseId, id: SlotId, master: &Secret<32>) -> Result<SlotBody, KeyError> {
        self.0.wrap(of, id, master)
    }

    fn owns(&self, of: DatabaseId, slot: &Slot) -> Result<bool, KeyError> {
        self.0.owns(of, slot)
    }

    fn origin_token(&self, of: DatabaseId, id: SlotId) -> Option<Secret<32>> {
        self.0.origin_token(of, id)
    }
}

impl<I: Identity> Identity for Counted<I> {
    fn can_open(&self, slot: &Slot) -> bool {
        self.0.can_open(slot)
    }

    fn is_named_by(&self, slot: &Slot) -> bool {
        self.0.is_named_by(slot)
    }

    fn effort(&self, slot: &Slot) -> Effort {
        self.0.effort(slot)
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint()
    }

    fn origin_proof(&self) -> OriginProof {
        self.0.origin_proof()
    }

    fn unwrap(&self, of: DatabaseId, slot: &Slot) -> Result<Secret<32>, KeyError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.unwrap(of, slot)
    }
}

pub fn database(recipients: Vec<Box<dyn Recipient>>) -> Unlocked {
    create(PageSize::DEFAULT, Suite::Aes256, &recipients, 0, &mut os_random).unwrap()
}
