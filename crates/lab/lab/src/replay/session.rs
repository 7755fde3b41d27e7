//! A session of a replay: a process with databases of its own, that prints a line for each block.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::time::{Duration, Instant};

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha20Rng;
use rusqlite::Connection;
use selenite_plan::replay::{ReplayScript, ReplayStep, ReplayedDatabase};
use selenite_worker::WorkerError;
use selenite_worker::engine::Engine as _;
use selenite_worker::meter::WorkTimer;
use selenite_worker::protocol::{DatabaseSpec, PLAIN};

use super::{CLEAR_PACKETS, ReplayLine};
use crate::calibrate;
use crate::calibrate::arm_database::{ArmDatabase, checkpoint_all, close};
use crate::calibrate::sample::{PLAIN2, ReplaySettings, SessionSpec};
use crate::calibrate::session::{SessionFolder, make_key};
use crate::calibrate::tls_endpoint::{self, TlsEndpoint};
use crate::native::Native;

/// Runs the session of a calibration or of a replay, and prints its lines on standard output.
///
/// # Errors
/// Errors of SQLite, the engine and the system. The folder is removed in any case.
pub fn serve(spec: &str) -> Result<(), WorkerError> {
    let spec: SessionSpec = serde_json::from_str(spec).map_err(|error| WorkerError::NoRequest(error.to_string()))?;
    match &spec.replay {
        Some(settings) => run(&spec, settings, std::io::stdin(), &mut |line| print(line)),
        None => calibrate::session::run(&spec, &mut |line| print(line)),
    }
}

fn print(line: &impl serde::Serialize) -> Result<(), WorkerError> {
    let text = serde_json::to_string(line).map_err(|error| WorkerError::Engine(error.to_string()))?;
    // The reader has closed the pipe: the measurement was interrupted.
    writeln!(std::io::stdout(), "{text}").map_err(WorkerError::io("write to", "standard output"))
}

/// Repeats the script that `input` has, as `spec` asks, and passes each block to `print`.
///
/// # Errors
/// Errors of SQLite, the engine and the system, and those of `print`. The folder is removed in any case.
pub fn run(
    spec: &SessionSpec,
    settings: &ReplaySettings,
    input: impl Read,
    print: &mut dyn FnMut(&ReplayLine) -> Result<(), WorkerError>,
) -> Result<(), WorkerError> {
    let script: ReplayScript =
        serde_json::from_reader(input).map_err(|error| WorkerError::NoRequest(error.to_string()))?;
    let deadline = Instant::now() + Duration::from_millis(spec.milliseconds);
    std::fs::create_dir(&spec.folder).map_err(WorkerError::io("make", &spec.folder))?;
    let folder = SessionFolder(spec.folder.clone());
    let mut random = ChaCha20Rng::seed_from_u64(spec.seed);
    let key_file = folder.0.join("key");
    make_key(&key_file)?;
    let mut arms: Vec<&str> = [PLAIN, PLAIN2].into_iter().collect();
    arms.extend(spec.suites.iter().map(String::as_str));
    arms.shuffle(&mut random);
    let mut databases: BTreeMap<&str, Vec<DatabaseSpec>> = BTreeMap::new();
    for arm in &arms {
        for (number, database) in script.databases.iter().enumerate() {
            let is_clear = [PLAIN, PLAIN2].contains(arm);
            let pool = settings.pool_size.iter().filter(|_| !is_clear);
            let wanted = DatabaseSpec {
                path: folder.0.join(format!("{arm}-{number}.db")),
                cipher: if is_clear { PLAIN } else { arm }.to_owned(),
                key_file: key_file.clone(),
                settings: pool.map(|size| ("pool_size".to_owned(), size.clone())).collect(),
                page_size: database.page_size.max(PAGE_SIZE_MIN),
                cache_kib: 0,
                journal_mode: if database.is_wal { "wal" } else { "delete" }.to_owned(),
                synchronous: "normal".to_owned(),
            };
            databases.entry(arm).or_default().push(create(wanted, database)?);
        }
    }
    let endpoints = TlsEndpoint::all()?;
    if !script.packets.is_empty() {
        arms.push(CLEAR_PACKETS);
        arms.extend(endpoints.iter().map(|(name, _)| *name));
    }
    let mut longest = Duration::ZERO;
    for round in 0.. {
        let began = Instant::now();
        if round >= ROUNDS_MIN && began + longest > deadline {
            break;
        }
        match round % 2 {
            0 => arms.shuffle(&mut random),
            _ => arms.reverse(),
        }
        for arm in &arms {
            let endpoint = endpoints
                .iter()
                .find(|(name, _)| name == arm)
                .map(|(_, endpoint)| endpoint);
            let cpu_ns = match databases.get(arm) {
                Some(databases) => repeat_all(databases, &script.databases)?,
                None => packets(endpoint, &script)?,
            };
            print(&ReplayLine {
                round,
                arm: (*arm).to_owned(),
                cpu_ns,
            })?;
        }
        longest = longest.max(began.elapsed());
    }
    Ok(())
}

