//! Tests of unlocking, with every kind of identity.

mod hostile;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use selenite_cipher::sha256;

use super::*;
use crate::Recipient;
use crate::fixture::{Counted, ROTATE, age, command, database, passphrase, raw};

fn open_with(bytes: &[u8], identity: Box<dyn Identity>) -> Result<Unlocked, KeyError> {
    unlock(bytes, &[identity], &Trust::default(), &Cache::new())
}

fn raw_database() -> Unlocked {
    database(vec![raw(1)])
}

/// The superblock after `change`, with valid MAC and checksum.
fn rewritten(mut from: Unlocked, change: impl FnOnce(&mut Superblock)) -> Vec<u8> {
    change(&mut from.superblock);
    from.encode().unwrap()
}

/// The bytes after `change`, with a valid checksum, as anyone can make.
fn forged(mut bytes: Vec<u8>, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let content = bytes.len() - 32;
    change(&mut bytes[..content]);
    let checksum = sha256(&bytes[..content]);
    bytes[content..].copy_from_slice(&checksum);
    bytes
}

#[test]
fn each_of_five_slots_opens_the_database() {
    let key = age();
    let recipient = key.describe();
    let recipients: Vec<Box<dyn Recipient>> = vec![
        raw(1),
        passphrase("correct horse"),
        Box::new(recipient.parse::<crate::AgeRecipient>().unwrap()),
        command(ROTATE),
        raw(2),
    ];
    let made = database(recipients);
    let bytes = made.encode().unwrap();
    let identities: Vec<Box<dyn Identity>> = vec![raw(1), passphrase("correct horse"), key, command(ROTATE), raw(2)];
    for (identity, slot) in identities.into_iter().zip(&made.superblock.slots) {
        let unlocked = unlock(&bytes, &[identity], &Trust::any(), &Cache::new()).unwrap();
        assert_eq!(unlocked.slot, slot.id);
        assert_eq!(unlocked.superblock, made.superblock);
        assert!(unlocked.master.secret().ct_eq(made.master.secret()));
        assert_eq!(unlocked.pin, Pin::Unknown);
        assert_eq!(unlocked.data_keys().unwrap().len(), 1);
    }
    let wrong: Vec<Box<dyn Identity>> = vec![raw(3), passphrase("battery staple"), age()];
    let error = unlock(&bytes, &wrong, &Trust::default(), &Cache::new()).unwrap_err();
    assert!(matches!(error, KeyError::WrongKey), "{error}");
}

#[test]
fn errors_that_need_no_key_are_found_without_one() {
    let bytes = raw_database().encode().unwrap();
    let of = |bytes: &[u8]| unlock(bytes, &[], &Trust::default(), &Cache::new()).unwrap_err();
    assert!(matches!(of(&bytes), KeyError::NoKey));
    assert!(matches!(of(b"SQLite format 3\0"), KeyError::NotEncrypted));
    assert!(matches!(of(b""), KeyError::NotEncrypted));
    assert!(matches!(of(&bytes[..bytes.len() - 1]), KeyError::Damaged));
    let newer = forged(bytes.clone(), |bytes| bytes[19] = 2);
    assert!(matches!(of(&newer), KeyError::UnsupportedVersion { version: 2 }));
    let broken = forged(bytes, |bytes| bytes[60] = 47);
    assert!(matches!(of(&broken), KeyError::Tampered { source: Some(_), .. }));
}

#[test]
fn an_unavailable_key_service_is_reported_unless_another_identity_opens() {
    let bytes = database(vec![command(ROTATE), raw(1)]).encode().unwrap();
    let with = |identities: Vec<Box<dyn Identity>>| unlock(&bytes, &identities, &Trust::default(), &Cache::new());
    let error = with(vec![raw(2), command("exit 7"), passphrase("x")]).unwrap_err();
    assert!(matches!(error, KeyError::KeyServiceUnavailable { .. }), "{error}");
    assert!(with(vec![command("exit 7"), raw(1)]).is_ok());
}

#[test]
fn the_cache_saves_unwrapping_and_not_the_check() {
    let made = database(vec![passphrase("x")]);
    let bytes = made.encode().unwrap();
    let (cache, counter) = (Cache::new(), Arc::new(AtomicU32::new(0)));
    let identities: Vec<Box<dyn Identity>> = vec![Box::new(Counted(*passphrase("x"), counter.clone()))];
    let unlock_it = |bytes: &[u8]| unlock(bytes, &identities, &Trust::default(), &cache);
    for _ in 0..3 {
        assert!(unlock_it(&bytes).unwrap().master.secret().ct_eq(made.master.secret()));
    }
    assert_eq!(counter.load(Ordering::Relaxed), 1);

    let tampered = forged(bytes.clone(), |bytes| bytes[38] ^= 1);
    assert!(matches!(unlock_it(&tampered).unwrap_err(), KeyError::Tampered { .. }));
    let other: Vec<Box<dyn Identity>> = vec![passphrase("y")];
    let error = unlock(&bytes, &other, &Trust::default(), &cache).unwrap_err();
    assert!(matches!(error, KeyError::WrongKey), "{error}");

    let changed = rewritten(made, |superblock| superblock.slots[0].wrapped[0] ^= 1);
    assert!(matches!(unlock_it(&changed).unwrap_err(), KeyError::WrongKey));
    assert_eq!(counter.load(Ordering::Relaxed), 2);
    cache.clear();
    unlock_it(&bytes).unwrap();
    assert_eq!(counter.load(Ordering::Relaxed), 3);
}

#[test]
fn a_key_with_a_wrong_mac_is_not_cached() {
    let bytes = raw_database().encode().unwrap();
    let (cache, counter) = (Cache::new(), Arc::new(AtomicU32::new(0)));
    let identities: Vec<Box<dyn Identity>> = vec![Box::new(Counted(*raw(1), counter.clone()))];
    let tampered = forged(bytes, |bytes| bytes[38] ^= 1);
    for count in 1..3 {
        unlock(&tampered, &identities, &Trust::default(), &cache).unwrap_err();
        assert_eq!(counter.load(Ordering::Relaxed), count);
    }
}

#[test]
fn no_secret_is_shown() {
    let made = database(vec![raw(0x77)]);
    let bytes = made.encode().unwrap();
    let identities: Vec<Box<dyn Identity>> = vec![raw(0x77), passphrase("hunter2")];
    let unlocked = unlock(&bytes, &identities, &Trust::default(), &Cache::new()).unwrap();
    let text = format!("{identities:?} {unlocked:?}");
    for secret in [
        "hunter2",
        "7777",
        "119, 119",
        &crate::hex::encode(made.master.secret().expose()),
    ] {
        assert!(!text.contains(secret), "{text}");
    }
}
