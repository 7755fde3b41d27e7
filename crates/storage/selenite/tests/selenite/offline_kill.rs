//! A kill at any moment of an offline copy leaves either the complete old database or the complete
//! new one, and the next run finishes the copy. Until then no other process gets a lock.
//!
//! As in `kill.rs` the test starts itself as a child, which stops at a chosen step, and is killed
//! there.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use selenite::offline::{Offline, offline};
use selenite::reencrypt::{self, Goal, Reencrypt};
use selenite::storage::Disk;
use selenite::{EngineError, Layout, Suite, Watch, status};
use selenite_testing::own_process::test_command;

use crate::offline::{DUMP, check, made};
use crate::pausing::{Pausing, Steps, watch};
use crate::support::{Fixture, query};

const HOW: Offline = Offline {
    suite: Some(Suite::Aegis256X4),
    noted_every: 1 << 20,
};

/// The child's output at steps where it holds its lock.
const LOCKED_STEPS: [&str; 5] = [
    "stopped at write_at",
    "stopped at Copying",
    "stopped at Verifying",
    "stopped at sync",
    "stopped at rename",
];

/// Counts its steps, and stops at one of them, in any thread.
struct StopAt {
    stop_at: u32,
    count: AtomicU32,
}

impl Steps for StopAt {
    fn step(&self, name: &str) {
        let count = self.count.fetch_add(1, Ordering::SeqCst);
        if count == self.stop_at {
            println!("stopped at {name}");
            // Until the parent kills this process; the end of its input means that the parent has
            // ended.
            let _ = std::io::stdin().read(&mut [0]);
            std::process::exit(9);
        }
    }
}

/// The child process. Does nothing when it is run as a test.
#[test]
fn offline_child() {
    let Ok(path) = std::env::var("SELENITE_TEST_OFFLINE") else {
        return;
    };
    let access = selenite::Access {
        identity: Some(std::env::var("SELENITE_TEST_KEY").unwrap().parse().unwrap()),
        ..selenite::Access::default()
    };
    let steps = Arc::new(StopAt {
        stop_at: std::env::var("SELENITE_TEST_STOP_AT").unwrap().parse().unwrap(),
        count: AtomicU32::new(0),
    });
    offline(&Pausing(steps.clone()), Path::new(&path), &access, &HOW, &watch(&steps)).unwrap();
    println!("done after {}", steps.count.load(Ordering::SeqCst));
}

/// Runs the child to the step at which it stops, calls `look`, and kills it; returns its output.
fn run_child(fixture: &Fixture, path: &Path, stop_at: u32, look: impl FnOnce(&str)) -> String {
    let mut child = test_command("offline_kill::offline_child")
        .env("SELENITE_TEST_OFFLINE", path)
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
    look(&said);
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn kill_everywhere(mode: &str, seed: u64) {
    let fixture = Fixture::new();
    let path = made(&fixture, &Layout::default(), mode, 3500);
    let said = run_child(&fixture, &path, u32::MAX, |_| ());
    let count: u32 = said.strip_prefix("done after ").unwrap().parse().unwrap();
    println!("{count} steps, seed {seed}");
    // The last steps are those around the rename and before it, when all runs are recorded as
    // done: all of them, and some of the others.
    let mut stops: Vec<u32> = (count.saturating_sub(20)..count).collect();
    let mut state = seed;
    for _ in 0..10 {
        stops.push(u32::try_from(random(&mut state) % u64::from(count)).unwrap());
    }
    let mut taken_over = 0;
    let mut refused = 0;
    for stop_at in stops {
        let fixture = Fixture::new();
        let path = made(&fixture, &Layout::default(), mode, 3500);
        let access = fixture.access();
        let rows = query(&path, &access, DUMP).unwrap();
        // The child holds its lock while it copies, verifies and renames. The order of the
        // threads' steps differs from run to run, but most of the last 20 steps before the rename
        // are those of verifying.
        let said = run_child(&fixture, &path, stop_at, |said| {
            if LOCKED_STEPS.contains(&said) {
                let hasty = selenite::Access {
                    busy_wait: Duration::ZERO,
                    ..fixture.access()
                };
                let busy = query(&path, &hasty, DUMP).unwrap_err();
                assert_eq!(busy.class(), selenite::Class::Busy, "{said}: {busy}");
                refused += 1;
            }
        });
        check(&path, &access, &rows);
        let epoch = status(&Disk, &path, &access).unwrap().sealed.unwrap().epochs[0].epoch;
        let done = offline(&Disk, &path, &access, &HOW, &Watch::none()).unwrap();
        assert_eq!(done.epoch, epoch + 1, "{said}");
        taken_over += done.taken_over;
        check(&path, &access, &rows);
        assert_eq!(fixture.names(), ["app.db"], "{said}: the next run removes what is left");
    }
    println!("{taken_over} bytes taken over, {refused} times refused");
    assert!(taken_over > 0 && refused > 0);
}

#[test]
fn a_kill_during_an_offline_copy_leaves_one_complete_database() {
    kill_everywhere("DELETE", 0x5eed_0011);
}

#[test]
fn a_kill_during_an_offline_copy_in_wal_mode_leaves_one_complete_database() {
    kill_everywhere("WAL", 0x5eed_0012);
}

#[test]
fn a_second_process_is_refused_with_the_pid_and_start_of_the_first() {
    let fixture = Fixture::new();
    let path = made(&fixture, &Layout::default(), "WAL", 500);
    let said = run_child(&fixture, &path, u32::MAX, |_| ());
    let count: u32 = said.strip_prefix("done after ").unwrap().parse().unwrap();
    let started = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let mut is_seen = false;
    run_child(&fixture, &path, count / 2, |said| {
        assert!(said.starts_with("stopped at "), "{said}");
        let report = reencrypt::report(&Disk, &path)
            .unwrap()
            .expect("the child re-encrypts the database");
        assert!(report.is_offline && report.since >= started.as_secs(), "{report:?}");
        let command = std::fs::read_to_string(format!("/proc/{}/cmdline", report.pid)).unwrap();
        assert!(command.contains("offline_child"), "{command}");
        let access = fixture.access();
        let second = offline(&Disk, &path, &access, &HOW, &Watch::none()).map(drop);
        let online = |goal| {
            let how = Reencrypt {
                goal,
                ..Reencrypt::default()
            };
            reencrypt::reencrypt(&Disk, &path, &access, &how, &Watch::none()).map(drop)
        };
        for refused in [second, online(Goal::NewKey), online(Goal::GoOn)] {
            match refused {
                Err(EngineError::UnderWay { pid, since, .. }) => {
                    assert_eq!((pid, since), (report.pid, report.since));
                }
                refused => panic!("{refused:?}"),
            }
        }
        is_seen = true;
    });
    assert!(is_seen);
    // It was killed, and no process holds the claim that it left.
    assert!(fixture.names().contains(&"app.db-selenite".to_owned()));
    assert!(reencrypt::report(&Disk, &path).unwrap().is_none());
    offline(&Disk, &path, &fixture.access(), &HOW, &Watch::none()).unwrap();
    assert_eq!(fixture.names(), ["app.db"]);
}
