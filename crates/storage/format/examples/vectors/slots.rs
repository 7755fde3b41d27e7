//! `slot/`: FORMAT 4.5.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use selenite_cipher::{DatabaseId, PassphraseCost, Pbkdf2Cost, SlotId, SlotKey, Suite};
use selenite_format::{Slot, SlotKind, Superblock};

use crate::vector::{Vector, hex};
use crate::world::{CREATED, SAMPLE, Sealer, database_id, main_file_of, named, pages_of, raw_slot, secret, superblock};

pub fn all() -> Vec<Vector> {
    [good(), costs(), sizes(), wrong()].concat()
}

const PASSPHRASE: &str = "Clear as gypsum";
/// The master key in an age file. It is stored, since age draws its own nonces.
const AGE_WRAPPED: &[u8] = include_bytes!("../../../../../testdata/age/wrapped.age");
pub const AGE_IDENTITY: &str = include_str!("../../../../../testdata/age/identity.txt");
const AGE_RECIPIENT: &str = include_str!("../../../../../testdata/age/recipient.txt");

fn with_slots(vector: Vector, slots: Vec<Slot>) -> Vector {
    let superblock = Superblock {
        slots,
        ..superblock(Suite::Aes256)
    };
    let images = Sealer::new(1, Suite::Aes256).seal_all(&pages_of(SAMPLE));
    vector.file(main_file_of(&superblock, &images))
}

fn opens(case: &str, comment: &str, key: String, slots: Vec<Slot>) -> Vector {
    let vector = Vector::with_key(&format!("slot/{case}"), "ok", comment, key);
    with_slots(vector.released_sound(&pages_of(SAMPLE)), slots)
}

fn refuses(case: &str, expect: &str, comment: &str, key: String, slots: Vec<Slot>) -> Vector {
    with_slots(Vector::with_key(&format!("slot/{case}"), expect, comment, key), slots)
}

fn raw_key() -> String {
    format!("raw {}", hex(&named::<32>("raw key")))
}

fn passphrase_key() -> String {
    format!("passphrase {PASSPHRASE}")
}

pub fn age_slot() -> Slot {
    Slot {
        kind: SlotKind::Age,
        id: SlotId(named("age slot id")),
        created: CREATED,
        label: "laptop".to_owned(),
        identifier: AGE_RECIPIENT.trim().as_bytes().to_vec(),
        parameters: Vec::new(),
        wrapped: AGE_WRAPPED.to_vec(),
    }
}

/// A passphrase slot that states a cost of `memory_kib`, `passes` and `lanes`, made with the minimum cost.
fn passphrase_slot(memory_kib: u32, passes: u32, lanes: u32) -> Slot {
    let id = SlotId(named("passphrase slot id"));
    let salt: [u8; 16] = named("salt of the passphrase");
    let cost = PassphraseCost {
        memory_kib: PassphraseCost::MEMORY_KIB_MIN,
        passes: 1,
        lanes: 1,
        salt,
    };
    let key = SlotKey::from_passphrase(PASSPHRASE.as_bytes(), &cost).expect("the least cost");
    let nonce = named("nonce of the passphrase slot");
    let numbers = [memory_kib, passes, lanes].map(u32::to_be_bytes).concat();
    Slot {
        kind: SlotKind::Passphrase,
        id,
        created: CREATED,
        label: "in my head".to_owned(),
        identifier: Vec::new(),
        parameters: [numbers, salt.to_vec()].concat(),
        wrapped: key
            .wrap(
                nonce,
                database_id(),
                id,
                SlotKind::Passphrase.id(),
                &secret("master key"),
            )
            .to_vec(),
    }
}

/// A passphrase slot that states `iterations` of PBKDF2, made with the least number of them.
fn pbkdf2_slot(iterations: u32) -> Slot {
    let salt: [u8; 16] = named("salt of the passphrase");
    let cost = Pbkdf2Cost {
        iterations: Pbkdf2Cost::ITERATIONS_MIN,
        salt,
    };
    let key = SlotKey::from_passphrase_by_pbkdf2(PASSPHRASE.as_bytes(), &cost).expect("the least cost");
    let own = passphrase_slot(PassphraseCost::MEMORY_KIB_MIN, 1, 1);
    let nonce = named("nonce of the slot of PBKDF2");
    let wrapped = key.wrap(nonce, database_id(), own.id, own.kind.id(), &secret("master key"));
    Slot {
        parameters: [iterations.to_be_bytes().as_slice(), &salt].concat(),
        wrapped: wrapped.to_vec(),
        ..own
    }
}

/// The raw slot with `database` and `slot` in its plaintext; all else is valid.
fn naming(database: DatabaseId, slot: SlotId) -> Slot {
    let own = raw_slot();
    let salt = Salt::new(HKDF_SHA256, &own.id.0);
    let mut key = [0; 32];
    let expanded = salt.extract(secret("raw key").expose());
    let expanded = expanded
        .expand(&[b"selenite/1 slot raw"], HKDF_SHA256)
        .and_then(|okm| okm.fill(&mut key));
    expanded.expect("32 bytes are one block of HKDF");
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("32 bytes are a key"));
    let nonce: [u8; 12] = named("nonce of raw slot");
    let aad = [
        b"selenite/1 slot".as_slice(),
        &database_id().0,
        &own.id.0,
        &own.kind.id().to_be_bytes(),
    ]
    .concat();
    let mut sealed = [database.0.as_slice(), &slot.0, secret("master key").expose()].concat();
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(aad), &mut sealed)
        .expect("64 bytes are not too many");
    Slot {
        wrapped: [nonce.to_vec(), sealed].concat(),
        ..own
    }
}

