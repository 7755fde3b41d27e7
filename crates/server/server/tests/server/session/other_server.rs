//! An encrypted database on another server, as SQL Server moves one: by its backup, and its certificate with the
//! private key.

use selenite_types::Value;

use super::client::{Client, numbers};
use super::encryption::{MASTER_KEY, make_table, refused, run, state, wait_for_state, word};
use super::fixture::Fixture;

/// Fails by these, and answers the text of the first.
fn fails(client: &mut Client, sql: &str, expected: &[i32]) -> String {
    let answer = client.batch(sql);
    assert_eq!(numbers(&answer), expected, "{sql}: {answer:?}");
    answer.said()[0].text.clone()
}

/// A server's database `d`, encrypted under a certificate, and both saved to a folder; the certificate's thumbprint.
fn saved(at: impl Fn(&str) -> String) -> String {
    let fixture = Fixture::of_key(7);
    let mut client = fixture.client();
    make_table(&mut client, "d", 300);
    run(
        &mut client,
        &[
            MASTER_KEY,
            "CREATE CERTIFICATE c WITH SUBJECT = 'moves'",
            "USE d",
            "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_192 ENCRYPTION BY SERVER CERTIFICATE c",
            "ALTER DATABASE d SET ENCRYPTION ON",
        ],
    );
    wait_for_state(&mut client, "d", 3);
    run(
        &mut client,
        &[
            "USE master",
            &format!(
                "BACKUP CERTIFICATE c TO FILE = '{}' WITH PRIVATE KEY (FILE = '{}', ENCRYPTION BY PASSWORD = 'pa$$W0rd--')",
                at("c.cer"),
                at("c.pvk")
            ),
            &format!("BACKUP DATABASE d TO DISK = '{}'", at("d.bak")),
        ],
    );
    let thumbprint = word(
        &mut client,
        "SELECT CONVERT(VARCHAR(50), thumbprint, 1) FROM sys.certificates WHERE name = 'c'",
    );
    fixture.stop();
    thumbprint
}

#[test]
fn a_database_moves_to_another_server_with_its_certificate_and_not_without() {
    let shared = tempfile::tempdir().unwrap();
    let at = |name: &str| shared.path().join(name).display().to_string();
    let thumbprint = saved(at);
    let fixture = Fixture::of_key(8);
    let mut client = fixture.client();
    let restore = format!("RESTORE DATABASE d FROM DISK = '{}'", at("d.bak"));
    let verify = format!("RESTORE VERIFYONLY FROM DISK = '{}'", at("d.bak"));
    for sql in [&restore, &verify] {
        let text = fails(&mut client, sql, &[33111, 3013]);
        assert_eq!(
            text,
            format!("Cannot find server certificate with thumbprint '{thumbprint}'.")
        );
    }
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.databases WHERE name = 'd'"), 0);
    assert!(!fixture.data_folder().join("d.db").exists());
    run(
        &mut client,
        &[
            "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'an0ther-one'",
            &format!(
                "CREATE CERTIFICATE moved FROM FILE = '{}' WITH PRIVATE KEY (FILE = '{}', DECRYPTION BY PASSWORD = 'pa$$W0rd--')",
                at("c.cer"),
                at("c.pvk")
            ),
            &verify,
            &restore,
        ],
    );
    is_there(&mut client);
    refused(&mut client, &[(3716, "DROP CERTIFICATE moved")]);
    // From here on it is the server's own identity that opens it.
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    is_there(&mut client);
    run(
        &mut client,
        &[
            "CREATE CERTIFICATE own WITH SUBJECT = 'own'",
            "USE d",
            "ALTER DATABASE ENCRYPTION KEY ENCRYPTION BY SERVER CERTIFICATE own",
            "USE master",
            "DROP CERTIFICATE moved",
        ],
    );
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    is_there(&mut client);
    run(
        &mut client,
        &[
            "BACKUP DATABASE d TO DISK = 'own.bak'",
            "RESTORE DATABASE again FROM DISK = 'own.bak'",
        ],
    );
    fails(
        &mut client,
        &format!("RESTORE DATABASE third FROM DISK = '{}'", at("d.bak")),
        &[33111, 3013],
    );
}

fn is_there(client: &mut Client) {
    run(client, &["USE d"]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 300);
    run(
        client,
        &[
            "INSERT t (name) VALUES ('new')",
            "DELETE t WHERE name = 'new'",
            "USE master",
        ],
    );
    assert_eq!(state(client, "d"), 3);
    let algorithm = "SELECT key_length FROM sys.dm_database_encryption_keys WHERE database_id = DB_ID('d') AND encryptor_type \
        = 'CERTIFICATE'";
    assert_eq!(client.value(algorithm), Value::Int(192));
}
