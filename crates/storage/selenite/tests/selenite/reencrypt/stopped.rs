//! Other processes that are stopped (SIGSTOP) at any point: the operation waits for the locks that
//! they hold, and for nothing else, and they continue normally.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use selenite::reencrypt::{self, Goal, Reencrypt, reencrypt};
use selenite::storage::Disk;
use selenite::{Access, EngineError, Observer, Phase, Progress, Suite, Watch};

use super::child::{Role, start};
use super::conversions::{layout, state};
use super::{Fixture, epochs};

/// Must not appear unencrypted in any file.
const MARKER: &str = "a-secret-of-a-process-that-was-stopped";
const ROWS: u64 = 2000;

struct Client {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Client {
    fn start(fixture: &Fixture) -> Self {
        let mut child = start(&fixture.path(), &fixture.key.spec(), Role::Client);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Runs SQL there, and returns the texts of the result.
    fn run(&mut self, sql: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{sql}").unwrap();
        let mut lines = self.lines.by_ref().map(Result::unwrap);
        let answer = lines.find_map(|line| line.split_once("did ").map(|(_, answer)| answer.to_owned()));
        let answer = answer.unwrap();
        assert!(!answer.starts_with("not:"), "{answer}");
        answer
    }

    fn stop(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).unwrap();
        let stat = format!("/proc/{}/stat", self.child.id());
        // The state follows the name, which ends with a bracket (proc_pid_stat(5)).
        while !std::fs::read_to_string(&stat).unwrap().contains(") T ") {
            std::thread::yield_now();
        }
    }

