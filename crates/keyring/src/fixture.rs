//! What the tests of several modules share.

use selenite_cipher::Suite;
use selenite_cipher::{DatabaseId, Secret, SlotId};
use selenite_format::{PageSize, Slot, SlotKind};

use crate::{Cost, RawIdentity, Recipient, SlotBody, Unlocked, create, os_random};

pub const DATABASE: DatabaseId = DatabaseId([0xd1; 16]);
pub const SLOT: SlotId = SlotId([0x51; 16]);
pub const MASTER: [u8; 32] = [0x3a; 32];

/// The least that a passphrase may cost.
pub const CHEAP: Cost = Cost {
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

pub fn database<R: Recipient + 'static>(recipients: Vec<Box<R>>) -> Unlocked {
    let recipients: Vec<Box<dyn Recipient>> = recipients.into_iter().map(|one| one as _).collect();
    create(page_size(), Suite::Aes256, &recipients, 0, &mut os_random).unwrap()
}

pub fn page_size() -> PageSize {
    PageSize::try_from(4096).unwrap()
}
