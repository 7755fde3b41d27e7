//! Crashes with all optimisations in use: buffered commits, checkpoints that copy ciphertext,
//! read-ahead, and a pool that two connections share, one of which reads between all commits of the
//! other.

use std::cell::Cell;

use rusqlite::Connection;
use selenite_testing::ledger::check_integrity;
use selenite_testing::{KeyFile, Ledger, Opening, Scenario, own_process, run};

const LEDGER: Ledger = Ledger::SMALL;

/// The guarantee of a mode for acknowledged commits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// They remain (sqlite.org/pragma.html#pragma_synchronous).
    Durable,
    /// The last ones may be missing, but only as a whole: NORMAL in WAL mode, FULL where deleting
    /// the journal commits.
    Consistent,
    /// They remain if the process is killed; there is no guarantee after a loss of power: OFF.
    /// NORMAL in the rollback modes may damage a database "in theory, on an older filesystem".
    Nothing,
}

fn open(opening: &Opening, pragmas: &str) -> rusqlite::Result<Connection> {
    let connection = opening.connect()?;
    connection.execute_batch(&format!(
        "{pragmas}; PRAGMA cache_size = 6; PRAGMA wal_autocheckpoint = 30"
    ))?;
    Ok(connection)
}

fn check(opening: &Opening, promise: Promise, acknowledged: u64) -> Result<(), String> {
    let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
    if promise != Promise::Consistent {
        return LEDGER.check_recovered(&connection, &["main"], acknowledged);
    }
    check_integrity(&connection)?;
    let seen = LEDGER.check(&connection, "main")?;
    if seen > acknowledged + 1 {
        return Err(format!("{seen} commits of {acknowledged}"));
    }
    LEDGER.check_recovered(&connection, &["main"], seen)
}

fn value(connection: &Connection, section: &str, name: &str) -> i64 {
    let sql = "SELECT value FROM selenite_status WHERE section = ?1 AND name = ?2";
    connection.query_row(sql, [section, name], |row| row.get(0)).unwrap()
}

const NAMES: [(&str, &str); 3] = [
    ("pool", "hits"),
    ("database", "read_ahead_used"),
    ("database", "pages_carried"),
];

/// Both connections read everything, so that the pool is full at the next crash.
fn read(connections: [&Connection; 2], tx: u64) {
    for connection in connections {
        for _ in 0..3 {
            assert_eq!(LEDGER.check(connection, "main"), Ok(tx));
        }
    }
}

fn crash(mode: &str, synchronous: &str, promise: Promise) {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/crash-pool/main.db", &key)
        .with("page_size", "1024")
        .with("pool_size", "8M");
    let check = |acknowledged| check(&opening, promise, acknowledged);
    let name = format!("pool {mode} {synchronous}");
    let gained = Cell::new([0; 3]);
    let summary = run(&Scenario::new(&name, &check).with_points(600), |run| {
        let pragmas = format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = {synchronous}");
        let writer = open(&opening, &pragmas)?;
        let before = NAMES.map(|(section, name)| value(&writer, section, name));
        LEDGER.create(&writer, &["main"])?;
        run.acknowledge(1);
        let reader = open(&opening, &pragmas)?;
        for tx in 2..24 {
            // Alternately: a commit of one makes pages in the pool of the other stale.
            LEDGER.commit([&writer, &reader][usize::try_from(tx % 2).unwrap()], &["main"], tx)?;
            run.acknowledge(tx);
            if mode == "wal" && tx % 5 == 0 {
                let kind = ["passive", "full", "restart", "truncate"][usize::try_from(tx / 5 % 4).unwrap()];
                writer.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()))?;
            }
            read([&reader, &writer], tx);
        }
        let after = NAMES.map(|(section, name)| value(&writer, section, name));
        gained.set([0, 1, 2].map(|index| after[index] - before[index]));
        Ok(())
    });
    if promise == Promise::Nothing {
        let killed: Vec<_> = summary
            .failures
            .iter()
            .filter(|failure| failure.contains(", All, "))
            .collect();
        assert!(killed.is_empty(), "{killed:?}");
        summary.assert_points(300);
    } else {
        summary.assert_sound(300);
    }
    let [hits, ahead, carried] = gained.get();
    println!("{name}: {hits} pool hits, {ahead} pages read ahead, {carried} pages carried");
    assert!(hits > 100, "{name}: {hits} hits");
    assert!(ahead > 100, "{name}: {ahead} pages read ahead");
    assert!(carried > 20 || mode != "wal", "{name}: {carried} pages carried");
}

#[test]
fn wal_mode_keeps_its_promises_with_a_pool_after_every_crash() {
    own_process!();
    crash("wal", "off", Promise::Nothing);
    crash("wal", "normal", Promise::Consistent);
    crash("wal", "full", Promise::Durable);
    crash("wal", "extra", Promise::Durable);
}

#[test]
fn rollback_modes_keep_their_promises_with_a_pool_after_every_crash() {
    own_process!();
    crash("delete", "full", Promise::Consistent);
    crash("delete", "extra", Promise::Durable);
    for mode in ["truncate", "persist"] {
        crash(mode, "full", Promise::Durable);
        crash(mode, "extra", Promise::Durable);
    }
    for mode in ["delete", "truncate", "persist"] {
        crash(mode, "off", Promise::Nothing);
        crash(mode, "normal", Promise::Nothing);
    }
}
