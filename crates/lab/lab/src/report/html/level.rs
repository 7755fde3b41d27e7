//! The levels of blocks, encrypted and unencrypted, side by side.

use super::table::table;
use crate::report::{number, resources, sentence};
use crate::summary::{ArmRole, CellSummary, Effect, Metric, Summary};

/// CPU and elapsed time of each encrypted arm and of its control.
pub fn times(summary: &Summary) -> String {
    let mut rows = Vec::new();
    let effects = || summary.cells.iter().flat_map(|cell| &cell.effects);
    let has_none = effects().any(|effect| effect.against_none.is_some());
    for cell in &summary.cells {
        for arm in summary.arms.iter().filter(|arm| arm.role == ArmRole::Encrypted) {
            let Some(control) = arm.control.as_deref() else {
                continue;
            };
            let mut fields = vec![cell.label.clone(), arm.name.clone()];
            for metric in [Metric::Cpu, Metric::Elapsed] {
                let found = row(cell, &arm.name, control, metric).unwrap_or_default();
                fields.extend((3..7).map(|index| found.get(index).cloned().unwrap_or_default()));
                if has_none {
                    let effect = sentence::effect_in(cell, &arm.name, metric);
                    fields.push(effect.map(sentence::against_none).unwrap_or_default());
                }
            }
            rows.push(fields);
        }
    }
    let mut head = vec!["Cell", "Arm"];
    for of in ["CPU encrypted", "Elapsed encrypted"] {
        head.extend([of, "in clear", "Ratio", "95 %"]);
        head.extend(has_none.then_some("Against NONE"));
    }
    let caption = match summary.judged() == Metric::Slowdown {
        true => "What a loop took while pages were re-encrypted, medians",
        false => "What a block took, medians",
    };
    table(caption, &head, &rows)
}

/// The checkpoint at the end of a block that writes.
pub fn checkpoints(summary: &Summary) -> String {
    rows(
        summary,
        "Elapsed time of the checkpoint at the end of a block, medians",
        &[Metric::Checkpoint],
    )
}

/// System calls, bytes and other counters of the system.
pub fn system(summary: &Summary) -> String {
    let metrics = [
        Metric::ReadBytes,
        Metric::WriteBytes,
        Metric::ReadChars,
        Metric::WriteChars,
        Metric::ReadCalls,
        Metric::WriteCalls,
        Metric::Switches,
        Metric::Faults,
        Metric::DatabaseBytes,
        Metric::WalBytes,
        Metric::PeakMemory,
    ];
    let caption = match summary.judged() == Metric::Slowdown {
        true => "What the system did for a loop while pages were re-encrypted, medians",
        false => "What the system did for a block, medians",
    };
    rows(summary, caption, &metrics)
}

/// Bytes written, file sizes and memory of all arms.
pub fn resources(summary: &Summary) -> String {
    let head = resources::head(summary);
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    table("Bytes and memory of a block, medians", &head, &resources::rows(summary))
}

fn rows(summary: &Summary, caption: &str, metrics: &[Metric]) -> String {
    let mut rows = Vec::new();
    for cell in &summary.cells {
        for arm in summary.arms.iter().filter(|arm| arm.role != ArmRole::Plain) {
            let Some(control) = arm.control.as_deref() else {
                continue;
            };
            for metric in metrics {
                rows.extend(row(cell, &arm.name, control, *metric));
            }
        }
    }
    table(
        caption,
        &["Cell", "Metric", "Arm", "Encrypted", "In clear", "Ratio", "95 %"],
        &rows,
    )
}

fn row(cell: &CellSummary, arm: &str, control: &str, metric: Metric) -> Option<Vec<String>> {
    let level = |arm: &str| cell.levels.get(arm)?.metrics.get(&metric).copied();
    let (own, base) = (level(arm)?, level(control)?);
    if own == 0.0 && base == 0.0 {
        return None;
    }
    let effect = sentence::effect_in(cell, arm, metric);
    Some(vec![
        cell.label.clone(),
        sentence::metric(metric).to_owned(),
        arm.to_owned(),
        sentence::value(metric, own),
        sentence::value(metric, base),
        ratio(effect, own, base),
        effect
            .and_then(|effect| effect.interval)
            .map(number::interval)
            .unwrap_or_default(),
    ])
}

/// The estimate; without one, the ratio of the medians, marked as such.
fn ratio(effect: Option<&Effect>, own: f64, base: f64) -> String {
    match effect {
        Some(effect) => number::percent(effect.ratio),
        None if base > 0.0 => format!("{} (of medians)", number::percent(own / base - 1.0)),
        None => String::new(),
    }
}
