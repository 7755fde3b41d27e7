//! `selenite verify` with anchors: output and exit status.

use crate::fixture::{Fixture, flip_page, run};

const WRITE: [&str; 7] = [
    "-i",
    "key.txt",
    "verify",
    "app.db",
    "--physical-only",
    "--write-anchor",
    "a.txt",
];
const COMPARE: [&str; 7] = ["-i", "key.txt", "verify", "app.db", "--json", "--anchor", "a.txt"];

#[test]
fn same_changed_and_older_have_verdicts_and_exit_statuses() {
    let (fixture, path) = Fixture::encrypted();
    let ran = fixture.run(&WRITE).done();
    assert!(
        ran.out.contains("new anchor") && ran.out.contains("1 session"),
        "{ran:?}"
    );
    let json = fixture.run(&COMPARE).done().json();
    assert_eq!(
        (&json["anchor"]["verdict"], &json["anchor"]["changed_count"]),
        (&"same".into(), &0.into())
    );
    assert_eq!(json["integrity_check"], serde_json::json!([]));

    let old = std::fs::read(&path).unwrap();
    let sql = "UPDATE note SET text = 'new' WHERE id BETWEEN 300 AND 310";
    fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done();
    let anchor = &fixture.run(&COMPARE).done().json()["anchor"];
    assert_eq!(anchor["verdict"], "changed");
    assert!(anchor["changed_count"].as_u64() >= Some(2), "{anchor}");
    assert_eq!(anchor["unknown_session_count"], anchor["changed_count"]);

    fixture.run(&WRITE).done();
    let present = std::fs::read(&path).unwrap();
    let places = (1..old.len() / 4096 - 16).map(|page| 65536 + page * 4096);
    let place = places
        .into_iter()
        .find(|&place| old[place..place + 4096] != present[place..place + 4096])
        .unwrap();
    let mut mixed = present.clone();
    mixed[place..place + 4096].copy_from_slice(&old[place..place + 4096]);
    std::fs::write(&path, &mixed).unwrap();
    let ran = fixture.run(&COMPARE).failed(5, "older than the anchor: 1 page");
    let anchor = &ran.json()["anchor"];
    assert_eq!(
        (&anchor["verdict"], &anchor["older_count"]),
        (&"older".into(), &1.into())
    );
    assert_eq!(anchor["older"][0]["page"], (place - 65536) / 4096 + 1);
    assert_eq!(anchor["older"][0]["owner"]["name"], "note");
    assert!(ran.err.contains("put back from a copy; of table note"), "{ran:?}");

    std::fs::write(&path, &old).unwrap();
    let ran = fixture.run(&["-i", "key.txt", "verify", "app.db", "--anchor", "a.txt"]);
    let ran = ran.failed(5, "change counter");
    assert!(ran.out.contains("OLDER than the anchor of 20"), "{ran:?}");
}

#[test]
fn an_anchor_that_is_refused_is_exit_status_5_and_says_what_to_do() {
    let (fixture, _) = Fixture::encrypted();
    fixture.run(&WRITE).done();
    fixture.run(&["-i", "key.txt", "keys", "renew", "app.db"]).done();
    fixture.run(&COMPARE).failed(5, "another master key");
    fixture.run(&WRITE).done();
    fixture.run(&COMPARE).done();
    let text = std::fs::read_to_string(fixture.path("a.txt")).unwrap();
    std::fs::write(fixture.path("a.txt"), text.replacen("pages ", "pages 1", 1)).unwrap();
    fixture.run(&COMPARE).failed(5, "was altered");
    fixture
        .run(&["-i", "key.txt", "verify", "app.db", "--anchor", "none.txt"])
        .failed(6, "none.txt");
    fixture
        .run(&["-i", "key.txt", "verify", "app.db", "--write-anchor", "app.db"])
        .failed(2, "already exists");
}

#[test]
fn a_bad_page_is_said_to_be_of_its_table_and_no_anchor_is_written() {
    let (fixture, path) = Fixture::encrypted();
    flip_page(&path, 4);
    let ran = fixture.run(&WRITE).failed(5, "1 place not authentic");
    assert!(
        ran.err.contains("page 4: ") && ran.err.contains("; of table note"),
        "{ran:?}"
    );
    assert!(!fixture.path("a.txt").exists());
    let json = fixture
        .run(&["-i", "key.txt", "verify", "app.db", "--json"])
        .failed(5, "1 place")
        .json();
    assert_eq!(
        json["bad"][0]["owner"],
        serde_json::json!({ "kind": "table", "name": "note" })
    );
    assert_eq!(
        (&json["pending"], &json["anchor"]),
        (&serde_json::json!([]), &serde_json::Value::Null)
    );
}

