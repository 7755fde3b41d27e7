use super::super::tests::create;
use super::super::{CertificateRecord, DatabaseName, NewStoredCertificate};
use super::*;

fn certificate(name: &str, number: u8) -> CertificateRecord {
    CertificateRecord {
        id: 0,
        name: name.to_owned(),
        certificate: vec![number; 4],
        thumbprint: vec![number; 20],
        serial: vec![number],
        subject: "a subject".to_owned(),
        recipient: "age1x".to_owned(),
        not_before: 1,
        not_after: 2,
        backed_up: 0,
    }
}

fn add(master: &Master, name: &str, number: u8) -> Result<(), MasterError> {
    let record = certificate(name, number);
    let sealed = &[number; 3];
    master.add_certificate(&NewStoredCertificate {
        record: &record,
        sealed,
    })
}

fn master_key(number: u8) -> StoredMasterKey {
    StoredMasterKey {
        secret: Zeroizing::new(vec![number; 32]),
        by_password: vec![number; 5],
    }
}

#[test]
fn there_is_one_master_key_and_it_stays_while_a_certificate_needs_it() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    assert_eq!(master.remove_master_key().unwrap(), Removal::Missing);
    assert!(master.add_master_key(&master_key(1), [1; 16]).unwrap());
    assert!(!master.add_master_key(&master_key(2), [2; 16]).unwrap());
    assert_eq!(*master.stored_master_key().unwrap().unwrap().secret, [1; 32]);
    assert_eq!(master.master_key().unwrap().unwrap().guid, [1; 16]);
    add(&master, "Cert", 7).unwrap();
    assert_eq!(master.remove_master_key().unwrap(), Removal::Needed("Cert".to_owned()));
    let renewed = master.replace_master_key(&master_key(3), |thumbprint, sealed| {
        assert_eq!((thumbprint, sealed), (&[7; 20][..], &[7; 3][..]));
        Ok(vec![8])
    });
    renewed.unwrap();
    assert_eq!(*master.stored_master_key().unwrap().unwrap().secret, [3; 32]);
    let id = master.certificate_named("CERT").unwrap().unwrap().id;
    assert_eq!(master.sealed_key(id).unwrap().unwrap(), [8]);
    let failed = master.replace_master_key(&master_key(4), |_, _| Err(MasterError::Unknown(String::new())));
    assert!(failed.is_err());
    assert_eq!(*master.stored_master_key().unwrap().unwrap().secret, [3; 32]);
    assert_eq!(master.remove_certificate("cert").unwrap(), Removal::Done);
    assert_eq!(master.remove_certificate("cert").unwrap(), Removal::Missing);
    assert_eq!(master.remove_master_key().unwrap(), Removal::Done);
    assert!(master.stored_master_key().unwrap().is_none());
}

#[test]
fn a_certificate_stays_while_a_database_needs_it_and_a_key_goes_with_its_database() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    add(&master, "one", 1).unwrap();
    add(&master, "two", 2).unwrap();
    for (name, number) in [("ONE", 3), ("three", 1)] {
        assert!(
            matches!(add(&master, name, number), Err(MasterError::Taken(_))),
            "{name}"
        );
    }
    let ids: Vec<i64> = master.certificates().unwrap().iter().map(|one| one.id).collect();
    assert_eq!(ids, [256, 257]);
    let database = master.add_database(&DatabaseName::new("d").unwrap()).unwrap();
    let mut key = EncryptionKeyRecord {
        database_id: database.id,
        protector: ProtectorId::Certificate(256),
        algorithm: "AES_256".to_owned(),
        slot: "00".to_owned(),
        created: 1,
        regenerated: 2,
        modified: 3,
        set: 4,
        scanned: 5,
        tde: Tde::ChangingKey,
    };
    master.store_encryption_key(&key).unwrap();
    assert_eq!(master.encryption_keys().unwrap(), [key.clone()]);
    assert_eq!(
        master.remove_certificate("one").unwrap(),
        Removal::Needed("d".to_owned())
    );
    master
        .change_encryption_key(database.id, |key, _| key.protector = ProtectorId::Certificate(257))
        .unwrap();
    key.protector = ProtectorId::Certificate(257);
    assert_eq!(master.encryption_key(database.id).unwrap(), Some(key.clone()));
    assert_eq!(master.remove_certificate("one").unwrap(), Removal::Done);
    // One that is gone can't be named.
    key.protector = ProtectorId::Certificate(256);
    assert!(master.store_encryption_key(&key).is_err());
    master.remove_database("d").unwrap();
    assert_eq!(master.encryption_key(database.id).unwrap(), None);
    assert_eq!(master.remove_certificate("two").unwrap(), Removal::Done);
    assert_eq!(master.certificates().unwrap(), []);
}
