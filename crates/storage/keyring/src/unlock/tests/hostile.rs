//! Superblocks made or changed by an attacker, with or without keys.

use std::time::Duration;

use selenite_cipher::{DatabaseId, SlotId};
use selenite_format::{PageSize, SlotKind};

use super::*;
use crate::os_random;

fn error_with(bytes: &[u8], identity: Box<dyn Identity>) -> KeyError {
    open_with(bytes, identity).unwrap_err()
}

#[test]
fn a_change_without_the_master_key_is_tampering() {
    let bytes = raw_database().encode().unwrap();
    // The generation, the flag that pages exist, a wrapped data key, the MAC itself.
    for place in [38, 63, 250, bytes.len() - 40] {
        let error = error_with(&forged(bytes.clone(), |bytes| bytes[place] ^= 1), raw(1));
        assert!(
            matches!(error, KeyError::Tampered { source: None, .. }),
            "{place}: {error}"
        );
    }
}

#[test]
fn a_wrapped_key_that_does_not_unwrap_is_tampering() {
    for damage in [0, 1] {
        let bytes = rewritten(raw_database(), |superblock| match damage {
            0 => superblock.log_key[20] ^= 1,
            _ => superblock.epochs[0].wrapped[20] ^= 1,
        });
        assert!(matches!(error_with(&bytes, raw(1)), KeyError::Tampered { .. }));
    }
}

#[test]
fn a_retired_database_is_refused_with_its_key_only() {
    let mut made = raw_database();
    made.retire();
    let bytes = made.encode().unwrap();
    assert!(matches!(error_with(&bytes, raw(1)), KeyError::Retired));
    assert!(matches!(error_with(&bytes, raw(2)), KeyError::WrongKey));
}

#[test]
fn a_slot_of_another_database_is_the_wrong_key() {
    let everyone = || -> Vec<Box<dyn Identity>> { vec![raw(1), passphrase("x"), command(ROTATE)] };
    let recipients = || everyone().into_iter().map(|one| one as Box<dyn Recipient>).collect();
    let other = database(recipients()).superblock;
    let bytes = rewritten(database(recipients()), |superblock| superblock.slots = other.slots);
    for (identity, is_service) in everyone().into_iter().zip([false, false, true]) {
        let error = error_with(&bytes, identity);
        let is_named = matches!(
            error,
            KeyError::KeyRefused {
                refusal: Refusal::OtherKey,
                ..
            }
        );
        assert!(
            is_named == is_service && (is_named || matches!(error, KeyError::WrongKey)),
            "{error}"
        );
    }
}

#[test]
fn a_slot_in_another_slots_place_is_the_wrong_key() {
    let bytes = rewritten(database(vec![raw(1), raw(2)]), |superblock| {
        let [first, second] = &mut superblock.slots[..] else {
            panic!("two slots")
        };
        std::mem::swap(&mut first.id, &mut second.id);
    });
    assert!(matches!(error_with(&bytes, raw(1)), KeyError::WrongKey));
}

#[test]
fn a_slot_with_a_wrong_identifier_is_tried_last() {
    let made = database(vec![raw(1), raw(2)]);
    let (id, counter) = (made.superblock.slots[1].id, Arc::new(AtomicU32::new(0)));
    let bytes = made.encode().unwrap();
    let counted = || Box::new(Counted(*raw(2), counter.clone()));
    assert_eq!(open_with(&bytes, counted()).unwrap().slot, id);
    assert_eq!(counter.swap(0, Ordering::Relaxed), 1, "its own slot first");
    let bytes = rewritten(made, |superblock| superblock.slots[1].identifier = vec![0; 16]);
    assert_eq!(open_with(&bytes, counted()).unwrap().slot, id);
    assert_eq!(counter.load(Ordering::Relaxed), 2);
}

#[test]
fn a_slot_of_an_unknown_kind_is_never_opened() {
    let bytes = rewritten(raw_database(), |superblock| {
        superblock.slots[0].kind = SlotKind::Unknown(99)
    });
    assert!(matches!(error_with(&bytes, raw(1)), KeyError::WrongKey));
}