    fn go_on(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended, or still be stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Signals another thread when part of the pages is done, and waits for its reply.
struct Gate {
    first: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

impl Observer for Gate {
    fn progress(&self, progress: Progress) {
        if progress.phase != Phase::Sealing || progress.done == 0 {
            return;
        }
        if let Some((open, through)) = self.first.lock().unwrap().take() {
            open.send(()).unwrap();
            through.recv().unwrap();
        }
    }

    fn is_interrupted(&self) -> bool {
        false
    }
}

fn seal(fixture: &Fixture, watch: &Watch) -> Result<u32, EngineError> {
    let how = Reencrypt {
        goal: Goal::Suite(Suite::ChaCha20),
        ..Reencrypt::default()
    };
    let access = Access {
        busy_wait: Duration::from_millis(50),
        ..fixture.access()
    };
    reencrypt(&Disk, &fixture.path(), &access, &how, watch).map(|done| done.epoch)
}

/// A database, and a process that has written to it.
fn fixture(mode: &str) -> (Fixture, Client) {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), mode, ROWS);
    let mut client = Client::start(&fixture);
    client.run(&format!(
        "CREATE TABLE mine(id INTEGER PRIMARY KEY, body TEXT); INSERT INTO mine VALUES(1, '{MARKER}')"
    ));
    (fixture, client)
}

/// Checks that the process continues, and that no page under the old key is left.
fn check(fixture: &Fixture, mut client: Client, rows: u64) {
    assert_eq!(epochs(&fixture.path(), 1024), [2].into(), "before it writes");
    assert_eq!(
        client.run("SELECT CAST(count(*) AS TEXT) FROM t UNION ALL SELECT CAST(count(*) AS TEXT) FROM mine"),
        format!("{ROWS} {rows}")
    );
    client.run(&format!(
        "INSERT INTO mine VALUES(9, '{MARKER}'); UPDATE t SET body = randomblob(300) WHERE number % 50 = 0"
    ));
    assert_eq!(epochs(&fixture.path(), 1024), [2].into(), "after it wrote");
    assert_eq!(client.run("PRAGMA integrity_check"), "ok");
    assert_eq!(
        client.run(&format!("SELECT body FROM mine WHERE id = 9 AND body = '{MARKER}'")),
        MARKER
    );
    for entry in std::fs::read_dir(fixture.path().parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(MARKER.len()).any(|part| part == MARKER.as_bytes());
        assert!(!found, "{}", path.display());
    }
    client.end();
    // No process has it open now.
    assert_eq!(state(fixture), "steady");
    let report = selenite::verify::physical(&Disk, &fixture.path(), &fixture.access(), &Watch::none()).unwrap();
    assert!(report.is_good(), "{:?}", report.bad);
    assert_eq!(epochs(&fixture.path(), 1024), [2].into(), "at the end");
}

#[test]
fn an_idle_connection_is_not_waited_for() {
    for mode in ["wal", "delete", "persist"] {
        let (fixture, mut client) = fixture(mode);
        assert_eq!(client.run("SELECT CAST(count(*) AS TEXT) FROM t"), ROWS.to_string());
        client.stop();
        assert_eq!(seal(&fixture, &Watch::none()).unwrap(), 2, "{mode}");
        client.go_on();
        check(&fixture, client, 1);
    }
}

/// Makes the process run `sql` during the re-encryption, and stops it there; when it continues it
/// runs `end`.
fn stopped_in_the_middle(mode: &str, sql: &str, wait: impl Fn(&str, u32) -> bool, end: &str, rows: u64) {
    let (fixture, mut client) = fixture(mode);
    let (open, opened) = channel();
    let (through, is_through) = channel();
    let watch = Watch::new(Arc::new(Gate {
        first: Mutex::new(Some((open, is_through))),
    }));
    std::thread::scope(|scope| {
        let sealing = scope.spawn(|| seal(&fixture, &watch));
        opened.recv().unwrap();
        client.run(sql);
        client.stop();
        through.send(()).unwrap();
        let report = loop {
            assert!(
                !sealing.is_finished(),
                "{mode}: it went past a process that holds a lock"
            );
            let report = reencrypt::report(&Disk, &fixture.path()).unwrap().unwrap_or_default();
            if wait(&report.waiting, client.child.id()) {
                break report;
            }
            std::thread::yield_now();
        };
        let now = selenite::now();
        assert!((report.since..=now).contains(&report.waiting_since), "{report:?}");
        assert!(epochs(&fixture.path(), 1024).contains(&1), "{mode}");
        client.go_on();
        client.run(end);
        assert_eq!(sealing.join().unwrap().unwrap(), 2, "{mode}");
    });
    check(&fixture, client, rows);
}

#[test]
fn a_stopped_writer_is_waited_for_and_named() {
    for mode in ["wal", "delete"] {
        let sql = format!("BEGIN IMMEDIATE; INSERT INTO mine VALUES(2, '{MARKER}')");
        let named = |waiting: &str, pid: u32| waiting == format!("waiting for writers: process {pid} writes");
        stopped_in_the_middle(mode, &sql, named, "INSERT INTO mine VALUES(3, 'x'); COMMIT", 3);
    }
}

#[test]
fn a_stopped_reader_is_waited_for_and_named() {
    for mode in ["wal", "delete"] {
        let sql = "BEGIN; SELECT CAST(count(*) AS TEXT) FROM t";
        let waits = |waiting: &str, pid: u32| waiting == format!("waiting for readers: process {pid} reads");
        stopped_in_the_middle(mode, sql, waits, "SELECT CAST(count(*) AS TEXT) FROM t; COMMIT", 1);
    }
}

#[test]
fn a_stopped_writer_before_the_start_is_named_and_nothing_is_changed() {
    for mode in ["wal", "delete"] {
        let (fixture, mut client) = fixture(mode);
        client.run(&format!("BEGIN IMMEDIATE; INSERT INTO mine VALUES(2, '{MARKER}')"));
        client.stop();
        let refused = seal(&fixture, &Watch::none()).unwrap_err();
        assert_eq!(refused.class().exit_status(), 7, "{refused}");
        let named = format!("in use: process {} writes", client.child.id());
        assert!(refused.to_string().contains(&named), "{refused}");
        client.go_on();
        client.run("COMMIT");
        assert_eq!(epochs(&fixture.path(), 1024), [1].into());
        assert_eq!(seal(&fixture, &Watch::none()).unwrap(), 2);
        check(&fixture, client, 2);
    }
}
