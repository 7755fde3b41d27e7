//! `selenite lab compare`.

use selenite_lab::compare::{Change, compare};
use selenite_lab::report::{estimate, metric, percent};
use selenite_lab::summary::Metric;

use super::{data, summary};
use crate::arguments::lab::LabCompare;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::output::print;

pub fn run(arguments: &LabCompare) -> Result<(), CliError> {
    let (first, second) = (summary(&arguments.first)?, summary(&arguments.second)?);
    let comparison = compare(&first, &second, &first.foremost()).map_err(|error| data(error.to_string()))?;
    if arguments.json {
        return Ok(print(&serde_json::to_string(&comparison).unwrap_or_default())?);
    }
    for warning in &comparison.warnings {
        say!("warning: {warning}");
    }
    let mut lines = Lines::default();
    for change in &comparison.changes {
        lines.add(&name(change), words(change));
    }
    lines.add_all("only in one", comparison.alone);
    Ok(print(&lines.text())?)
}

fn name(change: &Change) -> String {
    let metric = match change.metric == Metric::Elapsed {
        true => "elapsed",
        false => metric(change.metric),
    };
    format!("{}, {}, {metric}", change.cell, change.arm)
}

fn words(change: &Change) -> String {
    let verdict = match (change.resolved, change.change > 0.0) {
        (false, _) => "not distinguishable from noise",
        (true, true) => "dearer",
        (true, false) => "cheaper",
    };
    format!(
        "{} -> {}, change {} of the work: {verdict}",
        percent(change.before.0),
        percent(change.after.0),
        estimate(change.change, change.interval)
    )
}