/// A database in WAL mode, commands of the configuration for its anchors, and the folder of the one that keeps them.
fn with_commands() -> (Fixture, std::path::PathBuf, String) {
    let (mut fixture, path) = Fixture::encrypted();
    let config = fixture.path("config.toml");
    let command = env!("CARGO_BIN_EXE_selenite");
    let store = fixture.path("store").to_str().unwrap().to_owned();
    let text = format!(
        "[commands]\nwitness = [{command:?}, \"anchor-store\", {store:?}]\nbroken = [\"/bin/false\"]\n\
         talks = [\"/bin/sh\", \"-c\", \"echo detail >&2; echo the bucket is gone >&2; exit 4\"]\n\
         forgets = [\"/bin/sh\", \"-c\", \"cat >/dev/null\", \"sh\"]\n"
    );
    std::fs::write(&config, text).unwrap();
    fixture
        .variables
        .push(("SELENITE_CONFIG", config.display().to_string()));
    follow(&fixture, "command:witness", &["--first-anchor"]).failed(2, "rollback mode");
    fixture
        .run(&["-i", "key.txt", "exec", "app.db", "PRAGMA journal_mode = WAL"])
        .done();
    (fixture, path, store)
}

fn follow(fixture: &Fixture, place: &str, more: &[&str]) -> crate::fixture::Ran {
    let words = ["-i", "key.txt", "follow", "app.db", "--anchor-to", place, "--once"];
    fixture.run(&[&words, more].concat())
}

#[test]
fn short_anchors_are_objects_of_a_store_and_none_is_overwritten() {
    let (fixture, path, store) = with_commands();
    let follow = || follow(&fixture, "command:witness", &[]);
    let run = |sql: &str| fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done();
    let written = self::follow(&fixture, "command:witness", &["--first-anchor"]).done();
    assert_eq!(written.out, "1 anchor written\n");
    run("UPDATE note SET text = 'x' WHERE id = 7");
    follow().done();
    let id = fixture.run(&["status", "--json", "app.db"]).done().json()["superblock"]["database_id"].clone();
    let id = id.as_str().unwrap().to_owned();
    let folder = std::path::Path::new(&store).join("anchors").join(&id);
    let names = || {
        let mut names: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["00000000000000000001", "00000000000000000002"]);
    let (first, last) = (folder.join(&names()[0]), folder.join(&names()[1]));
    let line = format!("database {id}\n");
    let (status, answer, _) = fixture.ask(&["anchor-store", &store, "anchor"], line.as_bytes());
    assert_eq!((status, answer), (Some(0), std::fs::read(&last).unwrap()));
    let (status, answer, _) = fixture.ask(
        &["anchor-store", &store, "anchor"],
        format!("database {:032}", 1).as_bytes(),
    );
    assert_eq!((status, answer.as_slice()), (Some(0), &b""[..]));
    // What is there already is not overwritten, whatever is said to be next.
    let before = std::fs::read(&first).unwrap();
    let (status, _, said) = fixture.ask(
        &["anchor-store", &store, "append-anchor"],
        &std::fs::read(&last).unwrap(),
    );
    assert!(status != Some(0) && said.contains("and the last one 2"), "{said}");
    for input in [&b""[..], b"database zz\n", &before[..before.len() - 1], &[0xff; 70_000]] {
        for task in ["append-anchor", "anchor"] {
            let (status, answer, said) = fixture.ask(&["anchor-store", &store, task], input);
            assert!(status != Some(0) && answer.is_empty(), "{task}: {said}");
        }
    }
    assert_eq!((names().len(), std::fs::read(&first).unwrap()), (2, before));
    // Removed at the place: the next one has the same number again, and an older database is refused.
    let copy = std::fs::read(&path).unwrap();
    run("UPDATE note SET text = 'y' WHERE id = 9");
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    follow().done();
    std::fs::write(&path, copy).unwrap();
    let _ = std::fs::remove_file(path.with_file_name("app.db-wal"));
    let _ = std::fs::remove_file(path.with_file_name("app.db-shm"));
    follow().failed(5, "older than its anchor");
}

#[test]
fn a_place_that_fails_or_keeps_nothing_is_found_at_once() {
    let (fixture, _, store) = with_commands();
    let follow = |place: &str, more: &[&str]| follow(&fixture, place, more);
    follow("command:broken", &[]).failed(6, "command:broken: exit status: 1");
    let ran = follow("command:talks", &[]).failed(6, "command:talks: exit status: 4: the bucket is gone");
    assert!(!ran.err.contains("detail"), "{ran:?}");
    follow("command:none", &[]).failed(2, "no command \"none\"");
    assert_eq!(fixture.run(&["follow", "app.db"]).status, 2);
    follow("command:forgets", &["--first-anchor"])
        .failed(6, "anchor number 1 was written, and the newest one there is number 0");
    follow("command:witness", &[]).failed(2, "command:witness has no anchor of this database");
    follow("command:witness", &["--first-anchor"]).done();
    follow("command:witness", &["--first-anchor"]).failed(2, "has an anchor of this database, number 1");
    // An emptied place is no reason to take what is there now for the newest state.
    std::fs::remove_dir_all(store).unwrap();
    follow("command:witness", &[]).failed(2, "--first-anchor");
}