/// Makes a database for a script. Its cache has the inner pages, and the pages of a transaction.
fn create(wanted: DatabaseSpec, database: &ReplayedDatabase) -> Result<DatabaseSpec, WorkerError> {
    let written = |step: &ReplayStep| match step {
        ReplayStep::Transaction { writes, .. } => u32::try_from(writes.len()).unwrap_or(u32::MAX),
        ReplayStep::Checkpoint => 0,
    };
    let most = database.steps.iter().map(written).max().unwrap_or(0);
    let made = ArmDatabase::create(
        DatabaseSpec {
            cache_kib: 2000,
            ..wanted.clone()
        },
        database.pages,
    )?;
    let cached = made.inner_pages() + most.saturating_add(16).clamp(CACHED_MIN, CACHED_MAX);
    Ok(DatabaseSpec {
        cache_kib: cached * wanted.page_size / 1024,
        ..wanted
    })
}

/// CPU nanoseconds of all databases of an arm.
fn repeat_all(databases: &[DatabaseSpec], scripts: &[ReplayedDatabase]) -> Result<f64, WorkerError> {
    let mut ns = 0.0;
    for (spec, script) in databases.iter().zip(scripts) {
        ns += repeat(spec, script)?;
    }
    Ok(ns)
}

/// CPU nanoseconds of the steps of one database.
fn repeat(spec: &DatabaseSpec, script: &ReplayedDatabase) -> Result<f64, WorkerError> {
    let connection = Native.open(spec)?;
    if script.is_wal {
        connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
        // An application's log has its full size: it is overwritten, not extended.
        connection.execute("UPDATE t SET stamp = stamp + 1 WHERE id <= ?1", [LOG_PAGES])?;
        checkpoint_all(&connection)?;
    }
    let mut statements = Statements::new(&connection)?;
    let part = WorkTimer::start();
    for step in &script.steps {
        match step {
            ReplayStep::Checkpoint => checkpoint_all(&connection)?,
            ReplayStep::Transaction { reads, writes } => statements.transaction(reads, writes)?,
        }
    }
    let (_, cpu_ns) = part.stop();
    drop(statements);
    close(connection)?;
    // Nanoseconds of some minutes.
    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
    let ns = cpu_ns as f64;
    Ok(ns)
}

struct Statements<'c> {
    connection: &'c Connection,
    nothing: rusqlite::Statement<'c>,
    read: rusqlite::Statement<'c>,
    scan: rusqlite::Statement<'c>,
    change: rusqlite::Statement<'c>,
}

impl<'c> Statements<'c> {
    fn new(connection: &'c Connection) -> Result<Self, WorkerError> {
        Ok(Self {
            connection,
            nothing: connection.prepare("SELECT count(*) FROM t WHERE id < 0")?,
            read: connection.prepare("SELECT stamp FROM t WHERE id = ?1")?,
            scan: connection.prepare("SELECT sum(stamp) FROM t WHERE id BETWEEN ?1 AND ?2")?,
            change: connection.prepare("UPDATE t SET stamp = stamp + 1 WHERE id = ?1")?,
        })
    }

