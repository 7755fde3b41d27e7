//! Followers and writers are killed, logs cut, pages sealed anew; what is restored has every commit that was told of in time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use selenite_engine::Watch;
use selenite_engine::reencrypt::{Goal, Reencrypt, reencrypt};
use selenite_engine::restore::Which;
use selenite_engine::storage::Disk;
use selenite_testing::Random;

use crate::child::{Role, Told};
use crate::{Bench, quiet};

#[test]
fn no_commit_that_was_followed_is_missing_after_any_kill() {
    kill_and_look(2, 10, Random::seed_or(20_261_123));
}

#[test]
#[ignore = "make soak: kills four writers' follower for minutes"]
fn no_commit_that_was_followed_is_missing_after_hundreds_of_kills() {
    let kills = std::env::var("SELENITE_KILLS").map_or(200, |text| text.parse().unwrap());
    kill_and_look(4, kills, Random::seed_or(20_261_124));
}

fn kill_and_look(writer_count: u64, kills: u64, seed: u64) {
    println!("seed {seed}, {kills} kills, {writer_count} writers");
    let mut random = Random::new(seed);
    let bench = Bench::new();
    let start = |writer| Told::start(&bench, Role::Writer(writer, 300));
    let mut writers: Vec<Told> = (0..writer_count).map(start).collect();
    let is_over = AtomicBool::new(false);
    let (mut restored_logs, mut cuts) = (0, 0);
    thread::scope(|scope| {
        // A check that fails ends the others, too.
        let over = Over(&is_over);
        let sealing = scope.spawn(|| seal(&bench));
        let cutting = scope.spawn(|| cut(&bench, &is_over));
        for kill in 0..kills {
            let follower = Told::start(&bench, Role::Follower);
            for _ in 0..=random.below(12) {
                follower.hear_turn();
            }
            let told: Vec<u64> = writers
                .iter()
                .map(|writer| writer.last.load(Ordering::SeqCst))
                .collect();
            follower.hear_a_whole_turn();
            follower.kill();
            if random.below(3) == 0 {
                let killed = usize::try_from(random.below(writer_count)).unwrap();
                writers.push(start(killed as u64));
                writers.swap_remove(killed).kill();
            }
            let (to, restored) = bench.restore(Which::Newest).unwrap();
            let found = bench.check(&to);
            restored_logs += restored.log_count;
            for (writer, told) in told.iter().enumerate() {
                let found = found.get(writer).copied().unwrap_or(0);
                assert!(found >= *told, "kill {kill}, writer {writer}: {found} of {told}");
            }
            std::fs::remove_file(to).unwrap();
        }
        drop(over);
        cuts = cutting.join().unwrap();
        sealing.join().unwrap();
    });
    // And in the end all of it.
    let follower = Told::start(&bench, Role::Follower);
    let last: Vec<u64> = writers.into_iter().map(Told::stop).collect();
    follower.hear_a_whole_turn();
    follower.kill();
    let (to, restored) = bench.restore(Which::Newest).unwrap();
    assert_eq!(bench.check(&to), last);
    println!(
        "commits {last:?}, {cuts} logs cut, {restored_logs} objects of logs laid over, {} backups in the last chain",
        restored.link_count
    );
    assert!(restored_logs > 0 && last.iter().all(|&number| number > 0));
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Every page is sealed anew meanwhile.
fn seal(bench: &Bench) {
    let how = Reencrypt {
        goal: Goal::NewKey,
        ..Reencrypt::default()
    };
    reencrypt(&Disk, &bench.path(), &bench.access(), &how, &Watch::nobody()).unwrap();
}

/// Others have the log begin anew. Answers how often they could.
fn cut(bench: &Bench, is_over: &AtomicBool) -> u64 {
    let database = bench.open();
    let mut count = 0;
    while !is_over.load(Ordering::SeqCst) {
        let mut rows = quiet::Numbers::default();
        database.run("PRAGMA wal_checkpoint(TRUNCATE)", &mut rows).unwrap();
        count += u64::from(rows.0[0] == 0);
    }
    count
}

#[test]
fn a_log_does_not_grow_without_end_while_somebody_writes_all_the_time() {
    let bench = Bench::new();
    let follower = Told::start(&bench, Role::Follower);
    follower.hear_turn();
    let writer = Told::start(&bench, Role::Writer(0, 40_000));
    let mut largest = 0;
    // Eleven frames and more each.
    for number in (0..4000).step_by(100) {
        writer.pass(number);
        let log = std::fs::metadata(bench.path().with_extension("db-wal")).unwrap().len();
        largest = largest.max(log);
    }
    let last = writer.stop();
    follower.hear_a_whole_turn();
    follower.kill();
    let (to, restored) = bench.restore(Which::Newest).unwrap();
    assert_eq!(bench.check(&to), [last]);
    println!(
        "{last} commits, a log of {largest} bytes at most, {} backups",
        restored.link_count
    );
    // A log that was never longer before tells nothing of its rest: the first windows may each make a new backup, which holds it for a while.
    assert!(
        largest < 11 * 4120 * last / 10 * 9,
        "the log was never begun anew: {largest} bytes"
    );
}
