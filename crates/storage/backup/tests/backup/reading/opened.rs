//! The first object of an archive, and its manifest.

use selenite_backup::{BackupError, Destination, KeySource, OpenArchive, OpenedBy, Part, object_key};
use selenite_cipher::{MasterKey, Secret};
use selenite_keyring::{AgeIdentity, KeyError, Keyring, OriginPolicy, Recipient};
use selenite_testing::HandMade;

use super::fixture::{Fixture, Lying, add, is_refused, raw, replace, words};

#[test]
fn an_archive_is_opened_by_a_slot_a_recipient_or_the_master_key() {
    let mut fixture = Fixture::new();
    let escrow = AgeIdentity::generate();
    let recipient = escrow.describe().parse().unwrap();
    let mut archive = HandMade::begin(&fixture.unlocked, 1_800_000_000, &[recipient]);
    archive.facts.page_count = 1;
    add(&mut archive, &[&[&[(1, "a")]]]);
    archive.finish();
    archive.put(&fixture.destination());
    let name = archive.name();
    assert_eq!(fixture.read(&name).unwrap(), words(&[(1, "a")]));
    let by =
        |keys: &KeySource<'_>| OpenArchive::open(&fixture.destination(), fixture.id(), &name, keys).map(|it| it.by);
    assert!(matches!(by(&fixture.keys()), Ok(OpenedBy::Slot(_))));
    assert!(matches!(
        by(&KeySource::Master(&fixture.unlocked.master)),
        Ok(OpenedBy::Master)
    ));
    let other = MasterKey::new(Secret::new([5; 32]), fixture.id());
    assert!(matches!(
        by(&KeySource::Master(&other)),
        Err(BackupError::Key {
            source: KeyError::WrongKey,
            ..
        })
    ));
    fixture.identities = vec![raw(2)];
    let error = fixture.read(&name).unwrap_err();
    assert!(matches!(error, BackupError::Key { .. }), "{error}");
    fixture.identities = vec![raw(2), Box::new(escrow)];
    // origin-of-requested: anyone who knows the recipient could have made it.
    let error = fixture.read(&name).unwrap_err();
    assert!(
        matches!(
            error,
            BackupError::Key {
                source: KeyError::OriginUnknown { .. },
                ..
            }
        ),
        "{error}"
    );
    fixture.trust.policy = OriginPolicy::Any;
    assert_eq!(fixture.read(&name).unwrap(), words(&[(1, "a")]));
    // pin-for-requested: an archive opened without a master key is not authenticated by the pin.
    fixture.trust.keyring.add(fixture.id(), [7; 32]).unwrap();
    let error = fixture.read(&name).unwrap_err();
    assert!(
        matches!(
            error,
            BackupError::Key {
                source: KeyError::DatabaseReplaced { .. },
                ..
            }
        ),
        "{error}"
    );
    fixture.trust.keyring = Keyring::default();
    fixture.trust.keyring.set_only_listed(true);
    assert!(fixture.read(&name).is_err());
}

/// `pin-for-requested`: a pin applies to the requested backup, and not to its bases, which are
/// identified by hash.
#[test]
fn a_pin_refuses_a_backup_of_another_master_key_but_not_its_base() {
    let mut fixture = Fixture::new();
    let base = fixture.made(1_800_000_000, 2, &[&[&[(1, "a"), (2, "b")]]]);
    base.put(&fixture.destination());
    let owner = raw(1);
    let change = selenite_keyring::change::renew_master;
    let next = change(
        &fixture.unlocked,
        &[owner.as_ref()],
        9,
        &mut selenite_keyring::os_random,
    );
    let next = next.unwrap().unlocked;
    let old = std::mem::replace(&mut fixture.unlocked, next);
    let tip = fixture.above(&base, 2, &[&[&[(2, "c")]]]);
    tip.put(&fixture.destination());
    let commitment = fixture.unlocked.master.commitment();
    assert_ne!(commitment, old.master.commitment());
    fixture.trust.keyring.add(fixture.id(), commitment).unwrap();
    assert_eq!(fixture.read(&tip.name()).unwrap(), words(&[(1, "a"), (2, "c")]));
    assert!(matches!(
        fixture.read(&base.name()).unwrap_err(),
        BackupError::Key {
            source: KeyError::DatabaseReplaced { .. },
            ..
        }
    ));
}

