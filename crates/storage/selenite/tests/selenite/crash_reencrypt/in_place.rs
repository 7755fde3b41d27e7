//! Commits that change rows in place and therefore do not change page 1: the frames of a log that
//! reappears after it was truncated are then accepted one by one, up to the first of a page below
//! the cursor.

use std::path::Path;

use rusqlite::Connection;
use selenite::reencrypt::Goal;
use selenite::{Suite, Watch};
use selenite_testing::own_process;
use selenite_testing::{Disk, Image, Scenario, run};

use super::sim_storage::SimStorage;
use super::{Fixture, PATH};

/// Two or three rows a page.
const ROWS: i64 = 60;
/// The last commit before the operation.
const LAST: i64 = 9;

/// Commit `tx`: every third changes the first page of the table, the others its last.
fn commit(connection: &Connection, tx: i64) -> rusqlite::Result<usize> {
    let id = if tx % 3 == 0 { 1 } else { ROWS };
    connection.execute("UPDATE t SET tx = ?1 WHERE id = ?2", (tx, id))
}

fn origin(fixture: &Fixture) -> Image {
    selenite_testing::sim::install();
    let disk = Disk::new();
    let _entered = disk.enter();
    let opening = fixture.opening().with("cipher", "NONE").with("page_size", "1024");
    let connection = opening.connect().unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = wal; CREATE TABLE t(id INTEGER PRIMARY KEY, tx INTEGER, body BLOB);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO t SELECT i, 1, randomblob(400) FROM n;
             PRAGMA wal_checkpoint(TRUNCATE)"
        ))
        .unwrap();
    for tx in 2..=LAST {
        commit(&connection, tx).unwrap();
    }
    disk.image()
}

fn check(fixture: &Fixture) -> Result<(), String> {
    let look = || -> Result<(), String> {
        let connection = fixture.opening().connect().map_err(|error| format!("open: {error}"))?;
        let sql = "SELECT tx FROM t WHERE id IN (1, ?1) ORDER BY id";
        let mut statement = connection.prepare(sql).map_err(|error| error.to_string())?;
        let rows = statement.query_map([ROWS], |row| row.get(0));
        let found: Result<Vec<i64>, _> = rows.and_then(Iterator::collect);
        let found = found.map_err(|error| error.to_string())?;
        if found == [LAST, LAST - 1] {
            return Ok(());
        }
        Err(format!("commits {found:?}, not {LAST} and the one before"))
    };
    look()?;
    let status = selenite::status(&SimStorage::of_thread(), Path::new(PATH), &fixture.access());
    let sealed = status.map_err(|error| error.to_string())?.sealed;
    if sealed.ok_or("not encrypted")?.state_word() != "steady" {
        let gone_on = fixture.reencrypt(Goal::GoOn, &Watch::none());
        gone_on.map_err(|error| format!("going on: {error}"))?;
    }
    look()
}

#[test]
fn a_log_that_reappears_after_truncation_restores_no_old_row() {
    own_process!();
    let fixture = Fixture::new();
    let check = |_| check(&fixture);
    let scenario = Scenario::new("on, wal, in place", &check)
        .from(origin(&fixture))
        .with_points(2400);
    let summary = run(&scenario, |_| {
        let goal = Goal::Suite(Suite::Aes256);
        fixture
            .reencrypt(goal, &Watch::none())
            .map_err(|error| error.to_string())
            .unwrap();
        Ok(())
    });
    summary.assert_sound(200);
}
