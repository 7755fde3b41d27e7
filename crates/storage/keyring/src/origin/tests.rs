//! Tests of origin marks: all cases of missing and invalid marks.

use selenite_cipher::{DatabaseId, SlotId, Suite};
use selenite_format::PageSize;

use super::*;
use crate::change::{accept, add_slot, renew_master, replace_slot};
use crate::fixture::{age, command, database, passphrase, raw};
use crate::{AgeIdentity, AgeRecipient, Cache, Trust, Unlocked, create, os_random, unlock};

/// A copy of an identity.
fn again(identity: &AgeIdentity) -> Box<AgeIdentity> {
    Box::new(identity.secret_text().parse().unwrap())
}

fn public(identity: &AgeIdentity) -> Box<AgeRecipient> {
    Box::new(identity.describe().parse().unwrap())
}

fn open(made: &Unlocked, identity: &AgeIdentity) -> Result<Unlocked, KeyError> {
    open_by(made, vec![again(identity)])
}

fn open_by(made: &Unlocked, identities: Vec<Box<dyn Identity>>) -> Result<Unlocked, KeyError> {
    unlock(&made.encode().unwrap(), &identities, &Trust::default(), &Cache::new())
}

fn is_foreign(opened: Result<Unlocked, KeyError>, made: &Unlocked) -> bool {
    matches!(opened, Err(KeyError::ForeignOrigin { database_id }) if database_id == made.superblock.database_id)
}

/// A database with this id and these slot ids, and other keys, as an attacker can make from the file.
fn forged(of: &Unlocked, recipients: Vec<Box<dyn Recipient>>) -> Unlocked {
    let mut is_first = true;
    let mut same_id = |bytes: &mut [u8]| {
        os_random(bytes);
        if std::mem::take(&mut is_first) {
            bytes.copy_from_slice(&of.superblock.database_id.0);
        }
    };
    let mut made = create(PageSize::DEFAULT, Suite::Aes256, &recipients, 0, &mut same_id).unwrap();
    for (index, old) in of.superblock.slots.iter().enumerate() {
        let blank = made.superblock.slots[index].clone();
        let same = Slot { id: old.id, ..blank };
        made.superblock.slots[index] = crate::slot::fill(same, recipients[index].as_ref(), &made.master).unwrap();
    }
    made
}

#[test]
fn a_database_that_an_identity_made_is_its_own() {
    let key = age();
    let made = database(vec![again(&key)]);
    assert_eq!(made.superblock.slots[0].parameters.len(), ORIGIN_MARK_SIZE);
    assert_eq!(open(&made, &key).unwrap().origin, Origin::Own);
    for (recipient, identity) in [
        (raw(1) as Box<dyn Recipient>, raw(1) as Box<dyn Identity>),
        (passphrase("x"), passphrase("x")),
    ] {
        let made = database(vec![recipient]);
        assert!(made.superblock.slots[0].parameters.len() != ORIGIN_MARK_SIZE);
        assert_eq!(open_by(&made, vec![identity]).unwrap().origin, Origin::Own);
    }
}

#[test]
fn a_database_sealed_to_a_public_recipient_is_foreign_until_it_is_accepted() {
    let key = age();
    let made = database(vec![raw(9), public(&key)]);
    assert!(is_foreign(open(&made, &key), &made));
    let text = open(&made, &key).unwrap_err();
    assert!(text.to_string().contains("foreign origin"), "{text}");
    assert!(text.advice().contains("selenite keys accept DB"), "{}", text.advice());

    let identities: Vec<Box<dyn Identity>> = vec![again(&key)];
    let any = unlock(&made.encode().unwrap(), &identities, &Trust::any(), &Cache::new()).unwrap();
    assert_eq!(any.origin, Origin::Foreign);
    let accepted = accept(&any, &identities, &mut os_random).unwrap();
    assert!(!accepted.revokes_access);
    assert_eq!(accepted.report.accepted.len(), 1);
    assert_eq!(accepted.unlocked.superblock.generation, any.superblock.generation + 1);
    let opened = open(&accepted.unlocked, &key).unwrap();
    assert_eq!(opened.origin, Origin::Own);
    let again = accept(&opened, &identities, &mut os_random).unwrap();
    assert_eq!(again.report.accepted, []);
}

