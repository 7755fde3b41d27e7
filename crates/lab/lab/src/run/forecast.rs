//! What a study will take, and what it will be able to see, before it runs.

use std::collections::BTreeMap;
use std::time::Duration;

use selenite_stats::{Options, estimate, smallest_effect};
use selenite_worker::protocol::{Dataset, PLAIN, Workload};

use super::error::RunError;
use super::{database_copies, precision};
use crate::arm;
use crate::config::{CacheState, Cell, Config};
use crate::store::Store;
use crate::summary::{ArmRole, Metric};

/// What can be said of a study before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyForecast {
    /// The arms, by name.
    pub arms: Vec<String>,
    /// The cells, by name.
    pub cells: Vec<String>,
    /// Blocks of all sessions.
    pub blocks: u64,
    /// How long all sessions take, about.
    pub duration: Duration,
    /// Whether that is more than the budget, so that fewer sessions will be run.
    pub over_budget: bool,
    /// Bytes that are needed on disk, about.
    pub disk_bytes: u64,
    /// What arms are judged by.
    pub judged: Metric,
    /// The smallest effect on that which is seen in four of five studies like it, as a ratio.
    pub smallest_effect: f64,
    /// What that is worked out from.
    pub noise: Noise,
    /// Where the duration comes from, for people.
    pub duration_from: String,
    /// As of [`Config::notes`].
    pub notes: Vec<String>,
}

/// How much pairs and sessions differ, as standard deviations of ln(B/A) in what arms are judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Within a session.
    pub within_sd: f64,
    /// Between sessions.
    pub between_sd: f64,
    /// Where that comes from, for people.
    pub from: String,
}

/// Looks ahead, with what an earlier study on this machine saw if there is one.
///
/// Errors: the configuration; the earlier store.
pub fn forecast(config: &Config, earlier: Option<&Store>) -> Result<StudyForecast, RunError> {
    let arms = arm::arms(config)?;
    let study = &config.study;
    let judged = match config.cells.iter().any(|cell| cell.online.is_some()) {
        true => Metric::Slowdown,
        false => Metric::Cpu,
    };
    let (noise, took) = match earlier {
        Some(store) => (noise_of(store)?.unwrap_or_else(|| assumed(judged)), took(store)?),
        None => (assumed(judged), BTreeMap::new()),
    };
    let each = u64::from(study.sessions) * u64::from(study.pairs) * count(arms.len());
    let seconds = config
        .cells
        .iter()
        .map(|cell| took.get(&cell.name).copied().unwrap_or_else(|| guess(config, cell)));
    let blocks_s: f64 = seconds.sum::<f64>() * rough(each);
    let bytes = rough(database_copies::master_bytes(config.data.values()));
    let copies_s = bytes / COPY_RATE * rough(count(arms.len()));
    // Each copy of an encrypted arm is searched beside its control's, after each session; the masters once.
    let proved = arms.iter().filter(|arm| arm.control.is_some() && arm.cipher != PLAIN);
    let proofs_s = bytes * 2.0 / PROOF_RATE * rough(count(proved.count()));
    let sessions = f64::from(study.sessions);
    let duration_s = blocks_s + copies_s * (sessions + LOAD_FACTOR) + proofs_s * (sessions + 1.0);
    let duration = Duration::try_from_secs_f64(duration_s).unwrap_or(Duration::MAX);
    let known = config.cells.iter().filter(|cell| took.contains_key(&cell.name)).count();
    Ok(StudyForecast {
        arms: arms.iter().map(|arm| arm.name.clone()).collect(),
        cells: config.cells.iter().map(|cell| cell.name.clone()).collect(),
        blocks: each * count(config.cells.len()),
        duration,
        over_budget: duration > study.budget,
        disk_bytes: database_copies::bytes_needed(config, arms.len()),
        judged,
        smallest_effect: smallest_effect(noise.within_sd, noise.between_sd, study.sessions, study.pairs, POWER)
            .exp_m1(),
        noise,
        duration_from: match known {
            0 => "guessed from the size of the data".to_owned(),
            known => format!(
                "from an earlier study for {known} of {} cells, guessed for the others",
                config.cells.len()
            ),
        },
        notes: config.notes(),
    })
}

/// That of the second unencrypted copy, in the noisiest cell of an earlier study.
fn noise_of(store: &Store) -> Result<Option<Noise>, RunError> {
    let (arms, blocks) = (store.arms()?, store.blocks()?);
    let Some(floor) = arms.iter().find(|arm| arm.facts.role == ArmRole::Floor) else {
        return Ok(None);
    };
    let Some(plain) = arms
        .iter()
        .find(|arm| Some(&arm.facts.name) == floor.facts.control.as_ref())
    else {
        return Ok(None);
    };
    let options = Options {
        replicates: 0,
        ..Options::default()
    };
    let mut worst: Option<Noise> = None;
    for cell in store.cells()? {
        let sessions = precision::sessions_of(&blocks, cell.id, floor.id, plain.id);
        let Some(seen) = estimate(&sessions, &options).filter(|seen| seen.sessions >= 2) else {
            continue;
        };
        if worst.as_ref().is_none_or(|worst| seen.within_sd > worst.within_sd) {
            let from = format!(
                "the second unencrypted copy, cell `{}` of {}",
                cell.cell.name,
                store.path().display()
            );
            worst = Some(Noise {
                within_sd: seen.within_sd,
                between_sd: seen.between_sd,
                from,
            });
        }
    }
    Ok(worst)
}

