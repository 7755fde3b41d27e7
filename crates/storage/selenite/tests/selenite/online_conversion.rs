//! Encryption while others read and write: their connections go on in the encrypted database, whatever they were doing,
//! and a kill at any moment leaves one database that has all commits.
//!
//! The connections are this process's; the encryption runs in a child, as `selenite encrypt --online` does. No file of
//! the database is opened here otherwise: closing it would release SQLite's locks.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use selenite::storage::Disk;
use selenite::{Access, Encrypt, OnlineLimits, Watch, decrypt_online, encrypt, encrypt_online};
use selenite_testing::own_process::test_command;

use crate::pausing::{Pausing, Steps, watch};
use crate::support::{Fixture, holds, superblock_of};

/// What becomes of the database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    Encrypted,
    Decrypted,
}

pub const GOALS: [Goal; 2] = [Goal::Encrypted, Goal::Decrypted];

const MARKER: &str = "a word that must not be found";

pub fn made(fixture: &Fixture, rows: u32, goal: Goal) -> PathBuf {
    made_in(fixture, rows, goal, "WAL")
}

pub fn made_in(fixture: &Fixture, rows: u32, goal: Goal, journal_mode: &str) -> PathBuf {
    let path = fixture.plain(
        "app.db",
        &format!(
            "PRAGMA journal_mode = {journal_mode};
             CREATE TABLE note (id INTEGER PRIMARY KEY, number, text UNIQUE); CREATE INDEX by_number ON note (number);
             CREATE TABLE pair (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
             CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, number, filler);
             CREATE TRIGGER logged AFTER UPDATE ON note BEGIN INSERT INTO log (number) VALUES (new.number); END;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
             INSERT INTO note SELECT i, i, '{MARKER}' || hex(randomblob(50)) FROM n;
             INSERT INTO pair SELECT 'k' || id, id FROM note WHERE id <= 100;"
        ),
    );
    if goal == Goal::Decrypted {
        encrypt(&Disk, &path, &fixture.access(), &Encrypt::default(), &Watch::none()).unwrap();
    }
    path
}

