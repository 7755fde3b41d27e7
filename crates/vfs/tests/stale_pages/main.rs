//! Processes and threads that write, read, checkpoint and change modes of one file, and look at every row for what is
//! stale. A row has a version and a checksum; a reader's versions never go back, and never mix within a snapshot.
//!
//! `SELENITE_SOAK=100` makes a hundred times as many steps; `SELENITE_SEED` repeats a seed, as far as processes can.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod ledger;
mod player;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use selenite_testing::{KeyFile, Random};
use selenite_vfs::planted::{Bug, plant};

/// What one child does.
const CHILD: &str = "SELENITE_TEST_STALE";

#[derive(Clone)]
struct Plan {
    modes: &'static str,
    bug: &'static str,
    steps: u64,
    seed: u64,
}

fn soak() -> u64 {
    std::env::var("SELENITE_SOAK")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1)
}

fn start(plan: &Plan, path: &str, key: &KeyFile, process: u64) -> Child {
    let Plan {
        modes,
        bug,
        steps,
        seed,
    } = plan;
    let words = [
        path,
        &key.spec(),
        modes,
        bug,
        &steps.to_string(),
        &(seed + 100 * process).to_string(),
    ]
    .join("\n");
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(CHILD, words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs two processes of two threads each, and beside them others that are killed; answers what was wrong.
fn run(plan: &Plan, killed: u64) -> Vec<String> {
    player::install();
    let folder = tempfile::tempdir().unwrap();
    let key = KeyFile::new(1);
    let path = folder.path().join("stale.db").to_string_lossy().into_owned();
    let modes: Vec<&str> = plan.modes.split(' ').collect();
    player::create(&path, &key.spec(), modes[0]);
    let children: Vec<Child> = (0..2).map(|process| start(plan, &path, &key, process)).collect();
    let mut wrong = Vec::new();
    let mut random = Random::new(plan.seed);
    for process in 0..killed {
        let mut child = start(plan, &path, &key, 10 + process);
        // It says when it begins a step, and is killed in one of the next.
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let steps = said.by_ref().filter(|line| line.contains("step"));
        let _ = steps.take(usize::try_from(random.below(40)).unwrap()).count();
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        drop(said);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if text.contains("panicked") {
            wrong.push(text);
        }
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        if !output.status.success() {
            wrong.push(String::from_utf8_lossy(&output.stderr).into_owned());
        }
    }
    player::check(&path, &key.spec());
    println!("{}: seed {}, {} wrong", plan.modes, plan.seed, wrong.len());
    wrong
}

fn assert_none_is_stale(modes: &'static str, steps: u64, killed: u64) {
    let seed = Random::seed_or(20_261_121);
    let plan = Plan {
        modes,
        bug: "none",
        steps: steps * soak(),
        seed,
    };
    let wrong = run(&plan, killed * soak());
    assert!(wrong.is_empty(), "seed {seed}: {}", wrong.join("\n"));
}

#[test]
fn no_page_is_stale_in_wal_mode() {
    assert_none_is_stale("wal", 800, 0);
}

#[test]
fn no_page_is_stale_in_rollback_modes() {
    assert_none_is_stale("delete truncate persist", 400, 0);
}

/// Recovery makes the WAL index anew, or plays a journal back, under the eyes of those who go on.
#[test]
fn no_page_is_stale_while_other_processes_are_killed() {
    assert_none_is_stale("wal", 400, 12);
    assert_none_is_stale("delete persist", 200, 12);
}

#[test]
fn no_page_is_stale_while_the_modes_change() {
    assert_none_is_stale("wal delete wal persist", 400, 0);
}

/// Up to ten seeds: of those runs one has to find it.
fn assert_bug_is_found(bug: &'static str, modes: &'static str) {
    let found = (0..10).any(|seed| {
        let plan = Plan {
            modes,
            bug,
            steps: 150,
            seed,
        };
        let wrong = run(&plan, 0);
        wrong.iter().any(|text| text.contains("stale"))
    });
    assert!(found, "nobody found {bug} in {modes}");
}

#[test]
fn a_window_that_outlives_its_lock_is_found() {
    assert_bug_is_found("window", "wal");
    assert_bug_is_found("window", "delete");
}

#[test]
fn a_pool_that_outlives_a_foreign_checkpoint_is_found() {
    assert_bug_is_found("pool", "wal");
    assert_bug_is_found("pool", "delete");
}

#[test]
fn a_pool_that_keeps_what_its_own_connections_write_is_found() {
    assert_bug_is_found("own pages", "wal");
    assert_bug_is_found("own pages", "delete");
}

#[test]
fn a_pool_that_takes_foreign_writes_for_its_own_is_found() {
    assert_bug_is_found("foreign writes", "wal");
    assert_bug_is_found("foreign writes", "delete");
}

#[test]
fn a_pool_that_outlives_a_foreign_restart_of_the_log_is_found() {
    assert_bug_is_found("foreign restart", "wal");
}

#[test]
fn child() {
    let Ok(words) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = words.split('\n').collect();
    let [path, spec, modes, bug, steps, seed] = words[..] else {
        panic!("six words");
    };
    plant(match bug {
        "window" => Some(Bug::WindowOutlivesItsLock),
        "pool" => Some(Bug::PoolOutlivesCheckpoint),
        "own pages" => Some(Bug::PoolKeepsWhatIsWritten),
        "foreign writes" => Some(Bug::PoolTakesForeignWritesForOwn),
        "foreign restart" => Some(Bug::PoolOutlivesForeignRestart),
        "none" => None,
        other => panic!("no bug {other}"),
    });
    player::install();
    let (steps, seed): (u64, u64) = (steps.parse().unwrap(), seed.parse().unwrap());
    let modes: Vec<&str> = modes.split(' ').collect();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let modes = &modes;
            scope.spawn(move || player::play(path, spec, modes, steps, Random::new(seed + thread)));
        }
    });
}
