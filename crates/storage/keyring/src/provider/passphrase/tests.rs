//! Tests of passphrases, at the minimum cost of the format.

use super::*;
use crate::fixture::{CHEAP, DATABASE, MASTER, SLOT, master, slot_of};

fn identity(text: &str) -> PassphraseIdentity {
    PassphraseIdentity::new(text.as_bytes().to_vec())
        .unwrap()
        .with_cost(CHEAP)
}

fn slot(text: &str) -> Slot {
    slot_of(
        SlotKind::Passphrase,
        identity(text).wrap(DATABASE, SLOT, &master()).unwrap(),
    )
}

#[test]
fn a_passphrase_unwraps_what_it_wrapped_and_no_other_does() {
    let slot = slot("correct horse");
    assert_eq!(
        identity("correct horse").unwrap(DATABASE, &slot).unwrap().expose(),
        &MASTER
    );
    assert!(identity("correct horse\r\n").owns(DATABASE, &slot).unwrap());
    assert!(!identity("battery staple").owns(DATABASE, &slot).unwrap());
    assert!(!identity("correct horse").owns(DatabaseId([9; 16]), &slot).unwrap());
}

#[test]
fn new_slots_have_the_cost_of_rfc_9106() {
    let identity = PassphraseIdentity::new(b"x".to_vec()).unwrap();
    assert_eq!(
        identity.cost,
        Cost::Argon2id {
            memory_kib: 65536,
            passes: 3,
            lanes: 4
        }
    );
    let slot = slot_of(SlotKind::Passphrase, identity.wrap(DATABASE, SLOT, &master()).unwrap());
    assert_eq!(slot.parameters[..12], [0, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4]);
    assert_eq!(identity.effort(&slot), Effort::Stretch(3 * 65536));
    assert!(identity.owns(DATABASE, &slot).unwrap());
}

#[test]
fn a_slot_of_pbkdf2_opens_with_its_passphrase_within_the_limits() {
    let maker = PassphraseIdentity::new(b"correct horse".to_vec()).unwrap();
    let maker = maker.with_cost(Cost::PBKDF2);
    let slot = slot_of(SlotKind::Passphrase, maker.wrap(DATABASE, SLOT, &master()).unwrap());
    assert_eq!(
        (slot.parameters.len(), &slot.parameters[..4]),
        (20, &[0, 0x0f, 0x42, 0x40][..])
    );
    // What another identity makes does not matter: the slot says how it is stretched.
    let opener = identity("correct horse").with_cost_max(1);
    assert_eq!(opener.unwrap(DATABASE, &slot).unwrap().expose(), &MASTER);
    assert_eq!(opener.effort(&slot), Effort::Stretch(3 * 65536));
    assert!(matches!(identity("x").unwrap(DATABASE, &slot), Err(KeyError::WrongKey)));
    for (iterations, expected) in [
        (599_999, Refusal::Cost),
        (1_000_001, Refusal::CostLimit),
        (16_777_216, Refusal::CostLimit),
        (16_777_217, Refusal::Cost),
        (u32::MAX, Refusal::Cost),
    ] {
        let mut slot = slot.clone();
        slot.parameters[..4].copy_from_slice(&u32::to_be_bytes(iterations));
        let refused = opener.unwrap(DATABASE, &slot);
        assert!(
            matches!(refused, Err(KeyError::KeyRefused { refusal, .. }) if refusal == expected),
            "{iterations}"
        );
        assert_eq!(opener.effort(&slot), Effort::Stretch(0));
    }
}

#[test]
fn a_hostile_cost_or_size_is_refused_before_it_is_spent() {
    let slot = slot("x");
    let with_number = |index: usize, number: u32| {
        let mut parameters = slot.parameters.clone();
        parameters[4 * index..4 * index + 4].copy_from_slice(&number.to_be_bytes());
        Slot {
            parameters,
            ..slot.clone()
        }
    };
    let mut hostile: Vec<(Slot, Refusal)> = [
        (0, 0),
        (0, 8191),
        (0, 1_048_577),
        (0, u32::MAX),
        (1, 0),
        (1, 17),
        (1, u32::MAX),
        (2, 0),
        (2, 17),
    ]
    .map(|(index, number)| (with_number(index, number), Refusal::Cost))
    .into();
    for size in [0, 16, 19, 21, 24, 27, 29, 64] {
        let parameters = vec![1; size];
        hostile.push((
            Slot {
                parameters,
                ..slot.clone()
            },
            Refusal::Size,
        ));
    }
    for size in [1, 91, 93, 8192] {
        hostile.push((
            Slot {
                wrapped: vec![1; size],
                ..slot.clone()
            },
            Refusal::Size,
        ));
    }
    for (slot, expected) in hostile {
        match identity("x").unwrap(DATABASE, &slot) {
            Err(KeyError::KeyRefused { slot: SLOT, refusal }) => assert_eq!(refusal, expected),
            other => panic!("{:?} of {slot:?}", other.err()),
        }
    }
}

#[test]
fn a_passphrase_file_is_neither_empty_nor_binary() {
    for (contents, problem) in [
        (&b""[..], "k: empty, contains no passphrase"),
        (b"\n", "k: empty, contains no passphrase"),
        (b"\r\n", "k: empty, contains no passphrase"),
        (b"\xff", "k: not UTF-8, so not a passphrase"),
    ] {
        let error = PassphraseIdentity::from_file(Path::new("k"), contents).err().unwrap();
        assert_eq!(error.to_string(), problem);
    }
    let identity = PassphraseIdentity::from_file(Path::new("k"), b"x\n").unwrap();
    assert!(identity.owns(DATABASE, &slot("x")).unwrap());
}

#[test]
fn a_cost_above_the_limit_is_refused_before_it_is_spent() {
    let slot = slot("x");
    let with_cost = |memory_kib: u32, passes: u32| {
        let mut parameters = slot.parameters.clone();
        parameters[0..4].copy_from_slice(&memory_kib.to_be_bytes());
        parameters[4..8].copy_from_slice(&passes.to_be_bytes());
        Slot {
            parameters,
            ..slot.clone()
        }
    };
    let least = identity("x").with_cost_max(1);
    for (memory_kib, passes) in [(65537, 1), (65536, 4), (1_048_576, 1), (1_048_576, 16)] {
        let slot = with_cost(memory_kib, passes);
        let refused = least.unwrap(DATABASE, &slot);
        assert!(
            matches!(
                refused,
                Err(KeyError::KeyRefused {
                    refusal: Refusal::CostLimit,
                    ..
                })
            ),
            "{memory_kib} {passes}"
        );
        assert_eq!(least.effort(&slot), Effort::Stretch(0));
    }
    let default = identity("x").with_cost_max(4);
    for (memory_kib, passes, is_admitted) in [
        (65536, 12, true),
        (65536, 13, false),
        (262_144, 3, true),
        (262_145, 1, false),
    ] {
        let is_tried = default.effort(&with_cost(memory_kib, passes)) != Effort::Stretch(0);
        assert_eq!(is_tried, is_admitted, "{memory_kib} {passes}");
    }
    least.unwrap(DATABASE, &slot).unwrap();
}
