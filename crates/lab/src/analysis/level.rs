//! What arms took, without comparing them.

use std::collections::BTreeMap;

use selenite_stats::median;
use selenite_worker::protocol::Sample;

use super::effect::METRICS;
use super::pair::value;
use super::{Material, as_f64};
use crate::store::CellRow;
use crate::summary::Level;

/// The level of every arm that has a block which counts.
pub fn levels(material: &Material, cell: &CellRow) -> BTreeMap<String, Level> {
    let mut levels = BTreeMap::new();
    for arm in &material.arms {
        let mut sessions: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
        let blocks = material
            .blocks
            .iter()
            .filter(|block| block.cell == cell.id && block.arm == arm.id);
        for block in blocks.filter(|block| block.void.is_none()) {
            sessions.entry(block.session).or_default().push(&block.sample);
        }
        if sessions.is_empty() {
            continue;
        }
        let middle = |of: &dyn Fn(&Sample) -> Option<f64>| -> Option<f64> {
            let medians = sessions.values().map(|samples| {
                let values: Vec<f64> = samples.iter().map(|sample| of(sample)).collect::<Option<_>>()?;
                median(&values)
            });
            median(&medians.collect::<Option<Vec<f64>>>()?)
        };
        let metrics = METRICS
            .into_iter()
            .filter_map(|metric| Some((metric, middle(&|sample| value(sample, metric))?)));
        let blocks: usize = sessions.values().map(Vec::len).sum();
        let pages = |sample: &Sample| Some(as_f64(sample.pages_read.saturating_add(sample.pages_written)));
        let level = Level {
            blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
            metrics: metrics.collect(),
            pages: middle(&pages).unwrap_or(0.0),
            operations: middle(&|sample| Some(as_f64(sample.operations))).unwrap_or(0.0),
        };
        levels.insert(arm.facts.name.clone(), level);
    }
    levels
}