    fn transaction(&mut self, reads: &[(u32, u32)], writes: &[u32]) -> Result<(), WorkerError> {
        let is_explicit = reads.len() + writes.len() > 1;
        if is_explicit {
            self.connection.execute_batch("BEGIN")?;
        }
        if reads.is_empty() && writes.is_empty() {
            self.nothing.query_row([], |_| Ok(()))?;
        }
        for (first, count) in reads {
            // Rows are numbered from 1.
            match count {
                1 => self.read.query_row([first + 1], |_| Ok(()))?,
                _ => self.scan.query_row([first + 1, first + count], |_| Ok(()))?,
            }
        }
        for page in writes {
            self.change.execute([page + 1])?;
        }
        if is_explicit {
            self.connection.execute_batch("COMMIT")?;
        }
        Ok(())
    }
}

/// CPU nanoseconds of the script's packets and logins; none is in clear.
fn packets(endpoint: Option<&TlsEndpoint>, script: &ReplayScript) -> Result<f64, WorkerError> {
    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
    let number = |count: u64| count as f64;
    let mut ns = 0.0;
    for (bytes, count) in &script.packets {
        let each = match endpoint {
            Some(endpoint) => endpoint.packet(*bytes)?,
            None => tls_endpoint::copy(*bytes)?,
        };
        ns += each * number(*count);
    }
    if let Some(endpoint) = endpoint {
        ns += endpoint.handshake()? * number(script.connections);
    }
    Ok(ns)
}

/// One in random order and one in the reverse order.
const ROUNDS_MIN: u32 = 2;
/// FORMAT 2: the smallest page of an encrypted database.
const PAGE_SIZE_MIN: u32 = 1024;
/// Pages in the cache, inner pages excluded: those that were read last, which a commit writes.
const CACHED_MIN: u32 = 300;
const CACHED_MAX: u32 = 2048;
/// SQLite's own checkpoints come after as many.
const LOG_PAGES: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_of_a_script_takes_time_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let database = |is_wal, page_size| ReplayedDatabase {
            page_size,
            pages: 400,
            is_wal,
            steps: vec![
                ReplayStep::Transaction {
                    reads: vec![(3, 1), (10, 40)],
                    writes: vec![3, 399],
                },
                ReplayStep::Transaction {
                    reads: Vec::new(),
                    writes: Vec::new(),
                },
                ReplayStep::Checkpoint,
            ],
        };
        let mut rollback = database(false, 1024);
        rollback.steps.pop();
        let script = ReplayScript {
            seconds: 1.0,
            left_out: 0,
            databases: vec![database(true, 4096), rollback],
            packets: BTreeMap::from([(128, 3), (4096, 2)]),
            connections: 1,
        };
        let spec = SessionSpec {
            folder: folder.path().join("session"),
            seed: 5,
            milliseconds: 1,
            suites: vec!["AES_256".to_owned()],
            replay: Some(ReplaySettings::default()),
        };
        let settings = spec.replay.clone().unwrap();
        let input = serde_json::to_vec(&script).unwrap();
        let mut lines = Vec::new();
        let mut print = |line: &ReplayLine| {
            lines.push(line.clone());
            Ok(())
        };
        run(&spec, &settings, input.as_slice(), &mut print).unwrap();
        for arm in [PLAIN, PLAIN2, "AES_256", CLEAR_PACKETS, "TLS_1_2", "TLS_1_3"] {
            let of_arm: Vec<_> = lines.iter().filter(|line| line.arm == arm).collect();
            assert_eq!(of_arm.len(), 2, "{arm}");
            assert!(of_arm.iter().all(|line| line.cpu_ns > 0.0), "{arm}");
        }
        assert_eq!(lines.len(), 12);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(run(&spec, &settings, b"no script".as_slice(), &mut |_| Ok(())).is_err());
        for text in [
            "",
            "{}",
            "{\"folder\":\"/\",\"seed\":1,\"milliseconds\":1,\"suites\":[],\"more\":1}",
        ] {
            assert!(serve(text).is_err(), "{text}");
        }
    }
}
