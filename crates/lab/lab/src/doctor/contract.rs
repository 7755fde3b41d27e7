//! The conformance check of a worker from another source.

use std::path::Path;
use std::process::Command;

use selenite_doctor::Check;
use selenite_worker::contract::check;

use crate::drive::WorkerCommand;

/// Checks a worker against the contract, with files of some MiB in `folder`, deleted afterwards. A
/// worker that cannot be started has one failed check.
#[must_use]
pub fn contract(command: &WorkerCommand, folder: &Path) -> Vec<Check> {
    let start = || {
        let mut process = Command::new(&command.program);
        process.args(&command.args).envs(&command.environment);
        process
    };
    let findings = check(&start, folder).into_iter();
    let checks = findings.map(|finding| match finding.passed {
        true => Check::ok(&finding.name, finding.detail),
        false => Check::problem(&finding.name, finding.detail, ADVICE),
    });
    checks.collect()
}

const ADVICE: &str = "see the worker's protocol: studies refuse a worker that fails";
