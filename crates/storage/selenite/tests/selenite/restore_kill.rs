//! A kill at any moment of a restore leaves the previous file, or the complete restored one; and
//! the next run finishes.
//!
//! As in `offline_kill.rs` the test starts itself as a child, which stops at a chosen step, and is
//! killed there.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use selenite::restore::{Restore, restore};
use selenite::storage::Disk;
use selenite::{Access, Watch};
use selenite_backup::Folder;
use selenite_testing::own_process::test_command;

use crate::pausing::{Pausing, Steps, watch};
use crate::restore::{CONTENTS, back_up, made, same};
use crate::support::{Fixture, query};

/// Counts its steps, and stops at one of them.
struct StopAt {
    stop_at: u32,
    count: AtomicU32,
}

impl Steps for StopAt {
    fn step(&self, name: &str) {
        if self.count.fetch_add(1, Ordering::SeqCst) == self.stop_at {
            println!("stopped at {name}");
            // Until the parent kills this process; the end of its input means that the parent has
            // ended.
            let _ = std::io::stdin().read(&mut [0]);
            std::process::exit(9);
        }
    }
}

fn how(to: &Path) -> Restore {
    Restore {
        force: true,
        keep_fetched: true,
        ..Restore::new(to)
    }
}

/// The child process. Does nothing when it is run as a test.
#[test]
fn restore_child() {
    let Ok(path) = std::env::var("SELENITE_TEST_RESTORE") else {
        return;
    };
    let to = Path::new(&path);
    let access = Access {
        identity: Some(std::env::var("SELENITE_TEST_KEY").unwrap().parse().unwrap()),
        ..Access::default()
    };
    let steps = Arc::new(StopAt {
        stop_at: std::env::var("SELENITE_TEST_STOP_AT").unwrap().parse().unwrap(),
        count: AtomicU32::new(0),
    });
    let destination = Folder::new(&to.with_file_name("backups"));
    restore(&Pausing(steps.clone()), &destination, &access, &how(to), &watch(&steps)).unwrap();
    println!("done after {}", steps.count.load(Ordering::SeqCst));
}

/// Runs the child to the step at which it stops, and kills it; returns its output.
fn run_child(fixture: &Fixture, to: &Path, stop_at: u32) -> String {
    let mut child = test_command("restore_kill::restore_child")
        .env("SELENITE_TEST_RESTORE", to)
        .env("SELENITE_TEST_KEY", fixture.spec("key"))
        .env("SELENITE_TEST_STOP_AT", stop_at.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .find_map(|line| {
            ["stopped at ", "done after "]
                .iter()
                .find_map(|word| Some(line[line.find(word)?..].to_owned()))
        })
        .expect("the child says how far it is");
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

/// `prepare` creates the previous file; `is_old` returns whether it is unchanged.
fn kill_everywhere(prepare: impl Fn(&Fixture, &Path), is_old: impl Fn(&Fixture, &Path) -> bool) {
    let (mut kept, mut restored) = (0, 0);
    let mut stop_at = 0;
    loop {
        let fixture = Fixture::new();
        let source = made(&fixture, "source.db", "WAL", 800);
        back_up(&fixture, &source);
        let to = fixture.path("app.db");
        prepare(&fixture, &to);
        let said = run_child(&fixture, &to, stop_at);
        let is_new = to.exists()
            && query(&to, &fixture.access(), CONTENTS)
                .is_ok_and(|rows| rows == query(&source, &fixture.access(), CONTENTS).unwrap());
        if is_new {
            assert!(same(&fixture, &source, &to), "{said}");
            restored += 1;
        } else {
            assert!(is_old(&fixture, &to), "step {stop_at}, {said}: {:?}", fixture.names());
            kept += 1;
        }
        if said.starts_with("done") {
            break;
        }
        let destination = Folder::new(&fixture.path("backups"));
        restore(&Disk, &destination, &fixture.access(), &how(&to), &Watch::none()).unwrap();
        assert!(same(&fixture, &source, &to), "{said}");
        assert_eq!(fixture.names(), ["app.db", "backups", "source.db"], "{said}");
        stop_at += 1;
    }
    println!("{kept} kept, {restored} restored");
    assert!(kept > 10 && restored > 1);
}

#[test]
fn a_kill_leaves_no_file_or_the_complete_one() {
    kill_everywhere(|_, _| (), |_, to| !to.exists());
}

#[test]
fn a_kill_leaves_the_old_database_or_the_complete_new_one() {
    kill_everywhere(
        |fixture, to| drop(made(fixture, to.file_name().unwrap().to_str().unwrap(), "WAL", 20)),
        |fixture, to| {
            let rows = query(to, &fixture.access(), "SELECT count(*) FROM t").unwrap();
            format!("{rows:?}") == "[[Integer(20)]]"
        },
    );
}

#[test]
fn a_kill_leaves_the_unopenable_file_or_the_complete_new_one() {
    kill_everywhere(
        |_, to| {
            std::fs::write(to, "junk").unwrap();
            std::fs::write(to.with_file_name("app.db-wal"), "its log").unwrap();
        },
        |fixture, to| {
            // Its log is renamed just before the file gets its name.
            let log = std::fs::read(to.with_file_name("app.db-wal"))
                .or_else(|_| std::fs::read(fixture.path(".app.db.selenite-tmp-restore-wal")));
            std::fs::read(to).unwrap() == b"junk" && log.unwrap() == b"its log"
        },
    );
}
