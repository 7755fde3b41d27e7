//! Re-encryption in one process: conversions between suites, refusals, and waits that name other
//! processes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use rusqlite::Connection;
use selenite::reencrypt::{self, Goal, Reencrypt, Reencrypted, reencrypt};
use selenite::storage::Disk;
use selenite::{EngineError, Layout, Observer, PageSize, Phase, Progress, Suite, Watch};

use super::{Fixture, epochs};

pub(crate) fn layout(suite: Suite, page_size: u32) -> Layout {
    Layout {
        suite,
        page_size: PageSize::try_from(page_size).unwrap(),
        ..Layout::default()
    }
}

pub(crate) fn seal(fixture: &Fixture, goal: Goal, watch: &Watch) -> Result<Reencrypted, EngineError> {
    let how = Reencrypt {
        goal,
        ..Reencrypt::default()
    };
    reencrypt(&Disk, &fixture.path(), &fixture.access(), &how, watch)
}

pub(crate) fn connect(fixture: &Fixture) -> Connection {
    let uri = format!(
        "file:{}?vfs=selenite&selenite_identity={}&plain=allow",
        fixture.path().display(),
        fixture.key.spec()
    );
    let flags = rusqlite::OpenFlags::default() | rusqlite::OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(uri, flags).unwrap()
}

pub(crate) fn state(fixture: &Fixture) -> &'static str {
    let status = selenite::status(&Disk, &fixture.path(), &fixture.access()).unwrap();
    status.sealed.unwrap().state_word()
}

#[test]
fn every_conversion_ends_with_one_epoch_and_the_same_rows() {
    let conversions = [
        (Suite::Aes256, Goal::NewKey, Suite::Aes256, "wal", 4096),
        (
            Suite::Aes256,
            Goal::Suite(Suite::Aegis256X4),
            Suite::Aegis256X4,
            "wal",
            1024,
        ),
        (
            Suite::ChaCha20,
            Goal::Suite(Suite::Aes128),
            Suite::Aes128,
            "delete",
            1024,
        ),
        (Suite::Aes256, Goal::Off, Suite::None, "wal", 1024),
        (Suite::None, Goal::Suite(Suite::Aes256), Suite::Aes256, "persist", 1024),
        (
            Suite::None,
            Goal::Suite(Suite::Aegis128X4),
            Suite::Aegis128X4,
            "wal",
            65536,
        ),
    ];
    for (from, goal, to, mode, page_size) in conversions {
        let fixture = Fixture::new();
        fixture.fill(&layout(from, page_size), mode, 2000);
        let sum = |connection: &Connection| -> (i64, i64) {
            let sql = "SELECT count(*), sum(number * length(body)) FROM t";
            connection
                .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap()
        };
        // Open throughout: it has to load the new key by itself.
        let other = connect(&fixture);
        other.execute_batch(&format!("PRAGMA journal_mode = {mode}")).unwrap();
        let before = sum(&other);
        let done = seal(&fixture, goal, &Watch::none()).unwrap();
        assert_eq!((done.suite, done.epoch), (to, 2), "{from} {mode}");
        assert!(done.page_count > 10 && done.batch_count > 0);
        assert_eq!(sum(&other), before);
        other
            .execute_batch("UPDATE t SET body = randomblob(300) WHERE number % 7 = 0")
            .unwrap();
        assert_eq!(sum(&connect(&fixture)), before);
        let found: String = other.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        let left: String = other
            .query_row("SELECT selenite_old_pages('main', 1, 1000000, 9)", [], |row| row.get(0))
            .unwrap();
        assert_eq!((found.as_str(), left.as_str()), ("ok", "0"));
        drop(other);
        // No connection has it open now: closing a descriptor of it would release locks.
        assert_eq!(state(&fixture), "steady");
        assert_eq!(
            epochs(&fixture.path(), usize::try_from(page_size).unwrap()),
            BTreeSet::from([2])
        );
    }
}

/// Calls back at every step.
struct Steps<F>(F);

impl<F: Fn(Progress) -> bool + Send + Sync> Observer for Steps<F> {
    fn progress(&self, progress: Progress) {
        (self.0)(progress);
    }

