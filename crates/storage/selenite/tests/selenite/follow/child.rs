//! The child processes of the tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selenite::storage::Disk;
use selenite::{Class, Database, Watch};
use selenite_testing::own_process::test_command;

use super::{Fixture, access, add, follow_to, quiet};

const CHILD: &str = "SELENITE_TEST_FOLLOW";

#[derive(Clone, Copy)]
pub enum Role {
    /// Adds rows to the ledger, and prints the number of each commit, until its input ends. Has a
    /// number, and the size of each row in bytes.
    Writer(u64, u32),
    /// Follows the database.
    Follower,
    /// Follows to the same place by another path, as a process on another machine does.
    OtherFollower,
}

/// A process, and its output.
pub struct ChildProcess {
    child: Child,
    /// Its standard error, read completely.
    errors: Option<JoinHandle<String>>,
    lines: Receiver<String>,
    /// The last commit number that it printed.
    pub last: Arc<AtomicU64>,
    lag: Arc<Mutex<Lag>>,
}

/// The delays of a follower.
#[derive(Clone, Copy, Default)]
pub struct Lag {
    /// From the moment up to which one turn had sent everything to the end of the next: commits in
    /// between were not yet at the destination.
    pub worst: Duration,
    /// From its start to the end of its first turn.
    pub first: Duration,
    sent: Option<Duration>,
}

impl Lag {
    /// Takes the maximum of both.
    pub fn take(&mut self, other: Self) {
        self.worst = self.worst.max(other.worst);
        self.first = self.first.max(other.first);
    }

    /// Records a turn that ended now and sent everything up to `sent`.
    fn hear(&mut self, started: Duration, sent: Duration) {
        let now = unix_time();
        match self.sent {
            Some(before) => self.worst = self.worst.max(now.saturating_sub(before)),
            None => self.first = now.saturating_sub(started),
        }
        self.sent = Some(sent);
    }
}

impl ChildProcess {
    /// Its output is read all the time: otherwise it would block when the pipe is full.
    pub fn start(fixture: &Fixture, role: Role) -> Self {
        let is_other = matches!(role, Role::OtherFollower);
        let role = match role {
            Role::Writer(number, bytes) => format!("{number} {bytes}"),
            Role::Follower | Role::OtherFollower => "follower".to_owned(),
        };
        let backups = if is_other {
            fixture.backups().join(".")
        } else {
            fixture.backups()
        };
        let words = [fixture.path(), backups].map(|path| path.to_str().unwrap().to_owned());
        let mut child = test_command("follow::child")
            // Not under `eatmydata`: a writer that does not wait for the disk would always be
            // ahead of its follower.
            .env_remove("LD_PRELOAD")
            .env(
                CHILD,
                [&words[0], &words[1], &fixture.spec(), &role]
                    .map(String::as_str)
                    .join("\n"),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut complaints = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = complaints.read_to_string(&mut text);
            if text.contains("panicked") {
                eprintln!("{text}");
            }
            text
        });
        let output = BufReader::new(child.stdout.take().unwrap());
        let (said, lines) = mpsc::channel();
        let last = Arc::new(AtomicU64::new(0));
        let heard = last.clone();
        let lag = Arc::new(Mutex::new(Lag::default()));
        let (late, started) = (lag.clone(), unix_time());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some(number) = line.strip_prefix("commit ") {
                    heard.store(number.parse().unwrap(), Ordering::SeqCst);
                    continue;
                }
                if let Some(sent) = turn_of(&line) {
                    late.lock().unwrap().hear(started, sent);
                }
                if said.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            errors: Some(errors),
            lines,
            last,
            lag,
        }
    }

    /// Waits for the next turn in which everything was sent. Returns the moment up to which that
    /// is.
    pub fn hear_turn(&self) -> Duration {
        let mut turns = self.lines.iter().filter_map(|line| turn_of(&line));
        turns.next().expect("the follower goes on")
    }

    /// The delays so far.
    pub fn lag(&self) -> Lag {
        *self.lag.lock().unwrap()
    }

    /// Waits for a complete turn that began after this call.
    pub fn hear_a_whole_turn(&self) {
        let asked = unix_time();
        while self.hear_turn() <= asked {}
    }

    /// Waits until the last commit number is greater than this.
    pub fn pass(&self, number: u64) {
        while self.last.load(Ordering::SeqCst) <= number {
            std::thread::yield_now();
        }
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let text = self.errors.take().unwrap().join().unwrap();
        assert!(!text.contains("panicked"), "{text}");
    }

    /// Ends a writer, and returns the number of its last commit.
    pub fn stop(mut self) -> u64 {
        drop(self.child.stdin.take());
        // Until the end of its output.
        while self.lines.recv().is_ok() {}
        let text = self.errors.take().unwrap().join().unwrap();
        assert!(self.child.wait().unwrap().success(), "{text}");
        self.last.load(Ordering::SeqCst)
    }
}

impl Drop for ChildProcess {
    /// A failed test leaves no process behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The moment up to which a turn sent everything, from its line.
fn turn_of(line: &str) -> Option<Duration> {
    line.strip_prefix("turn ")?.parse().ok().map(Duration::from_micros)
}

/// The same clock for all processes.
fn unix_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

pub fn play() {
    let Ok(words) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = words.split('\n').collect();
    let [path, backups, spec, role] = words[..] else {
        panic!("four words")
    };
    selenite::install().unwrap();
    match role.split_once(' ') {
        Some((writer, bytes)) => write(Path::new(path), spec, (writer.parse().unwrap(), bytes.parse().unwrap())),
        None => {
            let mut tell = |status: &selenite::follow::Status| {
                if status.archive.is_some() && status.waits_for.is_none() {
                    let sent = unix_time().saturating_sub(status.behind);
                    say(&format!("turn {}", sent.as_micros()));
                }
            };
            let backups = Path::new(backups);
            follow_to(Path::new(path), backups, spec, false, &Watch::none(), &mut tell).unwrap();
        }
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    // The reader may have ended.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn write(path: &Path, spec: &str, (writer, bytes): (u64, u32)) {
    let is_over = Arc::new(AtomicBool::new(false));
    let flag = is_over.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        flag.store(true, Ordering::SeqCst);
    });
    let database = Database::open(&Disk, path, &access(spec)).unwrap();
    let mut rows = quiet::Texts::default();
    let known = format!("SELECT CAST(number AS TEXT) FROM counted WHERE writer = {writer}");
    database.run(&known, &mut rows).unwrap();
    let mut number: u64 = rows.0.first().map_or(0, |number| number.parse().unwrap());
    // An earlier process with this number may have committed more than it could print.
    say(&format!("commit {number}"));
    while !is_over.load(Ordering::SeqCst) {
        match add(&database, writer, bytes) {
            Ok(()) => {
                number += 1;
                say(&format!("commit {number}"));
            }
            Err(error) => {
                assert_eq!(error.class(), Class::Busy, "{error}");
                let _ = database.run("ROLLBACK", &mut quiet::Nothing);
            }
        }
    }
}
