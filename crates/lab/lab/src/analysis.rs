//! Analysis of a store: pairs, effects, verdicts.
//!
//! - pair-needs-both-blocks: a pair counts only if both its blocks do; a block is voided without
//!   regard to its figures.
//! - sessions-are-the-sample: sessions are the sample: every interval is across sessions.
//! - merged-percentiles: percentiles come from merged histograms; none is a mean of percentiles.
//! - no-ratio-of-zero: if a counter is zero or missing there is no ratio: neither infinity nor a
//!   ratio of the remaining counters.

mod coverage;
mod effect;
mod latency;
mod level;
pub(crate) mod pair;
mod phase;
pub mod pool;
mod published;
pub mod session_interval;

use std::fmt;

use selenite_stats::median;

use crate::config::{CacheState, Config, ConfigError};
use crate::load;
use crate::store::{ArmRow, BlockRow, CellRow, HistogramRow, SessionRow, Store, StoreError, StudyRow};
use crate::summary::{
    ArmFacts, ArmRole, CellSummary, Event, Evidence, Extension, Metric, ONLINE, Overall, SUMMARY_SCHEMA, StudyFacts,
    Summary, as_f64,
};
pub(crate) use coverage::{mix, work};
use effect::Terms;
use pair::Pairs;
pub(crate) use pair::value;
use session_interval::SessionInterval;

/// The contents of a store that are analysed.
#[derive(Clone, Debug)]
pub struct Material {
    /// The study.
    pub study: StudyRow,
    /// Its configuration.
    pub config: Config,
    /// Its arms.
    pub arms: Vec<ArmRow>,
    /// Its cells.
    pub cells: Vec<CellRow>,
    /// Its sessions.
    pub sessions: Vec<SessionRow>,
    /// All blocks that ran.
    pub blocks: Vec<BlockRow>,
    /// Latencies of the blocks that count.
    pub histograms: Vec<HistogramRow>,
    /// Events during the study.
    pub events: Vec<Event>,
    /// Its extensions after its end, in order.
    pub extensions: Vec<Extension>,
}

/// Why a store could not be analysed.
#[derive(Debug)]
pub enum AnalysisError {
    /// The store could not be read.
    Store(StoreError),
    /// Its configuration is not valid for this version.
    Config(ConfigError),
    /// A histogram of this operation could not be decoded.
    Histogram(String),
}

impl fmt::Display for AnalysisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Config(error) => write!(f, "the configuration in the store: {error}"),
            Self::Histogram(operation) => write!(f, "the store is damaged: a histogram of `{operation}`"),
        }
    }
}

impl std::error::Error for AnalysisError {}

impl From<StoreError> for AnalysisError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Material {
    /// Reads it from a store, which may be in use by a running study.
    ///
    /// Errors: `Store`, `Config`.
    pub fn read(store: &Store) -> Result<Self, AnalysisError> {
        let study = store.study()?;
        Ok(Self {
            config: Config::parse(&study.config).map_err(AnalysisError::Config)?,
            study,
            arms: store.arms()?,
            cells: store.cells()?,
            sessions: store.sessions()?,
            blocks: store.blocks()?,
            histograms: store.histograms()?,
            events: store.events()?,
            extensions: store.extensions()?,
        })
    }

    /// Sessions that ended and count.
    pub fn finished(&self) -> impl Iterator<Item = &SessionRow> {
        self.sessions
            .iter()
            .filter(|session| session.ended_s.is_some() && session.void.is_none())
    }

    pub(crate) fn interval(&self) -> SessionInterval {
        SessionInterval::new(self.extensions.len(), self.config.study.sessions)
    }
}

/// Reads and analyses a store.
///
/// Errors: `Store`, `Config`, `Histogram`.
pub fn read(store: &Store) -> Result<Summary, AnalysisError> {
    summarise(&Material::read(store)?)
}

