//! Throughput and the tail of latency before, during and after a re-encryption.

use super::forest::{Group, Mark, Panel, Row, forest};
use super::front::short_percent;
use super::table::{folded, table};
use crate::report::number;
use crate::report::phases::{ABOUT, HEAD, SEALING_HEAD, all, rows, sealing_rows};
use crate::report::scale::Scale;
use crate::report::svg::{Shape, escape, typeset};
use crate::summary::{ArmRole, CellSummary, PhaseChange, PhaseLevels, Summary};

/// A chart of the changes within blocks, by arm, and the figures.
pub fn phases(summary: &Summary) -> String {
    let rows = rows(summary);
    if rows.is_empty() {
        return String::new();
    }
    let panel = |name: &str, of: fn(&PhaseLevels) -> [PhaseChange; 2]| {
        let changes = all(summary).flat_map(|(_, _, levels)| of(levels));
        let values = changes.flat_map(|change| {
            let ends = change.interval.map(|(low, high)| [low, high]);
            ends.into_iter().flatten().chain([change.ratio]).collect::<Vec<_>>()
        });
        Panel {
            name: name.to_owned(),
            scale: Scale::linear(values.chain([0.0])),
            limit: None,
            apart: 0.16,
            tick: short_percent,
        }
    };
    let panels = [
        panel("Throughput, beside before, %", |levels| {
            [levels.throughput_during, levels.throughput_after]
        }),
        panel("99th percentile, beside before, %", |levels| {
            [levels.p99_during, levels.p99_after]
        }),
    ];
    let groups: Vec<Group> = summary.cells.iter().map(|cell| group(summary, cell)).collect();
    let plot = forest(
        "phases-plot",
        "What throughput and the 99th percentile became, beside what they were before in the same block",
        &panels,
        &groups,
    );
    let said = all(summary).filter_map(|(cell, arm, levels)| {
        let said = &levels.sealing.as_ref()?.said;
        let text = escape(said.trim());
        (!text.is_empty()).then(|| {
            let head = typeset(&format!("{}, {arm}", cell.label));
            format!("<p>{head}</p><pre tabindex=\"0\">{text}</pre>")
        })
    });
    format!(
        "<figure>{plot}<figcaption>{}</figcaption></figure>{}{}{}",
        typeset(ABOUT),
        table("Before, during and after", &HEAD, &rows),
        table("Who re-encrypted the pages", &SEALING_HEAD, &sealing_rows(summary)),
        folded(
            "What the administrator's program said, the last time",
            &said.collect::<String>()
        )
    )
}

fn group(summary: &Summary, cell: &CellSummary) -> Group {
    let arms = summary.arms.iter().filter(|arm| cell.phases.contains_key(&arm.name));
    let encrypted: Vec<&str> = crate::report::sentence::encrypted(summary);
    let rows = arms.flat_map(|arm| {
        let shape = match arm.role {
            ArmRole::Encrypted => Shape::of(encrypted.iter().position(|name| *name == arm.name).unwrap_or(0)),
            ArmRole::Plain | ArmRole::Floor => Shape::floor(),
        };
        let levels = cell.phases.get(&arm.name);
        levels.into_iter().flat_map(move |levels| {
            [
                ("during", [levels.throughput_during, levels.p99_during]),
                ("after", [levels.throughput_after, levels.p99_after]),
            ]
            .map(|(when, changes)| Row {
                name: format!("{}, {when}", arm.name),
                shape,
                marks: changes.map(|change| Some(mark(change))).into(),
            })
        })
    });
    Group {
        name: cell.label.clone(),
        note: String::new(),
        rows: rows.collect(),
    }
}

fn mark(change: PhaseChange) -> Mark {
    Mark {
        center: change.ratio,
        interval: change.interval,
        floor: None,
        text: number::estimate(change.ratio, change.interval),
        verdict: None,
    }
}
