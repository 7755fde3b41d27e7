//! A kill at any step of an online conversion leaves one database that has all commits.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use selenite::Access;
use selenite_testing::own_process::test_command;

use crate::online_conversion::{
    Converting, GOALS, Goal, is_done, is_encrypted, made, made_in, number, open, run, stock,
};
use crate::support::Fixture;

/// Tries to write. Does nothing when it is run as a test.
#[test]
fn intruding_child() {
    let Ok(path) = std::env::var("SELENITE_TEST_INTRUDE") else {
        return;
    };
    selenite::install().unwrap();
    let access = Access {
        identity: Some(std::env::var("SELENITE_TEST_KEY").unwrap().parse().unwrap()),
        allow_plain: true,
        ..Access::default()
    };
    let connection = Connection::open(access.uri(Path::new(&path)).as_str()).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    let begun = connection.execute_batch("BEGIN IMMEDIATE");
    match begun {
        Ok(()) => println!("it was let in"),
        Err(error) => println!("it was kept out: {error}"),
    }
}

fn check_kept_out(fixture: &Fixture, path: &Path) {
    let intruded = test_command("online_conversion_kill::intruding_child")
        .env("SELENITE_TEST_INTRUDE", path)
        .env("SELENITE_TEST_KEY", fixture.spec("key"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&intruded.stdout).into_owned();
    assert!(said.contains("it was kept out: database is locked"), "{said}");
}

/// At each step: connections read and write while it is stopped there, and after it was killed.
#[test]
fn a_kill_at_any_step_leaves_one_database_with_all_commits() {
    for goal in GOALS {
        check_a_kill_at_any_step(goal, "WAL");
    }
}

/// Connections that are in no transaction have no lock on it, and a cache.
#[test]
fn a_kill_at_any_step_leaves_one_database_that_was_in_rollback_mode() {
    for goal in GOALS {
        check_a_kill_at_any_step(goal, "DELETE");
    }
}

fn commit(number: u32) -> String {
    format!(
        "BEGIN IMMEDIATE; INSERT INTO log (number) VALUES ({number});
         INSERT INTO pair VALUES ('commit {number}', randomblob(900)); DELETE FROM pair WHERE key = 'k1{number}'; COMMIT"
    )
}

fn check_commits(connection: &Connection, commits: i64, at: &str) {
    assert_eq!(number(connection, "SELECT count(*) FROM log"), commits, "{at}");
    // The third one has no row of a table WITHOUT ROWID.
    let pairs = number(connection, "SELECT count(*) FROM pair WHERE key LIKE 'commit %'");
    assert_eq!(pairs, commits - 1, "{at}");
}

fn step_count(goal: Goal, journal_mode: &str) -> u32 {
    let fixture = Fixture::new();
    let path = made_in(&fixture, 300, goal, journal_mode);
    let said = run(&fixture, &path, goal);
    let count = said.strip_prefix("done after ").and_then(|rest| rest.split(' ').next());
    count.unwrap().parse().unwrap()
}

/// The file that a process has open and that has lost this name. It is only read.
fn nameless(pid: u32, name: &str) -> Option<File> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    let found =
        paths.find(|path| std::fs::read_link(path).is_ok_and(|link| link.ends_with(format!("{name} (deleted)"))))?;
    Some(File::open(found).unwrap())
}

/// One that opened it before without the extension, and has no lock on it yet, would go on in it, with the log of the new
/// one.
#[test]
fn no_program_uses_the_file_that_lost_its_name_wherever_a_kill_came() {
    let count = step_count(Goal::Encrypted, "WAL");
    let mut renamed = 0;
    for stop_at in count - LAST_STEPS..count {
        let fixture = Fixture::new();
        let path = made(&fixture, 300, Goal::Encrypted);
        let before = std::fs::metadata(&path).unwrap().ino();
        let mut converting = Converting::start(&fixture, &path, Goal::Encrypted, (stop_at, 5000));
        let step = converting.hear();
        if std::fs::metadata(&path).unwrap().ino() == before || step.starts_with("done") {
            continue;
        }
        let mut old = nameless(converting.child.id(), "app.db").expect("it has it open");
        converting.child.kill().unwrap();
        converting.child.wait().unwrap();
        let mut content = Vec::new();
        old.read_to_end(&mut content).unwrap();
        let copy = fixture.path("copy.db");
        std::fs::write(&copy, &content).unwrap();
        let used = Connection::open(&copy)
            .unwrap()
            .execute("INSERT INTO log (number) VALUES (1)", []);
        let code = used.map_err(|error| error.sqlite_error_code());
        assert_eq!(code, Err(Some(ErrorCode::NotADatabase)), "{step}");
        renamed += 1;
    }
    assert!(renamed > 2, "{renamed}");
}

