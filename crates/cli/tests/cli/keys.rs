//! `selenite keys`.

use selenite::Database;
use selenite::storage::Disk;

use crate::fixture::{Fixture, Ignored, run};

fn slots(fixture: &Fixture) -> Vec<(String, String)> {
    let json = fixture.run(&["keys", "list", "app.db", "--json"]).done().json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let slots = json["slots"].as_array().unwrap();
    slots
        .iter()
        .map(|slot| (text(&slot["id"]), text(&slot["label"])))
        .collect()
}

#[test]
fn the_only_slot_of_the_identity_is_removed_only_by_force() {
    let (fixture, path) = Fixture::encrypted();
    let other = fixture.recipient("other.txt");
    fixture.run(&["-i", "key.txt", "keys", "add", "app.db", &other]).done();
    let own = slots(&fixture)[0].0.clone();
    let before = std::fs::read(&path).unwrap();
    let remove = ["-i", "key.txt", "keys", "remove", "app.db", &own];
    fixture.run(&remove).failed(2, "only one that this identity opens");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let ran = fixture.run(&[&remove[..], &["--force"]].concat()).done();
    assert!(ran.err.contains("can no longer open"), "{ran:?}");
    fixture
        .run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys given");
}

#[test]
fn a_slot_is_named_by_its_label_or_its_recipient() {
    let (fixture, _) = Fixture::encrypted();
    let recipients = ["one.txt", "two.txt"].map(|name| {
        fixture.run(&["keygen", "-o", name]).done();
        fixture.recipient(name)
    });
    let key = ["-i", "key.txt", "keys"];
    for (recipient, label) in recipients.iter().zip(["laptop", "backup host"]) {
        fixture
            .run(&[&key[..], &["add", "app.db", recipient, "--label", label]].concat())
            .done();
    }
    let remove = |slot: &str| fixture.run(&[&key[..], &["remove", "app.db", slot]].concat());
    let unknown = remove("phone");
    unknown.failed(2, "no key slot has the id, label or recipient \"phone\"");
    remove(&recipients[0]).done();
    remove("backup host").done();
    assert_eq!(slots(&fixture).len(), 1);
    for recipient in &recipients {
        fixture
            .run(&[&key[..], &["add", "app.db", recipient, "--label", "laptop"]].concat())
            .done();
    }
    let err = remove("laptop").failed(2, "\"laptop\" names 2 key slots: ").err;
    for recipient in &recipients {
        assert!(err.contains(recipient.as_str()), "{err}");
    }
}

#[test]
fn an_invalid_recipient_or_identity_is_refused_with_an_explanation() {
    let (fixture, _) = Fixture::encrypted();
    let add = ["-i", "key.txt", "keys", "add", "app.db", "bob@example.com"];
    let ran = fixture
        .run(&add)
        .failed(6, "\"bob@example.com\" is neither a recipient nor a file");
    assert!(
        ran.err.contains("a recipient is an age public key (age1..."),
        "{}",
        ran.err
    );
    let recipient = fixture.recipient("key.txt");
    let ran = fixture
        .run(&["-i", &recipient, "exec", "app.db", "SELECT 1"])
        .failed(2, "age1... is a public recipient");
    assert!(!ran.err.contains("or age1"), "{}", ran.err);
    let ran = fixture.run(&["-i", "key.txt", "encrypt", "no.db", "--cipher", "aes256"]);
    assert!(ran.status == 2 && ran.err.contains("did you mean AES_256?"), "{ran:?}");
}