/// As an application opens it.
pub fn open(fixture: &Fixture, path: &Path) -> Connection {
    let access = Access {
        allow_plain: true,
        ..fixture.access()
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(access.uri(path).as_str(), flags).unwrap();
    connection.busy_timeout(Duration::from_secs(60)).unwrap();
    connection
}

pub fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

pub fn is_encrypted(connection: &Connection) -> bool {
    let sql = "SELECT count(*) FROM selenite_status WHERE section = 'slot'";
    number(connection, sql) > 0
}

pub fn is_done(connection: &Connection, goal: Goal) -> bool {
    is_encrypted(connection) == (goal == Goal::Encrypted)
}

/// Stops at one of its steps.
struct StopAt {
    stop_at: u32,
    count: AtomicU32,
}

impl Steps for StopAt {
    fn step(&self, name: &str) {
        if self.count.fetch_add(1, Ordering::SeqCst) == self.stop_at {
            println!("stopped at {name}");
            // Until the parent kills this process, or lets it go on.
            let mut word = [0];
            if std::io::stdin().read(&mut word).unwrap_or(0) == 0 {
                std::process::exit(9);
            }
        }
    }
}

/// The process that encrypts. Does nothing when it is run as a test.
#[test]
fn converting_child() {
    let Ok(path) = std::env::var("SELENITE_TEST_ONLINE") else {
        return;
    };
    let access = Access {
        identity: Some(std::env::var("SELENITE_TEST_KEY").unwrap().parse().unwrap()),
        ..Access::default()
    };
    let steps = Arc::new(StopAt {
        stop_at: std::env::var("SELENITE_TEST_STOP_AT").unwrap().parse().unwrap(),
        count: AtomicU32::new(0),
    });
    let limits = OnlineLimits {
        lock_max: Duration::from_millis(std::env::var("SELENITE_TEST_LOCK_MAX").unwrap().parse().unwrap()),
        // A container may have processes that no other is to look at.
        ignores_unseen: true,
    };
    let disk = Pausing(steps.clone());
    let watch = watch(&steps);
    let path = Path::new(&path);
    let done = match std::env::var("SELENITE_TEST_GOAL").unwrap().as_str() {
        "Decrypted" => decrypt_online(&disk, path, &access, limits, &watch),
        _ => encrypt_online(&disk, path, &access, &Encrypt::default(), limits, &watch),
    };
    match done {
        Ok(done) => println!(
            "done after {} steps, {} tables, {} rows{}",
            steps.count.load(Ordering::SeqCst),
            done.outcome.table_count,
            done.outcome.row_count,
            if done.online.is_left_in_wal {
                ", left in WAL mode"
            } else {
                ""
            }
        ),
        Err(error) => println!("failed: {error}; {}", error.advice()),
    }
}

pub struct Converting {
    pub child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Converting {
    pub fn start(fixture: &Fixture, path: &Path, goal: Goal, (stop_at, lock_max): (u32, u32)) -> Self {
        let mut child = test_command("online_conversion::converting_child")
            .env("SELENITE_TEST_ONLINE", path)
            .env("SELENITE_TEST_KEY", fixture.spec("key"))
            .env("SELENITE_TEST_STOP_AT", stop_at.to_string())
            .env("SELENITE_TEST_LOCK_MAX", lock_max.to_string())
            .env("SELENITE_TEST_GOAL", format!("{goal:?}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// What it says next about how far it is.
    pub fn hear(&mut self) -> String {
        let words = ["stopped at ", "done after ", "failed: "];
        self.lines
            .by_ref()
            .map(Result::unwrap)
            .find_map(|line| words.iter().find_map(|word| Some(line[line.find(word)?..].to_owned())))
            .expect("the child says how far it is")
    }

    pub fn go_on(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
    }
}

impl Drop for Converting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn run(fixture: &Fixture, path: &Path, goal: Goal) -> String {
    Converting::start(fixture, path, goal, (u32::MAX, 5000)).hear()
}

#[test]
fn connections_go_on_in_the_new_database() {
    for goal in GOALS {
        check_connections_go_on_in_the_new_database(goal);
    }
}

fn check_connections_go_on_in_the_new_database(goal: Goal) {
    let fixture = Fixture::new();
    let path = made(&fixture, 3000, goal);
    let never_used = open(&fixture, &path);
    let reader = open(&fixture, &path);
    let writer = open(&fixture, &path);
    assert_eq!(number(&reader, "SELECT count(*) FROM note"), 3000);
    // A statement that was compiled before, with the numbers of the old database's pages in it.
    let mut prepared = reader
        .prepare("SELECT sum(number) FROM note WHERE number BETWEEN 10 AND 20")
        .unwrap();
    let before: i64 = prepared.query_row([], |row| row.get(0)).unwrap();
    writer
        .execute_batch("UPDATE note SET number = -number WHERE id > 2900")
        .unwrap();
    let said = run(&fixture, &path, goal);
    assert!(said.starts_with("done after"), "{said}");
    let again: i64 = prepared.query_row([], |row| row.get(0)).unwrap();
    assert_eq!(again, before);
    drop(prepared);
    writer
        .execute_batch("UPDATE note SET number = 0 WHERE id = 7; INSERT INTO pair VALUES ('new', 1)")
        .unwrap();
    for connection in [&reader, &writer, &never_used, &open(&fixture, &path)] {
        assert_eq!(number(connection, "SELECT number FROM note WHERE id = 7"), 0);
        assert_eq!(number(connection, "SELECT count(*) FROM note WHERE number < 0"), 100);
        assert_eq!(number(connection, "SELECT count(*) FROM log"), 101);
        assert_eq!(number(connection, "SELECT value FROM pair WHERE key = 'new'"), 1);
        assert!(is_done(connection, goal));
    }
    let checked: String = reader
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(checked, "ok");
    // The log and its index are those of the new database: all locks are seen by all.
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    reader.busy_timeout(Duration::ZERO).unwrap();
    assert!(reader.execute_batch("BEGIN IMMEDIATE").is_err());
    writer.execute_batch("ROLLBACK").unwrap();
    for connection in [reader, writer, never_used] {
        connection.close().unwrap();
    }
    assert_eq!(fixture.names(), ["app.db"]);
    assert_eq!(holds(&path, MARKER.as_bytes()), goal == Goal::Decrypted);
    if goal == Goal::Encrypted {
        assert_eq!(superblock_of(&fixture, &path).superblock.slots.len(), 1);
    }
}

/// The header of an empty log's index is always the same: it does not tell a connection that its cache is another
/// database's.
#[test]
fn a_connection_that_slept_through_it_has_no_stale_page() {
    for goal in GOALS {
        check_a_connection_that_slept_through_it_has_no_stale_page(goal);
    }
}

fn check_a_connection_that_slept_through_it_has_no_stale_page(goal: Goal) {
    let fixture = Fixture::new();
    let path = made(&fixture, 3000, goal);
    let sleeper = open(&fixture, &path);
    assert_eq!(number(&sleeper, "SELECT sum(number) FROM note"), 4_501_500);
    let said = run(&fixture, &path, goal);
    assert!(said.starts_with("done after"), "{said}");
    // Another process changes it, and ends: log and index are deleted, and begun again by the next one.
    for _ in 0..2 {
        let changed = test_command("online_conversion::changing_child")
            .env("SELENITE_TEST_CHANGE", &path)
            .env("SELENITE_TEST_KEY", fixture.spec("key"))
            .output()
            .unwrap();
        assert!(String::from_utf8_lossy(&changed.stdout).contains("changed it"));
    }
    // Recovers the empty log: its index has the header that the sleeper knows.
    let other = open(&fixture, &path);
    assert_eq!(number(&other, "SELECT number FROM note WHERE id = 1"), 3);
    assert_eq!(number(&sleeper, "SELECT sum(number) FROM note"), 4_501_500 + 6000);
    assert_eq!(
        number(&sleeper, "SELECT count(*) FROM note WHERE number = 3 AND id = 1"),
        1
    );
}

/// There and back again: its own kind has the name, in another file.
#[test]
fn a_connection_that_slept_through_both_ways_goes_on() {
    for goal in GOALS {
        let fixture = Fixture::new();
        let path = made(&fixture, 300, goal);
        let sleeper = open(&fixture, &path);
        let never_used = open(&fixture, &path);
        assert_eq!(number(&sleeper, "SELECT count(*) FROM note"), 300);
        let [first, second] = if goal == Goal::Encrypted {
            GOALS
        } else {
            [GOALS[1], GOALS[0]]
        };
        for goal in [first, second] {
            let said = run(&fixture, &path, goal);
            assert!(said.starts_with("done after"), "{said}");
            let other = open(&fixture, &path);
            other
                .execute_batch("DELETE FROM note WHERE id % 10 = abs(random()) % 10")
                .unwrap();
            other.execute_batch("DELETE FROM note WHERE id > 200").unwrap();
        }
        let other = open(&fixture, &path);
        let count = number(&other, "SELECT count(*) FROM note");
        for connection in [&sleeper, &never_used] {
            assert_eq!(number(connection, "SELECT count(*) FROM note"), count, "{goal:?}");
            assert!(is_done(connection, second));
            connection.execute_batch("INSERT INTO log (number) VALUES (1)").unwrap();
        }
        assert_eq!(number(&other, "SELECT count(*) FROM log"), 2);
    }
}

/// A connection that has not moved yet must do nothing with the files that have its database's name now.
#[test]
fn a_connection_that_slept_through_it_leaves_the_new_log_alone() {
    for goal in GOALS {
        check_a_connection_that_slept_through_it_leaves_the_new_log_alone(goal);
    }
}

fn check_a_connection_that_slept_through_it_leaves_the_new_log_alone(goal: Goal) {
    let fixture = Fixture::new();
    let path = made(&fixture, 300, goal);
    let sleeper = open(&fixture, &path);
    assert_eq!(number(&sleeper, "SELECT count(*) FROM note"), 300);
    let said = run(&fixture, &path, goal);
    assert!(said.starts_with("done after"), "{said}");
    let other = open(&fixture, &path);
    let delete = "PRAGMA wal_autocheckpoint = 0; DELETE FROM note WHERE id > 100";
    other.execute_batch(delete).unwrap();
    sleeper.busy_timeout(Duration::ZERO).unwrap();
    let copy = |connection: &Connection| number(connection, "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_eq!(copy(&sleeper), 1, "it is refused the lock");
    let left = sleeper.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0));
    assert_eq!(left.unwrap_err().to_string(), "database is locked");
    assert!(fixture.names().contains(&"app.db-wal".to_owned()));
    for connection in [&other, &sleeper, &open(&fixture, &path)] {
        assert_eq!(number(connection, "SELECT count(*) FROM note"), 100);
    }
    assert_eq!(copy(&sleeper), 0, "it has moved");
}

/// Its transaction began before, and does not end: the database stays as it is, and others were kept waiting no longer
/// than they may.
#[test]
fn a_transaction_that_does_not_end_keeps_it_from_happening() {
    for goal in GOALS {
        check_a_transaction_that_does_not_end_keeps_it_from_happening(goal);
    }
}

fn check_a_transaction_that_does_not_end_keeps_it_from_happening(goal: Goal) {
    let fixture = Fixture::new();
    let path = made(&fixture, 300, goal);
    let reader = open(&fixture, &path);
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(number(&reader, "SELECT count(*) FROM note"), 300);
    let writer = open(&fixture, &path);
    let mut converting = Converting::start(&fixture, &path, goal, (u32::MAX, 20));
    for _ in 0..20 {
        writer.execute_batch("INSERT INTO log (number) VALUES (1)").unwrap();
    }
    let said = converting.hear();
    assert!(said.starts_with("failed: ") && said.contains("in use"), "{said}");
    assert!(!is_done(&writer, goal));
    assert_eq!(number(&writer, "SELECT count(*) FROM log"), 20);
    reader.execute_batch("COMMIT").unwrap();
    let said = run(&fixture, &path, goal);
    assert!(said.starts_with("done after"), "{said}");
    assert_eq!(number(&reader, "SELECT count(*) FROM log"), 20);
}

/// An identity that has no key slot in the encrypted database: an error, until it has one.
#[test]
fn a_connection_that_can_not_open_it_errs_until_it_can() {
    let fixture = Fixture::new();
    let path = made(&fixture, 300, Goal::Encrypted);
    let access = Access {
        allow_plain: true,
        ..fixture.access_by("other-key")
    };
    let stranger = Connection::open(access.uri(&path).as_str()).unwrap();
    assert_eq!(number(&stranger, "SELECT count(*) FROM note"), 300);
    let said = run(&fixture, &path, Goal::Encrypted);
    assert!(said.starts_with("done after"), "{said}");
    for _ in 0..2 {
        let refused = stranger.execute_batch("INSERT INTO log (number) VALUES (1)");
        assert!(refused.is_err(), "without a key");
        let why: String = stranger
            .query_row("SELECT selenite_last_error()", [], |row| row.get(0))
            .unwrap();
        assert!(why.contains("key"), "{why}");
    }
    selenite::keys::add(&Disk, &path, &fixture.access(), &fixture.spec("other-key"), "").unwrap();
    stranger.execute_batch("INSERT INTO log (number) VALUES (2)").unwrap();
    assert!(is_encrypted(&stranger));
    assert_eq!(number(&open(&fixture, &path), "SELECT count(*) FROM log"), 1);
}

/// Readers whose transactions overlap have to wait for a moment: there is none without one of them.
#[test]
fn readers_that_overlap_let_it_pass() {
    for goal in GOALS {
        check_readers_that_overlap_let_it_pass(goal);
    }
}

fn check_readers_that_overlap_let_it_pass(goal: Goal) {
    let fixture = Fixture::new();
    let path = made(&fixture, 3000, goal);
    let is_over = AtomicBool::new(false);
    let reading = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let connection = open(&fixture, &path);
                let sql = "SELECT count(*) FROM note a, note b WHERE a.id < 100 AND b.text > a.text";
                let count = number(&connection, sql);
                reading.wait();
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(number(&connection, sql), count);
                }
                assert!(is_done(&connection, goal));
            });
        }
        reading.wait();
        let said = Converting::start(&fixture, &path, goal, (u32::MAX, 1000)).hear();
        is_over.store(true, Ordering::Relaxed);
        assert!(said.starts_with("done after"), "{said}");
    });
}

