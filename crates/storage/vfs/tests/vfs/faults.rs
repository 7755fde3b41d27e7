//! Failing calls: the n-th, for all n. Acknowledged commits remain, and the database remains valid.

use rusqlite::Connection;
use selenite_testing::fault::Failure;
use selenite_testing::ledger::check_integrity;
use selenite_testing::{Call, Disk, Fault, KeyFile, Ledger, Opening};
use selenite_vfs::ffi::Code;

const SETTINGS: [&str; 3] = [
    "PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 8; PRAGMA cache_size = 8;",
    "PRAGMA journal_mode = delete; PRAGMA synchronous = extra; PRAGMA cache_size = 8;",
    "PRAGMA journal_mode = persist; PRAGMA synchronous = full; PRAGMA cache_size = 8;",
];

/// Commits until a commit fails; returns how many were acknowledged, and the error.
fn work(opening: &Opening, settings: &str, ledger: &Ledger) -> (u64, Option<rusqlite::Error>) {
    let mut done = 0;
    let mut steps = || -> rusqlite::Result<()> {
        let connection = opening.connect()?;
        connection.execute_batch(settings)?;
        ledger.create(&connection, &["main"])?;
        done = 1;
        while done < 5 {
            if let Err(error) = ledger.commit(&connection, &["main"], done + 1) {
                // The connection continues if it can: starting with the failed commit, if that
                // exists after all.
                let Ok(there) = ledger.check(&connection, "main") else {
                    return Err(error);
                };
                assert!(there == done || there == done + 1, "{there} commits after {done}");
                ledger.commit(&connection, &["main"], there + 1)?;
                done = there;
            }
            done += 1;
        }
        goes_on(&connection)
    };
    let error = steps().err();
    (done, error)
}

/// A read of one unreadable page must not make the connection unusable.
fn goes_on(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM entry", [], |row| row.get::<_, i64>(0))?;
    Ok(())
}

fn check(opening: &Opening, ledger: &Ledger, acknowledged: u64) -> Result<(), String> {
    let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
    check_integrity(&connection)?;
    ledger.check_recovered(&connection, &["main"], acknowledged)
}

/// Lets the n-th call fail, for all n up to the number of calls.
fn fail_each(name: &str, call: Call, failure: Failure, times: u64) {
    let key = KeyFile::new(1);
    let ledger = Ledger::SMALL;
    for settings in SETTINGS {
        let opening = Opening::encrypted("/faults/main.db", &key).with("page_size", "1024");
        let mut after = 0;
        loop {
            let disk = Disk::new();
            let _disk_guard = disk.enter();
            disk.inject(Fault {
                call,
                role: None,
                after,
                times,
                failure,
            });
            let (acknowledged, error) = work(&opening, settings, &ledger);
            let hits = disk.fault_hits();
            disk.clear_faults();
            let checked = check(&opening, &ledger, acknowledged);
            assert!(
                checked.is_ok(),
                "{name} {after}, {settings}: {acknowledged} acknowledged, then {error:?}: {checked:?}"
            );
            if hits == 0 {
                assert!(error.is_none() && acknowledged == 5, "{name} {after}: {error:?}");
                break;
            }
            after += 1;
        }
        println!("{name}, {settings}: {after} calls failed, one by one");
        assert!(after > 1, "{name}: only {after} calls");
    }
}

#[test]
fn commits_survive_the_failure_of_any_write() {
    fail_each("write", Call::Write, Failure::Code(Code::IOERR_WRITE), 1);
    fail_each("all writes", Call::Write, Failure::Code(Code::IOERR_WRITE), u64::MAX);
    fail_each("half a write", Call::Write, Failure::PartialWrite(Code::IOERR_WRITE), 1);
}

#[test]
fn commits_survive_the_failure_of_any_read() {
    fail_each("read", Call::Read, Failure::Code(Code::IOERR_READ), 1);
    fail_each("all reads", Call::Read, Failure::Code(Code::IOERR_READ), u64::MAX);
}

#[test]
fn commits_survive_the_failure_of_any_sync() {
    fail_each("sync", Call::Sync, Failure::Code(Code::IOERR_FSYNC), 1);
    fail_each("all syncs", Call::Sync, Failure::Code(Code::IOERR_FSYNC), u64::MAX);
}

#[test]
fn commits_survive_the_failure_of_any_other_call() {
    fail_each("size", Call::Size, Failure::Code(Code::IOERR), 1);
    fail_each("lock", Call::Lock, Failure::Code(Code::BUSY), 1);
    fail_each("open", Call::Open, Failure::Code(Code::CANTOPEN), 1);
}

#[test]
fn commits_survive_a_disk_that_is_full() {
    let key = KeyFile::new(1);
    let ledger = Ledger::SMALL;
    for settings in SETTINGS {
        let opening = Opening::encrypted("/full/main.db", &key).with("page_size", "1024");
        let mut capacity = 0;
        loop {
            let disk = Disk::new();
            let _disk_guard = disk.enter();
            disk.limit(capacity);
            let (acknowledged, error) = work(&opening, settings, &ledger);
            disk.clear_faults();
            let checked = check(&opening, &ledger, acknowledged);
            assert!(
                checked.is_ok(),
                "{capacity} bytes, {settings}: {acknowledged} acknowledged, then {error:?}: {checked:?}"
            );
            if error.is_none() {
                break;
            }
            capacity += 1531;
        }
        assert!(capacity > 65536, "{capacity}");
    }
}
