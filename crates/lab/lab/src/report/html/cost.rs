//! Costs in other units: per page, and over mixes of reads and writes.

use super::forest::{Group, Mark, Panel, Row, forest};
use super::front::short_percent;
use super::table::{folded, table};
use crate::report::scale::Scale;
use crate::report::svg::{Shape, typeset};
use crate::report::{number, sentence};
use crate::summary::{CellSummary, Effect, Metric, Overall, Summary};

/// CPU per page, by arm: if the cost is one of pages, all cells of an arm agree.
pub fn per_page(summary: &Summary) -> String {
    let arms = sentence::shown(summary);
    let found = |arm: &str| -> Vec<(&str, &Effect, (f64, f64, f64))> {
        let cells = summary.cells.iter();
        let effects =
            cells.filter_map(|cell| Some((cell.label.as_str(), sentence::effect_in(cell, arm, Metric::Cpu)?)));
        effects
            .filter_map(|(label, effect)| Some((label, effect, effect.per_page_ns?)))
            .collect()
    };
    let all: Vec<f64> = arms
        .iter()
        .flat_map(|arm| found(arm))
        .flat_map(|(_, _, (a, b, c))| [a, b, c])
        .collect();
    if all.is_empty() {
        return String::new();
    }
    let panel = Panel {
        name: "CPU for each page".to_owned(),
        scale: Scale::linear(all.into_iter().chain([0.0])),
        limit: None,
        apart: 0.12,
        tick: |ns| {
            if ns == 0.0 {
                "0".to_owned()
            } else {
                format!("{} us", short(ns / 1e3))
            }
        },
    };
    let groups = arms.iter().enumerate().map(|(index, arm)| Group {
        name: (*arm).to_owned(),
        note: String::new(),
        rows: found(arm)
            .into_iter()
            .map(|(label, _, cost)| page_row(label, Shape::of(index), cost))
            .collect(),
    });
    let groups: Vec<Group> = groups.filter(|group| !group.rows.is_empty()).collect();
    let plot = forest(
        "per-page-plot",
        "CPU time for each page, by arm and cell",
        &[panel],
        &groups,
    );
    let table = cost_table(summary);
    format!(
        "<figure>{plot}{}</figure>",
        folded("The figures of this chart, and costs of operations", &table)
    )
}

/// CPU and elapsed time per page and per operation.
fn cost_table(summary: &Summary) -> String {
    let rows = summary
        .cells
        .iter()
        .flat_map(|cell| cell.effects.iter().map(move |effect| (cell, effect)));
    let rows = rows
        .filter(|(_, effect)| matches!(effect.metric, Metric::Cpu | Metric::Elapsed))
        .map(|(cell, effect)| {
            let page = effect.per_page_ns.map_or("no pages".to_owned(), cost_text);
            let operation = effect.per_operation_ns.map(operation_text).unwrap_or_default();
            let metric = sentence::metric(effect.metric).to_owned();
            vec![
                cell.label.clone(),
                effect.arm.clone(),
                metric,
                page,
                operation,
                cell.unit.clone(),
            ]
        });
    let head = ["Cell", "Arm", "Metric", "A page", "An operation", "which is a"];
    table(
        "Extra cost of a page and of an operation",
        &head,
        &rows.collect::<Vec<_>>(),
    )
}

fn page_row(label: &str, shape: Shape, cost: (f64, f64, f64)) -> Row {
    let mark = Mark {
        center: cost.0,
        interval: Some((cost.1, cost.2)),
        floor: None,
        text: cost_text(cost),
        verdict: None,
    };
    Row {
        name: label.to_owned(),
        shape,
        marks: vec![Some(mark)],
    }
}

