//! `selenite status` and `selenite verify` of databases in a list.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::fixture::{Fixture, NOTES, flip_page};

/// A database of each kind, and of each kind of error.
fn databases() -> (Fixture, Vec<&'static str>) {
    let (fixture, path) = Fixture::encrypted();
    for copy in ["damaged.db", "two\nlines.db"] {
        std::fs::copy(&path, fixture.path(copy)).unwrap();
    }
    flip_page(&fixture.path("damaged.db"), 3);
    fixture.plain("clear.db", NOTES);
    fixture.plain("theirs.db", NOTES);
    fixture.run(&["-i", "other.txt", "encrypt", "theirs.db"]).done();
    std::fs::create_dir(fixture.path("folder")).unwrap();
    let names = [
        "app.db",
        "damaged.db",
        "two\nlines.db",
        "clear.db",
        "theirs.db",
        "folder",
        "missing.db",
        "",
    ];
    (fixture, names.to_vec())
}

/// The answers to these names, and the exit status.
fn answers(fixture: &Fixture, words: &[&str], names: &[&str]) -> (Vec<Value>, Option<i32>) {
    let words = [&["-i", "key.txt"], words, &["--json", "--files0-from", "-"]].concat();
    let list: String = names.iter().map(|name| format!("{name}\0")).collect();
    let (status, out, err) = fixture.ask(&words, list.as_bytes());
    assert_eq!(err, "");
    let lines = String::from_utf8(out).unwrap();
    (
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        status,
    )
}

#[test]
fn each_answer_is_that_of_the_command_for_this_database() {
    let (fixture, names) = databases();
    for words in [&["status"][..], &["verify"], &["verify", "--physical-only"]] {
        let (found, _) = answers(&fixture, words, &names);
        assert_eq!(found.len(), names.len());
        for (name, answer) in names.iter().zip(found) {
            assert_eq!(answer["path"], *name);
            if *name == "folder" && words == ["status"] {
                // A folder has a listing, which is not the answer about a database.
                assert_ne!(answer["exit_status"], 0);
                continue;
            }
            let alone = fixture.run(&[&["-i", "key.txt"], words, &["--json", "--", name]].concat());
            if name.is_empty() {
                assert_ne!(answer["exit_status"], 0);
                continue;
            }
            assert_eq!(answer["exit_status"], alone.status, "{name:?}: {answer} {alone:?}");
            if alone.status != 0 {
                let message = answer["error"]["message"].as_str().unwrap();
                assert!(alone.err.contains(&format!("error: {message}\n")), "{answer} {alone:?}");
                let advice = answer["error"]["advice"].as_str().unwrap();
                assert!(alone.err.contains(&format!(" next: {advice}\n")), "{answer} {alone:?}");
            }
            assert_eq!(answer["result"].is_null(), alone.out.is_empty(), "{answer} {alone:?}");
            if !alone.out.is_empty() {
                assert_eq!(constant(answer["result"].clone()), constant(alone.json()), "{name:?}");
            }
        }
    }
}

#[test]
fn a_verification_has_the_status_too() {
    let (fixture, names) = databases();
    let (with, _) = answers(&fixture, &["verify", "--physical-only", "--with-status"], &names);
    for (name, mut answer) in names.iter().zip(with) {
        if answer["result"].is_null() {
            continue;
        }
        let mut status = answer["result"].as_object_mut().unwrap().remove("status").unwrap();
        let mut alone = answers(&fixture, &["status"], &[name]).0.remove(0)["result"].clone();
        // A verification that found damage is not recorded.
        assert_eq!(status["last_verify"].is_null(), *name == "damaged.db", "{status}");
        for found in [&mut status, &mut alone] {
            if let Some(verify) = found["last_verify"].as_object_mut() {
                assert!(verify.remove("age_seconds").is_some());
            }
        }
        assert_eq!(status, alone, "{name:?}");
        let verified = answers(&fixture, &["verify", "--physical-only"], &[name]).0.remove(0);
        assert_eq!(constant(answer["result"].clone()), constant(verified["result"].clone()));
    }
    let refused = fixture.run(&["verify", "--json", "--with-status", "app.db"]);
    assert!(
        refused.status == 2 && refused.err.contains("--with-status"),
        "{refused:?}"
    );
}

/// Without what depends on the time.
fn constant(mut result: Value) -> Value {
    result["ms"] = Value::Null;
    result["last_verify"] = Value::Null;
    result["warnings"] = Value::Null;
    result
}

#[test]
fn the_exit_status_is_that_of_the_first_error() {
    let (fixture, _) = databases();
    for (names, status) in [
        (&["app.db", "two\nlines.db"][..], 0),
        (&["app.db", "damaged.db", "missing.db"], 5),
        (&["missing.db", "damaged.db"], 6),
        (&["theirs.db", "app.db"], 4),
        (&[], 0),
    ] {
        assert_eq!(answers(&fixture, &["verify"], names).1, Some(status), "{names:?}");
    }
}

#[test]
fn a_database_is_answered_before_the_next_name_and_remembered() {
    let (fixture, _) = databases();
    let mut child = fixture
        .command(&["-i", "key.txt", "verify", "--json", "--files0-from=-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut names = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for (name, status) in [("app.db", 0), ("damaged.db", 5), ("app.db", 0)] {
        names.write_all(format!("{name}\0").as_bytes()).unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(
            (&answer["path"], &answer["exit_status"]),
            (&name.into(), &status.into())
        );
    }
    drop(names);
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let verified = |name| fixture.run(&["status", "--json", name]).done().json()["last_verify"].clone();
    assert_eq!(verified("app.db")["kind"], "full");
    assert_eq!(verified("damaged.db"), Value::Null);
}

#[test]
fn a_list_is_a_file_and_does_not_go_with_a_database() {
    let (fixture, _) = databases();
    std::fs::write(fixture.path("list"), "app.db\0clear.db\0").unwrap();
    let listed = fixture.run(&["status", "--json", "--files0-from=list"]).done();
    let encrypted: Vec<bool> = listed
        .out
        .lines()
        .map(|line| line.contains("\"encrypted\":true"))
        .collect();
    assert_eq!(encrypted, [true, false]);
    fixture
        .run(&["status", "--json", "--files0-from=none"])
        .failed(6, "none");
    for words in [
        &["status", "--json", "--files0-from=list", "app.db"][..],
        &["verify", "--json", "--files0-from=list", "app.db"],
        &["verify", "--json", "--files0-from=list", "--write-anchor=anchor"],
        &["verify", "--files0-from=list"],
        &["status", "--json", "--files0-from=list", "--pages"],
        &["verify"],
        &["status"],
    ] {
        assert_eq!(fixture.run(words).status, 2, "{words:?}");
    }
}