#[test]
fn keys_are_listed_added_replaced_and_removed() {
    let (fixture, _) = Fixture::encrypted();
    let other = fixture.recipient("other.txt");
    let text = fixture.run(&["keys", "list", "app.db"]).done().out;
    assert!(text.contains(&fixture.recipient("key.txt")), "{text}");

    let add = [
        "-i",
        "key.txt",
        "keys",
        "add",
        "app.db",
        &other,
        "--label",
        "backup host",
    ];
    let ran = fixture.run(&add).done();
    assert!(
        ran.out.contains("added key slot ") && ran.out.contains(" ms\n"),
        "{ran:?}"
    );
    fixture.run(&add).failed(2, "already has a key slot");
    let listed = slots(&fixture);
    assert_eq!((listed.len(), listed[1].1.as_str()), (2, "backup host"));

    // The slot may have been made by anyone with the public recipient, so its holder accepts it once.
    let refused = fixture.run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"]);
    refused.failed(4, "foreign origin");
    let any = ["-i", "other.txt", "--origin", "any", "exec", "app.db", "SELECT 1"];
    fixture.run(&any).done();
    let accept = ["-i", "other.txt", "keys", "accept", "app.db"];
    let accepted = fixture.run(&accept).done().out;
    for word in [
        "database id",
        "commitment",
        "foreign, accepted",
        &other,
        &fixture.recipient("key.txt"),
    ] {
        assert!(accepted.contains(word), "{word}: {accepted}");
    }
    assert!(fixture.run(&accept).done().out.contains("own, nothing to do"));
    fixture.run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"]).done();

    let remove = ["-i", "other.txt", "keys", "remove", "app.db", &listed[0].0[..8]];
    let ran = fixture.run(&remove).done();
    assert!(ran.err.contains("keys renew"), "{ran:?}");
    fixture
        .run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys given");
    fixture
        .run(&["-i", "other.txt", "keys", "remove", "app.db", &listed[1].0])
        .failed(1, "slot");
    fixture
        .run(&["-i", "other.txt", "keys", "remove", "app.db", "zz"])
        .failed(2, "zz");

    let own = fixture.recipient("key.txt");
    fixture
        .run(&["-i", "other.txt", "keys", "replace", "app.db", &listed[1].0, &own])
        .done();
    fixture.run(&["-i", "key.txt", "keys", "accept", "app.db"]).done();
    fixture.run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"]).done();
    fixture
        .run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys given");
    fixture.plain("clear.db", "CREATE TABLE t (a)");
    fixture.run(&["keys", "list", "clear.db"]).failed(3, "not encrypted");
}

#[test]
fn renewing_keeps_known_key_holders_and_drops_others_only_on_request() {
    let (fixture, _) = Fixture::encrypted();
    std::fs::write(fixture.path("phrase.txt"), "correct horse battery staple\n").unwrap();
    fixture
        .run(&["-i", "key.txt", "keys", "add", "app.db", "passphrase:phrase.txt"])
        .done();
    let renew = ["-i", "key.txt", "keys", "renew", "app.db"];
    fixture.run(&renew).failed(1, "(passphrase)");
    let ran = fixture
        .run(&[
            "-i",
            "key.txt",
            "keys",
            "renew",
            "app.db",
            "-r",
            "passphrase:phrase.txt",
        ])
        .done();
    assert!(ran.out.contains("new master key, commitment "), "{ran:?}");
    fixture
        .run(&["-i", "passphrase:phrase.txt", "exec", "app.db", "SELECT 1"])
        .done();
    let ran = fixture
        .run(&["-i", "key.txt", "keys", "renew", "app.db", "--drop"])
        .done();
    assert!(ran.out.contains("dropped key slot "), "{ran:?}");
    fixture
        .run(&["-i", "passphrase:phrase.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys");
}

#[test]
fn a_pinned_database_is_refused_with_another_master_key_and_renewing_updates_the_pin() {
    let (fixture, path) = Fixture::encrypted();
    fixture.run(&["-i", "key.txt", "keys", "pin", "app.db"]).done();
    let status = fixture.run(&["-i", "key.txt", "status", "app.db"]).done().out;
    assert!(status.contains("pinned       yes"), "{status}");
    let old = std::fs::read(&path).unwrap();
    let ran = fixture.run(&["-i", "key.txt", "keys", "renew", "app.db"]).done();
    assert!(ran.out.contains("pinned again in "), "{ran:?}");
    fixture.run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"]).done();
    // The file as before: the same database, under the master key that was replaced.
    std::fs::write(&path, old).unwrap();
    fixture
        .run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "not the one in the keyring file");
    fixture
        .run(&["-i", "key.txt", "keys", "pin", "app.db"])
        .failed(4, "not the one in the keyring file");
    fixture
        .run(&["-i", "key.txt", "keys", "pin", "app.db", "--replace"])
        .done();
    fixture.run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"]).done();
}

