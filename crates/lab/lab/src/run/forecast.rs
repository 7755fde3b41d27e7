//! A forecast of a study before it runs: its duration, and the effects that it can detect.

use std::collections::BTreeMap;
use std::time::Duration;

use selenite_stats::{Options, PilotNoise, PrecisionPlan, StudyCost, estimate, precision_plan, smallest_effect};
use selenite_worker::protocol::{Dataset, PLAIN, Workload};

use super::error::RunError;
use super::{database_copies, precision};
use crate::arm;
use crate::config::{CacheState, Cell, Config};
use crate::store::Store;
use crate::summary::Metric;

/// A forecast of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyForecast {
    /// The arms, by name.
    pub arms: Vec<String>,
    /// The cells, by name.
    pub cells: Vec<String>,
    /// Blocks of all sessions.
    pub blocks: u64,
    /// The approximate duration of all sessions.
    pub duration: Duration,
    /// Whether it exceeds the budget, so that fewer sessions will be run.
    pub over_budget: bool,
    /// The approximate required space on disk, in bytes.
    pub disk_bytes: u64,
    /// The metric that decides about arms.
    pub judged: Metric,
    /// The smallest effect on that metric that four of five such studies detect, as a ratio.
    pub smallest_effect: f64,
    /// The noise from which it is computed.
    pub noise: Noise,
    /// What a precision costs: half-widths of the interval as ratios, and the quickest plan for
    /// each; none if a thousand sessions do not reach it.
    pub precisions: Vec<(f64, Option<PrecisionPlan>)>,
    /// The source of the duration, for display.
    pub duration_from: String,
    /// The notes of [`Config::notes`].
    pub notes: Vec<String>,
}

/// The variation of pairs and of sessions, as standard deviations of ln(B/A) in the deciding metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Within a session.
    pub within_sd: f64,
    /// Between sessions.
    pub between_sd: f64,
    /// The sessions that it was measured in; 0 if it is assumed.
    pub sessions: u32,
    /// The source of these figures, for display.
    pub from: String,
}

/// Makes a forecast, with the figures of an earlier study on this machine if there is one.
///
/// Errors: of the configuration, and of the earlier store.
pub fn forecast(config: &Config, earlier: Option<&Store>) -> Result<StudyForecast, RunError> {
    let arms = arm::arms(config)?;
    let study = &config.study;
    let judged = match config.cells.iter().any(|cell| cell.online.is_some()) {
        true => Metric::Slowdown,
        false => Metric::Cpu,
    };
    let (noise, took) = match earlier {
        Some(store) => (
            noise_of(store, study.pairs)?.unwrap_or_else(|| assumed(judged)),
            took(store)?,
        ),
        None => (assumed(judged), BTreeMap::new()),
    };
    let each = u64::from(study.sessions) * u64::from(study.pairs) * count(arms.len());
    let seconds = config
        .cells
        .iter()
        .map(|cell| took.get(&cell.name).copied().unwrap_or_else(|| guess(config, cell)));
    let round_s = seconds.sum::<f64>() * rough(count(arms.len()));
    let blocks_s = round_s * f64::from(study.sessions) * f64::from(study.pairs);
    let bytes = rough(database_copies::master_bytes(config));
    let copies_s = bytes / COPY_RATE * rough(count(arms.len()));
    // Each copy of an encrypted arm is searched together with its control's, after each session;
    // the masters once.
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
        precisions: precisions(
            study.target_half_width,
            &noise,
            StudyCost {
                session_s: copies_s + proofs_s,
                pair_s: round_s,
            },
        ),
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

/// What the target costs, and some rounder precisions.
fn precisions(target: f64, noise: &Noise, cost: StudyCost) -> Vec<(f64, Option<PrecisionPlan>)> {
    let pilot = PilotNoise {
        within_sd: noise.within_sd,
        between_sd: noise.between_sd,
        sessions: noise.sessions,
    };
    let mut wanted = vec![0.05, 0.02, 0.01, 0.005, target];
    wanted.sort_by(|a, b| b.total_cmp(a));
    wanted.dedup();
    let plan = |half_width: f64| precision_plan(half_width.ln_1p(), pilot, cost, MOST, CONFIDENCE);
    wanted
        .into_iter()
        .map(|half_width| (half_width, plan(half_width)))
        .collect()
}

/// The noise of the noisiest effect of an earlier study: of any arm, the second unencrypted copy
/// included, in its gating cells, or in all cells if none gates.
fn noise_of(store: &Store, pairs: u32) -> Result<Option<Noise>, RunError> {
    let (arms, blocks, cells) = (store.arms()?, store.blocks()?, store.cells()?);
    let gates = cells.iter().any(|cell| cell.cell.gating);
    let options = Options {
        replicates: 0,
        ..Options::default()
    };
    let spread = |noise: &Noise| noise.within_sd.powi(2) / f64::from(pairs.max(1)) + noise.between_sd.powi(2);
    let mut worst: Option<Noise> = None;
    for cell in cells.iter().filter(|cell| cell.cell.gating || !gates) {
        for arm in &arms {
            let control = arm.facts.control.as_ref();
            let Some(control) = arms.iter().find(|other| Some(&other.facts.name) == control) else {
                continue;
            };
            let sessions = precision::sessions_of(&blocks, cell.id, arm.id, control.id);
            let Some(seen) = estimate(&sessions, &options).filter(|seen| seen.sessions >= 2) else {
                continue;
            };
            let found = Noise {
                within_sd: seen.within_sd,
                between_sd: seen.between_sd,
                sessions: seen.sessions,
                from: format!(
                    "{} in cell `{}` of {}, {} sessions",
                    arm.facts.name,
                    cell.cell.name,
                    store.path().display(),
                    seen.sessions
                ),
            };
            if worst.as_ref().is_none_or(|worst| spread(&found) > spread(worst)) {
                worst = Some(found);
            }
        }
    }
    Ok(worst)
}

/// The duration of a block with its overhead in an earlier study, in seconds, by cell.
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
        sessions: 0,
        from: from.to_owned(),
    }
}

