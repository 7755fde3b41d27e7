//! Blocks of an arm and of its control that did the same work one after the other.

use std::collections::{BTreeMap, BTreeSet};

use selenite_stats::{SteadyState, steady_from};
use selenite_worker::protocol::Sample;

use super::Material;
use crate::config::CacheState;
use crate::store::{BlockRow, CellRow};
use crate::summary::as_f64;
use crate::summary::{Metric, PairPoint, WarmUp};

/// The counted pairs of a cell.
pub struct Pairs<'a> {
    /// By arm, in the order of the configuration.
    pub arms: Vec<ArmPairs<'a>>,
    /// The excluded pairs.
    pub warm_up: WarmUp,
}

/// The pairs of an arm.
pub struct ArmPairs<'a> {
    /// The arm.
    pub arm: &'a str,
    /// Its control.
    pub control: &'a str,
    /// The pairs with the control, in order.
    pub pairs: Vec<Pair<'a>>,
    /// The pairs with the arm of suite NONE, if there is one.
    pub none: Option<(&'a str, Vec<Pair<'a>>)>,
}

/// The pages that a block read and wrote: as counted by SQLite; if that is unavailable, the bytes
/// of its reads and writes divided by the page size.
pub fn pages(sample: &Sample, page_size: u32) -> u64 {
    match sample.pages_read.saturating_add(sample.pages_written) {
        0 => sample.read_chars.saturating_add(sample.write_chars) / u64::from(page_size.max(1)),
        counted => counted,
    }
}

/// A pair of blocks.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// The session.
    pub session: u32,
    /// The number of the pair within session and cell.
    pub pair: u32,
    /// The start of the later block, in seconds.
    pub at_s: f64,
    /// The arm's block.
    pub arm: &'a BlockRow,
    /// The control's block.
    pub control: &'a BlockRow,
}

impl<'a> Pairs<'a> {
    /// The pairs of this cell.
    pub fn of(material: &'a Material, cell: &CellRow) -> Self {
        let blocks: BTreeMap<(u32, u32, i64), &BlockRow> = material
            .blocks
            .iter()
            .filter(|block| block.cell == cell.id && block.void.is_none())
            .map(|block| ((block.session, block.pair, block.arm), block))
            .collect();
        let ids: BTreeMap<&str, i64> = material
            .arms
            .iter()
            .map(|arm| (arm.facts.name.as_str(), arm.id))
            .collect();
        let mut arms = Vec::new();
        let mut warm_up = WarmUp::default();
        let mut unsteady = BTreeSet::new();
        for arm in &material.arms {
            let Some(control) = arm.facts.control.as_deref() else {
                continue;
            };
            let with = |control: &str| -> Option<Vec<Pair<'a>>> {
                let control_id = ids.get(control)?;
                let own = blocks.iter().filter(|((_, _, id), _)| *id == arm.id);
                let pairs = own.filter_map(|((session, pair, _), block)| {
                    let other = blocks.get(&(*session, *pair, *control_id))?;
                    let at_s = block.began_s.max(other.began_s);
                    Some(Pair {
                        session: *session,
                        pair: *pair,
                        at_s,
                        arm: block,
                        control: other,
                    })
                });
                Some(pairs.collect())
            };
            let Some(mut pairs) = with(control) else { continue };
            let none = arm.facts.none.as_deref();
            let mut none = none.and_then(|none| Some((none, with(none)?)));
            // Work that has its own warm-up phase was warm before the measurement.
            if cell.cell.cache != CacheState::Cold && cell.cell.online.is_none() {
                warm_up.pairs += drop_warm_up(&mut pairs, &mut unsteady);
                // The warm-ups of the arm of suite NONE are counted in the pairs with its own control.
                if let Some((_, pairs)) = &mut none {
                    drop_warm_up(pairs, &mut unsteady);
                }
            }
            arms.push(ArmPairs {
                arm: arm.facts.name.as_str(),
                control,
                pairs,
                none,
            });
        }
        warm_up.unsteady = u32::try_from(unsteady.len()).unwrap_or(u32::MAX);
        Self { arms, warm_up }
    }

    /// All pairs, for the run chart.
    pub fn points(&self) -> Vec<PairPoint> {
        let mut points = Vec::new();
        for of in &self.arms {
            points.extend(of.pairs.iter().filter_map(|pair| {
                Some(PairPoint {
                    arm: of.arm.to_owned(),
                    at_s: pair.at_s,
                    session: pair.session,
                    pair: pair.pair + 1,
                    cpu: pair.log(Metric::Cpu)?.exp_m1(),
                    elapsed: pair.log(Metric::Elapsed)?.exp_m1(),
                })
            }));
        }
        points.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        points
    }
}

