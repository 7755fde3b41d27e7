//! Tests of the record, its file, and the identities that open it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::change::renew_master;
use crate::fixture::{age, database, passphrase, raw};
use crate::{AgeIdentity, Recipient, os_random};

fn recipient_of(identity: &AgeIdentity) -> AgeRecipient {
    identity.describe().parse().unwrap()
}

fn exported() -> (Unlocked, ExportedKey) {
    let made = database(vec![raw(1)]);
    let exported = ExportedKey::of(&made, 1_795_308_896);
    (made, exported)
}

#[test]
fn a_stored_key_is_loaded_by_its_recipient_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.key.age");
    let (made, exported) = exported();
    let escrow = age();
    exported.store(&path, &recipient_of(&escrow), false).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let sealed = fs::read(&path).unwrap();
    let master = made.master.secret().expose();
    assert!(
        !sealed
            .windows(8)
            .any(|window| master.windows(8).any(|part| part == window))
    );

    let identities: Vec<Box<dyn Identity>> = vec![raw(1), age(), escrow];
    let found = ExportedKey::load(&path, &identities).unwrap();
    assert_eq!(found.database_id, made.superblock.database_id);
    assert_eq!(
        (found.made, found.master_created),
        (exported.made, exported.master_created)
    );
    assert!(found.master.secret().ct_eq(made.master.secret()));
    let others: Vec<Box<dyn Identity>> = vec![raw(1), age(), passphrase("x")];
    let refused = |identities: &[Box<dyn Identity>]| ExportedKey::load(&path, identities).err().unwrap();
    assert!(matches!(refused(&others), KeyError::ExportedClosed { .. }));
    assert!(matches!(refused(&[]), KeyError::NoKey));
}

#[test]
fn a_file_is_replaced_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, "older").unwrap();
    let (_, exported) = exported();
    let escrow = age();
    let error = exported.store(&path, &recipient_of(&escrow), false).unwrap_err();
    assert!(error.is_exists(), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"older");
    exported.store(&path, &recipient_of(&escrow), true).unwrap();
    ExportedKey::load(&path, &[escrow]).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a draft is left");
}

/// The times are excluded: a flip in them is found only by the check against the master key.
#[test]
fn a_record_of_another_length_or_with_a_flipped_bit_is_refused() {
    let (_, exported) = exported();
    let record = exported.encode();
    assert_eq!(record.expose().len(), 112);
    assert!(ExportedKey::parse(&record).is_some());
    for at in (0..64).chain(80..112) {
        let flipped = Secret::fill(|bytes: &mut [u8; EXPORTED_KEY_SIZE]| {
            bytes.copy_from_slice(record.expose());
            bytes[at] ^= 1;
        });
        assert!(ExportedKey::parse(&flipped).is_none(), "{at}");
    }
}

#[test]
fn a_truncated_altered_or_foreign_exported_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let (_, exported) = exported();
    let escrow = age();
    let recipient = recipient_of(&escrow);
    exported.store(&path, &recipient, false).unwrap();
    let sealed = fs::read(&path).unwrap();
    let identities: [Box<dyn Identity>; 1] = [escrow];
    let load = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        ExportedKey::load(&path, &identities).map(drop)
    };
    load(&sealed).unwrap();
    for at in 0..sealed.len() {
        load(&sealed[..at]).unwrap_err();
        let mut flipped = sealed.clone();
        flipped[at] ^= 1;
        load(&flipped).unwrap_err();
    }
    assert!(matches!(
        load(b"-----BEGIN AGE ENCRYPTED FILE-----"),
        Err(KeyError::BadFile { .. })
    ));
    assert!(matches!(load(&[b'x'; 9000]), Err(KeyError::BadFile { .. })));
    // Another object sealed to the same recipient: no file of another purpose is accepted as a key.
    let other = recipient
        .seal_exported_key(&Secret::new([7; EXPORTED_KEY_SIZE]))
        .unwrap();
    let error = load(&other).unwrap_err();
    assert!(error.to_string().contains("not an exported key"), "{error}");
    let archive = recipient.wrap_archive_key(&Secret::new([7; 32])).unwrap();
    assert!(matches!(load(&archive), Err(KeyError::ExportedClosed { .. })));
}

#[test]
fn an_exported_key_matches_one_database_and_master_key_only() {
    let (made, exported) = exported();
    let check = |of: &Unlocked| {
        let bytes = of.encode().unwrap();
        exported.check(&bytes, &of.superblock)
    };
    check(&made).unwrap();
    let error = check(&database(vec![raw(1)])).unwrap_err();
    assert!(matches!(error, KeyError::ExportedElsewhere { .. }), "{error}");
    let key = raw(1);
    let later = made.superblock.master_created + 1;
    let renewed = renew_master(&made, &[key.as_ref()], later, &mut os_random)
        .unwrap()
        .unlocked;
    let error = check(&renewed).unwrap_err();
    assert!(matches!(error, KeyError::ExportedOther { .. }), "{error}");
    let mut forged = made.encode().unwrap();
    forged[300] ^= 1;
    let error = exported.check(&forged, &made.superblock).unwrap_err();
    assert!(matches!(error, KeyError::Tampered { .. }), "{error}");
}
