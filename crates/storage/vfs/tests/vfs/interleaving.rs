//! Between any two calls that reach the disk another process may write, checkpoint its log, or
//! read. The tests do this at every call in turn, and every connection must read only whole
//! snapshots.
//!
//! The other process is simulated by a connection that also allows unencrypted files: it has
//! separate pages in the pool (`FileKey::rights`), and shares only the disk with the readers.

mod test_connection;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use selenite_testing::{InterleavedTask, own_process};
use selenite_vfs::injected_bugs::{Bug, inject};
use test_connection::{Fixture, TestConnection, is_busy};

const CHECKPOINTS: [&str; 4] = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"];

/// The initial state of the log: empty, complete, or partly copied; or no rows at all, so that rows
/// are read from the database while the log grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Log {
    Copied,
    Whole,
    Begun,
    Elsewhere,
}

const LOGS: [Log; 4] = [Log::Copied, Log::Whole, Log::Begun, Log::Elsewhere];

fn prepare(log: Log, other: &TestConnection) {
    match log {
        Log::Copied => {
            other.commit().unwrap();
            other.checkpoint("TRUNCATE").unwrap();
        }
        Log::Whole => other.commit().unwrap(),
        Log::Begun => {
            other.commit().unwrap();
            other.checkpoint("PASSIVE").unwrap();
            other.commit().unwrap();
        }
        Log::Elsewhere => {
            other.commit().unwrap();
            other.checkpoint("TRUNCATE").unwrap();
            other.touch();
        }
    }
}

/// Runs `intrude` before every call that `work` makes; returns the number of calls.
fn at_every_call(
    prepare: impl Fn(),
    work: impl Fn(),
    intrude: impl FnOnce() + Clone + 'static,
    check: impl Fn(),
) -> u64 {
    let mut count = 0;
    loop {
        prepare();
        let task = InterleavedTask::after(count, intrude.clone());
        work();
        let came = task.end();
        check();
        if !came {
            return count;
        }
        count += 1;
    }
}

/// Another process commits and copies the log between the calls of a reader; returns the number of
/// calls.
fn come_between_reads(fixture: &Fixture, log: Log, kind: &'static str) -> u64 {
    let (reader, beside, other) = (
        fixture.connect(),
        Rc::new(fixture.connect()),
        Rc::new(fixture.foreign()),
    );
    let deed = {
        let (beside, other) = (beside.clone(), other.clone());
        move || {
            other.commit().unwrap();
            let _ = other.checkpoint(kind);
            beside.must_see(&other);
            beside.read_all();
            other.commit().unwrap();
        }
    };
    let before = || {
        prepare(log, &other);
        if log == Log::Elsewhere {
            // The pages then in the pool are of this log.
            (0..2).for_each(|_| beside.read_all());
        }
    };
    at_every_call(
        before,
        || reader.read_all(),
        deed,
        || {
            beside.must_see(&other);
            beside.read_all();
        },
    )
}

#[test]
fn a_reader_sees_one_snapshot_whatever_comes_between_its_calls() {
    own_process!();
    for pool_size in ["64M", "0"] {
        let fixture = Fixture::new("wal", pool_size);
        let pairs = LOGS.into_iter();
        let counts = pairs.flat_map(|log| CHECKPOINTS.map(|kind| come_between_reads(&fixture, log, kind)));
        let count: u64 = counts.sum();
        println!("pool {pool_size}: {count} calls; {:?}", fixture.counts());
        assert!(count > 300, "{count} calls");
        fixture.assert_used(pool_size != "0");
    }
}

/// The tests detect both injected bugs.
#[test]
fn bugs_that_are_planted_are_found() {
    own_process!();
    for bug in [Bug::WindowOutlivesItsLock, Bug::PoolOutlivesCheckpoint] {
        let fixture = Fixture::new("wal", "64M");
        inject(Some(bug));
        let found = catch_unwind(AssertUnwindSafe(|| {
            for log in LOGS {
                CHECKPOINTS
                    .into_iter()
                    .for_each(|kind| assert!(come_between_reads(&fixture, log, kind) > 0));
            }
        }));
        inject(None);
        assert!(found.is_err(), "no run found {bug:?}");
    }
}

