//! Connections that are opened while a database is converted online.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use rustix::process::{Pid, Signal, kill_process};
use selenite::Access;
use selenite_testing::own_process::test_command;

use crate::online_conversion::{Converting, GOALS, Goal, is_done, made, number, open, run};
use crate::support::Fixture;

/// Opens the database, commits, and closes it, again and again until its input ends.
#[test]
fn opening_child() {
    let Ok(path) = std::env::var("SELENITE_TEST_OPEN") else {
        return;
    };
    selenite::install().unwrap();
    let access = Access {
        identity: Some(std::env::var("SELENITE_TEST_KEY").unwrap().parse().unwrap()),
        allow_plain: true,
        ..Access::default()
    };
    let worker: u32 = std::env::var("SELENITE_TEST_WORKER").unwrap().parse().unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let shared = is_over.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        shared.store(true, Ordering::SeqCst);
    });
    let mut committed = Vec::new();
    for number in 0.. {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let sql = format!("INSERT INTO log (number, filler) VALUES ({number}, {worker})");
        let inserted = Connection::open(access.uri(Path::new(&path)).as_str()).and_then(|connection| {
            connection.busy_timeout(Duration::from_secs(10))?;
            connection.execute_batch(&sql)
        });
        match inserted {
            Ok(()) => committed.push(number.to_string()),
            // What fails is no commit.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
            Err(error) => println!("refused {error:?}"),
        }
    }
    println!("committed {}", committed.join(" "));
}

/// Between the rename and the end nothing comes in: the old log and index still have the names beside it.
#[test]
fn a_connection_that_is_opened_at_any_moment_loses_no_commit() {
    for goal in GOALS {
        check_a_connection_that_is_opened_at_any_moment(goal);
    }
}

fn check_a_connection_that_is_opened_at_any_moment(goal: Goal) {
    let fixture = Fixture::new();
    let said = run(&fixture, &made(&fixture, 300, goal), goal);
    let words: Vec<&str> = said.split(' ').collect();
    let step_count: u32 = words[2].parse().unwrap();
    let mut renamed = 0;
    for stop_at in step_count - LAST_STEPS..step_count {
        let fixture = Fixture::new();
        let path = made(&fixture, 300, goal);
        let before = std::fs::metadata(&path).unwrap().ino();
        let mut converting = Converting::start(&fixture, &path, goal, (stop_at, 5000));
        let step = converting.hear();
        renamed += u32::from(std::fs::metadata(&path).unwrap().ino() != before);
        let access = Access {
            allow_plain: true,
            ..fixture.access()
        };
        let newcomer = Connection::open(access.uri(&path).as_str());
        let insert = || {
            let newcomer = newcomer.as_ref().ok()?;
            newcomer.busy_timeout(Duration::ZERO).unwrap();
            let inserted = newcomer.execute("INSERT INTO log (number) VALUES (-7)", []);
            let is_busy = |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
            assert!(inserted.as_ref().err().is_none_or(is_busy), "{step}: {inserted:?}");
            inserted.ok()
        };
        let before_the_end = insert();
        converting.go_on();
        let said = converting.hear();
        // Through whatever it opened then.
        let inserted = before_the_end.into_iter().chain(insert()).count();
        let found = number(&open(&fixture, &path), "SELECT count(*) FROM log WHERE number = -7");
        assert_eq!(found, i64::try_from(inserted).unwrap(), "{goal:?}, {step}: {said}");
    }
    assert!(renamed > 1, "{renamed}");
}

/// More than there are after the rename.
const LAST_STEPS: u32 = 12;

