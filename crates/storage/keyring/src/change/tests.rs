//! Tests of changes: which identities can and cannot open a database afterwards.

use std::path::Path;

use selenite_cipher::Secret;

use super::*;
use crate::fixture::{ROTATE, age, command, database, passphrase, raw};
use crate::{Cache, Identity, Keyring, Trust, os_random, unlock};

fn opens(database: &Unlocked, identity: Box<dyn Identity>) -> bool {
    let bytes = database.encode().unwrap();
    match unlock(&bytes, &[identity], &Trust::any(), &Cache::new()) {
        Ok(unlocked) => unlocked.master.secret().ct_eq(database.master.secret()),
        Err(KeyError::WrongKey) => false,
        Err(error) => panic!("{error}"),
    }
}

fn data_secret(database: &Unlocked) -> Secret<32> {
    database.data_secret(&database.superblock.epochs[0]).unwrap()
}

#[test]
fn an_added_slot_opens_and_revokes_nothing() {
    let from = database(vec![raw(1)]);
    let Change {
        unlocked: to,
        revokes_access,
        report,
    } = add_slot(&from, raw(2).as_ref(), "deputy", 7, &mut os_random).unwrap();
    assert!(!revokes_access);
    assert_eq!((from.superblock.generation, to.superblock.generation), (1, 2));
    assert_eq!(from.superblock.slots.len(), 1);
    assert_eq!(report.added, [SlotSummary::new(&to.superblock.slots[1])]);
    assert_eq!(
        (to.superblock.slots[1].created, report.added[0].label.as_str()),
        (7, "deputy")
    );
    assert!(opens(&to, raw(1)) && opens(&to, raw(2)) && !opens(&from, raw(2)));
}

#[test]
fn add_slot_has_its_limits() {
    let full = database((0..32).map(|byte| raw(byte) as _).collect());
    let error = add_slot(&full, raw(99).as_ref(), "", 0, &mut os_random).unwrap_err();
    assert!(matches!(error, KeyError::TooManySlots), "{error}");
    let from = database(vec![raw(1)]);
    let label = "x".repeat(65);
    let error = add_slot(&from, raw(2).as_ref(), &label, 0, &mut os_random).unwrap_err();
    assert!(matches!(error, KeyError::Unencodable(_)), "{error}");
    let mut last = from;
    last.superblock.generation = u64::MAX;
    let error = add_slot(&last, raw(2).as_ref(), "", 0, &mut os_random).unwrap_err();
    assert!(matches!(error, KeyError::GenerationExhausted), "{error}");
}

#[test]
fn a_removed_slot_does_not_open_and_the_last_one_stays() {
    let from = database(vec![raw(1), raw(2)]);
    let Change {
        unlocked: to,
        revokes_access,
        report,
    } = remove_slot(&from, from.slot).unwrap();
    assert!(revokes_access);
    assert_eq!(report.removed, [SlotSummary::new(&from.superblock.slots[0])]);
    assert!(!opens(&to, raw(1)) && opens(&to, raw(2)));
    assert_eq!(to.slot, to.superblock.slots[0].id);
    assert!(matches!(remove_slot(&to, to.slot), Err(KeyError::LastSlot)));
    assert!(matches!(remove_slot(&to, from.slot), Err(KeyError::NoSuchSlot { .. })));
}

#[test]
fn replace_slot_replaces_the_identity() {
    let from = database(vec![raw(1), raw(2)]);
    let Change {
        unlocked: to,
        revokes_access,
        report,
    } = replace_slot(&from, from.slot, passphrase("x").as_ref(), "me", 5, &mut os_random).unwrap();
    assert!(revokes_access);
    assert_eq!((report.added.len(), report.removed.len()), (1, 1));
    assert_eq!(to.superblock.slots[0].id, to.slot);
    assert_ne!(to.slot, from.slot);
    assert!(!opens(&to, raw(1)) && opens(&to, raw(2)) && opens(&to, passphrase("x")));
    let error = replace_slot(&to, from.slot, raw(3).as_ref(), "", 0, &mut os_random).unwrap_err();
    assert!(matches!(error, KeyError::NoSuchSlot { .. }), "{error}");
}

#[test]
fn the_only_slot_can_be_replaced() {
    let from = database(vec![raw(1)]);
    let to = replace_slot(&from, from.slot, raw(2).as_ref(), "", 0, &mut os_random)
        .unwrap()
        .unlocked;
    assert!(!opens(&to, raw(1)) && opens(&to, raw(2)));
}

#[test]
fn renew_keeps_slots_of_known_recipients_and_drops_the_others() {
    let (first, second) = (age(), age());
    let public: AgeRecipient = first.describe().parse().unwrap();
    let from = database(vec![
        raw(1),
        Box::new(public),
        passphrase("kept"),
        passphrase("dropped"),
        command(ROTATE),
        raw(2),
    ]);
    let (kept, raw_1, service) = (passphrase("kept"), raw(1), command(ROTATE));
    let recipients: [&dyn Recipient; 4] = [raw_1.as_ref(), kept.as_ref(), service.as_ref(), second.as_ref()];
    let Change {
        unlocked: to,
        revokes_access,
        report,
    } = renew_master(&from, &recipients, 9, &mut os_random).unwrap();
    assert!(revokes_access);
    assert_eq!(report.commitment, Some(to.master.commitment()));
    assert_ne!(to.master.commitment(), from.master.commitment());
    assert_eq!((report.rewrapped.len(), report.dropped.len()), (4, 2));
    let ids = |slots: &[Slot]| slots.iter().map(|slot| slot.id).collect::<Vec<_>>();
    let old = ids(&from.superblock.slots);
    assert_eq!(ids(&to.superblock.slots), [old[0], old[1], old[2], old[4]]);
    assert_eq!((to.superblock.master_created, to.superblock.epochs[0].created), (9, 0));

    assert!(opens(&to, raw(1)) && opens(&to, first) && opens(&to, passphrase("kept")));
    assert!(opens(&to, command(ROTATE)));
    assert!(!opens(&to, raw(2)) && !opens(&to, passphrase("dropped")) && !opens(&to, second));
    assert!(data_secret(&to).ct_eq(&data_secret(&from)), "pages stay readable");
    assert!(to.log_secret().unwrap().ct_eq(&from.log_secret().unwrap()));
    assert!(
        from.data_secret(&to.superblock.epochs[0]).is_err(),
        "the old master key opens nothing new"
    );
}

