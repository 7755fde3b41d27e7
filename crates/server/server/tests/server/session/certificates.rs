//! Master keys and certificates: made, saved, taken in elsewhere; and what is refused.

use std::path::Path;

use selenite::storage::Disk;
use selenite::{Access, Cell, Database};
use selenite_keyring::{Spec, open_by_password, write_key_file};
use selenite_types::Value;

use super::encryption::{MASTER_KEY, Taken, make_table, refused, run, state, wait_for_state, word};
use super::fixture::Fixture;

#[test]
fn a_certificate_is_backed_up_and_opens_the_database_elsewhere() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    make_table(&mut client, "d", 50);
    run(
        &mut client,
        &[
            MASTER_KEY,
            "CREATE CERTIFICATE c WITH SUBJECT = 'a ''subject''', START_DATE = '20200101', EXPIRY_DATE = '20991231'",
        ],
    );
    let backup = "BACKUP CERTIFICATE c TO FILE = 'c.cer' WITH PRIVATE KEY (FILE = 'c.pvk', ENCRYPTION BY PASSWORD = \
        'Saved-key-1')";
    run(&mut client, &[backup]);
    refused(
        &mut client,
        &[
            (15240, backup),
            (15240, "BACKUP CERTIFICATE c TO FILE = 'c.pvk'"),
            (
                15118,
                "BACKUP CERTIFICATE c TO FILE = 'x' WITH PRIVATE KEY (FILE = 'y', ENCRYPTION BY PASSWORD = 'weakweak')",
            ),
            (15151, "BACKUP CERTIFICATE nothing TO FILE = 'x'"),
        ],
    );
    assert!(!fixture.data_folder().join("x").exists());
    let key = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE c";
    let made = client.batch(&format!("USE d {key}"));
    assert!(made.said().iter().all(|said| said.number != 33091), "{made:?}");
    run(&mut client, &["ALTER DATABASE d SET ENCRYPTION ON"]);
    wait_for_state(&mut client, "d", 3);
    run(&mut client, &["USE master"]);
    let thumbprint = client.value("SELECT thumbprint FROM sys.certificates WHERE name = 'c'");
    refused(&mut client, &[(3716, "DROP CERTIFICATE c")]);
    drop(client);
    // The same data folder, another server.
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    run(&mut client, &["USE d"]);
    assert_eq!((client.int("SELECT COUNT(*) FROM t"), state(&mut client, "d")), (50, 3));

    let other = Fixture::new();
    take_in(&fixture.data_folder(), &other, &thumbprint);

    // And without a server's identity: the private key is one of the database.
    let folder = fixture.data_folder();
    let saved = std::fs::read(other.data_folder().join("c.pvk")).unwrap();
    let identity = open_by_password(&saved, "Saved-key-1", 65_536).unwrap();
    let path = other.data_folder().join("identity");
    write_key_file(&path, &identity).unwrap();
    let access = Access {
        identity: Some(Spec::Age(path)),
        ..Access::default()
    };
    let database = Database::open(&Disk, &folder.join("d.db"), &access).unwrap();
    let mut rows = Taken::default();
    database.run("SELECT count(*) FROM t", &mut rows).unwrap();
    assert_eq!(rows.0, [[Cell::Integer(50)]]);
}

/// Another server, which knows nothing about the certificate, gets it from its backup.
fn take_in(folder: &Path, other: &Fixture, thumbprint: &Value) {
    for file in ["c.cer", "c.pvk"] {
        std::fs::copy(folder.join(file), other.data_folder().join(file)).unwrap();
    }
    let mut second = other.client();
    let take = |password: &str, public: &str| {
        format!(
            "CREATE CERTIFICATE mine FROM FILE = '{public}' WITH PRIVATE KEY (FILE = 'c.pvk', DECRYPTION BY PASSWORD = '{password}')"
        )
    };
    refused(&mut second, &[(15581, &take("Saved-key-1", "c.cer"))]);
    run(&mut second, &[MASTER_KEY]);
    refused(
        &mut second,
        &[
            (15465, &take("Saved-key-2", "c.cer")),
            (15208, &take("Saved-key-1", "nothing.cer")),
            (15297, &take("Saved-key-1", "c.pvk")),
        ],
    );
    run(&mut second, &[&take("Saved-key-1", "c.cer")]);
    refused(&mut second, &[(15232, &take("Saved-key-1", "c.cer"))]);
    assert_eq!(second.value("SELECT thumbprint FROM sys.certificates"), *thumbprint);
    assert_eq!(word(&mut second, "SELECT subject FROM sys.certificates"), "a 'subject'");
}

#[test]
fn refusals_about_keys_have_sql_servers_numbers() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    run(&mut client, &["CREATE DATABASE d"]);
    refused(
        &mut client,
        &[
            (15581, "CREATE CERTIFICATE c WITH SUBJECT = 's'"),
            (15151, "DROP MASTER KEY"),
            (15151, "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'x'"),
            (15118, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'weakweak'"),
            (33161, "CREATE MASTER KEY"),
            (
                40510,
                "USE d BACKUP MASTER KEY TO FILE = 'k' ENCRYPTION BY PASSWORD = 'Strong-key-1'",
            ),
            (33104, "DROP DATABASE ENCRYPTION KEY"),
            (33106, "ALTER DATABASE d SET ENCRYPTION ON"),
            (5011, "ALTER DATABASE nothing SET ENCRYPTION ON"),
            (33102, "ALTER DATABASE master SET ENCRYPTION ON"),
            (40510, "ALTER DATABASE d SET ENCRYPTION ON WITH ROLLBACK IMMEDIATE"),
            (102, "ALTER DATABASE d SET ENCRYPTION PERHAPS"),
        ],
    );
}

