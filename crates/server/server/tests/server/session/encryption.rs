//! Keys, certificates and encryption of databases: what the second source's script says, and what is refused.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use selenite::reencrypt::pause;
use selenite::storage::Disk;
use selenite::{Access, Cell, Database, Rows};
use selenite_server::NewDatabases;
use selenite_types::Value;

use super::client::{Client, numbers};
use super::fixture::Fixture;

/// What a scan of some pages may take on a machine that does seven other things.
const PATIENCE: Duration = Duration::from_secs(120);
const ALGORITHM: &str = "SELECT key_algorithm + ' ' + CONVERT(VARCHAR(9), key_length) FROM \
    sys.dm_database_encryption_keys WHERE database_id = DB_ID('d')";
const MARKER: &str = "nobody-is-to-read-this";
const FOUND: &str = "SELECT encryption_state FROM sys.dm_database_encryption_keys WHERE database_id = DB_ID(";

/// Runs batches of which none may fail.
pub fn run(client: &mut Client, batches: &[&str]) {
    for batch in batches {
        let answer = client.batch(batch);
        assert_eq!(numbers(&answer), [0_i32; 0], "{batch}: {answer:?}");
    }
}

/// Runs batches that fail, each by the error of that number.
pub fn refused(client: &mut Client, cases: &[(i32, &str)]) {
    for (number, batch) in cases {
        let answer = client.batch(batch);
        assert_eq!(numbers(&answer), [*number], "{batch}: {answer:?}");
    }
}

pub fn state(client: &mut Client, database: &str) -> i32 {
    client.int(&format!("{FOUND}'{database}')"))
}

pub fn wait_for_state(client: &mut Client, database: &str, wanted: i32) {
    let began = Instant::now();
    loop {
        let now = state(client, database);
        if now == wanted {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{database} is in state {now}");
    }
}

pub fn word(client: &mut Client, sql: &str) -> String {
    match client.value(sql) {
        Value::Text(text) => text.to_string(),
        other => panic!("{sql}: {other:?}"),
    }
}

/// Whether a database's files have a text in them. Another program looks: this one would lose its locks.
fn has_plaintext(fixture: &Fixture, database: &str) -> bool {
    let files = ["", "-wal"].map(|suffix| fixture.data_folder().join(format!("{database}.db{suffix}")));
    let files = files.iter().filter(|file| file.exists());
    let found = Command::new("grep")
        .args(["-q", "-a", "-F", MARKER])
        .args(files)
        .status();
    match found.unwrap().code() {
        Some(0) => true,
        Some(1) => false,
        other => panic!("{other:?}"),
    }
}

pub fn make_table(client: &mut Client, database: &str, row_count: i32) {
    let fill = format!(
        "DECLARE @i INT = 0 BEGIN TRAN WHILE @i < {row_count} BEGIN
         INSERT t (name) VALUES ('{MARKER}') SET @i = @i + 1 END COMMIT"
    );
    run(
        client,
        &[
            &format!("CREATE DATABASE {database}"),
            &format!("USE {database}"),
            "CREATE TABLE t (id INT IDENTITY PRIMARY KEY, name CHAR(200))",
            &fill,
        ],
    );
}

pub const MASTER_KEY: &str = "USE master CREATE MASTER KEY ENCRYPTION BY PASSWORD='$ql$h@ck@12'";

/// A server whose new databases are in clear.
pub fn in_clear() -> Fixture {
    Fixture::with(|config| config.new_databases = NewDatabases::Clear)
}

#[test]
fn the_second_source_encrypts_its_database_while_others_write() {
    encrypt_and_decrypt(&in_clear(), true);
}

#[test]
fn the_second_source_sees_the_same_of_a_database_that_is_never_in_clear() {
    encrypt_and_decrypt(&Fixture::new(), false);
}

#[test]
fn a_new_database_is_encrypted_from_its_first_byte_and_t_sql_says_nothing_of_it() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    make_table(&mut client, "d", 500);
    assert!(!has_plaintext(&fixture, "d"));
    let own = "SELECT is_encrypted FROM sys.databases WHERE name = 'd'";
    assert_eq!(client.value(own), Value::Bit(false));
    let keys = client.batch("SELECT * FROM sys.dm_database_encryption_keys");
    assert_eq!(keys.rows().len(), 0);
    // An unencrypted file in its place belongs to no database.
    drop(client);
    let path = fixture.data_folder().join("d.db");
    let fixture = fixture.restarted_after(|| {
        for tail in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{tail}", path.display()));
        }
        std::fs::write(&path, "").unwrap();
    });
    refused(&mut fixture.client(), &[(945, "USE d")]);
}

