//! Names from files and databases are never written to a terminal unescaped: they cannot move the
//! cursor, change the text direction, or forge a line.

use std::path::{Path, PathBuf};

use selenite::Database;
use selenite::storage::Disk;

use crate::fixture::{Fixture, Ignored, NOTES, Ran, flip_page};

const HOSTILE: &str = "a\u{1b}[2J\nlost  nothing\u{202e}\u{9b}";
const LEFTOVER: &str = ".app.db.selenite-tmp-\u{1b}]0;x\u{7}\nlost  nothing";

/// The output contains no control character, regardless of the exit status.
fn check(ran: Ran) -> Ran {
    for text in [&ran.out, &ran.err] {
        let is_bad = |c: &char| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c);
        assert!(!text.contains(|c| is_bad(&c)), "{ran:?}");
        assert!(!text.lines().any(|line| line.starts_with("lost  nothing")), "{ran:?}");
    }
    ran
}

fn hostile_table(fixture: &Fixture) -> PathBuf {
    let path = fixture.path("app.db");
    let sql = format!(
        "CREATE TABLE \"{HOSTILE}\" (a, k UNIQUE); CREATE INDEX \"i{HOSTILE}\" ON \"{HOSTILE}\" (a);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO \"{HOSTILE}\" SELECT i, i FROM n; CREATE VIEW \"v{HOSTILE}\" AS SELECT 1;
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE VIEW \"w{HOSTILE}\" AS SELECT 1' WHERE type = 'view';"
    );
    let layout = selenite::Layout::default();
    let database = Database::create(&Disk, &path, &fixture.access(), &layout).unwrap();
    database.run(&sql, &mut Ignored).unwrap();
    path
}

#[test]
fn names_of_tables_forge_nothing() {
    let fixture = Fixture::new();
    let path = hostile_table(&fixture);
    // Bad leaves of the table and of its indexes: verify names the owner of each bad page.
    for page_no in 5..=12 {
        flip_page(&path, page_no);
    }
    let verified = check(fixture.run(&["-i", "key.txt", "verify", "app.db"])).failed(5, "not authentic");
    assert!(verified.err.contains("a?[2J?lost"), "{verified:?}");
    check(fixture.run(&["-i", "key.txt", "verify", "app.db", "--json"])).json();
    let salvaged = check(fixture.run(&["-i", "key.txt", "salvage", "app.db", "--to", "new.db"]));
    let salvaged = salvaged.failed(5, "not everything");
    assert!(
        salvaged.out.contains("a?[2J?lost") && salvaged.err.contains("table a?[2J?lost"),
        "{salvaged:?}"
    );
    assert!(salvaged.err.contains("view va?[2J?lost"), "{salvaged:?}");
    std::fs::remove_file(fixture.path("new.db")).unwrap();
    check(fixture.run(&["-i", "key.txt", "salvage", "app.db", "--to", "new.db", "--json"])).json();
}

#[test]
fn names_of_columns_and_values_forge_nothing() {
    let fixture = Fixture::new();
    fixture.plain("app.db", NOTES);
    fixture.run(&["-i", "key.txt", "encrypt", "app.db"]).done();
    let sql = format!("SELECT '{HOSTILE}' AS \"{HOSTILE}\"");
    check(fixture.run(&["-i", "key.txt", "exec", "app.db", &sql])).done();
    check(fixture.run(&["-i", "key.txt", "exec", "app.db", &sql, "--json"]))
        .done()
        .json();
    let sql = format!("SELECT \"{HOSTILE}\".x");
    check(fixture.run(&["-i", "key.txt", "exec", "app.db", &sql]));
}

/// Such a file needs no key: any process that may write to the folder can create it.
#[test]
fn names_of_leftovers_forge_nothing() {
    let fixture = Fixture::new();
    fixture.plain("app.db", NOTES);
    let commands: [&[&str]; 4] = [
        &["encrypt", "app.db"],
        &["reencrypt", "app.db", "--new-key", "--offline"],
        &["decrypt", "app.db", "--to", "clear.db"],
        &["decrypt", "app.db"],
    ];
    for command in commands {
        std::fs::write(fixture.path(LEFTOVER), "x").unwrap();
        let ran = check(fixture.run(&[&["-i", "key.txt"], command].concat())).done();
        assert!(
            ran.out.contains(".app.db.selenite-tmp-\\x1b]0;x\\x07\\x0alost"),
            "{ran:?}"
        );
    }
    fixture.run(&["-i", "key.txt", "encrypt", "app.db"]).done();
    std::fs::write(fixture.path(&LEFTOVER.replace("app", "new")), "x").unwrap();
    let ran = check(fixture.run(&["-i", "key.txt", "salvage", "app.db", "--to", "new.db"])).done();
    assert!(ran.out.contains("\\x1b]0;x"), "{ran:?}");
    std::fs::remove_file(fixture.path("new.db")).unwrap();
    check(fixture.run(&["-i", "key.txt", "salvage", "app.db", "--to", "new.db", "--json"]))
        .done()
        .json();
    std::fs::write(fixture.path(LEFTOVER), "x").unwrap();
    check(fixture.run(&["-i", "key.txt", "status", "app.db"])).done();
}

#[test]
fn the_path_of_a_database_forges_nothing() {
    let fixture = Fixture::new();
    let name = format!("{HOSTILE}.db");
    std::fs::rename(fixture.plain("app.db", NOTES), fixture.path(&name)).unwrap();
    let new = format!("new {name}");
    let key = fixture.recipient("other.txt");
    let commands: [&[&str]; 20] = [
        &["encrypt", &name],
        &["encrypt", &name],
        &["status", &name],
        &["status", &name, "--json"],
        &["verify", &name],
        &["verify", &name, "--json"],
        &["keys", "list", &name],
        &["keys", "list", &name, "--json"],
        &["keys", "add", &name, "--recipient", &key, "--label", "x"],
        &["keys", "pin", &name],
        &["keys", "remove", &name, "zzzz"],
        &["reencrypt", &name, "--status"],
        &["reencrypt", &name, "--status", "--json"],
        &["reencrypt", &name, "--pause"],
        &["reencrypt", &name, "--new-key"],
        &["reencrypt", &name, "--new-key", "--offline"],
        &["salvage", &name, "--to", &new],
        &["salvage", &name, "--to", &new],
        &["exec", &name, "SELECT nothing"],
        &["decrypt", &name],
    ];
    for command in commands {
        let ran = check(fixture.run(&[&["-i", "key.txt"], command].concat()));
        if command.contains(&"--json") {
            ran.json();
        }
    }
    assert!(Path::new(&fixture.path(&new)).exists());
    check(fixture.run(&["-i", "key.txt", "decrypt", &name])).failed(3, "");
    check(fixture.run(&["keygen", "-o", &format!("{HOSTILE}.txt")])).done();
}

#[test]
fn a_reader_that_has_gone_ends_no_command_by_a_panic() {
    let (fixture, _) = Fixture::encrypted();
    for words in [
        &["keygen", "-o", "new.txt"][..],
        &["-i", "key.txt", "keys", "repair", "app.db"],
        &["-i", "key.txt", "decrypt", "app.db", "--to", "clear.db"],
        &["-i", "key.txt", "encrypt", "clear.db"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = fixture.command(words).stderr(writer).status().unwrap();
        assert_eq!(status.code(), Some(0), "{words:?}");
    }
}