#[test]
fn refusals_about_certificates_have_sql_servers_numbers() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    run(&mut client, &["CREATE DATABASE d"]);
    run(
        &mut client,
        &["USE master CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Strong-key-1'"],
    );
    run(&mut client, &["CREATE CERTIFICATE c WITH SUBJECT = 's'"]);
    refused(
        &mut client,
        &[
            (15578, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Strong-key-1'"),
            (15580, "DROP MASTER KEY"),
            (15232, "CREATE CERTIFICATE C WITH SUBJECT = 's'"),
            (15212, "CREATE CERTIFICATE e WITH SUBJECT = ''"),
            (
                15213,
                "CREATE CERTIFICATE e WITH SUBJECT = 's', EXPIRY_DATE = '20000101', START_DATE = '20010101'",
            ),
            (15151, "DROP CERTIFICATE nothing"),
            (15313, "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Strong-key-2'"),
            (
                33102,
                "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE c",
            ),
            (
                40510,
                "CREATE CERTIFICATE e ENCRYPTION BY PASSWORD = 'Strong-key-1' WITH SUBJECT = 's'",
            ),
        ],
    );
    run(
        &mut client,
        &[
            "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Strong-key-1'",
            "CLOSE MASTER KEY",
            "BACKUP MASTER KEY TO FILE = 'master.key' ENCRYPTION BY PASSWORD = 'Strong-key-3'",
            "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'Strong-key-2'",
            "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Strong-key-2'",
            "BACKUP CERTIFICATE c TO FILE = 'c' WITH PRIVATE KEY (FILE = 'k', ENCRYPTION BY PASSWORD = 'Strong-key-1')",
        ],
    );
    let keys = client.batch("SELECT name, symmetric_key_id, algorithm_desc FROM sys.symmetric_keys");
    let text = |value: &str| Value::Text(value.into());
    assert_eq!(
        keys.rows(),
        [[text("##MS_DatabaseMasterKey##"), Value::Int(101), text("AES_256")]]
    );
    let opened = "SELECT is_master_key_encrypted_by_server FROM sys.databases WHERE database_id = 1";
    assert_eq!(client.value(opened), Value::Bit(true));
    refused(
        &mut client,
        &[
            (
                15151,
                "USE d CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE e",
            ),
            (
                40510,
                "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_512 ENCRYPTION BY SERVER CERTIFICATE c",
            ),
            (226, "BEGIN TRAN ALTER DATABASE d SET ENCRYPTION ON"),
            (40510, "USE master DROP CERTIFICATE c"),
        ],
    );
    run(&mut client, &["ROLLBACK", "DROP CERTIFICATE c", "DROP MASTER KEY"]);
}

#[test]
fn a_master_key_comes_back_from_its_backup_with_all_that_it_seals() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let restore = |file: &str, by: &str| {
        format!(
            "RESTORE MASTER KEY FROM FILE = '{file}' DECRYPTION BY PASSWORD = '{by}' ENCRYPTION BY PASSWORD = 'Strong-key-4'"
        )
    };
    run(
        &mut client,
        &[
            "USE master CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Strong-key-1'",
            "BACKUP MASTER KEY TO FILE = 'm' ENCRYPTION BY PASSWORD = 'Strong-key-2'",
            "CREATE CERTIFICATE c WITH SUBJECT = 's'",
            "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'Strong-key-3'",
            "BACKUP CERTIFICATE c TO FILE = 'c' WITH PRIVATE KEY (FILE = 'k', ENCRYPTION BY PASSWORD = 'Strong-key-1')",
        ],
    );
    let right = restore("m", "Strong-key-2");
    refused(
        &mut client,
        &[
            (15317, &restore("m", "Strong-key-1")),
            (15317, &restore("nothing", "Strong-key-2")),
            (15317, &restore("../m", "Strong-key-2")),
            (15317, &restore("k", "Strong-key-1")),
            (40510, &format!("{right} FORCE")),
            (15118, &right.replace("Strong-key-4", "weakweak")),
        ],
    );
    run(
        &mut client,
        &[
            "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Strong-key-3'",
            &right,
            "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Strong-key-4'",
            "BACKUP CERTIFICATE c TO FILE = 'c2' WITH PRIVATE KEY (FILE = 'k2', ENCRYPTION BY PASSWORD = 'Strong-key-1')",
            "DROP CERTIFICATE c",
            "DROP MASTER KEY",
            &right,
            "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Strong-key-4'",
            "CREATE CERTIFICATE c FROM FILE = 'c2' WITH PRIVATE KEY (FILE = 'k2', DECRYPTION BY PASSWORD = 'Strong-key-1')",
        ],
    );
    refused(
        &mut client,
        &[(15313, "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Strong-key-3'")],
    );
}
