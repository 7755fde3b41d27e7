//! The results of this crate, against those of a second implementation of the same document.
//!
//! The answers, and the inputs that are repeated here, come from
//! `testdata/generate/cipher_known_answers.py`.

use std::array;

use selenite_cipher::{
    DataKey, DatabaseId, Epoch, LogKey, MasterKey, OriginKey, PageNo, PageNonce, PassphraseCost, Pbkdf2Cost, Secret,
    SessionId, SlotId, SlotKey, Suite, TRAILER_SIZE, sha256,
};

const ANSWERS: &str = include_str!("../../../../../testdata/vectors/cipher/known_answers.txt");

const EPOCH: Epoch = Epoch(0x6162_6364);
const PAGE_NO: PageNo = PageNo(0x7172_7374);

/// The frozen answer named `name`, in hexadecimal.
fn answer(name: &str) -> &'static str {
    ANSWERS
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .find_map(|(found, answer)| (found == name).then_some(answer))
        .expect("every name asked for is in the file")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Consecutive byte values, starting at `first`.
fn run<const N: usize>(first: u8) -> [u8; N] {
    let mut next = first;
    array::from_fn(|_| {
        let byte = next;
        next = next.wrapping_add(1);
        byte
    })
}

fn database_id() -> DatabaseId {
    DatabaseId(run(0x10))
}

fn slot_id() -> SlotId {
    SlotId(run(0x20))
}

fn master_key() -> Secret<32> {
    Secret::new(run(0xa0))
}

fn plain() -> Vec<u8> {
    (0..1024 - 48_u32)
        .map(|index| u8::try_from(index * index % 251).expect("less than 251"))
        .collect()
}

/// The page of [`plain`], sealed in `suite`.
fn sealed(suite: Suite) -> (Vec<u8>, [u8; TRAILER_SIZE]) {
    let nonce = PageNonce {
        session: SessionId(run(0x30)),
        salt: run(0x40),
        counter: 0x5152_5354,
    };
    let data_key = DataKey::new(Secret::new(run(0xb0)), database_id(), EPOCH, suite);
    let plain = plain();
    let mut sealed = vec![0; plain.len()];
    let mut trailer = [0; TRAILER_SIZE];
    data_key
        .page_key(nonce.session)
        .seal(PAGE_NO, &nonce, &plain, &mut sealed, &mut trailer);
    (sealed, trailer)
}

#[test]
fn the_anchor_key_makes_the_same_mac_and_id() {
    let key = MasterKey::new(master_key(), database_id()).anchor_key();
    assert_eq!(hex(&key.mac(&plain())), answer("anchor mac"));
    assert_eq!(hex(&key.id()), answer("anchor key id"));
}

#[test]
fn a_data_key_has_the_same_id_in_every_suite() {
    for suite in Suite::ALL {
        let key = DataKey::new(Secret::new(run(0xb0)), database_id(), EPOCH, suite);
        assert_eq!(hex(&key.id()), answer("data key id"));
    }
}

#[test]
fn the_master_key_makes_the_same_mac_and_commitment() {
    let master = MasterKey::new(master_key(), database_id());
    assert_eq!(hex(&master.mac(&plain())), answer("mac"));
    assert_eq!(hex(&master.commitment()), answer("commitment"));
}

#[test]
fn the_master_key_wraps_other_keys_the_same() {
    let master = MasterKey::new(master_key(), database_id());
    let data_key = Secret::new(run(0xb0));
    let wrapped = master.wrap_data_key(run(0x80), EPOCH, Suite::Aes256, &data_key);
    assert_eq!(hex(&wrapped), answer("wrapped data key"));
    let wrapped = master.wrap_log_key(run(0x80), &Secret::new(run(0xc0)));
    assert_eq!(hex(&wrapped), answer("wrapped log key"));
}

#[test]
fn slots_wrap_the_master_key_the_same() {
    let raw = Secret::new(run(0xd0));
    assert_eq!(hex(&SlotKey::raw_key_id(&raw)), answer("raw key id"));
    let slot = SlotKey::from_raw(&raw, slot_id());
    let wrapped = slot.wrap(run(0x80), database_id(), slot_id(), 1, &master_key());
    assert_eq!(hex(&wrapped), answer("raw slot"));
    let cost = PassphraseCost {
        memory_kib: 8192,
        passes: 3,
        lanes: 2,
        salt: run(0xe0),
    };
    for line_end in ["", "\n", "\r\n"] {
        let passphrase = format!("na\u{ef}ve passphrase{line_end}");
        let slot = SlotKey::from_passphrase(passphrase.as_bytes(), &cost).expect("a good cost");
        let wrapped = slot.wrap(run(0x80), database_id(), slot_id(), 2, &master_key());
        assert_eq!(hex(&wrapped), answer("passphrase slot"));
    }
    let cost = Pbkdf2Cost {
        iterations: 600_000,
        salt: run(0xe0),
    };
    let slot = SlotKey::from_passphrase_by_pbkdf2("na\u{ef}ve passphrase\n".as_bytes(), &cost).expect("a good cost");
    let wrapped = slot.wrap(run(0x80), database_id(), slot_id(), 2, &master_key());
    assert_eq!(hex(&wrapped), answer("pbkdf2 slot"));
}

#[test]
fn an_origin_token_and_its_mark_are_the_same() {
    let key = OriginKey::new(&Secret::new(run(0xd0)));
    let token = key.token(database_id(), slot_id());
    assert_eq!(hex(token.expose()), answer("origin token"));
    let master = MasterKey::new(master_key(), database_id());
    let mark = master.wrap_origin_token(run(0x80), slot_id(), &token);
    assert_eq!(hex(&mark), answer("origin mark"));
}

#[test]
fn pages_are_sealed_the_same_in_every_suite() {
    for suite in Suite::ALL {
        let (sealed, trailer) = sealed(suite);
        assert_eq!(hex(&trailer), answer(&format!("{suite} trailer")));
        assert_eq!(hex(&sha256(&sealed)), answer(&format!("{suite} sealed")));
    }
}

#[test]
fn the_log_key_seals_frame_blocks_and_masks_checksums_the_same() {
    let log_key = LogKey::new(Secret::new(run(0xc0)), database_id());
    let mut block = run(0xf0);
    log_key.seal_frame_block(0x0102_0304_0506_0708, PAGE_NO.0, 0x090a_0b0c, &mut block);
    assert_eq!(hex(&block), answer("frame block"));
    log_key.open_frame_block(0x0102_0304_0506_0708, PAGE_NO.0, 0x090a_0b0c, &mut block);
    assert_eq!(block, run(0xf0));
    let mask = log_key.journal_mask(&sealed(Suite::Aes256).1);
    assert_eq!(format!("{mask:08x}"), answer("journal mask"));
}
