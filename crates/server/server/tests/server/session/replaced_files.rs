//! A file that replaced a database's file: the server does not open it, and no data of it is lost.

use std::path::{Path, PathBuf};

use selenite_types::Value;

use super::client::{Client, numbers};
use super::encryption::{MASTER_KEY, in_clear, make_table, refused, run, state, wait_for_state};
use super::fixture::Fixture;

fn copy(from: &Path, to: &Path) {
    std::fs::copy(from, to).unwrap();
}

/// A server with the databases `d` and `e`, which are encrypted, and files of `d` from before that; and where the
/// databases are.
fn encrypted() -> (Fixture, PathBuf) {
    let fixture = in_clear();
    let folder = fixture.data_folder();
    let mut client = fixture.client();
    for name in ["d", "e"] {
        make_table(&mut client, name, 20);
    }
    let before = folder.clone();
    let fixture = fixture.restarted_after(move || copy(&before.join("d.db"), &before.join("before")));
    let mut client = fixture.client();
    run(&mut client, &[MASTER_KEY, "CREATE CERTIFICATE c WITH SUBJECT = 's'"]);
    for name in ["d", "e"] {
        run(
            &mut client,
            &[
                &format!("USE {name}"),
                "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_128 ENCRYPTION BY SERVER CERTIFICATE c",
                &format!("ALTER DATABASE {name} SET ENCRYPTION ON"),
            ],
        );
        wait_for_state(&mut client, name, 3);
    }
    // A scan is over when its thread is.
    (fixture.restarted(), folder)
}

fn is_refused(client: &mut Client) {
    let answer = client.batch("USE d");
    assert_eq!(numbers(&answer), [945], "{answer:?}");
    let text = &answer.said()[0].text;
    assert!(
        text.starts_with("Database 'd' cannot be opened due to inaccessible files"),
        "{text}"
    );
    let listed = client.value("SELECT COUNT(*) FROM sys.databases WHERE name = 'd'");
    assert_eq!(listed, Value::Int(1));
    run(client, &["USE e", "SELECT * FROM t", "USE master"]);
}

#[test]
fn an_encrypted_database_is_not_taken_from_a_file_in_clear_or_of_another_database() {
    let (mut fixture, folder) = encrypted();
    let kept = folder.join("kept");
    let path = folder.join("d.db");
    let plain = folder.join("plain");
    rusqlite::Connection::open(&plain)
        .and_then(|made| made.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, name CHAR(200))"))
        .unwrap();
    std::fs::write(folder.join("nothing"), "").unwrap();
    std::fs::write(folder.join("foreign"), [0xaa; 9000]).unwrap();
    let mut is_first = true;
    for other in ["before", "plain", "nothing", "foreign", "e.db"] {
        let mut put = Vec::new();
        fixture = fixture.restarted_after(|| {
            if is_first {
                copy(&path, &kept);
            }
            copy(&folder.join(other), &path);
            put = std::fs::read(&path).unwrap();
        });
        is_first = false;
        is_refused(&mut fixture.client());
        assert!(put == std::fs::read(&path).unwrap(), "{other}");
    }
    fixture = fixture.restarted_after(move || copy(&kept, &path));
    let mut client = fixture.client();
    run(&mut client, &["USE d"]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 20);
    assert_eq!(state(&mut client, "d"), 3);
}

#[test]
fn a_file_that_came_while_the_server_runs_and_nobody_has_the_database_open_is_refused_too() {
    let (fixture, folder) = encrypted();
    let mut client = fixture.client();
    run(&mut client, &["USE d", "SELECT * FROM t", "USE master"]);
    copy(&folder.join("before"), &folder.join("d.db"));
    is_refused(&mut client);
    refused(&mut client, &[(945, "DBCC CHECKDB ('d')")]);
}

#[test]
fn who_switches_encryption_off_admits_a_file_in_clear() {
    let (fixture, folder) = encrypted();
    let fixture = fixture.restarted_after(move || copy(&folder.join("before"), &folder.join("d.db")));
    let mut client = fixture.client();
    is_refused(&mut client);
    run(&mut client, &["ALTER DATABASE d SET ENCRYPTION OFF", "USE d"]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 20);
    refused(&mut client, &[(33108, "ALTER DATABASE d SET ENCRYPTION OFF")]);
}

#[test]
fn a_database_that_is_decrypted_stays_open_to_who_has_it_and_opens_for_others() {
    let (fixture, _) = encrypted();
    let (mut one, mut other) = (fixture.client(), fixture.client());
    run(&mut one, &["USE d", "SELECT * FROM t"]);
    run(&mut other, &["ALTER DATABASE d SET ENCRYPTION OFF"]);
    run(&mut fixture.client(), &["USE d", "SELECT * FROM t"]);
    wait_for_state(&mut other, "d", 1);
    run(&mut one, &["INSERT t (name) VALUES ('x')"]);
    run(&mut fixture.client(), &["USE d", "SELECT * FROM t"]);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    run(&mut client, &["USE d"]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 21);
}