#[test]
fn revoke_slot_removes_a_slot_and_renews_the_master_key_in_one_step() {
    let (public, native) = (age(), age());
    let recipient: AgeRecipient = native.describe().parse().unwrap();
    let from = database(vec![raw(1), public, Box::new(recipient), raw(2)]);
    let ids: Vec<_> = from.superblock.slots.iter().map(|slot| slot.id).collect();
    let (owner, other) = (raw(1), raw(2));
    // The slot to be removed is not kept, whether its recipient is among the given ones or needs no service.
    for (index, dropped) in [(2, 0), (3, 0)] {
        let recipients: [&dyn Recipient; 2] = [owner.as_ref(), other.as_ref()];
        let changed = revoke_slot(&from, ids[index], &recipients, 9, &mut os_random).unwrap();
        assert!(changed.revokes_access);
        assert_eq!(
            (changed.report.removed.len(), changed.report.dropped.len()),
            (1, dropped)
        );
        assert_eq!(changed.report.removed[0].id, ids[index]);
        let to = changed.unlocked;
        assert_eq!(to.superblock.generation, from.superblock.generation + 1);
        assert!(to.superblock.slots.iter().all(|slot| slot.id != ids[index]));
        assert!(!to.master.secret().ct_eq(from.master.secret()));
        assert!(opens(&to, raw(1)));
    }
    let unknown = revoke_slot(&from, SlotId([9; 16]), &[owner.as_ref()], 9, &mut os_random);
    assert!(matches!(unknown, Err(KeyError::NoSuchSlot { .. })));
    let sole = database(vec![raw(1)]);
    let last = revoke_slot(&sole, sole.superblock.slots[0].id, &[owner.as_ref()], 9, &mut os_random);
    assert!(matches!(last, Err(KeyError::LastSlot)));
}

#[test]
fn renew_never_drops_all_slots_nor_a_slot_with_an_unavailable_service() {
    let from = database(vec![command(ROTATE), raw(1)]);
    let error = renew_master(&from, &[], 0, &mut os_random).unwrap_err();
    assert!(matches!(error, KeyError::LastSlot), "{error}");
    let (away, other) = (command("exit 1"), raw(1));
    let error = renew_master(&from, &[away.as_ref(), other.as_ref()], 0, &mut os_random).unwrap_err();
    assert!(matches!(error, KeyError::KeyServiceUnavailable { .. }), "{error}");
    let to = renew_master(&from, &[other.as_ref()], 0, &mut os_random)
        .unwrap()
        .unlocked;
    assert_eq!(to.slot, from.superblock.slots[1].id, "the slot that was opened is gone");
}

#[test]
fn renew_never_runs_a_plugin_named_by_a_slot() {
    let mut from = database(vec![raw(1), age()]);
    from.superblock.slots[1].identifier = b"age1fake1qqqqqqqqxcpc7l".to_vec();
    let own = raw(1);
    let change = renew_master(&from, &[own.as_ref()], 0, &mut os_random).unwrap();
    assert_eq!(change.report.dropped.len(), 1);
}

#[test]
fn a_pinned_database_must_be_repinned_after_renewal() {
    let from = database(vec![raw(1)]);
    let id = from.superblock.database_id;
    let mut keyring = Keyring::default();
    keyring.add(id, from.master.commitment()).unwrap();
    let own = raw(1);
    let change = renew_master(&from, &[own.as_ref()], 0, &mut os_random).unwrap();
    let bytes = change.unlocked.encode().unwrap();
    let identities: Vec<Box<dyn Identity>> = vec![raw(1)];
    let error = unlock(&bytes, &identities, &Trust::from(keyring.clone()), &Cache::new()).unwrap_err();
    assert!(matches!(error, KeyError::DatabaseReplaced { .. }), "{error}");
    keyring.replace(id, change.report.commitment.unwrap());
    unlock(
        &bytes,
        &identities,
        &Trust::from(Keyring::parse(&keyring.encode(), Path::new("k")).unwrap()),
        &Cache::new(),
    )
    .unwrap();
}

#[test]
fn a_report_has_a_line_for_each_slot() {
    let from = database(vec![raw(1), raw(2)]);
    let own = raw(1);
    let report = renew_master(&from, &[own.as_ref()], 0, &mut os_random).unwrap().report;
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].starts_with("kept key slot ") && lines[0].contains("(raw key "),
        "{text}"
    );
    assert!(lines[1].starts_with("dropped key slot "), "{text}");
    assert!(lines[2].starts_with("new master key, commitment "), "{text}");
}