#[test]
fn a_mark_is_valid_for_one_identity_slot_database_and_master_key_only() {
    let (key, other) = (age(), age());
    let made = database(vec![again(&key)]);
    let mark = made.superblock.slots[0].parameters.clone();
    let slot_id = made.superblock.slots[0].id;
    let with = |mut forged: Unlocked, parameters: Vec<u8>| {
        forged.superblock.slots[0].parameters = parameters;
        is_foreign(open(&forged, &key), &forged)
    };
    // The real mark under an attacker's master key.
    assert!(with(forged(&made, vec![public(&key)]), mark.clone()));
    // A mark of another identity, slot or database, under the right master key.
    let token_of = |identity: &AgeIdentity, id: DatabaseId, slot: SlotId| {
        let token = identity.origin_token(id, slot).unwrap();
        made.master.wrap_origin_token([3; 12], slot_id, &token).to_vec()
    };
    let id = made.superblock.database_id;
    assert!(with(made.duplicate(), token_of(&other, id, slot_id)));
    assert!(with(made.duplicate(), token_of(&key, id, SlotId([1; 16]))));
    assert!(with(made.duplicate(), token_of(&key, DatabaseId([1; 16]), slot_id)));
    // No mark, a mark of another size, an altered mark.
    assert!(with(made.duplicate(), Vec::new()));
    for size in [1, 59, 61, 64] {
        let mut parameters = mark.clone();
        parameters.resize(size, 0);
        assert!(with(made.duplicate(), parameters), "{size}");
    }
    for byte in 0..ORIGIN_MARK_SIZE {
        let mut parameters = mark.clone();
        parameters[byte] ^= 1;
        assert!(with(made.duplicate(), parameters), "{byte}");
    }
    assert!(!with(made.duplicate(), mark));
}

#[test]
fn a_mark_counts_in_any_slot_and_for_any_given_identity() {
    let (key, other) = (age(), age());
    // Two slots of one identity, the first without a mark.
    let made = database(vec![public(&key), again(&key)]);
    assert_eq!(open(&made, &key).unwrap().origin, Origin::Own);
    // The slot that opens has no mark, and the slot of another given identity has one.
    let made = database(vec![public(&key), again(&other)]);
    let both = open_by(&made, vec![again(&key), again(&other)]).unwrap();
    assert_eq!(both.origin, Origin::Own);
    assert!(is_foreign(open(&made, &key), &made));
    assert!(open(&made, &other).is_ok());
}

#[test]
fn the_cache_keeps_keys_and_not_origins() {
    let key = age();
    let made = database(vec![public(&key)]);
    let bytes = made.encode().unwrap();
    let identities: Vec<Box<dyn Identity>> = vec![again(&key)];
    let cache = Cache::new();
    assert!(unlock(&bytes, &identities, &Trust::any(), &cache).is_ok());
    let error = unlock(&bytes, &identities, &Trust::default(), &cache).unwrap_err();
    assert!(matches!(error, KeyError::ForeignOrigin { .. }), "{error}");
}

#[test]
fn renewal_preserves_existing_marks_and_makes_none() {
    let (key, receiver) = (age(), age());
    let made = database(vec![again(&key), public(&receiver), raw(1)]);
    // Renewed by a user without any age key.
    let own = raw(1);
    let renewed = renew_master(&made, &[own.as_ref()], 5, &mut os_random).unwrap();
    assert!(open(&renewed.unlocked, &key).is_ok());
    assert!(is_foreign(open(&renewed.unlocked, &receiver), &renewed.unlocked));
    assert_ne!(
        renewed.unlocked.superblock.slots[0].parameters,
        made.superblock.slots[0].parameters
    );
    // Renewed by the receiver, who never accepted it.
    let by_receiver = again(&receiver);
    let renewed = renew_master(&made, &[by_receiver.as_ref(), own.as_ref()], 5, &mut os_random).unwrap();
    assert!(is_foreign(open(&renewed.unlocked, &receiver), &renewed.unlocked));
    // An invalid mark is not preserved.
    let mut odd = made.duplicate();
    odd.superblock.slots[0].parameters[20] ^= 1;
    let renewed = renew_master(&odd, &[own.as_ref()], 5, &mut os_random).unwrap();
    assert_eq!(renewed.unlocked.superblock.slots[0].parameters, []);
}