#[test]
fn applications_that_open_it_meanwhile_lose_no_commit_and_get_no_error() {
    let fixture = Fixture::new();
    let path = made(&fixture, 300, Goal::Encrypted);
    let mut children: Vec<Child> = (1..=3)
        .map(|worker| {
            test_command("online_conversion_newcomers::opening_child")
                .env("SELENITE_TEST_OPEN", &path)
                .env("SELENITE_TEST_KEY", fixture.spec("key"))
                .env("SELENITE_TEST_WORKER", worker.to_string())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut done = 0;
    for round in 0..30 {
        let goal = GOALS[round % 2];
        for _ in 0..20 {
            // One is stopped meanwhile, wherever it is: it may have looked at what is replaced then.
            let stopped = Pid::from_child(&children[round % children.len()]);
            kill_process(stopped, Signal::STOP).unwrap();
            let said = std::thread::scope(|scope| {
                let (tell, told) = mpsc::channel::<()>();
                scope.spawn(move || {
                    // With its locks nothing can be converted.
                    let _ = told.recv_timeout(STOPPED_MAX);
                    kill_process(stopped, Signal::CONT).unwrap();
                });
                let said = run(&fixture, &path, goal);
                drop(tell);
                said
            });
            if said.starts_with("done after") {
                done += 1;
                break;
            }
            // Busy, which is no fault: it is tried again.
            assert!(said.starts_with("failed: "), "{said}");
        }
    }
    for child in &mut children {
        drop(child.stdin.take());
    }
    let connection = open(&fixture, &path);
    for (worker, child) in (1..).zip(children) {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(!said.contains("refused "), "{done} conversions: {said}");
        let committed = said
            .lines()
            .find_map(|line| Some(line.split_once("committed ")?.1))
            .expect("its commits");
        let found: Vec<String> = {
            let sql = format!("SELECT number FROM log WHERE filler = {worker} ORDER BY number");
            let mut select = connection.prepare(&sql).unwrap();
            let rows = select.query_map([], |row| row.get::<_, i64>(0)).unwrap();
            rows.map(|number| number.unwrap().to_string()).collect()
        };
        let lost: Vec<&str> = committed
            .split(' ')
            .filter(|number| !found.iter().any(|one| one == number))
            .collect();
        assert!(lost.is_empty(), "{} conversions, worker {worker} lost {lost:?}", done);
        assert!(found.len() > 10, "{}", found.len());
    }
    assert_eq!(
        connection
            .query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
            .unwrap(),
        "ok"
    );
    assert!(done > 5, "{done}");
}

/// Several times what a conversion takes that waits for no one.
const STOPPED_MAX: Duration = Duration::from_millis(300);

/// Each of these statements gives the log other salts.
#[test]
fn a_log_that_is_cut_meanwhile_is_followed() {
    for goal in GOALS {
        let mut cuts = 0;
        for stop_at in [6, 12, 18] {
            cuts += check_a_log_that_is_cut(goal, stop_at);
        }
        assert!(cuts > 0, "the log was never cut");
    }
}

fn check_a_log_that_is_cut(goal: Goal, stop_at: u32) -> i64 {
    let fixture = Fixture::new();
    let path = made(&fixture, 2000, goal);
    let connection = open(&fixture, &path);
    // All of the log is in the file, and none of it is gone.
    connection.execute_batch("UPDATE note SET number = 0").unwrap();
    number(&connection, "PRAGMA wal_checkpoint(PASSIVE)");
    connection.busy_timeout(Duration::ZERO).unwrap();
    let mut converting = Converting::start(&fixture, &path, goal, (stop_at, 5000));
    let said = converting.hear();
    assert!(said.starts_with("stopped"), "{said}");
    let busy: i64 = (0..3)
        .map(|_| number(&connection, "PRAGMA wal_checkpoint(TRUNCATE)"))
        .sum();
    connection
        .execute_batch("UPDATE note SET number = 7 WHERE id = 5; UPDATE pair SET value = 7 WHERE key = 'k5'")
        .unwrap();
    converting.go_on();
    let said = converting.hear();
    assert!(said.starts_with("done"), "{said}, stopped at {stop_at}");
    connection.busy_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(number(&connection, "SELECT number FROM note WHERE id = 5"), 7);
    assert_eq!(number(&connection, "SELECT value FROM pair WHERE key = 'k5'"), 7);
    assert!(is_done(&connection, goal));
    3 - busy
}
