//! `selenite lab bisect`.

use selenite_lab::bisect::{BisectQuestion, Compared, bisect};
use selenite_lab::summary::Metric;

use super::gate::{metric, percent};
use super::{material, usage};
use crate::arguments::lab::{BisectOf, LabBisect};
use crate::cli_error::CliError;
use crate::output::print;

pub fn run(arguments: &LabBisect) -> Result<(), CliError> {
    let found = material(&arguments.store)?;
    let limit = arguments
        .limit
        .as_deref()
        .map_or(Ok(found.config.study.limit), |text| {
            let wrong = || usage(format!("`{text}` is not a percentage above 0"), "give one such as 3%");
            percent(text).filter(|limit| *limit > 0.0).ok_or_else(wrong)
        })?;
    let is_online = found.cells.iter().any(|row| row.cell.online.is_some());
    let judged = match is_online {
        true => Metric::Slowdown,
        false => Metric::Cpu,
    };
    let question = BisectQuestion {
        arms: arguments.arms.clone(),
        cell: arguments.cell.clone(),
        metric: arguments.metric.as_deref().map_or(Ok(judged), metric)?,
        limit,
        of: arguments.of.map(|of| match of {
            BisectOf::Arm => Compared::Arm,
            BisectOf::Plain => Compared::Plain,
            BisectOf::Cost => Compared::Cost,
        }),
    };
    let answer = bisect(&found, &question)?;
    let outcome = answer.outcome().exit_code();
    match arguments.json {
        true => print(&serde_json::to_string(&answer).unwrap_or_default())?,
        false => print(&answer.to_string())?,
    }
    match outcome {
        0 => Ok(()),
        code => Err(CliError::Answer(code)),
    }
}
