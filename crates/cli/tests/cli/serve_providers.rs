//! Cryptographic providers of `selenite serve`: SQL Server's statements about keys in hardware and in services.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use selenite_tds::PacketSize;
use selenite_types::Value;

use crate::fixture::{Fixture, run};
use crate::key_service::{self, MODULE, PIN, configure, service, uri};
use crate::serve_limits::Reached;
use crate::tds_client::{Answer, Client, numbers, succeed};

const SECRET: &str = "marker-of-the-secret";
const TDE: &str = "SELECT encryptor_type FROM sys.dm_database_encryption_keys WHERE database_id = DB_ID('d')";
const KEY: &str = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER ASYMMETRIC KEY tde";
const DATABASE: &str = "CREATE DATABASE d; USE d; CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2), (3)";

/// Batches that fail, each by the error of that number. Returns the text of the last one's error.
fn refused(client: &mut Client, cases: &[(i32, &str)]) -> String {
    let mut text = String::new();
    for (number, batch) in cases {
        let answer = client.batch(batch);
        assert_eq!(numbers(&answer), [*number], "{batch}: {answer:?}");
        text = told(&answer);
    }
    text
}

fn told(answer: &Answer) -> String {
    let said = answer.said().into_iter().map(|said| said.text.clone());
    said.collect::<Vec<_>>().join("\n")
}

fn word(client: &mut Client, sql: &str) -> String {
    match client.value(sql) {
        Value::Text(text) => text.to_string(),
        other => panic!("{sql}: {other:?}"),
    }
}

fn switch_on(client: &mut Client) {
    succeed(client, "ALTER DATABASE d SET ENCRYPTION ON");
    let began = Instant::now();
    let state = "SELECT encryption_state FROM sys.dm_database_encryption_keys WHERE database_id = DB_ID('d')";
    while client.int(state) != 3 {
        assert!(began.elapsed() < Duration::from_secs(120));
    }
}

/// The files below the fixture that have one of these texts in them.
fn files_with(fixture: &Fixture, texts: &[&str]) -> String {
    let mut command = Command::new("grep");
    command.arg("-rlaF");
    command.args(texts.iter().flat_map(|text| ["-e", text]));
    run(command.arg(fixture.path(""))).out
}

#[test]
fn a_key_in_a_token_protects_a_database_and_opens_its_backup_on_another_server() {
    let fixture = key_service::fixture();
    let own = uri(&fixture, "master");
    service(&fixture, &own, &["generate"]).done();
    configure(&fixture, &own, "");
    let reached = Reached::start(&fixture, &[]);
    let mut client = reached.client();
    let provider = format!("CREATE CRYPTOGRAPHIC PROVIDER token FROM FILE = '{MODULE}'");
    let key = "CREATE ASYMMETRIC KEY tde FROM PROVIDER token WITH PROVIDER_KEY_NAME = 'master', \
        CREATION_DISPOSITION = OPEN_EXISTING";
    succeed(&mut client, &provider);
    let made = client.batch(&credential("c", "token"));
    assert!(
        numbers(&made).is_empty() && told(&made).contains("was not stored"),
        "{made:?}"
    );
    assert!(!told(&made).contains(SECRET));
    for statement in ["ALTER LOGIN sa ADD CREDENTIAL c", key, DATABASE, KEY] {
        succeed(&mut client, statement);
    }
    switch_on(&mut client);
    assert_eq!(word(&mut client, TDE), "ASYMMETRIC KEY");
    succeed(&mut client, "BACKUP DATABASE d TO DISK = 'd.bak'; USE master");
    let in_use = [
        (3716, "DROP ASYMMETRIC KEY tde"),
        (33044, "DROP CRYPTOGRAPHIC PROVIDER token"),
        (15541, "DROP CREDENTIAL c"),
    ];
    refused(&mut client, &in_use);
    drop(client);

    let reached = reached.restarted(&fixture);
    let mut client = reached.client();
    refused(&mut client, &in_use);
    let joined = "SELECT COUNT(*) FROM sys.dm_database_encryption_keys AS e JOIN sys.asymmetric_keys AS k ON \
        e.encryptor_thumbprint = k.thumbprint JOIN sys.cryptographic_providers AS p ON \
        k.cryptographic_provider_guid = p.guid WHERE p.is_enabled = 1 AND k.provider_type = 'CRYPTOGRAPHIC PROVIDER'";
    assert_eq!((client.int(joined), client.int("SELECT SUM(a) FROM d.dbo.t")), (1, 6));
    assert_eq!(
        word(&mut client, "SELECT dll_path FROM sys.cryptographic_providers"),
        MODULE
    );
    let mapped = "SELECT c.credential_identity + ' ' + p.name FROM sys.credentials AS c JOIN \
        sys.server_principal_credentials AS m ON m.credential_id = c.credential_id JOIN sys.server_principals AS p \
        ON p.principal_id = m.principal_id WHERE c.target_type = 'CRYPTOGRAPHIC PROVIDER'";
    assert_eq!(word(&mut client, mapped), "i sa");
    drop(client);
    let (_, out, err) = reached.served.end(Signal::TERM);
    assert!(!out.contains(SECRET) && !err.contains(SECRET), "{err}");
    // The slot is the token's, not only a name of it.
    let opened = fixture.run(&["-i", "command:hsm", "exec", "data/d.db", "SELECT sum(a) FROM t"]);
    assert_eq!(opened.done().out.trim(), "6");

    open_elsewhere(&fixture, &provider, key);
    assert_eq!(files_with(&fixture, &[SECRET]), "");
}

