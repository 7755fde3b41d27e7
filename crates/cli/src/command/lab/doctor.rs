//! `selenite lab doctor`.

use selenite_lab::doctor::{Check, CheckResult, Examination, contract, worst};
use selenite_lab::drive::WorkerCommand;
use selenite_lab::host::Source;

use super::engines;
use crate::arguments::lab::LabDoctor;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::output::print;

pub fn run(arguments: &LabDoctor) -> Result<(), CliError> {
    let checks = match &arguments.worker {
        Some(program) => contract(&WorkerCommand::new(program), &arguments.folder),
        None => Examination {
            source: Source::default(),
            folder: arguments.folder.clone(),
            bytes: ROOM,
            engines: engines()?,
        }
        .run(),
    };
    let text = if arguments.json {
        serde_json::to_string(&checks).unwrap_or_default()
    } else {
        lines(&checks).text()
    };
    print(&text)?;
    match worst(&checks) {
        CheckResult::Ok | CheckResult::Warn => Ok(()),
        CheckResult::Fail => Err(CliError::Answer(1)),
    }
}

fn lines(checks: &[Check]) -> Lines {
    let mut lines = Lines::default();
    for check in checks {
        let mark = match check.state {
            CheckResult::Ok => "ok   ",
            CheckResult::Warn => "note ",
            CheckResult::Fail => "FAIL ",
        };
        lines.add(&check.name, format!("{mark} {}", check.finding));
        if let Some(advice) = &check.advice {
            lines.add("", format!("      {advice}"));
        }
    }
    lines
}

/// The space for a study of 1 GiB with the arms of a preset.
const ROOM: u64 = 8 << 30;
