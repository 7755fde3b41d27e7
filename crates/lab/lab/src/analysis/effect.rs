//! Effects: the differences between arms and their controls.

use std::collections::BTreeMap;

use selenite_stats::{Estimate, Interval, Options, holm, median, outliers, session_estimates, verdict};

use super::Material;
use super::pair::{ArmPairs, Pair, Pairs, pages};
use super::session_interval::{CONFIDENCE, SessionInterval, sessions_more};
use crate::summary::as_f64;
use crate::summary::{AgainstNone, ArmFacts, ArmRole, CellSummary, Effect, Metric, Verdict};

/// The parameters that all effects of a study share.
pub struct Terms {
    limit: f64,
    seed: u64,
    page_size: u32,
    pairs: u32,
    planned: u32,
    interval: SessionInterval,
    minutes_per_session: Option<f64>,
    floor: Option<String>,
}

impl Terms {
    /// The parameters of this study.
    pub fn of(material: &Material) -> Self {
        let lengths = material
            .finished()
            .filter_map(|session| session.ended_s?.checked_sub(session.created_s));
        let lengths: Vec<f64> = lengths.map(as_f64).collect();
        let floor = material.arms.iter().find(|arm| arm.facts.role == ArmRole::Floor);
        Self {
            limit: material.config.study.limit.ln_1p(),
            seed: material.study.seed,
            page_size: material.config.layout.page_size,
            pairs: material.config.study.pairs,
            planned: material.config.study.sessions,
            interval: material.interval(),
            minutes_per_session: median(&lengths).map(|seconds| seconds / 60.0),
            floor: floor.map(|arm| arm.facts.name.clone()),
        }
    }

    fn minutes_more(&self, estimate: &Estimate) -> Option<f64> {
        let more = sessions_more(self.limit, estimate, self.pairs, self.planned)?;
        Some(f64::from(more) * self.minutes_per_session?)
    }
}

/// Every metric of every arm in a cell.
pub fn effects(pairs: &Pairs<'_>, terms: &Terms) -> Vec<Effect> {
    let mut effects = Vec::new();
    for metric in METRICS {
        let found: Vec<(usize, Estimate)> = pairs
            .arms
            .iter()
            .enumerate()
            .filter_map(|(index, of)| Some((index, estimated(&of.pairs, metric, terms)?)))
            .collect();
        let is_floor = |index: usize| terms.floor.as_deref() == pairs.arms.get(index).map(|of| of.arm);
        let floor = found
            .iter()
            .find(|(index, _)| is_floor(*index))
            .and_then(|(_, estimate)| estimate.t);
        for (index, estimate) in &found {
            let floor = floor.filter(|_| !is_floor(*index));
            effects.extend(
                pairs
                    .arms
                    .get(*index)
                    .map(|of| effect(of, metric, estimate, floor, terms)),
            );
        }
    }
    effects
}

fn estimated(pairs: &[Pair<'_>], metric: Metric, terms: &Terms) -> Option<Estimate> {
    let sessions = by_session(pairs, |pair| pair.log(metric))?;
    let sessions: Vec<Vec<f64>> = sessions.into_values().collect();
    let replicates = if metric.is_judged() {
        Options::default().replicates
    } else {
        0
    };
    terms.interval.estimate(
        &sessions,
        &Options {
            confidence: CONFIDENCE,
            replicates,
            seed: terms.seed,
        },
    )
}

/// The effect relative to suite NONE, estimated like that relative to the control, from other pairs
/// of the same blocks.
fn against_none(of: &ArmPairs<'_>, metric: Metric, terms: &Terms) -> Option<AgainstNone> {
    let (control, pairs) = of.none.as_ref()?;
    let sessions = by_session(pairs, |pair| pair.log(metric))?;
    let sessions: Vec<Vec<f64>> = sessions.into_values().collect();
    let options = Options {
        confidence: CONFIDENCE,
        replicates: 0,
        seed: 0,
    };
    let found = terms.interval.estimate(&sessions, &options)?;
    Some(AgainstNone {
        control: (*control).to_owned(),
        ratio: found.center.exp_m1(),
        interval: found.t.map(ratios),
        sessions: found.sessions,
        pairs: found.pairs,
    })
}

fn effect(of: &ArmPairs<'_>, metric: Metric, found: &Estimate, floor: Option<Interval>, terms: &Terms) -> Effect {
    let (arm, control, pairs) = (of.arm, of.control, &of.pairs);
    let logs: Vec<f64> = pairs.iter().filter_map(|pair| pair.log(metric)).collect();
    let differences: Vec<f64> = pairs.iter().filter_map(|pair| pair.difference(metric)).collect();
    let timed = matches!(metric, Metric::Cpu | Metric::Elapsed);
    // The control's pages: an arm that reads ahead or caches moves other numbers of pages for the same work.
    let pages = |pair: &Pair<'_>| match pair.control.phases {
        // A figure that is per loop already is not divided by pages.
        Some(_) => 0,
        None => pages(&pair.control.sample, terms.page_size),
    };
    let operations = |pair: &Pair<'_>| match pair.arm.phases {
        Some(_) => 1,
        None => pair.arm.sample.operations,
    };
    let each = |count: &dyn Fn(&Pair<'_>) -> u64, least: u64| {
        let costs = by_session(pairs, |pair| {
            let count = count(pair);
            (timed && count >= least).then(|| Some(pair.difference(metric)? / as_f64(count)))?
        })?;
        let costs: Vec<Vec<f64>> = costs.into_values().collect();
        let cost = terms.interval.estimate(
            &costs,
            &Options {
                confidence: CONFIDENCE,
                replicates: 0,
                seed: 0,
            },
        )?;
        cost.t.map(|interval| (cost.center, interval.low, interval.high))
    };
    let sessions = by_session(pairs, |pair| pair.log(metric));
    let sessions = sessions.map(|sessions| sessions.into_values().collect::<Vec<_>>());
    Effect {
        arm: arm.to_owned(),
        control: control.to_owned(),
        metric,
        ratio: found.center.exp_m1(),
        interval: found.t.map(ratios),
        bootstrap: found.bootstrap.map(ratios),
        floor: floor.map(ratios),
        difference: median(&differences).unwrap_or(0.0),
        per_page_ns: each(&pages, PAGES_MIN),
        per_operation_ns: each(&operations, 1),
        by_session: session_ratios(pairs, metric),
        p_limit: sessions.and_then(|sessions| terms.interval.p_value(&sessions, found, terms.limit)),
        sessions: found.sessions,
        pairs: found.pairs,
        outliers: u32::try_from(outliers(&logs, DEVIATIONS).len()).unwrap_or(u32::MAX),
        verdict: match verdict(found, floor, terms.limit) {
            selenite_stats::Verdict::Within { inside_floor } => Verdict::Within { inside_floor },
            selenite_stats::Verdict::Above => Verdict::Above,
            selenite_stats::Verdict::NotResolved => Verdict::NotResolved {
                minutes_more: terms.minutes_more(found),
            },
        },
        against_none: against_none(of, metric, terms),
    }
}

