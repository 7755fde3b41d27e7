//! Work before, during and after a re-encryption: texts of all reports.

use super::number;
use crate::summary::{CellSummary, PhaseChange, PhaseLevels, Summary};

/// The column headers of the table of phases.
pub const HEAD: [&str; 10] = [
    "cell",
    "arm",
    "of",
    "before",
    "during",
    "after",
    "during / before",
    "95 %",
    "after / before",
    "95 %",
];

/// The column headers of the table of re-encryptions.
pub const SEALING_HEAD: [&str; 5] = ["cell", "arm", "took", "pages a second", "bytes a second"];

/// The method of the figures.
pub const ABOUT: &str = "Throughput is loops a second of all processes, without the checkpoint that ends a phase; the percentile is \
    that of all operations. Medians of sessions' medians; changes are of pairs within a block. During is from the start of \
    the administrator's program to its end; the unencrypted twins do the same for a time, without it. Pages a second are those \
    of the file, by whomever they were re-encrypted.";

/// Two rows for each cell and arm: throughput, and the 99th percentile.
pub fn rows(summary: &Summary) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (cell, arm, levels) in all(summary) {
        let mut row = |of: &str, values: [String; 3], changes: [PhaseChange; 2]| {
            let mut fields = vec![cell.label.clone(), arm.to_owned(), of.to_owned()];
            fields.extend(values);
            for change in changes {
                fields.push(number::percent(change.ratio));
                fields.push(change.interval.map(number::interval).unwrap_or_default());
            }
            rows.push(fields);
        };
        let changes = [levels.throughput_during, levels.throughput_after];
        row("loops a second", levels.loops_per_s.map(number::count), changes);
        let changes = [levels.p99_during, levels.p99_after];
        row("99th percentile", levels.p99_ns.map(number::duration), changes);
    }
    rows
}

/// A row for each cell and arm with a re-encryption.
pub fn sealing_rows(summary: &Summary) -> Vec<Vec<String>> {
    let of = |(cell, arm, levels): (&CellSummary, &str, &PhaseLevels)| {
        let sealing = levels.sealing.as_ref()?;
        Some(vec![
            cell.label.clone(),
            arm.to_owned(),
            number::duration(sealing.seconds * 1e9),
            number::count(sealing.pages_per_s),
            number::bytes(sealing.bytes_per_s),
        ])
    };
    all(summary).filter_map(of).collect()
}

/// A sentence for each arm of a cell.
pub fn sentences(summary: &Summary, cell: &CellSummary) -> Vec<String> {
    let arms = summary
        .arms
        .iter()
        .filter_map(|arm| Some((&arm.name, cell.phases.get(&arm.name)?)));
    let sentence = |(arm, levels): (&String, &PhaseLevels)| {
        let [a, b, c] = levels.loops_per_s.map(number::count);
        let [d, e, f] = levels.p99_ns.map(number::duration);
        let sealed = levels.sealing.as_ref().map_or_else(String::new, |sealing| {
            let (took, rate) = (
                number::duration(sealing.seconds * 1e9),
                number::count(sealing.pages_per_s),
            );
            format!("; all pages re-encrypted in {took}, {rate} a second")
        });
        format!(
            "{arm}: {a}, {b}, {c} loops a second, during {}; 99th percentile {d}, {e}, {f}{sealed}.",
            changed(levels.throughput_during)
        )
    };
    arms.map(sentence).collect()
}

fn changed(change: PhaseChange) -> String {
    number::estimate(change.ratio, change.interval)
}

/// Every cell and arm with phases, in order.
pub fn all(summary: &Summary) -> impl Iterator<Item = (&CellSummary, &str, &PhaseLevels)> {
    summary.cells.iter().flat_map(|cell| {
        let arms = summary.arms.iter();
        arms.filter_map(move |arm| Some((cell, arm.name.as_str(), cell.phases.get(&arm.name)?)))
    })
}
