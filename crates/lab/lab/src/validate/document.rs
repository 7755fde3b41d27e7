//! The league of the planner as Markdown: predictions beside measurements.

use std::collections::BTreeSet;
use std::fmt::Write;

use selenite_plan::league::{League, LeagueErrors, LeagueRow, Measurement};
use selenite_plan::predict::{Estimate, Misfit};

use super::{ValidateError, Validation};
use crate::report::markdown::plain;
use crate::report::number;
use crate::summary::Summary;

/// The document.
///
/// # Errors
/// As of [`Validation::league`].
pub fn render(validation: &Validation) -> Result<String, ValidateError> {
    let league = validation.league()?;
    let mut out = INTRODUCTION.to_owned();
    out.push_str(&provenance(validation));
    let (physical, pooled): (Vec<&LeagueRow<'_>>, Vec<&LeagueRow<'_>>) =
        league.rows.iter().partition(|row| !row.forecast.has_pool);
    out.push_str("\n## Result\n\n");
    out.push_str(&result(&league, &physical));
    out.push_str("\n## By kind of work\n\n");
    out.push_str(&by_kind(&physical));
    let missed: Vec<&LeagueRow<'_>> = physical
        .iter()
        .copied()
        .filter(|row| !row.is_covered_without_own())
        .collect();
    out.push_str("\n## Misses\n\n");
    match (physical.is_empty(), missed.is_empty()) {
        (true, _) => out.push_str("No prediction was measured.\n"),
        (false, true) => out.push_str("Every measurement is within its interval.\n"),
        (false, false) => out.push_str(&table(&missed)),
    }
    if !pooled.is_empty() {
        out.push_str("\n## With the page pool\n\n");
        out.push_str(POOL);
        out.push_str(&pool_sentence(&pooled));
        out.push_str(&table(&pooled));
    }
    out.push_str("\n## All predictions\n\n");
    out.push_str(&table(&physical));
    Ok(out)
}

fn provenance(validation: &Validation) -> String {
    let calibration = &validation.predictions.calibration;
    let machine = &calibration.fingerprint;
    let mut out = format!(
        "- Machine: {}, {} processors ({}), kernel {}; Selenite {}, SQLite {}\n- Calibration: {}, {:.0} s, load {:.2}\n- Predictions: {}, SHA-256 `{}`\n",
        plain(machine.processor.trim()),
        machine.processors,
        plain(&machine.instructions),
        plain(machine.kernel.trim()),
        plain(&machine.selenite),
        plain(&machine.sqlite),
        plain(&calibration.made),
        calibration.seconds,
        calibration.load_average,
        plain(&validation.predictions.made),
        validation.sha256
    );
    for summary in &validation.summaries {
        let _ = writeln!(out, "- {}", study(summary));
    }
    out
}

fn study(summary: &Summary) -> String {
    let study = &summary.study;
    let cells = summary.cells.len();
    let commit = match study.commit.as_str() {
        "" => "unknown",
        commit => commit,
    };
    format!(
        "Study `{}`: {}, {} sessions, {cells} cells, commit {commit}, configuration SHA-256 `{}`",
        study.name,
        selenite::utc(study.created_s),
        study.sessions,
        study.config_sha256
    )
}

