//! `selenite lab export`.

use std::path::Path;

use selenite_lab::export::{ExportError, export};

use super::{IO, material, usage};
use crate::arguments::lab::LabExport;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::output::print;

pub fn run(arguments: &LabExport) -> Result<(), CliError> {
    let mut lines = Lines::default();
    for path in write(&arguments.store, &arguments.folder)? {
        lines.add("written", path.display().to_string());
    }
    Ok(print(&lines.text())?)
}

/// Writes all tables of a store, and prints their paths.
pub fn write(store: &Path, folder: &Path) -> Result<Vec<std::path::PathBuf>, CliError> {
    export(&material(store)?, folder).map_err(|error| match error {
        ExportError::Exists(_) => usage(error.to_string(), "choose another folder"),
        ExportError::Analysis(error) => error.into(),
        ExportError::Io(..) | ExportError::Json(_) => CliError::Lab {
            what: error.to_string(),
            next: String::new(),
            status: IO,
        },
    })
}
