//! Latencies, merged over all blocks.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use super::{AnalysisError, Material};
use crate::store::CellRow;
use crate::summary::LatencyCurve;

/// A curve for each operation and arm of a cell, from merged histograms.
///
/// Errors: `Histogram`.
pub fn curves(material: &Material, cell: &CellRow) -> Result<Vec<LatencyCurve>, AnalysisError> {
    let mut merged: BTreeMap<(&str, i64), Histogram<u64>> = BTreeMap::new();
    let mut deserializer = Deserializer::new();
    for row in material.histograms.iter().filter(|row| row.cell == cell.id) {
        let damaged = || AnalysisError::Histogram(row.operation.clone());
        let one: Histogram<u64> = deserializer
            .deserialize(&mut row.v2.as_slice())
            .map_err(|_| damaged())?;
        match merged.get_mut(&(row.operation.as_str(), row.arm)) {
            Some(all) => all.add(&one).map_err(|_| damaged())?,
            None => {
                let mut all = Histogram::<u64>::new(one.sigfig()).map_err(|_| damaged())?;
                all.auto(true);
                all.add(&one).map_err(|_| damaged())?;
                merged.insert((row.operation.as_str(), row.arm), all);
            }
        }
    }
    let names: BTreeMap<i64, &str> = material
        .arms
        .iter()
        .map(|arm| (arm.id, arm.facts.name.as_str()))
        .collect();
    let curves = merged
        .into_iter()
        .filter(|(_, all)| !all.is_empty())
        .filter_map(|((operation, arm), all)| {
            Some(LatencyCurve {
                arm: (*names.get(&arm)?).to_owned(),
                operation: operation.to_owned(),
                count: all.len(),
                points: PERCENTILES
                    .map(|percentile| (percentile, all.value_at_percentile(percentile)))
                    .into(),
            })
        });
    Ok(curves.collect())
}

const PERCENTILES: [f64; 16] = [
    1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999, 100.0,
];
