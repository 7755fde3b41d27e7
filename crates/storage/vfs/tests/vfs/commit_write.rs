//! The write of a commit to the log fails: not performed, partly performed, or performed completely
//! but reported as failed. The transaction is rolled back, and a crash at any time leaves only
//! whole transactions.
//!
//! Frames that were written completely have a valid end and valid checksums, as with stock SQLite:
//! until something else is written there, recovery may accept them. Then there is one commit more
//! than was acknowledged, and it is complete.

use rusqlite::Connection;
use selenite_testing::fault::Failure;
use selenite_testing::{Call, Disk, Fault, KeyFile, Ledger, Opening, Scenario, own_process, run};
use selenite_vfs::ffi::Code;
use selenite_vfs::role::Role;

const LEDGER: Ledger = Ledger::SMALL;

fn opening(key: &KeyFile) -> Opening {
    Opening::encrypted("/commit/main.db", key)
        .with("page_size", "1024")
        .with("pool_size", "4M")
}

fn open(opening: &Opening, pragmas: &str) -> rusqlite::Result<Connection> {
    let connection = opening.connect()?;
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 25; {pragmas}"
    ))?;
    Ok(connection)
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE TABLE IF NOT EXISTS note(round INTEGER, part INTEGER, body BLOB)")?;
    LEDGER.create(connection, &["main"])
}

/// Commits a transaction that is separate from those of the ledger, with many frames or few.
fn note(connection: &Connection, round: u64, parts: u64) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {parts})
         INSERT INTO note SELECT {round}, {parts}, randomblob(500) FROM n;
         COMMIT"
    ))
}

/// Checks that every round is complete or absent; returns the complete ones.
fn rounds(connection: &Connection) -> Result<Vec<i64>, String> {
    let said = |error: rusqlite::Error| format!("notes: {error}");
    let has_table: bool = connection
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'note'", [], |row| {
            row.get(0)
        })
        .map_err(said)?;
    if !has_table {
        return Ok(Vec::new());
    }
    let mut select = connection
        .prepare("SELECT round, min(part), count(*) FROM note GROUP BY round ORDER BY round")
        .map_err(said)?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let rows: Vec<(i64, i64, i64)> = rows.and_then(Iterator::collect).map_err(said)?;
    match rows.iter().find(|(_, parts, count)| parts != count) {
        Some(half) => Err(format!("half a transaction: {half:?}")),
        None => Ok(rows.into_iter().map(|(round, ..)| round).collect()),
    }
}

fn fault(failure: Failure, after: u64) -> Fault {
    Fault {
        call: Call::Write,
        role: Some(Role::Wal),
        after,
        times: 1,
        failure,
    }
}

const FAILURES: [Failure; 6] = [
    Failure::Code(Code::FULL),
    Failure::Code(Code::IOERR_WRITE),
    Failure::PartialWrite(Code::FULL),
    Failure::PartialWrite(Code::IOERR_WRITE),
    Failure::Landed(Code::FULL),
    Failure::Landed(Code::IOERR_WRITE),
];
const MODES: [&str; 3] = [
    "",
    "PRAGMA locking_mode = exclusive",
    "PRAGMA cache_size = 8; PRAGMA cache_spill = 1",
];

/// The connection remains usable, and others see the same as it does.
#[test]
fn no_connection_sees_a_commit_that_was_reported_as_failed() {
    own_process!();
    for failure in FAILURES {
        for pragmas in ["", "PRAGMA cache_size = 8; PRAGMA cache_spill = 1"] {
            // For the large transaction the first, second or last of its three writes fails.
            for (parts, after) in [(3, 0), (600, 0), (600, 1), (600, 2)] {
                let disk = Disk::new();
                let _disk_guard = disk.enter();
                let key = KeyFile::new(1);
                let opening = opening(&key);
                let connection = open(&opening, pragmas).unwrap();
                create(&connection).unwrap();
                let other = opening.connect().unwrap();
                for tx in 2..6 {
                    disk.inject(fault(failure, after));
                    let failed = note(&connection, tx, parts);
                    assert_eq!(disk.fault_hits(), 1, "{parts} parts, {after}");
                    disk.clear_faults();
                    assert!(failed.is_err(), "{failure:?}");
                    if !connection.is_autocommit() {
                        connection.execute_batch("ROLLBACK").unwrap();
                    }
                    for seer in [&connection, &other, &opening.connect().unwrap()] {
                        assert_eq!(rounds(seer), Ok(Vec::new()), "{failure:?}, {pragmas}");
                        assert_eq!(LEDGER.check(seer, "main"), Ok(tx - 1));
                    }
                    // Some of the next commits are another connection's.
                    let next = if tx % 2 == 0 { &connection } else { &other };
                    LEDGER.commit(next, &["main"], tx).unwrap();
                    for seer in [&connection, &other, &opening.connect().unwrap()] {
                        assert_eq!(LEDGER.check(seer, "main"), Ok(tx));
                    }
                }
                drop((connection, other));
                let connection = opening.connect().unwrap();
                LEDGER.check_recovered(&connection, &["main"], 5).unwrap();
                assert_eq!(rounds(&connection), Ok(Vec::new()));
            }
        }
    }
}

/// Crashes at every point of the failed write, of the rollback, and of what is committed over it.
#[test]
fn whole_transactions_are_left_by_a_crash_after_a_commit_that_failed() {
    own_process!();
    for failure in FAILURES {
        for pragmas in MODES {
            let key = KeyFile::new(1);
            let opening = opening(&key);
            let check = |acknowledged| {
                let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
                let there = rounds(&connection)?;
                // Incompletely written rounds are never there; a completely written one, until
                // something else is written there.
                let allowed = usize::from(matches!(failure, Failure::Landed(_)));
                if there.len() > allowed {
                    return Err(format!("the rounds {there:?} were reported as failed"));
                }
                LEDGER.check_recovered(&connection, &["main"], acknowledged)
            };
            let name = format!("commit write {failure:?} {pragmas}");
            let scenario = Scenario::new(&name, &check).with_points(500);
            let summary = run(&scenario, |run| {
                let connection = open(&opening, pragmas)?;
                create(&connection)?;
                run.acknowledge(1);
                for tx in 2..9 {
                    run.disk().inject(fault(failure, 0));
                    // One frame or many, so that the next write covers all of them, or the first.
                    let failed = note(&connection, tx, [1, 4, 30][usize::try_from(tx % 3).unwrap()]);
                    run.disk().clear_faults();
                    assert!(failed.is_err());
                    if !connection.is_autocommit() {
                        connection.execute_batch("ROLLBACK")?;
                    }
                    // A checkpoint syncs the log first: this must not bring the transaction back.
                    let kind = ["passive", "truncate"][usize::from(tx % 4 == 0)];
                    connection.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()))?;
                    assert_eq!(rounds(&connection), Ok(Vec::new()));
                    LEDGER.commit(&connection, &["main"], tx)?;
                    run.acknowledge(tx);
                }
                Ok(())
            });
            summary.assert_sound(100);
        }
    }
}
