//! Followers and writers are killed, logs truncated, pages re-encrypted; a restored database has
//! every commit that was acknowledged before a complete turn.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use selenite::Watch;
use selenite::reencrypt::{Goal, Reencrypt, reencrypt};
use selenite::restore::Which;
use selenite::storage::Disk;
use selenite_backup::{Destination, Folder};
use selenite_testing::Random;

use super::child::{ChildProcess, Lag, Role};
use super::{Fixture, quiet};

#[test]
fn no_followed_commit_is_missing_after_any_kill() {
    kill_and_look(2, Random::seed_or(20_261_123), |kills, _| kills < 10);
}

#[test]
#[ignore = "make soak: kills four writers and their follower for an hour"]
fn no_followed_commit_is_missing_after_an_hour_of_kills() {
    let minutes = std::env::var("SELENITE_SOAK_MINUTES").map_or(60.0, |text| text.parse::<f64>().unwrap());
    let long = Duration::from_secs_f64(minutes * 60.0);
    println!("{minutes} minutes");
    kill_and_look(4, Random::seed_or(20_261_124), |_, elapsed| elapsed < long);
}

fn kill_and_look(writer_count: u64, seed: u64, goes_on: impl Fn(u64, Duration) -> bool) {
    println!("seed {seed}, {writer_count} writers");
    let begun = Instant::now();
    let mut random = Random::new(seed);
    let fixture = Fixture::new();
    let start = |writer| ChildProcess::start(&fixture, Role::Writer(writer, 300));
    let mut writers: Vec<ChildProcess> = (0..writer_count).map(start).collect();
    let is_over = AtomicBool::new(false);
    let mut seen = KillCounts::default();
    thread::scope(|scope| {
        // A failed check ends the others, too.
        let over = Over(&is_over);
        let mut sealing = scope.spawn(|| seal(&fixture));
        let cutting = scope.spawn(|| cut(&fixture, &is_over));
        while goes_on(seen.follower_kills, begun.elapsed()) {
            if random.below(3) == 0 {
                // A kill at any moment, for example during its first backup.
                let early = ChildProcess::start(&fixture, Role::Follower);
                let until = writers[0].last.load(Ordering::SeqCst) + random.below(60);
                writers[0].pass(until);
                early.kill();
                seen.early_kills += 1;
            }
            let other = (random.below(4) == 0).then(|| ChildProcess::start(&fixture, Role::OtherFollower));
            let follower = ChildProcess::start(&fixture, Role::Follower);
            for _ in 0..=random.below(12) {
                follower.hear_turn();
            }
            let told: Vec<u64> = writers
                .iter()
                .map(|writer| writer.last.load(Ordering::SeqCst))
                .collect();
            follower.hear_a_whole_turn();
            seen.lag.take(follower.lag());
            follower.kill();
            seen.follower_kills += 1;
            if let Some(other) = other {
                other.kill();
                seen.other_kills += 1;
            }
            if random.below(3) == 0 {
                let killed = usize::try_from(random.below(writer_count)).unwrap();
                // Before the next one begins, which asks how far this one came.
                writers.remove(killed).kill();
                writers.insert(killed, start(killed as u64));
                seen.writer_kills += 1;
            }
            seen.look(&fixture, &told);
            if sealing.is_finished() && seen.follower_kills.is_multiple_of(SEAL_EVERY) {
                sealing.join().unwrap();
                sealing = scope.spawn(|| seal(&fixture));
                seen.seals += 1;
            }
        }
        drop(over);
        seen.cuts = cutting.join().unwrap();
        sealing.join().unwrap();
    });
    // Finally all commits.
    let follower = ChildProcess::start(&fixture, Role::Follower);
    let last: Vec<u64> = writers.into_iter().map(ChildProcess::stop).collect();
    follower.hear_a_whole_turn();
    seen.lag.take(follower.lag());
    follower.kill();
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), last);
    println!(
        "{:.0} s: {seen}; commits {last:?}, {} backups in the last chain",
        begun.elapsed().as_secs_f64(),
        restored.link_count
    );
    assert!(seen.log_objects > 0 && last.iter().all(|&number| number > 0));
}

/// What happened so far.
#[derive(Default)]
struct KillCounts {
    follower_kills: u64,
    early_kills: u64,
    other_kills: u64,
    writer_kills: u64,
    restores: u64,
    log_objects: usize,
    cuts: u64,
    seals: u64,
    cleared: u64,
    lag: Lag,
}

