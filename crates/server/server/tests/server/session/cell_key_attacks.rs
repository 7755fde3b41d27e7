//! Who may use keys that encrypt values, forged catalogs, and what is found in files and logs.

use std::process::Command;

use selenite_types::Value;

use super::cell_keys::{PASSWORD, in_database};
use super::client::{Client, all_fail, fails, numbers, succeed};
use super::encryption::run;
use super::fixture::Fixture;

/// An administrator in a database with keys, and ann, who is a user of it.
fn with_ann(fixture: &Fixture) -> (Client, Client) {
    let mut client = in_database(fixture);
    let password = fixture.password().to_owned();
    let login = format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}'");
    let master = format!("CREATE MASTER KEY ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    let key =
        format!("CREATE SYMMETRIC KEY k WITH ALGORITHM = AES_256 ENCRYPTION BY PASSWORD = '{PASSWORD}', CERTIFICATE c");
    run(
        &mut client,
        &[
            &login,
            "CREATE USER ann FOR LOGIN ann",
            &master,
            "CREATE CERTIFICATE c WITH SUBJECT = 's'",
            &key,
            "CREATE TABLE t (v varbinary(8000))",
            "GRANT SELECT, INSERT ON t TO ann",
            "OPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c",
            "INSERT t SELECT ENCRYPTBYKEY(KEY_GUID('k'), 'clear')",
        ],
    );
    assert_ne!(password, PASSWORD);
    (client, fixture.client_as("ann", PASSWORD, "d"))
}

#[test]
fn a_user_without_permission_on_a_key_neither_sees_nor_uses_it() {
    let fixture = Fixture::new();
    let (_client, mut ann) = with_ann(&fixture);
    let by_password = format!("OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = '{PASSWORD}'");
    let by_certificate = "OPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c";
    let by = format!("ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    all_fail(
        &mut ann,
        &[
            (15151, &by_password),
            (15151, by_certificate),
            (15151, "DROP SYMMETRIC KEY k"),
            (15151, "DROP CERTIFICATE c"),
            (15151, "ALTER SYMMETRIC KEY k ADD ENCRYPTION BY PASSWORD = 'a'"),
            (
                15151,
                "ALTER CERTIFICATE c WITH PRIVATE KEY (ENCRYPTION BY PASSWORD = 'a')",
            ),
            (15247, &format!("CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_256 {by}")),
            (
                15247,
                &format!("CREATE ASYMMETRIC KEY x WITH ALGORITHM = RSA_2048 {by}"),
            ),
            (15247, &format!("CREATE CERTIFICATE x {by} WITH SUBJECT = 's'")),
            (15247, &format!("OPEN MASTER KEY DECRYPTION BY PASSWORD = '{PASSWORD}'")),
            (15247, "CLOSE MASTER KEY"),
            (15247, "DROP MASTER KEY"),
            (15247, &format!("CREATE MASTER KEY {by}")),
            (15247, "ALTER MASTER KEY DROP ENCRYPTION BY SERVICE MASTER KEY"),
            (15247, &format!("ALTER MASTER KEY REGENERATE WITH {by}")),
            (15151, "GRANT CONTROL ON CERTIFICATE::c TO ann"),
        ],
    );
    for call in [
        "KEY_GUID('k')",
        "KEY_ID('k')",
        "CERT_ID('c')",
        "CERTENCODED(256)",
        "SIGNBYCERT(256, 'a')",
        "ENCRYPTBYCERT(256, 'a')",
        "DECRYPTBYKEY((SELECT v FROM t))",
        "KEY_NAME((SELECT v FROM t))",
        "DECRYPTBYKEYAUTOCERT(256, NULL, (SELECT v FROM t))",
    ] {
        assert_eq!(ann.value(&format!("SELECT {call}")), Value::Null, "{call}");
    }
    for view in ["symmetric_keys", "certificates", "asymmetric_keys", "key_encryptions"] {
        assert_eq!(ann.int(&format!("SELECT COUNT(*) FROM sys.{view}")), 0, "{view}");
    }
}

