//! `selenite encrypt` and `selenite decrypt`.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::{Fixture, NOTES, run};

/// The ids of a user without rights, to whom no process of another user shows its open files.
const UNPRIVILEGED: u32 = 65534;

fn holds(path: &std::path::Path, needle: &[u8]) -> bool {
    let bytes = std::fs::read(path).unwrap();
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn a_database_is_encrypted_used_and_decrypted() {
    let (fixture, path) = Fixture::encrypted();
    assert!(!holds(&path, b"a secret of ours"));
    let sql = "SELECT count(*), max(text) FROM note";
    let rows = fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done().out;
    assert_eq!(rows, "500\ta secret of ours 99\n");
    let ran = fixture.run(&["-i", "key.txt", "decrypt", "app.db"]).done();
    assert!(ran.out.contains("1 table, 500 rows: every value compared"), "{ran:?}");
    assert!(holds(&path, b"a secret of ours"));
    assert_eq!(fixture.names(), ["app.db"]);
}

#[test]
fn a_database_is_encrypted_while_a_connection_has_it_open() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", &format!("PRAGMA journal_mode = WAL; {NOTES}"));
    selenite::install().unwrap();
    let access = selenite::Access {
        allow_plain: true,
        ..fixture.access()
    };
    let connection = rusqlite::Connection::open(access.uri(&path).as_str()).unwrap();
    let count = || -> u32 {
        let sql = "SELECT count(*) FROM note";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(), 500);
    let both = fixture.run(&["-i", "key.txt", "encrypt", "app.db", "--online", "--to", "new.db"]);
    assert!(both.status == 2 && both.err.contains("--online"), "{both:?}");
    let found = fixture
        .run(&["-i", "key.txt", "encrypt", "app.db", "--online", "--json"])
        .done()
        .json();
    assert_eq!((&found["rows"], &found["suite"]), (&500.into(), &"AES_256".into()));
    assert!(found["online"]["rounds"].as_u64() >= Some(2), "{found}");
    assert!(found["online"]["locked_seconds"].as_f64() > Some(0.0), "{found}");
    connection.execute_batch("DELETE FROM note WHERE id > 400").unwrap();
    assert_eq!(count(), 400);
    let sql = "SELECT count(*) FROM note";
    let rows = fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done().out;
    assert_eq!(rows, "400\n");
    // And back, which has to be asked for twice.
    let back = ["-i", "key.txt", "decrypt", "app.db", "--online"];
    assert_eq!(fixture.run(&back).status, 2);
    fixture
        .run(&[&back[..], &["--confirm", "other.db"]].concat())
        .failed(2, "--confirm");
    let found = fixture
        .run(&[&back[..], &["--confirm", "app.db", "--json"]].concat())
        .done()
        .json();
    assert_eq!(
        (&found["rows"], &found["suite"]),
        (&400.into(), &serde_json::Value::Null)
    );
    assert!(found["online"]["rounds"].as_u64() >= Some(2), "{found}");
    assert_eq!(count(), 400);
    connection.close().unwrap();
    assert!(std::fs::read(&path).unwrap().starts_with(b"SQLite format 3"));
}

