//! A file that is replaced while connections have it open in WAL mode: another database gets its
//! name, next to the log and the index of the previous one. SQLite itself does not detect this
//! (sqlite.org/howtocorrupt.html, 2.4); no connection may read rows that were not written.

use selenite_testing::own_process;
use std::fs;

use rusqlite::Connection;

use super::fixture::Fixture;

/// The rows of the replacing database, or the error; nothing else.
fn rows_of_other(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare("SELECT a FROM other ORDER BY a")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

/// Rows 1 to 300 as first written, and those from 1001 on that were added; or the error.
fn rows_of_own(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let sql = "SELECT count(*), coalesce(sum(id > 1000), 0) FROM t WHERE id BETWEEN 1 AND 300 AND length(body) = 200 OR id > 1000";
    connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

fn other(fixture: &Fixture, name: &str) {
    let connection = fixture.open(name, "").unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = wal; CREATE TABLE other (a); INSERT INTO other VALUES (1), (2), (3)")
        .unwrap();
}

#[test]
fn a_file_replaced_beside_an_open_log_gives_no_rows_of_two_databases() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    other(&fixture, "b.db");
    let one = fixture.open("a.db", "").unwrap();
    one.execute_batch(
        "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (1001, 'x', x'')",
    )
    .unwrap();
    fs::rename(fixture.path("b.db"), fixture.path("a.db")).unwrap();
    // A connection to the old file continues to use it, with its log.
    assert_eq!(rows_of_own(&one), Ok((301, 1)));
    let two = fixture.open("a.db", "").unwrap();
    two.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    let mut written = 1;
    for round in 0..4 {
        match rows_of_other(&two) {
            Ok(rows) => assert_eq!(rows, [1, 2, 3], "round {round}"),
            Err(error) => assert!(
                matches!(error, rusqlite::Error::SqliteFailure(..)),
                "round {round}: {error}"
            ),
        }
        // The index now says that the log has no valid frame under the other database's keys: `one`
        // may lose the end of the log.
        match rows_of_own(&one) {
            Ok((all, added)) => assert!(all == 300 + added && added <= written, "round {round}: {all} {added}"),
            Err(error) => assert!(
                matches!(error, rusqlite::Error::SqliteFailure(..)),
                "round {round}: {error}"
            ),
        }
        let sql = format!("INSERT INTO t VALUES ({}, 'x', x'')", 1002 + round);
        written += i64::from(one.execute_batch(&sql).is_ok());
    }
    drop((one, two));
    // The log belongs to the old file: no frame of it is applied to the new one.
    for companion in ["a.db-wal", "a.db-shm"] {
        let _ = fs::remove_file(fixture.path(companion));
    }
    let three = fixture.open("a.db", "").unwrap();
    assert_eq!(rows_of_other(&three), Ok(vec![1, 2, 3]));
    let verdict: String = three.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

#[test]
fn a_log_of_a_replaced_database_is_not_applied_to_the_new_one() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    other(&fixture, "b.db");
    let one = fixture.open("a.db", "").unwrap();
    one.execute_batch(
        "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (1001, 'x', x'')",
    )
    .unwrap();
    // The log as after a crash.
    fs::copy(fixture.path("a.db-wal"), fixture.path("kept-wal")).unwrap();
    drop(one);
    fs::rename(fixture.path("b.db"), fixture.path("a.db")).unwrap();
    fs::rename(fixture.path("kept-wal"), fixture.path("a.db-wal")).unwrap();
    let two = fixture.open("a.db", "").unwrap();
    assert_eq!(rows_of_other(&two), Ok(vec![1, 2, 3]));
    two.execute_batch("INSERT INTO other VALUES (4)").unwrap();
    drop(two);
    let three = fixture.open("a.db", "").unwrap();
    assert_eq!(rows_of_other(&three), Ok(vec![1, 2, 3, 4]));
}