#[test]
fn a_user_opens_a_key_with_some_permission_on_it_and_control_of_what_decrypts_it() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = with_ann(&fixture);
    let by_password = format!("OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = '{PASSWORD}'");
    let by_certificate = "OPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c";
    succeed(&mut client, "GRANT VIEW DEFINITION ON SYMMETRIC KEY::k TO ann");
    fails(&mut ann, 15151, by_certificate);
    succeed(&mut ann, &by_password);
    assert_ne!(ann.value("SELECT DECRYPTBYKEY(v) FROM t"), Value::Null);
    succeed(&mut ann, "CLOSE ALL SYMMETRIC KEYS");
    run(
        &mut client,
        &[
            "DENY VIEW DEFINITION ON SYMMETRIC KEY::k TO ann",
            "GRANT REFERENCES ON SYMMETRIC KEY::k TO ann",
        ],
    );
    fails(&mut ann, 15151, &by_password);
    run(
        &mut client,
        &[
            "REVOKE VIEW DEFINITION ON SYMMETRIC KEY::k FROM ann",
            "GRANT VIEW DEFINITION ON CERTIFICATE::c TO ann",
        ],
    );
    fails(&mut ann, 15151, by_certificate);
    assert_eq!(ann.value("SELECT SIGNBYCERT(CERT_ID('c'), 'a')"), Value::Null);
    assert_ne!(ann.value("SELECT ENCRYPTBYCERT(CERT_ID('c'), 'a')"), Value::Null);
    assert_eq!(
        ann.value("SELECT DECRYPTBYKEYAUTOCERT(CERT_ID('c'), NULL, v) FROM t"),
        Value::Null
    );
    succeed(&mut client, "GRANT CONTROL ON CERTIFICATE::c TO ann");
    succeed(&mut ann, by_certificate);
    assert_ne!(
        ann.value("SELECT DECRYPTBYKEYAUTOCERT(CERT_ID('c'), NULL, v) FROM t"),
        Value::Null
    );
    assert_eq!(ann.int("SELECT HAS_PERMS_BY_NAME('c', 'CERTIFICATE', 'CONTROL') + HAS_PERMS_BY_NAME('k', 'SYMMETRIC KEY', 'CONTROL')"), 1);
    let shown = "SELECT COUNT(*) FROM sys.database_permissions WHERE class IN (24, 25) AND grantee_principal_id = USER_ID('ann')";
    assert_eq!(client.int(shown), 3);
}

#[test]
fn a_key_is_its_owners_and_an_open_one_stays_open_in_another_context() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = with_ann(&fixture);
    let by = format!("ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    let create = format!("CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_256 {by}");
    succeed(&mut client, "GRANT CREATE SYMMETRIC KEY TO ann");
    succeed(&mut ann, &create);
    let open = format!("OPEN SYMMETRIC KEY x DECRYPTION BY PASSWORD = '{PASSWORD}'");
    run(
        &mut ann,
        &[
            &open,
            "ALTER SYMMETRIC KEY x ADD ENCRYPTION BY PASSWORD = 'second-Pass2'",
            "CLOSE SYMMETRIC KEY x",
        ],
    );
    fails(&mut client, 15138, "DROP USER ann");
    succeed(&mut client, "CREATE ROLE r");
    fails(
        &mut client,
        15345,
        &format!("CREATE SYMMETRIC KEY y AUTHORIZATION r WITH ALGORITHM = AES_256 {by}"),
    );
    fails(
        &mut ann,
        15151,
        &format!("CREATE SYMMETRIC KEY y AUTHORIZATION dbo WITH ALGORITHM = AES_256 {by}"),
    );
    succeed(&mut ann, "DROP SYMMETRIC KEY x");
    // k is open in the administrator's session, in every security context.
    succeed(&mut client, "EXECUTE AS USER = 'ann'");
    assert_ne!(client.value("SELECT DECRYPTBYKEY(v) FROM t"), Value::Null);
    assert_eq!(client.value("SELECT KEY_GUID('k')"), Value::Null);
    fails(&mut client, 15151, "CLOSE SYMMETRIC KEY k");
    run(&mut client, &["CLOSE ALL SYMMETRIC KEYS", "REVERT"]);
    assert_eq!(client.value("SELECT DECRYPTBYKEY(v) FROM t"), Value::Null);
    run(
        &mut client,
        &[
            "GRANT VIEW DEFINITION ON SYMMETRIC KEY::k TO ann",
            "DROP SYMMETRIC KEY k",
        ],
    );
    let rows = "SELECT COUNT(*) FROM sys.database_permissions WHERE class = 24";
    assert_eq!(client.int(rows), 0);
}

