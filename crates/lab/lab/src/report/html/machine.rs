//! The state of the machine during the study, and the void blocks.

use super::table::table;
use crate::load;
use crate::report::scale::Scale;
use crate::report::svg::{chart, line, path, text, typeset};
use crate::report::{number, sentence};
use crate::summary::{HostSample, Metric, Summary};

type Strip = (
    &'static str,
    &'static str,
    fn(&HostSample) -> Option<f64>,
    fn(f64) -> String,
);

/// Whether each session was quiet, and the rule.
pub fn sessions(summary: &Summary) -> String {
    let sessions = load::sessions(summary);
    let share = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), number::share);
    let rows = sessions.iter().map(|session| {
        vec![
            session.session.to_string(),
            load::name(session.state).to_owned(),
            share(session.others),
            share(session.steal),
            share(session.cpu_pressure),
            share(session.io_pressure),
            format!("{} of {}", session.disturbed, session.blocks),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        "Session",
        "Machine",
        "Others",
        "Steal",
        "CPU pressure",
        "Storage pressure",
        "Blocks with much else at work",
    ];
    format!(
        "<p>{}.</p><p class=\"note\">{}</p>{}",
        typeset(&load::words(&sessions)),
        typeset(load::RULE),
        table("The machine in each session, means of its blocks", &head, &rows)
    )
}

/// A strip chart for each observed quantity.
pub fn strips(summary: &Summary) -> String {
    let samples = &summary.evidence.samples;
    let along = Scale::linear(samples.iter().map(|sample| sample.at_s));
    let mut charts = String::new();
    let mut rows = Vec::new();
    for (index, (name, about, value, words)) in STRIPS.iter().enumerate() {
        let known: Vec<(f64, f64)> = samples
            .iter()
            .filter_map(|sample| Some((sample.at_s, value(sample).filter(|value| value.is_finite())?)))
            .collect();
        let mut sorted: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
        sorted.sort_by(f64::total_cmp);
        let (Some(most), Some(median)) = (sorted.last().copied(), sorted.get(sorted.len() / 2).copied()) else {
            rows.push(vec![
                (*name).to_owned(),
                (*about).to_owned(),
                "unknown".to_owned(),
                String::new(),
                String::new(),
            ]);
            continue;
        };
        let drawn = strip(&format!("strip-{index}"), name, &known, &along, (most, median), *words);
        charts.push_str(&format!("<figure><h3>{}</h3>{drawn}</figure>", typeset(name)));
        let high = sorted.get(sorted.len() * 9 / 10).copied().unwrap_or(most);
        rows.push(vec![
            (*name).to_owned(),
            (*about).to_owned(),
            words(median),
            words(high),
            words(most),
        ]);
    }
    let head = ["Watched", "What it is", "Median", "90 % below", "Most"];
    let table = table("The machine while blocks ran", &head, &rows);
    if samples.is_empty() {
        String::new()
    } else {
        format!("<div class=\"multiples\">{charts}</div>{table}")
    }
}

fn strip(
    id: &str,
    name: &str,
    known: &[(f64, f64)],
    along: &Scale,
    sizes: (f64, f64),
    words: fn(f64) -> String,
) -> String {
    let (most, median) = sizes;
    let least = known.iter().map(|(_, value)| *value).fold(most, f64::min);
    // The axis of shares starts at 0; that of a frequency does not, because it would show no change.
    let floor = if most <= 1.0 { 0.0 } else { least };
    let up = Scale::linear([floor, most.max(floor + 0.01)].into_iter());
    let y = |value: f64| (1.0 - up.at(value)) * HEIGHT;
    let x = |at: f64| LEFT + along.at(at) * (1.0 - LEFT);
    let mut body = String::new();
    for value in [floor, most] {
        body.push_str(&line((LEFT, y(value)), (1.0, y(value)), "grid"));
        body.push_str(&text(LEFT - 0.015, y(value) + 4.0, "end", "tick", &words(value)));
    }
    let points: Vec<(f64, f64)> = known.iter().map(|(at, value)| (x(*at), y(*value))).collect();
    body.push_str(&path(&points, HEIGHT, "course"));
    chart(
        id,
        HEIGHT,
        name,
        &format!("Median {}, at most {}.", words(median), words(most)),
        &body,
    )
}

/// Void blocks by reason; outliers, which count; pairs excluded as warm-up.
pub fn exceptions(summary: &Summary) -> String {
    let evidence = &summary.evidence;
    let void: u32 = evidence.void.values().sum();
    let mut words = format!(
        "{} blocks count, {void} do not.",
        number::count(f64::from(evidence.blocks))
    );
    words.push_str(
        " Why a block does not count is decided by rules that do not look at what it took; its pair goes with it.",
    );
    let void = evidence
        .void
        .iter()
        .map(|(reason, count)| vec![reason.clone(), count.to_string()]);
    let mut rows = Vec::new();
    for cell in &summary.cells {
        for effect in cell
            .effects
            .iter()
            .filter(|effect| matches!(effect.metric, Metric::Cpu | Metric::Elapsed))
        {
            let name = sentence::metric(effect.metric).to_owned();
            let counts = [effect.outliers.to_string(), effect.pairs.to_string()];
            rows.push([vec![cell.label.clone(), effect.arm.clone(), name], counts.to_vec()].concat());
        }
    }
    let warm = summary.cells.iter().map(|cell| {
        let about = if cell.cache == "cold" {
            "none: it is the first touch"
        } else {
            ""
        };
        vec![
            cell.label.clone(),
            cell.warm_up.pairs.to_string(),
            cell.warm_up.unsteady.to_string(),
            about.to_owned(),
        ]
    });
    let outliers = table(
        "Pairs beyond 5 median absolute deviations; they count",
        &["Cell", "Arm", "Metric", "Outliers", "of pairs"],
        &rows,
    );
    let warm_head = ["Cell", "Pairs left out", "Sessions never steady", ""];
    let warm = table("Warm-up", &warm_head, &warm.collect::<Vec<_>>());
    let void = table(
        "Blocks that do not count",
        &["Reason", "Blocks"],
        &void.collect::<Vec<_>>(),
    );
    format!(
        "<p>{}</p>{void}{warm}{}",
        typeset(&words),
        super::table::folded("Outliers by cell and arm", &outliers)
    )
}

const STRIPS: [Strip; 5] = [
    (
        "Steal",
        "CPU time that the hypervisor gave to others, of all cores",
        |sample| sample.steal,
        number::share,
    ),
    (
        "Others",
        "CPU time that other processes used, of all cores",
        |sample| sample.others,
        number::share,
    ),
    (
        "CPU pressure",
        "time that some task waited for a CPU",
        |sample| sample.cpu_pressure,
        number::share,
    ),
    (
        "Storage pressure",
        "time that some task waited for storage",
        |sample| sample.io_pressure,
        number::share,
    ),
    (
        "Frequency",
        "mean of the cores",
        |sample| sample.mhz,
        |mhz| format!("{mhz:.0} MHz"),
    ),
];

const HEIGHT: f64 = 64.0;

const LEFT: f64 = 0.16;