/// Does nothing when it is run as a test.
#[test]
fn changing_child() {
    let Ok(path) = std::env::var("SELENITE_TEST_CHANGE") else {
        return;
    };
    selenite::install().unwrap();
    let access = Access {
        identity: Some(std::env::var("SELENITE_TEST_KEY").unwrap().parse().unwrap()),
        allow_plain: true,
        ..Access::default()
    };
    let connection = Connection::open(access.uri(Path::new(&path)).as_str()).unwrap();
    connection.execute_batch("UPDATE note SET number = number + 1").unwrap();
    connection.close().unwrap();
    println!("changed it");
}

/// Opens the database as a program that knows nothing of the extension, until its input ends.
#[test]
fn stock_child() {
    let Ok(path) = std::env::var("SELENITE_TEST_STOCK") else {
        return;
    };
    let connection = Connection::open(&path).unwrap();
    println!("stock {}", number(&connection, "SELECT count(*) FROM note"));
    let _ = std::io::stdin().read(&mut [0]);
}

/// A program without the extension, and whether it reads the database.
pub fn stock(path: &Path) -> (Child, bool) {
    let mut stock = test_command("online_conversion::stock_child")
        .env("SELENITE_TEST_STOCK", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(stock.stdout.take().unwrap()).lines().map(Result::unwrap);
    let is_reading = lines.any(|line| line.contains("stock 300"));
    (stock, is_reading)
}

#[test]
fn a_process_without_the_extension_that_comes_at_any_moment_is_named_and_stops_no_one() {
    check_a_process_without_the_extension_that_comes_at_any_moment(Goal::Encrypted);
}

fn check_a_process_without_the_extension_that_comes_at_any_moment(goal: Goal) {
    let mut named = 0;
    for stop_at in (0..).step_by(3) {
        let fixture = Fixture::new();
        let path = made(&fixture, 300, goal);
        let connection = open(&fixture, &path);
        assert_eq!(number(&connection, "SELECT count(*) FROM note"), 300);
        let mut converting = Converting::start(&fixture, &path, goal, (stop_at, 5000));
        let step = converting.hear();
        if step.starts_with("done") {
            break;
        }
        // Between the last look and the end it waits outside.
        let (mut other, is_reading) = stock(&path);
        converting.go_on();
        let said = converting.hear();
        assert_eq!(said.starts_with("failed: "), is_reading, "{step}: {said}");
        if is_reading {
            named += 1;
            assert!(said.contains(&format!(" {} (", other.id())), "{step}: {said}");
            assert!(!is_done(&connection, goal), "{step}");
        }
        // Others go on at once, whichever database it is.
        connection.busy_timeout(Duration::ZERO).unwrap();
        connection
            .execute_batch("UPDATE note SET number = -1 WHERE id = 1")
            .unwrap();
        assert_eq!(
            number(&connection, "SELECT number FROM note WHERE id = 1"),
            -1,
            "{step}"
        );
        drop(other.stdin.take());
        other.wait().unwrap();
    }
    assert!(named > 5, "{named}");
}

#[test]
fn a_process_without_the_extension_is_named_and_nothing_changes() {
    let fixture = Fixture::new();
    let path = made(&fixture, 300, Goal::Encrypted);
    let (mut stock, is_reading) = stock(&path);
    assert!(is_reading);
    let connection = open(&fixture, &path);
    assert_eq!(number(&connection, "SELECT count(*) FROM note"), 300);
    let said = run(&fixture, &path, Goal::Encrypted);
    assert!(
        said.starts_with("failed: ") && said.contains(&format!(" {} (", stock.id())),
        "{said}"
    );
    assert!(said.contains("plain=allow"), "{said}");
    drop(stock.stdin.take());
    stock.wait().unwrap();
    assert!(!is_encrypted(&connection));
    let said = run(&fixture, &path, Goal::Encrypted);
    assert!(said.starts_with("done after"), "{said}");
    assert_eq!(number(&connection, "SELECT count(*) FROM note"), 300);
    assert!(is_encrypted(&connection));
}

#[test]
fn a_database_with_a_second_name_is_refused() {
    let fixture = Fixture::new();
    let path = made(&fixture, 3, Goal::Encrypted);
    std::fs::hard_link(&path, fixture.path("other.db")).unwrap();
    let said = run(&fixture, &path, Goal::Encrypted);
    assert!(said.contains("hard link"), "{said}");
}

/// Writes until it is told to stop, and returns what it committed.
fn write_on(fixture: &Fixture, path: &Path, is_over: &AtomicBool, worker: u32) -> i64 {
    let connection = open(fixture, path);
    connection.execute_batch("PRAGMA wal_autocheckpoint = 50").unwrap();
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        let first = worker * 1000 + 1;
        connection
            .execute_batch(&format!(
                "BEGIN IMMEDIATE; INSERT INTO log (number, filler) VALUES ({worker}, randomblob({count} % 9000));
                 UPDATE note SET text = hex(randomblob(60)), number = number + 1 WHERE id = {first} + {count} % 1000;
                 DELETE FROM note WHERE id = {first} + ({count} * 7) % 1000 AND {count} % 5 = 0;
                 INSERT OR IGNORE INTO note VALUES ({first} + ({count} * 7 + 3) % 1000, 0, hex(randomblob(700)));
                 UPDATE pair SET value = value + 1 WHERE key = 'k' || {worker}; COMMIT"
            ))
            .unwrap();
        count += 1;
        let seen = number(
            &connection,
            &format!("SELECT count(*) FROM log WHERE number = {worker} AND filler NOT NULL"),
        );
        assert_eq!(seen, count, "worker {worker} lost a commit");
        // SQLite's locks are not fair.
        let rest = Instant::now() + Duration::from_millis(1);
        while Instant::now() < rest {
            std::thread::yield_now();
        }
    }
    connection.close().unwrap();
    count
}

