//! Measured blocks of work.
//!
//! - preparation-excluded: preparation and cleanup of a block are outside of the measurement; a
//!   checkpoint of the written pages is inside.
//! - answers-are-digests: answers are digests of the rows that were read, so that arms whose
//!   results differ are detected.

mod archive;
mod connections;
mod copy;
mod hummer;
mod rekey;
mod rows;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use rusqlite::Connection;

use crate::meter::{self, Meter, WorkTimer};
use crate::protocol::{Control, DatabaseSpec, Sample, Share, Workload};
use crate::{Engine, WorkerError, layout};

/// The channel of controls for work in progress; it is closed at the end of the input.
pub type Controls = Receiver<Control>;

/// The options of a block.
pub struct Block<'a> {
    /// The seed of random choices.
    pub seed: u64,
    /// The position of this process among several.
    pub process: Share,
    /// The start, by CLOCK_MONOTONIC, in nanoseconds.
    pub start_at_ns: u64,
    /// Controls that arrive during the block.
    pub controls: &'a Controls,
}

/// The figures that only the work itself knows.
#[derive(Default)]
struct WorkFigures {
    operations: u64,
    retries: u64,
    answer: String,
    checkpoint: Checkpoint,
    altered: bool,
    latencies: BTreeMap<String, String>,
}

/// A checkpoint at the end of work; all zero if there was none.
#[derive(Clone, Copy, Default)]
struct Checkpoint {
    elapsed_ns: u64,
    cpu_ns: u64,
    /// Size of the log that it checkpointed, in bytes.
    wal_bytes: u64,
}

/// Whether the database has to be closed for this work, because a component other than SQLite reads
/// the file, or because the work opens it itself.
#[must_use]
pub fn wants_closed(work: &Workload) -> bool {
    match work {
        Workload::Convert { .. }
        | Workload::Rekey
        | Workload::Archive { .. }
        | Workload::PhysicalVerify
        | Workload::Open { .. } => true,
        Workload::Like { .. }
        | Workload::Equal { .. }
        | Workload::Insert { .. }
        | Workload::UpdateAll
        | Workload::SelectAll
        | Workload::Backup
        | Workload::Hummer { .. }
        | Workload::IntegrityCheck
        | Workload::QuickCheck
        | Workload::Readers { .. }
        | Workload::Messages { .. } => false,
    }
}

/// Does a block of work on an open database.
///
/// # Errors
/// Errors of the engine and of SQLite; [`WorkerError::Wrong`] if a check fails.
pub fn run(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    connection: &Connection,
    work: &Workload,
    block: &Block<'_>,
) -> Result<Sample, WorkerError> {
    check_share(block.process)?;
    let timed = |job: &mut dyn FnMut() -> Result<WorkFigures, WorkerError>| -> Result<Sample, WorkerError> {
        let counters = EngineCounters {
            pages: &|| engine.page_counts(connection),
            files: &|| engine.file_counts(connection, database),
        };
        let mut sample = measured(block, &database.path, &counters, job)?;
        sample.pages = layout::page_count(connection)?;
        Ok(sample)
    };
    match work {
        Workload::Like { rehearsals } => rows::rehearsed(connection, rows::LIKE, *rehearsals, &timed),
        Workload::Equal { rehearsals } => rows::rehearsed(connection, rows::EQUAL, *rehearsals, &timed),
        Workload::SelectAll => rows::rehearsed(connection, rows::SELECT_ALL, 0, &timed),
        Workload::Insert { rows } => rows::insert(connection, *rows, block, &timed),
        Workload::UpdateAll => rows::update_all(connection, block.seed, &timed),
        Workload::Backup => copy::backup(engine, database, connection, &timed),
        Workload::Hummer { hummer } => hummer::run(connection, *hummer, block, &timed),
        Workload::IntegrityCheck => rows::check(connection, "integrity_check", &timed),
        Workload::QuickCheck => rows::check(connection, "quick_check", &timed),
        Workload::Readers { connections: count } => connections::readers(engine, database, *count, &timed),
        Workload::Messages { .. } => Err(WorkerError::Refused("this engine is no server".to_owned())),
        Workload::Convert { .. }
        | Workload::Rekey
        | Workload::Archive { .. }
        | Workload::PhysicalVerify
        | Workload::Open { .. } => Err(WorkerError::Refused("this work wants the database closed".to_owned())),
    }
}