/// Another server, with an identity of its own, restores the backup.
fn open_elsewhere(fixture: &Fixture, provider: &str, key: &str) {
    fs::rename(fixture.path("data"), fixture.path("first")).unwrap();
    fs::rename(
        fixture.path(".config/selenite/server-key.txt"),
        fixture.path("first-key.txt"),
    )
    .unwrap();
    let reached = Reached::start(fixture, &[]);
    fs::create_dir_all(fixture.path("data/backup")).unwrap();
    let copied = ["first/backup/d.bak", "data/backup"].map(|name| fixture.path(name));
    run(Command::new("cp").arg("-r").args(copied)).done();
    let mut client = reached.client();
    let restore = "RESTORE DATABASE d FROM DISK = 'd.bak'";
    let missing = client.batch(restore);
    assert_eq!(numbers(&missing), [33111, 3013], "{missing:?}");
    assert!(told(&missing).contains("asymmetric key with thumbprint"), "{missing:?}");
    succeed(&mut client, provider);
    succeed(&mut client, key);
    let pin = fixture.path("pin.txt");
    fs::rename(&pin, fixture.path("pin-elsewhere.txt")).unwrap();
    let failed = client.batch(restore);
    assert!(
        told(&failed).contains("\"hsm\"") && !told(&failed).contains(PIN),
        "{failed:?}"
    );
    fs::rename(fixture.path("pin-elsewhere.txt"), &pin).unwrap();
    // A key command can't prove who made a backup: the keyring file says which database is one's own.
    let foreign = client.batch(restore);
    assert_eq!(numbers(&foreign), [3279, 3013], "{foreign:?}");
    assert!(told(&foreign).contains("foreign origin"), "{foreign:?}");
    fixture.run(&["-i", "command:hsm", "keys", "pin", "first/d.db"]).done();
    succeed(&mut client, restore);
    assert_eq!(client.int("SELECT SUM(a) FROM d.dbo.t"), 6);
    assert_eq!(word(&mut client, TDE), "ASYMMETRIC KEY");
    drop(client);
    assert!(!reached.served.end(Signal::TERM).2.contains(SECRET));
}

