//! The first screen: the verdicts, the forest plot, four tiles, and the limits of the figures.

use super::forest::{Group, Mark, Panel, Row, badge, forest};
use super::table::{folded, table};
use crate::disqualification::Disqualification;
use crate::report::scale::Scale;
use crate::report::svg::{Shape, typeset};
use crate::report::{control, number, sentence, transit};
use crate::summary::as_f64;
use crate::summary::{ArmRole, CellSummary, Effect, LatencyCurve, Metric, PhaseLevels, Summary};

/// A sentence for each encrypted arm, and the reasons for or against a verdict.
pub fn verdicts(summary: &Summary, disqualifications: &[Disqualification]) -> String {
    let mut out = String::new();
    if !disqualifications.is_empty() {
        let text = typeset(&sentence::no_verdict(disqualifications));
        out.push_str(&format!(
            "<p class=\"warning\" role=\"note\"><b>Not conclusive.</b> {text}</p>"
        ));
    }
    out.push_str("<ul class=\"verdicts\">");
    for (index, arm) in sentence::encrypted(summary).into_iter().enumerate() {
        let key = Shape::of(index).key();
        let Some(overall) = summary.overall.iter().find(|overall| overall.arm == arm) else {
            let arm = typeset(arm);
            out.push_str(&format!(
                "<li>{key}<div><p>{arm}: no gating cell has figures.</p></div></li>"
            ));
            continue;
        };
        let (words, state) = if disqualifications.is_empty() {
            (sentence::overall(summary, overall), badge(overall.verdict))
        } else {
            let none = "<span class=\"state open\"><span aria-hidden=\"true\">\u{25cb}</span> no verdict</span>";
            (
                format!("So far {}", sentence::figures(summary, overall)),
                none.to_owned(),
            )
        };
        let more = [
            sentence::range(summary, arm, summary.foremost()[1]),
            page_cost(summary, arm),
        ];
        let more = more
            .into_iter()
            .flatten()
            .map(|text| typeset(&text))
            .collect::<Vec<_>>()
            .join(" ");
        let words = typeset(&words);
        out.push_str(&format!(
            "<li>{key}<div><p>{words}.</p><p class=\"more\">{more}</p></div>{state}</li>"
        ));
    }
    out.push_str("</ul>");
    if let Some(extended) = sentence::extended(summary) {
        out.push_str(&format!("<p class=\"note\">{}</p>", typeset(&extended)));
    }
    out
}

fn page_cost(summary: &Summary, arm: &str) -> Option<String> {
    let (low, high) = sentence::per_page(summary, arm)?;
    let (low, high) = (number::microseconds(low), number::microseconds(high));
    let noun = transit::page(summary);
    Some(if low == high {
        format!("{low} us of CPU for each {noun}.")
    } else {
        format!("{low} to {high} us of CPU for each {noun}.")
    })
}

/// Cells by arms, for CPU and elapsed time.
pub fn effects(summary: &Summary, disqualifications: &[Disqualification]) -> String {
    let arms = sentence::shown(summary);
    let limit = summary.study.limit;
    let panel = |metric: Metric, name: &str, apart: f64| {
        let effects = summary.cells.iter().flat_map(|cell| &cell.effects);
        let effects = effects.filter(|effect| effect.metric == metric && arms.contains(&effect.arm.as_str()));
        let values: Vec<f64> = effects.flat_map(all_values).collect();
        Panel {
            name: name.to_owned(),
            scale: Scale::ratios(values.into_iter(), limit),
            limit: Some(limit),
            apart,
            tick: short_percent,
        }
    };
    let metrics = summary.foremost();
    let panels = [
        panel(metrics[0], title(metrics[0]), 0.13),
        panel(metrics[1], title(metrics[1]), 0.2),
    ];
    let groups = summary
        .cells
        .iter()
        .map(|cell| group(cell, metrics, &arms, disqualifications));
    let groups: Vec<Group> = groups.collect();
    if groups.iter().all(|group| group.rows.is_empty()) {
        return String::new();
    }
    let bent = panels.iter().any(|panel| panel.scale.is_bent());
    let axis = if bent {
        " The axis is linear around zero and logarithmic farther out."
    } else {
        ""
    };
    let of = match summary.judged() == Metric::Slowdown {
        true => " of what each became beside its own before, in the same block,",
        false => "",
    };
    let caption = format!(
        "(encrypted - plain) / plain{of} with 95 % intervals. Shaded: the floor, what a second unencrypted copy differs by. \
         Dashed: the limit of {}.{axis}",
        number::share(limit)
    );
    let plot = forest(
        "forest",
        &format!(
            "What each arm costs in each cell: {} and {}",
            sentence::metric(metrics[0]),
            sentence::metric(metrics[1])
        ),
        &panels,
        &groups,
    );
    let corrected = sentence::corrected(summary).filter(|_| disqualifications.is_empty());
    let caption = [Some(caption), corrected]
        .into_iter()
        .flatten()
        .chain(control::all(summary))
        .collect::<Vec<_>>()
        .join(" ");
    format!(
        "<figure>{plot}<figcaption>{}</figcaption>{}</figure>",
        typeset(&caption),
        effect_table(summary, disqualifications)
    )
}