/// Does a block of work on a closed database.
///
/// # Errors
/// As for [`run`].
pub fn run_closed(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    work: &Workload,
    block: &Block<'_>,
) -> Result<Sample, WorkerError> {
    check_share(block.process)?;
    let counters = EngineCounters {
        pages: &|| None,
        files: &|| Ok(None),
    };
    let timed =
        |job: &mut dyn FnMut() -> Result<WorkFigures, WorkerError>| measured(block, &database.path, &counters, job);
    match work {
        Workload::Convert { to } => copy::convert(engine, database, to, &timed),
        Workload::Rekey => rekey::rekey(engine, database, &timed),
        Workload::Archive { incremental } => archive::archive(engine, database, *incremental, &timed),
        Workload::Open { times } => connections::open(engine, database, *times, &timed),
        Workload::PhysicalVerify => timed(&mut || {
            engine.verify_physical(database)?;
            Ok(WorkFigures {
                operations: 1,
                answer: "read".to_owned(),
                ..WorkFigures::default()
            })
        }),
        Workload::Like { .. }
        | Workload::Equal { .. }
        | Workload::Insert { .. }
        | Workload::UpdateAll
        | Workload::SelectAll
        | Workload::Backup
        | Workload::Hummer { .. }
        | Workload::IntegrityCheck
        | Workload::QuickCheck
        | Workload::Readers { .. }
        | Workload::Messages { .. } => Err(WorkerError::Refused("this work wants the database open".to_owned())),
    }
}

/// Runs a job between two readings of the counters.
type Timed<'a> = &'a dyn Fn(&mut dyn FnMut() -> Result<WorkFigures, WorkerError>) -> Result<Sample, WorkerError>;

/// What an engine counts of the database that is open.
struct EngineCounters<'a> {
    pages: &'a dyn Fn() -> Option<crate::engine::PageCounts>,
    files: &'a dyn Fn() -> Result<Option<String>, WorkerError>,
}

fn measured(
    block: &Block<'_>,
    database: &Path,
    counters: &EngineCounters<'_>,
    job: &mut dyn FnMut() -> Result<WorkFigures, WorkerError>,
) -> Result<Sample, WorkerError> {
    let files_before = (counters.files)()?;
    meter::wait_until(block.start_at_ns)?;
    let meter = Meter::start((counters.pages)())?;
    let outcome = job()?;
    let reading = meter.stop()?;
    let pages_after = (counters.pages)();
    // Each text has its header.
    let file_counts = match (files_before, (counters.files)()?) {
        (Some(before), Some(after)) => vec![before + &after],
        (None, _) | (_, None) => Vec::new(),
    };
    Ok(Sample {
        file_counts,
        operations: outcome.operations,
        retries: outcome.retries,
        answer: outcome.answer,
        checkpoint_ns: outcome.checkpoint.elapsed_ns,
        checkpoint_cpu_ns: outcome.checkpoint.cpu_ns,
        database_bytes: size(database),
        wal_bytes: size(&log_of(database)).max(outcome.checkpoint.wal_bytes),
        altered: outcome.altered,
        latencies: outcome.latencies,
        ..reading.sample(pages_after)
    })
}

fn checkpoint(connection: &Connection) -> Result<Checkpoint, WorkerError> {
    // A log keeps its size until it is truncated.
    let wal_bytes = connection.path().map_or(0, |path| size(&log_of(Path::new(path))));
    let part = WorkTimer::start();
    layout::checkpoint(connection)?;
    let (elapsed_ns, cpu_ns) = part.stop();
    Ok(Checkpoint {
        elapsed_ns,
        cpu_ns,
        wal_bytes,
    })
}

fn log_of(database: &Path) -> PathBuf {
    beside(database, "-wal")
}

/// A path beside `path`, whose name has `ending` appended.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Size of a file in bytes; 0 if there is no file.
fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |facts| facts.len())
}

fn check_share(share: Share) -> Result<(), WorkerError> {
    if share.index < share.count {
        return Ok(());
    }
    Err(WorkerError::Refused(format!(
        "process {} of {}: they count from 0",
        share.index, share.count
    )))
}

#[cfg(test)]
mod tests;
