//! `selenite init`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use crate::fixture::{Fixture, NOTES, run};

/// A fixture without the default key file.
fn empty() -> Fixture {
    let fixture = Fixture::new();
    std::fs::remove_file(fixture.path("key.txt")).unwrap();
    fixture
}

#[test]
fn a_key_a_database_and_the_lines_that_open_it_are_made_without_a_question() {
    let fixture = empty();
    std::fs::write(fixture.path("pyproject.toml"), "").unwrap();
    let ran = fixture.run(&["init", "app.db"]).done();
    for line in [
        "database   app.db: new, encrypted\n",
        "identity   key.txt: new, readable by its owner only\n",
        "language   python (there is pyproject.toml); another one: --lang\n",
        "\nimport selenite\ndb = selenite.connect(\"app.db\", identity=\"key.txt\")\n",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    assert!(ran.out.contains(&fixture.recipient("key.txt")), "{ran:?}");
    assert!(ran.err.contains("Keep a copy of key.txt elsewhere"), "{ran:?}");
    for name in ["key.txt", "app.db"] {
        let mode = std::fs::metadata(fixture.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let sql = "CREATE TABLE note (a); INSERT INTO note VALUES (7); SELECT a FROM note";
    assert_eq!(fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done().out, "7\n");
}

#[test]
fn a_second_run_changes_nothing_and_prints_the_lines_again() {
    let fixture = empty();
    fixture.run(&["init", "app.db"]).done();
    let before = ["app.db", "key.txt"].map(|name| std::fs::read(fixture.path(name)).unwrap());
    let ran = fixture.run(&["init", "app.db", "--lang", "node"]).done();
    assert!(
        ran.out
            .contains("app.db: there already, encrypted; nothing was changed"),
        "{ran:?}"
    );
    assert!(
        ran.out
            .contains("const db = connect('app.db', { identity: 'key.txt' })"),
        "{ran:?}"
    );
    assert_eq!(ran.err, "");
    let after = ["app.db", "key.txt"].map(|name| std::fs::read(fixture.path(name)).unwrap());
    assert!(before == after);
}

#[test]
fn a_key_file_may_have_a_name_that_is_not_utf_8() {
    let fixture = empty();
    let name = OsStr::from_bytes(b"k\xff ?#%&.txt");
    let ran = run(fixture.command(&["init", "app.db", "-i"]).arg(name)).done();
    assert!(
        ran.err.contains("no lines of a program: a path is not UTF-8"),
        "{ran:?}"
    );
    assert!(fixture.path("").join(name).exists());
    let exec = ["exec", "app.db", "SELECT 7"];
    assert_eq!(run(fixture.command(&exec).arg("-i").arg(name)).done().out, "7\n");
    assert_eq!(
        run(fixture.command(&exec).env("SELENITE_IDENTITY", name)).done().out,
        "7\n"
    );
    fixture.plain("old.db", NOTES);
    run(fixture.command(&["encrypt", "old.db", "-i"]).arg(name)).done();
    run(fixture.command(&["verify", "old.db", "-i"]).arg(name)).done();
    let none = OsStr::from_bytes(b"none\xff.txt");
    run(fixture.command(&exec).arg("-i").arg(none)).failed(6, "none\u{fffd}.txt");
}

#[test]
fn a_key_file_that_is_there_is_used_and_never_overwritten() {
    let fixture = Fixture::new();
    let before = std::fs::read(fixture.path("key.txt")).unwrap();
    let ran = fixture.run(&["init", "one.db"]).done();
    assert!(
        ran.out.contains("identity   key.txt\n") && ran.err.is_empty(),
        "{ran:?}"
    );
    fixture.run(&["init", "two.db", "-i", "other.txt"]).done();
    fixture.run(&["-i", "other.txt", "exec", "two.db", "SELECT 1"]).done();
    std::fs::write(fixture.path("notes.txt"), "no key").unwrap();
    fixture
        .run(&["init", "three.db", "-i", "notes.txt"])
        .failed(4, "notes.txt");
    assert_eq!(std::fs::read(fixture.path("key.txt")).unwrap(), before);
    assert_eq!(std::fs::read(fixture.path("notes.txt")).unwrap(), b"no key");
    assert_eq!(fixture.names(), ["one.db", "two.db"]);
}

#[test]
fn a_key_file_that_is_named_is_made_and_a_configured_one_has_to_be_there() {
    let mut fixture = empty();
    fixture.run(&["init", "app.db", "--identity", "new.txt"]).done();
    fixture.run(&["-i", "new.txt", "exec", "app.db", "SELECT 1"]).done();
    fixture.variables = vec![("SELENITE_IDENTITY", "missing.txt".to_owned())];
    fixture.run(&["init", "second.db"]).failed(6, "missing.txt");
    fixture.variables = vec![("SELENITE_IDENTITY", "new.txt".to_owned())];
    let ran = fixture.run(&["init", "second.db"]).done();
    assert!(ran.out.contains("identity   new.txt\n"), "{ran:?}");
    assert!(!fixture.path("key.txt").exists());
}

#[test]
fn a_database_in_clear_is_left_to_encrypt_and_no_key_is_made() {
    let fixture = empty();
    fixture.plain("app.db", NOTES);
    let ran = fixture.run(&["init", "app.db"]).failed(3, "app.db: not encrypted");
    assert!(ran.err.contains("selenite encrypt app.db"), "{ran:?}");
    std::fs::write(fixture.path("noise.db"), [b'x'; 9000]).unwrap();
    fixture.run(&["init", "noise.db"]).failed(3, "not an SQLite database");
    fixture
        .run(&["init", "new.db", "--recipient", "bob@example.com"])
        .failed(6, "neither a recipient nor a file");
    assert!(!fixture.path("key.txt").exists());
    assert_eq!(fixture.names(), ["app.db", "noise.db"]);
}

#[test]
fn the_result_as_json_has_what_the_text_has() {
    let fixture = empty();
    let other = fixture.recipient("other.txt");
    std::fs::create_dir(fixture.path(".git")).unwrap();
    let words = [
        "init", "app.db", "--cipher", "CHACHA20", "-r", &other, "--lang", "go", "--json",
    ];
    let ran = fixture.run(&words).done();
    let found = ran.json();
    assert_eq!(found["created"], true);
    assert_eq!(
        (&found["suite"], &found["language"]),
        (&"CHACHA20".into(), &"go".into())
    );
    assert_eq!(
        (&found["identity"], &found["identity_created"]),
        (&"key.txt".into(), &true.into())
    );
    assert_eq!(found["recipient"], fixture.recipient("key.txt"));
    assert_eq!(found["slots"].as_array().unwrap().len(), 2);
    let lines = found["lines"].as_array().unwrap();
    let last = lines.last().unwrap().as_str().unwrap();
    assert!(
        last.contains("file:app.db?vfs=selenite&selenite_identity=key.txt"),
        "{last}"
    );
    assert!(ran.err.contains("add it to .gitignore"), "{ran:?}");
}
