//! Processes and threads that write, read, checkpoint and change modes of one file, and check every
//! row for stale data. A row has a version and a checksum; a reader's versions never decrease, and
//! never mix within a snapshot.
//!
//! The test takes ten seconds, divided between all modes: `SELENITE_STRESS_SECONDS` changes this.
//! `SELENITE_SEED` repeats a seed, as far as concurrent processes are reproducible.

mod counts;
mod ledger;
mod worker;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use counts::Counts;
use selenite_testing::own_process::test_command;
use selenite_testing::{KeyFile, Random, own_process};
use selenite_vfs::injected_bugs::{Bug, inject};
pub use worker::install;

/// The environment variable that selects a child's work.
const CHILD: &str = "SELENITE_TEST_STALE";

/// The configuration of one run.
#[derive(Clone)]
struct Plan {
    /// The journal modes between which the processes switch.
    modes: &'static str,
    /// The pool's size; "mixed" changes it.
    pool: &'static str,
    bug: &'static str,
    steps: u64,
    until: Instant,
    /// Whether additional processes are started and killed.
    kills: bool,
    seed: u64,
}

/// The result of a run.
struct StressResult {
    wrong: Vec<String>,
    counts: Counts,
}

fn start(plan: &Plan, path: &str, key: &KeyFile, process: u64) -> Child {
    let left = plan.until.saturating_duration_since(Instant::now()).as_millis();
    let words = [
        path,
        &key.spec(),
        plan.modes,
        plan.pool,
        plan.bug,
        &plan.steps.to_string(),
        &left.to_string(),
        &(plan.seed + 100 * process).to_string(),
    ]
    .join("\n");
    test_command("stale_pages::child")
        .env(CHILD, words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs two processes of two threads each, and additional ones that are killed; returns the errors
/// found.
fn run(plan: &Plan) -> StressResult {
    worker::install();
    let folder = tempfile::tempdir().unwrap();
    let key = KeyFile::new(1);
    let path = folder.path().join("stale.db").to_string_lossy().into_owned();
    let modes: Vec<&str> = plan.modes.split(' ').collect();
    worker::create(&path, &key.spec(), modes[0]);
    let children: Vec<Child> = (0..2).map(|process| start(plan, &path, &key, process)).collect();
    let mut found = StressResult {
        wrong: Vec::new(),
        counts: Counts::default(),
    };
    let mut random = Random::new(plan.seed);
    while plan.kills && (found.counts.kills < KILLS_MIN || Instant::now() < plan.until) {
        found.counts.kills += 1;
        let child = start(plan, &path, &key, 10 + found.counts.kills);
        found.wrong.extend(kill_in_a_step(child, random.below(40)));
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            found.counts.add(&String::from_utf8_lossy(&output.stdout));
        } else {
            let text = String::from_utf8_lossy(&output.stderr);
            found.wrong.push(format!("{}: {text}", output.status));
        }
    }
    worker::check(&path, &key.spec());
    let Plan { modes, pool, seed, .. } = plan;
    let late = Instant::now().saturating_duration_since(plan.until).as_millis();
    println!(
        "{modes}, pool {pool}, seed {seed}: {}, {} wrong, {late} ms late",
        found.counts,
        found.wrong.len()
    );
    found
}

/// Waits until a child reports the start of a step, and kills it in one of the next; returns the
/// message if it panicked before.
fn kill_in_a_step(mut child: Child, step: u64) -> Option<String> {
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let steps = said.by_ref().filter(|line| line.contains("step"));
    let _ = steps.take(usize::try_from(step).unwrap()).count();
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    drop(said);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.contains("panicked").then_some(text)
}

/// Modes, the pool, and whether additional processes are killed: recovery then rebuilds the WAL
/// index, or plays a journal back, while others continue.
const SHARES: [(&str, &str, bool); 10] = [
    ("wal", "mixed", false),
    ("wal", "64M", false),
    ("wal", "200K", false),
    ("wal", "0", false),
    ("delete", "mixed", false),
    ("truncate", "mixed", false),
    ("persist", "mixed", false),
    ("wal delete wal persist", "mixed", false),
    ("wal", "mixed", true),
    ("delete persist", "mixed", true),
];

/// The duration in ordinary test runs.
const SECONDS: u64 = 10;
/// Longer runs are divided into rounds of two minutes.
const ROUND_SECONDS: u64 = 120;
const KILLS_MIN: u64 = 3;

#[test]
fn no_page_is_stale() {
    own_process!();
    let seed = Random::seed_or(20_261_121);
    let said = std::env::var("SELENITE_STRESS_SECONDS").ok();
    let seconds: u64 = said.map_or(SECONDS, |text| text.parse().unwrap());
    let rounds = seconds.div_ceil(ROUND_SECONDS);
    let started = Instant::now();
    let share_count = rounds * u64::try_from(SHARES.len()).unwrap();
    for index in 0..share_count {
        let (modes, pool, kills) = SHARES[usize::try_from(index).unwrap() % SHARES.len()];
        let plan = Plan {
            modes,
            pool,
            bug: "none",
            steps: u64::MAX,
            until: started + Duration::from_millis(seconds * 1000 * (index + 1) / share_count),
            kills,
            seed: seed + 1_000_000 * (index / u64::try_from(SHARES.len()).unwrap()),
        };
        let StressResult { wrong, counts } = run(&plan);
        assert!(wrong.is_empty(), "seed {}: {}", plan.seed, wrong.join("\n"));
        assert!(
            counts.reads > 0 && counts.commits > 0 && counts.read_ahead > 0,
            "{modes}: {counts}"
        );
        assert_eq!(counts.pool_hits > 0, pool != "0", "{modes}, pool {pool}: {counts}");
        assert_eq!(counts.checkpoints > 0, modes.contains("wal"), "{modes}: {counts}");
        assert_eq!(counts.kills > 0, kills, "{modes}: {counts}");
    }
}

/// Tries up to ten seeds: one of those runs has to find the bug.
fn assert_bug_is_found(bug: &'static str, modes: &'static str) {
    let started = Instant::now();
    let found = (0..10).any(|seed| {
        let plan = Plan {
            modes,
            pool: "mixed",
            bug,
            steps: 150,
            until: started + Duration::from_secs(60),
            kills: false,
            seed,
        };
        let found = run(&plan);
        found.wrong.iter().any(|text| text.contains("stale"))
    });
    assert!(found, "no run found {bug} in {modes}");
    println!("{bug} in {modes}: found after {} ms", started.elapsed().as_millis());
}

#[test]
fn a_window_that_outlives_its_lock_is_found() {
    own_process!();
    assert_bug_is_found("window", "wal");
    assert_bug_is_found("window", "delete");
}

#[test]
fn a_pool_that_outlives_a_foreign_checkpoint_is_found() {
    own_process!();
    assert_bug_is_found("pool", "wal");
    assert_bug_is_found("pool", "delete");
}

#[test]
fn child() {
    let Ok(words) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = words.split('\n').collect();
    let [path, spec, modes, pool, bug, steps, left, seed] = words[..] else {
        panic!("eight words");
    };
    let until = Instant::now() + Duration::from_millis(left.parse().unwrap());
    inject(match bug {
        "window" => Some(Bug::WindowOutlivesItsLock),
        "pool" => Some(Bug::PoolOutlivesCheckpoint),
        "none" => None,
        other => panic!("no bug {other}"),
    });
    worker::install();
    let (steps, seed): (u64, u64) = (steps.parse().unwrap(), seed.parse().unwrap());
    let settings = worker::WorkerSettings {
        path,
        spec,
        modes: modes.split(' ').collect(),
        pool,
        steps,
        until,
    };
    let counts: Counts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|thread| {
                let settings = &settings;
                scope.spawn(move || worker::run(settings, Random::new(seed + thread)))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{}", counts.with_status(&settings).line());
}