/// Otherwise the database could not be opened any more with that keyring file.
#[test]
fn a_master_key_is_not_renewed_where_the_keyring_file_that_pins_it_cannot_be_written() {
    let (fixture, path) = Fixture::encrypted();
    let ran = fixture.run(&["-i", "key.txt", "keys", "pin", "app.db"]).done();
    let keyring = ran.out.trim().rsplit(' ').next().unwrap().to_owned();
    let lock = format!("{keyring}.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let before = std::fs::read(&path).unwrap();
    let ran = fixture.run(&["-i", "key.txt", "keys", "renew", "app.db"]);
    assert!(ran.status != 0 && ran.err.contains("can't write"), "{ran:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    fixture.run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"]).done();
}

#[test]
fn the_identity_comes_from_the_argument_then_the_environment_then_the_configuration() {
    let (fixture, _) = Fixture::encrypted();
    let sql = ["exec", "app.db", "SELECT 1"];
    run(fixture.command(&sql).env("SELENITE_IDENTITY", "key.txt")).done();
    run(fixture.command(&sql).env("SELENITE_IDENTITY", "other.txt")).failed(4, "none of the keys given");
    let words = ["-i", "key.txt", "exec", "app.db", "SELECT 1"];
    run(fixture.command(&words).env("SELENITE_IDENTITY", "other.txt")).done();
    std::fs::create_dir_all(fixture.path(".config/selenite")).unwrap();
    let config = format!("identity = {:?}\n", fixture.path("key.txt"));
    std::fs::write(fixture.path(".config/selenite/config.toml"), config).unwrap();
    fixture.run(&sql).done();
    run(fixture.command(&sql).env("SELENITE_IDENTITY", "other.txt")).failed(4, "none of the keys given");
}

#[test]
fn a_writer_makes_keys_busy_and_a_reader_does_not() {
    let (fixture, path) = Fixture::encrypted();
    let access = fixture.access();
    let user = Database::open(&Disk, &path, &access).unwrap();
    let other = fixture.recipient("other.txt");
    let add = ["-i", "key.txt", "keys", "add", "app.db", &other];
    user.run("BEGIN IMMEDIATE", &mut Ignored).unwrap();
    fixture.run(&add).failed(7, "app.db: in use");
    user.run("ROLLBACK; BEGIN; SELECT count(*) FROM note", &mut Ignored)
        .unwrap();
    fixture.run(&add).done();
    user.run(
        "SELECT count(*) FROM note; COMMIT; INSERT INTO note VALUES (9999, 'x')",
        &mut Ignored,
    )
    .unwrap();
}

#[test]
fn an_exported_key_opens_a_database_whose_identities_are_lost() {
    use std::os::unix::fs::PermissionsExt;

    let (fixture, _) = Fixture::encrypted();
    let other = fixture.recipient("other.txt");
    let export = [
        "-i",
        "key.txt",
        "keys",
        "export",
        "app.db",
        "--recipient",
        &other,
        "--to",
        "app.age",
    ];
    let ran = fixture.run(&export).done();
    assert!(ran.out.contains("commitment") && ran.out.contains(&other), "{ran:?}");
    assert!(ran.err.contains("until the master key is renewed"), "{ran:?}");
    let mode = std::fs::metadata(fixture.path("app.age")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fixture.run(&export).failed(2, "already exists");
    fixture.run(&[&export[..], &["--force"]].concat()).done();

    fixture.run(&["keygen", "-o", "new.txt"]).done();
    let new = fixture.recipient("new.txt");
    let import = |identity: &str| fixture.run(&["-i", identity, "keys", "import", "app.db", "app.age", "--for", &new]);
    import("new.txt").failed(4, "none of the keys given opens the exported key app.age");
    let wrong = fixture.run(&["-i", "other.txt", "keys", "import", "app.db", "key.txt", "--for", &new]);
    wrong.failed(4, "key.txt: not an exported key");
    std::fs::remove_file(fixture.path("key.txt")).unwrap();
    let ran = import("other.txt").done();
    assert!(ran.out.contains("added key slot "), "{ran:?}");
    assert!(
        ran.err.contains("Accepted database ") && ran.err.contains("commitment "),
        "{ran:?}"
    );
    fixture.run(&["-i", "new.txt", "keys", "accept", "app.db"]).done();
    fixture.run(&["-i", "new.txt", "exec", "app.db", "SELECT 1"]).done();
    fixture
        .run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys");

    fixture
        .run(&["-i", "new.txt", "keys", "renew", "app.db", "--drop"])
        .done();
    // A fast machine has renewed it in the same second.
    let ran = import("other.txt");
    assert!([4, 5].contains(&ran.status), "{ran:?}");
}
