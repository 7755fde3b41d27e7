//! Crashes of recovery itself, of switches between journal modes, and in modes with weaker
//! guarantees or other locks.

use rusqlite::Connection;
use rusqlite::backup::Backup;
use selenite_testing::ledger::check_integrity;
use selenite_testing::{Disk, Image, KeyFile, Ledger, Opening, Scenario, run};

const LEDGER: Ledger = Ledger::SMALL;

fn open(opening: &Opening, pragmas: &str) -> rusqlite::Result<Connection> {
    let connection = opening.connect()?;
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

fn check(opening: &Opening, acknowledged: u64) -> Result<(), String> {
    let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
    LEDGER.check_recovered(&connection, &["main"], acknowledged)
}

/// The image left by a process that is killed within a transaction, after some of it was spilled.
fn killed(opening: &Opening, pragmas: &str) -> Image {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let connection = open(opening, pragmas).unwrap();
    LEDGER.create(&connection, &["main"]).unwrap();
    for tx in 2..=8 {
        LEDGER.commit(&connection, &["main"], tx).unwrap();
    }
    connection
        .execute_batch("PRAGMA cache_size = 5; PRAGMA cache_spill = 1; BEGIN")
        .unwrap();
    for tx in 9..20 {
        LEDGER.write(&connection, "main", tx).unwrap();
    }
    disk.image()
}

/// Rolling back a journal, or recovering and checkpointing a log, may be interrupted any number of
/// times.
#[test]
fn recovery_survives_every_crash() {
    for mode in ["delete", "persist", "truncate", "wal"] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/recovery/main.db", &key).with("page_size", "1024");
        let pragmas =
            format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = extra; PRAGMA wal_autocheckpoint = 0;");
        let check = |acknowledged: u64| check(&opening, acknowledged.max(8));
        let name = format!("recovery {mode}");
        let scenario = Scenario::new(&name, &check).from(killed(&opening, &pragmas));
        let summary = run(&scenario, |run| {
            let connection = open(&opening, "PRAGMA synchronous = extra")?;
            assert_eq!(LEDGER.check(&connection, "main"), Ok(8));
            run.acknowledge(8);
            connection.execute_batch("PRAGMA wal_checkpoint(passive)")?;
            LEDGER.commit(&connection, &["main"], 9)?;
            run.acknowledge(9);
            Ok(())
        });
        summary.assert_sound(50);
    }
}

#[test]
fn switches_between_journal_modes_survive_every_crash() {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/switch/main.db", &key).with("page_size", "1024");
    let check = |acknowledged| check(&opening, acknowledged);
    let summary = run(&Scenario::new("switches", &check), |run| {
        let connection = open(&opening, "PRAGMA synchronous = extra")?;
        LEDGER.create(&connection, &["main"])?;
        run.acknowledge(1);
        let modes = [
            "wal", "delete", "wal", "persist", "truncate", "wal", "persist", "delete",
        ];
        for (mode, tx) in modes.iter().cycle().zip(2..20) {
            connection.execute_batch(&format!("PRAGMA journal_mode = {mode}"))?;
            LEDGER.commit(&connection, &["main"], tx)?;
            run.acknowledge(tx);
        }
        Ok(())
    });
    summary.assert_sound(500);
}

/// "WAL mode is always consistent with synchronous=NORMAL, but WAL mode does lose durability"
/// (sqlite.org/pragma.html#pragma_synchronous).
#[test]
fn with_synchronous_normal_some_last_commits_may_be_gone_but_wholly() {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/normal/main.db", &key).with("page_size", "1024");
    let check = |acknowledged| {
        let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
        check_integrity(&connection)?;
        let seen = LEDGER.check(&connection, "main")?;
        if seen > acknowledged + 1 {
            return Err(format!("{seen} commits of {acknowledged}"));
        }
        LEDGER.check_recovered(&connection, &["main"], seen)
    };
    let summary = run(&Scenario::new("wal normal", &check), |run| {
        let connection = open(
            &opening,
            "PRAGMA journal_mode = wal; PRAGMA synchronous = normal; PRAGMA wal_autocheckpoint = 30",
        )?;
        LEDGER.create(&connection, &["main"])?;
        run.acknowledge(1);
        for tx in 2..30 {
            LEDGER.commit(&connection, &["main"], tx)?;
            run.acknowledge(tx);
        }
        Ok(())
    });
    summary.assert_sound(500);
}

/// sqlite.org/pragma.html#pragma_locking_mode: no lock is released between transactions, and a log
/// needs no shared memory.
#[test]
fn commits_survive_every_crash_in_exclusive_locking_mode() {
    for mode in ["delete", "persist", "truncate", "wal"] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/exclusive/main.db", &key).with("page_size", "1024");
        let check = |acknowledged| check(&opening, acknowledged);
        let name = format!("exclusive {mode}");
        let summary = run(&Scenario::new(&name, &check), |run| {
            let pragmas = format!(
                "PRAGMA locking_mode = exclusive; PRAGMA journal_mode = {mode}; PRAGMA synchronous = extra;
                 PRAGMA wal_autocheckpoint = 20;"
            );
            let connection = open(&opening, &pragmas)?;
            LEDGER.create(&connection, &["main"])?;
            run.acknowledge(1);
            for tx in 2..14 {
                LEDGER.commit(&connection, &["main"], tx)?;
                run.acknowledge(tx);
            }
            Ok(())
        });
        summary.assert_sound(500);
    }
}

/// The backup API over an old database: the result is the old one or the new one.
#[test]
fn a_backup_over_an_old_database_survives_every_crash() {
    let key = KeyFile::new(1);
    let from = Opening::encrypted("/backup/from.db", &key).with("page_size", "1024");
    let to = from.at("/backup/to.db");
    let origin = {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        for (opening, last) in [(&from, 9), (&to, 4)] {
            let connection = open(opening, "").unwrap();
            LEDGER.create(&connection, &["main"]).unwrap();
            for tx in 2..=last {
                LEDGER.commit(&connection, &["main"], tx).unwrap();
            }
        }
        disk.image()
    };
    let check = |acknowledged| {
        let connection = to.connect().map_err(|error| format!("open: {error}"))?;
        check_integrity(&connection)?;
        let seen = LEDGER.check(&connection, "main")?;
        if seen != 9 && (seen != 4 || acknowledged > 0) {
            return Err(format!("{seen} commits"));
        }
        LEDGER.check_recovered(&connection, &["main"], seen)
    };
    let summary = run(&Scenario::new("backup", &check).from(origin), |run| {
        let source = open(&from, "")?;
        let mut copy = open(&to, "PRAGMA synchronous = extra")?;
        Backup::new(&source, &mut copy)?.run_to_completion(7, std::time::Duration::ZERO, None)?;
        run.acknowledge(1);
        Ok(())
    });
    summary.assert_sound(100);
}