#[test]
fn forged_rows_open_no_key_and_stop_no_database() {
    let fixture = Fixture::new();
    let (mut client, _ann) = with_ann(&fixture);
    let by = format!("ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    run(
        &mut client,
        &[
            "CLOSE ALL SYMMETRIC KEYS",
            &format!("CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_256 {by}"),
        ],
    );
    let forge = |sql: &str| forge(&fixture, sql);
    let open = format!("OPEN SYMMETRIC KEY x DECRYPTION BY PASSWORD = '{PASSWORD}'");
    // The secret of another key, under the same password.
    let take = |from: &str| {
        format!(
            "UPDATE selenite_key_encryption SET sealed = (SELECT sealed FROM selenite_key_encryption JOIN selenite_key USING \
             (kind, id) WHERE name = '{from}' AND encryptor = 'password') WHERE encryptor = 'password' AND (kind, id) = \
             (SELECT kind, id FROM selenite_key WHERE name = 'x')"
        )
    };
    succeed(&mut client, &open);
    succeed(&mut client, "CLOSE SYMMETRIC KEY x");
    forge(&take("k"));
    fails(&mut client, 15313, &open);
    for (number, sealed) in [
        (15507, "x'00'"),
        (15507, "zeroblob(16000)"),
        (15313, "zeroblob(17000)"),
        (15507, "x''"),
    ] {
        forge(&format!(
            "UPDATE selenite_key_encryption SET sealed = {sealed} WHERE encryptor = 'password'"
        ));
        fails(&mut client, number, &open);
    }
    // An age file whose password costs 2^40 blocks.
    let costly = "age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 40\n\
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n";
    let digits: String = costly.bytes().map(|byte| format!("{byte:02x}")).collect();
    forge(&format!(
        "UPDATE selenite_key_encryption SET sealed = x'{digits}' WHERE encryptor = 'password'"
    ));
    fails(&mut client, 15507, &open);
    // A public key that is none, rows of another version, and what refers to nothing.
    forge("UPDATE selenite_key SET public = x'3000' WHERE kind = 'certificate'");
    assert_eq!(client.value("SELECT ENCRYPTBYCERT(CERT_ID('c'), 'a')"), Value::Null);
    fails(
        &mut client,
        15507,
        "CREATE SYMMETRIC KEY y WITH ALGORITHM = AES_256 ENCRYPTION BY CERTIFICATE c",
    );
    forge(
        "INSERT INTO selenite_key_encryption (kind, id, encryptor, encryptor_id, sealed) VALUES ('quantum', 1, 'password', 0, x''), \
         ('symmetric', 999, 'certificate', 256, x''), ('symmetric', 256, 'moon', 0, x''); \
         INSERT INTO selenite_key SELECT kind, 1000, 'z', owner, algorithm, x'00', public, certificate, subject, serial, 0, 0, \
         0, 0 FROM selenite_key WHERE name = 'x'",
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.symmetric_keys WHERE name = 'z'"),
        0
    );
    fails(&mut client, 15507, "OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = 'a'");
    // The certificate's own private key is still right.
    succeed(&mut client, "OPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c");
    assert_ne!(client.value("SELECT DECRYPTBYKEY(v) FROM t"), Value::Null);
}

#[test]
fn two_sessions_do_not_drop_both_passwords_of_a_master_key() {
    let fixture = Fixture::new();
    let mut client = in_database(&fixture);
    let mut other = fixture.client();
    let second = "Second-l0ng-one";
    let drops = |password: &str| format!("ALTER MASTER KEY DROP ENCRYPTION BY PASSWORD = '{password}'");
    run(
        &mut client,
        &[
            &format!("CREATE MASTER KEY ENCRYPTION BY PASSWORD = '{PASSWORD}'"),
            &format!("ALTER MASTER KEY ADD ENCRYPTION BY PASSWORD = '{second}'"),
            "BEGIN TRANSACTION",
            &drops(PASSWORD),
        ],
    );
    succeed(&mut other, "USE d");
    other.ask(&drops(second));
    // It has found its password among two, and waits to write.
    let waits = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'DATABASE' AND request_status = 'WAIT'";
    while client.int(waits) == 0 {}
    succeed(&mut client, "COMMIT");
    assert_eq!(numbers(&other.answer().unwrap()), [15558]);
    let open = format!("OPEN MASTER KEY DECRYPTION BY PASSWORD = '{second}'");
    succeed(&mut other, &open);
}

