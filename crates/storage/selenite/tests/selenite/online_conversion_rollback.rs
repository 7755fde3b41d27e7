//! Online conversions of databases in rollback mode, whose connections hold no lock between two transactions; and
//! connections that are told by their descriptors alone.

use rusqlite::{Connection, ErrorCode};

use crate::online_conversion::{GOALS, Goal, is_done, is_encrypted, made, made_in, number, open, run, stock};
use crate::support::{Fixture, holds};

fn mode(connection: &Connection, sql: &str) -> String {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Each has another journal mode: in two of them SQLite keeps the journal open between transactions.
#[test]
fn connections_in_rollback_mode_go_on_in_the_new_database() {
    for goal in GOALS {
        check_connections_in_rollback_mode(goal);
    }
}

fn check_connections_in_rollback_mode(goal: Goal) {
    let fixture = Fixture::new();
    let path = made_in(&fixture, 3000, goal, "DELETE");
    let never_used = open(&fixture, &path);
    let sleepers: Vec<Connection> = ["DELETE", "TRUNCATE", "PERSIST"]
        .into_iter()
        .map(|wanted| {
            let connection = open(&fixture, &path);
            let set = mode(&connection, &format!("PRAGMA journal_mode = {wanted}"));
            assert_eq!(set, wanted.to_lowercase());
            connection
                .execute_batch("UPDATE note SET number = -number WHERE id > 2900; UPDATE note SET number = -number WHERE id > 2900")
                .unwrap();
            assert_eq!(number(&connection, "SELECT sum(number) FROM note"), 4_501_500);
            connection
        })
        .collect();
    let said = run(&fixture, &path, goal);
    assert!(said.starts_with("done after"), "{said}");
    // They hold no lock on either database: nothing is in the way of going back.
    assert!(!said.contains("left in WAL mode"), "{said}");
    let new = open(&fixture, &path);
    assert_eq!(mode(&new, "PRAGMA journal_mode"), "delete");
    // As many pages as before, so that nothing but the move makes them drop their caches.
    new.execute_batch("UPDATE note SET number = 0 WHERE id = 1").unwrap();
    let all: Vec<&Connection> = sleepers.iter().chain([&never_used, &new]).collect();
    for connection in &all {
        assert_eq!(number(connection, "SELECT sum(number) FROM note"), 4_501_499);
        assert!(is_done(connection, goal));
    }
    for (round, connection) in all.iter().enumerate() {
        connection
            .execute_batch(
                "BEGIN; UPDATE note SET text = 'undone ' || id; ROLLBACK; INSERT INTO log (number) VALUES (1)",
            )
            .unwrap();
        for connection in &all {
            let count = number(connection, "SELECT count(*) FROM log WHERE number = 1");
            assert_eq!(count, i64::try_from(round + 1).unwrap());
        }
    }
    assert_eq!(mode(&new, "PRAGMA integrity_check"), "ok");
    // The journal that a connection has kept open since before is the new database's.
    let word = b"a word that must not be found";
    for name in fixture.names() {
        if goal == Goal::Encrypted {
            assert!(!holds(&fixture.path(&name), word), "{name}");
        }
    }
}

/// One whose transaction began in WAL mode holds a lock from then on.
#[test]
fn a_database_whose_connections_were_busy_stays_in_wal_mode_and_it_is_said() {
    for goal in GOALS {
        let fixture = Fixture::new();
        let path = made_in(&fixture, 300, goal, "DELETE");
        let connection = open(&fixture, &path);
        assert_eq!(number(&connection, "SELECT count(*) FROM note"), 300);
        let mut converting = crate::online_conversion::Converting::start(&fixture, &path, goal, (12, 5000));
        let said = converting.hear();
        assert!(said.starts_with("stopped at"), "{said}");
        connection.execute_batch("INSERT INTO log (number) VALUES (1)").unwrap();
        converting.go_on();
        let said = converting.hear();
        assert!(
            said.starts_with("done after") && said.contains("left in WAL mode"),
            "{said}"
        );
        assert_eq!(mode(&connection, "PRAGMA journal_mode"), "wal");
        assert_eq!(number(&connection, "SELECT count(*) FROM log"), 1);
        assert!(is_done(&connection, goal));
        assert_eq!(mode(&connection, "PRAGMA journal_mode = DELETE"), "delete");
        assert_eq!(number(&open(&fixture, &path), "SELECT count(*) FROM log"), 1);
    }
}

/// With its log it would write one that others don't read.
#[test]
fn a_connection_with_a_log_does_not_move_to_a_database_in_rollback_mode() {
    for goal in GOALS {
        let fixture = Fixture::new();
        let path = made(&fixture, 300, goal);
        let sleeper = open(&fixture, &path);
        assert_eq!(number(&sleeper, "SELECT count(*) FROM note"), 300);
        let said = run(&fixture, &path, goal);
        assert!(said.starts_with("done after"), "{said}");
        let other = open(&fixture, &path);
        assert_eq!(mode(&other, "PRAGMA journal_mode = DELETE"), "delete");
        for _ in 0..2 {
            assert!(sleeper.execute_batch("INSERT INTO log (number) VALUES (1)").is_err());
            let read = sleeper.query_row("SELECT count(*) FROM note", [], |row| row.get::<_, i64>(0));
            assert!(read.is_err(), "{read:?}");
        }
        other.execute_batch("DELETE FROM note WHERE id > 100").unwrap();
        assert_eq!(mode(&other, "PRAGMA journal_mode = WAL"), "wal");
        assert_eq!(number(&sleeper, "SELECT count(*) FROM note"), 100);
        sleeper.execute_batch("INSERT INTO log (number) VALUES (1)").unwrap();
        assert_eq!(number(&other, "SELECT count(*) FROM log"), 1);
    }
}

/// SQLite looks for one only before it opens a log. Page 1 may be that of a change to WAL mode that was not committed.
#[test]
fn a_connection_with_a_log_does_not_move_to_a_database_with_a_hot_journal() {
    for goal in GOALS {
        let fixture = Fixture::new();
        let path = made(&fixture, 300, goal);
        let sleeper = open(&fixture, &path);
        assert_eq!(number(&sleeper, "SELECT count(*) FROM note"), 300);
        let said = run(&fixture, &path, goal);
        assert!(said.starts_with("done after"), "{said}");
        let other = open(&fixture, &path);
        assert_eq!(mode(&other, "PRAGMA journal_mode = DELETE"), "delete");
        // What a process leaves that is killed when it has written page 1, and not deleted the journal.
        other
            .execute_batch("PRAGMA synchronous = OFF; BEGIN; PRAGMA user_version = 7")
            .unwrap();
        let journal = std::fs::read(fixture.path("app.db-journal")).unwrap();
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(mode(&other, "PRAGMA journal_mode = WAL"), "wal");
        other.close().unwrap();
        std::fs::write(fixture.path("app.db-journal"), journal).unwrap();
        let insert = "INSERT INTO log (number) VALUES (1)";
        for _ in 0..2 {
            assert!(sleeper.execute_batch(insert).is_err());
        }
        let other = open(&fixture, &path);
        assert_eq!(mode(&other, "PRAGMA journal_mode"), "delete");
        assert!(sleeper.execute_batch(insert).is_err());
        assert_eq!(mode(&other, "PRAGMA journal_mode = WAL"), "wal");
        sleeper.execute_batch(insert).unwrap();
        assert_eq!(number(&other, "SELECT count(*) FROM log"), 1);
        assert_eq!(mode(&sleeper, "PRAGMA integrity_check"), "ok");
    }
}

/// It has no lock yet, and does not move.
#[test]
fn a_connection_whose_file_has_lost_its_name_leaves_the_log_of_another_alone() {
    let fixture = Fixture::new();
    let path = made(&fixture, 300, Goal::Decrypted);
    let late = Connection::open(fixture.access().uri(&path).as_str()).unwrap();
    let plain = fixture.plain(
        "other.db",
        "PRAGMA journal_mode = WAL; CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, number, filler)",
    );
    std::fs::rename(plain, &path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute("INSERT INTO log (number) VALUES (5)", []).unwrap();
    late.busy_timeout(std::time::Duration::ZERO).unwrap();
    let inserted = late.execute("INSERT INTO log (number) VALUES (1)", []);
    let refused = inserted.map_err(|error| error.sqlite_error().map(|error| error.extended_code));
    assert_eq!(refused, Err(Some(rusqlite::ffi::SQLITE_IOERR_VNODE)));
    other.execute("INSERT INTO log (number) VALUES (6)", []).unwrap();
    assert_eq!(number(&other, "SELECT sum(number) FROM log"), 11);
    assert_eq!(mode(&other, "PRAGMA integrity_check"), "ok");
}

/// It holds no lock: it is told by its descriptor.
#[test]
fn an_idle_process_without_the_extension_is_named_in_rollback_mode() {
    let fixture = Fixture::new();
    let path = made_in(&fixture, 300, Goal::Encrypted, "DELETE");
    let (mut other, is_reading) = stock(&path);
    assert!(is_reading);
    let connection = open(&fixture, &path);
    assert_eq!(number(&connection, "SELECT count(*) FROM note"), 300);
    let said = run(&fixture, &path, Goal::Encrypted);
    assert!(
        said.starts_with("failed: ") && said.contains(&format!(" {} (", other.id())),
        "{said}"
    );
    assert_eq!(mode(&connection, "PRAGMA journal_mode"), "delete");
    // The same if another program changes the mode, as long as it did not notice.
    assert_eq!(mode(&connection, "PRAGMA journal_mode = WAL"), "wal");
    let said = run(&fixture, &path, Goal::Encrypted);
    assert!(
        said.starts_with("failed: ") && said.contains(&format!(" {} (", other.id())),
        "{said}"
    );
    drop(other.stdin.take());
    other.wait().unwrap();
    let said = run(&fixture, &path, Goal::Encrypted);
    assert!(said.starts_with("done after"), "{said}");
    assert_eq!(number(&connection, "SELECT count(*) FROM note"), 300);
    assert!(is_encrypted(&connection));
}

/// Another connection of the same process has registered.
#[test]
fn a_second_connection_that_would_not_move_is_noticed() {
    for journal_mode in ["WAL", "DELETE"] {
        let fixture = Fixture::new();
        let path = made_in(&fixture, 300, Goal::Encrypted, journal_mode);
        let connection = open(&fixture, &path);
        assert_eq!(number(&connection, "SELECT count(*) FROM note"), 300);
        let second = Connection::open(&path).unwrap();
        assert_eq!(number(&second, "SELECT count(*) FROM note"), 300);
        let said = run(&fixture, &path, Goal::Encrypted);
        assert!(
            said.starts_with("failed: ") && said.contains(&format!(" {} (", std::process::id())),
            "{said}"
        );
        second.close().unwrap();
        drop(connection);
        let connection = open(&fixture, &path);
        let said = run(&fixture, &path, Goal::Encrypted);
        assert!(said.starts_with("done after"), "{said}");
        assert_eq!(number(&connection, "SELECT count(*) FROM note"), 300);
    }
}

/// `sqlite3RunVacuum` asks for the reserved bytes of a page before its transaction begins, with which the connection
/// moves.
#[test]
fn a_vacuum_that_moves_its_connection_is_done_when_it_is_repeated() {
    for goal in GOALS {
        let fixture = Fixture::new();
        let path = made(&fixture, 3000, goal);
        let sleeper = open(&fixture, &path);
        sleeper.execute_batch("DELETE FROM note WHERE id > 1000").unwrap();
        let said = run(&fixture, &path, goal);
        assert!(said.starts_with("done after"), "{said}");
        // The size of a page's content is not that of before: it is repeated.
        if let Err(error) = sleeper.execute_batch("VACUUM") {
            assert_eq!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy),
                "{goal:?}: {error}"
            );
            assert_eq!(number(&sleeper, "SELECT count(*) FROM note"), 1000);
            sleeper.execute_batch("VACUUM").unwrap();
        }
        assert_eq!(number(&sleeper, "SELECT count(*) FROM note"), 1000);
        assert_eq!(mode(&sleeper, "PRAGMA integrity_check"), "ok");
        assert!(is_done(&sleeper, goal));
    }
}