/// The title of a panel.
fn title(metric: Metric) -> &'static str {
    let titles = [
        (Metric::Slowdown, "Time of a loop, %"),
        (Metric::TailSlowdown, "99th percentile, %"),
        (Metric::Elapsed, "Elapsed time, %"),
    ];
    let found = titles.into_iter().find(|(of, _)| *of == metric);
    found.map_or("CPU time, %", |(_, title)| title)
}

fn group(cell: &CellSummary, metrics: [Metric; 2], arms: &[&str], disqualifications: &[Disqualification]) -> Group {
    let mark = |arm: &str, metric: Metric| {
        sentence::effect_in(cell, arm, metric).map(|effect| Mark {
            center: effect.ratio,
            interval: effect.interval,
            floor: effect.floor,
            text: number::estimate(effect.ratio, effect.interval),
            verdict: (disqualifications.is_empty() && metric == cell.judged()).then_some(effect.verdict),
        })
    };
    let rows = arms.iter().enumerate().map(|(index, arm)| Row {
        name: (*arm).to_owned(),
        shape: Shape::of(index),
        marks: metrics.map(|metric| mark(arm, metric)).into(),
    });
    let note = if cell.gating {
        String::new()
    } else {
        "exploratory".to_owned()
    };
    Group {
        name: cell.label.clone(),
        note,
        rows: rows.filter(|row| row.marks.iter().any(Option::is_some)).collect(),
    }
}

fn effect_table(summary: &Summary, disqualifications: &[Disqualification]) -> String {
    let mut rows = Vec::new();
    for cell in &summary.cells {
        for effect in cell
            .effects
            .iter()
            .filter(|effect| summary.foremost().contains(&effect.metric))
        {
            rows.push(vec![
                cell.label.clone(),
                effect.arm.clone(),
                sentence::metric(effect.metric).to_owned(),
                number::percent(effect.ratio),
                effect.interval.map(number::interval).unwrap_or_default(),
                effect.bootstrap.map(number::interval).unwrap_or_default(),
                effect.floor.map(number::interval).unwrap_or_default(),
                effect.sessions.to_string(),
                effect.pairs.to_string(),
                effect.outliers.to_string(),
                verdict_words(cell, effect, summary, disqualifications),
            ]);
        }
    }
    let head = [
        "Cell",
        "Arm",
        "Metric",
        "Ratio",
        "95 %, by t",
        "By bootstrap",
        "Second copy",
        "Sessions",
        "Pairs",
        "Outliers",
        "Verdict",
    ];
    folded(
        "The figures of this chart",
        &table("What each arm costs in each cell", &head, &rows),
    )
}

fn verdict_words(
    cell: &CellSummary,
    effect: &Effect,
    summary: &Summary,
    disqualifications: &[Disqualification],
) -> String {
    let floor = summary
        .arms
        .iter()
        .any(|arm| arm.name == effect.arm && arm.role == ArmRole::Floor);
    match (floor, disqualifications.is_empty(), cell.gating) {
        (true, ..) => "a second copy".to_owned(),
        (_, false, _) => "none".to_owned(),
        (_, _, true) => sentence::state(effect.verdict).to_owned(),
        (_, _, false) => format!("{} (exploratory)", sentence::state(effect.verdict)),
    }
}