#[test]
fn objects_altered_or_truncated_anywhere_are_refused() {
    let fixture = Fixture::new();
    let archive = fixture.made(1_800_000_000, 2, &[&[&[(1, "a"), (2, "b")]]]);
    archive.put(&fixture.destination());
    let below = fixture.destination();
    for part in [Part::Begun, Part::Manifest, Part::Pages(0)] {
        let whole = &archive.objects[&part];
        let step = whole.len() / 150 + 1;
        for at in (0..whole.len()).step_by(step) {
            let mut altered = whole.clone();
            altered[at] ^= 0x10;
            for answer in [whole[..at].to_vec(), altered] {
                let lying = Lying {
                    below: &below,
                    name: archive.object(part),
                    answer,
                };
                let chain = selenite_backup::Chain::open(&lying, fixture.id(), &archive.name(), &[], &fixture.keys());
                let read = chain.and_then(|chain| chain.pages(&lying, &mut |_, _: &[u8]| Ok::<(), BackupError>(())));
                let error = read.unwrap_err();
                let is_superblock = part == Part::Begun && matches!(error, BackupError::Key { .. });
                assert!(is_refused(&error) || is_superblock, "{part}, byte {at}: {error}");
            }
        }
    }
}

#[test]
fn an_archive_under_another_name_or_of_another_database_is_refused() {
    let fixture = Fixture::new();
    let archive = fixture.made(1_800_000_000, 1, &[&[&[(1, "a")]]]);
    let destination = fixture.destination();
    // With another time, as if it were newer.
    let later = selenite_backup::ArchiveName::new(1_900_000_000, archive.begun.archive_id);
    for (part, bytes) in &archive.objects {
        destination
            .put_new(&object_key(fixture.id(), &later, *part), bytes)
            .unwrap();
    }
    let error = fixture.read(&later).unwrap_err();
    assert!(matches!(error, BackupError::Unauthentic { .. }), "{error}");
    // Another database's, which the same identity opens, in this database's folder.
    let other = Fixture::new().made(1_800_000_000, 1, &[&[&[(1, "o")]]]);
    for (part, bytes) in &other.objects {
        destination
            .put_new(&object_key(fixture.id(), &other.name(), *part), bytes)
            .unwrap();
    }
    let error = fixture.read(&other.name()).unwrap_err();
    assert!(matches!(error, BackupError::Unauthentic { .. }), "{error}");
    let nowhere = "20260301T120000Z-0123456789abcdef".parse().unwrap();
    assert!(matches!(fixture.read(&nowhere), Err(BackupError::NotThere { .. })));
}

#[test]
fn a_missing_or_foreign_manifest_is_refused() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let (one, two) = (
        fixture.made(1_800_000_000, 1, &[&[&[(1, "a")]]]),
        fixture.made(1_800_000_000, 1, &[&[&[(1, "b")]]]),
    );
    one.put(&destination);
    two.put(&destination);
    replace(&destination, &one.object(Part::Manifest), &two.objects[&Part::Manifest]);
    let error = fixture.read(&one.name()).unwrap_err();
    assert!(matches!(error, BackupError::Unauthentic { .. }), "{error}");
    destination.remove(&one.object(Part::Manifest)).unwrap();
    assert!(matches!(fixture.read(&one.name()), Err(BackupError::Unfinished { .. })));
    assert_eq!(fixture.read(&two.name()).unwrap(), words(&[(1, "b")]));
}

/// A manifest by a holder of the key that breaks a rule.
#[test]
fn a_manifest_that_breaks_a_rule_is_refused() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let refused = |change: &dyn Fn(&mut HandMade)| {
        let mut archive = fixture.made(1_800_000_000, 1, &[&[&[(1, "a")]]]);
        change(&mut archive);
        archive.put(&destination);
        let error = fixture.read(&archive.name()).unwrap_err();
        assert!(is_refused(&error), "{error}");
    };
    refused(&|archive| {
        archive.facts.begun[0] ^= 1;
        archive.finish();
    });
    refused(&|archive| {
        archive.facts.indexes.clear();
        archive.finish();
    });
    refused(&|archive| {
        archive.facts.parts[0][0] ^= 1;
        archive.finish();
    });
    refused(&|archive| {
        archive.facts.page_count = 2;
        archive.finish();
    });
    refused(&|archive| archive.finish_with(b"no facts"));
    // 65 MiB, which compress to a few kilobytes.
    refused(&|archive| archive.finish_with(&vec![0; 65 << 20]));
}

#[test]
fn an_archive_key_of_another_archive_is_refused() {
    let fixture = Fixture::new();
    let mut archive = fixture.made(1_800_000_000, 1, &[&[&[(1, "a")]]]);
    let other = fixture.made(1_800_000_000, 1, &[&[&[(1, "b")]]]);
    archive.begun.wrapped_key = other.begun.wrapped_key;
    archive.seal_begun();
    archive.finish();
    archive.put(&fixture.destination());
    let error = fixture.read(&archive.name()).unwrap_err();
    assert!(
        matches!(
            error,
            BackupError::Key {
                source: KeyError::Tampered { .. },
                ..
            }
        ),
        "{error}"
    );
}