#[test]
fn an_earlier_anchor_under_a_later_name_is_no_newer_one() {
    let (fixture, _) = Fixture::encrypted();
    let run = |words: &[&str]| fixture.run(&[&["-i", "key.txt"], words].concat()).done();
    run(&["exec", "app.db", "PRAGMA journal_mode = WAL"]);
    run(&["follow", "app.db", "--anchor-to", "anchors", "--first-anchor", "--once"]);
    let text = std::fs::read(fixture.path("anchors")).unwrap();
    let store = fixture.path("store");
    let store = store.to_str().unwrap();
    let (status, _, said) = fixture.ask(&["anchor-store", store, "append-anchor"], &text);
    assert_eq!(status, Some(0), "{said}");
    let lines = String::from_utf8(text.clone()).unwrap();
    let line = lines.lines().find(|line| line.starts_with("database ")).unwrap();
    let folder = std::path::Path::new(store)
        .join("anchors")
        .join(&line["database ".len()..]);
    let within = [b"x\n", &text[..]].concat();
    for (name, content, is_refused) in [
        ("zz", &text, false),
        ("99999999999999999999", &text, false),
        ("00000000000000000009", &text, true),
        ("00000000000000000009", &within, true),
    ] {
        std::fs::write(folder.join(name), content).unwrap();
        let (status, answer, said) = fixture.ask(&["anchor-store", store, "anchor"], line.as_bytes());
        assert_eq!(status != Some(0), is_refused, "{name}: {said}");
        assert_eq!(answer, if is_refused { &b""[..] } else { &text }, "{name}");
        std::fs::remove_file(folder.join(name)).unwrap();
    }
}

/// The command, by a shell's script that ends in it.
fn by_shell(fixture: &Fixture, script: &str, words: &[&str]) -> crate::fixture::Ran {
    let plain = fixture.command(words);
    let mut shell = std::process::Command::new("/bin/sh");
    shell
        .args(["-c", &format!("{script} \"$@\""), "sh"])
        .arg(plain.get_program())
        .args(words)
        .current_dir(fixture.path(""))
        .env_clear()
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    run(&mut shell)
}

#[test]
fn commands_without_an_exit_status_are_refused_by_name_or_prove_their_answer() {
    let (mut fixture, _) = Fixture::encrypted();
    let config = fixture.path("config.toml");
    // As `ROTATE` in `origin.rs`.
    let rotate = "LC_ALL=C tr '\\\\000-\\\\177\\\\200-\\\\377' '\\\\200-\\\\377\\\\000-\\\\177'";
    let text = format!(
        "[commands]\nkms = [\"sh\", \"-c\", \"{rotate}\", \"sh\"]\nmute = [\"/bin/false\"]\nwitness = [\"/bin/cat\"]\n"
    );
    std::fs::write(&config, text).unwrap();
    fixture
        .variables
        .push(("SELENITE_CONFIG", config.display().to_string()));
    fixture
        .run(&["-i", "key.txt", "exec", "app.db", "PRAGMA journal_mode = WAL"])
        .done();
    // The system keeps no exit status where SIGCHLD is ignored (wait(2)).
    let ignoring = |words: &[&str]| by_shell(&fixture, "exec env --ignore-signal=CHLD", words);
    let said = "this process ignores SIGCHLD";
    let place = ["--anchor-to", "command:witness", "--once"];
    ignoring(&[&["-i", "key.txt", "follow", "app.db"], &place[..]].concat()).failed(6, said);
    let create = |key: &str, name: &str| ignoring(&["-i", key, "exec", "--create", name, "CREATE TABLE t (a)"]);
    create("command:kms", "made.db").done();
    ignoring(&["-i", "command:kms", "exec", "made.db", "SELECT count(*) FROM t"]).done();
    let refused = create("command:mute", "none.db");
    assert!(refused.status != 0 && refused.err.contains(said), "{refused:?}");
}

#[test]
fn a_place_is_written_by_its_owner_alone_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let (fixture, _) = Fixture::encrypted();
    fixture
        .run(&["-i", "key.txt", "exec", "app.db", "PRAGMA journal_mode = WAL"])
        .done();
    let place = ["--anchor-to", "anchors", "--once"];
    let words = [&["-i", "key.txt", "follow", "app.db"][..], &place, &["--first-anchor"]].concat();
    by_shell(&fixture, "umask 0; exec", &words).done();
    let mode = std::fs::metadata(fixture.path("anchors")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "{mode:o}");
    // What others can write is no proof against them.
    let again = || fixture.run(&words[..words.len() - 1]).done().err;
    assert_eq!(again(), "");
    std::fs::set_permissions(fixture.path("anchors"), std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(again().contains("warning: anchors is not trusted: users other than its owner can write there"));
}

#[test]
fn the_store_says_what_is_wrong_in_one_line() {
    let (fixture, _) = Fixture::encrypted();
    let (status, answer, said) = fixture.ask(&["anchor-store", "store", "anchor"], b"");
    assert!(status == Some(2) && answer.is_empty());
    assert!(
        said.starts_with("error: standard input is not") && said.lines().count() == 1,
        "{said}"
    );
}
