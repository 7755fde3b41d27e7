//! Keys of a database that encrypt values: symmetric keys, certificates, key pairs and the master key.

use selenite_types::Value;

use super::cell_key_attacks::forge;
use super::client::{Client, all_fail, fails, succeed};
use super::encryption::{run, word};
use super::fixture::Fixture;

pub const PASSWORD: &str = "pGFD4bb925DGvbd2439587y";
const OPEN: &str = "OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = 'pGFD4bb925DGvbd2439587y'";

/// A client in a database of its own.
pub fn in_database(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    run(&mut client, &["CREATE DATABASE d", "USE d"]);
    client
}

fn with_key(fixture: &Fixture) -> Client {
    let mut client = in_database(fixture);
    let create = format!("CREATE SYMMETRIC KEY k WITH ALGORITHM = AES_256 ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    run(&mut client, &[&create, "CREATE TABLE t (id int, v varbinary(8000))"]);
    client
}

#[test]
fn a_value_is_encrypted_with_an_open_key_and_decrypted_while_it_is_open() {
    let fixture = Fixture::new();
    let mut client = with_key(&fixture);
    let encrypt = "INSERT t SELECT 1, ENCRYPTBYKEY(KEY_GUID('k'), N'clear')";
    succeed(&mut client, encrypt);
    assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE v IS NULL"), 1);
    run(&mut client, &["DELETE t", OPEN, encrypt, OPEN]);
    let decrypted = "SELECT CONVERT(nvarchar(99), DECRYPTBYKEY(v)) FROM t";
    assert_eq!(word(&mut client, decrypted), "clear");
    assert_eq!(client.int("SELECT DATALENGTH(v) FROM t"), 16 + 4 + 16 + 32);
    let layout = "SELECT CASE WHEN CONVERT(uniqueidentifier, SUBSTRING(v, 1, 16)) = KEY_GUID('k') \
        AND SUBSTRING(v, 17, 4) = 0x01000000 AND KEY_NAME(v) = 'k' AND KEY_NAME(KEY_GUID('K')) = 'k' THEN 1 END FROM t";
    assert_eq!(client.int(layout), 1);
    let differs =
        "SELECT CASE WHEN ENCRYPTBYKEY(KEY_GUID('k'), 'a') = ENCRYPTBYKEY(KEY_GUID('k'), 'a') THEN 0 ELSE 1 END";
    assert_eq!(client.int(differs), 1);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.openkeys WHERE key_name = 'k' AND database_id = DB_ID() AND status = 1"),
        1
    );
    succeed(&mut client, "CLOSE SYMMETRIC KEY k");
    assert_eq!(client.value(decrypted), Value::Null);
    fails(&mut client, 15315, "CLOSE SYMMETRIC KEY k");
    succeed(&mut client, "CLOSE ALL SYMMETRIC KEYS");
    let wrong = "OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = 'another'";
    fails(&mut client, 15313, wrong);
    assert_eq!(client.value(decrypted), Value::Null);
}

