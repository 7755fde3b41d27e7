//! Bytes written by blocks, and their file sizes and memory: figures of each arm, without a comparison.

use super::sentence;
use crate::summary::{CellSummary, Metric, Summary};

/// The column headers.
pub fn head(summary: &Summary) -> Vec<String> {
    let metrics = metrics(summary);
    let metrics = metrics.iter().map(|metric| sentence::metric(*metric).to_owned());
    ["cell", "arm"].into_iter().map(str::to_owned).chain(metrics).collect()
}

/// A row for each cell and arm; none without measurements.
pub fn rows(summary: &Summary) -> Vec<Vec<String>> {
    let metrics = metrics(summary);
    let of_cell = |cell: &CellSummary| -> Vec<Vec<String>> {
        let arms = summary.arms.iter().filter_map(|arm| row(cell, &arm.name, &metrics));
        arms.collect()
    };
    summary.cells.iter().flat_map(of_cell).collect()
}

fn row(cell: &CellSummary, arm: &str, metrics: &[Metric]) -> Option<Vec<String>> {
    let level = cell.levels.get(arm)?;
    // Studies of older versions have only the other metrics.
    level.metrics.get(&Metric::DatabaseBytes)?;
    let value = |metric: &Metric| {
        let value = level.metrics.get(metric);
        value.map_or_else(String::new, |value| sentence::value(*metric, *value))
    };
    let names = [cell.label.clone(), arm.to_owned()];
    Some(names.into_iter().chain(metrics.iter().map(value)).collect())
}

/// The metrics; that of backups only in studies that have it.
fn metrics(summary: &Summary) -> Vec<Metric> {
    let mut levels = summary.cells.iter().flat_map(|cell| cell.levels.values());
    let has_archives = levels.any(|level| level.metrics.contains_key(&Metric::ArchiveBytes));
    METRICS
        .into_iter()
        .chain(has_archives.then_some(Metric::ArchiveBytes))
        .collect()
}

const METRICS: [Metric; 5] = [
    Metric::WriteChars,
    Metric::WriteBytes,
    Metric::DatabaseBytes,
    Metric::WalBytes,
    Metric::PeakMemory,
];
