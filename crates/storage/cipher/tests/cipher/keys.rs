//! Wrapped keys, slots and log blocks, through the public API: every kind of error.

use proptest::prelude::*;
use selenite_cipher::{
    CostRefused, DatabaseId, Epoch, LogKey, MasterKey, PassphraseCost, Pbkdf2Cost, Secret, SlotId, SlotKey, Suite,
    Unauthentic,
};

const DATABASE: DatabaseId = DatabaseId([1; 16]);
const OTHER_DATABASE: DatabaseId = DatabaseId([9; 16]);
const SLOT: SlotId = SlotId([2; 16]);
const EPOCH: Epoch = Epoch(3);
const NONCE: [u8; 12] = [4; 12];

fn secret(byte: u8) -> Secret<32> {
    Secret::new([byte; 32])
}

fn master(byte: u8, database_id: DatabaseId) -> MasterKey {
    MasterKey::new(secret(byte), database_id)
}

fn opens_to(outcome: Result<Secret<32>, Unauthentic>, expected: &Secret<32>) -> bool {
    outcome.is_ok_and(|found| found.ct_eq(expected))
}

#[test]
fn a_wrapped_data_key_opens_in_its_own_place_only() {
    let data_key = secret(6);
    let key = master(5, DATABASE);
    let wrapped = key.wrap_data_key(NONCE, EPOCH, Suite::Aes256, &data_key);
    let unwrapped = key.unwrap_data_key(EPOCH, Suite::Aes256, &wrapped);
    assert!(opens_to(unwrapped, &data_key));
    for (key, epoch, suite) in [
        (master(6, DATABASE), EPOCH, Suite::Aes256),
        (master(5, OTHER_DATABASE), EPOCH, Suite::Aes256),
        (master(5, DATABASE), Epoch(4), Suite::Aes256),
        (master(5, DATABASE), EPOCH, Suite::None),
    ] {
        assert!(key.unwrap_data_key(epoch, suite, &wrapped).is_err());
    }
    assert!(key.unwrap_log_key(&wrapped).is_err());
}

#[test]
fn a_wrapped_log_key_opens_in_its_own_place_only() {
    let log_key = secret(6);
    let key = master(5, DATABASE);
    let wrapped = key.wrap_log_key(NONCE, &log_key);
    assert!(opens_to(key.unwrap_log_key(&wrapped), &log_key));
    assert!(master(6, DATABASE).unwrap_log_key(&wrapped).is_err());
    assert!(master(5, OTHER_DATABASE).unwrap_log_key(&wrapped).is_err());
    assert!(key.unwrap_data_key(EPOCH, Suite::Aes256, &wrapped).is_err());
}

#[test]
fn an_anchor_key_depends_on_master_key_and_database_only() {
    let key = master(5, DATABASE).anchor_key();
    let mac = key.mac(b"text");
    assert!(key.mac_is_valid(b"text", &mac) && !key.mac_is_valid(b"texT", &mac));
    for (secret, database) in [(6, DATABASE), (5, OTHER_DATABASE)] {
        let other = master(secret, database).anchor_key();
        assert!(other.id() != key.id() && !other.mac_is_valid(b"text", &mac));
    }
    assert_ne!(
        master(5, DATABASE).mac(b"text"),
        mac,
        "a superblock's MAC is of another key"
    );
}

#[test]
fn unwrap_refuses_every_bit_flipped() {
    let key = master(5, DATABASE);
    let slot = SlotKey::from_raw(&secret(6), SLOT);
    let data_key = key.wrap_data_key(NONCE, EPOCH, Suite::Aes256, &secret(7));
    let log_key = key.wrap_log_key(NONCE, &secret(7));
    let master_key = slot.wrap(NONCE, DATABASE, SLOT, 1, &secret(7));
    for bit in 0..60 * 8 {
        let flip = |mut wrapped: [u8; 60]| {
            wrapped[bit / 8] ^= 1 << (bit % 8);
            wrapped
        };
        let data_key = flip(data_key);
        assert!(key.unwrap_data_key(EPOCH, Suite::Aes256, &data_key).is_err());
        assert!(key.unwrap_log_key(&flip(log_key)).is_err());
    }
    for bit in 0..92 * 8 {
        let mut master_key = master_key;
        master_key[bit / 8] ^= 1 << (bit % 8);
        assert!(slot.unwrap(DATABASE, SLOT, 1, &master_key).is_err());
    }
}

#[test]
fn the_mac_of_a_superblock_depends_on_bytes_key_and_database() {
    let key = master(5, DATABASE);
    let mac = key.mac(b"superblock");
    assert!(key.mac_is_valid(b"superblock", &mac));
    assert!(!key.mac_is_valid(b"superblocl", &mac));
    assert!(!master(6, DATABASE).mac_is_valid(b"superblock", &mac));
    assert!(!master(5, OTHER_DATABASE).mac_is_valid(b"superblock", &mac));
    for bit in 0..32 * 8 {
        let mut mac = mac;
        mac[bit / 8] ^= 1 << (bit % 8);
        assert!(!key.mac_is_valid(b"superblock", &mac));
    }
}