impl KillCounts {
    /// Checks that a restore has every commit that was acknowledged before.
    fn look(&mut self, fixture: &Fixture, told: &[u64]) {
        let kill = self.follower_kills;
        let (to, restored) = fixture.restore(Which::Newest).unwrap();
        let found = fixture.check(&to);
        for (writer, told) in told.iter().enumerate() {
            let found = found.get(writer).copied().unwrap_or(0);
            assert!(found >= *told, "kill {kill}, writer {writer}: {found} of {told}");
        }
        std::fs::remove_file(to).unwrap();
        self.restores += 1;
        self.log_objects += restored.log_count;
        let objects = Folder::new(&fixture.backups()).list("").unwrap();
        if objects.iter().map(|object| object.size).sum::<u64>() > BACKUPS_SIZE_MAX {
            std::fs::remove_dir_all(fixture.backups()).unwrap();
            self.cleared += 1;
        }
        if kill.is_multiple_of(SAY_EVERY) {
            println!("{self}");
        }
    }
}

impl std::fmt::Display for KillCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} kills of the follower, {} of one beside it, {} in the middle of anything, {} of writers; {} restores of {} objects of logs; {} logs cut, \
             {} times re-encrypted, {} times all backups removed; at most {:.2} s behind, and {:.2} s from a start on",
            self.follower_kills,
            self.other_kills,
            self.early_kills,
            self.writer_kills,
            self.restores,
            self.log_objects,
            self.cuts,
            self.seals,
            self.cleared,
            self.lag.worst.as_secs_f64(),
            self.lag.first.as_secs_f64(),
        )
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Re-encrypts every page meanwhile.
fn seal(fixture: &Fixture) {
    let how = Reencrypt {
        goal: Goal::NewKey,
        ..Reencrypt::default()
    };
    reencrypt(&Disk, &fixture.path(), &fixture.access(), &how, &Watch::none()).unwrap();
}

/// Truncates the log again and again. Returns how often that succeeded.
fn cut(fixture: &Fixture, is_over: &AtomicBool) -> u64 {
    let database = fixture.open();
    let mut count = 0;
    while !is_over.load(Ordering::SeqCst) {
        let mut rows = quiet::Numbers::default();
        database.run("PRAGMA wal_checkpoint(TRUNCATE)", &mut rows).unwrap();
        count += u64::from(rows.0[0] == 0);
    }
    count
}

#[test]
fn a_log_is_restarted_while_another_process_writes_all_the_time() {
    let fixture = Fixture::new();
    let follower = ChildProcess::start(&fixture, Role::Follower);
    follower.hear_turn();
    let writer = ChildProcess::start(&fixture, Role::Writer(0, 40_000));
    let log = fixture.path().with_extension("db-wal");
    let begin = || {
        let mut header = [0; 32];
        File::open(&log)
            .and_then(|mut log| log.read_exact(&mut header))
            .unwrap();
        header
    };
    // Each restart gives the header other salts. How soon is up to the machine: a busy one gives the follower little
    // time between the commits, each of which has eleven frames or more. A new backup, once the log of the first is as
    // long as the database, keeps the log from being restarted for a while.
    let mut headers = BTreeSet::new();
    for number in (0..COMMITS_MAX).step_by(100) {
        writer.pass(number);
        headers.insert(begin());
        if headers.len() > RESTARTS {
            break;
        }
    }
    let last = writer.stop();
    follower.hear_a_whole_turn();
    follower.kill();
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [last]);
    println!(
        "{last} commits, {} logs, {} backups",
        headers.len(),
        restored.link_count
    );
    assert!(
        headers.len() > RESTARTS,
        "{} restarts in {last} commits",
        headers.len() - 1
    );
}

/// Restarts of a log that are waited for.
const RESTARTS: usize = 5;
/// Their log would have 700 MB if it was never restarted.
const COMMITS_MAX: u64 = 16_000;
/// Kills between two progress lines.
const SAY_EVERY: u64 = 50;
/// Kills between two re-encryptions.
const SEAL_EVERY: u64 = 25;
/// With more bytes of backups, all of them are removed, to bound the disk usage.
const BACKUPS_SIZE_MAX: u64 = 2 << 30;
