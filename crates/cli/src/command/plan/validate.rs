//! `selenite plan validate`.

use std::path::Path;

use selenite::{Access, EngineError};
use selenite_lab::calibrate::fingerprint;
use selenite_lab::config::Config;
use selenite_lab::edit::Edit;
use selenite_lab::host::Source;
use selenite_lab::validate::{ValidateError, ValidationRequest, document, validate};

use super::{DATA, calibration};
use crate::arguments::plan::PlanValidate;
use crate::cli_error::CliError;
use crate::command::lab::{engines, progress, study};
use crate::interrupt;
use crate::output::note;
use crate::output_files::{OutputFiles, refused, write_file};

pub fn run(arguments: &PlanValidate, access: &Access) -> Result<(), CliError> {
    let studies = arguments.studies.iter().map(Path::new);
    let inputs: Vec<&Path> = studies.chain([arguments.calibration.as_path()]).collect();
    let outputs = OutputFiles::checked([("--output", Some(&arguments.output))], &inputs, access)?;
    if is_below(&arguments.output, &arguments.folder) {
        return Err(refused(
            "the document would be among the predictions and stores".to_owned(),
        ));
    }
    let calibration = calibration(&arguments.calibration)?;
    let here = fingerprint(&Source::default());
    let differences = here.differences(&calibration.fingerprint);
    if !differences.is_empty() {
        return Err(CliError::Lab {
            what: format!(
                "{} does not fit this machine: {}",
                arguments.calibration.display(),
                differences.join("; ")
            ),
            next: "selenite plan calibrate".to_owned(),
            status: DATA,
        });
    }
    let studies = match arguments.studies.as_slice() {
        [] => DEFAULT_STUDIES.map(str::to_owned).to_vec(),
        named => named.to_vec(),
    };
    let studies = studies
        .iter()
        .map(|name| config(&study::text(name)?, arguments.sessions))
        .collect::<Result<Vec<Config>, CliError>>()?;
    std::fs::create_dir_all(&arguments.folder).map_err(|source| EngineError::Io {
        verb: "make",
        path: arguments.folder.clone(),
        source,
    })?;
    let interrupted = interrupt::install();
    let request = ValidationRequest {
        engines: engines()?,
        folder: arguments.folder.clone(),
        studies,
        calibration,
        cores: here.processors,
        command: study::command_line(),
        commit: env!("SELENITE_COMMIT").to_owned(),
        interrupt: &interrupted,
    };
    let mut observer = progress::observer(arguments.progress);
    let validation = validate(&request, &mut *observer, &mut |text| note(text))?;
    drop(observer);
    write_file(&arguments.output, &document::render(&validation)?)?;
    Ok(outputs.show(&format!("{}: written\n", arguments.output.display()))?)
}

/// Whether a file is in a folder or below it, whatever links and dots their paths have.
fn is_below(file: &Path, folder: &Path) -> bool {
    let absolute = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let place = file.parent().filter(|place| !place.as_os_str().is_empty());
    match (absolute(place.unwrap_or(Path::new("."))), absolute(folder)) {
        (Some(place), Some(folder)) => place.starts_with(folder),
        (None, _) | (_, None) => true,
    }
}

/// A study, with another number of sessions if one is given.
fn config(text: &str, sessions: Option<u32>) -> Result<Config, CliError> {
    let sessions = sessions.map(|sessions| format!("study.sessions={sessions}"));
    let config = match sessions {
        None => Config::parse(text)?,
        Some(sessions) => Edit::new(text)?.with(&[sessions])?,
    };
    Ok(config)
}

impl From<ValidateError> for CliError {
    fn from(error: ValidateError) -> Self {
        match error {
            ValidateError::Plan(error) => error.into(),
            ValidateError::Run(error) => error.into(),
            ValidateError::Analysis(error) => error.into(),
            ValidateError::Interrupted => Self::Lab {
                what: error.to_string(),
                next: error.advice(),
                status: INTERRUPTED,
            },
            ValidateError::Refused(_) => Self::Lab {
                what: error.to_string(),
                next: error.advice(),
                status: DATA,
            },
        }
    }
}

/// What is run where no study is named.
const DEFAULT_STUDIES: [&str; 4] = ["league", "league-cache", "league-pages", "league-rollback"];
const INTERRUPTED: u8 = 130;
