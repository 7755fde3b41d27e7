//! Latencies including the tail, of an arm and its control.

use super::course::legend;
use super::front::{curve, percentile};
use super::table::{folded, table};
use crate::report::scale::Scale;
use crate::report::svg::{Shape, Size, chart, line, path, text, typeset};
use crate::report::{number, sentence};
use crate::summary::as_f64;
use crate::summary::{ArmRole, CellSummary, LatencyCurve, Summary};

/// A chart for each cell and operation that has latencies.
pub fn spectrum(summary: &Summary) -> String {
    let arms = sentence::shown(summary);
    let mut charts = String::new();
    let mut rows = Vec::new();
    for (index, cell) in summary.cells.iter().enumerate() {
        for operation in operations(cell) {
            let id = format!("latency-{index}-{}", rows.len());
            let (label, name) = (typeset(&cell.label), typeset(operation));
            let drawn = drawn(summary, cell, operation, &arms, &id);
            charts.push_str(&format!("<figure><h3>{label}: {name}</h3>{drawn}</figure>"));
            rows.extend(figures(summary, cell, operation));
        }
    }
    if charts.is_empty() {
        return charts;
    }
    let head = [
        "Cell",
        "Operation",
        "Arm",
        "Count",
        "50 %",
        "90 %",
        "99 %",
        "99.9 %",
        "100 %",
        "99 % against control",
    ];
    let table = table("Latency by percentile, all blocks merged", &head, &rows);
    let legend = legend(&arms).replace("second unencrypted copy", "controls in clear");
    format!(
        "<div class=\"multiples\">{charts}</div>{legend}{}",
        folded("The figures of these charts", &table)
    )
}

fn operations(cell: &CellSummary) -> Vec<&str> {
    let mut operations: Vec<&str> = Vec::new();
    for curve in &cell.latencies {
        if !operations.contains(&curve.operation.as_str()) {
            operations.push(&curve.operation);
        }
    }
    operations
}

fn drawn(summary: &Summary, cell: &CellSummary, operation: &str, arms: &[&str], id: &str) -> String {
    let curves = cell.latencies.iter().filter(|curve| curve.operation == operation);
    let curves: Vec<&LatencyCurve> = curves.filter(|curve| is_shown(summary, &curve.arm)).collect();
    let values = curves
        .iter()
        .flat_map(|curve| &curve.points)
        .filter(|(at, ns)| *at > 0.0 && *ns > 0);
    let up = Scale::linear(values.map(|(_, ns)| as_f64(*ns).log10()));
    let y = |ns: u64| (1.0 - up.at(as_f64(ns.max(1)).log10())) * HEIGHT;
    let x = |at: f64| LEFT + (1.0 - LEFT) * (nines(at) / MOST_NINES).min(1.0);
    let mut body = String::new();
    for (at, label) in TICKS {
        body.push_str(&line((x(at), 0.0), (x(at), HEIGHT), "grid"));
        body.push_str(&text(x(at), HEIGHT + 14.0, "middle", "tick", label));
    }
    for log in up
        .ticks(0.12, &[])
        .into_iter()
        .filter(|log| (log - log.round()).abs() < 0.31)
    {
        let height = (1.0 - up.at(log)) * HEIGHT;
        body.push_str(&line((LEFT, height), (1.0, height), "grid"));
        body.push_str(&text(
            LEFT - 0.015,
            height + 4.0,
            "end",
            "tick",
            &number::duration(10f64.powf(log)),
        ));
    }
    for curve in curves {
        let shape = arms
            .iter()
            .position(|arm| *arm == curve.arm)
            .map_or(Shape::floor(), Shape::of);
        let line: Vec<(f64, f64)> = curve.points.iter().map(|(at, ns)| (x(*at), y(*ns))).collect();
        body.push_str(&path(&line, HEIGHT, &format!("curve {}", shape.class())));
        for (at, ns) in TICKS.iter().filter_map(|(at, _)| Some((at, percentile(curve, *at)?))) {
            body.push_str(&shape.mark(x(*at), (1.0 - up.at(ns.max(1.0).log10())) * HEIGHT, Size::Small));
        }
    }
    let title = format!("Latency of {operation}, {}", cell.label);
    let p99 = |arm: &&str| {
        let at = percentile(curve(cell, operation, arm)?, 99.0)?;
        Some(format!("{arm} {}", number::duration(at)))
    };
    let all: Vec<String> = ["plain"].iter().chain(arms).filter_map(p99).collect();
    chart(
        id,
        HEIGHT + 18.0,
        &title,
        &format!("99th percentile: {}.", all.join(", ")),
        &body,
    )
}

/// The second copy is not shown, because its curve would cover that of the first.
fn is_shown(summary: &Summary, arm: &str) -> bool {
    summary
        .arms
        .iter()
        .any(|facts| facts.name == arm && facts.role != ArmRole::Floor)
}

fn figures(summary: &Summary, cell: &CellSummary, operation: &str) -> Vec<Vec<String>> {
    let curves = cell.latencies.iter().filter(|curve| curve.operation == operation);
    let row = |own: &LatencyCurve| {
        let facts = summary.arms.iter().find(|facts| facts.name == own.arm);
        let control = facts.and_then(|facts| facts.control.as_deref());
        let base = control.and_then(|control| percentile(curve(cell, operation, control)?, 99.0));
        let ratio = percentile(own, 99.0).zip(base).filter(|(_, base)| *base > 0.0);
        let mut row = vec![
            cell.label.clone(),
            operation.to_owned(),
            own.arm.clone(),
            number::count(as_f64(own.count)),
        ];
        for at in [50.0, 90.0, 99.0, 99.9, 100.0] {
            row.push(percentile(own, at).map(number::duration).unwrap_or_default());
        }
        row.push(
            ratio
                .map(|(own, base)| number::percent(own / base - 1.0))
                .unwrap_or_default(),
        );
        row
    };
    curves.map(row).collect()
}

/// The number of nines: one for 90 %, two for 99 %.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).max(1e-6).log10()
}

const TICKS: [(f64, &str); 5] = [
    (50.0, "50 %"),
    (90.0, "90 %"),
    (99.0, "99 %"),
    (99.9, "99.9 %"),
    (99.99, "99.99 %"),
];

const MOST_NINES: f64 = 4.4;

const HEIGHT: f64 = 168.0;

const LEFT: f64 = 0.16;
