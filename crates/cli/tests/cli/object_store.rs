//! Backups in an object store: a real one, on loopback.

#[path = "../../../storage/backup/tests/backup/store/real_store.rs"]
mod real_store;

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use real_store::RealStore;

use crate::fixture::{Fixture, Ran, run};

const KEY_ID: &str = "AKIATEST";
const SECRET: &str = "hunter2/hunter2";

fn listen() -> TcpListener {
    for port in 12_000 + u16::try_from(std::process::id() % 8_000).unwrap()..32_768 {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return listener;
        }
    }
    panic!("no port is free");
}

fn with_store<'a>(command: &'a mut Command, store: &RealStore, secret: &str) -> &'a mut Command {
    command
        .env("AWS_ACCESS_KEY_ID", KEY_ID)
        .env("AWS_SECRET_ACCESS_KEY", secret)
        .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", store.port))
}

fn run_with_store(fixture: &Fixture, store: &RealStore, arguments: &[&str]) -> Ran {
    let ran = run(with_store(&mut fixture.command(arguments), store, SECRET));
    assert!(!format!("{ran:?}").contains("hunter2"), "{ran:?}");
    ran
}

#[test]
fn a_database_is_backed_up_to_an_object_store_and_restored_from_it() {
    let store = RealStore::start();
    let (fixture, path) = Fixture::encrypted();
    let backup = ["-i", "key.txt", "backup", "app.db", "s3://backups/x"];
    let first = run_with_store(&fixture, &store, &backup).done();
    assert!(first.out.contains("s3://backups/x"), "{first:?}");
    let sql = "INSERT INTO note (text) VALUES ('later')";
    fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done();
    run_with_store(&fixture, &store, &backup).done();
    std::fs::remove_file(&path).unwrap();
    let restore = ["-i", "key.txt", "restore", "s3://backups/x", "--to", "new.db"];
    run_with_store(&fixture, &store, &restore).done();
    let sql = "SELECT count(*), max(text) FROM note";
    let rows = fixture.run(&["-i", "key.txt", "exec", "new.db", sql]).done().out;
    assert_eq!(rows, "501\tlater\n");
}

#[test]
fn a_refusal_by_the_store_is_reported_with_advice() {
    let store = RealStore::start();
    let (fixture, _) = Fixture::encrypted();
    let mut command = fixture.command(&["-i", "key.txt", "backup", "app.db", "s3://backups/x"]);
    let ran = run(with_store(&mut command, &store, "hunter2"));
    assert!(!ran.err.contains("hunter2"), "{ran:?}");
    ran.failed(6, "the store answered 403 SignatureDoesNotMatch");
    assert!(!store.folder.path().join("backups/x").exists());
}

#[test]
fn places_of_other_kinds_are_refused_without_their_passwords() {
    let (fixture, _) = Fixture::encrypted();
    for place in [
        "gs://b/p",
        "http://user:hunter2@host/p",
        "s3://user:hunter2@bucket",
        "s3:backups",
    ] {
        let ran = fixture.run(&["-i", "key.txt", "backup", "app.db", place]);
        assert!(!ran.err.contains("hunter2"), "{ran:?}");
        ran.failed(2, "can't open ");
    }
    assert_eq!(fixture.names(), ["app.db"]);
}

#[test]
fn short_anchors_are_kept_in_an_object_store() {
    let store = RealStore::start();
    let (mut fixture, _) = Fixture::encrypted();
    let config = fixture.path("config.toml");
    let command = env!("CARGO_BIN_EXE_selenite");
    let text = format!("[commands]\nwitness = [{command:?}, \"anchor-store\", \"s3://backups/anchors\"]\n");
    std::fs::write(&config, text).unwrap();
    fixture
        .variables
        .push(("SELENITE_CONFIG", config.display().to_string()));
    let sql = "PRAGMA journal_mode = WAL";
    fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done();
    let follow = [
        "-i",
        "key.txt",
        "follow",
        "app.db",
        "--anchor-to",
        "command:witness",
        "--once",
    ];
    let first = [&follow[..], &["--first-anchor"]].concat();
    for change in 1..=3 {
        let sql = format!("UPDATE note SET text = 'x' WHERE id = {change}");
        fixture.run(&["-i", "key.txt", "exec", "app.db", &sql]).done();
        let words = if change == 1 { &first } else { &follow[..] };
        let written = run_with_store(&fixture, &store, words).done();
        assert_eq!(written.out, "1 anchor written\n");
    }
    // With another secret the store refuses, and the secret is not said.
    let refused = run(with_store(&mut fixture.command(&follow), &store, "hunter3"));
    assert!(!format!("{refused:?}").contains("hunter"), "{refused:?}");
    refused.failed(6, "command:witness");
}
