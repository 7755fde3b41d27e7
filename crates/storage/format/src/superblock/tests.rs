use selenite_cipher::{SlotId, Suite};

use super::*;
use crate::{SlotKind, document};

mod random;

const MAC: [u8; 32] = [0x4d; 32];

pub(crate) fn epoch(number: u32, suite: Suite) -> EpochRecord {
    EpochRecord {
        epoch: Epoch(number),
        suite,
        created: 1_700_000_000,
        wrapped: [7; 60],
    }
}

pub(crate) fn slot(id: u8, wrapped_size: usize) -> Slot {
    Slot {
        kind: SlotKind::Raw,
        id: SlotId([id; 16]),
        created: 1_700_000_001,
        label: "desk key".to_owned(),
        identifier: vec![1; 16],
        parameters: Vec::new(),
        wrapped: vec![2; wrapped_size],
    }
}

pub(crate) fn superblock() -> Superblock {
    Superblock {
        generation: 7,
        database_id: DatabaseId([0x1d; 16]),
        page_size: PageSize::DEFAULT,
        state: State::Changing,
        pages_exist: true,
        epoch_max: Epoch(5),
        sealing_epoch: Epoch(5),
        cursor: 99,
        master_created: 1_700_000_002,
        log_key: [9; 60],
        epochs: vec![epoch(3, Suite::Aes256), epoch(5, Suite::Aegis256X4)],
        slots: vec![slot(1, 92), slot(2, 200)],
    }
}

fn encoded(superblock: &Superblock) -> Vec<u8> {
    superblock.encode(|_| MAC).unwrap()
}

/// `bytes` with a valid checksum, as anyone can make without a key.
fn whole_again(mut bytes: Vec<u8>) -> Vec<u8> {
    let content = bytes.len() - 32;
    let checksum = sha256(&bytes[..content]);
    bytes[content..].copy_from_slice(&checksum);
    bytes
}