impl Pair<'_> {
    /// ln(arm / control); none if one of them is zero or unknown.
    pub fn log(&self, metric: Metric) -> Option<f64> {
        let (arm, control) = (value(self.arm, metric)?, value(self.control, metric)?);
        (arm > 0.0 && control > 0.0).then(|| (arm / control).ln())
    }

    /// arm - control; none if one of them is unknown.
    pub fn difference(&self, metric: Metric) -> Option<f64> {
        Some(value(self.arm, metric)? - value(self.control, metric)?)
    }
}

/// A metric of a block, in its unit; none if the machine did not count it. For work that lasts for
/// a time, counters are per loop.
pub fn value(block: &BlockRow, metric: Metric) -> Option<f64> {
    let sample = &block.sample;
    let count = match metric {
        Metric::Instructions => sample.instructions?,
        Metric::Cpu => sample.cpu_ns,
        Metric::ReadChars => sample.read_chars,
        Metric::WriteChars => sample.write_chars,
        Metric::ReadCalls => sample.read_calls,
        Metric::WriteCalls => sample.write_calls,
        Metric::ReadBytes => sample.read_bytes,
        Metric::WriteBytes => sample.write_bytes,
        Metric::Elapsed => sample.elapsed_ns,
        Metric::Checkpoint => sample.checkpoint_ns,
        Metric::Switches => sample.switches_voluntary.saturating_add(sample.switches_involuntary),
        Metric::Faults => sample.faults_minor.saturating_add(sample.faults_major),
        Metric::DatabaseBytes => sample.database_bytes,
        Metric::WalBytes => sample.wal_bytes,
        Metric::PeakMemory => sample.peak_bytes?,
        Metric::ArchiveBytes => sample.archive_bytes?,
        Metric::Slowdown | Metric::Aftermath | Metric::TailSlowdown => return block.phases.as_ref()?.change(metric),
    };
    match (&block.phases, is_counted(metric)) {
        (Some(_), true) => (sample.operations > 0).then(|| as_f64(count) / as_f64(sample.operations)),
        (Some(_), false) | (None, _) => Some(as_f64(count)),
    }
}

/// Whether the metric is a counter that increases with the amount of work.
fn is_counted(metric: Metric) -> bool {
    match metric {
        Metric::Instructions
        | Metric::Cpu
        | Metric::ReadChars
        | Metric::WriteChars
        | Metric::ReadCalls
        | Metric::WriteCalls
        | Metric::ReadBytes
        | Metric::WriteBytes
        | Metric::Elapsed
        | Metric::Switches
        | Metric::Faults => true,
        Metric::Checkpoint
        | Metric::DatabaseBytes
        | Metric::WalBytes
        | Metric::PeakMemory
        | Metric::ArchiveBytes
        | Metric::Slowdown
        | Metric::Aftermath
        | Metric::TailSlowdown => false,
    }
}

/// Drops the pairs of the longer of both warm-ups, session by session. Returns how many.
fn drop_warm_up(pairs: &mut Vec<Pair<'_>>, unsteady: &mut BTreeSet<u32>) -> u32 {
    let sessions: BTreeSet<u32> = pairs.iter().map(|pair| pair.session).collect();
    let mut first = BTreeMap::new();
    for session in sessions {
        let of_session = || pairs.iter().filter(|pair| pair.session == session);
        let times = |copy: fn(&Pair<'_>) -> u64| of_session().map(|pair| as_f64(copy(pair))).collect::<Vec<_>>();
        let states = [
            steady_from(&times(|pair| pair.arm.sample.cpu_ns)),
            steady_from(&times(|pair| pair.control.sample.cpu_ns)),
        ];
        if states.contains(&SteadyState::Never) {
            unsteady.insert(session);
            continue;
        }
        let from = states.into_iter().map(|state| match state {
            SteadyState::From(from) => from,
            SteadyState::Never | SteadyState::Unknown => 0,
        });
        let skip = from.max().unwrap_or(0);
        first.insert(session, of_session().nth(skip).map_or(0, |pair| pair.pair));
    }
    let before = pairs.len();
    pairs.retain(|pair| first.get(&pair.session).is_none_or(|first| pair.pair >= *first));
    u32::try_from(before - pairs.len()).unwrap_or(u32::MAX)
}
