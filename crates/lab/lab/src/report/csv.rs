//! Tables for other programs, in the format of RFC 4180 except for the line ends, which are newlines.

use std::collections::BTreeMap;

use crate::analysis::Material;
use crate::summary::{Effect, Summary};

/// One row for each effect: ratios are (arm - control) / control.
pub fn effects(summary: &Summary) -> String {
    let head = "cell,arm,control,metric,gating,ratio,low,high,bootstrap_low,bootstrap_high,floor_low,floor_high,\
        difference,per_page_ns,per_page_ns_low,per_page_ns_high,per_operation_ns,per_operation_ns_low,\
        per_operation_ns_high,p_limit,sessions,pairs,outliers,verdict,\
        none,none_ratio,none_low,none_high";
    let mut rows = Rows::new(head);
    for cell in &summary.cells {
        for effect in &cell.effects {
            rows.push(&effect_fields(&cell.name, cell.gating, effect));
        }
    }
    rows.text
}

fn effect_fields(cell: &str, gating: bool, effect: &Effect) -> Vec<String> {
    let three = |values: Option<(f64, f64, f64)>| match values {
        Some((center, low, high)) => [number(center), number(low), number(high)],
        None => [String::new(), String::new(), String::new()],
    };
    let two = |ends: Option<(f64, f64)>| match ends {
        Some((low, high)) => [number(low), number(high)],
        None => [String::new(), String::new()],
    };
    let mut fields = vec![
        cell.to_owned(),
        effect.arm.clone(),
        effect.control.clone(),
        name(&effect.metric),
    ];
    fields.extend([gating.to_string(), number(effect.ratio)]);
    fields.extend(
        [effect.interval, effect.bootstrap, effect.floor]
            .into_iter()
            .flat_map(two),
    );
    fields.push(number(effect.difference));
    fields.extend(three(effect.per_page_ns));
    fields.extend(three(effect.per_operation_ns));
    fields.push(effect.p_limit.map(number).unwrap_or_default());
    fields.extend([effect.sessions, effect.pairs, effect.outliers].map(|count| count.to_string()));
    fields.push(super::sentence::state(effect.verdict).to_owned());
    let none = effect.against_none.as_ref();
    fields.push(none.map(|none| none.control.clone()).unwrap_or_default());
    fields.push(none.map(|none| number(none.ratio)).unwrap_or_default());
    fields.extend(two(none.and_then(|none| none.interval)));
    fields
}

/// One row for each counted pair of blocks.
pub fn pairs(summary: &Summary) -> String {
    let mut rows = Rows::new("cell,arm,session,pair,at_s,cpu_ratio,elapsed_ratio");
    for cell in &summary.cells {
        for pair in &cell.pairs {
            rows.push(&[
                cell.name.clone(),
                pair.arm.clone(),
                pair.session.to_string(),
                pair.pair.to_string(),
                number(pair.at_s),
                number(pair.cpu),
                number(pair.elapsed),
            ]);
        }
    }
    rows.text
}

/// One row for each arm, cell and metric: the medians of blocks.
pub fn levels(summary: &Summary) -> String {
    let mut rows = Rows::new("cell,arm,metric,median,blocks,pages,operations");
    for cell in &summary.cells {
        for (arm, level) in &cell.levels {
            for (metric, value) in &level.metrics {
                let counts = [level.blocks.to_string(), number(level.pages), number(level.operations)];
                let mut fields = vec![cell.name.clone(), arm.clone(), name(metric), number(*value)];
                fields.extend(counts);
                rows.push(&fields);
            }
        }
    }
    rows.text
}

/// One row for each arm of each cell with a re-encryption.
pub fn phases(summary: &Summary) -> String {
    let head = "cell,arm,loops_per_s_before,loops_per_s_during,loops_per_s_after,p99_ns_before,p99_ns_during,p99_ns_after,\
        throughput_during,throughput_during_low,throughput_during_high,throughput_after,throughput_after_low,\
        throughput_after_high,p99_during,p99_during_low,p99_during_high,p99_after,p99_after_low,p99_after_high,\
        sealing_s,pages_per_s,bytes_per_s";
    let mut rows = Rows::new(head);
    for (cell, arm, levels) in super::phases::all(summary) {
        let mut fields = vec![cell.name.clone(), arm.to_owned()];
        fields.extend(
            levels
                .loops_per_s
                .iter()
                .chain(&levels.p99_ns)
                .map(|value| number(*value)),
        );
        let changes = [
            levels.throughput_during,
            levels.throughput_after,
            levels.p99_during,
            levels.p99_after,
        ];
        for change in changes {
            let (low, high) = change.interval.unzip();
            let ends = [low, high].map(|end| end.map(number).unwrap_or_default());
            fields.extend([vec![number(change.ratio)], ends.to_vec()].concat());
        }
        let sealing = levels.sealing.as_ref();
        let sealing = sealing.map(|sealing| [sealing.seconds, sealing.pages_per_s, sealing.bytes_per_s].map(number));
        fields.extend(sealing.unwrap_or_default());
        rows.push(&fields);
    }
    rows.text
}