#[test]
fn a_scan_of_which_a_kill_left_nothing_but_the_note_is_begun_again() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    make_table(&mut client, "d", 100);
    let key = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE c";
    run(
        &mut client,
        &[MASTER_KEY, "CREATE CERTIFICATE c WITH SUBJECT = 's'", "USE d", key],
    );
    drop(client);
    let mut fixture = fixture;
    for (noted, wanted) in [("turning on", 3), ("changing key", 3), ("turning off", 1)] {
        let before = epoch(&fixture, "d");
        let master = fixture.data_folder();
        let access = fixture.access();
        fixture = fixture.restarted_after(|| {
            let master = Database::open(&Disk, &master.join("master.db"), &access).unwrap();
            let note = format!("UPDATE selenite_encryption_key SET tde = '{noted}'");
            master.run(&note, &mut Taken::default()).unwrap();
        });
        let mut client = fixture.client();
        wait_for_state(&mut client, "d", wanted);
        assert!(epoch(&fixture, "d") > before, "{noted}");
    }
}

#[test]
fn a_deprecated_suite_is_opened_only_where_a_statement_chose_it() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    make_table(&mut client, "d", 20);
    let key = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = TRIPLE_DES_3KEY ENCRYPTION BY SERVER CERTIFICATE c";
    run(
        &mut client,
        &[
            MASTER_KEY,
            "CREATE CERTIFICATE c WITH SUBJECT = 's'",
            "USE d",
            key,
            "ALTER DATABASE d SET ENCRYPTION ON",
        ],
    );
    wait_for_state(&mut client, "d", 3);
    run(&mut client, &["INSERT t (name) VALUES ('x')"]);
    drop(client);
    let fixture = fixture.restarted();
    run(&mut fixture.client(), &["USE d", "SELECT * FROM t"]);
    let place = fixture.data_folder().parent().unwrap().to_owned();
    let fixture = fixture.restarted_after(|| {
        let master = super::fixture::in_sqlite(&place, "master");
        master
            .execute_batch("UPDATE selenite_database SET allows_deprecated = 0")
            .unwrap();
    });
    refused(&mut fixture.client(), &[(945, "USE d")]);
}

fn encrypt_and_decrypt(fixture: &Fixture, is_in_clear: bool) {
    let mut client = fixture.client();
    make_table(&mut client, "TestDB", 3000);
    assert_eq!(has_plaintext(fixture, "TestDB"), is_in_clear);
    assert_eq!(
        client
            .batch("SELECT * FROM sys.dm_database_encryption_keys")
            .rows()
            .len(),
        0
    );
    run(
        &mut client,
        &[
            MASTER_KEY,
            "CREATE CERTIFICATE TestDB_TDECert WITH SUBJECT='TestDB_Encryption'",
            "USE TestDB",
        ],
    );
    let create =
        "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE TestDB_TDECert";
    let made = client.batch(create);
    let warned = made.said().iter().any(|said| said.number == 33091);
    assert!(warned && numbers(&made).is_empty(), "{made:?}");
    refused(&mut client, &[(33103, create)]);
    assert_eq!(state(&mut client, "TestDB"), 1);
    // It is suspended before it has encrypted the first page: so state 2 can be seen.
    pause(&Disk, &fixture.data_folder().join("TestDB.db")).unwrap();
    run(&mut client, &["ALTER DATABASE TestDB SET ENCRYPTION ON"]);
    assert_eq!(state(&mut client, "TestDB"), 2);
    write_while_it_is_encrypted(fixture, &mut client);
    assert!(!has_plaintext(fixture, "TestDB"));
    check_what_is_shown(&mut client);
    // Sessions that were there and those that come find what was written.
    let mut other = fixture.client();
    run(
        &mut other,
        &["USE TestDB", "UPDATE t SET name = 'changed' WHERE id = 1"],
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE name = 'changed'"), 1);
    run(&mut client, &["ALTER DATABASE CURRENT SET ENCRYPTION OFF"]);
    wait_for_state(&mut client, "TestDB", 1);
    assert_eq!(has_plaintext(fixture, "TestDB"), is_in_clear);
    let is_encrypted = "SELECT is_encrypted FROM sys.databases WHERE name = 'TestDB'";
    assert_eq!(client.value(is_encrypted), Value::Bit(false));
    run(&mut client, &["DROP DATABASE ENCRYPTION KEY"]);
    assert_eq!(
        client
            .batch("SELECT * FROM sys.dm_database_encryption_keys")
            .rows()
            .len(),
        0
    );
    run(
        &mut client,
        &["USE master", "DROP CERTIFICATE TestDB_TDECert", "DROP MASTER KEY"],
    );
}

/// Another session writes until the scan has ended; none of its changes is lost.
fn write_while_it_is_encrypted(fixture: &Fixture, client: &mut Client) {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let is_done = &is_done;
        let writer = scope.spawn(move || {
            let mut client = fixture.client();
            run(&mut client, &["USE TestDB"]);
            let mut count = 0;
            while !is_done.load(Ordering::Acquire) || count == 0 {
                run(&mut client, &["INSERT t (name) VALUES ('another')"]);
                count += 1;
            }
            count
        });
        run(client, &["ALTER DATABASE TestDB SET ENCRYPTION RESUME"]);
        wait_for_state(client, "TestDB", 3);
        is_done.store(true, Ordering::Release);
        let count = writer.join().unwrap();
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), 3000 + count);
    });
}

