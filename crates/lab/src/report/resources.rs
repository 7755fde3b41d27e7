//! What blocks wrote, and what they took in files and in memory: figures of each arm, without comparing them.

use super::sentence;
use crate::summary::{CellSummary, Metric, Summary};

/// The heads of a table's columns.
pub fn head() -> Vec<String> {
    let metrics = METRICS.map(|metric| sentence::metric(metric).to_owned());
    ["cell", "arm"].into_iter().map(str::to_owned).chain(metrics).collect()
}

/// A line for each cell and arm; none where nothing of it was measured.
pub fn rows(summary: &Summary) -> Vec<Vec<String>> {
    let of_cell = |cell: &CellSummary| -> Vec<Vec<String>> {
        let arms = summary.arms.iter().filter_map(|arm| row(cell, &arm.name));
        arms.collect()
    };
    summary.cells.iter().flat_map(of_cell).collect()
}

fn row(cell: &CellSummary, arm: &str) -> Option<Vec<String>> {
    let level = cell.levels.get(arm)?;
    // Studies from before these were measured have the others alone.
    level.metrics.get(&Metric::DatabaseBytes)?;
    let value = |metric: &Metric| {
        let value = level.metrics.get(metric);
        value.map_or_else(String::new, |value| sentence::value(*metric, *value))
    };
    let names = [cell.label.clone(), arm.to_owned()];
    Some(names.into_iter().chain(METRICS.iter().map(value)).collect())
}

const METRICS: [Metric; 5] = [
    Metric::WriteChars,
    Metric::WriteBytes,
    Metric::DatabaseBytes,
    Metric::WalBytes,
    Metric::PeakMemory,
];