/// Analyses the contents of a store.
///
/// Errors: `Histogram`.
pub fn summarise(material: &Material) -> Result<Summary, AnalysisError> {
    let arms: Vec<ArmFacts> = material.arms.iter().map(|arm| arm.facts.clone()).collect();
    let mut cells = Vec::new();
    for cell in &material.cells {
        cells.push(summarise_cell(material, cell)?);
    }
    effect::correct(&mut cells, &arms);
    let judged = cells.first().map_or(Metric::Cpu, CellSummary::judged);
    let encrypted = arms.iter().filter(|arm| arm.role == ArmRole::Encrypted);
    let over = |chosen: fn(&CellSummary) -> bool| -> Vec<Overall> {
        let cells = || cells.iter().filter(|cell| chosen(cell));
        encrypted
            .clone()
            .filter_map(|arm| pool::overall(cells(), &arm.name, judged, material.interval()))
            .collect()
    };
    let mixes = cells.iter().filter(|cell| cell.mix.is_some()).count();
    Ok(Summary {
        schema: SUMMARY_SCHEMA,
        study: study(material),
        host: material.study.host.clone(),
        overall: over(|cell| cell.gating),
        mixes: if mixes > 1 {
            over(|cell| cell.mix.is_some())
        } else {
            Vec::new()
        },
        limits: coverage::limits(material, &cells),
        evidence: evidence(material),
        published: published::rerun(material, &cells),
        events: material.events.clone(),
        arms,
        cells,
    })
}

fn summarise_cell(material: &Material, row: &CellRow) -> Result<CellSummary, AnalysisError> {
    let pairs = Pairs::of(material, row);
    let terms = Terms::of(material);
    let cell = &row.cell;
    Ok(CellSummary {
        name: cell.name.clone(),
        label: cell.label.clone(),
        work: match &cell.online {
            Some(_) => ONLINE,
            None => coverage::work(&cell.work),
        }
        .to_owned(),
        cache: match cell.cache {
            CacheState::Cold => "cold",
            CacheState::Os => "os",
            CacheState::Page => "page",
        }
        .to_owned(),
        // A mean over mixes is one of costs, not of slowdowns.
        mix: coverage::mix(&cell.work).filter(|_| cell.online.is_none()),
        unit: coverage::unit(&cell.work).to_owned(),
        gating: cell.gating,
        warm_up: pairs.warm_up,
        levels: level::levels(material, row),
        effects: effect::effects(&pairs, &terms),
        latencies: latency::curves(material, row)?,
        pairs: pairs.points(),
        phases: phase::phases(material, row),
    })
}

fn study(material: &Material) -> StudyFacts {
    let study = &material.study;
    let busy: u64 = material.blocks.iter().map(|block| block.sample.elapsed_ns).sum();
    let finished = material.finished().count();
    let lengths = material
        .finished()
        .filter_map(|session| session.ended_s?.checked_sub(session.created_s));
    let lengths: Vec<f64> = lengths.map(as_f64).collect();
    StudyFacts {
        name: study.name.clone(),
        title: material.config.study.title.clone(),
        config: study.config.clone(),
        config_sha256: study.config_sha256.clone(),
        seed: study.seed,
        lab_version: study.lab_version.clone(),
        commit: study.commit.clone(),
        command: study.command.clone(),
        created_s: study.created_s,
        busy_s: as_f64(busy) / 1e9,
        session_s: median(&lengths),
        sessions: u32::try_from(finished).unwrap_or(u32::MAX),
        planned_sessions: material.config.study.sessions,
        extensions: material.extensions.clone(),
        state: study.state,
        limit: material.config.study.limit,
        target_half_width: material.config.study.target_half_width,
    }
}

fn evidence(material: &Material) -> Evidence {
    let mut evidence = Evidence::default();
    for block in &material.blocks {
        evidence.samples.push(block.host.clone());
        match &block.void {
            Some(reason) => *evidence.void.entry(reason.clone()).or_default() += 1,
            None => evidence.blocks += 1,
        }
    }
    evidence.sessions = material
        .finished()
        .map(|session| {
            // The program that re-encrypts pages meanwhile is part of the study, and is not counted as such.
            let watched = material.blocks.iter().filter(|block| {
                let reencrypted = block.phases.as_ref().is_some_and(|phases| phases.sealing.is_some());
                block.session == session.id && !reencrypted
            });
            load::judge(session.id, &watched.map(|block| &block.host).collect::<Vec<_>>())
        })
        .collect();
    evidence
}