/// A kill between the last page and the note in master.db, and one between the note and the first page that is
/// decrypted.
#[test]
fn what_a_kill_left_unnoted_is_noted_by_the_next_start() {
    let (fixture, folder) = encrypted();
    let place = folder.parent().unwrap().to_owned();
    let fixture = fixture.restarted_after(|| {
        let master = super::fixture::in_sqlite(&place, "master");
        let forget = "UPDATE selenite_database SET must_be_encrypted = 0, file_id = NULL";
        master.execute_batch(forget).unwrap();
    });
    let before = folder.clone();
    let fixture = fixture.restarted_after(move || copy(&before.join("before"), &before.join("d.db")));
    is_refused(&mut fixture.client());
}

#[test]
fn a_database_whose_file_is_anothers_can_be_dropped_and_the_file_stays() {
    let (fixture, folder) = encrypted();
    let path = folder.join("d.db");
    let other = folder.join("e.db");
    let fixture = {
        let (path, other) = (path.clone(), other.clone());
        fixture.restarted_after(move || copy(&other, &path))
    };
    let mut client = fixture.client();
    is_refused(&mut client);
    let dropped = client.batch("DROP DATABASE d");
    assert_eq!(numbers(&dropped), [0_i32; 0], "{dropped:?}");
    let told = dropped.infos();
    assert!(told[0].contains(&path.display().to_string()), "{told:?}");
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&other).unwrap());
    let again = client.batch("CREATE DATABASE d");
    assert_eq!(numbers(&again), [1802, 5170], "{again:?}");
    assert!(again.said()[1].text.contains(&path.display().to_string()), "{again:?}");
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.databases WHERE name = 'd'"), 0);
    std::fs::remove_file(&path).unwrap();
    run(&mut client, &["CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT)"]);
}

#[test]
fn a_file_that_nobody_named_is_never_overwritten() {
    let fixture = Fixture::new();
    let path = fixture.data_folder().join("mine.db");
    std::fs::write(&path, "my rows").unwrap();
    let mut client = fixture.client();
    make_table(&mut client, "d", 5);
    run(&mut client, &["USE master", "BACKUP DATABASE d TO DISK = 'd.bak'"]);
    let made = client.batch("CREATE DATABASE mine");
    assert_eq!(numbers(&made), [1802, 5170], "{made:?}");
    for with in ["", " WITH REPLACE"] {
        let restored = client.batch(&format!("RESTORE DATABASE mine FROM DISK = 'd.bak'{with}"));
        assert_eq!(numbers(&restored), [3156, 3013], "{restored:?}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"my rows");
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.databases WHERE name = 'mine'"), 0);
    assert_eq!(std::fs::read(&path).unwrap(), b"my rows");
    std::fs::remove_file(&path).unwrap();
    run(&mut client, &["RESTORE DATABASE mine FROM DISK = 'd.bak'", "USE mine"]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 5);
}

/// The rest of what a kill can leave is tested without a server, step by step (`data/unfinished`).
#[test]
fn a_restore_that_was_killed_behind_its_rename_is_ended_by_the_next_start() {
    let (fixture, folder) = encrypted();
    let mut client = fixture.client();
    run(
        &mut client,
        &[
            "BACKUP DATABASE d TO DISK = 'd.bak'",
            "RESTORE DATABASE f FROM DISK = 'd.bak'",
        ],
    );
    assert_eq!(state(&mut client, "f"), 3);
    let place = folder.parent().unwrap().to_owned();
    let fixture = fixture.restarted_after(|| {
        let master = super::fixture::in_sqlite(&place, "master");
        let sql = "UPDATE selenite_database SET unfinished = 'create', must_be_encrypted = 0 WHERE name = 'f';
            DELETE FROM selenite_encryption_key WHERE database_id = (SELECT id FROM selenite_database WHERE name = 'f')";
        master.execute_batch(sql).unwrap();
    });
    let mut client = fixture.client();
    assert_eq!(state(&mut client, "f"), 3);
    run(&mut client, &["USE f"]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 20);
    let by = "SELECT COUNT(*) FROM sys.dm_database_encryption_keys WHERE encryptor_type = 'CERTIFICATE' AND \
        database_id = DB_ID('f')";
    assert_eq!(client.int(by), 1);
    let fixture = fixture.restarted_after(|| copy(&folder.join("before"), &folder.join("f.db")));
    assert_eq!(numbers(&fixture.client().batch("USE f")), [945]);
}
