use super::super::tests::create;
use super::super::{DatabaseName, EncryptionKeyRecord, ProtectorId, Tde};
use super::*;

fn add_key(master: &Master, name: &str, provider_id: i64, number: u8) -> Result<(), MasterError> {
    master.add_asymmetric_key(&AsymmetricKeyRecord {
        id: 0,
        name: name.to_owned(),
        provider_id,
        command: format!("command-{number}"),
        thumbprint: vec![number; 20],
    })
}

fn needed(what: &str) -> Removal {
    Removal::Needed(what.to_owned())
}

#[test]
fn a_provider_stays_while_a_credential_or_a_key_needs_it() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    master.add_provider("one", [1; 16], "/m").unwrap();
    assert!(matches!(
        master.add_provider("ONE", [2; 16], "/n"),
        Err(MasterError::Taken(_))
    ));
    let provider = master.providers().unwrap().remove(0);
    assert!(provider.is_enabled && provider.guid == [1; 16]);
    master.change_provider(provider.id, "/n", false).unwrap();
    let changed = master.providers().unwrap().remove(0);
    assert!(!changed.is_enabled && changed.path == "/n" && changed.guid == [1; 16]);

    master.add_credential("c", "i", provider.id).unwrap();
    assert_eq!(master.remove_provider("one").unwrap(), needed("credential"));
    assert_eq!(master.remove_credential("C").unwrap(), Removal::Done);
    add_key(&master, "k", provider.id, 1).unwrap();
    for (name, number) in [("K", 2), ("other", 1)] {
        assert!(matches!(
            add_key(&master, name, provider.id, number),
            Err(MasterError::Taken(_))
        ));
    }
    assert_eq!(master.remove_provider("one").unwrap(), needed("asymmetric key"));
    assert_eq!(master.remove_asymmetric_key("k").unwrap(), Removal::Done);
    assert_eq!(master.remove_provider("One").unwrap(), Removal::Done);
    for removed in [
        master.remove_provider("one"),
        master.remove_credential("c"),
        master.remove_asymmetric_key("k"),
    ] {
        assert_eq!(removed.unwrap(), Removal::Missing);
    }
    // A provider that is gone can't be named.
    assert!(master.add_credential("c", "i", provider.id).is_err());
    assert!(add_key(&master, "k", provider.id, 1).is_err());
}

#[test]
fn a_login_has_one_credential_of_each_provider() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    for (provider, credentials) in [("p", ["a", "b"]), ("q", ["c", "d"])] {
        master.add_provider(provider, [1; 16], provider).unwrap();
        let id = master.providers().unwrap().last().unwrap().id;
        for credential in credentials {
            master.add_credential(credential, "i", id).unwrap();
        }
    }
    let all = master.credentials().unwrap();
    let map = |at: usize| master.map_credential(1, &all[at]).unwrap();
    assert_eq!((map(0), map(2)), (Mapping::Done, Mapping::Done));
    assert_eq!([map(0), map(1), map(3)], [Mapping::Taken; 3]);
    assert_eq!(master.login_credentials().unwrap(), [(1, all[0].id), (1, all[2].id)]);
    assert_eq!(master.remove_credential("a").unwrap(), needed("sa"));
    assert!(master.unmap_credential(1, all[0].id).unwrap());
    assert!(!master.unmap_credential(1, all[0].id).unwrap());
    assert_eq!(master.remove_credential("a").unwrap(), Removal::Done);
    assert!(master.change_credential("B", "other").unwrap() && !master.change_credential("a", "i").unwrap());
    assert_eq!(master.credentials().unwrap()[0].identity, "other");
}

#[test]
fn a_key_stays_while_a_database_needs_it_and_older_tables_are_replaced() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    master.add_provider("p", [1; 16], "p").unwrap();
    add_key(&master, "k", master.providers().unwrap()[0].id, 1).unwrap();
    let database = master.add_database(&DatabaseName::new("d").unwrap()).unwrap();
    let old = "
        DROP TABLE selenite_encryption_key;
        CREATE TABLE selenite_encryption_key (
            database_id INTEGER PRIMARY KEY REFERENCES selenite_database (id) ON DELETE CASCADE,
            certificate_id INTEGER NOT NULL REFERENCES selenite_certificate (id),
            algorithm TEXT NOT NULL, slot TEXT NOT NULL, created INTEGER NOT NULL, regenerated INTEGER NOT NULL,
            modified INTEGER NOT NULL, switched INTEGER NOT NULL, scanned INTEGER NOT NULL, tde TEXT NOT NULL
        ) STRICT;
        INSERT INTO selenite_certificate VALUES (256, 'c', 'c', x'00', x'00', x'00', 's', 'age1x', 1, 2, x'00', 0);
        INSERT INTO selenite_encryption_key VALUES (5, 256, 'AES_256', '00', 1, 2, 3, 4, 5, 'on');";
    assert_eq!(database.id, 5);
    master.with(|connection| Ok(connection.execute_batch(old)?)).unwrap();
    for _ in 0..2 {
        master.with(super::super::schema::create).unwrap();
    }
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
        tde: Tde::On,
    };
    assert_eq!(master.encryption_keys().unwrap(), [key.clone()]);
    key.protector = ProtectorId::AsymmetricKey(master.asymmetric_keys().unwrap()[0].id);
    master.store_encryption_key(&key).unwrap();
    assert_eq!(master.encryption_key(database.id).unwrap(), Some(key));
    assert_eq!(master.remove_asymmetric_key("k").unwrap(), needed("d"));
    assert_eq!(master.remove_certificate("c").unwrap(), Removal::Done);
    master.remove_database("d").unwrap();
    assert_eq!(master.remove_asymmetric_key("k").unwrap(), Removal::Done);
}