#[test]
fn writers_write_on_and_lose_nothing() {
    for goal in GOALS {
        check_writers_write_on_and_lose_nothing(goal);
    }
}

fn check_writers_write_on_and_lose_nothing(goal: Goal) {
    let fixture = Fixture::new();
    let path = made(&fixture, 5000, goal);
    let is_over = AtomicBool::new(false);
    let (said, counts) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|worker| {
                scope.spawn({
                    let (fixture, path, is_over) = (&fixture, &path, &is_over);
                    move || write_on(fixture, path, is_over, worker)
                })
            })
            .collect();
        let said = run(&fixture, &path, goal);
        is_over.store(true, Ordering::Relaxed);
        let counts: Vec<i64> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        (said, counts)
    });
    assert!(said.starts_with("done after"), "{said}");
    let connection = open(&fixture, &path);
    assert!(is_done(&connection, goal));
    for (worker, count) in counts.iter().enumerate() {
        assert!(*count > 0);
        let sql = format!("SELECT count(*) FROM log WHERE number = {worker} AND filler NOT NULL");
        assert_eq!(number(&connection, &sql), *count);
        let sql = format!("SELECT value FROM pair WHERE key = 'k{worker}'");
        if worker > 0 {
            assert_eq!(number(&connection, &sql), i64::try_from(worker).unwrap() + count);
        }
    }
    let checked: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(checked, "ok");
}

