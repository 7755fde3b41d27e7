//! `selenite lab doctor`.

use selenite_lab::doctor::{Examination, contract};
use selenite_lab::drive::WorkerCommand;
use selenite_lab::host::Source;

use super::engines;
use crate::arguments::lab::LabDoctor;
use crate::cli_error::CliError;
use crate::command::doctor::show;

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
    show(&checks, arguments.json)
}

/// The space for a study of 1 GiB with the arms of a preset.
const ROOM: u64 = 8 << 30;
