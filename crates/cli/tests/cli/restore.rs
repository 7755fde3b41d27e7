//! `selenite restore`.

use crate::fixture::Fixture;

#[test]
fn a_restore_reports_its_source_requests_and_slots() {
    let (fixture, _) = Fixture::encrypted();
    fixture.run(&["-i", "key.txt", "backup", "app.db", "backups"]).done();
    let told = fixture
        .run(&["-i", "key.txt", "restore", "backups", "--to", "new.db"])
        .done()
        .out;
    for words in [
        "restored   new.db",
        "from       backups",
        "AES_256, under a new key",
        "every page verified",
        " in 4 requests",
        "key slots  ",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let rows = fixture
        .run(&[
            "-i",
            "key.txt",
            "exec",
            "new.db",
            "SELECT count(*), max(text) FROM note",
        ])
        .done();
    assert!(
        rows.out.contains("500") && rows.out.contains("a secret of ours 99"),
        "{}",
        rows.out
    );
    fixture.run(&["-i", "key.txt", "verify", "new.db"]).done();
    assert_eq!(fixture.names(), ["app.db", "backups", "new.db"]);
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let (fixture, path) = Fixture::encrypted();
    fixture.run(&["-i", "key.txt", "backup", "app.db", "backups"]).done();
    let again = ["-i", "key.txt", "restore", "backups", "--to", "app.db"];
    fixture.run(&again).failed(2, "already exists");
    std::fs::write(&path, "no database").unwrap();
    let forced = fixture.run(&[&again[..], &["--force"]].concat()).done();
    assert!(forced.err.contains("replaced without a lock"), "{}", forced.err);
    let forced = fixture.run(&[&again[..], &["--force", "--json"]].concat()).done();
    assert_eq!(forced.err, "");
    let json: serde_json::Value = serde_json::from_str(&forced.out).unwrap();
    assert_eq!(json["replaced"], true);
    assert_eq!(json["database"], json["of"]);
    assert_eq!(json["pages_missing"], serde_json::json!([]));
}

#[test]
fn an_escrow_identity_restores_for_the_named_key_holders() {
    let (fixture, _) = Fixture::encrypted();
    let escrow = fixture.recipient("other.txt");
    fixture
        .run(&["-i", "key.txt", "backup", "app.db", "backups", "--recipient", &escrow])
        .done();
    let alone = [
        "-i",
        "other.txt",
        "restore",
        "backups",
        "--to",
        "new.db",
        "--for",
        &escrow,
    ];
    fixture.run(&alone).failed(4, "cannot prove who made it");
    let by_escrow = [
        "-i",
        "other.txt",
        "--origin",
        "any",
        "restore",
        "backups",
        "--to",
        "new.db",
    ];
    fixture.run(&by_escrow).failed(2, "--for");
    let told = fixture.run(&[&by_escrow[..], &["--for", &escrow]].concat()).done().out;
    assert!(told.contains("with a new master key"), "{told}");
    fixture
        .run(&["-i", "other.txt", "exec", "new.db", "SELECT 1 FROM note"])
        .done();
    fixture
        .run(&["-i", "key.txt", "exec", "new.db", "SELECT 1 FROM note"])
        .failed(4, "");
}

#[test]
fn invalid_arguments_are_reported() {
    let (fixture, _) = Fixture::encrypted();
    fixture.run(&["-i", "key.txt", "backup", "app.db", "backups"]).done();
    let with =
        |more: &[&str]| fixture.run(&[&["-i", "key.txt", "restore", "backups", "--to", "new.db"], more].concat());
    for (words, why) in [
        (["--at", "yesterday"], "2026-03-01T12:00:00Z"),
        (["--backup", "newest"], "not the name of a backup"),
        (["--database", "12"], "32 hexadecimal digits"),
    ] {
        let ran = with(&words);
        assert!(ran.status == 2 && ran.err.contains(why), "{ran:?}");
    }
    for time in [
        "2020-01-01 00:00:00",
        "2020-01-01 00:00",
        "2020-01-01T00:00",
        "2020-01-01T00:00+01:00",
    ] {
        with(&["--at", time]).failed(2, "none that old");
    }
    with(&["--database", "00112233445566778899aabbccddeeff"]).failed(2, "holds no backup of database");
    fixture
        .run(&["-i", "other.txt", "restore", "backups", "--to", "new.db"])
        .failed(4, "none of the keys");
    assert_eq!(fixture.names(), ["app.db", "backups"]);
}
