//! Crashes in the rollback modes (sqlite.org/atomiccommit.html), and of statements that rewrite the
//! whole database.

use rusqlite::Connection;
use selenite_testing::{Disk, Image, KeyFile, Ledger, Opening, Run, Scenario, run};

fn check(opening: &Opening, ledger: &Ledger, acknowledged: u64) -> Result<(), String> {
    let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
    ledger.check_recovered(&connection, &["main"], acknowledged)
}

fn open(opening: &Opening, pragmas: &str) -> rusqlite::Result<Connection> {
    let connection = opening.connect()?;
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

fn commit_some(run: &Run, ledger: &Ledger, connection: &Connection, last: u64) -> rusqlite::Result<()> {
    ledger.create(connection, &["main"])?;
    run.acknowledge(1);
    for tx in 2..=last {
        ledger.commit(connection, &["main"], tx)?;
        run.acknowledge(tx);
    }
    Ok(())
}

/// A database with some commits, on a separate disk.
fn made(opening: &Opening, pragmas: &str, ledger: &Ledger, last: u64) -> Image {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let connection = open(opening, pragmas).unwrap();
    ledger.create(&connection, &["main"]).unwrap();
    for tx in 2..=last {
        ledger.commit(&connection, &["main"], tx).unwrap();
    }
    drop(connection);
    disk.image()
}

/// synchronous=EXTRA if deleting the journal commits: "the directory containing a rollback journal
/// is synced after that journal is unlinked" (sqlite.org/pragma.html#pragma_synchronous); with FULL
/// it is not.
#[test]
fn commits_survive_every_crash_in_all_rollback_modes() {
    let modes = [
        ("delete", "extra", "4096"),
        ("delete", "extra", "1024"),
        ("delete", "extra", "65536"),
        ("persist", "full", "4096"),
        ("persist", "full", "1024"),
        ("truncate", "full", "4096"),
        ("truncate", "full", "65536"),
    ];
    for (mode, synchronous, page_size) in modes {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/rollback/main.db", &key).with("page_size", page_size);
        let ledger = Ledger::SMALL;
        let check = |acknowledged| check(&opening, &ledger, acknowledged);
        let name = format!("rollback {mode} {synchronous} {page_size}");
        let summary = run(&Scenario::new(&name, &check).with_points(1000), |run| {
            let pragmas = format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = {synchronous};");
            commit_some(run, &ledger, &open(&opening, &pragmas)?, 20)
        });
        summary.assert_sound(500);
    }
}

#[test]
fn commits_survive_every_crash_where_names_are_durable_at_once() {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/rollback-names/main.db", &key);
    let ledger = Ledger::SMALL;
    let check = |acknowledged| check(&opening, &ledger, acknowledged);
    let scenario = Scenario::new("rollback delete full, names at once", &check).with_names_at_once();
    let summary = run(&scenario, |run| {
        commit_some(run, &ledger, &open(&opening, "PRAGMA synchronous = full")?, 20)
    });
    summary.assert_sound(500);
}

#[test]
fn spilled_pages_and_savepoints_survive_every_crash() {
    for mode in ["delete", "persist", "truncate"] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/rollback-spill/main.db", &key).with("page_size", "1024");
        let ledger = Ledger {
            parts: 12,
            body_size: 900,
            window: 4,
        };
        let check = |acknowledged| check(&opening, &ledger, acknowledged);
        let name = format!("rollback spill {mode}");
        let summary = run(&Scenario::new(&name, &check), |run| {
            let pragmas = format!(
                "PRAGMA journal_mode = {mode}; PRAGMA synchronous = extra; PRAGMA cache_size = 10; PRAGMA cache_spill = 1;"
            );
            let connection = open(&opening, &pragmas)?;
            ledger.create(&connection, &["main"])?;
            run.acknowledge(1);
            for tx in 2..8 {
                connection.execute_batch("BEGIN IMMEDIATE; SAVEPOINT undone;")?;
                ledger.write(&connection, "main", tx + 100)?;
                connection.execute_batch("ROLLBACK TO undone")?;
                ledger.write(&connection, "main", tx)?;
                connection.execute_batch(
                    "SAVEPOINT also_undone; UPDATE entry SET body = zeroblob(length(body)); ROLLBACK TO also_undone;
                     COMMIT",
                )?;
                run.acknowledge(tx);
            }
            Ok(())
        });
        summary.assert_sound(500);
    }
}