/// More than there are from the last look at others on.
const LAST_STEPS: u32 = 12;

/// It is marked as one that lost its name.
#[test]
fn a_kill_before_the_rename_leaves_a_file_whose_mark_is_taken_back() {
    let count = step_count(Goal::Encrypted, "WAL");
    let fixture = Fixture::new();
    let path = made(&fixture, 300, Goal::Encrypted);
    let is_before_rename = (count - LAST_STEPS..count).any(|stop_at| {
        let mut converting = Converting::start(&fixture, &path, Goal::Encrypted, (stop_at, 5000));
        converting.hear() == "stopped at rename"
    });
    assert!(is_before_rename);
    let (mut other, is_reading) = stock(&path);
    assert!(!is_reading, "the mark is not there");
    other.wait().unwrap();
    let connection = open(&fixture, &path);
    assert_eq!(number(&connection, "SELECT count(*) FROM note"), 300);
    let (mut other, is_reading) = stock(&path);
    assert!(is_reading, "the mark is still there");
    drop(other.stdin.take());
    other.wait().unwrap();
    connection.execute_batch(&commit(1)).unwrap();
    let said = run(&fixture, &path, Goal::Encrypted);
    assert!(said.starts_with("done after"), "{said}");
    assert_eq!(number(&connection, "SELECT count(*) FROM log"), 1);
    assert!(is_encrypted(&connection));
}

fn check_a_kill_at_any_step(goal: Goal, journal_mode: &str) {
    let count = step_count(goal, journal_mode);
    let mut after = 0;
    for stop_at in 0..count {
        let fixture = Fixture::new();
        let path = made_in(&fixture, 300, goal, journal_mode);
        let busy = open(&fixture, &path);
        let idle = open(&fixture, &path);
        assert_eq!(number(&idle, "SELECT count(*) FROM note"), 300);
        busy.execute_batch(&commit(1)).unwrap();
        let mut converting = Converting::start(&fixture, &path, goal, (stop_at, 5000));
        let said = converting.hear();
        if said.starts_with("done") {
            continue;
        }
        // Under its lock it can't be written; everywhere else it can.
        busy.busy_timeout(Duration::ZERO).unwrap();
        let mut commits = 1;
        let inserted = busy.execute_batch(&commit(2));
        let _ = busy.execute_batch("ROLLBACK");
        commits += i64::from(inserted.is_ok());
        // SQLITE_PROTOCOL would be no answer: an application does not try again.
        let code = inserted.err().map(|error| error.sqlite_error_code());
        assert!(
            matches!(code, None | Some(Some(ErrorCode::DatabaseBusy))),
            "{said}: {code:?}"
        );
        busy.busy_timeout(Duration::from_secs(60)).unwrap();
        converting.child.kill().unwrap();
        converting.child.wait().unwrap();
        busy.execute_batch("BEGIN IMMEDIATE; INSERT INTO log (number) VALUES (3)")
            .unwrap();
        // Moving releases none of the locks that another connection of the process has.
        assert_eq!(number(&idle, "SELECT count(*) FROM log"), commits);
        check_kept_out(&fixture, &path);
        busy.execute_batch("COMMIT").unwrap();
        commits += 1;
        assert_eq!(
            number(&idle, "SELECT count(*) FROM log"),
            commits,
            "{said}, step {stop_at}"
        );
        let new = open(&fixture, &path);
        new.execute_batch(&commit(4)).unwrap();
        commits += 1;
        for connection in [&busy, &idle, &new] {
            check_commits(connection, commits, &format!("{said}, step {stop_at}"));
            assert_eq!(is_encrypted(connection), is_encrypted(&new), "{said}, step {stop_at}");
        }
        let checked: String = idle.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(checked, "ok", "{said}, step {stop_at}");
        if is_done(&new, goal) {
            after += 1;
            continue;
        }
        // The next run does it, and removes what was left.
        let said = run(&fixture, &path, goal);
        assert!(said.starts_with("done after"), "{said}, step {stop_at}");
        for connection in [busy, idle, new] {
            assert_eq!(number(&connection, "SELECT count(*) FROM log"), commits);
            assert!(is_done(&connection, goal));
            connection.close().unwrap();
        }
        assert_eq!(fixture.names(), ["app.db"]);
    }
    assert!(after > 0, "none was killed after the rename");
}