    fn is_interrupted(&self) -> bool {
        (self.0)(Progress {
            phase: Phase::Copying,
            done: 0,
            total: 0,
        })
    }
}

#[test]
fn a_second_process_is_refused_with_the_pid_of_the_first() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "wal", 2000);
    let (path, access) = (fixture.path(), fixture.access());
    let refused = Arc::new(AtomicU64::new(0));
    let count = refused.clone();
    let watch = Watch::new(Arc::new(Steps(move |progress: Progress| {
        if progress.phase == Phase::Sealing {
            let second = reencrypt(&Disk, &path, &access, &Reencrypt::default(), &Watch::none());
            let own = std::process::id();
            assert!(
                matches!(second, Err(EngineError::UnderWay { pid, .. }) if pid == own),
                "{second:?}"
            );
            let report = reencrypt::report(&Disk, &path).unwrap().unwrap();
            assert_eq!((report.pid, report.what.as_str()), (own, "AES_256 to AES_256, epoch 2"));
            count.fetch_add(1, Ordering::SeqCst);
        }
        false
    })));
    seal(&fixture, Goal::NewKey, &watch).unwrap();
    assert!(refused.load(Ordering::SeqCst) > 0);
    assert!(reencrypt::report(&Disk, &fixture.path()).unwrap().is_none());
    let other = seal(&fixture, Goal::GoOn, &Watch::none());
    assert!(matches!(other, Err(EngineError::Key(_))), "{other:?}");
}

#[test]
fn an_interruption_keeps_completed_pages_and_another_goal_is_refused() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "wal", 4000);
    let steps = AtomicU64::new(0);
    let watch = Watch::new(Arc::new(Steps(move |progress: Progress| {
        let step = steps.fetch_add(u64::from(progress.phase == Phase::Sealing), Ordering::SeqCst);
        step >= 3
    })));
    let stopped = seal(&fixture, Goal::Suite(Suite::ChaCha20), &watch);
    assert!(matches!(stopped, Err(EngineError::Unfinished { .. })), "{stopped:?}");
    let sealed = selenite::status(&Disk, &fixture.path(), &fixture.access())
        .unwrap()
        .sealed
        .unwrap();
    assert_eq!(sealed.state_word(), "changing key or suite");
    assert!(sealed.cursor > 0 && sealed.epochs.len() == 2, "{sealed:?}");
    assert!(matches!(
        seal(&fixture, Goal::Off, &Watch::none()),
        Err(EngineError::Usage { .. })
    ));
    let done = seal(&fixture, Goal::GoOn, &Watch::none()).unwrap();
    assert_eq!((done.suite, done.epoch), (Suite::ChaCha20, 2));
    assert!(
        done.page_count < u64::from(sealed.page_count),
        "the cursor was not used"
    );
}

#[test]
fn a_long_reader_is_waited_for_in_the_finishing_state() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "wal", 500);
    let reader = connect(&fixture);
    reader.execute_batch("BEGIN; SELECT * FROM t").unwrap();
    let count = |connection: &Connection| -> i64 {
        connection
            .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(count(&reader), 500);
    let (said, heard) = mpsc::channel();
    let watch = Watch::new(Arc::new(Steps(move |progress: Progress| {
        let _ = said.send(progress.phase);
        false
    })));
    std::thread::scope(|scope| {
        let sealing = scope.spawn(|| seal(&fixture, Goal::NewKey, &watch));
        assert!(heard.iter().any(|phase| phase == Phase::Finishing));
        while reencrypt::report(&Disk, &fixture.path())
            .unwrap()
            .is_none_or(|report| report.waiting.is_empty())
        {
            std::thread::yield_now();
        }
        assert!(!sealing.is_finished());
        assert_eq!(count(&reader), 500);
        reader.execute_batch("COMMIT").unwrap();
        assert_eq!(sealing.join().unwrap().unwrap().epoch, 2);
    });
    drop(reader);
    assert_eq!(state(&fixture), "steady");
    assert_eq!(epochs(&fixture.path(), 1024), BTreeSet::from([2]));
}