#[test]
fn a_slot_for_an_identity_is_marked_and_one_for_a_recipient_is_not() {
    let (key, receiver) = (age(), age());
    let made = database(vec![raw(1)]);
    let id = made.superblock.slots[0].id;
    for (recipient, identity, is_own) in [
        (again(&key) as Box<dyn Recipient>, &key, true),
        (public(&receiver), &receiver, false),
    ] {
        let added = add_slot(&made, recipient.as_ref(), "", 0, &mut os_random).unwrap();
        assert_eq!(open(&added.unlocked, identity).is_ok(), is_own);
        let replaced = replace_slot(&made, id, recipient.as_ref(), "", 0, &mut os_random).unwrap();
        assert_eq!(open(&replaced.unlocked, identity).is_ok(), is_own);
    }
}

#[test]
fn thirty_two_marked_slots_fit_and_each_proves_its_origin() {
    let keys: Vec<Box<AgeIdentity>> = (0..32).map(|_| age()).collect();
    let made = database(keys.iter().map(|key| again(key) as Box<dyn Recipient>).collect());
    let own = raw(1);
    let last = keys.last().unwrap();
    assert_eq!(open(&made, last).unwrap().origin, Origin::Own);
    let renewed = renew_master(&made, &[own.as_ref()], 1, &mut os_random).unwrap();
    for key in [&keys[0], &keys[15], last] {
        assert_eq!(open(&renewed.unlocked, key).unwrap().origin, Origin::Own);
    }
}

#[test]
fn a_former_holder_of_the_master_key_can_make_the_mark_of_that_slot_only() {
    // The limitation described in THREAT_MODEL 4.
    let key = age();
    let made = database(vec![again(&key), raw(1)]);
    let slot = &made.superblock.slots[0];
    let mark: [u8; ORIGIN_MARK_SIZE] = slot.parameters.as_slice().try_into().unwrap();
    let token = made.master.unwrap_origin_token(slot.id, &mark).unwrap();
    let mut fake = forged(&made, vec![public(&key), raw(9)]);
    fake.superblock.slots[0].parameters = fake.master.wrap_origin_token([3; 12], slot.id, &token).to_vec();
    assert!(open(&fake, &key).is_ok());
    // The mark is not valid for a database with another id: a caller who expects that id is not deceived.
    let mut other = database(vec![public(&key)]);
    let id = other.superblock.slots[0].id;
    other.superblock.slots[0].parameters = other.master.wrap_origin_token([3; 12], id, &token).to_vec();
    assert!(is_foreign(open(&other, &key), &other));
}

#[test]
fn a_pin_or_an_expected_commitment_accepts_a_database_without_a_mark() {
    let key = age();
    let made = database(vec![public(&key)]);
    let bytes = made.encode().unwrap();
    let identities: Vec<Box<dyn Identity>> = vec![again(&key)];
    let opens = |trust: &Trust| unlock(&bytes, &identities, trust, &Cache::new()).is_ok();
    let mut keyring = crate::Keyring::default();
    keyring
        .add(made.superblock.database_id, made.master.commitment())
        .unwrap();
    assert!(opens(&Trust::from(keyring)));
    let expecting = |commitment| Trust {
        commitment: Some(commitment),
        ..Trust::default()
    };
    assert!(opens(&expecting(made.master.commitment())));
    assert!(!opens(&expecting([7; 32])));
}

#[test]
fn no_pin_is_made_if_any_identity_proves_origins() {
    let made = database(vec![command(crate::fixture::ROTATE)]);
    let alone = open_by(&made, vec![command(crate::fixture::ROTATE)]);
    assert!(matches!(alone, Err(KeyError::OriginUnknown { .. })));
    let beside = open_by(&made, vec![age(), command(crate::fixture::ROTATE)]);
    assert!(is_foreign(beside, &made));
}

#[test]
fn a_policy_is_own_or_any() {
    for policy in [OriginPolicy::Own, OriginPolicy::Any] {
        assert_eq!(policy.word().parse::<OriginPolicy>().unwrap(), policy);
    }
    for word in ["", "Own", "all", "own "] {
        assert!(matches!(word.parse::<OriginPolicy>(), Err(KeyError::BadOrigin { .. })));
    }
}
