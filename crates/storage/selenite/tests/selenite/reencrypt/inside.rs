//! A re-encryption as an application's connection sees it, in `selenite_status` and
//! `selenite_epochs`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use rusqlite::types::Value;
use selenite::reencrypt::{self, Goal, Reencrypt, reencrypt};
use selenite::storage::Disk;
use selenite::{EngineError, Observer, Phase, Progress, Suite, Watch};

use super::Fixture;
use super::conversions::{connect, layout};

/// The rows of a section, by name.
fn section(connection: &Connection, section: &str) -> BTreeMap<String, Value> {
    let mut select = connection
        .prepare("SELECT name, value FROM selenite_status WHERE section = ?1")
        .unwrap();
    let rows = select
        .query_map([section], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

fn number(rows: &BTreeMap<String, Value>, name: &str) -> i64 {
    let Some(Value::Integer(number)) = rows.get(name) else {
        panic!("{name}: {rows:?}");
    };
    *number
}

fn text<'a>(rows: &'a BTreeMap<String, Value>, name: &str) -> &'a str {
    let Some(value) = rows.get(name) else { return "" };
    let Value::Text(text) = value else {
        panic!("{name}: {rows:?}");
    };
    text
}

fn percent(rows: &BTreeMap<String, Value>) -> f64 {
    let Value::Real(percent) = rows["percent_complete"] else {
        panic!("{rows:?}");
    };
    percent
}

fn epochs(connection: &Connection, schema: &str) -> Vec<(u32, Option<String>, u32)> {
    let mut select = connection
        .prepare("SELECT epoch, suite, pages FROM selenite_epochs(?1)")
        .unwrap();
    let rows = select
        .query_map([schema], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

/// The same from the file itself: how many pages have each epoch in their trailers.
fn counted(path: &Path) -> BTreeMap<u32, u32> {
    let bytes = std::fs::read(path).unwrap();
    let mut found = BTreeMap::new();
    for page in bytes[65536..].chunks_exact(1024) {
        *found
            .entry(u32::from_be_bytes(page[976..980].try_into().unwrap()))
            .or_default() += 1;
    }
    found
}

/// Requests a pause when half of the pages are done.
struct PauseHalfWay<'a> {
    fixture: &'a Fixture,
    has_asked: AtomicBool,
}

impl Observer for PauseHalfWay<'static> {
    fn progress(&self, progress: Progress) {
        let is_half = progress.phase == Phase::Sealing && progress.done * 2 >= progress.total;
        if is_half && !self.has_asked.swap(true, Ordering::SeqCst) {
            reencrypt::pause(&Disk, &self.fixture.path()).unwrap();
        }
    }

    fn is_interrupted(&self) -> bool {
        false
    }
}

#[test]
fn the_status_shows_progress_and_process_of_a_re_encryption() {
    for mode in ["wal", "delete"] {
        let fixture: &'static Fixture = Box::leak(Box::new(Fixture::new()));
        fixture.fill(&layout(Suite::Aes256, 1024), mode, 4000);
        // It only queries the status: nothing else makes it read the superblock again.
        let other = connect(fixture);
        let before = section(&other, "reencryption");
        assert_eq!((percent(&before), text(&before, "running")), (0.0, "no"));
        assert!(!before.contains_key("pid"), "{before:?}");
        let how = Reencrypt {
            goal: Goal::Suite(Suite::ChaCha20),
            save_every: 32 << 10,
            ..Reencrypt::default()
        };
        let watch = Watch::new(Arc::new(PauseHalfWay {
            fixture,
            has_asked: AtomicBool::new(false),
        }));
        std::thread::scope(|scope| {
            let sealing = scope.spawn(|| reencrypt(&Disk, &fixture.path(), &fixture.access(), &how, &watch));
            while text(&section(&other, "reencryption"), "waiting") != "paused" {
                assert!(!sealing.is_finished());
                std::thread::yield_now();
            }
            let (rows, database) = (section(&other, "reencryption"), section(&other, "database"));
            let (cursor, page_count) = (number(&database, "pages_done"), number(&database, "pages"));
            assert_eq!(text(&database, "state"), "changing");
            let wanted =
                100.0 * f64::from(i32::try_from(cursor).unwrap()) / f64::from(i32::try_from(page_count).unwrap());
            assert!((percent(&rows) - wanted).abs() < 1e-9, "{rows:?}");
            assert!((20.0..80.0).contains(&percent(&rows)), "{rows:?}");
            assert_eq!(text(&rows, "running"), "yes");
            assert_eq!(number(&rows, "pid"), i64::from(std::process::id()));
            assert_eq!(text(&rows, "what"), "AES_256 to CHACHA20, epoch 2");
            let (since, now) = (number(&rows, "since"), i64::try_from(selenite::now()).unwrap());
            assert!((now - 600..=now).contains(&since), "{rows:?}");
            assert!((since..=now).contains(&number(&rows, "waiting_since")), "{rows:?}");
            assert!(
                number(&rows, "bytes_per_second") > 0 && number(&rows, "bytes_done") > 0,
                "{rows:?}"
            );
            assert_eq!(number(&rows, "bytes"), page_count * 1024, "{rows:?}");

            let found = epochs(&other, "main");
            let file = counted(&fixture.path());
            assert_eq!(
                found,
                [
                    (1, Some("AES_256".to_owned()), file[&1]),
                    (2, Some("CHACHA20".to_owned()), file[&2])
                ]
            );
            assert!(reencrypt::resume(&Disk, &fixture.path()).unwrap());
            assert_eq!(sealing.join().unwrap().unwrap().epoch, 2);
        });
        let after = section(&other, "reencryption");
        assert_eq!((percent(&after), text(&after, "running")), (0.0, "no"));
        assert_eq!(text(&section(&other, "database"), "suite"), "CHACHA20");
        let all = counted(&fixture.path())[&2];
        assert_eq!(epochs(&other, "main"), [(2, Some("CHACHA20".to_owned()), all)]);
    }
}