fn refused(change: impl FnOnce(&mut Superblock)) -> &'static str {
    let mut superblock = superblock();
    change(&mut superblock);
    match superblock.encode(|_| MAC) {
        Err(FormatError::Invalid { what }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn fields_are_those_of_the_document() {
    let fields = [
        MAGIC_FIELD.span(),
        PAGE_SIZE_MARK.span(),
        VERSION.span(),
        ZERO_20.span(),
        LENGTH.span(),
        ZERO_28.span(),
        GENERATION.span(),
        DATABASE_ID.span(),
        PAGE_SIZE.span(),
        RESERVE_FIELD.span(),
        STATE.span(),
        FLAGS.span(),
        EPOCH_MAX.span(),
        SEALING_EPOCH.span(),
        CURSOR.span(),
        EPOCH_COUNT.span(),
        SLOT_COUNT.span(),
        MASTER_CREATED.span(),
        ZERO_88.span(),
        LOG_KEY.span(),
        ZERO_188.span(),
    ];
    assert_eq!(document::spans("3.1"), fields);
    assert_eq!(document::end(&fields), HEADER_SIZE);
    let rest: Vec<_> = document::rows("3.1").split_off(fields.len());
    let ends: Vec<_> = rest.iter().map(|row| (row[0], row[1])).collect();
    let expected = [
        ("192", "80*E"),
        ("...", "..."),
        ("...", "..."),
        ("N-64", "32"),
        ("N-32", "32"),
    ];
    assert_eq!(ends, expected);
}

#[test]
fn magic_is_that_of_the_document() {
    let hex = MAGIC.map(|byte| format!("{byte:02x}")).join(" ");
    assert!(document::rows("3.1")[0][2].contains(&format!("`{hex}`")));
}

#[test]
fn encode_has_the_minimum_size_and_ends_with_mac_and_checksum() {
    let superblock = superblock();
    let mut covered = Vec::new();
    let bytes = superblock
        .encode(|maced| {
            covered = maced.to_vec();
            MAC
        })
        .unwrap();
    // 192 + 2*80 + 48+8+16+92 + 48+8+16+200 + 64 = 852
    assert_eq!(bytes.len(), 1024);
    assert_eq!(bytes[..960], covered);
    assert_eq!(bytes[960..992], MAC);
    assert_eq!(bytes[992..], sha256(&bytes[..992]));
    assert_eq!(Superblock::maced(&bytes), (&bytes[..960], &MAC));
    assert_eq!(
        inspect(&bytes),
        Whole::Yes {
            generation: 7,
            size: 1024
        }
    );
}

#[test]
fn parse_does_not_read_beyond_the_end() {
    let superblock = superblock();
    let mut bytes = encoded(&superblock);
    bytes.resize(SUPERBLOCK_SIZE_MAX, 0xee);
    assert_eq!(Superblock::parse(&bytes), Ok(superblock));
    assert_eq!(Superblock::maced(&bytes).0.len(), 960);
}

#[test]
fn parse_refuses_a_superblock_cut_at_any_length() {
    let bytes = encoded(&superblock());
    for size in 0..bytes.len() {
        assert_eq!(Superblock::parse(&bytes[..size]), Err(FormatError::NotWhole));
        assert_eq!(Superblock::maced(&bytes[..size]), (&bytes[..size], &[0; 32]));
    }
}

#[test]
fn parse_refuses_a_superblock_with_any_bit_flipped() {
    let bytes = encoded(&superblock());
    for index in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[index] ^= 1 << (index % 8);
        assert_eq!(Superblock::parse(&flipped), Err(FormatError::NotWhole));
    }
}

/// With a corrected checksum, a parsed superblock contains the changed byte: encoding it gives the same bytes.
#[test]
fn parse_refuses_or_preserves_every_changed_byte() {
    let bytes = encoded(&superblock());
    for index in 0..bytes.len() - 32 {
        for value in [0, 1, 0x7f, 0x80, 0xff, bytes[index] ^ 1, bytes[index].wrapping_add(1)] {
            let mut changed = bytes.clone();
            changed[index] = value;
            let changed = whole_again(changed);
            let Ok(parsed) = Superblock::parse(&changed) else {
                continue;
            };
            let mac = *Superblock::maced(&changed).1;
            assert_eq!(parsed.encode(|_| mac), Ok(changed), "{index} {value}");
        }
    }
}

#[test]
fn parse_refuses_nonzero_reserved_fields() {
    let bytes = encoded(&superblock());
    let body_end = 852 - 64;
    let mut zeros: Vec<usize> = (20..24).chain(28..32).chain(88..128).chain(188..192).collect();
    zeros.extend([
        192 + 6,
        192 + 7,
        192 + 76,
        192 + 79,
        272 + 6,
        272 + 7,
        272 + 76,
        272 + 79,
    ]);
    zeros.extend((352 + 40..352 + 48).chain([352 + 6, 352 + 7]).chain(body_end..960));
    for index in zeros {
        let mut changed = bytes.clone();
        changed[index] = 1;
        match Superblock::parse(&whole_again(changed)) {
            Err(FormatError::Tampered { what }) => {
                assert!(what.starts_with("zero field"), "{what}")
            }
            other => panic!("{index}: {other:?}"),
        }
    }
}

#[test]
fn parse_refuses_fixed_fields_with_another_value() {
    let bytes = encoded(&superblock());
    let parse = |offset: usize, value: &[u8]| {
        let mut changed = bytes.clone();
        changed[offset..offset + value.len()].copy_from_slice(value);
        Superblock::parse(&whole_again(changed)).unwrap_err()
    };
    let tampered = |what| FormatError::Tampered { what };
    assert_eq!(parse(16, &[0, 2]), tampered("page size mark"));
    assert_eq!(parse(18, &[0, 0]), tampered("format version"));
    assert_eq!(parse(18, &[0, 2]), FormatError::UnsupportedVersion { version: 2 });
    assert_eq!(parse(60, &[47]), tampered("reserve"));
    assert_eq!(parse(61, &[6]), tampered("state"));
    assert_eq!(parse(62, &[0, 2]), tampered("flags"));
    assert_eq!(parse(62, &[0x80, 1]), tampered("flags"));
    for size in [0, 512, 3000, 131_072] {
        assert_eq!(parse(56, &u32::to_be_bytes(size)), tampered("page size"));
    }
    assert_eq!(parse(76, &[0, 0]), tampered("zero field of a slot"));
    assert_eq!(parse(76, &[0, 3]), tampered("epoch count"));
    assert_eq!(parse(78, &[0, 33]), tampered("slot count"));
    assert_eq!(parse(192 + 4, &[0, 9]), tampered("suite"));
    assert_eq!(parse(352, &[0, 0, 0, 0]), tampered("size of a slot"));
    assert_eq!(parse(352 + 38, &[0xff, 0xff]), tampered("size of a slot"));
    assert_eq!(parse(352 + 48, &[0xff]), tampered("label of a slot"));
}

#[test]
fn encode_refuses_what_parse_would_refuse() {
    assert_eq!(refused(|s| s.generation = 0), "generation");
    assert_eq!(refused(|s| s.state = State::Steady), "cursor");
    assert_eq!(refused(|s| s.state = State::Retired), "cursor");
    assert_eq!(refused(|s| s.epochs.clear()), "epoch count");
    assert_eq!(refused(|s| s.epochs.push(epoch(4, Suite::None))), "epoch count");
    assert_eq!(refused(|s| s.epochs[0].epoch = Epoch(0)), "epoch number");
    assert_eq!(refused(|s| s.epoch_max = Epoch(4)), "epoch number");
    assert_eq!(refused(|s| s.epochs[0].epoch = Epoch(5)), "the same epoch number twice");
    assert_eq!(refused(|s| s.sealing_epoch = Epoch(4)), "sealing epoch");
    // FORMAT 5.4: in state 3 no epoch is NONE.
    assert_eq!(refused(|s| s.epochs[0].suite = Suite::None), "suite");
    assert_eq!(refused(|s| s.slots.clear()), "slot count");
    assert_eq!(
        refused(|s| s.slots = (0..33).map(|id| slot(id, 1)).collect()),
        "slot count"
    );
    assert_eq!(refused(|s| s.slots[0].id = s.slots[1].id), "the same slot id twice");
    assert_eq!(refused(|s| s.slots[0].kind = SlotKind::Unknown(1)), "kind of a slot");
    assert_eq!(refused(|s| s.slots[0].label = "x".repeat(65)), "label size of a slot");
    assert_eq!(
        refused(|s| s.slots[0].identifier = vec![0; 513]),
        "identifier size of a slot"
    );
    assert_eq!(
        refused(|s| s.slots[0].parameters = vec![0; 65]),
        "parameter size of a slot"
    );
    assert_eq!(refused(|s| s.slots[0].wrapped.clear()), "wrapped size of a slot");
    assert_eq!(
        refused(|s| s.slots[0].wrapped = vec![0; 8193]),
        "wrapped size of a slot"
    );
}

#[test]
fn encode_refuses_slots_that_do_not_fit() {
    let mut superblock = superblock();
    superblock.slots = (0..4).map(|id| slot(id, 8192)).collect();
    assert_eq!(superblock.encode(|_| MAC), Err(FormatError::TooLarge { size: 33792 }));
    superblock.slots[0].wrapped.truncate(7000);
    assert_eq!(encoded(&superblock).len(), SUPERBLOCK_SIZE_MAX);
}
