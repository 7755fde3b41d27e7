//! The levels of arms, without a comparison.

use std::collections::BTreeMap;

use selenite_stats::median;

use super::Material;
use super::effect::METRICS;
use super::pair::{pages, value};
use crate::store::{BlockRow, CellRow};
use crate::summary::Level;
use crate::summary::as_f64;

/// The level of every arm that has a counted block.
pub fn levels(material: &Material, cell: &CellRow) -> BTreeMap<String, Level> {
    let mut levels = BTreeMap::new();
    for arm in &material.arms {
        let mut sessions: BTreeMap<u32, Vec<&BlockRow>> = BTreeMap::new();
        let blocks = material
            .blocks
            .iter()
            .filter(|block| block.cell == cell.id && block.arm == arm.id);
        for block in blocks.filter(|block| block.void.is_none()) {
            sessions.entry(block.session).or_default().push(block);
        }
        if sessions.is_empty() {
            continue;
        }
        let middle = |of: &dyn Fn(&BlockRow) -> Option<f64>| -> Option<f64> {
            let medians = sessions.values().map(|blocks| {
                let values: Vec<f64> = blocks.iter().map(|block| of(block)).collect::<Option<_>>()?;
                median(&values)
            });
            median(&medians.collect::<Option<Vec<f64>>>()?)
        };
        let metrics = METRICS
            .into_iter()
            .filter_map(|metric| Some((metric, middle(&|block| value(block, metric))?)));
        let blocks: usize = sessions.values().map(Vec::len).sum();
        let page_size = material.config.layout.page_size;
        let pages = |block: &BlockRow| Some(as_f64(pages(&block.sample, page_size)));
        let level = Level {
            blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
            metrics: metrics.collect(),
            pages: middle(&pages).unwrap_or(0.0),
            operations: middle(&|block| Some(as_f64(block.sample.operations))).unwrap_or(0.0),
        };
        levels.insert(arm.facts.name.clone(), level);
    }
    levels
}
