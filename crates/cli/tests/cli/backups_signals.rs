//! Interruptions of `selenite backup` and `selenite restore`: each reports the state that it
//! leaves, and how to continue.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::Fixture;

const SIGNALS: [Signal; 2] = [Signal::INT, Signal::TERM];
/// How often a command may end before it handles the signal.
const TRIES_MAX: usize = 50;

/// A database that is large enough for a command to take a while.
fn large() -> Fixture {
    let (fixture, _) = Fixture::encrypted();
    let sql = "CREATE TABLE large (data); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 240) \
        INSERT INTO large SELECT randomblob(100000) FROM n";
    fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done();
    fixture
}

/// Interrupts the command as soon as it is working. Returns its message, or none if it had ended before.
fn stopped(fixture: &Fixture, words: &[&str], signal: Signal, is_at_work: impl Fn() -> bool) -> Option<String> {
    let mut child = fixture
        .command(&[&["-i", "key.txt"], words].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !is_at_work() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    // A process that has ended exists until it is reaped, so its id is still valid.
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    match output.status.code() {
        Some(0) => None,
        status => {
            assert_eq!(status, Some(130), "{err}");
            assert!(err.contains("error: interrupted\n next: "), "{err}");
            Some(err)
        }
    }
}

#[test]
fn a_backup_that_is_stopped_says_how_to_go_on_and_does() {
    for signal in SIGNALS {
        let fixture = large();
        let backups = fixture.path("backups");
        let is_begun = || {
            let below = |path: &std::path::Path| -> Vec<std::path::PathBuf> {
                let entries = std::fs::read_dir(path).into_iter().flatten();
                entries.map(|entry| entry.unwrap().path()).collect()
            };
            let archives = below(&backups).into_iter().flat_map(|database| below(&database));
            archives
                .map(|archive| archive.join("begun"))
                .any(|begun| begun.exists())
        };
        let err = (0..TRIES_MAX).find_map(|_| {
            let _ = std::fs::remove_dir_all(&backups);
            stopped(&fixture, &["backup", "app.db", "backups"], signal, is_begun)
        });
        let err = err.expect("it was done each time before it heard of the signal");
        assert!(
            err.contains("the backup is incomplete") && err.contains("--resume"),
            "{err}"
        );
        fixture
            .run(&["-i", "key.txt", "backups", "verify", "backups"])
            .failed(2, "no finished backup");
        let ran = fixture
            .run(&["-i", "key.txt", "backup", "app.db", "backups", "--resume", "--json"])
            .done();
        assert_eq!(ran.json()["resumed"], true);
        fixture.run(&["-i", "key.txt", "backups", "verify", "backups"]).done();
    }
}

#[test]
fn a_restore_that_is_stopped_says_that_nothing_was_put_in_place() {
    let fixture = large();
    fixture.run(&["-i", "key.txt", "backup", "app.db", "backups"]).done();
    let draft = fixture.path(".new.db.selenite-tmp-restore");
    let restore = ["restore", "backups", "--to", "new.db"];
    for signal in SIGNALS {
        let err = (0..TRIES_MAX).find_map(|_| {
            let _ = std::fs::remove_file(fixture.path("new.db"));
            stopped(&fixture, &restore, signal, || draft.exists())
        });
        let err = err.expect("it was done each time before it heard of the signal");
        assert!(err.contains("new.db was not restored"), "{err}");
        assert_eq!(fixture.names(), ["app.db", "backups"], "{signal:?}");
    }
    fixture.run(&[&["-i", "key.txt"], &restore[..]].concat()).done();
}