fn result(league: &League<'_>, rows: &[&LeagueRow<'_>]) -> String {
    let of = |rows: &[&LeagueRow<'_>]| LeagueErrors::of(rows.iter().copied());
    let Some(errors) = of(rows) else {
        return "No prediction was measured.\n".to_owned();
    };
    let cheap: Vec<&LeagueRow<'_>> = rows.iter().copied().filter(|row| row.measured.added < CHEAP).collect();
    let workloads: BTreeSet<&str> = rows.iter().map(|row| row.workload.workload.as_str()).collect();
    let misfit = Misfit::CALIBRATED;
    let needed = Misfit::UNIT.times(league.factor);
    let mut out = format!(
        "{} predictions of {} workloads.\n\n| | |\n|---|---|\n",
        errors.count,
        workloads.len()
    );
    let covered = |count: usize| format!("{count} of {} ({})", errors.count, percentage(count, errors.count));
    let mut row = |name: &str, value: String| {
        let _ = writeln!(out, "| {name} | {value} |");
    };
    let reached = rows.iter().filter(|row| row.is_reached()).count();
    row(
        "within the 90 % interval, misfit of the other workloads",
        covered(errors.covered_without_own),
    );
    row(
        "within the 90 % interval as it was written down",
        covered(errors.covered),
    );
    row(
        "prediction within the measurement's own 95 % interval",
        covered(reached),
    );
    row(
        "median error of the CPU time's ratio, where the measured cost is below 30 %",
        of(&cheap).map_or_else(|| "no such row".to_owned(), |errors| points(errors.median_points)),
    );
    let sure = |row: &&LeagueRow<'_>| row.half_width_points() <= SURE_POINTS;
    let cheap_and_sure: Vec<&LeagueRow<'_>> = cheap.iter().copied().filter(sure).collect();
    row(
        "of these, the rows whose measurement has a 95 % interval of \u{b1}5 points or less",
        of(&cheap_and_sure).map_or_else(
            || "no such row".to_owned(),
            |errors| format!("{} ({} rows)", points(errors.median_points), errors.count),
        ),
    );
    row("median error, all rows", points(errors.median_points));
    row("mean error, all rows", points(errors.mean_points));
    row(
        "mean of predicted less measured",
        format!("{:+.1} points", errors.bias_points),
    );
    let _ = write!(
        out,
        "\nThe misfit as it was written down: {:.0} % of the difference and {:.1} % of the cost of each operation.\n\
         The 90 % quantile of the misfits of these rows: {:.0} % and {:.1} %.\n",
        misfit.of_difference * 100.0,
        misfit.of_cost * 100.0,
        needed.of_difference * 100.0,
        needed.of_cost * 100.0
    );
    out
}

fn by_kind(rows: &[&LeagueRow<'_>]) -> String {
    let mut out =
        "| kind | predictions | within, misfit of the others | mean absolute error | predicted less measured \
                   |\n|---|---|---|---|---|\n"
            .to_owned();
    let mut kinds: Vec<&str> = Vec::new();
    for row in rows {
        if !kinds.contains(&row.workload.kind.as_str()) {
            kinds.push(&row.workload.kind);
        }
    }
    for kind in kinds {
        let of_kind = rows.iter().copied().filter(|row| row.workload.kind == kind);
        if let Some(errors) = LeagueErrors::of(of_kind) {
            let _ = writeln!(
                out,
                "| {kind} | {} | {} | {} | {:+.1} points |",
                errors.count,
                errors.covered_without_own,
                points(errors.mean_points),
                errors.bias_points
            );
        }
    }
    out
}

fn pool_sentence(rows: &[&LeagueRow<'_>]) -> String {
    let above = rows
        .iter()
        .filter(|row| row.measured.added <= row.forecast.added.high)
        .count();
    match LeagueErrors::of(rows.iter().copied()) {
        Some(errors) => format!(
            "{above} of {} measurements are below the upper end of the prediction; predicted less measured is {:+.1} points in \
             the mean.\n\n",
            errors.count, errors.bias_points
        ),
        None => String::new(),
    }
}

/// Rows of the league, each a cell and an arm.
fn table(rows: &[&LeagueRow<'_>]) -> String {
    let mut out = "| study | cell | arm | predicted | as written down | misfit of the others | measured | 95 % \
                   |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            plain(&row.workload.study),
            plain(&row.workload.label),
            plain(&row.forecast.arm),
            number::percent(row.forecast.added.value),
            ends(row.forecast.added),
            ends(row.without_own),
            number::percent(row.measured.added),
            measured_interval(row.measured)
        );
    }
    out
}

fn measured_interval(measured: Measurement) -> String {
    measured.interval.map_or_else(String::new, number::interval)
}

fn ends(estimate: Estimate) -> String {
    number::interval((estimate.low, estimate.high))
}

fn points(value: f64) -> String {
    format!("{value:.1} points")
}

fn percentage(part: usize, whole: usize) -> String {
    // Counts of rows.
    #[expect(clippy::cast_precision_loss, reason = "some hundred at most")]
    let share = part as f64 / whole as f64;
    format!("{:.0} %", share * 100.0)
}

/// Where the error in points counts: the cost of what people do.
const CHEAP: f64 = 0.30;
/// Half the width of a measurement's interval up to which its error is mostly the prediction's.
const SURE_POINTS: f64 = 5.0;

const INTRODUCTION: &str = "# Forecasts and what came of them

The [planner](PLANNING.md) predicted what encryption adds to the CPU time of these workloads; then the
[lab](LAB.md) measured it. One command makes this page: `selenite plan validate`.

- Each workload ran in clear with the extension, which counted the calls for its files. A prediction has
  these counts and a calibration of the machine, and nothing of the encrypted run.
- The predictions were written to a file before anything was measured. Its SHA-256 is a line of each
  study's configuration, and so a part of the configuration's own hash.
- A prediction has the surcharge of an operation among others ([PLANNING](PLANNING.md#how-sure)), which
  the calibration measured by a mix of its own, or else earlier leagues; this one had no part in it.
- The interval *as written down* has the misfit that was assumed before. That *of the others* has the
  misfit of the results of all other workloads (split conformal): a workload has no part in its own.
- Predicted and measured are CPU time with encryption, less that of stock SQLite in clear, as a share of
  the latter. Below zero, encryption saves.

";

const POOL: &str = "The model knows neither which reads Selenite's page pool answers nor what looking there costs.\n";
