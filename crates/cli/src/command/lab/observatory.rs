//! `selenite lab observatory`.

use std::path::{Path, PathBuf};

use selenite::{Access, EngineError};
use selenite_lab::report::observatory::render;
use selenite_lab::summary::Summary;

use super::{summary, usage};
use crate::arguments::lab::LabObservatory;
use crate::cli_error::CliError;
use crate::output::print;
use crate::output_files::{OutputFiles, write_file};

pub fn run(arguments: &LabObservatory, access: &Access) -> Result<(), CliError> {
    let paths = json_files(&arguments.studies)?;
    let inputs: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    OutputFiles::checked([("--output", arguments.output.as_ref())], &inputs, access)?;
    let summaries = summaries(&arguments.studies, &paths)?;
    let text = render(&summaries, &arguments.link);
    match &arguments.output {
        Some(path) => Ok(write_file(path, &text)?),
        None => Ok(print(text.trim_end())?),
    }
}

/// The files of JSON in a folder, in the order of their names.
fn json_files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let io = |source| EngineError::Io {
        verb: "read",
        path: folder.to_owned(),
        source,
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in folder.read_dir().map_err(io)? {
        paths.push(entry.map_err(io)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    Ok(paths)
}

/// The summaries among the files of a folder. Other JSON files are left out.
fn summaries(folder: &Path, paths: &[PathBuf]) -> Result<Vec<Summary>, CliError> {
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(path).map_err(|source| EngineError::Io {
            verb: "read",
            path: path.clone(),
            source,
        })?;
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if value.get("study").is_some() && value.get("cells").is_some() {
            found.push(summary(path)?);
        }
    }
    match found.is_empty() {
        true => Err(usage(
            format!("{} has no summary of a study", folder.display()),
            "selenite lab report STORE --json FILE writes one",
        )),
        false => Ok(found),
    }
}
