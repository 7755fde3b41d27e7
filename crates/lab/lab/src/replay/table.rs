//! A replay for a terminal.

use selenite_plan::calibration::Measured;

use super::ReplayReport;
use crate::calibrate::table::{CONFIDENCE, aligned, is_resolved, limit};

/// What each suite and version of TLS added to the CPU time, with intervals of 90 %.
#[must_use]
pub fn table(report: &ReplayReport) -> String {
    let totals = report.totals;
    let mut text = format!(
        "{:.1} s of the trace: transactions {}, of which {} wrote; pages read {}, written {}; checkpoints {}\n\n",
        report.trace_seconds,
        totals.transactions,
        totals.commits,
        totals.pages_read,
        totals.pages_written,
        totals.checkpoints,
    );
    let mut titles = vec![
        "CPU time of the replay",
        "added, ms",
        "of the replay in clear",
        "cores at the trace's speed",
    ];
    if !report.predicted_ns.is_empty() {
        titles.push("predicted, ms");
    }
    let mut rows = vec![titles.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    let plain = report.plain_ns.as_ref().map_or(0.0, Measured::mean);
    if let Some(measured) = &report.plain_ns {
        rows.push(vec!["in clear".to_owned(), milliseconds(measured)]);
    }
    let floor = report.floor_ns.as_ref().map_or(0.0, limit);
    for (name, measured) in report.suites_ns.iter().chain(&report.tls_ns) {
        let is_suite = report.suites_ns.contains_key(name);
        let mut row = vec![format!("+ {name}")];
        if is_suite && !is_resolved(measured, floor) {
            row.extend(["not resolved", "", ""].map(str::to_owned));
        } else {
            row.push(milliseconds(measured));
            row.push(match is_suite && plain > 0.0 {
                true => format!("{:+.1} %", measured.mean() / plain * 100.0),
                false => String::new(),
            });
            row.push(match report.trace_seconds > 0.0 {
                true => format!("{:+.5}", measured.mean() / 1e9 / report.trace_seconds),
                false => String::new(),
            });
        }
        if let Some(predicted) = report.predicted_ns.get(name) {
            let ms = predicted.times(1e-6);
            row.push(format!("{:.2} [{:.2}, {:.2}]", ms.value, ms.low, ms.high));
        }
        rows.push(row);
    }
    if report.floor_ns.is_some() {
        rows.push(vec!["floor".to_owned(), format!("{:.2}", floor / 1e6)]);
    }
    text.push_str(&aligned(&rows));
    text.push_str(EXPLANATION);
    for note in &report.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text
}

fn milliseconds(measured: &Measured) -> String {
    let mean = measured.mean() / 1e6;
    match measured.interval(CONFIDENCE) {
        Some(interval) => format!("{mean:.2} \u{b1}{:.2}", interval.half_width() / 1e6),
        None => format!("{mean:.2}"),
    }
}

const EXPLANATION: &str = "\
\nRows with + are differences from the replay in clear; \u{b1} is the half-width of the 90 % interval of the\n\
mean over sessions. Floor: two copies in clear differ by as much; differences below it are not resolved.\n\
Statements of the application are not in a trace: the share is that of SQLite's work for the same pages.\n";
