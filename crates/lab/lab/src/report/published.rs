//! A published measurement beside the study that repeats it, in words and rows for all reports.

use super::{number, sentence};
use crate::summary::{FigureComparison, PublishedMethodErrors, Rerun, Summary};

/// The source in one sentence.
pub fn source(rerun: &Rerun) -> String {
    let of = &rerun.source;
    format!(
        "{}, \"{}\", {}, {}: {}; {}; {}.",
        of.author, of.title, of.place, of.year, of.engine, of.scale, of.machine
    )
}

/// Its method in one sentence.
pub fn method(rerun: &Rerun) -> String {
    let of = &rerun.source;
    let runs = match of.runs {
        1 => "one run".to_owned(),
        runs => format!("the mean of {runs} runs"),
    };
    let restart = match of.restarted {
        true => "with new databases and processes in between",
        false => "one directly after the other",
    };
    format!(
        "Its method: {}. It is simulated as {runs} of each arm, {restart}.",
        of.method
    )
}

/// What was measured here: each arm with the size of its database.
pub fn scale(summary: &Summary, rerun: &Rerun) -> String {
    let named = |arm: &&str| rerun.figures.iter().any(|figure| figure.arm == **arm);
    let arms = sentence::encrypted(summary).into_iter().filter(named);
    let facts = arms.filter_map(|name| summary.arms.iter().find(|arm| arm.name == name));
    let sizes = facts.map(|arm| {
        let size = number::bytes(crate::summary::as_f64(arm.bytes));
        format!("{}, {size}", arm.label)
    });
    let sizes: Vec<String> = sizes.collect();
    let load = crate::load::words(&crate::load::sessions(summary));
    format!("Here: {}; {load}.", sizes.join("; "))
}

/// The column headers of [`rows`].
pub const HEAD: [&str; 7] = [
    "figure",
    "published",
    "cost, published",
    "cost here, 95 %",
    "no cost would be reported as, 90 %",
    "wrong sign",
    "false alarm",
];

/// A row for each figure.
pub fn rows(rerun: &Rerun) -> Vec<Vec<String>> {
    rerun.figures.iter().map(row).collect()
}

fn row(figure: &FigureComparison) -> Vec<String> {
    let published = match &figure.remark {
        Some(remark) => format!("{} ({remark})", figure.as_published),
        None => figure.as_published.clone(),
    };
    let cells = match figure.cells.as_slice() {
        [only] => format!("{}: {} in {only}", figure.what, figure.arm),
        several => format!("{}: {} in {} cells", figure.what, figure.arm, several.len()),
    };
    let ours = figure.ours.map_or_else(
        || "not measured".to_owned(),
        |ours| number::estimate(ours.ratio, ours.interval),
    );
    let errors = figure.errors;
    let unknown = || "unknown".to_owned();
    vec![
        cells,
        published,
        number::percent(figure.published),
        ours,
        errors.map_or_else(unknown, |errors| number::interval(errors.spread)),
        errors.map_or_else(unknown, wrong_sign),
        errors.map_or_else(unknown, |errors| in_hundred(errors.false_alarms)),
    ]
}

/// How often the sign is wrong: if our cost is the true one, and if the published one is.
fn wrong_sign(errors: PublishedMethodErrors) -> String {
    let of = |share: Option<f64>, whose: &str| share.map(|share| format!("{} if {whose} is true", in_hundred(share)));
    let all = [
        of(errors.wrong_sign_ours, "ours"),
        of(errors.wrong_sign_published, "theirs"),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    match all.is_empty() {
        true => "no cost, no sign".to_owned(),
        false => all.join(", "),
    }
}

/// A share as a count of a hundred; the simulation knows no more.
fn in_hundred(share: f64) -> String {
    match share {
        _ if share <= 0.0 => "none seen".to_owned(),
        _ if share < 0.005 => "under 1 in 100".to_owned(),
        _ => format!("{:.0} in 100", share * 100.0),
    }
}

/// A sentence for each figure, for a terminal.
pub fn sentences(rerun: &Rerun) -> Vec<String> {
    rerun.figures.iter().map(sentence_of).collect()
}

fn sentence_of(figure: &FigureComparison) -> String {
    let row = row(figure);
    let [what, as_published, published, ours, spread, wrong, alarm] = row.as_slice() else {
        return String::new();
    };
    let errors = match figure.errors {
        Some(_) => format!(
            " The published method would report {spread} % for no cost at all (nine of ten); wrong sign: {wrong}; false alarm: {alarm}."
        ),
        None => " Too few sessions to say how far the published method may be wrong.".to_owned(),
    };
    format!("{what}: published {as_published}, a cost of {published}; here {ours}.{errors}")
}

/// How the columns are to be read.
pub fn about(rerun: &Rerun) -> String {
    let drawn = rerun.figures.iter().find_map(|figure| figure.errors);
    let from = drawn.map_or_else(String::new, |errors| {
        format!(
            " {} simulated measurements from the {} sessions of this study, seed {}.",
            number::count(f64::from(errors.replicates)),
            errors.sessions,
            errors.seed
        )
    });
    format!("{ABOUT}{from}")
}

const ABOUT: &str = "Costs are (encrypted - plain) / plain of the time; a loss of throughput is converted. The last three \
    columns ask how far to trust a figure that was measured as the source did it, if the noise was as it is here: \
    the blocks of this study are drawn again, in stretches of successive blocks and in whole sessions, so that drift and \
    the luck of a start remain. \"No cost would be reported as\": the range of nine of ten such measurements where \
    encryption costs nothing. \"Wrong sign\": how many would report a saving instead of the cost, or the reverse. \"False \
    alarm\": how many would report at least the published cost (or saving) although there is none. This is the noise of \
    our machine and of blocks of our length, not of the source's: a quieter machine errs less, a longer run averages \
    short noise and meets more drift.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_no_more_digits_than_the_simulation_knows() {
        assert_eq!(
            [0.0, 0.001, 0.006, 0.474, 1.0].map(in_hundred),
            ["none seen", "under 1 in 100", "1 in 100", "47 in 100", "100 in 100"]
        );
    }
}