#[test]
fn vacuum_survives_every_crash() {
    for (mode, page_size) in [("delete", "4096"), ("wal", "1024"), ("persist", "1024")] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/vacuum/main.db", &key).with("page_size", page_size);
        let ledger = Ledger::SMALL;
        let pragmas = format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = extra;");
        let origin = made(&opening, &pragmas, &ledger, 12);
        let check = |acknowledged| check(&opening, &ledger, acknowledged);
        let name = format!("vacuum {mode} {page_size}");
        let summary = run(&Scenario::new(&name, &check).from(origin), |run| {
            let connection = open(&opening, &pragmas)?;
            run.acknowledge(12);
            connection.execute_batch("VACUUM")?;
            ledger.commit(&connection, &["main"], 13)?;
            run.acknowledge(13);
            connection.execute_batch("VACUUM")
        });
        summary.assert_sound(200);
    }
}

#[test]
fn auto_vacuum_survives_every_crash() {
    for (auto_vacuum, mode) in [
        ("full", "delete"),
        ("full", "wal"),
        ("incremental", "truncate"),
        ("incremental", "wal"),
    ] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/auto-vacuum/main.db", &key)
            .with("page_size", "1024")
            .with("auto_vacuum", auto_vacuum);
        let ledger = Ledger::SMALL;
        let check = |acknowledged| check(&opening, &ledger, acknowledged);
        let name = format!("auto_vacuum {auto_vacuum} {mode}");
        let summary = run(&Scenario::new(&name, &check), |run| {
            let pragmas =
                format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = extra; PRAGMA wal_autocheckpoint = 15;");
            let connection = open(&opening, &pragmas)?;
            ledger.create(&connection, &["main"])?;
            run.acknowledge(1);
            for tx in 2..16 {
                ledger.commit(&connection, &["main"], tx)?;
                run.acknowledge(tx);
                connection.execute_batch("PRAGMA incremental_vacuum")?;
            }
            Ok(())
        });
        summary.assert_sound(500);
    }
}

/// The super-journal makes a commit over several files atomic
/// (sqlite.org/atomiccommit.html#_multi_file_commit).
#[test]
fn a_commit_over_two_databases_is_one_after_every_crash() {
    for mode in ["delete", "persist", "truncate"] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/two/main.db", &key);
        let other = opening.at("/two/other.db");
        let ledger = Ledger::SMALL;
        let check = |acknowledged| {
            let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
            other
                .attach(&connection, "other")
                .map_err(|error| format!("attach: {error}"))?;
            let pragmas = format!("PRAGMA main.journal_mode = {mode}; PRAGMA other.journal_mode = {mode};");
            connection.execute_batch(&pragmas).map_err(|error| error.to_string())?;
            ledger.check_recovered(&connection, &["main", "other"], acknowledged)
        };
        let name = format!("two databases {mode}");
        let summary = run(&Scenario::new(&name, &check), |run| {
            let connection = open(&opening, "PRAGMA synchronous = extra")?;
            other.attach(&connection, "other")?;
            connection.execute_batch(&format!(
                "PRAGMA main.journal_mode = {mode}; PRAGMA other.journal_mode = {mode};
                 PRAGMA main.synchronous = extra; PRAGMA other.synchronous = extra;"
            ))?;
            ledger.create(&connection, &["main", "other"])?;
            run.acknowledge(1);
            for tx in 2..14 {
                ledger.commit(&connection, &["main", "other"], tx)?;
                run.acknowledge(tx);
            }
            Ok(())
        });
        summary.assert_sound(500);
    }
}