/// The four most important figures.
pub fn tiles(summary: &Summary) -> String {
    let arms = sentence::encrypted(summary);
    let tile = |title: &str, note: &str, figure: &dyn Fn(&str) -> Option<(String, String)>| {
        let mut rows = String::new();
        for (index, arm) in arms.iter().enumerate() {
            let (large, small) = figure(arm).unwrap_or(("none".to_owned(), String::new()));
            let (name, large, small) = (typeset(arm), typeset(&large), typeset(&small));
            let key = Shape::of(index).key();
            rows.push_str(&format!(
                "<div><dt>{key}{name}</dt><dd><b>{large}</b><small>{small}</small></dd></div>"
            ));
        }
        format!(
            "<div class=\"tile\"><h3>{}</h3><dl>{rows}</dl><p>{}</p></div>",
            typeset(title),
            typeset(note)
        )
    };
    let dearest = |arm: &str| {
        let overall = summary.overall.iter().find(|overall| overall.arm == arm)?;
        let cell = sentence::cell_label(summary, &overall.dearest.0);
        Some((number::percent(overall.dearest.1), cell.to_owned()))
    };
    let page = |arm: &str| {
        let (low, high) = sentence::per_page(summary, arm)?;
        let (low, high) = (number::microseconds(low), number::microseconds(high));
        Some(if low == high {
            (format!("{low} us"), String::new())
        } else {
            (format!("{high} us"), format!("from {low}"))
        })
    };
    let size = |arm: &str| {
        let arm = summary.arms.iter().find(|facts| facts.name == arm)?;
        let control = summary
            .arms
            .iter()
            .find(|facts| Some(&facts.name) == arm.control.as_ref())?;
        let (bytes, base) = (as_f64(arm.bytes), as_f64(control.bytes));
        let both = format!("{}, was {}", number::bytes(bytes), number::bytes(base));
        (base > 0.0).then(|| (number::percent(bytes / base - 1.0), both))
    };
    let first = match summary.judged() == Metric::Slowdown {
        true => reencryption_tiles(summary, &tile),
        false => format!(
            "{}{}",
            tile(
                "Extra CPU, dearest gating cell",
                "(encrypted - plain) / plain",
                &dearest
            ),
            tile(
                "CPU for each page",
                "read or written; gating cells, where it is off zero",
                &page
            )
        ),
    };
    format!(
        "<div class=\"tiles\">{first}{}{}</div>",
        latency_tile(summary, &tile),
        tile("Extra size on disk", "when loaded", &size)
    )
}

/// The slowdown of work by a re-encryption, and the speed of the re-encryption.
fn reencryption_tiles(summary: &Summary, tile: &dyn Fn(&str, &str, Figure<'_>) -> String) -> String {
    let throughput = tile(
        "Throughput lost, dearest gating cell",
        "while pages are re-encrypted, beside before",
        &|arm| throughput_loss(summary, arm),
    );
    let pages = tile("Pages re-encrypted", "with others at work, in that cell", &|arm| {
        sealed(summary, arm)
    });
    format!("{throughput}{pages}")
}

/// In the gating cell with the largest slowdown: the change of the arm, and its throughput before and during.
fn throughput_loss(summary: &Summary, arm: &str) -> Option<(String, String)> {
    let (_, levels) = slowest(summary, arm)?;
    let [before, during, _] = levels.loops_per_s.map(number::count);
    let words = format!("{before}, then {during} loops/s");
    Some((number::percent(levels.throughput_during.ratio), words))
}

fn sealed(summary: &Summary, arm: &str) -> Option<(String, String)> {
    let sealing = slowest(summary, arm)?.1.sealing.as_ref()?;
    let rate = format!("{} pages/s", number::count(sealing.pages_per_s));
    let words = format!(
        "{} a second, {}",
        number::bytes(sealing.bytes_per_s),
        number::duration(sealing.seconds * 1e9)
    );
    Some((rate, words))
}

fn slowest<'a>(summary: &'a Summary, arm: &str) -> Option<(&'a CellSummary, &'a PhaseLevels)> {
    let gating = summary.cells.iter().filter(|cell| cell.gating);
    let found = gating.filter_map(|cell| Some((cell, cell.phases.get(arm)?)));
    found.min_by(|a, b| a.1.throughput_during.ratio.total_cmp(&b.1.throughput_during.ratio))
}

