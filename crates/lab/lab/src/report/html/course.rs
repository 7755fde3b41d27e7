//! The pairs over time, which shows drift and jumps.

use std::collections::BTreeMap;

use super::table::{folded, table};
use crate::report::scale::Scale;
use crate::report::svg::{Shape, Size, band, chart, line, text, typeset};
use crate::report::{number, sentence};
use crate::summary::{CellSummary, Metric, PairPoint, Summary};

/// A chart for each cell: each pair's CPU ratio minus its arm's estimate.
pub fn course(summary: &Summary) -> String {
    let arms = sentence::shown(summary);
    let mut out = String::from("<div class=\"multiples\">");
    let mut rows = Vec::new();
    for (index, cell) in summary
        .cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| !cell.pairs.is_empty())
    {
        let label = typeset(&cell.label);
        let drawn = drawn(cell, &arms, &format!("course-{index}"));
        out.push_str(&format!("<figure><h3>{label}</h3>{drawn}</figure>"));
        rows.extend(session_rows(cell));
    }
    out.push_str("</div>");
    out.push_str(&legend(&arms));
    let head = ["Cell", "Arm", "Session", "CPU", "Against all sessions, points"];
    out.push_str(&folded(
        "The sessions of these charts",
        &table("Each session's estimate in CPU time", &head, &rows),
    ));
    out
}

fn drawn(cell: &CellSummary, arms: &[&str], id: &str) -> String {
    let estimates: BTreeMap<&str, f64> = cell
        .effects
        .iter()
        .filter(|effect| effect.metric == Metric::Cpu)
        .map(|effect| (effect.arm.as_str(), effect.ratio))
        .collect();
    // On the log scale, so that equal noise has equal height for expensive and cheap arms.
    let rest = |pair: &PairPoint| {
        let estimate = estimates.get(pair.arm.as_str())?;
        let rest = pair.cpu.ln_1p() - estimate.ln_1p();
        rest.is_finite().then_some(rest)
    };
    let points: Vec<(&PairPoint, f64)> = cell.pairs.iter().filter_map(|pair| Some((pair, rest(pair)?))).collect();
    let tallest = points.iter().map(|(_, rest)| rest.abs()).fold(0.01, f64::max);
    let up = Scale::linear([-tallest, tallest].into_iter());
    let along = Scale::linear(points.iter().map(|(pair, _)| pair.at_s));
    let y = |value: f64| (1.0 - up.at(value)) * HEIGHT;
    let x = |at_s: f64| LEFT + along.at(at_s) * (1.0 - LEFT);
    let mut body = bands(&cell.pairs, &x);
    for tick in up.ticks(0.17, &[0.0]) {
        let class = if tick == 0.0 { "zero" } else { "grid" };
        body.push_str(&line((LEFT, y(tick)), (1.0, y(tick)), class));
        body.push_str(&text(LEFT - 0.015, y(tick) + 4.0, "end", "tick", &points_of(tick)));
    }
    for (pair, rest) in &points {
        let shape = arms
            .iter()
            .position(|arm| *arm == pair.arm)
            .map_or(Shape::floor(), Shape::of);
        body.push_str(&shape.mark(x(pair.at_s), y(*rest), Size::Small));
    }
    let title = format!("Pairs over time, {}", cell.label);
    let description = format!(
        "{} pairs in {} sessions; the farthest is {} points from its arm's estimate.",
        points.len(),
        bounds(&cell.pairs).len(),
        points_of(tallest)
    );
    chart(id, HEIGHT + 18.0, &title, &description, &body)
}

/// Every other session shaded, with its number.
fn bands(pairs: &[PairPoint], x: &dyn Fn(f64) -> f64) -> String {
    let mut out = String::new();
    for (index, (session, (from, to))) in bounds(pairs).into_iter().enumerate() {
        if index % 2 == 0 {
            out.push_str(&band(x(from) - 0.004, x(to) + 0.004, HEIGHT, "session"));
        }
        let middle = f64::midpoint(x(from), x(to));
        out.push_str(&text(middle, HEIGHT + 14.0, "middle", "tick", &session.to_string()));
    }
    out
}

fn bounds(pairs: &[PairPoint]) -> BTreeMap<u32, (f64, f64)> {
    let mut bounds: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for pair in pairs {
        let ends = bounds.entry(pair.session).or_insert((pair.at_s, pair.at_s));
        *ends = (ends.0.min(pair.at_s), ends.1.max(pair.at_s));
    }
    bounds
}

fn session_rows(cell: &CellSummary) -> Vec<Vec<String>> {
    let effects = cell.effects.iter().filter(|effect| effect.metric == Metric::Cpu);
    let rows = effects.flat_map(|effect| {
        effect.by_session.iter().map(|(session, ratio)| {
            let rest = points_of(ratio.ln_1p() - effect.ratio.ln_1p());
            vec![
                cell.label.clone(),
                effect.arm.clone(),
                session.to_string(),
                number::percent(*ratio),
                rest,
            ]
        })
    });
    rows.collect()
}

/// The meaning of the marks.
pub fn legend(arms: &[&str]) -> String {
    let named = arms.iter().enumerate().map(|(index, arm)| (Shape::of(index), *arm));
    let items = named.chain([(Shape::floor(), "second unencrypted copy")]);
    let items: String = items
        .map(|(shape, name)| format!("<li>{}{}</li>", shape.key(), typeset(name)))
        .collect();
    format!("<ul class=\"legend\" aria-label=\"Marks\">{items}</ul>")
}

fn points_of(log: f64) -> String {
    let text = format!("{:+.1}", log * 100.0);
    if text.ends_with("0.0") && text.len() == 4 {
        "0".to_owned()
    } else {
        text
    }
}

const HEIGHT: f64 = 132.0;

/// The width of the labels at the left, as a share of the chart's width.
const LEFT: f64 = 0.11;
