//! Whether a study is as precise as requested. It depends on the widths of intervals, never on their position.

use std::collections::BTreeMap;

use selenite_stats::{Options, estimate, is_precise, sessions_for};

use super::error::RunError;
use crate::analysis::value;
use crate::config::Config;
use crate::store::{BlockRow, Store};
use crate::summary::Metric;

/// The precision of a study so far.
pub(super) struct Precision {
    /// Whether every gating effect has the requested precision.
    pub(super) precise: bool,
    /// The largest half-width of the gating effects, as a ratio.
    pub(super) widest: Option<f64>,
    /// The estimated number of sessions until all of them have it; none if it cannot be estimated.
    pub(super) sessions: Option<u32>,
}

/// Pairs of an arm in a cell: ln(arm / control) in the deciding metric, by session.
pub(super) fn sessions_of(blocks: &[BlockRow], cell: i64, arm: i64, control: i64) -> Vec<Vec<f64>> {
    let mut took: BTreeMap<(u32, u32, i64), f64> = BTreeMap::new();
    for block in blocks.iter().filter(|block| block.cell == cell && block.void.is_none()) {
        let judged = match block.phases {
            Some(_) => Metric::Slowdown,
            None => Metric::Cpu,
        };
        let taken = value(block, judged).unwrap_or(0.0);
        took.insert((block.session, block.pair, block.arm), taken);
    }
    let mut sessions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for ((session, pair, of), own) in &took {
        let other = took.get(&(*session, *pair, control)).filter(|_| *of == arm);
        if let Some(other) = other.filter(|other| **other > 0.0 && *own > 0.0) {
            sessions.entry(*session).or_default().push((own / other).ln());
        }
    }
    sessions.into_values().collect()
}

/// Evaluates all gating cells.
pub(super) fn evaluate(store: &Store, config: &Config) -> Result<Precision, RunError> {
    let (arms, cells, blocks) = (store.arms()?, store.cells()?, store.blocks()?);
    let target = config.study.target_half_width.ln_1p();
    let mut found = Precision {
        precise: true,
        widest: None,
        sessions: Some(0),
    };
    let mut effects = 0;
    for cell in cells.iter().filter(|cell| cell.cell.gating) {
        for arm in &arms {
            let control = arms
                .iter()
                .find(|other| Some(&other.facts.name) == arm.facts.control.as_ref());
            let Some(control) = control else { continue };
            effects += 1;
            let sessions = sessions_of(&blocks, cell.id, arm.id, control.id);
            let options = Options {
                replicates: 0,
                ..Options::default()
            };
            let Some(effect) = estimate(&sessions, &options) else {
                found.precise = false;
                found.sessions = None;
                continue;
            };
            found.precise &= is_precise(&effect, target, options.confidence);
            let needed = sessions_for(target, &effect, config.study.pairs, options.confidence);
            found.sessions = found.sessions.zip(needed).map(|(most, needed)| most.max(needed));
            if let Some(interval) = effect.t {
                let width = interval.half_width().exp_m1();
                found.widest = Some(found.widest.map_or(width, |widest: f64| widest.max(width)));
            }
        }
    }
    found.precise &= effects > 0;
    Ok(found)
}