/// Definitions that change while it is copied: the copy is begun again.
#[test]
fn a_table_that_is_created_meanwhile_is_there() {
    for goal in GOALS {
        check_a_table_that_is_created_meanwhile_is_there(goal);
    }
}

fn check_a_table_that_is_created_meanwhile_is_there(goal: Goal) {
    let fixture = Fixture::new();
    let path = made(&fixture, 2000, goal);
    let connection = open(&fixture, &path);
    for stop_at in [8, 14, 20, 26] {
        let mut converting = Converting::start(&fixture, &path, goal, (stop_at, 5000));
        let said = converting.hear();
        if said.starts_with("done") {
            break;
        }
        assert!(said.starts_with("stopped"), "{said}");
        let sql = format!(
            "CREATE TABLE later_{stop_at} (a); INSERT INTO later_{stop_at} VALUES (5); PRAGMA user_version = {stop_at}"
        );
        connection.execute_batch(&sql).unwrap();
        if stop_at < 20 {
            // Killed: the next one begins again.
            continue;
        }
        converting.go_on();
        let said = converting.hear();
        assert!(said.starts_with("done"), "{said}");
        assert_eq!(number(&connection, "SELECT a FROM later_8"), 5);
        assert_eq!(number(&connection, &format!("SELECT a FROM later_{stop_at}")), 5);
        assert_eq!(number(&connection, "PRAGMA user_version"), i64::from(stop_at));
        assert!(is_done(&connection, goal));
        return;
    }
    panic!("it was done before a table was created");
}