fn check_what_is_shown(client: &mut Client) {
    let shown = client.batch(
        "SELECT DB_NAME(database_id) AS [DB Name], encryption_state_desc, key_algorithm, key_length, encryption_scan_state_desc
         FROM sys.dm_database_encryption_keys ORDER BY database_id",
    );
    let text = |value: &str| Value::Text(value.into());
    let of = |name: &str, scan: &str| vec![text(name), text("ENCRYPTED"), text("AES"), Value::Int(256), text(scan)];
    assert_eq!(shown.rows(), [of("tempdb", "NONE"), of("TestDB", "COMPLETE")]);
    let same = client.int(
        "SELECT COUNT(*) FROM sys.dm_database_encryption_keys WHERE encryptor_type = 'CERTIFICATE' AND percent_complete = 0
         AND DATALENGTH(encryptor_thumbprint) = 20 AND create_date <= set_date AND encryption_scan_modify_date >= set_date",
    );
    assert_eq!(same, 1);
    let is_encrypted = "SELECT is_encrypted FROM sys.databases WHERE name = ";
    assert_eq!(client.value(&format!("{is_encrypted}'TestDB'")), Value::Bit(true));
    assert_eq!(client.value(&format!("{is_encrypted}'tempdb'")), Value::Bit(true));
    assert_eq!(client.value(&format!("{is_encrypted}'msdb'")), Value::Bit(false));
}

#[test]
fn a_scan_that_is_suspended_stays_so_over_a_restart_and_goes_on() {
    let fixture = in_clear();
    let mut client = fixture.client();
    make_table(&mut client, "d", 500);
    let key = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_128 ENCRYPTION BY SERVER CERTIFICATE c";
    run(
        &mut client,
        &[MASTER_KEY, "CREATE CERTIFICATE c WITH SUBJECT = 's'", "USE d", key],
    );
    refused(
        &mut client,
        &[
            (33108, "ALTER DATABASE d SET ENCRYPTION OFF"),
            (5058, "ALTER DATABASE d SET ENCRYPTION SUSPEND"),
            (5058, "ALTER DATABASE d SET ENCRYPTION RESUME"),
        ],
    );
    pause(&Disk, &fixture.data_folder().join("d.db")).unwrap();
    run(&mut client, &["ALTER DATABASE d SET ENCRYPTION ON"]);
    let scan = "SELECT encryption_scan_state_desc FROM sys.dm_database_encryption_keys WHERE database_id = DB_ID('d')";
    assert_eq!(word(&mut client, scan), "SUSPENDED");
    refused(
        &mut client,
        &[
            (33107, "ALTER DATABASE d SET ENCRYPTION ON"),
            (33109, "ALTER DATABASE d SET ENCRYPTION OFF"),
            (33105, "DROP DATABASE ENCRYPTION KEY"),
            (
                33110,
                "ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = AES_256",
            ),
            (3702, "USE master DROP DATABASE d"),
            (3716, "DROP CERTIFICATE c"),
        ],
    );
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    assert_eq!(state(&mut client, "d"), 2);
    assert_eq!(word(&mut client, scan), "SUSPENDED");
    assert!(has_plaintext(&fixture, "d"));
    run(&mut client, &["USE d", "ALTER DATABASE d SET ENCRYPTION RESUME"]);
    wait_for_state(&mut client, "d", 3);
    assert_eq!(word(&mut client, scan), "COMPLETE");
    assert!(!has_plaintext(&fixture, "d"));
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 500);
    run(&mut client, &["USE master", "DROP DATABASE d", "DROP CERTIFICATE c"]);
    let left = std::fs::read_dir(fixture.data_folder()).unwrap();
    let left = left.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with("d.db")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn a_scan_that_the_server_left_goes_on_with_the_next_one() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    make_table(&mut client, "d", 500);
    let key = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE c";
    run(
        &mut client,
        &[MASTER_KEY, "CREATE CERTIFICATE c WITH SUBJECT = 's'", "USE d", key],
    );
    let path = fixture.data_folder().join("d.db");
    pause(&Disk, &path).unwrap();
    run(&mut client, &["ALTER DATABASE d SET ENCRYPTION ON"]);
    drop(client);
    let fixture = fixture.restarted_after(|| {
        assert!(selenite::reencrypt::resume(&Disk, &path).unwrap());
    });
    let mut client = fixture.client();
    wait_for_state(&mut client, "d", 3);
    run(&mut client, &["USE d"]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 500);
}