/// A snapshot is held, and a part of it has been read ahead; between the calls of a checkpoint, and
/// of a commit after it, its reader continues, and others begin.
#[test]
fn a_snapshot_is_unchanged_between_any_two_calls_of_a_checkpoint() {
    own_process!();
    for (pool_size, kinds) in [("64M", &CHECKPOINTS[..]), ("0", &["RESTART"])] {
        let fixture = Fixture::new("wal", pool_size);
        let mut count = 0;
        for log in LOGS {
            for &kind in kinds {
                for is_older in [false, true] {
                    let (held, beside, other) = (
                        Rc::new(fixture.connect()),
                        Rc::new(fixture.connect()),
                        Rc::new(fixture.foreign()),
                    );
                    let begin = || {
                        held.end();
                        prepare(log, &other);
                        held.begin();
                        held.read_from(0);
                        if is_older {
                            other.commit().unwrap();
                        }
                    };
                    let deed = {
                        let (held, beside) = (held.clone(), beside.clone());
                        move || {
                            held.read_from(1);
                            beside.read_all();
                        }
                    };
                    let work = || {
                        // The result is busy if the snapshot prevents the checkpoint.
                        let _ = other.checkpoint(kind);
                        // Restarts the log (`walRestartLog`) if all of it was copied and no
                        // connection reads it.
                        other.commit().unwrap();
                    };
                    let check = || {
                        held.read_from(2);
                        beside.read_all();
                    };
                    count += at_every_call(begin, work, deed, check);
                    held.end();
                    held.read_all();
                }
            }
        }
        println!("pool {pool_size}: {count} calls; {:?}", fixture.counts());
        assert!(count > 300, "{count} calls");
        fixture.assert_used(pool_size != "0");
    }
}

/// Between the calls of a commit, and of the checkpoint after it, readers read; they share a pool
/// with the writer, or not.
#[test]
fn readers_see_all_of_a_commit_or_nothing_whatever_calls_of_it_they_come_between() {
    own_process!();
    for mode in ["wal", "delete", "persist", "truncate"] {
        for is_foreign in [true, false] {
            let fixture = Fixture::new(mode, "64M");
            let writer = if is_foreign {
                fixture.foreign()
            } else {
                fixture.connect()
            };
            let (reader, held) = (Rc::new(fixture.connect()), Rc::new(fixture.connect()));
            let deed = {
                let (reader, held) = (reader.clone(), held.clone());
                move || {
                    reader.read_all_unless_busy();
                    // Continues reading in the writer's next call that allows it.
                    if held.begin_or_busy() {
                        held.read_from(1);
                        held.end();
                    }
                }
            };
            let work = || {
                writer.commit().unwrap();
                if mode == "wal" {
                    writer.checkpoint("RESTART").unwrap();
                }
            };
            let before = || (0..2).for_each(|_| reader.read_all());
            let count = at_every_call(before, work, deed, || reader.read_all());
            println!("{mode}: {count} calls; {:?}", fixture.counts());
            assert!(count > 20, "{count} calls");
            fixture.assert_used(true);
        }
    }
}

/// In the rollback modes a writer intervenes between a reader's calls if no lock prevents it, and
/// waits for the reader otherwise.
#[test]
fn a_writer_with_a_journal_comes_between_the_transactions_of_a_reader_only() {
    own_process!();
    for mode in ["delete", "persist", "truncate"] {
        let fixture = Fixture::new(mode, "64M");
        for is_foreign in [true, false] {
            let writer = Rc::new(if is_foreign {
                fixture.foreign()
            } else {
                fixture.connect()
            });
            let reader = fixture.connect();
            let deed = {
                let writer = writer.clone();
                move || {
                    if let Err(error) = writer.commit() {
                        assert!(is_busy(&error), "{error}");
                    }
                }
            };
            let work = || (0..2).for_each(|_| reader.read_all_unless_busy());
            let count = at_every_call(|| writer.commit().unwrap(), work, deed, || reader.read_all());
            assert!(count > 10, "{mode}: {count} calls");
        }
        println!("{mode}: {:?}", fixture.counts());
        fixture.assert_used(true);
    }
}
