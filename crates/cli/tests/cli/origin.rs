//! Databases made by others (FORMAT 4.7): the commands that accept them, and pins of identities
//! that cannot make origin marks.

use std::fs;

use crate::fixture::{Fixture, Ran, run};

/// app.db, made by key.txt, with a slot for the public recipient of other.txt.
fn made_for_other() -> Fixture {
    let (fixture, _) = Fixture::encrypted();
    let other = fixture.recipient("other.txt");
    fixture.run(&["-i", "key.txt", "keys", "add", "app.db", &other]).done();
    fixture
}

fn config(fixture: &Fixture, text: &str) {
    let folder = fixture.path(".config/selenite");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

const READ: [&str; 5] = ["-i", "other.txt", "exec", "app.db", "SELECT 1"];

#[test]
fn the_policy_is_that_of_the_argument_then_the_environment_then_the_configuration() {
    let fixture = made_for_other();
    let with = |policy: &str, environment: &str| {
        let words = [&["--origin", policy][..], &READ[..]].concat();
        run(fixture.command(&words).env("SELENITE_ORIGIN", environment))
    };
    fixture.run(&READ).failed(4, "foreign origin");
    run(fixture.command(&READ).env("SELENITE_ORIGIN", "any")).done();
    with("own", "any").failed(4, "foreign origin");
    with("any", "own").done();
    let wrong = with("all", "");
    assert!(wrong.status == 2 && wrong.err.contains("own or any"), "{wrong:?}");
    run(fixture.command(&READ).env("SELENITE_ORIGIN", "yes")).failed(2, "the values are own and any");
    config(&fixture, "origin = \"any\"");
    fixture.run(&READ).done();
    run(fixture.command(&READ).env("SELENITE_ORIGIN", "own")).failed(4, "foreign origin");
    config(&fixture, "origin = \"mine\"");
    let wrong = fixture.run(&READ);
    assert!(
        wrong.status != 0 && wrong.err.contains("line 1: invalid origin"),
        "{wrong:?}"
    );
}

#[test]
fn status_and_list_tell_the_origin_and_the_commitment() {
    let fixture = made_for_other();
    let status = |key: &str| fixture.run(&["-i", key, "status", "app.db", "--json"]).done().json();
    let (own, foreign) = (status("key.txt"), status("other.txt"));
    let verified = |key: &str, policy: &str| {
        let words = ["-i", key, "--origin", policy, "verify", "app.db", "--json"];
        fixture.run(&words).done().json()["origin"].clone()
    };
    assert_eq!(
        (verified("key.txt", "own"), verified("other.txt", "any")),
        ("own".into(), "foreign".into())
    );
    let text = fixture.run(&["-i", "key.txt", "verify", "app.db"]).done().out;
    assert!(text.contains("origin       own"), "{text}");
    assert_eq!(own["superblock"]["origin"], "own");
    assert_eq!(foreign["superblock"]["origin"], "foreign");
    let commitment = own["superblock"]["commitment"].as_str().unwrap();
    assert_eq!(
        (commitment.len(), &foreign["superblock"]["commitment"]),
        (64, &own["superblock"]["commitment"])
    );
    let listed = fixture
        .run(&["-i", "other.txt", "keys", "list", "app.db", "--json"])
        .done()
        .json();
    assert_eq!(
        (&listed["origin"], &listed["commitment"]),
        (&foreign["superblock"]["origin"], &own["superblock"]["commitment"])
    );
    let without = fixture.run(&["keys", "list", "app.db", "--json"]).done().json();
    assert!(without["origin"].is_null() && without["commitment"].is_null());
    let text = fixture.run(&["-i", "other.txt", "status", "app.db"]).done().out;
    assert!(text.contains("foreign origin: selenite keys accept"), "{text}");
    let warned = [
        "-i",
        "other.txt",
        "status",
        "app.db",
        "--fail-on-warning",
        "--verify-days",
        "0",
    ];
    assert_eq!(fixture.run(&warned).status, 1);
}

/// A command that adds 128 to every byte, and so is its own inverse.
const ROTATE: &str = "[commands]\nkms = [\"sh\", \"-c\", \"LC_ALL=C tr '\\\\000-\\\\177\\\\200-\\\\377' '\\\\200-\\\\377\\\\000-\\\\177'\", \"sh\"]\n";

fn by_command(fixture: &Fixture, words: &[&str]) -> Ran {
    fixture.run(&[&["-i", "command:kms"], words].concat())
}

#[test]
fn a_key_command_pins_a_database_on_first_use() {
    let fixture = Fixture::new();
    config(&fixture, ROTATE);
    let make = |name: &str| by_command(&fixture, &["exec", "--create", name, "CREATE TABLE t (a)"]).done();
    let read = |name: &str| by_command(&fixture, &["exec", name, "SELECT count(*) FROM t"]);
    make("app.db");
    make("other.db");
    read("app.db").done();
    let pins = || fs::read_to_string(fixture.path(".config/selenite/keyring.toml")).unwrap();
    assert!(
        pins().contains("app.db\" = [") && !pins().contains("other.db"),
        "{}",
        pins()
    );
    // The same path and id under a renewed master key.
    by_command(&fixture, &["keys", "renew", "app.db"]).done();
    read("app.db").done();
    // Another database at the same path.
    let own = fs::read(fixture.path("app.db")).unwrap();
    fs::copy(fixture.path("other.db"), fixture.path("app.db")).unwrap();
    read("app.db").failed(4, "the keyring file lists another database");
    by_command(&fixture, &["status", "app.db"]).done();
    by_command(&fixture, &["keys", "accept", "app.db"]).done();
    read("app.db").done();
    fs::write(fixture.path("app.db"), own).unwrap();
    read("app.db").failed(4, "the keyring file lists another database");
    // A database that this identity makes there again is its own.
    fs::remove_file(fixture.path("app.db")).unwrap();
    make("app.db");
    read("app.db").done();
    // If the pin cannot be stored, nothing is opened.
    let lock = fixture.path(".config/selenite/keyring.toml.lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    read("other.db").failed(4, "cannot pin the database on first use");
    by_command(&fixture, &["--origin", "any", "exec", "other.db", "SELECT 1"]).done();
}

#[test]
fn what_is_restored_or_encrypted_at_a_pinned_path_takes_its_place() {
    let fixture = Fixture::new();
    config(&fixture, ROTATE);
    let read = || by_command(&fixture, &["exec", "app.db", "SELECT count(*) FROM t"]);
    by_command(&fixture, &["exec", "--create", "app.db", "CREATE TABLE t (a)"]).done();
    read().done();
    by_command(&fixture, &["backup", "app.db", "backups"]).done();
    let again = ["restore", "backups", "--to", "app.db", "--force"];
    // The keyring file contains its id and master key; without it, the origin cannot be proved.
    by_command(&fixture, &again).done();
    read().done();
    let elsewhere = [&["-i", "command:kms"][..], &["restore", "backups", "--to", "new.db"]].concat();
    let unknown = run(fixture.command(&elsewhere).env("SELENITE_KEYRING", "empty.toml"));
    assert!(unknown.status != 0, "{unknown:?}");
    fs::write(fixture.path("empty.toml"), "").unwrap();
    let unknown = run(fixture.command(&elsewhere).env("SELENITE_KEYRING", "empty.toml"));
    unknown.failed(4, "cannot prove who made it");
    let other_keys = [&["--origin", "any"][..], &again[..], &["--for", "command:kms"][..]].concat();
    by_command(&fixture, &other_keys).done();
    read().done();
    by_command(&fixture, &["decrypt", "app.db"]).done();
    by_command(&fixture, &["encrypt", "app.db"]).done();
    read().done();
    let text = fs::read_to_string(fixture.path(".config/selenite/keyring.toml")).unwrap();
    assert_eq!(text.matches(" = [").count(), 1, "a draft was pinned: {text}");
}
