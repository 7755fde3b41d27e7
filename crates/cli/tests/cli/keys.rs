//! `selenite keys`.

use selenite::Database;
use selenite::storage::Disk;

use crate::bench::{Bench, Ignored, run};

fn slots(bench: &Bench) -> Vec<(String, String)> {
    let json = bench.run(&["keys", "list", "app.db", "--json"]).done().json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let slots = json["slots"].as_array().unwrap();
    slots
        .iter()
        .map(|slot| (text(&slot["id"]), text(&slot["label"])))
        .collect()
}

#[test]
fn the_only_slot_of_the_identity_is_removed_only_by_force() {
    let (bench, path) = Bench::encrypted();
    let other = bench.recipient("other.txt");
    bench.run(&["-i", "key.txt", "keys", "add", "app.db", &other]).done();
    let own = slots(&bench)[0].0.clone();
    let before = std::fs::read(&path).unwrap();
    let remove = ["-i", "key.txt", "keys", "remove", "app.db", &own];
    bench.run(&remove).failed(2, "only one that this identity opens");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let ran = bench.run(&[&remove[..], &["--force"]].concat()).done();
    assert!(ran.err.contains("can no longer open"), "{ran:?}");
    bench
        .run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys given");
}

#[test]
fn a_slot_is_named_by_its_label_or_its_recipient() {
    let (bench, _) = Bench::encrypted();
    let recipients = ["one.txt", "two.txt"].map(|name| {
        bench.run(&["keygen", "-o", name]).done();
        bench.recipient(name)
    });
    let key = ["-i", "key.txt", "keys"];
    for (recipient, label) in recipients.iter().zip(["laptop", "backup host"]) {
        bench
            .run(&[&key[..], &["add", "app.db", recipient, "--label", label]].concat())
            .done();
    }
    let remove = |slot: &str| bench.run(&[&key[..], &["remove", "app.db", slot]].concat());
    let unknown = remove("phone");
    unknown.failed(2, "no key slot has the id, label or recipient \"phone\"");
    remove(&recipients[0]).done();
    remove("backup host").done();
    assert_eq!(slots(&bench).len(), 1);
    for recipient in &recipients {
        bench
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
    let (bench, _) = Bench::encrypted();
    let add = ["-i", "key.txt", "keys", "add", "app.db", "bob@example.com"];
    let ran = bench
        .run(&add)
        .failed(6, "\"bob@example.com\" is neither a recipient nor a file");
    assert!(
        ran.err.contains("a recipient is an age public key (age1..."),
        "{}",
        ran.err
    );
    let recipient = bench.recipient("key.txt");
    let ran = bench
        .run(&["-i", &recipient, "exec", "app.db", "SELECT 1"])
        .failed(2, "age1... is a public recipient");
    assert!(!ran.err.contains("or age1"), "{}", ran.err);
    let ran = bench.run(&["-i", "key.txt", "encrypt", "no.db", "--cipher", "aes256"]);
    assert!(ran.status == 2 && ran.err.contains("did you mean AES_256?"), "{ran:?}");
}

#[test]
fn keys_are_listed_added_replaced_and_removed() {
    let (bench, _) = Bench::encrypted();
    let other = bench.recipient("other.txt");
    let text = bench.run(&["keys", "list", "app.db"]).done().out;
    assert!(text.contains(&bench.recipient("key.txt")), "{text}");

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
    let ran = bench.run(&add).done();
    assert!(
        ran.out.contains("added key slot ") && ran.out.contains(" ms\n"),
        "{ran:?}"
    );
    bench.run(&add).failed(2, "already has a key slot");
    let listed = slots(&bench);
    assert_eq!((listed.len(), listed[1].1.as_str()), (2, "backup host"));

    // The slot may have been made by anyone with the public recipient, so its holder accepts it once.
    let refused = bench.run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"]);
    refused.failed(4, "foreign origin");
    let any = ["-i", "other.txt", "--origin", "any", "exec", "app.db", "SELECT 1"];
    bench.run(&any).done();
    let accept = ["-i", "other.txt", "keys", "accept", "app.db"];
    let accepted = bench.run(&accept).done().out;
    for word in [
        "database id",
        "commitment",
        "foreign, accepted",
        &other,
        &bench.recipient("key.txt"),
    ] {
        assert!(accepted.contains(word), "{word}: {accepted}");
    }
    assert!(bench.run(&accept).done().out.contains("own, nothing to do"));
    bench.run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"]).done();

    let remove = ["-i", "other.txt", "keys", "remove", "app.db", &listed[0].0[..8]];
    let ran = bench.run(&remove).done();
    assert!(ran.err.contains("keys renew"), "{ran:?}");
    bench
        .run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys given");
    bench
        .run(&["-i", "other.txt", "keys", "remove", "app.db", &listed[1].0])
        .failed(1, "slot");
    bench
        .run(&["-i", "other.txt", "keys", "remove", "app.db", "zz"])
        .failed(2, "zz");

    let own = bench.recipient("key.txt");
    bench
        .run(&["-i", "other.txt", "keys", "replace", "app.db", &listed[1].0, &own])
        .done();
    bench.run(&["-i", "key.txt", "keys", "accept", "app.db"]).done();
    bench.run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"]).done();
    bench
        .run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys given");
    bench.plain("clear.db", "CREATE TABLE t (a)");
    bench.run(&["keys", "list", "clear.db"]).failed(3, "not encrypted");
}

#[test]
fn renewing_keeps_known_key_holders_and_drops_others_only_on_request() {
    let (bench, _) = Bench::encrypted();
    std::fs::write(bench.path("phrase.txt"), "correct horse battery staple\n").unwrap();
    bench
        .run(&["-i", "key.txt", "keys", "add", "app.db", "passphrase:phrase.txt"])
        .done();
    let renew = ["-i", "key.txt", "keys", "renew", "app.db"];
    bench.run(&renew).failed(1, "(passphrase)");
    let ran = bench
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
    bench
        .run(&["-i", "passphrase:phrase.txt", "exec", "app.db", "SELECT 1"])
        .done();
    let ran = bench
        .run(&["-i", "key.txt", "keys", "renew", "app.db", "--drop"])
        .done();
    assert!(ran.out.contains("dropped key slot "), "{ran:?}");
    bench
        .run(&["-i", "passphrase:phrase.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys");
}

#[test]
fn a_pinned_database_is_refused_with_another_master_key_and_renewing_updates_the_pin() {
    let (bench, path) = Bench::encrypted();
    bench.run(&["-i", "key.txt", "keys", "pin", "app.db"]).done();
    let status = bench.run(&["-i", "key.txt", "status", "app.db"]).done().out;
    assert!(status.contains("pinned       yes"), "{status}");
    let old = std::fs::read(&path).unwrap();
    let ran = bench.run(&["-i", "key.txt", "keys", "renew", "app.db"]).done();
    assert!(ran.out.contains("pinned again in "), "{ran:?}");
    bench.run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"]).done();
    // The file as before: the same database, under the master key that was replaced.
    std::fs::write(&path, old).unwrap();
    bench
        .run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "not the one in the keyring file");
    bench
        .run(&["-i", "key.txt", "keys", "pin", "app.db"])
        .failed(4, "not the one in the keyring file");
    bench
        .run(&["-i", "key.txt", "keys", "pin", "app.db", "--replace"])
        .done();
    bench.run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"]).done();
}

/// Otherwise the database could not be opened any more with that keyring file.
#[test]
fn a_master_key_is_not_renewed_where_the_keyring_file_that_pins_it_cannot_be_written() {
    let (bench, path) = Bench::encrypted();
    let ran = bench.run(&["-i", "key.txt", "keys", "pin", "app.db"]).done();
    let keyring = ran.out.trim().rsplit(' ').next().unwrap().to_owned();
    let lock = format!("{keyring}.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let before = std::fs::read(&path).unwrap();
    let ran = bench.run(&["-i", "key.txt", "keys", "renew", "app.db"]);
    assert!(ran.status != 0 && ran.err.contains("can't write"), "{ran:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    bench.run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"]).done();
}

#[test]
fn the_identity_comes_from_the_argument_then_the_environment_then_the_configuration() {
    let (bench, _) = Bench::encrypted();
    let sql = ["exec", "app.db", "SELECT 1"];
    run(bench.command(&sql).env("SELENITE_IDENTITY", "key.txt")).done();
    run(bench.command(&sql).env("SELENITE_IDENTITY", "other.txt")).failed(4, "none of the keys given");
    let words = ["-i", "key.txt", "exec", "app.db", "SELECT 1"];
    run(bench.command(&words).env("SELENITE_IDENTITY", "other.txt")).done();
    std::fs::create_dir_all(bench.path(".config/selenite")).unwrap();
    let config = format!("identity = {:?}\n", bench.path("key.txt"));
    std::fs::write(bench.path(".config/selenite/config.toml"), config).unwrap();
    bench.run(&sql).done();
    run(bench.command(&sql).env("SELENITE_IDENTITY", "other.txt")).failed(4, "none of the keys given");
}

#[test]
fn a_writer_makes_keys_busy_and_a_reader_does_not() {
    let (bench, path) = Bench::encrypted();
    let access = bench.access();
    let user = Database::open(&Disk, &path, &access).unwrap();
    let other = bench.recipient("other.txt");
    let add = ["-i", "key.txt", "keys", "add", "app.db", &other];
    user.run("BEGIN IMMEDIATE", &mut Ignored).unwrap();
    bench.run(&add).failed(7, "app.db: in use");
    user.run("ROLLBACK; BEGIN; SELECT count(*) FROM note", &mut Ignored)
        .unwrap();
    bench.run(&add).done();
    user.run(
        "SELECT count(*) FROM note; COMMIT; INSERT INTO note VALUES (9999, 'x')",
        &mut Ignored,
    )
    .unwrap();
}

#[test]
fn an_exported_key_opens_a_database_whose_identities_are_lost() {
    use std::os::unix::fs::PermissionsExt;

    let (bench, _) = Bench::encrypted();
    let other = bench.recipient("other.txt");
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
    let ran = bench.run(&export).done();
    assert!(ran.out.contains("commitment") && ran.out.contains(&other), "{ran:?}");
    assert!(ran.err.contains("until the master key is renewed"), "{ran:?}");
    let mode = std::fs::metadata(bench.path("app.age")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    bench.run(&export).failed(2, "already exists");
    bench.run(&[&export[..], &["--force"]].concat()).done();

    bench.run(&["keygen", "-o", "new.txt"]).done();
    let new = bench.recipient("new.txt");
    let import = |identity: &str| bench.run(&["-i", identity, "keys", "import", "app.db", "app.age", "--for", &new]);
    import("new.txt").failed(4, "none of the keys given opens the exported key app.age");
    let wrong = bench.run(&["-i", "other.txt", "keys", "import", "app.db", "key.txt", "--for", &new]);
    wrong.failed(4, "key.txt: not an exported key");
    std::fs::remove_file(bench.path("key.txt")).unwrap();
    let ran = import("other.txt").done();
    assert!(ran.out.contains("added key slot "), "{ran:?}");
    assert!(
        ran.err.contains("Accepted database ") && ran.err.contains("commitment "),
        "{ran:?}"
    );
    bench.run(&["-i", "new.txt", "keys", "accept", "app.db"]).done();
    bench.run(&["-i", "new.txt", "exec", "app.db", "SELECT 1"]).done();
    bench
        .run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "none of the keys");

    bench
        .run(&["-i", "new.txt", "keys", "renew", "app.db", "--drop"])
        .done();
    // A fast machine has renewed it in the same second.
    let ran = import("other.txt");
    assert!([4, 5].contains(&ran.status), "{ran:?}");
}