/// All mixes of the hummer loop, and their mean.
pub fn mixes(summary: &Summary) -> String {
    if summary.mixes.is_empty() {
        return String::new();
    }
    let cells: Vec<_> = summary.cells.iter().filter(|cell| cell.mix.is_some()).collect();
    let arms: Vec<&str> = summary.mixes.iter().map(|overall| overall.arm.as_str()).collect();
    let values = all_values(&cells, &arms);
    let limit = summary.study.limit;
    let scale = Scale::ratios(values.into_iter(), limit);
    let panel = Panel {
        name: "CPU time, %".to_owned(),
        scale,
        limit: Some(limit),
        apart: 0.12,
        tick: short_percent,
    };
    let all = sentence::shown(summary);
    let shape = |arm: &str| Shape::of(all.iter().position(|name| *name == arm).unwrap_or(0));
    let mut groups: Vec<Group> = Vec::new();
    for cell in &cells {
        let rows = arms.iter().filter_map(|arm| {
            let effect = sentence::effect_in(cell, arm, Metric::Cpu)?;
            let mark = mark(effect.ratio, effect.interval, effect.floor);
            Some(Row {
                name: (*arm).to_owned(),
                shape: shape(arm),
                marks: vec![Some(mark)],
            })
        });
        groups.push(Group {
            name: cell.label.clone(),
            note: String::new(),
            rows: rows.collect(),
        });
    }
    let pooled = summary.mixes.iter().filter_map(|overall| {
        let pooled = overall.pooled.as_ref()?;
        let mark = mark(pooled.ratio, pooled.interval, None);
        Some(Row {
            name: overall.arm.clone(),
            shape: shape(&overall.arm),
            marks: vec![Some(mark)],
        })
    });
    groups.push(Group {
        name: "Mean of all mixes".to_owned(),
        note: String::new(),
        rows: pooled.collect(),
    });
    let plot = forest(
        "mixes-plot",
        "CPU time in each mix, and in the mean of all",
        &[panel],
        &groups,
    );
    let words: String = summary
        .mixes
        .iter()
        .filter_map(mix_words)
        .map(|text| format!("<p>{}</p>", typeset(&text)))
        .collect();
    format!("<figure>{plot}</figure>{words}{}", mix_table(&summary.mixes))
}

/// Ratios and ends of intervals, for the range of a scale.
fn all_values(cells: &[&CellSummary], arms: &[&str]) -> Vec<f64> {
    let effects = cells
        .iter()
        .flat_map(|cell| &cell.effects)
        .filter(|effect| effect.metric == Metric::Cpu);
    effects
        .filter(|effect| arms.contains(&effect.arm.as_str()))
        .flat_map(|effect| {
            [
                Some(effect.ratio),
                effect.interval.map(|ends| ends.0),
                effect.interval.map(|ends| ends.1),
            ]
        })
        .flatten()
        .collect()
}

fn mark(center: f64, interval: Option<(f64, f64)>, floor: Option<(f64, f64)>) -> Mark {
    Mark {
        center,
        interval,
        floor,
        text: number::estimate(center, interval),
        verdict: None,
    }
}

fn mix_words(overall: &Overall) -> Option<String> {
    let pooled = overall.pooled.as_ref()?;
    let mean = number::estimate(pooled.ratio, pooled.interval);
    let share = number::share((pooled.heterogeneity * 100.0).round() / 100.0);
    let differ = if pooled.p_same < 0.05 {
        format!(
            "Mixes do not cost the same ({share} of their variation is not noise): the mean stands for none of them."
        )
    } else {
        "Nothing says that mixes differ.".to_owned()
    };
    Some(format!(
        "{}: {mean} in the mean of {} mixes. {differ}",
        overall.arm,
        overall.cells.len()
    ))
}

fn mix_table(mixes: &[Overall]) -> String {
    let rows = mixes.iter().filter_map(|overall| {
        let pooled = overall.pooled.as_ref()?;
        Some(vec![
            overall.arm.clone(),
            number::percent(pooled.ratio),
            pooled.interval.map(number::interval).unwrap_or_default(),
            number::share(pooled.spread.exp_m1()),
            number::share((pooled.heterogeneity * 1000.0).round() / 1000.0),
            format!("{:.3}", pooled.p_same),
        ])
    });
    let head = [
        "Arm",
        "Mean",
        "95 %",
        "Spread between mixes (tau)",
        "I squared",
        "p, all the same (Q)",
    ];
    folded(
        "The figures of the mean",
        &table("Mixes together", &head, &rows.collect::<Vec<_>>()),
    )
}

fn cost_text(cost: (f64, f64, f64)) -> String {
    let [center, low, high] = [cost.0, cost.1, cost.2].map(number::microseconds);
    format!("{center} us [{low}, {high}]")
}

fn operation_text(cost: (f64, f64, f64)) -> String {
    let [center, low, high] = [cost.0, cost.1, cost.2].map(number::duration);
    format!("{center} [{low}, {high}]")
}

fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