type Figure<'a> = &'a dyn Fn(&str) -> Option<(String, String)>;

/// The 99th percentile of latency if there are latencies, otherwise elapsed time.
fn latency_tile(summary: &Summary, tile: &dyn Fn(&str, &str, Figure<'_>) -> String) -> String {
    if summary.judged() == Metric::Slowdown {
        let p99 = |arm: &str| {
            let (_, levels) = slowest(summary, arm)?;
            let [before, during, _] = levels.p99_ns.map(number::duration);
            Some((
                number::percent(levels.p99_during.ratio),
                format!("{before}, then {during}"),
            ))
        };
        return tile(
            "99th percentile of latency",
            "while pages are re-encrypted, beside before; informational",
            &p99,
        );
    }
    let curves = summary.cells.iter().filter(|cell| !cell.latencies.is_empty());
    let busiest = curves.max_by_key(|cell| (cell.gating, cell.latencies.iter().map(|curve| curve.count).max()));
    let operation =
        busiest.and_then(|cell| Some((cell, &cell.latencies.iter().max_by_key(|curve| curve.count)?.operation)));
    if let Some((cell, operation)) = operation {
        let p99 = |arm: &str| {
            let facts = summary.arms.iter().find(|facts| facts.name == arm)?;
            let (own, base) = (
                curve(cell, operation, arm)?,
                curve(cell, operation, facts.control.as_deref()?)?,
            );
            let (own, base) = (percentile(own, 99.0)?, percentile(base, 99.0)?);
            let both = format!("{}, was {}", number::duration(own), number::duration(base));
            (base > 0.0).then(|| (number::percent(own / base - 1.0), both))
        };
        let note = format!("{operation} in {}; informational", cell.label);
        return tile("99th percentile of latency", &note, &p99);
    }
    let elapsed = |arm: &str| {
        let gating = summary.cells.iter().filter(|cell| cell.gating);
        let found = gating.filter_map(|cell| Some((cell, sentence::effect_in(cell, arm, Metric::Elapsed)?)));
        let (cell, effect) = found.max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio))?;
        Some((number::percent(effect.ratio), cell.label.clone()))
    };
    tile(
        "Extra elapsed time, dearest gating cell",
        "(encrypted - plain) / plain",
        &elapsed,
    )
}

/// The latency curve of an arm and an operation.
pub fn curve<'a>(cell: &'a CellSummary, operation: &str, arm: &str) -> Option<&'a LatencyCurve> {
    cell.latencies
        .iter()
        .find(|curve| curve.arm == arm && curve.operation == operation)
}

/// A percentile of a curve in nanoseconds: the first point that reaches it.
pub fn percentile(curve: &LatencyCurve, percentile: f64) -> Option<f64> {
    curve
        .points
        .iter()
        .find(|(at, _)| *at >= percentile)
        .map(|(_, ns)| as_f64(*ns))
}

/// The limits of the figures.
pub fn limits(summary: &Summary) -> String {
    let warnings = summary.host.warnings.iter().chain(&summary.limits);
    let items: String = warnings
        .map(|limit| format!("<li>{}</li>", typeset(&sentence::statement(limit))))
        .collect();
    format!(
        "<aside class=\"limits\" aria-labelledby=\"limits-h\"><h3 id=\"limits-h\">What this does not cover</h3><ul>{items}</ul></aside>"
    )
}

fn all_values(effect: &Effect) -> Vec<f64> {
    let ends = [effect.interval, effect.floor].into_iter().flatten();
    ends.flat_map(|(low, high)| [low, high]).chain([effect.ratio]).collect()
}

/// A percentage for an axis label.
pub fn short_percent(ratio: f64) -> String {
    let text = number::share(ratio);
    let text = text.trim_end_matches(" %");
    if ratio > 0.0 {
        format!("+{text}")
    } else {
        text.to_owned()
    }
}
