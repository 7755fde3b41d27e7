//! Crashes in WAL mode with synchronous=FULL: sqlite.org/wal.html guarantees that no commit is
//! lost.

use rusqlite::Connection;
use selenite_testing::{KeyFile, Ledger, Opening, Scenario, run};

/// Opens a crash image and checks it.
fn check(opening: &Opening, ledger: &Ledger, acknowledged: u64) -> Result<(), String> {
    let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
    ledger.check_recovered(&connection, &["main"], acknowledged)
}

fn open_wal(opening: &Opening, pragmas: &str) -> rusqlite::Result<Connection> {
    let connection = opening.connect()?;
    connection.execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = full;")?;
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

#[test]
fn commits_survive_every_crash_through_checkpoints_and_restarts() {
    for (name, page_size) in [("wal 4096", "4096"), ("wal 1024", "1024"), ("wal 65536", "65536")] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/wal/main.db", &key).with("page_size", page_size);
        let ledger = Ledger::SMALL;
        let check = |acknowledged| check(&opening, &ledger, acknowledged);
        let summary = run(&Scenario::new(name, &check), |run| {
            let connection = open_wal(&opening, "PRAGMA wal_autocheckpoint = 20;")?;
            ledger.create(&connection, &["main"])?;
            run.acknowledge(1);
            for tx in 2..30 {
                ledger.commit(&connection, &["main"], tx)?;
                run.acknowledge(tx);
            }
            connection.execute_batch("PRAGMA wal_checkpoint(restart)")?;
            for tx in 30..36 {
                ledger.commit(&connection, &["main"], tx)?;
                run.acknowledge(tx);
            }
            connection.execute_batch("PRAGMA wal_checkpoint(truncate)")?;
            ledger.commit(&connection, &["main"], 36)?;
            run.acknowledge(36);
            Ok(())
        });
        summary.assert_sound(1000);
    }
}

#[test]
fn spilled_frames_that_are_rewritten_survive_every_crash() {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/wal-spill/main.db", &key).with("page_size", "1024");
    let ledger = Ledger {
        parts: 12,
        body_size: 900,
        window: 4,
    };
    let check = |acknowledged| check(&opening, &ledger, acknowledged);
    let summary = run(&Scenario::new("wal spill", &check), |run| {
        // Ten pages of cache, and spilling from the first: frames are written to the log before
        // their commit and overwritten in place afterwards.
        let connection = open_wal(
            &opening,
            "PRAGMA cache_size = 10; PRAGMA cache_spill = 1; PRAGMA wal_autocheckpoint = 100;",
        )?;
        ledger.create(&connection, &["main"])?;
        run.acknowledge(1);
        for tx in 2..12 {
            connection.execute_batch("BEGIN IMMEDIATE; SAVEPOINT undone;")?;
            ledger.write(&connection, "main", tx + 100)?;
            connection.execute_batch("ROLLBACK TO undone")?;
            ledger.write(&connection, "main", tx)?;
            connection.execute_batch("SAVEPOINT also_undone; UPDATE entry SET body = zeroblob(length(body));")?;
            connection
                .execute_batch("ROLLBACK TO also_undone; UPDATE entry SET sum = -1; UPDATE entry SET sum = 5;")?;
            connection.execute_batch("ROLLBACK TO also_undone; COMMIT")?;
            run.acknowledge(tx);
        }
        Ok(())
    });
    summary.assert_sound(1000);
}
