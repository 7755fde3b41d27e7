//! Phases before, during and after a re-encryption: the levels of each arm, and the changes within its blocks.

use std::collections::BTreeMap;

use selenite_stats::{Options, median};

use super::Material;
use super::session_interval::SessionInterval;
use crate::phase::{Phase, Phases};
use crate::store::CellRow;
use crate::summary::as_f64;
use crate::summary::{PhaseChange, PhaseLevels, SealingLevel};

/// The phases of every arm that has a counted block; empty for work without phases.
pub fn phases(material: &Material, cell: &CellRow) -> BTreeMap<String, PhaseLevels> {
    let mut levels = BTreeMap::new();
    for arm in &material.arms {
        let mut sessions: BTreeMap<u32, Vec<&Phases>> = BTreeMap::new();
        let blocks = material
            .blocks
            .iter()
            .filter(|block| block.cell == cell.id && block.arm == arm.id && block.void.is_none());
        for block in blocks {
            if let Some(phases) = &block.phases {
                sessions.entry(block.session).or_default().push(phases);
            }
        }
        let sessions: Vec<Vec<&Phases>> = sessions.into_values().collect();
        if !sessions.is_empty() {
            levels.insert(arm.facts.name.clone(), of_arm(&sessions, material.interval()));
        }
    }
    levels
}

fn of_arm(sessions: &[Vec<&Phases>], interval: SessionInterval) -> PhaseLevels {
    let throughput = |phase: &Phase| phase.loops_per_s();
    let tail = |phase: &Phase| phase.tail_ns();
    let change = |of: &dyn Fn(&Phase) -> Option<f64>, phase| change(&logs(sessions, of, phase), interval);
    PhaseLevels {
        loops_per_s: EACH.map(|of| middle(sessions, &|phases| throughput(of(phases)))),
        p99_ns: EACH.map(|of| middle(sessions, &|phases| tail(of(phases)))),
        throughput_during: change(&throughput, during),
        throughput_after: change(&throughput, after),
        p99_during: change(&tail, during),
        p99_after: change(&tail, after),
        sealing: sealing(sessions),
    }
}

fn sealing(sessions: &[Vec<&Phases>]) -> Option<SealingLevel> {
    let last = sessions
        .iter()
        .flatten()
        .filter_map(|phases| phases.sealing.as_ref())
        .next_back()?;
    let seconds = |phases: &Phases| phases.sealing.as_ref().map(|sealing| as_f64(sealing.took_ns) / 1e9);
    let rate = |count: &dyn Fn(&Phases) -> Option<u64>| {
        middle(sessions, &|phases| {
            Some(as_f64(count(phases)?) / seconds(phases)?.max(1e-9))
        })
    };
    Some(SealingLevel {
        seconds: middle(sessions, &seconds),
        pages_per_s: rate(&|phases| Some(phases.sealing.as_ref()?.pages)),
        bytes_per_s: rate(&|phases| Some(phases.sealing.as_ref()?.bytes)),
        said: last.said.clone(),
    })
}

/// The median of sessions' medians; 0 without data.
fn middle(sessions: &[Vec<&Phases>], of: &dyn Fn(&Phases) -> Option<f64>) -> f64 {
    let medians = sessions.iter().map(|session| {
        let values: Vec<f64> = session.iter().filter_map(|phases| of(phases)).collect();
        median(&values)
    });
    let medians: Vec<f64> = medians.flatten().collect();
    median(&medians).unwrap_or(0.0)
}

/// The logarithm of a phase's value divided by that of `before`, block by block; none if a block
/// lacks one of the two.
fn logs(
    sessions: &[Vec<&Phases>],
    of: &dyn Fn(&Phase) -> Option<f64>,
    phase: fn(&Phases) -> &Phase,
) -> Option<Vec<Vec<f64>>> {
    sessions
        .iter()
        .map(|session| {
            let logs = session.iter().map(|phases| {
                let (before, then) = (of(&phases.before)?, of(phase(phases))?);
                (before > 0.0 && then > 0.0).then(|| (then / before).ln())
            });
            logs.collect()
        })
        .collect()
}

fn change(logs: &Option<Vec<Vec<f64>>>, interval: SessionInterval) -> PhaseChange {
    let options = Options {
        replicates: 0,
        ..Options::default()
    };
    let found = logs.as_ref().and_then(|logs| interval.estimate(logs, &options));
    found.map_or_else(PhaseChange::default, |found| PhaseChange {
        ratio: found.center.exp_m1(),
        interval: found.t.map(|ends| (ends.low.exp_m1(), ends.high.exp_m1())),
    })
}

fn before(phases: &Phases) -> &Phase {
    &phases.before
}

fn during(phases: &Phases) -> &Phase {
    &phases.during
}

fn after(phases: &Phases) -> &Phase {
    &phases.after
}

const EACH: [fn(&Phases) -> &Phase; 3] = [before, during, after];