/// One row for each point of each latency curve.
pub fn latencies(summary: &Summary) -> String {
    let mut rows = Rows::new("cell,operation,arm,count,percentile,ns");
    for cell in &summary.cells {
        for curve in &cell.latencies {
            for (percentile, ns) in &curve.points {
                let mut fields = vec![cell.name.clone(), curve.operation.clone(), curve.arm.clone()];
                fields.extend([curve.count.to_string(), number(*percentile), ns.to_string()]);
                rows.push(&fields);
            }
        }
    }
    rows.text
}

/// One row for each sample of the machine; unknown fields are empty.
pub fn host(summary: &Summary) -> String {
    let mut rows = Rows::new("at_s,steal,others,cpu_pressure,io_pressure,mhz");
    for sample in &summary.evidence.samples {
        let values = [
            Some(sample.at_s),
            sample.steal,
            sample.others,
            sample.cpu_pressure,
            sample.io_pressure,
            sample.mhz,
        ];
        rows.push(&values.map(|value| value.map(number).unwrap_or_default()));
    }
    rows.text
}

/// One row for each block that ran, including void ones; counters are differences over the block.
pub fn blocks(material: &Material) -> String {
    let head = ["block", "session", "cell", "pair", "arm", "began_s", "void"];
    let mut rows = Rows::new(&[&head[..], &COUNTERS[..]].concat().join(","));
    let arms: BTreeMap<i64, &str> = material
        .arms
        .iter()
        .map(|arm| (arm.id, arm.facts.name.as_str()))
        .collect();
    let cells: BTreeMap<i64, &str> = material
        .cells
        .iter()
        .map(|row| (row.id, row.cell.name.as_str()))
        .collect();
    for block in &material.blocks {
        let named = |names: &BTreeMap<i64, &str>, id: i64| names.get(&id).copied().unwrap_or_default().to_owned();
        let mut fields = vec![
            block.id.to_string(),
            block.session.to_string(),
            named(&cells, block.cell),
        ];
        fields.extend([
            (block.pair + 1).to_string(),
            named(&arms, block.arm),
            number(block.began_s),
        ]);
        fields.push(block.void.clone().unwrap_or_default());
        let sample = serde_json::to_value(&block.sample).unwrap_or_default();
        fields.extend(COUNTERS.iter().map(|name| match sample.get(name) {
            Some(serde_json::Value::Number(value)) => value.to_string(),
            Some(serde_json::Value::Bool(value)) => value.to_string(),
            Some(_) | None => String::new(),
        }));
        rows.push(&fields);
    }
    rows.text
}

/// Fields of the protocol's `Sample`.
const COUNTERS: [&str; 28] = [
    "elapsed_ns",
    "cpu_ns",
    "user_ns",
    "system_ns",
    "instructions",
    "switches_voluntary",
    "switches_involuntary",
    "faults_minor",
    "faults_major",
    "read_calls",
    "write_calls",
    "read_chars",
    "write_chars",
    "read_bytes",
    "write_bytes",
    "pages_read",
    "pages_written",
    "checkpoint_ns",
    "checkpoint_cpu_ns",
    "operations",
    "retries",
    "pages",
    "database_bytes",
    "wal_bytes",
    "peak_bytes",
    "archive_bytes",
    "altered",
    "began_ns",
];

/// The lines of a table.
pub(crate) struct Rows {
    /// All lines so far.
    pub text: String,
}

impl Rows {
    /// A table with this header line.
    pub fn new(head: &str) -> Self {
        Self {
            text: format!("{head}\n"),
        }
    }

    /// Adds a line.
    pub fn push(&mut self, fields: &[String]) {
        let quoted: Vec<String> = fields.iter().map(|field| quote(field)).collect();
        self.text.push_str(&quoted.join(","));
        self.text.push('\n');
    }
}

/// The serde name of a value of an enum without fields.
pub(crate) fn name(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

pub(crate) fn number(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        String::new()
    }
}

/// Quotes a field if necessary. A field that a spreadsheet would interpret as a formula is prefixed
/// with an apostrophe.
fn quote(field: &str) -> String {
    let formula =
        field.starts_with(['=', '@', '\t']) || (field.starts_with(['+', '-']) && field.parse::<f64>().is_err());
    let field = if formula { format!("'{field}") } else { field.to_owned() };
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed_and_never_run() {
        assert_eq!(quote("like-cold"), "like-cold");
        assert_eq!(quote("LIKE, \"cold\""), "\"LIKE, \"\"cold\"\"\"");
        assert_eq!(quote("=1+1"), "'=1+1");
        assert_eq!(quote("-0.02"), "-0.02");
        assert_eq!(quote("-a"), "'-a");
    }

    #[test]
    fn what_is_not_a_number_is_empty() {
        assert_eq!(number(f64::NAN), "");
        assert_eq!(number(0.25), "0.25");
    }
}
