//! One thread: its connection, and what it does next.

use std::sync::OnceLock;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use selenite_testing::Random;

use crate::ledger::{self, Seen};

/// Makes the VFS known, above the system's own.
pub fn install() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        selenite_vfs::ffi::install_linked(selenite_vfs::installer(), rusqlite::ffi::sqlite3_auto_extension).unwrap();
        Connection::open_in_memory().unwrap();
    });
}

fn try_connect(path: &str, spec: &str, cache: u64, pool_size: &str) -> rusqlite::Result<Connection> {
    let uri = format!("file:{path}?vfs=selenite&selenite_identity={spec}&page_size=1024&pool_size={pool_size}");
    let connection = Connection::open_with_flags(uri, OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.execute_batch(&format!(
        "PRAGMA cache_size = {cache}; PRAGMA synchronous = off; PRAGMA wal_autocheckpoint = 60"
    ))?;
    Ok(connection)
}

/// Tries until nobody is in the way. Nothing sleeps: whoever is in the way is at work.
fn insist<T>(mut body: impl FnMut() -> rusqlite::Result<T>) -> T {
    loop {
        match body() {
            Ok(value) => return value,
            Err(error) if is_busy(&error) => std::thread::yield_now(),
            Err(error) => panic!("{error}; {:?}", selenite_testing::opening::last_error()),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
    )
}

fn connect(path: &str, spec: &str, random: &mut Random) -> Connection {
    let cache = [8, 40, 1000][usize::try_from(random.below(3)).unwrap()];
    // The limit is the process's: now and then the pool shrinks under the other thread's feet.
    let pool_size = ["64M", "64M", "64M", "64M", "100K", "0"][usize::try_from(random.below(6)).unwrap()];
    insist(|| try_connect(path, spec, cache, pool_size))
}

pub fn create(path: &str, spec: &str, mode: &str) {
    let connection = try_connect(path, spec, 100, "64M").unwrap();
    connection
        .execute_batch(&format!("PRAGMA journal_mode = {mode}"))
        .unwrap();
    ledger::create(&connection).unwrap();
}

/// What is left when all are done.
pub fn check(path: &str, spec: &str) {
    let connection = try_connect(path, spec, 100, "64M").unwrap();
    selenite_testing::ledger::check_integrity(&connection).unwrap();
}

pub fn play(path: &str, spec: &str, modes: &[&str], steps: u64, mut random: Random) {
    let mut connection = connect(path, spec, &mut random);
    let mut seen = Seen::new();
    for step in 0..steps {
        println!("step {step}");
        match random.below(20) {
            0..=6 => transact(&connection, "BEGIN IMMEDIATE", random.chance(5, 6), || {
                ledger::write(&connection, &mut random.clone())
            }),
            7..=14 => transact(&connection, "BEGIN", true, || {
                ledger::read(&connection, &mut random.clone(), &mut seen)
            }),
            15 | 16 => {
                let kind = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][usize::try_from(random.below(4)).unwrap()];
                try_once(&connection, &format!("PRAGMA wal_checkpoint({kind})"));
            }
            17 => {
                let mode = modes[usize::try_from(random.below(u64::try_from(modes.len()).unwrap())).unwrap()];
                try_once(&connection, &format!("PRAGMA journal_mode = {mode}"));
            }
            18 if random.chance(1, 10) => try_once(&connection, "VACUUM"),
            _ => {
                drop(connection);
                connection = connect(path, spec, &mut random);
            }
        }
        random.draw();
    }
}

/// Reads or writes in a transaction, as often as it takes.
fn transact(connection: &Connection, begin: &str, is_kept: bool, mut body: impl FnMut() -> rusqlite::Result<()>) {
    insist(|| {
        let done = connection
            .execute_batch(begin)
            .and_then(|()| body())
            .and_then(|()| connection.execute_batch(if is_kept { "COMMIT" } else { "ROLLBACK" }));
        if done.is_err() && !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK")?;
        }
        done
    });
}

/// What may be refused because others are at work.
fn try_once(connection: &Connection, sql: &str) {
    match connection.execute_batch(sql) {
        Err(error) if !is_busy(&error) => panic!("{sql}: {error}"),
        Ok(()) | Err(_) => {}
    }
}