/// A fixture whose key commands `kms` and `other` do as the file `mode` says.
fn scripted() -> Fixture {
    let fixture = Fixture::new();
    let script = fixture.path("kms.sh");
    let mode = fixture.path("mode").display().to_string();
    let text = format!(
        "#!/bin/sh\ncase $(cat {mode}) in\nfail) echo the-standard-error >&2; exit 6 ;;\nhang) exec sleep 60 ;;\n\
         wrong) exec head -c 64 /dev/zero ;;\nesac\ncase $1 in\nwrap) exec base64 ;;\nunwrap) exec base64 -d ;;\nesac\n"
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    set_mode(&fixture, "works");
    fs::create_dir_all(fixture.path(".config/selenite")).unwrap();
    set_commands(&fixture, &["kms", "other"]);
    fixture
}

fn set_mode(fixture: &Fixture, mode: &str) {
    fs::write(fixture.path("mode"), mode).unwrap();
}

fn set_commands(fixture: &Fixture, names: &[&str]) {
    let script = fixture.path("kms.sh");
    let lines = names
        .iter()
        .map(|name| format!("{name} = [\"{}\"]\n", script.display()));
    let text = format!("[commands]\n{}", lines.collect::<String>());
    fs::write(fixture.path(".config/selenite/config.toml"), text).unwrap();
}

fn key_of(name: &str, provider: &str, key: &str) -> String {
    format!(
        "CREATE ASYMMETRIC KEY {name} FROM PROVIDER {provider} WITH PROVIDER_KEY_NAME = '{key}', CREATION_DISPOSITION = \
         OPEN_EXISTING"
    )
}

fn credential(name: &str, provider: &str) -> String {
    format!("CREATE CREDENTIAL {name} WITH IDENTITY = 'i', SECRET = '{SECRET}' FOR CRYPTOGRAPHIC PROVIDER {provider}")
}

#[test]
fn only_key_commands_of_the_configuration_are_providers() {
    let fixture = scripted();
    let reached = Reached::start(&fixture, &[]);
    let mut client = reached.client();
    let create = |name: &str, path: &str| format!("CREATE CRYPTOGRAPHIC PROVIDER {name} FROM FILE = '{path}'");
    for path in [
        MODULE,
        &fixture.path("kms.sh").display().to_string(),
        "",
        "KMS",
        "kms ",
        "../kms",
    ] {
        let text = refused(&mut client, &[(33027, &create("p", path))]);
        assert!(text.contains(path), "{text}");
    }
    succeed(&mut client, &create("p", "kms"));
    succeed(&mut client, &create("q", "other"));
    succeed(&mut client, &key_of("k", "p", "kms"));
    let on_algorithm = "CREATE ASYMMETRIC KEY a FROM PROVIDER q WITH PROVIDER_KEY_NAME = 'other', CREATION_DISPOSITION = \
        OPEN_EXISTING, ALGORITHM = RSA_2048";
    refused(
        &mut client,
        &[
            (15530, &create("P", "kms")),
            (33026, &create("r", "kms")),
            (15151, "ALTER CRYPTOGRAPHIC PROVIDER nothing DISABLE"),
            (15151, "DROP CRYPTOGRAPHIC PROVIDER nothing"),
            (33027, "ALTER CRYPTOGRAPHIC PROVIDER p FROM FILE = 'nothing'"),
            (33026, "ALTER CRYPTOGRAPHIC PROVIDER p FROM FILE = 'other'"),
            (15151, &key_of("a", "nothing", "kms")),
            (33049, &key_of("a", "p", "nothing")),
            (33049, &key_of("a", "p", "other")),
            (15282, &key_of("K", "q", "other")),
            (15282, &key_of("a", "p", "kms")),
            (33034, on_algorithm),
            (
                40510,
                "CREATE ASYMMETRIC KEY a FROM PROVIDER q WITH PROVIDER_KEY_NAME = 'new', ALGORITHM = RSA_2048",
            ),
            (40510, "CREATE ASYMMETRIC KEY a WITH ALGORITHM = RSA_2048"),
            (40510, "DROP ASYMMETRIC KEY k REMOVE PROVIDER KEY"),
            (15151, "DROP ASYMMETRIC KEY nothing"),
            (40510, "BEGIN TRANSACTION DROP ASYMMETRIC KEY k"),
            // A key of another database.
            (15151, "ROLLBACK CREATE DATABASE other USE other DROP ASYMMETRIC KEY k"),
        ],
    );
    succeed(&mut client, "USE master");
    succeed(&mut client, "ALTER CRYPTOGRAPHIC PROVIDER q DISABLE");
    refused(&mut client, &[(33031, &key_of("a", "q", "other"))]);
    succeed(&mut client, "ALTER CRYPTOGRAPHIC PROVIDER q FROM FILE = 'other' ENABLE");
    // The new library has none of the keys of p.
    set_commands(&fixture, &["kms", "other", "third"]);
    refused(
        &mut client,
        &[(33024, "ALTER CRYPTOGRAPHIC PROVIDER p FROM FILE = 'third'")],
    );
    set_commands(&fixture, &["kms"]);
    refused(&mut client, &[(33030, &key_of("a", "q", "other"))]);
    succeed(
        &mut client,
        "DROP ASYMMETRIC KEY k; DROP CRYPTOGRAPHIC PROVIDER p; DROP CRYPTOGRAPHIC PROVIDER q",
    );
    let rows = "SELECT COUNT(*) FROM sys.cryptographic_providers CROSS JOIN sys.asymmetric_keys";
    assert_eq!(client.int(rows), 0);
    drop(client);
    assert_eq!(reached.served.end(Signal::TERM).0, 0);
}

#[test]
fn a_provider_that_fails_is_named_and_changes_nothing() {
    let fixture = scripted();
    let reached = Reached::start(&fixture, &[]);
    let mut client = reached.client();
    succeed(&mut client, "CREATE CRYPTOGRAPHIC PROVIDER p FROM FILE = 'kms'");
    set_mode(&fixture, "fail");
    let text = refused(&mut client, &[(33028, &key_of("tde", "p", "kms"))]);
    assert!(text.contains("provider 'p'. Provider error code: 6."), "{text}");
    set_mode(&fixture, "works");
    for statement in [
        &key_of("tde", "p", "kms"),
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Strong-key-1'; CREATE CERTIFICATE c WITH SUBJECT = 's'",
        DATABASE,
    ] {
        succeed(&mut client, statement);
    }
    for (mode, said) in [
        ("fail", "exit"),
        ("wrong", "did not return the key"),
        ("hang", "no answer within 10s"),
    ] {
        set_mode(&fixture, mode);
        let text = refused(&mut client, &[(33028, KEY)]);
        assert!(text.contains("provider 'p'") && text.contains(said), "{text}");
        assert!(!text.contains("the-standard-error"), "{text}");
        refused(&mut client, &[(33104, "DROP DATABASE ENCRYPTION KEY")]);
    }
    // From one protector to the other, online.
    let certificate = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE c";
    succeed(&mut client, certificate);
    switch_on(&mut client);
    set_mode(&fixture, "fail");
    let to_key = "ALTER DATABASE ENCRYPTION KEY ENCRYPTION BY SERVER ASYMMETRIC KEY tde";
    refused(&mut client, &[(33028, to_key)]);
    assert_eq!(word(&mut client, TDE), "CERTIFICATE");
    set_mode(&fixture, "works");
    succeed(&mut client, to_key);
    assert_eq!(word(&mut client, TDE), "ASYMMETRIC KEY");
    refused(
        &mut client,
        &[
            (15151, "DROP ASYMMETRIC KEY tde"),
            (15151, "USE master DROP ASYMMETRIC KEY c"),
        ],
    );
    succeed(
        &mut client,
        "DROP CERTIFICATE c; CREATE CERTIFICATE c WITH SUBJECT = 's'; USE d",
    );
    // The server's own identity opens the database, whatever the provider does.
    set_mode(&fixture, "fail");
    drop(client);
    let reached = reached.restarted(&fixture);
    let mut client = reached.client();
    assert_eq!(client.int("USE d SELECT SUM(a) FROM t"), 6);
    succeed(
        &mut client,
        "ALTER DATABASE ENCRYPTION KEY ENCRYPTION BY SERVER CERTIFICATE c",
    );
    succeed(
        &mut client,
        "USE master DROP ASYMMETRIC KEY tde DROP CRYPTOGRAPHIC PROVIDER p",
    );
    drop(client);
    let (status, _, err) = reached.served.end(Signal::TERM);
    assert!(status == 0 && !err.contains("the-standard-error"), "{err}");
}

#[test]
fn a_server_whose_identity_is_a_key_command_says_which_one_failed() {
    let fixture = scripted();
    let config = fixture.path(".config/selenite/config.toml");
    let commands = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("identity = \"command:kms\"\n{commands}")).unwrap();
    let reached = Reached::start(&fixture, &[]);
    let mut client = reached.client();
    for statement in [
        "CREATE CRYPTOGRAPHIC PROVIDER p FROM FILE = 'kms'",
        "CREATE CRYPTOGRAPHIC PROVIDER q FROM FILE = 'other'",
        &key_of("tde", "p", "kms"),
        &key_of("second", "q", "other"),
        DATABASE,
    ] {
        succeed(&mut client, statement);
    }
    // It would be the server's own slot, which DROP DATABASE ENCRYPTION KEY must not remove.
    let text = refused(&mut client, &[(50823, KEY)]);
    assert!(text.contains("already has a key slot"), "{text}");
    succeed(&mut client, &KEY.replace("tde", "second"));
    switch_on(&mut client);
    drop(client);
    let reached = reached.restarted(&fixture);
    let mut client = reached.client();
    // What the start has unwrapped stays in memory.
    set_mode(&fixture, "fail");
    assert_eq!(client.int("USE d SELECT SUM(a) FROM t"), 6);
    drop(client);
    assert_eq!(reached.served.end(Signal::TERM).0, 0);
    let serve = ["serve", "--data", "data", "--listen", "127.0.0.1:0"];
    for (mode, said) in [("fail", "exit"), ("hang", "no answer within 10s")] {
        set_mode(&fixture, mode);
        let ran = fixture.run(&serve).failed(4, "key service \"kms\"");
        assert!(
            ran.err.contains(said) && !ran.err.contains("the-standard-error"),
            "{ran:?}"
        );
    }
}

