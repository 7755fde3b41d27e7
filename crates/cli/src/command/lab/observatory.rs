//! `selenite lab observatory`.

use std::path::{Path, PathBuf};

use selenite::EngineError;
use selenite_lab::report::observatory::render;
use selenite_lab::summary::Summary;

use super::{summary, usage};
use crate::arguments::lab::LabObservatory;
use crate::cli_error::CliError;
use crate::output::{print, write_file};

pub fn run(arguments: &LabObservatory) -> Result<(), CliError> {
    let summaries = summaries(&arguments.studies)?;
    let text = render(&summaries, &arguments.link);
    match &arguments.output {
        Some(path) => Ok(write_file(path, &text)?),
        None => Ok(print(text.trim_end())?),
    }
}

/// The summaries in a folder, in the order of their names. Other JSON files in it are left out.
fn summaries(folder: &Path) -> Result<Vec<Summary>, CliError> {
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
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|source| EngineError::Io {
            verb: "read",
            path: path.clone(),
            source,
        })?;
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if value.get("study").is_some() && value.get("cells").is_some() {
            found.push(summary(&path)?);
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
