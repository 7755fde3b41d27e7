//! Rollback mode: a committing writer locks all others out, and journals are kept open.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use selenite::reencrypt::{self, Goal};
use selenite::storage::Disk;
use selenite::{Suite, Watch};

use super::Fixture;
use super::conversions::{connect, layout, seal};

/// PERSIST keeps the journal's file, and a connection that still reads after its commit keeps it
/// open: its next transaction is written to that open file.
#[test]
fn an_open_journal_is_never_removed() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "persist", 2000);
    let other = connect(&fixture);
    let mode: String = other
        .query_row("PRAGMA journal_mode = persist", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "persist");
    let mut reading = other.prepare("SELECT body FROM t").unwrap();
    let mut rows = reading.query([]).unwrap();
    rows.next().unwrap().unwrap();
    other
        .execute_batch("UPDATE t SET body = randomblob(300) WHERE number < 9")
        .unwrap();
    let journal = PathBuf::from(format!("{}-journal", fixture.path().display()));
    let inode = || journal.metadata().unwrap().ino();
    let before = inode();
    std::thread::scope(|scope| {
        let sealing = scope.spawn(|| seal(&fixture, Goal::NewKey, &Watch::none()));
        let is_waiting = || {
            let report = reencrypt::report(&Disk, &fixture.path()).unwrap();
            report.is_some_and(|report| report.waiting.contains("readers"))
        };
        while !is_waiting() {
            assert!(!sealing.is_finished());
            std::thread::yield_now();
        }
        assert_eq!(inode(), before);
        drop(rows);
        sealing.join().unwrap().unwrap();
    });
    assert_eq!((inode(), journal.metadata().unwrap().len()), (before, 0));
    other
        .execute_batch("UPDATE t SET body = randomblob(300) WHERE number < 9")
        .unwrap();
    assert!(inode() == before && journal.metadata().unwrap().len() > 0);
}

/// Commits that take longer than the operation lets SQLite wait.
#[test]
fn long_exclusive_locks_are_waited_for() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "delete", 4000);
    let is_done = AtomicBool::new(false);
    let other = connect(&fixture);
    std::thread::scope(|scope| {
        let is_done = &is_done;
        scope.spawn(move || {
            other.busy_timeout(Duration::from_secs(60)).unwrap();
            for number in 0.. {
                other.execute_batch("BEGIN EXCLUSIVE").unwrap();
                pass(HELD);
                other
                    .execute_batch(&format!("INSERT INTO t VALUES(9, {number}, x'00'); COMMIT"))
                    .unwrap();
                pass(HELD);
                if is_done.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        let done = seal(&fixture, Goal::NewKey, &Watch::none());
        is_done.store(true, Ordering::SeqCst);
        assert_eq!(done.unwrap().epoch, 2);
    });
}

/// The time that an application works.
fn pass(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::thread::yield_now();
    }
}

/// Longer than half of the 20 ms that a batch may take.
const HELD: Duration = Duration::from_millis(30);