#[test]
fn a_slot_opens_with_its_own_key_in_its_own_place_only() {
    let master_key = secret(7);
    let slot = SlotKey::from_raw(&secret(6), SLOT);
    let wrapped = slot.wrap(NONCE, DATABASE, SLOT, 1, &master_key);
    assert!(opens_to(slot.unwrap(DATABASE, SLOT, 1, &wrapped), &master_key));
    assert!(slot.unwrap(OTHER_DATABASE, SLOT, 1, &wrapped).is_err());
    assert!(slot.unwrap(DATABASE, SlotId([9; 16]), 1, &wrapped).is_err());
    assert!(slot.unwrap(DATABASE, SLOT, 2, &wrapped).is_err());
    for other in [
        SlotKey::from_raw(&secret(8), SLOT),
        SlotKey::from_raw(&secret(6), SlotId([9; 16])),
    ] {
        assert!(other.unwrap(DATABASE, SLOT, 1, &wrapped).is_err());
    }
}

#[test]
fn a_slot_cut_or_extended_to_any_size_does_not_open() {
    let slot = SlotKey::from_raw(&secret(6), SLOT);
    let mut wrapped = slot.wrap(NONCE, DATABASE, SLOT, 1, &secret(7)).to_vec();
    wrapped.resize(8192, 0);
    for size in (0..=8192).filter(|size| *size != 92) {
        assert!(slot.unwrap(DATABASE, SLOT, 1, &wrapped[..size]).is_err());
    }
}

#[test]
fn a_passphrase_slot_depends_on_passphrase_and_every_parameter() {
    let cost = PassphraseCost {
        memory_kib: 8192,
        passes: 1,
        lanes: 1,
        salt: [3; 16],
    };
    let slot = |passphrase: &str, cost| SlotKey::from_passphrase(passphrase.as_bytes(), &cost);
    let wrapped = slot("correct horse", cost)
        .expect("a good cost")
        .wrap(NONCE, DATABASE, SLOT, 2, &secret(7));
    let opens = |passphrase, cost| {
        let slot = slot(passphrase, cost).expect("a good cost");
        opens_to(slot.unwrap(DATABASE, SLOT, 2, &wrapped), &secret(7))
    };
    assert!(opens("correct horse", cost));
    assert!(!opens("correct horsf", cost));
    assert!(!opens("correct horse ", cost));
    let memory_kib = 8200;
    assert!(!opens("correct horse", PassphraseCost { memory_kib, ..cost }));
    assert!(!opens("correct horse", PassphraseCost { passes: 2, ..cost }));
    assert!(!opens("correct horse", PassphraseCost { lanes: 2, ..cost }));
    let salt = [4; 16];
    assert!(!opens("correct horse", PassphraseCost { salt, ..cost }));
}

#[test]
fn a_slot_of_pbkdf2_depends_on_passphrase_iterations_and_salt() {
    let cost = Pbkdf2Cost {
        iterations: Pbkdf2Cost::ITERATIONS_MIN,
        salt: [3; 16],
    };
    let slot = |passphrase: &str, cost| SlotKey::from_passphrase_by_pbkdf2(passphrase.as_bytes(), &cost);
    let wrapped = slot("correct horse", cost)
        .expect("a good cost")
        .wrap(NONCE, DATABASE, SLOT, 2, &secret(7));
    let opens = |passphrase, cost| {
        let slot = slot(passphrase, cost).expect("a good cost");
        opens_to(slot.unwrap(DATABASE, SLOT, 2, &wrapped), &secret(7))
    };
    assert!(opens("correct horse", cost));
    assert!(!opens("correct horsf", cost));
    let iterations = 600_001;
    assert!(!opens("correct horse", Pbkdf2Cost { iterations, ..cost }));
    let salt = [4; 16];
    assert!(!opens("correct horse", Pbkdf2Cost { salt, ..cost }));
    let iterations = 599_999;
    let outcome = slot("correct horse", Pbkdf2Cost { iterations, ..cost });
    assert_eq!(outcome.err(), Some(CostRefused::OutsideLimits));
}

#[test]
fn a_passphrase_cost_outside_the_limits_is_refused() {
    let cost = PassphraseCost {
        memory_kib: 1_048_577,
        passes: 1,
        lanes: 1,
        salt: [3; 16],
    };
    let outcome = SlotKey::from_passphrase(b"correct horse", &cost);
    assert_eq!(outcome.err(), Some(CostRefused::OutsideLimits));
}

proptest! {
    #[test]
    fn a_frame_block_opens_in_its_own_place_only(
        frame: u64, page_no: u32, commit_size: u32, block: [u8; 16], bit in 0..128_u32
    ) {
        let key = LogKey::new(secret(5), DATABASE);
        let mut sealed = block;
        key.seal_frame_block(frame, page_no, commit_size, &mut sealed);
        prop_assert_ne!(sealed, block);
        let mut opened = sealed;
        key.open_frame_block(frame, page_no, commit_size, &mut opened);
        prop_assert_eq!(opened, block);
        let (frame, page_no, commit_size) = match bit {
            0..64 => (frame ^ (1 << bit), page_no, commit_size),
            64..96 => (frame, page_no ^ (1 << (bit - 64)), commit_size),
            _ => (frame, page_no, commit_size ^ (1 << (bit - 96))),
        };
        key.open_frame_block(frame, page_no, commit_size, &mut sealed);
        prop_assert_ne!(sealed, block);
    }
}

#[test]
fn a_journal_mask_depends_on_the_trailer_without_its_tag() {
    let key = LogKey::new(secret(5), DATABASE);
    let mask = key.journal_mask(&[6; 48]);
    for index in 0..48 {
        let mut trailer = [6; 48];
        trailer[index] = 7;
        assert_eq!(key.journal_mask(&trailer) == mask, index >= 32);
    }
    let other = LogKey::new(secret(5), OTHER_DATABASE);
    assert_ne!(other.journal_mask(&[6; 48]), mask);
}
