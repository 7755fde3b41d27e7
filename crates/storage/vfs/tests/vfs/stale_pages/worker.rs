//! One thread: its connection, and its next operation.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use selenite_testing::Random;

use super::counts::Counts;
use super::ledger::{self, NewestRead};

/// The database, settings and duration of a process.
pub struct WorkerSettings<'a> {
    pub path: &'a str,
    pub spec: &'a str,
    pub modes: Vec<&'a str>,
    /// The pool's size; "mixed" changes it.
    pub pool: &'a str,
    pub steps: u64,
    pub until: Instant,
}

impl WorkerSettings<'_> {
    /// Whether a thread that has done `step` steps may end: the minimum also holds on a busy
    /// machine.
    fn is_over(&self, step: u64) -> bool {
        step >= STEPS_MIN && Instant::now() >= self.until
    }
}

/// Registers the VFS, above the system's own.
pub fn install() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        selenite_vfs::ffi::install_linked(selenite_vfs::installer(), rusqlite::ffi::sqlite3_auto_extension).unwrap();
        Connection::open_in_memory().unwrap();
    });
}

fn try_connect(path: &str, spec: &str, cache: u64, pool_size: &str, mapped: u64) -> rusqlite::Result<Connection> {
    let uri = format!(
        "file:{path}?vfs=selenite&selenite_identity={spec}&page_size=1024&auto_vacuum=full&pool_size={pool_size}"
    );
    let connection = Connection::open_with_flags(uri, OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.execute_batch(&format!(
        "PRAGMA cache_size = {cache}; PRAGMA synchronous = off; PRAGMA wal_autocheckpoint = 60;
         PRAGMA mmap_size = {mapped}"
    ))?;
    Ok(connection)
}

/// Repeats `body` until it is not busy. Nothing sleeps: the other thread is working.
fn retry_busy<T>(mut body: impl FnMut() -> rusqlite::Result<T>) -> T {
    loop {
        match body() {
            Ok(value) => return value,
            Err(error) if is_busy(&error) => std::thread::yield_now(),
            Err(error) => panic!("{error:?}; {:?}", selenite_testing::opening::last_error()),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
    )
}

fn connect(settings: &WorkerSettings<'_>, random: &mut Random) -> Connection {
    let cache = [8, 40, 1000][usize::try_from(random.below(3)).unwrap()];
    // The limit applies to the process: occasionally the pool shrinks while the other thread uses
    // it.
    let pool_size = ["64M", "64M", "64M", "64M", "100K", "0"][usize::try_from(random.below(6)).unwrap()];
    let pool_size = if settings.pool == "mixed" {
        pool_size
    } else {
        settings.pool
    };
    // No mapping, one of the first pages, one of the whole file.
    let mapped = [0, 100_000, 1 << 30][usize::try_from(random.below(3)).unwrap()];
    retry_busy(|| try_connect(settings.path, settings.spec, cache, pool_size, mapped))
}

pub fn create(path: &str, spec: &str, mode: &str) {
    let connection = try_connect(path, spec, 100, "64M", 0).unwrap();
    connection
        .execute_batch(&format!("PRAGMA journal_mode = {mode}"))
        .unwrap();
    ledger::create(&connection).unwrap();
}

/// Checks the database after all threads have ended.
pub fn check(path: &str, spec: &str) {
    let connection = try_connect(path, spec, 100, "64M", 0).unwrap();
    selenite_testing::ledger::check_integrity(&connection).unwrap();
}

/// Pages that this process found in the pool, and pages that it read ahead and used.
pub fn status(settings: &WorkerSettings<'_>) -> (u64, u64) {
    let connection = retry_busy(|| try_connect(settings.path, settings.spec, 100, "64M", 0));
    let value = |section: &str, name: &str| -> i64 {
        let sql = "SELECT value FROM selenite_status WHERE section = ?1 AND name = ?2";
        retry_busy(|| connection.query_row(sql, [section, name], |row| row.get(0)))
    };
    let [hits, ahead] = [("pool", "hits"), ("database", "read_ahead_used")].map(|(section, name)| value(section, name));
    (hits.unsigned_abs(), ahead.unsigned_abs())
}

pub fn run(settings: &WorkerSettings<'_>, mut random: Random) -> Counts {
    let mut connection = connect(settings, &mut random);
    let (mut seen, mut counts) = (NewestRead::new(), Counts::default());
    for step in 0..settings.steps {
        if settings.is_over(step) {
            break;
        }
        if step < SAID_MAX {
            println!("step {step}");
        }
        match random.below(20) {
            0..=6 => {
                let is_kept = random.chance(5, 6);
                let done = transact((settings, step), &connection, "BEGIN IMMEDIATE", is_kept, || {
                    ledger::write(&connection, &mut random.clone())
                });
                counts.commits += u64::from(done && is_kept);
            }
            7..=14 => {
                let done = transact((settings, step), &connection, "BEGIN", true, || {
                    ledger::read(&connection, &mut random.clone(), &mut seen)
                });
                counts.reads += u64::from(done);
            }
            15 | 16 => {
                let kind = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][usize::try_from(random.below(4)).unwrap()];
                counts.checkpoints += u64::from(checkpoint(&connection, kind));
            }
            17 => {
                let modes = &settings.modes;
                let mode = modes[usize::try_from(random.below(u64::try_from(modes.len()).unwrap())).unwrap()];
                try_once(&connection, &format!("PRAGMA journal_mode = {mode}"));
            }
            // Under full auto-vacuum the file grows and shrinks with the table.
            18 => try_once(
                &connection,
                match random.below(10) {
                    0 => "VACUUM",
                    1..=5 => ledger::GROW,
                    _ => "DELETE FROM spare",
                },
            ),
            _ => {
                drop(connection);
                connection = connect(settings, &mut random);
            }
        }
        random.draw();
    }
    counts
}

/// Returns whether frames were copied, or the checkpoint was not busy.
fn checkpoint(connection: &Connection, kind: &str) -> bool {
    let sql = format!("PRAGMA wal_checkpoint({kind})");
    match connection.query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(2)?))) {
        // For a database without a log the count is -1.
        Ok((busy, copied)) => copied >= 0 && (busy == 0 || copied > 0),
        Err(error) => {
            assert!(is_busy(&error), "{sql}: {error:?}");
            false
        }
    }
}

/// Reads or writes in a transaction, repeated until it succeeds; returns whether it did before the
/// time was over.
fn transact(
    (settings, step): (&WorkerSettings<'_>, u64),
    connection: &Connection,
    begin: &str,
    is_kept: bool,
    mut body: impl FnMut() -> rusqlite::Result<()>,
) -> bool {
    retry_busy(|| {
        if settings.is_over(step) {
            return Ok(false);
        }
        let done = connection
            .execute_batch(begin)
            .and_then(|()| body())
            .and_then(|()| connection.execute_batch(if is_kept { "COMMIT" } else { "ROLLBACK" }));
        if done.is_err() && !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK")?;
        }
        done.map(|()| true)
    })
}

/// Executes a statement that may be refused as busy.
fn try_once(connection: &Connection, sql: &str) {
    match connection.execute_batch(sql) {
        Err(error) if !is_busy(&error) => panic!("{sql}: {error:?}"),
        Ok(()) | Err(_) => {}
    }
}

/// A process that is to be killed has been killed by then.
const SAID_MAX: u64 = 100;
/// The minimal number of steps of a thread, independent of the time.
const STEPS_MIN: u64 = 30;