#[test]
fn every_algorithm_encrypts_and_off_decrypts() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    make_table(&mut client, "d", 200);
    run(
        &mut client,
        &[MASTER_KEY, "CREATE CERTIFICATE one WITH SUBJECT = 's'", "USE d"],
    );
    for (algorithm, shown) in [
        ("TRIPLE_DES_3KEY", "TRIPLE_DES_3KEY 192"),
        ("AES_128", "AES 128"),
        ("AES_192", "AES 192"),
        ("AES_256", "AES 256"),
    ] {
        let create =
            format!("CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = {algorithm} ENCRYPTION BY SERVER CERTIFICATE one");
        run(&mut client, &[&create, "ALTER DATABASE d SET ENCRYPTION ON"]);
        wait_for_state(&mut client, "d", 3);
        assert_eq!(word(&mut client, ALGORITHM), shown);
        assert!(!has_plaintext(&fixture, "d"), "{algorithm}");
        let mut other = fixture.client();
        run(&mut other, &["USE d"]);
        assert_eq!(
            other.int(&format!("SELECT COUNT(*) FROM t WHERE name = '{MARKER}'")),
            200
        );
        run(&mut client, &["ALTER DATABASE d SET ENCRYPTION OFF"]);
        wait_for_state(&mut client, "d", 1);
        run(&mut client, &["DROP DATABASE ENCRYPTION KEY"]);
    }
}

#[test]
fn a_key_is_renewed_and_belongs_to_another_certificate() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    make_table(&mut client, "d", 200);
    run(
        &mut client,
        &[
            MASTER_KEY,
            "CREATE CERTIFICATE one WITH SUBJECT = 's'",
            "CREATE CERTIFICATE two WITH SUBJECT = 's'",
            "USE d",
        ],
    );
    let create = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_128 ENCRYPTION BY SERVER CERTIFICATE one";
    run(
        &mut client,
        &[
            create,
            "ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = AES_192",
            "ALTER DATABASE d SET ENCRYPTION ON",
        ],
    );
    wait_for_state(&mut client, "d", 3);
    assert_eq!(word(&mut client, ALGORITHM), "AES 192");
    for (algorithm, shown) in [("AES_192", "AES 192"), ("AES_256", "AES 256")] {
        let epoch = epoch(&fixture, "d");
        run(
            &mut client,
            &[&format!(
                "ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = {algorithm}"
            )],
        );
        wait_for_state(&mut client, "d", 3);
        assert_eq!(word(&mut client, ALGORITHM), shown);
        assert!(self::epoch(&fixture, "d") > epoch, "{algorithm}");
    }
    // Another certificate: the old one's key slot is gone.
    assert_eq!(slots(&fixture, "d").len(), 2);
    let before = slots(&fixture, "d");
    run(
        &mut client,
        &["ALTER DATABASE ENCRYPTION KEY ENCRYPTION BY SERVER CERTIFICATE two"],
    );
    let after = slots(&fixture, "d");
    assert!(
        after.len() == 2 && after[0] == before[0] && after[1] != before[1],
        "{after:?}"
    );
    run(&mut client, &["USE master", "DROP CERTIFICATE one"]);
    refused(&mut client, &[(3716, "DROP CERTIFICATE two")]);
    assert_eq!(state(&mut client, "d"), 3);
}

/// The greatest number of an epoch.
fn epoch(fixture: &Fixture, database: &str) -> i64 {
    let rows = status(
        fixture,
        database,
        "SELECT max(CAST(name AS INTEGER)) FROM selenite_status WHERE section = 'epoch'",
    );
    match rows.as_slice() {
        [row] => match row.as_slice() {
            [Cell::Integer(number)] => *number,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn slots(fixture: &Fixture, database: &str) -> Vec<Vec<Cell>> {
    status(
        fixture,
        database,
        "SELECT name FROM selenite_status WHERE section = 'slot'",
    )
}

fn status(fixture: &Fixture, database: &str, sql: &str) -> Vec<Vec<Cell>> {
    let access = Access {
        allow_plain: true,
        allow_deprecated: true,
        ..fixture.access()
    };
    let path = fixture.data_folder().join(format!("{database}.db"));
    let database = Database::open(&Disk, &path, &access).unwrap();
    let mut rows = Taken::default();
    database.run(sql, &mut rows).unwrap();
    rows.0
}

/// The rows of a statement.
#[derive(Default)]
pub struct Taken(pub Vec<Vec<Cell>>);

impl Rows for Taken {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, cells: Vec<Cell>) -> bool {
        self.0.push(cells);
        true
    }

    fn end(&mut self) {}
}
