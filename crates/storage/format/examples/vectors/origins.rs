//! `origin/`: FORMAT 4.7.

use selenite_cipher::{DatabaseId, MasterKey, OriginKey, Secret, SlotId, Suite};
use selenite_format::{Slot, SlotKind, Superblock};

use crate::slots::{AGE_IDENTITY, age_slot};
use crate::vector::{Vector, hex};
use crate::world::{
    self, SAMPLE, Sealer, data_secret, database_id, main_file, main_file_of, named, pages_of, raw_slot, secret,
    superblock,
};

/// A forged master key in an age file for the recipient of `age`. It is stored, since age draws its own nonces.
const AGE_FORGED: &[u8] = include_bytes!("../../../../../testdata/age/forged.age");
const FOREIGN: &str = "foreign origin";

pub fn all() -> Vec<Vector> {
    [good(), wrong(), vec![forged()]].concat()
}

fn age_key() -> String {
    format!("age {}", AGE_IDENTITY.trim())
}

/// The origin key of the identity: the payload of its Bech32 text.
fn own_key() -> OriginKey {
    let (_, payload) = bech32::decode(AGE_IDENTITY.trim()).expect("an age identity is Bech32");
    let bytes: [u8; 32] = payload.try_into().expect("an age identity has 32 bytes");
    OriginKey::new(&Secret::new(bytes))
}

/// The slot with a mark that `key` makes for `database` and `slot`, in place of the age slot's mark.
fn mark_for(key: &OriginKey, database: DatabaseId, slot: SlotId) -> Vec<u8> {
    mark_in(age_slot().id, key, database, slot)
}

fn mark_in(place: SlotId, key: &OriginKey, database: DatabaseId, slot: SlotId) -> Vec<u8> {
    let token = key.token(database, slot);
    let nonce = named("nonce of origin mark");
    world::master_key().wrap_origin_token(nonce, place, &token).to_vec()
}

fn good_mark() -> Vec<u8> {
    mark_for(&own_key(), database_id(), age_slot().id)
}

fn with_slots(vector: Vector, slots: Vec<Slot>) -> Vector {
    let superblock = Superblock {
        slots,
        ..superblock(Suite::Aes256)
    };
    let images = Sealer::new(1, Suite::Aes256).seal_all(&pages_of(SAMPLE));
    vector.file(main_file_of(&superblock, &images))
}

fn marked(parameters: Vec<u8>) -> Slot {
    Slot {
        parameters,
        ..age_slot()
    }
}

fn opens(case: &str, comment: &str, (key, origin): (String, &str), slots: Vec<Slot>) -> Vector {
    let vector = Vector::with_key(&format!("origin/{case}"), "ok", comment, key).line("origin", origin);
    with_slots(vector.released_sound(&pages_of(SAMPLE)), slots)
}

fn refuses(case: &str, comment: &str, parameters: Vec<u8>) -> Vector {
    let vector = Vector::with_key(&format!("origin/{case}"), FOREIGN, comment, age_key()).line("origin", "own");
    with_slots(vector, vec![marked(parameters)])
}

fn good() -> Vec<Vector> {
    let raw_key = format!("raw {}", hex(&named::<32>("raw key")));
    vec![
        opens(
            "own",
            "a slot with the mark of the identity",
            (age_key(), "own"),
            vec![marked(good_mark())],
        ),
        opens(
            "raw",
            "a raw key needs no mark",
            (raw_key, "own"),
            vec![raw_slot(), age_slot()],
        ),
        opens(
            "any",
            "no mark, and any origin is admitted",
            (age_key(), "any"),
            vec![age_slot()],
        ),
    ]
}

fn wrong() -> Vec<Vector> {
    let slot_id = age_slot().id;
    let other_key = OriginKey::new(&secret("another identity"));
    let other_slot = SlotId(named("another slot id"));
    let other_database = DatabaseId(named("another database id"));
    let resized = |size: usize| {
        let mut mark = good_mark();
        mark.resize(size, 0);
        mark
    };
    let mut flipped = good_mark();
    flipped[59] ^= 1;
    vec![
        refuses("none", "no mark", Vec::new()),
        refuses(
            "other-identity",
            "the mark of another identity",
            mark_for(&other_key, database_id(), slot_id),
        ),
        refuses(
            "other-slot",
            "the token of another slot",
            mark_for(&own_key(), database_id(), other_slot),
        ),
        refuses(
            "other-database",
            "the token of another database",
            mark_for(&own_key(), other_database, slot_id),
        ),
        refuses(
            "other-place",
            "the token of this slot, wrapped for another",
            mark_in(other_slot, &own_key(), database_id(), slot_id),
        ),
        refuses("flip", "a bit of the mark is flipped, under a good MAC", flipped),
        refuses("size-59", "59 bytes of parameters", resized(59)),
        refuses("size-61", "61 bytes of parameters", resized(61)),
    ]
}

/// An attacker's database, with the id, the slot id and the mark of the real one.
fn forged() -> Vector {
    let master = || MasterKey::new(secret("forged master key"), database_id());
    let mut superblock = superblock(Suite::Aes256);
    let epoch = &mut superblock.epochs[0];
    epoch.wrapped = master().wrap_data_key(named("nonce of data key 1"), epoch.epoch, epoch.suite, &data_secret(1));
    superblock.log_key = master().wrap_log_key(named("nonce of log key"), &secret("log key"));
    superblock.slots = vec![Slot {
        kind: SlotKind::Age,
        wrapped: AGE_FORGED.to_vec(),
        ..marked(good_mark())
    }];
    let bytes = superblock.encode(|maced| master().mac(maced));
    let bytes = bytes.expect("it breaks no rule of the format");
    let images = Sealer::new(1, Suite::Aes256).seal_all(&pages_of(SAMPLE));
    let comment = "the real mark, under a master key of somebody else's";
    Vector::with_key("origin/forged", FOREIGN, comment, age_key())
        .line("origin", "own")
        .file(main_file(bytes.clone(), bytes, &images))
}
