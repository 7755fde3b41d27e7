//! `selenite lab`: one file for each of its commands.

mod bisect;
mod compare;
mod control;
mod doctor;
mod export;
mod gate;
mod init;
mod observatory;
pub mod progress;
mod report;
mod run;
mod status;
pub mod study;

use std::path::Path;

use selenite::{Access, EngineError};
use selenite_lab::analysis::{AnalysisError, Material};
use selenite_lab::config::ConfigError;
use selenite_lab::engines::Engines;
use selenite_lab::report::json;
use selenite_lab::run::RunError;
use selenite_lab::store::{Store, StoreError};
use selenite_lab::summary::Summary;

use crate::arguments::lab::LabCommand;
use crate::cli_error::CliError;

pub fn run(command: &LabCommand, access: &Access) -> Result<(), CliError> {
    match command {
        LabCommand::Doctor(doctor) => doctor::run(doctor),
        LabCommand::Init(init) => init::run(init),
        LabCommand::Run(arguments) => run::new(arguments, study::Arms::AsConfigured),
        LabCommand::Aa(arguments) => run::new(arguments, study::Arms::PlainOnly),
        LabCommand::Resume(resume) => run::resume(resume),
        LabCommand::Status(status) => status::run(status),
        LabCommand::Control(control) => control::run(control),
        LabCommand::Report(report) => report::run(report, access),
        LabCommand::Compare(compare) => compare::run(compare),
        LabCommand::Export(export) => export::run(export),
        LabCommand::Gate(gate) => gate::run(gate),
        LabCommand::Bisect(bisect) => bisect::run(bisect),
        LabCommand::Observatory(observatory) => observatory::run(observatory, access),
    }
}

pub fn engines() -> Result<Engines, CliError> {
    Engines::of_this_program().map_err(|error| CliError::Lab {
        what: format!("cannot find the path of this program: {error}"),
        next: String::new(),
        status: IO,
    })
}

/// The summary of a study, from its store or from a JSON summary.
fn summary(path: &Path) -> Result<Summary, CliError> {
    if path.extension().is_some_and(|extension| extension == "json") {
        let text = std::fs::read_to_string(path).map_err(|source| {
            CliError::from(EngineError::Io {
                verb: "read",
                path: path.to_owned(),
                source,
            })
        })?;
        return json::parse(&text).map_err(|error| data(format!("{}: {error}", path.display())));
    }
    Ok(selenite_lab::analysis::summarise(&material(path)?)?)
}

fn material(path: &Path) -> Result<Material, CliError> {
    Ok(Material::read(&Store::read(path)?)?)
}

fn data(what: String) -> CliError {
    CliError::Lab {
        what,
        next: String::new(),
        status: DATA,
    }
}

fn usage(what: String, next: &str) -> CliError {
    CliError::Lab {
        what,
        next: next.to_owned(),
        status: USAGE,
    }
}

impl From<AnalysisError> for CliError {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Store(error) => error.into(),
            AnalysisError::Config(_) | AnalysisError::Histogram(_) => data(error.to_string()),
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Lab {
            next: error.next.clone().unwrap_or_default(),
            what: ConfigError { next: None, ..error }.to_string(),
            status: USAGE,
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::Exists(_) | StoreError::Missing(_) | StoreError::NotAStore(_) => USAGE,
            StoreError::Version { .. } | StoreError::Damaged { .. } => DATA,
            StoreError::Running(_) => BUSY,
            StoreError::Sqlite { .. } | StoreError::Io { .. } => IO,
        };
        Self::Lab {
            what: error.to_string(),
            next: error.next().to_owned(),
            status,
        }
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Config(error) => error.into(),
            RunError::Store(error) => error.into(),
            RunError::Proof { .. }
            | RunError::NotEncrypted { .. }
            | RunError::RowsDiffer { .. }
            | RunError::RowsLost { .. } => of_run(&error, DATA),
            RunError::ConfigDiffers
            | RunError::Over(_)
            | RunError::NotOver
            | RunError::Differs { .. }
            | RunError::LayoutDiffers { .. } => of_run(&error, USAGE),
            RunError::NoSpace { .. } | RunError::Io { .. } => of_run(&error, IO),
            RunError::Engine { .. }
            | RunError::Worker { .. }
            | RunError::Histogram { .. }
            | RunError::Cache(_)
            | RunError::TooManyVoid { .. } => of_run(&error, OTHER),
        }
    }
}

fn of_run(error: &RunError, status: u8) -> CliError {
    CliError::Lab {
        what: error.to_string(),
        next: error.advice(),
        status,
    }
}

const OTHER: u8 = 1;
const USAGE: u8 = 2;
const DATA: u8 = 5;
const IO: u8 = 6;
const BUSY: u8 = 7;