/// Seconds of a block with all that belongs to it, by cell, as an earlier study took them.
fn took(store: &Store) -> Result<BTreeMap<String, f64>, RunError> {
    let cells: BTreeMap<i64, String> = store.cells()?.into_iter().map(|row| (row.id, row.cell.name)).collect();
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for pair in store.blocks()?.windows(2) {
        let [block, next] = pair else { continue };
        if block.session != next.session || block.void.is_some() {
            continue;
        }
        if let Some(name) = cells.get(&block.cell) {
            let sum = sums.entry(name.clone()).or_default();
            *sum = (sum.0 + next.began_s - block.began_s, sum.1 + 1.0);
        }
    }
    Ok(sums
        .into_iter()
        .map(|(name, (seconds, blocks))| (name, seconds / blocks))
        .collect())
}

fn assumed(judged: Metric) -> Noise {
    let (within_sd, between_sd, from) = match judged == Metric::Slowdown {
        true => (
            0.05,
            0.02,
            "assumed: pairs 5 %, sessions 2 %: throughput is less steady than CPU time",
        ),
        false => (
            0.023,
            0.01,
            "assumed: pairs 2.3 %, sessions 1 %, as on a busy virtual machine",
        ),
    };
    Noise {
        within_sd,
        between_sd,
        from: from.to_owned(),
    }
}

/// Seconds of a block with all that belongs to it, from what published studies took (`docs/studies`); a test compares.
fn guess(config: &Config, cell: &Cell) -> f64 {
    let bytes = config.data.get(&cell.data).map_or(0, database_copies::bytes_of);
    let scan = rough(bytes) / SCAN_RATE;
    let (rows, indexes) = match config.data.get(&cell.data) {
        Some(Dataset::Statements { rows, indexes }) => (*rows, f64::from(*indexes)),
        Some(Dataset::Cards { rows }) => (*rows, 0.0),
        Some(Dataset::Scan { .. } | Dataset::Wire) | None => (0, 0.0),
    };
    let work = match (&cell.work, &cell.online) {
        (Workload::Like { rehearsals } | Workload::Equal { rehearsals }, _) => scan * (1.0 + f64::from(*rehearsals)),
        (Workload::Insert { rows }, _) => rough(*rows) * f64::from(cell.processes) * (INSERT + indexes * INDEX_ENTRY),
        (Workload::Readers { connections }, _) => {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            let at_once = u64::from(*connections).min(count(processors));
            scan * f64::from(*connections) / rough(at_once.max(1))
        }
        (Workload::Open { times }, _) => rough(*times) * OPENING,
        (Workload::Messages { turns, .. }, _) => SERVER_START + rough(*turns) * TURN,
        (Workload::UpdateAll | Workload::SelectAll, _) => rough(rows) * ROW,
        (Workload::Backup | Workload::PhysicalVerify, _) => scan,
        (Workload::Convert { .. }, _) => scan * 4.0,
        // The copy before it, the change itself; then its rows and the copy's, and every page beside what it was.
        (Workload::Rekey, _) => rough(bytes) / COPY_RATE * 2.0 + scan * 5.0,
        // The copy, perhaps two backups, the restored database, its rows and the copy's.
        (Workload::Archive { .. }, _) => rough(bytes) / COPY_RATE * 3.0 + scan * 12.0,
        (Workload::IntegrityCheck | Workload::QuickCheck, _) => scan * 2.0 + rough(rows) * ROW,
        (Workload::Hummer { .. }, Some(how)) => {
            let phases = f64::from(u32::try_from(super::online::PHASES.len()).unwrap_or(u32::MAX));
            rough(how.phase_ms) / 1000.0 * phases + scan * 6.0
        }
        (Workload::Hummer { hummer }, None) => {
            let pauses = hummer.loops.checked_div(hummer.pause_every).unwrap_or(0);
            let paused = rough(pauses.saturating_mul(hummer.pause_ms)) / 1000.0;
            let writes = f64::from(hummer.mix[1] + hummer.mix[2]) / 10.0;
            let each = writes * WRITE + (1.0 - writes) * READ;
            paused + rough(hummer.loops) * f64::from(cell.processes) * each
        }
    };
    let caches = match cell.cache {
        CacheState::Cold => scan * 2.0,
        CacheState::Os | CacheState::Page => scan / 4.0,
    };
    OVERHEAD + caches + work
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Near enough for a guess.
fn rough(value: u64) -> f64 {
    let (high, low) = (value >> 32, value & u64::from(u32::MAX));
    let part = |part: u64| f64::from(u32::try_from(part).unwrap_or(u32::MAX));
    part(high) * 4_294_967_296.0 + part(low)
}

/// How often a study would see an effect of the size that is told.
const POWER: f64 = 0.8;
/// Bytes of a scan in a second, one core.
const SCAN_RATE: f64 = 700e6;
/// Bytes of a copy in a second, with its sync.
const COPY_RATE: f64 = 200e6;
/// Bytes in a second that are searched for what is not encrypted.
const PROOF_RATE: f64 = 400e6;
/// Loading takes so many times as long as copying.
const LOAD_FACTOR: f64 = 5.0;
/// Seconds of a transaction of one row, in a table with its key alone.
const INSERT: f64 = 30e-6;
/// Seconds that each index adds.
const INDEX_ENTRY: f64 = 50e-6;
/// Seconds of a row among many of one statement.
const ROW: f64 = 0.6e-6;
/// Seconds of a hummer's loop that writes.
const WRITE: f64 = 95e-6;
/// Seconds of one that reads.
const READ: f64 = 8e-6;
/// Seconds of an opening.
const OPENING: f64 = 500e-6;
/// Seconds until a server listens, and has let a client in and out.
const SERVER_START: f64 = 0.5;
/// Seconds of a turn of the loop, both DONEs sent and read.
const TURN: f64 = 60e-9;
/// Seconds of what belongs to every block: opening, closing, looking.
const OVERHEAD: f64 = 0.05;
