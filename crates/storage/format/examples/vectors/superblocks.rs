//! `superblock/`: FORMAT 2.6 and 3.

use selenite_cipher::{Epoch, Suite};
use selenite_format::{State, Superblock};

use crate::vector::{Sparse, Vector};
use crate::world::{
    SAMPLE, Sealer, checksummed, encode, epoch_record, main_file, main_file_of, pages_of, signed, superblock,
};

mod fields;

pub fn all() -> Vec<Vector> {
    [whole(), choices(), empties(), fields::all(), states()].concat()
}

const TAMPERED: &str = "tampered superblock";

fn named_vector(case: &str, expect: &str, comment: &str) -> Vector {
    Vector::new(&format!("superblock/{case}"), expect, comment)
}

fn base() -> Superblock {
    superblock(Suite::Aes256)
}

fn images() -> Vec<Vec<u8>> {
    Sealer::new(1, Suite::Aes256).seal_all(&pages_of(SAMPLE))
}

/// A vector that opens, with the sample's pages.
fn opens(case: &str, comment: &str, a: Vec<u8>, b: Vec<u8>, counts: &str) -> Vector {
    named_vector(case, "ok", comment)
        .line("counts", counts)
        .released_sound(&pages_of(SAMPLE))
        .file(main_file(a, b, &images()))
}

/// A vector that does not open; one page is enough to show that there are pages.
fn refuses(case: &str, expect: &str, comment: &str, a: Vec<u8>, b: Vec<u8>) -> Vector {
    named_vector(case, expect, comment).file(main_file(a, b, &images()[..1]))
}

/// Magic, version, length, checksum, MAC.
fn whole() -> Vec<Vector> {
    let good = encode(&base());
    let patched = |offset: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[offset] = value;
        bytes
    };
    let version = signed(patched(19, 2));
    let torn = patched(400, good[400] ^ 1);
    let mut newer = base();
    newer.generation = 2;
    let mut bad_mac = encode(&newer);
    bad_mac[512 - 64] ^= 1;
    let bad_mac = checksummed(bad_mac);
    let text = "Neither a database of SQLite nor of Selenite. "
        .repeat(1500)
        .into_bytes();
    vec![
        opens("good", "both places the same", good.clone(), good.clone(), "A"),
        named_vector("magic", "not encrypted", "neither place begins with the magic").file(Sparse::whole("main", text)),
        named_vector("magic-plain", "not encrypted", "a database of SQLite in clear")
            .file(Sparse::whole("main", SAMPLE.to_vec())),
        refuses(
            "version",
            "unsupported version",
            "whole, version 2",
            version.clone(),
            version,
        ),
        refuses(
            "both-torn",
            "damaged superblock",
            "both checksums are wrong",
            torn.clone(),
            torn,
        ),
        refuses(
            "mac",
            TAMPERED,
            "A is newer, with a good checksum over a bad MAC",
            bad_mac.clone(),
            good.clone(),
        ),
        refuses(
            "mac-b",
            TAMPERED,
            "B is newer, with a good checksum over a bad MAC",
            good.clone(),
            bad_mac,
        ),
    ]
}

/// Which of two superblocks is chosen.
fn choices() -> Vec<Vector> {
    let old = encode(&base());
    let new = encode(&Superblock {
        generation: 2,
        ..base()
    });
    let mut twin = base();
    twin.slots[0].label = "twin".to_owned();
    let twin = encode(&twin);
    let mut torn = new.clone();
    torn[300] ^= 1;
    let length = |value: u32| {
        let mut bytes = new.clone();
        bytes[24..28].copy_from_slice(&value.to_be_bytes());
        checksummed(bytes)
    };
    vec![
        opens("newer-b", "B has the higher generation", old.clone(), new.clone(), "B"),
        opens("newer-a", "A has the higher generation", new.clone(), old.clone(), "A"),
        opens("equal", "equal generations: A counts", old.clone(), twin, "A"),
        opens(
            "torn-a",
            "A is newer and torn: B counts",
            torn.clone(),
            old.clone(),
            "B",
        ),
        opens("torn-b", "B is newer and torn: A counts", old.clone(), torn, "A"),
        opens(
            "length-0",
            "A says that it has no bytes: B counts",
            length(0),
            old.clone(),
            "B",
        ),
        opens(
            "length-513",
            "A's length is not a multiple of 512: B counts",
            length(513),
            old.clone(),
            "B",
        ),
        opens(
            "length-33280",
            "A's length is over 32768: B counts",
            length(33280),
            old.clone(),
            "B",
        ),
    ]
}

/// FORMAT 2.6.
fn empties() -> Vec<Vector> {
    let new = encode(&base());
    let cut = |size: usize| new[..size].to_vec();
    let empty = |case, comment, file: Sparse| named_vector(case, "empty", comment).file(file);
    vec![
        empty("empty", "no bytes", Sparse::new("main")),
        empty(
            "cut-off-magic",
            "a creation cut off in A's magic",
            Sparse::whole("main", cut(5)),
        ),
        empty("cut-off-a", "a creation cut off in A", Sparse::whole("main", cut(300))),
        empty(
            "cut-off-tail",
            "a creation whose A was written from its end, but for 5 bytes",
            Sparse::whole("main", [&[0; 5], &new[5..]].concat()),
        ),
        empty(
            "cut-off-b",
            "A is torn, B not written",
            Sparse::whole("main", cut(300)).resize(65536),
        ),
        named_vector(
            "cut-off-foreign",
            "not encrypted",
            "A begins with a part of the magic, and then with other bytes",
        )
        .file(Sparse::whole("main", [&new[..8], b"tampered".as_slice()].concat())),
    ]
}

fn states() -> Vec<Vector> {
    let retired = encode(&Superblock {
        state: State::Retired,
        ..base()
    });
    let two = Superblock {
        state: State::Changing,
        cursor: 1,
        epochs: vec![epoch_record(1, Suite::Aes256), epoch_record(2, Suite::ChaCha20)],
        epoch_max: Epoch(9),
        sealing_epoch: Epoch(2),
        ..base()
    };
    let two = encode(&two);
    let mut data_key = base();
    data_key.epochs[0].wrapped[59] ^= 1;
    let data_key = encode(&data_key);
    let mut log_key = base();
    log_key.log_key[0] ^= 1;
    let log_key = encode(&log_key);
    let empty = Superblock {
        pages_exist: false,
        ..base()
    };
    vec![
        opens("changing", "two epochs, the cursor on page 1", two.clone(), two, "A"),
        refuses("retired", "retired", "state 5", retired.clone(), retired),
        refuses(
            "wrapped-data-key",
            TAMPERED,
            "a bit of the wrapped data key",
            data_key.clone(),
            data_key,
        ),
        refuses(
            "wrapped-log-key",
            TAMPERED,
            "a bit of the wrapped log key",
            log_key.clone(),
            log_key,
        ),
        named_vector("emptied", "not encrypted", "pages exist, and there is none").file(main_file_of(&base(), &[])),
        named_vector("no-pages", "ok", "created, with nothing written yet")
            .line("counts", "A")
            .released_all(&[])
            .file(main_file_of(&empty, &[])),
    ]
}