#[test]
fn credentials_keep_no_secret() {
    let fixture = scripted();
    let reached = Reached::start(&fixture, &[]);
    let mut client = reached.client();
    succeed(&mut client, "CREATE CRYPTOGRAPHIC PROVIDER p FROM FILE = 'kms'");
    succeed(&mut client, "CREATE LOGIN l WITH PASSWORD = 'Strong-key-1'");
    succeed(&mut client, &credential("c", "p"));
    succeed(&mut client, &credential("e", "p"));
    succeed(
        &mut client,
        &format!("ALTER CREDENTIAL c WITH IDENTITY = 'j', SECRET = '{SECRET}'"),
    );
    succeed(&mut client, "ALTER LOGIN l ADD CREDENTIAL c");
    let without = format!("CREATE CREDENTIAL f WITH IDENTITY = 'i', SECRET = '{SECRET}'");
    let long = format!("ALTER CREDENTIAL c WITH IDENTITY = '{}'", "i".repeat(4001));
    let unknown = format!("ALTER CREDENTIAL nothing WITH IDENTITY = 'i', SECRET = '{SECRET}'");
    let cases = [
        (15530, credential("C", "p")),
        (15151, credential("f", "nothing")),
        (40510, without),
        (15540, long),
        (15151, unknown),
        (15151, "DROP CREDENTIAL nothing".to_owned()),
        (15151, "ALTER LOGIN l ADD CREDENTIAL nothing".to_owned()),
        (15151, "ALTER LOGIN nothing ADD CREDENTIAL c".to_owned()),
        (33043, "ALTER LOGIN l ADD CREDENTIAL c".to_owned()),
        (33043, "ALTER LOGIN l ADD CREDENTIAL e".to_owned()),
        (33045, "ALTER LOGIN l DROP CREDENTIAL e".to_owned()),
        (15541, "DROP CREDENTIAL c".to_owned()),
        (33044, "DROP CRYPTOGRAPHIC PROVIDER p".to_owned()),
    ];
    for (number, batch) in &cases {
        let text = refused(&mut client, &[(*number, batch)]);
        assert!(!text.contains(SECRET), "{text}");
    }
    assert_eq!(
        word(
            &mut client,
            "SELECT credential_identity FROM sys.credentials WHERE name = 'c'"
        ),
        "j"
    );

    // The session has ended when its login can be dropped.
    let began = Instant::now();
    while !numbers(&client.batch("DROP LOGIN l")).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60));
    }
    succeed(
        &mut client,
        "DROP CREDENTIAL c; DROP CREDENTIAL e; DROP CRYPTOGRAPHIC PROVIDER p",
    );
    drop(client);
    let (status, out, err) = reached.served.end(Signal::TERM);
    assert!(status == 0 && !out.contains(SECRET) && !err.contains(SECRET), "{err}");
    assert_eq!(files_with(&fixture, &[SECRET]), "");
}

