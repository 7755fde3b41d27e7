//! Interruptions of `selenite follow` while its destination is unreachable, and limits of its user.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::process::{Pid, Signal, kill_process};
use selenite::storage::Disk;
use selenite::{Cell, Database, Rows};

use crate::fixture::{Fixture, run};

#[derive(Default)]
struct Numbers(Vec<i64>);

impl Rows for Numbers {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, cells: Vec<Cell>) -> bool {
        self.0.extend(cells.iter().filter_map(|cell| match cell {
            Cell::Integer(number) => Some(*number),
            Cell::Null | Cell::Real(_) | Cell::Text(_) | Cell::Blob(_) => None,
        }));
        true
    }

    fn end(&mut self) {}
}

fn ask(database: &Database, sql: &str) -> Vec<i64> {
    let mut rows = Numbers::default();
    database.run(sql, &mut rows).unwrap();
    rows.0
}

/// Whether a process prevents the log from being truncated.
fn is_log_held(database: &Database) -> bool {
    ask(database, "PRAGMA wal_checkpoint(TRUNCATE)")[0] != 0
}

fn in_wal_mode() -> (Fixture, Database) {
    selenite::install().unwrap();
    let (fixture, path) = Fixture::encrypted();
    let sql = "PRAGMA journal_mode = WAL";
    fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done();
    let database = Database::open(&Disk, &path, &fixture.access()).unwrap();
    (fixture, database)
}

/// A process of `selenite follow` and its output.
struct Follower {
    child: Child,
    lines: Receiver<String>,
}

impl Follower {
    fn start(fixture: &Fixture) -> Self {
        let words = [
            "-i",
            "key.txt",
            "follow",
            "app.db",
            "backups",
            "--lag",
            "0.1",
            "--max-log-mib",
            "1",
        ];
        let mut command = fixture.command(&words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (say, lines) = channel();
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if say.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    fn hear(&self, words: &str) {
        assert!(
            self.lines.iter().any(|line| line.contains(words)),
            "it ended without {words}"
        );
    }

    /// Ends it. Returns its last output.
    fn end(mut self, signal: Signal) -> String {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{out}");
        out
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_follower_that_is_stopped_while_the_destination_is_unreachable_releases_the_log() {
    for signal in [Signal::INT, Signal::TERM] {
        for is_too_long in [false, true] {
            let (fixture, database) = in_wal_mode();
            let insert = |bytes: u32| {
                let sql = format!("INSERT INTO note (text) VALUES (randomblob({bytes}))");
                ask(&database, &sql);
            };
            insert(10);
            let follower = Follower::start(&fixture);
            follower.hear("following");
            let second = ["-i", "key.txt", "follow", "app.db", "backups", "--once"];
            let named = format!("already followed to backups by process {}", follower.child.id());
            fixture.run(&second).failed(7, &named);
            let (place, aside) = (fixture.path("backups"), fixture.path("aside"));
            fs::rename(&place, &aside).unwrap();
            insert(if is_too_long { 2_000_000 } else { 10 });
            follower.hear("waiting: can't ");
            if is_too_long {
                // The follower releases the log by itself.
                while is_log_held(&database) {
                    std::thread::yield_now();
                }
            } else {
                assert!(is_log_held(&database));
            }
            insert(10);
            let out = follower.end(signal);
            assert!(
                out.contains("were not sent") && out.contains("no longer exists"),
                "{signal:?} {out}"
            );
            assert!(!place.exists());
            assert!(!fixture.names().iter().any(|name| name.contains("selenite-tmp")));
            insert(10);
            assert!(!is_log_held(&database));
            insert(10);
            fs::rename(&aside, &place).unwrap();
            fixture.run(&second).done();
            let restore = ["-i", "key.txt", "restore", "backups", "--to", "new.db"];
            fixture.run(&restore).done();
            let sql = "SELECT count(*), sum(length(text)) FROM note";
            let count = |name| fixture.run(&["-i", "key.txt", "exec", name, sql]).done().out;
            assert_eq!(count("new.db"), count("app.db"));
            assert!(count("new.db").starts_with("505\t"));
        }
    }
}

#[test]
fn exceeding_the_file_size_limit_is_an_error_with_a_message() {
    let (fixture, database) = in_wal_mode();
    for _ in 0..20 {
        ask(&database, "INSERT INTO note (text) VALUES (randomblob(50000))");
    }
    let program = env!("CARGO_BIN_EXE_selenite");
    // 256 KiB: larger than the WAL index.
    let words = format!("ulimit -f 512; exec {program} -i key.txt follow app.db backups --once");
    let mut command = Command::new("sh");
    let folder = fixture.path("");
    command
        .args(["-c", &words])
        .current_dir(&folder)
        .env_clear()
        .env("HOME", &folder);
    run(&mut command).failed(6, "File too large");
    // The backup that it leaves is continued when there is space.
    fixture
        .run(&["-i", "key.txt", "follow", "app.db", "backups", "--once"])
        .done();
    fixture
        .run(&["-i", "key.txt", "restore", "backups", "--to", "new.db"])
        .done();
}

#[test]
fn the_end_of_following_comes_from_the_log_and_not_from_file_times() {
    let (fixture, database) = in_wal_mode();
    let send = ["-i", "key.txt", "follow", "app.db", "backups", "--once"];
    fixture.run(&send).done();
    database
        .run("INSERT INTO note(text) VALUES ('later')", &mut Numbers::default())
        .unwrap();
    fixture.run(&send).done();
    let list = || {
        fixture
            .run(&["-i", "key.txt", "backups", "list", "backups", "--json"])
            .done()
            .json()
    };
    let until = list()["backups"][0]["followed_until"].clone();
    assert!(until.is_string(), "{until}");
    // As after `cp -r`, years later.
    let much_later = std::time::SystemTime::now() + std::time::Duration::from_secs(100_000_000);
    let mut folders = vec![fixture.path("backups")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let file = fs::File::options().write(true).open(entry.path()).unwrap();
                file.set_modified(much_later).unwrap();
            }
        }
    }
    assert_eq!(list()["backups"][0]["followed_until"], until);
    let text = fixture.run(&["-i", "key.txt", "backups", "list", "backups"]).done().out;
    assert!(
        text.contains(&format!("followed until {}", until.as_str().unwrap())),
        "{text}"
    );
    // Without a key, the time is not available.
    let closed = fixture.run(&["backups", "list", "backups", "--json"]).done().json();
    assert_eq!(closed["backups"][0]["followed_until"], serde_json::Value::Null);
    assert_eq!(closed["backups"][0]["followed"], true);
    // While a follower runs, status has no warning; after a kill it does.
    let codes = || fixture.run(&["status", "app.db", "--json"]).done().json()["warnings"].to_string();
    let follower = Follower::start(&fixture);
    while !fixture.names().iter().any(|name| name.ends_with("-claim")) {
        std::thread::yield_now();
    }
    assert!(!codes().contains("draft"), "{}", codes());
    drop(follower);
    assert!(codes().contains("draft"), "{}", codes());
}