#[test]
fn a_hostile_passphrase_slot_is_refused_and_others_still_open() {
    let hostile = |parameter: usize, byte: u8| {
        rewritten(database(vec![passphrase("x"), raw(1)]), |superblock| {
            superblock.slots[0].parameters[parameter] = byte;
        })
    };
    for bytes in [hostile(0, 0xff), hostile(4, 0xff), hostile(8, 0xff)] {
        let error = error_with(&bytes, passphrase("x"));
        assert!(
            matches!(
                error,
                KeyError::KeyRefused {
                    refusal: Refusal::Cost,
                    ..
                }
            ),
            "{error}"
        );
        assert!(
            matches!(error_with(&bytes, raw(2)), KeyError::WrongKey),
            "not even looked at"
        );
        let both: Vec<Box<dyn Identity>> = vec![passphrase("x"), raw(1)];
        assert!(unlock(&bytes, &both, &Trust::default(), &Cache::new()).is_ok());
    }
    let bytes = rewritten(database(vec![passphrase("x")]), |superblock| {
        superblock.slots[0].wrapped.resize(8192, 0);
    });
    let error = error_with(&bytes, passphrase("x"));
    assert!(
        matches!(
            error,
            KeyError::KeyRefused {
                refusal: Refusal::Size,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn passphrase_slots_have_a_total_limit() {
    // 31 slots, each within its limit, that together would take minutes: two fit, and the cheapest is tried first.
    let bytes = rewritten(
        database((0..32).map(|_| passphrase("x") as _).collect()),
        |superblock| {
            for slot in &mut superblock.slots[1..] {
                slot.parameters[0..4].copy_from_slice(&1_048_576_u32.to_be_bytes());
                slot.parameters[4..8].copy_from_slice(&16_u32.to_be_bytes());
            }
        },
    );
    let counter = Arc::new(AtomicU32::new(0));
    let identity = Counted(Unstretched, counter.clone());
    let error = error_with(&bytes, Box::new(identity));
    assert!(
        matches!(
            error,
            KeyError::KeyRefused {
                refusal: Refusal::CostOfAll,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(counter.load(Ordering::Relaxed), 1);
    assert!(open_with(&bytes, passphrase("x")).is_ok());
}

/// A passphrase that reports the cost of a slot, and does not spend it.
struct Unstretched;

impl Recipient for Unstretched {
    fn kind(&self) -> SlotKind {
        SlotKind::Passphrase
    }

    fn describe(&self) -> String {
        "unstretched".to_owned()
    }

    fn wrap(&self, _: DatabaseId, _: SlotId, _: &Secret<32>) -> Result<crate::SlotBody, KeyError> {
        Err(KeyError::WrongKey)
    }

    fn owns(&self, _: DatabaseId, _: &Slot) -> Result<bool, KeyError> {
        Ok(false)
    }
}

impl Identity for Unstretched {
    fn origin_proof(&self) -> crate::OriginProof {
        crate::OriginProof::Possession
    }

    fn can_open(&self, slot: &Slot) -> bool {
        passphrase("y").can_open(slot)
    }

    fn effort(&self, slot: &Slot) -> Effort {
        passphrase("y").effort(slot)
    }

    fn fingerprint(&self) -> [u8; 32] {
        [0; 32]
    }

    fn unwrap(&self, _: DatabaseId, _: &Slot) -> Result<Secret<32>, KeyError> {
        Err(KeyError::WrongKey)
    }
}

#[test]
fn a_key_service_that_timed_out_is_not_called_for_every_slot() {
    let bytes = database((0..32).map(|_| command(ROTATE) as _).collect())
        .encode()
        .unwrap();
    let counter = Arc::new(AtomicU32::new(0));
    let hanging = command("exec sleep 1000").with_time_limit(Duration::from_millis(1));
    let error = error_with(&bytes, Box::new(Counted(hanging, counter.clone())));
    assert!(matches!(error, KeyError::KeyServiceUnavailable { .. }), "{error}");
    assert_eq!(counter.load(Ordering::Relaxed), 1);
}

#[test]
fn a_forged_database_of_a_pinned_id_is_refused() {
    let identity = age();
    let public = identity.describe();
    let recipient = || -> Vec<Box<dyn Recipient>> { vec![Box::new(public.parse::<crate::AgeRecipient>().unwrap())] };
    let honest = database(recipient());
    let id = honest.superblock.database_id;
    let mut keyring = crate::Keyring::default();
    keyring.add(id, honest.master.commitment()).unwrap();
    let identities: Vec<Box<dyn Identity>> = vec![identity];
    let open = |bytes: &[u8], keyring: &crate::Keyring| {
        let trust = Trust {
            keyring: keyring.clone(),
            ..Trust::any()
        };
        unlock(bytes, &identities, &trust, &Cache::new())
    };
    assert_eq!(open(&honest.encode().unwrap(), &keyring).unwrap().pin, Pin::Pinned);

    // Anyone who knows the public key and the id can make a database that opens, but not with the
    // pinned master key.
    let mut first = true;
    let mut same_id = |bytes: &mut [u8]| {
        if std::mem::take(&mut first) {
            bytes.copy_from_slice(&id.0)
        } else {
            os_random(bytes)
        }
    };
    let forged = crate::create(
        PageSize::DEFAULT,
        selenite_cipher::Suite::Aes256,
        &recipient(),
        0,
        &mut same_id,
    )
    .unwrap();
    assert_eq!(forged.superblock.database_id, id);
    let bytes = forged.encode().unwrap();
    assert!(open(&bytes, &crate::Keyring::default()).is_ok());
    let error = open(&bytes, &keyring).unwrap_err();
    assert!(matches!(error, KeyError::DatabaseReplaced { database_id } if database_id == id));

    let new_id = database(recipient());
    let bytes = new_id.encode().unwrap();
    assert_eq!(open(&bytes, &keyring).unwrap().pin, Pin::Unknown);
    keyring.set_only_listed(true);
    assert!(matches!(
        open(&bytes, &keyring).unwrap_err(),
        KeyError::NotListed { .. }
    ));
}