/// Corrects verdicts for several gating cells: one that is above has to be so after Holm's correction too.
pub fn correct(cells: &mut [CellSummary], arms: &[ArmFacts]) {
    for arm in arms.iter().filter(|arm| arm.role == ArmRole::Encrypted) {
        for metric in METRICS {
            let mut family: Vec<&mut Effect> = cells
                .iter_mut()
                .filter(|cell| cell.gating)
                .flat_map(|cell| &mut cell.effects)
                .filter(|effect| effect.arm == arm.name && effect.metric == metric)
                .collect();
            let p_values: Vec<f64> = family.iter().map(|effect| effect.p_limit.unwrap_or(1.0)).collect();
            for (effect, p) in family.iter_mut().zip(holm(&p_values)) {
                effect.p_limit = effect.p_limit.map(|_| p);
                if effect.verdict == Verdict::Above && p > 1.0 - CONFIDENCE {
                    effect.verdict = Verdict::NotResolved { minutes_more: None };
                }
            }
        }
    }
}

/// The values of each session, in order; none if one is unavailable, because omitting it would be a selection.
fn by_session<'a, 'b: 'a>(
    pairs: &'a [Pair<'b>],
    value: impl Fn(&Pair<'b>) -> Option<f64>,
) -> Option<BTreeMap<u32, Vec<f64>>> {
    let mut sessions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for pair in pairs {
        sessions.entry(pair.session).or_default().push(value(pair)?);
    }
    (!sessions.is_empty()).then_some(sessions)
}

fn session_ratios(pairs: &[Pair<'_>], metric: Metric) -> Vec<(u32, f64)> {
    let Some(sessions) = by_session(pairs, |pair| pair.log(metric)) else {
        return Vec::new();
    };
    let (numbers, values): (Vec<u32>, Vec<Vec<f64>>) = sessions.into_iter().unzip();
    let estimates = session_estimates(&values).unwrap_or_default();
    numbers
        .into_iter()
        .zip(estimates)
        .map(|(session, log)| (session, log.exp_m1()))
        .collect()
}

fn ratios(interval: Interval) -> (f64, f64) {
    (interval.low.exp_m1(), interval.high.exp_m1())
}

impl Metric {
    /// Whether verdicts use the metric, so that its interval is worth a cross-check.
    fn is_judged(self) -> bool {
        matches!(
            self,
            Self::Instructions | Self::Cpu | Self::Elapsed | Self::Slowdown | Self::TailSlowdown
        )
    }
}

/// In order of reliability: CPU time before elapsed time, which includes the time of other processes.
pub const METRICS: [Metric; 19] = [
    Metric::Instructions,
    Metric::Cpu,
    Metric::ReadChars,
    Metric::WriteChars,
    Metric::ReadCalls,
    Metric::WriteCalls,
    Metric::ReadBytes,
    Metric::WriteBytes,
    Metric::Elapsed,
    Metric::Checkpoint,
    Metric::Switches,
    Metric::Faults,
    Metric::DatabaseBytes,
    Metric::WalBytes,
    Metric::PeakMemory,
    Metric::ArchiveBytes,
    Metric::Slowdown,
    Metric::Aftermath,
    Metric::TailSlowdown,
];

/// In median absolute deviations.
const DEVIATIONS: f64 = 5.0;

/// With fewer pages, the noise of the whole block would appear as the cost of a page.
const PAGES_MIN: u64 = 100;