#[test]
fn a_key_has_at_most_ten_passwords_however_they_were_added() {
    let fixture = Fixture::new();
    let (mut client, _ann) = with_ann(&fixture);
    forge(
        &fixture,
        "INSERT INTO selenite_key_encryption (kind, id, encryptor, encryptor_id, sealed) \
         SELECT e.kind, e.id, encryptor, encryptor_id, sealed FROM selenite_key_encryption e, json_each('[1,2,3,4,5,6,7,8,9]') \
         WHERE encryptor = 'password'",
    );
    fails(
        &mut client,
        40510,
        "ALTER SYMMETRIC KEY k ADD ENCRYPTION BY PASSWORD = 'Second-l0ng-one'",
    );
    fails(
        &mut client,
        40510,
        "ALTER MASTER KEY ADD ENCRYPTION BY PASSWORD = 'Second-l0ng-one'",
    );
    succeed(&mut client, "ALTER MASTER KEY ADD ENCRYPTION BY SERVICE MASTER KEY");
}

#[test]
fn the_tables_of_keys_are_not_for_statements() {
    let fixture = Fixture::new();
    let (mut client, _ann) = with_ann(&fixture);
    for table in ["selenite_key", "selenite_key_encryption"] {
        for sql in [
            format!("SELECT * FROM {table}"),
            format!("DELETE {table}"),
            format!("CREATE TABLE {table} (a int)"),
        ] {
            let answer = client.batch(&sql);
            assert!(!answer.errors().is_empty(), "{sql}: {answer:?}");
        }
    }
    assert_ne!(client.value("SELECT KEY_ID('k')"), Value::Null);
}

/// Changes the file of the database as another process would, and its schema, by which a server sees that.
pub fn forge(fixture: &Fixture, sql: &str) {
    let connection = fixture.in_sqlite("d");
    connection.execute_batch(sql).unwrap();
    connection
        .execute_batch("CREATE TABLE forged (a); DROP TABLE forged")
        .unwrap();
}

/// Whether a folder's files have these bytes in them. Another program looks: this one would lose its locks.
fn is_in_files(fixture: &Fixture, text: &str) -> bool {
    let found = Command::new("grep")
        .args(["-r", "-q", "-a", "-F", text])
        .arg(fixture.data_folder())
        .status();
    match found.unwrap().code() {
        Some(0) => true,
        Some(1) => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_password_and_no_key_is_in_a_file_or_an_error() {
    let fixture = Fixture::with(|config| config.new_databases = selenite_server::NewDatabases::Clear);
    let mut client = in_database(&fixture);
    let marks = [
        "Mark-of-master-1",
        "Mark-of-symmetric-2",
        "Mark-of-pair-3",
        "Mark-of-other-4",
    ];
    run(
        &mut client,
        &[
            "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Mark-of-master-1'",
            "CREATE CERTIFICATE c WITH SUBJECT = 'Mark of the subject'",
            "CREATE ASYMMETRIC KEY a WITH ALGORITHM = RSA_2048 ENCRYPTION BY PASSWORD = 'Mark-of-pair-3'",
            "CREATE SYMMETRIC KEY k WITH ALGORITHM = AES_256 ENCRYPTION BY PASSWORD = 'Mark-of-symmetric-2', CERTIFICATE c",
            "OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = 'Mark-of-symmetric-2'",
            "ALTER SYMMETRIC KEY k ADD ENCRYPTION BY PASSWORD = 'Mark-of-other-4'",
            "CREATE TABLE t (v varbinary(8000))",
            "INSERT t SELECT ENCRYPTBYKEY(KEY_GUID('k'), 'Mark-of-the-clear-text')",
            "CHECKPOINT",
        ],
    );
    for mark in marks {
        let batch = format!(
            "OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = '{mark}!' OPEN MASTER KEY DECRYPTION BY PASSWORD = '{mark}!'"
        );
        for said in client.batch(&batch).said() {
            assert!(!said.text.contains("Mark-of"), "{}", said.text);
        }
    }
    assert!(is_in_files(&fixture, "Mark of the subject"), "the file is in plaintext");
    for mark in marks {
        assert!(!is_in_files(&fixture, mark), "{mark}");
    }
    assert!(!is_in_files(&fixture, "Mark-of-the-clear-text"));
    // The first bytes of a private key in DER, after its length: version 0 and rsaEncryption.
    let der = ["3082", "020100300d06092a864886f70d010101"];
    let connection = fixture.in_sqlite("d");
    let sql = "SELECT sum(instr(hex(sealed), upper(?1)) > 0) FROM selenite_key_encryption";
    let found: i64 = connection.query_row(sql, [der[1]], |row| row.get(0)).unwrap();
    assert_eq!(found, 0);
}