#[test]
fn the_status_of_finishing_is_100_percent_and_shows_the_wait() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "wal", 500);
    let (reader, other) = (connect(&fixture), connect(&fixture));
    reader
        .execute_batch("CREATE TABLE x(y); BEGIN; SELECT * FROM t")
        .unwrap();
    let _: i64 = reader
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .unwrap();
    std::thread::scope(|scope| {
        let sealing = scope.spawn(|| {
            let how = Reencrypt::default();
            reencrypt(&Disk, &fixture.path(), &fixture.access(), &how, &Watch::none())
        });
        loop {
            let rows = section(&other, "reencryption");
            if text(&section(&other, "database"), "state") == "finishing" && !text(&rows, "waiting").is_empty() {
                assert_eq!(percent(&rows), 100.0);
                assert!(text(&rows, "waiting").starts_with("waiting for readers"), "{rows:?}");
                break;
            }
            assert!(!sealing.is_finished());
            std::thread::yield_now();
        }
        reader.execute_batch("COMMIT").unwrap();
        sealing.join().unwrap().unwrap();
    });
}

#[test]
fn unencrypted_databases_have_no_epochs_and_attached_ones_their_own() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "wal", 50);
    let connection = connect(&fixture);
    let plain = fixture.path().with_file_name("plain.db");
    Connection::open(&plain)
        .unwrap()
        .execute_batch("CREATE TABLE t(x)")
        .unwrap();
    let uri = format!("file:{}?vfs=selenite&plain=allow", plain.display());
    connection.execute("ATTACH ?1 AS clear", [uri]).unwrap();
    assert_eq!(epochs(&connection, "clear"), []);
    assert_eq!(epochs(&connection, "main").len(), 1);
    assert!(!section(&connection, "reencryption").is_empty());
    let unknown = connection.query_row("SELECT * FROM selenite_epochs('none')", [], |_| Ok(()));
    assert!(unknown.is_err());
}

/// Other content in the report's file affects only the answer.
#[test]
fn a_file_that_is_no_report_is_shown_as_unknown() {
    let fixture = Fixture::new();
    fixture.fill(&layout(Suite::Aes256, 1024), "wal", 50);
    let other = connect(&fixture);
    let name = fixture.path().with_extension("db-selenite");
    // A second name of the database: opening and closing it would release this process's locks.
    std::fs::hard_link(fixture.path(), &name).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let said = section(&other, "reencryption");
    assert!(text(&said, "running").starts_with("not known"), "{said:?}");
    let own = format!(" {} ", std::process::id());
    let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(fixture.path()).unwrap());
    let of_file = format!(":{inode} ");
    // One reading of the list may lack a lock while others change.
    let is_held = |_| {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().any(|line| line.contains(&own) && line.contains(&of_file))
    };
    assert!((0..20).any(is_held));
    other.execute_batch("ROLLBACK").unwrap();
    let who = reencrypt::report(&Disk, &fixture.path()).unwrap_err();
    assert!(matches!(who, EngineError::Io { .. }), "{who}");
    std::fs::remove_file(&name).unwrap();
    // As left by a kill, with a process id that is another process's by now.
    std::fs::write(&name, format!("pid {}\n", std::process::id())).unwrap();
    assert!(reencrypt::report(&Disk, &fixture.path()).unwrap().is_none());
}