#[test]
fn an_authenticator_and_altered_bytes_make_null() {
    let fixture = Fixture::new();
    let mut client = with_key(&fixture);
    run(
        &mut client,
        &[
            OPEN,
            "INSERT t SELECT 7, ENCRYPTBYKEY(KEY_GUID('k'), 'clear', 1, 'row 7')",
        ],
    );
    let with = |client: &mut Client, more: &str| client.value(&format!("SELECT DECRYPTBYKEY(v{more}) FROM t"));
    assert_eq!(with(&mut client, ", 1, 'row 7'"), Value::Binary(b"clear"[..].into()));
    for more in ["", ", 1, 'row 8'", ", 0, 'row 7'", ", 1"] {
        assert_eq!(with(&mut client, more), Value::Null, "{more}");
    }
    let altered = "DECLARE @v varbinary(8000) = (SELECT v FROM t), @i int = 1, @found int = 0 WHILE @i <= DATALENGTH(@v) BEGIN \
        IF DECRYPTBYKEY(SUBSTRING(@v, 1, @i - 1) + CONVERT(binary(1), SUBSTRING(@v, @i, 1) ^ 1) + \
        SUBSTRING(@v, @i + 1, 8000), 1, 'row 7') IS NOT NULL OR DECRYPTBYKEY(SUBSTRING(@v, 1, @i - 1), 1, 'row 7') \
        IS NOT NULL SET @found += 1 SET @i += 1 END SELECT @found";
    assert_eq!(client.int(altered), 0);
    assert_eq!(client.value("SELECT DECRYPTBYKEY(0x)"), Value::Null);
    let long = |count: usize| format!("SELECT DATALENGTH(ENCRYPTBYKEY(KEY_GUID('k'), REPLICATE('a', {count})))");
    assert_eq!(client.int(&long(7943)), 16 + 4 + 16 + 7952);
    fails(&mut client, 8152, &long(7960));
    assert_eq!(client.value("SELECT ENCRYPTBYKEY(NEWID(), 'a')"), Value::Null);
    assert_eq!(client.value("SELECT ENCRYPTBYKEY(KEY_GUID('none'), 'a')"), Value::Null);
}

#[test]
fn an_open_key_is_of_its_session_and_database_until_the_session_is_reset() {
    let fixture = Fixture::new();
    let mut client = with_key(&fixture);
    run(
        &mut client,
        &[OPEN, "INSERT t SELECT 1, ENCRYPTBYKEY(KEY_GUID('k'), 'clear')"],
    );
    let decrypted = "SELECT DECRYPTBYKEY(v) FROM d.dbo.t";
    let mut other = fixture.client();
    succeed(&mut other, "USE d");
    assert_eq!(other.value(decrypted), Value::Null);
    assert_eq!(other.int("SELECT COUNT(*) FROM sys.openkeys"), 0);
    run(&mut client, &["CREATE DATABASE e", "USE e"]);
    assert_eq!(client.value("SELECT KEY_GUID('k')"), Value::Null);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.openkeys WHERE database_name = 'd'"),
        1
    );
    succeed(&mut client, "USE d");
    assert_ne!(client.value(decrypted), Value::Null);
    let reset = client.batch_after_reset("USE d SELECT COUNT(*) FROM sys.openkeys");
    assert_eq!(reset.rows(), [[Value::Int(0)]]);
    assert_eq!(client.value(decrypted), Value::Null);
    // A procedure opens it for its caller.
    let procedure = format!("CREATE PROCEDURE p AS {OPEN}");
    run(&mut client, &[&procedure, "EXEC p"]);
    assert_ne!(client.value(decrypted), Value::Null);
}