#[test]
fn providers_belong_to_administrators() {
    let fixture = scripted();
    let reached = Reached::start(&fixture, &[]);
    let mut client = reached.client();
    for statement in [
        "CREATE CRYPTOGRAPHIC PROVIDER p FROM FILE = 'kms'",
        "CREATE LOGIN l WITH PASSWORD = 'Strong-key-1'",
        &credential("c", "p"),
        &credential("e", "p"),
        "ALTER LOGIN l ADD CREDENTIAL c",
    ] {
        succeed(&mut client, statement);
    }
    let (login, wishes) = (("l", "Strong-key-1"), ("", None));
    let mut other = Client::of(reached.address, login, wishes, PacketSize::DEFAULT).unwrap();
    refused(
        &mut other,
        &[
            (15247, "CREATE CRYPTOGRAPHIC PROVIDER r FROM FILE = 'kms'"),
            (15151, "ALTER CRYPTOGRAPHIC PROVIDER p DISABLE"),
            (15151, "DROP CRYPTOGRAPHIC PROVIDER p"),
            (15247, &credential("f", "p")),
            (15151, "ALTER CREDENTIAL c WITH IDENTITY = 'k'"),
            (15151, "DROP CREDENTIAL e"),
            (15151, "ALTER LOGIN l DROP CREDENTIAL c"),
            (15247, &key_of("k", "p", "kms")),
            (15151, "DROP ASYMMETRIC KEY k"),
        ],
    );
    let seen = "SELECT COUNT(*) FROM sys.credentials CROSS JOIN sys.server_principal_credentials";
    assert_eq!((client.int(seen), other.int(seen)), (2, 0));
    assert_eq!(other.int("SELECT COUNT(*) FROM sys.cryptographic_providers"), 1);
    drop(other);
    drop(client);
    assert_eq!(reached.served.end(Signal::TERM).0, 0);
}
