//! The place for slots of a superblock that is whole.

use std::sync::OnceLock;

use crate::vector::Vector;
use selenite_cipher::{PassphraseCost, Pbkdf2Cost, Secret, SlotKey, sha256};
use selenite_format::{Slot, Superblock};

/// Header and epoch of a good superblock.
fn start() -> &'static [u8] {
    static START: OnceLock<Vec<u8>> = OnceLock::new();
    START.get_or_init(|| {
        let vector = Vector::parse(include_bytes!("../../../../testdata/vectors/superblock/good.vec"));
        vector.file("main").expect("a database").read(0, 272)
    })
}

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let Some((&count, slots)) = data.split_first() else {
        return;
    };
    let slots = &slots[..slots.len().min(32768 - 272 - 64)];
    let mut bytes = [start(), slots].concat();
    bytes.resize((bytes.len() + 64).next_multiple_of(512), 0);
    let size = u32::try_from(bytes.len()).expect("at most 32768");
    bytes[24..28].copy_from_slice(&size.to_be_bytes());
    bytes[78..80].copy_from_slice(&u16::from(count).to_be_bytes());
    let end = bytes.len() - 32;
    bytes[end - 32..end].fill(0);
    let checksum = sha256(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum);
    let Ok(superblock) = Superblock::parse(&bytes) else {
        return;
    };
    assert_eq!(superblock.slots.len(), usize::from(count));
    assert_eq!(
        superblock.encode(|_| [0; 32]).map(|again| Superblock::parse(&again)),
        Ok(Ok(superblock.clone()))
    );
    for slot in &superblock.slots {
        refuse(&superblock, slot);
    }
}

/// No slot here was wrapped for this key; no cost may make anything panic.
fn refuse(superblock: &Superblock, slot: &Slot) {
    let raw = Secret::new([0x6b; 32]);
    let key = SlotKey::from_raw(&raw, slot.id);
    let opened = key.unwrap(superblock.database_id, slot.id, slot.kind.id(), &slot.wrapped);
    assert!(opened.is_err(), "a slot opens that was not wrapped");
    if let Some((&iterations, salt)) = slot.parameters.split_first_chunk::<4>()
        && let Ok(&salt) = salt.try_into()
    {
        let iterations = u32::from_be_bytes(iterations);
        let checked = Pbkdf2Cost { iterations, salt }.check();
        assert_eq!(checked.is_ok(), (600_000..=16_777_216).contains(&iterations));
    }
    if let Some((numbers, salt)) = slot.parameters.split_first_chunk::<12>() {
        let (numbers, _) = numbers.as_chunks::<4>();
        let [memory_kib, passes, lanes] = [0, 1, 2].map(|index: usize| u32::from_be_bytes(numbers[index]));
        let mut cost = PassphraseCost {
            memory_kib,
            passes,
            lanes,
            salt: [0; 16],
        };
        if let Ok(salt) = salt.try_into() {
            cost.salt = salt;
        }
        let limits =
            (8192..=1_048_576).contains(&memory_kib) && (1..=16).contains(&passes) && (1..=16).contains(&lanes);
        assert_eq!(cost.check().is_ok(), limits);
    }
}