#[test]
fn what_creates_a_key_is_rolled_back_with_its_transaction() {
    let fixture = Fixture::new();
    let mut client = with_key(&fixture);
    let made = format!("CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_128 ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    let open = format!("OPEN SYMMETRIC KEY x DECRYPTION BY PASSWORD = '{PASSWORD}'");
    run(
        &mut client,
        &[
            "BEGIN TRAN",
            &made,
            &open,
            "INSERT t SELECT 1, ENCRYPTBYKEY(KEY_GUID('x'), 'a')",
        ],
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE DECRYPTBYKEY(v) = 0x61"), 1);
    succeed(
        &mut client,
        "DECLARE @v varbinary(8000) = (SELECT v FROM t) ROLLBACK INSERT t SELECT 1, @v",
    );
    assert_eq!(client.value("SELECT KEY_ID('x')"), Value::Null);
    assert_eq!(client.value("SELECT DECRYPTBYKEY(v) FROM t"), Value::Null);
    fails(&mut client, 15151, &open);
    // Another key of that name is not the one that was open.
    succeed(&mut client, &made);
    assert_eq!(client.value("SELECT ENCRYPTBYKEY(KEY_GUID('x'), 'a')"), Value::Null);
    run(&mut client, &["BEGIN TRAN", "DROP SYMMETRIC KEY x"]);
    assert_eq!(client.value("SELECT KEY_ID('x')"), Value::Null);
    succeed(&mut client, "ROLLBACK");
    assert_ne!(client.value("SELECT KEY_ID('x')"), Value::Null);
}

#[test]
fn keys_encrypt_each_other() {
    let fixture = Fixture::new();
    let mut client = in_database(&fixture);
    let master = format!("CREATE MASTER KEY ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    run(
        &mut client,
        &[
            &master,
            "CREATE CERTIFICATE c WITH SUBJECT = 'Of the shipping department'",
            "CREATE ASYMMETRIC KEY a WITH ALGORITHM = RSA_2048 ENCRYPTION BY PASSWORD = 'yet-Another1'",
            "CREATE SYMMETRIC KEY k WITH ALGORITHM = AES_192 ENCRYPTION BY CERTIFICATE c, ASYMMETRIC KEY a",
            "OPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c",
            "CREATE SYMMETRIC KEY s WITH ALGORITHM = AES_128 ENCRYPTION BY SYMMETRIC KEY k",
            "CREATE TABLE t (v varbinary(8000))",
            "INSERT t SELECT ENCRYPTBYKEY(KEY_GUID('k'), 'clear')",
            "CLOSE ALL SYMMETRIC KEYS",
        ],
    );
    all_fail(
        &mut client,
        &[
            (15334, "OPEN SYMMETRIC KEY k DECRYPTION BY ASYMMETRIC KEY a"),
            (
                15466,
                "OPEN SYMMETRIC KEY k DECRYPTION BY ASYMMETRIC KEY a WITH PASSWORD = 'wrong'",
            ),
            (15313, "OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = 'wrong'"),
            (15315, "OPEN SYMMETRIC KEY s DECRYPTION BY SYMMETRIC KEY k"),
            (15313, "OPEN SYMMETRIC KEY s DECRYPTION BY CERTIFICATE c"),
            (15151, "OPEN SYMMETRIC KEY s DECRYPTION BY CERTIFICATE none"),
            (15352, "DROP CERTIFICATE c"),
            (15352, "DROP ASYMMETRIC KEY a"),
            (15580, "DROP SYMMETRIC KEY k"),
            (15580, "DROP MASTER KEY"),
        ],
    );
    let auto = "SELECT CONVERT(varchar(9), DECRYPTBYKEYAUTOCERT(CERT_ID('c'), NULL, v)) FROM t";
    assert_eq!(word(&mut client, auto), "clear");
    let auto = "SELECT CONVERT(varchar(9), DECRYPTBYKEYAUTOASYMKEY(ASYMKEY_ID('a'), N'yet-Another1', v)) FROM t";
    assert_eq!(word(&mut client, auto), "clear");
    let wrong = "SELECT DECRYPTBYKEYAUTOASYMKEY(ASYMKEY_ID('a'), N'wrong', v) FROM t";
    assert_eq!(client.value(wrong), Value::Null);
    run(
        &mut client,
        &[
            "OPEN SYMMETRIC KEY k DECRYPTION BY ASYMMETRIC KEY a WITH PASSWORD = 'yet-Another1'",
            "OPEN SYMMETRIC KEY s DECRYPTION BY SYMMETRIC KEY k",
        ],
    );
    let encryptions = "SELECT STRING_AGG(k.name + ':' + crypt_type, ' ') WITHIN GROUP (ORDER BY k.name, crypt_type) \
        FROM sys.key_encryptions e JOIN sys.symmetric_keys k ON k.symmetric_key_id = e.key_id WHERE k.name IN ('k', 's')";
    assert_eq!(word(&mut client, encryptions), "k:EPUA k:EPUC s:ESKS");
    assert_eq!(
        client.int("SELECT SUM(key_length) FROM sys.symmetric_keys WHERE name IN ('k', 's')"),
        320
    );
    let facts = "SELECT key_length FROM sys.certificates WHERE name = 'c' AND pvt_key_encryption_type = 'MK' \
        AND thumbprint = HASHBYTES('SHA1', CERTENCODED(certificate_id)) AND subject = CERTPROPERTY(CERT_ID('c'), 'Subject')";
    assert_eq!(client.int(facts), 2048);
    assert_eq!(
        client.int("SELECT key_length FROM sys.asymmetric_keys WHERE name = 'a' AND pvt_key_encryption_type = 'PW'"),
        2048
    );
    let names = "SELECT COUNT(*) FROM sys.key_encryptions e JOIN sys.certificates c ON c.thumbprint = e.thumbprint";
    assert_eq!(client.int(names), 1);
}

#[test]
fn encryptions_of_a_symmetric_key_are_added_and_dropped() {
    let fixture = Fixture::new();
    let mut client = with_key(&fixture);
    let master = format!("CREATE MASTER KEY ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    run(&mut client, &[&master, "CREATE CERTIFICATE c WITH SUBJECT = 's'"]);
    fails(
        &mut client,
        15315,
        "ALTER SYMMETRIC KEY k ADD ENCRYPTION BY CERTIFICATE c",
    );
    run(
        &mut client,
        &[OPEN, "INSERT t SELECT 1, ENCRYPTBYKEY(KEY_GUID('k'), 'clear')"],
    );
    let drop_password = format!("ALTER SYMMETRIC KEY k DROP ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    fails(&mut client, 15558, &drop_password);
    succeed(
        &mut client,
        "ALTER SYMMETRIC KEY k ADD ENCRYPTION BY CERTIFICATE c, PASSWORD = 'second-Pass2'",
    );
    all_fail(
        &mut client,
        &[
            (15579, "ALTER SYMMETRIC KEY k ADD ENCRYPTION BY CERTIFICATE c"),
            (15313, "ALTER SYMMETRIC KEY k DROP ENCRYPTION BY PASSWORD = 'wrong'"),
            (
                15118,
                "ALTER SYMMETRIC KEY k ADD ENCRYPTION BY PASSWORD = 'simplesimple'",
            ),
        ],
    );
    run(&mut client, &[&drop_password, "CLOSE SYMMETRIC KEY k"]);
    fails(&mut client, 15313, OPEN);
    for by in ["PASSWORD = 'second-Pass2'", "CERTIFICATE c"] {
        succeed(&mut client, &format!("OPEN SYMMETRIC KEY k DECRYPTION BY {by}"));
        assert_ne!(client.value("SELECT DECRYPTBYKEY(v) FROM t"), Value::Null);
        fails(&mut client, 50828, "DROP SYMMETRIC KEY k");
        succeed(&mut client, "CLOSE SYMMETRIC KEY k");
    }
    run(
        &mut client,
        &["DROP SYMMETRIC KEY k", "DROP CERTIFICATE c", "DROP MASTER KEY"],
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.symmetric_keys"), 0);
}

#[test]
fn certificates_and_key_pairs_encrypt_and_sign() {
    let fixture = Fixture::new();
    let mut client = in_database(&fixture);
    let master = format!("CREATE MASTER KEY ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    run(
        &mut client,
        &[
            &master,
            "CREATE CERTIFICATE c WITH SUBJECT = 's', EXPIRY_DATE = '20301231'",
            "CREATE ASYMMETRIC KEY a WITH ALGORITHM = RSA_2048 ENCRYPTION BY PASSWORD = 'yet-Another1'",
        ],
    );
    let both = [
        ("CERT", "CERT_ID('c')", ""),
        ("ASYMKEY", "ASYMKEY_ID('a')", ", N'yet-Another1'"),
    ];
    for (kind, id, password) in both {
        let round =
            format!("SELECT CONVERT(varchar(9), DECRYPTBY{kind}({id}, ENCRYPTBY{kind}({id}, 'clear'){password}))");
        assert_eq!(word(&mut client, &round), "clear");
        let size = format!("SELECT DATALENGTH(ENCRYPTBY{kind}({id}, REPLICATE('a', 245)))");
        assert_eq!(client.int(&size), 256);
        let long = format!("SELECT ENCRYPTBY{kind}({id}, REPLICATE('a', 246))");
        assert_eq!(client.value(&long), Value::Null);
        let verify = |signed: &str, data: &str| {
            format!("SELECT VERIFYSIGNEDBY{kind}({id}, '{data}', SIGNBY{kind}({id}, '{signed}'{password}))")
        };
        assert_eq!(client.int(&verify("data", "data")), 1);
        assert_eq!(client.int(&verify("data", "other")), 0);
    }
    for call in [
        "DECRYPTBYCERT(CERT_ID('c'), ENCRYPTBYCERT(CERT_ID('c'), 'a'), N'password')",
        "DECRYPTBYASYMKEY(ASYMKEY_ID('a'), ENCRYPTBYASYMKEY(ASYMKEY_ID('a'), 'a'))",
        "SIGNBYASYMKEY(ASYMKEY_ID('a'), 'a', N'wrong')",
        "ENCRYPTBYCERT(1, 'a')",
        "CERT_ID('none')",
        "CERTENCODED(1)",
        "CERTPROPERTY(CERT_ID('c'), 'nothing')",
    ] {
        assert_eq!(client.value(&format!("SELECT {call}")), Value::Null, "{call}");
    }
    let expiry = "SELECT CONVERT(varchar(10), CONVERT(datetime, CERTPROPERTY(CERT_ID('c'), 'Expiry_Date')), 23)";
    assert_eq!(word(&mut client, expiry), "2030-12-31");
    let another = "ALTER ASYMMETRIC KEY a WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'yet-Another1', \
        ENCRYPTION BY PASSWORD = 'brand-New-1')";
    all_fail(
        &mut client,
        &[
            (
                15465,
                "ALTER ASYMMETRIC KEY a WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'wrong')",
            ),
            (
                15334,
                "ALTER ASYMMETRIC KEY a WITH PRIVATE KEY (ENCRYPTION BY PASSWORD = 'brand-New-1')",
            ),
            (
                15397,
                "ALTER CERTIFICATE c WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'brand-New-1')",
            ),
        ],
    );
    succeed(&mut client, another);
    fails(&mut client, 15465, another);
    succeed(
        &mut client,
        "ALTER ASYMMETRIC KEY a WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'brand-New-1')",
    );
    let signed = "SELECT VERIFYSIGNEDBYASYMKEY(ASYMKEY_ID('a'), 'a', SIGNBYASYMKEY(ASYMKEY_ID('a'), 'a'))";
    assert_eq!(client.int(signed), 1);
}

#[test]
fn what_is_deprecated_or_not_documented_is_refused() {
    let fixture = Fixture::new();
    let mut client = with_key(&fixture);
    let by = format!("ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    for algorithm in ["DES", "TRIPLE_DES", "TRIPLE_DES_3KEY", "RC2", "RC4", "RC4_128", "DESX"] {
        fails(
            &mut client,
            40510,
            &format!("CREATE SYMMETRIC KEY x WITH ALGORITHM = {algorithm} {by}"),
        );
    }
    for algorithm in ["RSA_512", "RSA_1024"] {
        fails(
            &mut client,
            40510,
            &format!("CREATE ASYMMETRIC KEY x WITH ALGORITHM = {algorithm} {by}"),
        );
    }
    all_fail(
        &mut client,
        &[
            (102, &format!("CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_512 {by}")),
            (
                15314,
                &format!("CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_128, ALGORITHM = AES_256 {by}"),
            ),
            (
                40510,
                &format!("CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_256, KEY_SOURCE = 'a' {by}"),
            ),
            (
                40510,
                &format!("CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_256, IDENTITY_VALUE = 'a' {by}"),
            ),
            (40510, &format!("CREATE SYMMETRIC KEY #x WITH ALGORITHM = AES_256 {by}")),
            (15282, &format!("CREATE SYMMETRIC KEY K WITH ALGORITHM = AES_256 {by}")),
            (
                15116,
                "CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_256 ENCRYPTION BY PASSWORD = 'a'",
            ),
            (15581, "CREATE CERTIFICATE c WITH SUBJECT = 's'"),
            (15581, "CREATE ASYMMETRIC KEY a WITH ALGORITHM = RSA_2048"),
            (33161, "CREATE MASTER KEY"),
            (15151, "OPEN SYMMETRIC KEY none DECRYPTION BY PASSWORD = 'a'"),
            (15151, "DROP SYMMETRIC KEY none"),
            (
                40510,
                &format!("USE master CREATE SYMMETRIC KEY x WITH ALGORITHM = AES_256 {by}"),
            ),
        ],
    );
}

#[test]
fn a_master_key_opens_by_itself_or_with_its_password() {
    let fixture = Fixture::new();
    let mut client = in_database(&fixture);
    let is_by_server = "SELECT CONVERT(int, is_master_key_encrypted_by_server) FROM sys.databases WHERE name = 'd'";
    let create = format!("CREATE MASTER KEY ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    let open = format!("OPEN MASTER KEY DECRYPTION BY PASSWORD = '{PASSWORD}'");
    run(&mut client, &[&create, "CREATE CERTIFICATE c WITH SUBJECT = 's'"]);
    fails(&mut client, 15578, &create);
    assert_eq!(client.int(is_by_server), 1);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    let sign = "SELECT DATALENGTH(SIGNBYCERT(CERT_ID('c'), 'a'))";
    succeed(&mut client, "USE d");
    assert_eq!(client.int(sign), 256);
    succeed(&mut client, "ALTER MASTER KEY DROP ENCRYPTION BY SERVICE MASTER KEY");
    assert_eq!(client.int(is_by_server), 0);
    fails(&mut client, 15581, sign);
    fails(&mut client, 15313, "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'wrong'");
    succeed(&mut client, &open);
    assert_eq!(client.int(sign), 256);
    let mut other = fixture.client();
    succeed(&mut other, "USE d");
    fails(&mut other, 15581, sign);
    succeed(&mut client, "CLOSE MASTER KEY");
    fails(&mut client, 15581, sign);
    fails(
        &mut client,
        15581,
        "ALTER MASTER KEY ADD ENCRYPTION BY SERVICE MASTER KEY",
    );
    run(
        &mut client,
        &[&open, "ALTER MASTER KEY ADD ENCRYPTION BY SERVICE MASTER KEY"],
    );
    assert_eq!(other.int(sign), 256);
    let drop_password = format!("ALTER MASTER KEY DROP ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    fails(&mut client, 15558, &drop_password);
    run(
        &mut client,
        &[
            "ALTER MASTER KEY ADD ENCRYPTION BY PASSWORD = 'second-Pass2'",
            &drop_password,
            "CLOSE MASTER KEY",
        ],
    );
    fails(&mut client, 15313, &open);
    succeed(
        &mut client,
        "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'third-Pass3'",
    );
    assert_eq!(client.int(sign), 256);
    fails(
        &mut client,
        15313,
        "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'second-Pass2'",
    );
    succeed(&mut client, "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'third-Pass3'");
}

#[test]
fn a_database_of_another_server_needs_the_password_of_its_master_key() {
    let fixture = Fixture::new();
    let mut client = in_database(&fixture);
    let create = format!("CREATE MASTER KEY ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    run(&mut client, &[&create, "CREATE CERTIFICATE c WITH SUBJECT = 's'"]);
    // As if the file came from elsewhere: the server has another service master key.
    forge(
        &fixture,
        "UPDATE selenite_key_encryption SET sealed = zeroblob(76) WHERE encryptor = 'service'",
    );
    fails(&mut client, 15581, "SELECT SIGNBYCERT(CERT_ID('c'), 'a')");
    let open = format!("OPEN MASTER KEY DECRYPTION BY PASSWORD = '{PASSWORD}'");
    let add = "ALTER MASTER KEY ADD ENCRYPTION BY SERVICE MASTER KEY";
    run(&mut client, &[&open, add, "CLOSE MASTER KEY"]);
    assert_eq!(client.int("SELECT DATALENGTH(SIGNBYCERT(CERT_ID('c'), 'a'))"), 256);
}

#[test]
fn a_regenerated_master_key_is_not_used_by_who_has_the_old_one_open() {
    let fixture = Fixture::new();
    let mut client = in_database(&fixture);
    let mut other = fixture.client();
    let master = format!("CREATE MASTER KEY ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    run(&mut client, &[&master]);
    let open = format!("OPEN MASTER KEY DECRYPTION BY PASSWORD = '{PASSWORD}'");
    run(&mut other, &["USE d", &open]);
    let guid = "SELECT CONVERT(char(36), key_guid) FROM sys.symmetric_keys WHERE symmetric_key_id = 101";
    let before = word(&mut client, guid);
    let regenerate = "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'Other-l0ng-one'";
    succeed(&mut client, regenerate);
    assert_ne!(word(&mut client, guid), before);
    // The private key is encrypted with the new one, as another session finds it.
    succeed(&mut other, "CREATE CERTIFICATE c WITH SUBJECT = 's'");
    assert_ne!(client.value("SELECT SIGNBYCERT(CERT_ID('c'), 'a')"), Value::Null);
    fails(&mut client, 15313, &open);
    // Nor one whose regeneration was rolled back.
    run(
        &mut client,
        &[
            "BEGIN TRANSACTION",
            "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'Third-l0ng-one'",
            "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Third-l0ng-one'",
            "ROLLBACK",
            "CREATE CERTIFICATE e WITH SUBJECT = 's'",
        ],
    );
    assert_ne!(other.value("SELECT SIGNBYCERT(CERT_ID('e'), 'a')"), Value::Null);
}

#[test]
fn a_certificate_is_as_large_as_certencoded_returns_at_most() {
    let fixture = Fixture::new();
    let mut client = in_database(&fixture);
    let master = format!("CREATE MASTER KEY ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    run(&mut client, &[&master]);
    for (name, subject) in [("a", "x".repeat(4000)), ("b", "\u{4e00}".repeat(4000))] {
        fails(
            &mut client,
            40510,
            &format!("CREATE CERTIFICATE {name} WITH SUBJECT = N'{subject}'"),
        );
    }
    let subject = "x".repeat(3000);
    succeed(&mut client, &format!("CREATE CERTIFICATE c WITH SUBJECT = '{subject}'"));
    let size = client.int("SELECT DATALENGTH(CERTENCODED(CERT_ID('c')))");
    assert!((6000..8000).contains(&size), "{size}");
    // One that an earlier version made.
    forge(
        &fixture,
        "UPDATE selenite_key SET certificate = zeroblob(9000) WHERE name = 'c'",
    );
    fails(&mut client, 8152, "SELECT CERTENCODED(CERT_ID('c'))");
    assert_eq!(client.int("SELECT 1"), 1);
}

#[test]
fn tempdb_has_no_keys() {
    let fixture = Fixture::new();
    let mut client = in_database(&fixture);
    let by = format!("ENCRYPTION BY PASSWORD = '{PASSWORD}'");
    succeed(&mut client, "USE tempdb");
    for sql in [
        format!("CREATE MASTER KEY {by}"),
        format!("ALTER MASTER KEY REGENERATE WITH {by}"),
        format!("OPEN MASTER KEY DECRYPTION BY PASSWORD = '{PASSWORD}'"),
        "CLOSE MASTER KEY".to_owned(),
        "DROP MASTER KEY".to_owned(),
        format!("CREATE CERTIFICATE c {by} WITH SUBJECT = 's'"),
        format!("CREATE ASYMMETRIC KEY a WITH ALGORITHM = RSA_2048 {by}"),
        format!("CREATE SYMMETRIC KEY k WITH ALGORITHM = AES_256 {by}"),
        "DROP CERTIFICATE c".to_owned(),
        "DROP ASYMMETRIC KEY a".to_owned(),
        "DROP SYMMETRIC KEY k".to_owned(),
    ] {
        fails(&mut client, 40510, &sql);
    }
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.symmetric_keys"), 0);
}