#[test]
fn a_pause_lasts_until_it_is_ended() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "wal", 2000);
    let link = fixture.path().with_file_name("link.db");
    std::os::unix::fs::symlink(fixture.path(), &link).unwrap();
    assert!(!reencrypt::is_paused(&Disk, &link));
    reencrypt::pause(&Disk, &link).unwrap();
    assert!(reencrypt::is_paused(&Disk, &link));
    reencrypt::pause(&Disk, &fixture.path()).unwrap();
    std::thread::scope(|scope| {
        let sealing = scope.spawn(|| seal(&fixture, Goal::NewKey, &Watch::none()));
        let is_paused = || {
            let report = reencrypt::report(&Disk, &link).unwrap();
            report.is_some_and(|report| report.waiting == "paused")
        };
        while !is_paused() {
            std::thread::yield_now();
        }
        assert!(!sealing.is_finished());
        assert!(reencrypt::resume(&Disk, &fixture.path()).unwrap());
        sealing.join().unwrap().unwrap();
    });
    assert!(!reencrypt::resume(&Disk, &fixture.path()).unwrap());
    assert_eq!(state(&fixture), "steady");
}

#[test]
fn a_bad_page_ends_it_before_any_key_is_dropped() {
    use std::os::unix::fs::FileExt;
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "wal", 2000);
    drop(connect(&fixture));
    let file = std::fs::OpenOptions::new().write(true).open(fixture.path()).unwrap();
    file.write_all_at(&[0xff; 8], 65536 + 1024 * 99 + 100).unwrap();
    drop(file);
    let refused = seal(&fixture, Goal::NewKey, &Watch::none()).unwrap_err();
    assert!(refused.to_string().contains("page 100"), "{refused}");
    assert_eq!(refused.class().exit_status(), 5);
    let sealed = selenite::status(&Disk, &fixture.path(), &fixture.access())
        .unwrap()
        .sealed
        .unwrap();
    assert_eq!(sealed.epochs.len(), 2);
}

/// A connection that was refused once is refused again: it must not continue with its former keys.
#[test]
fn a_connection_without_plain_allow_writes_nothing_unencrypted() {
    for mode in ["wal", "delete"] {
        let fixture = Fixture::new();
        fixture.fill(&layout(Suite::Aes256, 1024), mode, 200);
        let strict = {
            let uri = format!(
                "file:{}?vfs=selenite&selenite_identity={}",
                fixture.path().display(),
                fixture.key.spec()
            );
            let flags = rusqlite::OpenFlags::default() | rusqlite::OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(uri, flags).unwrap()
        };
        strict.execute_batch("INSERT INTO t VALUES(7, 1, x'00')").unwrap();
        seal(&fixture, Goal::Off, &Watch::none()).unwrap();
        for _ in 0..4 {
            let written = strict.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES(8, 1, x'00'); COMMIT");
            assert!(written.is_err(), "{mode}");
            let _ = strict.execute_batch("ROLLBACK");
        }
    }
}

/// Two connections that commit all the time, in rollback mode: each commit locks all others out
/// for a moment.
#[test]
fn busy_writers_in_rollback_mode_are_waited_for() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "delete", 2000);
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Opened before the operation begins: it inspects the file without SQLite, during which no
        // connection can open it.
        for (writer, connection) in [connect(&fixture), connect(&fixture)].into_iter().enumerate() {
            let is_done = &is_done;
            scope.spawn(move || {
                connection.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
                connection.execute_batch("PRAGMA synchronous = off").unwrap();
                for number in 1.. {
                    if is_done.load(Ordering::SeqCst) {
                        break;
                    }
                    let insert = format!("INSERT INTO t VALUES({writer}, {number}, randomblob(300))");
                    match connection.execute_batch(&insert) {
                        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {}
                        inserted => inserted.unwrap(),
                    }
                }
            });
        }
        let done = seal(&fixture, Goal::NewKey, &Watch::none());
        is_done.store(true, Ordering::SeqCst);
        assert_eq!(done.unwrap().epoch, 2);
    });
    assert_eq!(epochs(&fixture.path(), 1024), BTreeSet::from([2]));
}