fn good() -> Vec<Vector> {
    let all = || vec![passphrase_slot(8192, 1, 1), age_slot(), raw_slot()];
    let age_key = || format!("age {}", AGE_IDENTITY.trim());
    let unknown = Slot {
        kind: SlotKind::Unknown(7),
        id: SlotId(named("another slot id")),
        ..raw_slot()
    };
    vec![
        opens("raw", "one slot, a raw key", raw_key(), vec![raw_slot()]),
        opens(
            "passphrase",
            "one slot, a passphrase",
            passphrase_key(),
            vec![passphrase_slot(8192, 1, 1)],
        ),
        opens(
            "pbkdf2",
            "one slot, a passphrase stretched by PBKDF2",
            passphrase_key(),
            vec![pbkdf2_slot(Pbkdf2Cost::ITERATIONS_MIN)],
        ),
        opens("age", "one slot, an age recipient", age_key(), vec![age_slot()]),
        opens(
            "all-by-raw",
            "a slot of each kind, opened by the raw key",
            raw_key(),
            all(),
        ),
        opens(
            "all-by-passphrase",
            "a slot of each kind, opened by the passphrase",
            passphrase_key(),
            all(),
        ),
        opens(
            "all-by-age",
            "a slot of each kind, opened by the age identity",
            age_key(),
            all(),
        ),
        opens(
            "unknown-kind",
            "a slot of an unknown kind is passed over",
            raw_key(),
            vec![unknown, raw_slot()],
        ),
    ]
}

fn costs() -> Vec<Vector> {
    let refused = |name: &str, comment: &str, slot| {
        refuses(
            &format!("kdf-cost-{name}"),
            "key refused",
            comment,
            passphrase_key(),
            vec![slot],
        )
    };
    let case = |name: &str, comment: &str, memory_kib, passes, lanes| {
        refused(name, comment, passphrase_slot(memory_kib, passes, lanes))
    };
    let iterations = |name: &str, comment: &str, count| refused(name, comment, pbkdf2_slot(count));
    vec![
        case("memory-low", "8191 KiB", 8191, 1, 1),
        case("memory-high", "1048577 KiB", 1_048_577, 1, 1),
        case("memory-highest", "2^32-1 KiB", u32::MAX, 1, 1),
        case("passes-low", "no pass", 8192, 0, 1),
        case("passes-high", "17 passes", 8192, 17, 1),
        case("lanes-low", "no lane", 8192, 1, 0),
        case("lanes-high", "17 lanes", 8192, 1, 17),
        iterations("iterations-low", "599999 iterations", 599_999),
        iterations("iterations-high", "16777217 iterations", 16_777_217),
        iterations("iterations-highest", "2^32-1 iterations", u32::MAX),
    ]
}

/// The parts of a passphrase slot have fixed sizes.
fn sizes() -> Vec<Vector> {
    let case = |name: &str, comment: &str, change: fn(&mut Slot)| {
        let mut slot = passphrase_slot(8192, 1, 1);
        change(&mut slot);
        refuses(
            &format!("size-{name}"),
            "key refused",
            comment,
            passphrase_key(),
            vec![slot],
        )
    };
    vec![
        case("parameters-none", "no parameters", |slot| slot.parameters.clear()),
        case("parameters-27", "27 bytes of parameters", |slot| {
            slot.parameters.truncate(27)
        }),
        case("parameters-29", "29 bytes of parameters", |slot| {
            slot.parameters.push(0)
        }),
        case("wrapped-91", "91 bytes wrapped", |slot| slot.wrapped.truncate(91)),
        case("wrapped-93", "93 bytes wrapped", |slot| slot.wrapped.push(0)),
    ]
}

fn wrong() -> Vec<Vector> {
    const WRONG: &str = "wrong key";
    let another_raw = format!("raw {}", hex(&named::<32>("another raw key")));
    let mut flipped = raw_slot();
    flipped.wrapped[91] ^= 1;
    let mut short = raw_slot();
    short.wrapped.truncate(91);
    vec![
        refuses(
            "wrong-key",
            WRONG,
            "the key of another slot",
            another_raw,
            vec![raw_slot()],
        ),
        refuses(
            "wrong-passphrase",
            WRONG,
            "another passphrase",
            "passphrase clear".to_owned(),
            vec![passphrase_slot(8192, 1, 1)],
        ),
        refuses(
            "wrong-kind",
            WRONG,
            "a passphrase, and only a raw slot",
            passphrase_key(),
            vec![raw_slot()],
        ),
        refuses(
            "flip",
            WRONG,
            "a bit of the wrapped key is flipped, under a good MAC",
            raw_key(),
            vec![flipped],
        ),
        refuses(
            "short",
            WRONG,
            "the wrapped key has 91 bytes, under a good MAC",
            raw_key(),
            vec![short],
        ),
        refuses(
            "other-database",
            WRONG,
            "the slot's plain names another database",
            raw_key(),
            vec![naming(DatabaseId(named("another database id")), raw_slot().id)],
        ),
        refuses(
            "other-slot",
            WRONG,
            "the slot's plain names another slot",
            raw_key(),
            vec![naming(database_id(), SlotId(named("another slot id")))],
        ),
    ]
}