/// The estimated duration of a block with its overhead, in seconds, from the durations of published
/// studies (`docs/studies`); a test compares.
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
        // The preparation of the copy and the change itself; then both digests, and the comparison
        // of every page.
        (Workload::Rekey, _) => rough(bytes) / COPY_RATE * 2.0 + scan * 5.0,
        // The copy, up to two backups, the restored database, and both digests.
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
    let server = if config.has_servers() { SERVER_RESTART } else { 0.0 };
    OVERHEAD + server + caches + work
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Precise enough for an estimate.
fn rough(value: u64) -> f64 {
    let (high, low) = (value >> 32, value & u64::from(u32::MAX));
    let part = |part: u64| f64::from(u32::try_from(part).unwrap_or(u32::MAX));
    part(high) * 4_294_967_296.0 + part(low)
}

/// Of intervals.
const CONFIDENCE: f64 = 0.95;
/// The most sessions and pairs of a plan: more are not a plan but a reason to look for a quieter machine.
const MOST: (u32, u32) = (1000, 64);
/// The probability that a study detects an effect of the reported size.
const POWER: f64 = 0.8;
/// Bytes scanned per second by one core.
const SCAN_RATE: f64 = 700e6;
/// Bytes copied per second, including the sync.
const COPY_RATE: f64 = 200e6;
/// Bytes searched per second for unencrypted text.
const PROOF_RATE: f64 = 400e6;
/// The duration of loading, relative to that of copying.
const LOAD_FACTOR: f64 = 5.0;
/// Seconds per transaction of one row, in a table with only its key.
const INSERT: f64 = 30e-6;
/// Additional seconds per index.
const INDEX_ENTRY: f64 = 50e-6;
/// Seconds per row of a statement with many rows.
const ROW: f64 = 0.6e-6;
/// Seconds per hummer loop that writes.
const WRITE: f64 = 95e-6;
/// Seconds per hummer loop that reads.
const READ: f64 = 8e-6;
/// Seconds to open a database.
const OPENING: f64 = 500e-6;
/// Seconds for a server's start, and a client's login and logout.
const SERVER_START: f64 = 0.5;
/// Seconds for the start and the orderly end of another engine's server; MariaDB takes half a second.
const SERVER_RESTART: f64 = 0.6;
/// Seconds per iteration of the loop, with both DONEs sent and read.
const TURN: f64 = 60e-9;
/// Seconds of overhead per block: opening, closing, polling.
const OVERHEAD: f64 = 0.05;
