//! `selenite plan calibrate`, and `selenite plan-session`, which it starts.

use std::path::Path;
use std::time::Duration;

use rustix::process::{Signal, set_parent_process_death_signal};
use selenite::{Access, Suite};
use selenite_lab::calibrate::{CalibrateError, CalibrationProgress, CalibrationRequest, calibrate, fingerprint, table};
use selenite_lab::host::Source;
use selenite_lab::replay::session::serve;

use super::calibration;
use crate::arguments::plan::PlanCalibrate;
use crate::cli_error::CliError;
use crate::command::lab::engines;
use crate::interrupt;
use crate::output::{note, print};
use crate::output_files::{OutputFiles, write_file};
use crate::printable;

pub fn run(arguments: &PlanCalibrate, access: &Access) -> Result<(), CliError> {
    if let Some(path) = &arguments.check {
        return check(path);
    }
    if arguments.suite.contains(&Suite::None) {
        return Err(CliError::Lab {
            what: "the suite NONE does not encrypt: every calibration has the costs in clear".to_owned(),
            next: "name suites that encrypt, or none for all".to_owned(),
            status: USAGE,
        });
    }
    let outputs = OutputFiles::checked([("--output", Some(&arguments.output))], &[], access)?;
    let interrupted = interrupt::install();
    let request = CalibrationRequest {
        engines: engines()?,
        output: arguments.output.clone(),
        duration: Duration::from_secs(arguments.seconds.into()),
        suites: arguments.suite.clone(),
        interrupt: &interrupted,
    };
    let mut shown = Vec::new();
    let report = calibrate(&request, &mut |progress| {
        note(&line(&progress));
        if let CalibrationProgress::Note(text) = progress {
            shown.push(text);
        }
    })?;
    write_file(&arguments.output, &report.calibration.text()?)?;
    let mut text = table(&report);
    for note in report.notes.iter().filter(|note| !shown.contains(note)) {
        text.push_str(&format!("note: {note}\n"));
    }
    let output = arguments.output.display();
    text.push_str(&format!(
        "{output}: written, after {:.0} s; next: selenite plan observe\n",
        report.calibration.seconds
    ));
    Ok(outputs.show(&text)?)
}

/// What the parent of a session starts.
pub fn run_session(spec: &str) -> Result<(), CliError> {
    // A parent that is killed can't end its sessions. Where the system refuses, they end with their next line.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    serve(spec).map_err(|error| CliError::Lab {
        what: error.to_string(),
        next: String::new(),
        status: OTHER,
    })
}

fn check(path: &Path) -> Result<(), CliError> {
    let calibration = calibration(path)?;
    let differences = fingerprint(&Source::default()).differences(&calibration.fingerprint);
    if differences.is_empty() {
        let (path, made) = (printable::path(path), printable::line(&calibration.made));
        let mut text = format!("{path}: fits this machine; made {made}\n");
        let processors = calibration.fingerprint.processors;
        if calibration.load_average > f64::from(processors) {
            text.push_str(&format!(
                "note: it was made under a load of {:.1} on {processors} processors: calibrate again while nothing else runs\n",
                calibration.load_average
            ));
        }
        return Ok(print(&text)?);
    }
    Err(CliError::Lab {
        what: format!(
            "{} does not fit this machine: {}",
            path.display(),
            printable::line(&differences.join("; "))
        ),
        next: "selenite plan calibrate".to_owned(),
        status: DATA,
    })
}

pub fn line(progress: &CalibrationProgress) -> String {
    match progress {
        CalibrationProgress::Note(text) => text.clone(),
        CalibrationProgress::Session {
            number,
            count,
            aes_instructions,
        } => {
            let how = if *aes_instructions { "with" } else { "without" };
            format!("session {number} of {count}, {how} AES instructions")
        }
    }
}

impl From<CalibrateError> for CliError {
    fn from(error: CalibrateError) -> Self {
        let status = match &error {
            CalibrateError::Interrupted => return Self::Interrupted(String::new()),
            CalibrateError::Io { .. } => IO,
            CalibrateError::Plan(_) => DATA,
            CalibrateError::Engines(_) => OTHER,
        };
        Self::Lab {
            what: error.to_string(),
            next: error.advice(),
            status,
        }
    }
}

const OTHER: u8 = 1;
const USAGE: u8 = 2;
const DATA: u8 = 5;
const IO: u8 = 6;