/// In rollback mode a process is only seen by its open files, which other users' processes do not show.
#[test]
fn processes_that_are_not_to_be_seen_are_ignored_if_that_is_asked_for() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", NOTES);
    let program = fixture.path("selenite.txt");
    std::fs::copy(env!("CARGO_BIN_EXE_selenite"), &program).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let run = |more: &[&str]| {
        let words = ["-i", "key.txt", "encrypt", "app.db", "--online"];
        let asked = fixture.command(&[&words[..], more].concat());
        let mut command = Command::new(&program);
        command.args(asked.get_args()).current_dir(path.parent().unwrap());
        command.env_clear().env("HOME", path.parent().unwrap());
        if is_root {
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        run(&mut command)
    };
    if is_root {
        for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
            chown(entry.unwrap().path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        chown(path.parent().unwrap(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
    run(&[]).failed(7, "not to be seen are those of");
    assert!(holds(&path, b"a secret of ours"));
    run(&["--ignore-unseen"]).done();
    assert!(!holds(&path, b"a secret of ours"));
    assert_eq!(fixture.names(), ["app.db"]);
}

#[test]
fn encrypting_says_who_opens_it_and_what_is_left_on_the_disk() {
    let fixture = Fixture::new();
    fixture.plain("app.db", NOTES);
    let other = fixture.recipient("other.txt");
    let ran = fixture
        .run(&[
            "-i",
            "key.txt",
            "encrypt",
            "app.db",
            "--cipher",
            "aegis_128x4",
            "-r",
            &other,
        ])
        .done();
    for word in [
        "app.db",
        "AEGIS_128X4",
        "500 rows",
        &other,
        &fixture.recipient("key.txt"),
    ] {
        assert!(ran.out.contains(word), "{word}: {ran:?}");
    }
    assert!(
        ran.err.contains("Freed disk blocks still contain the unencrypted data"),
        "{ran:?}"
    );
    fixture.run(&["-i", "other.txt", "keys", "accept", "app.db"]).done();
    fixture.run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"]).done();
}

#[test]
fn the_result_as_json_has_what_the_text_has() {
    let fixture = Fixture::new();
    fixture.plain("app.db", NOTES);
    let ran = fixture
        .run(&["-i", "key.txt", "encrypt", "app.db", "--cipher", "CHACHA20", "--json"])
        .done();
    let found = ran.json();
    assert_eq!(
        (&found["database"], &found["suite"]),
        (&"app.db".into(), &"CHACHA20".into())
    );
    assert_eq!((&found["tables"], &found["rows"]), (&1.into(), &500.into()));
    assert!(found["path"].as_str().unwrap().ends_with("app.db"), "{found}");
    assert_eq!(found["size"], std::fs::metadata(fixture.path("app.db")).unwrap().len());
    let slots = found["slots"].as_array().unwrap();
    assert!(
        slots.len() == 1 && slots[0].as_str().unwrap().contains(&fixture.recipient("key.txt")),
        "{found}"
    );
    for empty in ["removed", "left_over", "not_kept"] {
        assert_eq!(found[empty], serde_json::json!([]), "{empty}");
    }
    assert!(
        found["not_notified"].is_null() && found["seconds"].as_f64().unwrap() > 0.0,
        "{found}"
    );
    assert!(ran.err.contains("Freed disk blocks"), "{ran:?}");
    let ran = fixture
        .run(&["-i", "key.txt", "decrypt", "app.db", "--to", "clear.db", "--json"])
        .done();
    let found = ran.json();
    assert_eq!(
        (&found["database"], &found["suite"]),
        (&"app.db".into(), &serde_json::Value::Null)
    );
    assert_eq!((&found["rows"], &found["slots"]), (&500.into(), &serde_json::json!([])));
    assert!(found["path"].as_str().unwrap().ends_with("clear.db"), "{found}");
}

#[test]
fn to_a_new_file_overwrites_nothing() {
    let (fixture, _) = Fixture::encrypted();
    fixture
        .run(&["-i", "key.txt", "decrypt", "app.db", "--to", "clear.db"])
        .done();
    fixture
        .run(&["-i", "key.txt", "decrypt", "app.db", "--to", "clear.db"])
        .failed(2, "clear.db: already exists");
    let ran = fixture
        .run(&["-i", "key.txt", "encrypt", "clear.db", "--to", "again.db"])
        .done();
    assert!(!ran.err.contains("Freed disk blocks"), "{ran:?}");
    assert_eq!(fixture.names(), ["again.db", "app.db", "clear.db"]);
}

#[test]
fn each_way_to_fail_has_its_exit_status() {
    let (fixture, path) = Fixture::encrypted();
    fixture.plain("clear.db", NOTES);
    std::fs::write(fixture.path("noise.db"), [b'x'; 9000]).unwrap();
    fixture
        .run(&["-i", "key.txt", "encrypt", "app.db"])
        .failed(1, "already encrypted");
    fixture
        .run(&["-i", "key.txt", "decrypt", "clear.db"])
        .failed(3, "not encrypted");
    fixture
        .run(&["-i", "key.txt", "encrypt", "noise.db"])
        .failed(3, "not encrypted");
    fixture.run(&["encrypt", "clear.db"]).failed(4, "no key");
    fixture.run(&["decrypt", "app.db"]).failed(4, "no key");
    fixture
        .run(&["-i", "other.txt", "decrypt", "app.db"])
        .failed(4, "none of the keys given");
    fixture
        .run(&["-i", "key.txt", "encrypt", "missing.db"])
        .failed(6, "missing.db");
    fixture
        .run(&["-i", "missing.txt", "encrypt", "clear.db"])
        .failed(6, "missing.txt");
    crate::fixture::flip_page(&path, 2);
    fixture.run(&["-i", "key.txt", "decrypt", "app.db"]).failed(5, "page 2");
    assert_eq!(fixture.names(), ["app.db", "clear.db", "noise.db"]);
}

#[test]
fn a_database_in_use_is_exit_status_7_and_stays_as_it_is() {
    for (mode, sql) in [
        ("DELETE", "BEGIN; SELECT count(*) FROM note"),
        ("DELETE", "BEGIN IMMEDIATE"),
        ("WAL", "SELECT count(*) FROM note"),
    ] {
        let fixture = Fixture::new();
        let path = fixture.plain("app.db", &format!("PRAGMA journal_mode = {mode}; {NOTES}"));
        let before = std::fs::read(&path).unwrap();
        let user = rusqlite::Connection::open(&path).unwrap();
        user.execute_batch(sql).unwrap();
        fixture
            .run(&["-i", "key.txt", "encrypt", "app.db"])
            .failed(7, "app.db: in use");
        assert!(
            fixture.names().iter().all(|name| !name.contains("selenite-tmp")),
            "{:?}",
            fixture.names()
        );
        user.execute_batch("UPDATE note SET text = text").unwrap();
        drop(user);
        // Only here: closing the file earlier would release this process's locks (fcntl(2)).
        assert_eq!(std::fs::read(&path).unwrap().len(), before.len(), "{mode} {sql}");
    }
}

/// An application may define collations that other programs do not have.
#[test]
fn a_collation_of_the_application_is_an_error_that_says_what_to_do() {
    let fixture = Fixture::new();
    let path = fixture.plain(
        "app.db",
        "CREATE TABLE name (a TEXT COLLATE NOCASE); INSERT INTO name VALUES ('x'), ('y');
         CREATE INDEX by_name ON name (a); PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'HOUSE');",
    );
    let before = std::fs::read(&path).unwrap();
    fixture
        .run(&["-i", "key.txt", "encrypt", "app.db"])
        .failed(1, "no such collation sequence: HOUSE");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(fixture.names(), ["app.db"]);
}

/// Neither the reader nor the copy is blocked.
#[test]
fn to_a_new_file_works_beside_a_reader() {
    let fixture = Fixture::new();
    let path = fixture.plain("app.db", NOTES);
    let user = rusqlite::Connection::open(&path).unwrap();
    user.execute_batch("BEGIN; SELECT count(*) FROM note").unwrap();
    fixture
        .run(&["-i", "key.txt", "encrypt", "app.db", "--to", "new.db"])
        .done();
}

#[test]
fn ctrl_c_leaves_the_database_and_nothing_else() {
    let fixture = Fixture::new();
    let path = fixture.plain(
        "app.db",
        "CREATE TABLE note (a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
         INSERT INTO note SELECT hex(zeroblob(100)) FROM n;",
    );
    let before = std::fs::read(&path).unwrap();
    let interrupted = || {
        let mut child = fixture
            .command(&["-i", "key.txt", "encrypt", "app.db"])
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // As soon as the command has begun to write.
        let is_writing = || fixture.names().iter().any(|name| name.contains("selenite-tmp"));
        while !is_writing() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        // The command may have completed before this process saw the file; then the attempt is repeated.
        let is_done = output.status.success();
        if is_done {
            std::fs::write(&path, &before).unwrap();
        }
        (!is_done).then_some(output)
    };
    let output = (0..100)
        .find_map(|_| interrupted())
        .expect("it was interrupted in time");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: interrupted"));
    assert_eq!(fixture.names(), ["app.db"]);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), before.len() as u64);
    let text: String = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(text, "ok");
}
