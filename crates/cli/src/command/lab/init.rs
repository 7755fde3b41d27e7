//! `selenite lab init`.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use selenite::EngineError;
use selenite_lab::preset::{PRESETS, preset};

use crate::arguments::lab::LabInit;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::output::print;

pub fn run(arguments: &LabInit) -> Result<(), CliError> {
    let Some(name) = &arguments.preset else {
        let mut lines = Lines::default();
        for preset in PRESETS {
            lines.add(preset.name, preset.about);
        }
        return Ok(print(&lines.text())?);
    };
    let preset = preset(name)?;
    let path = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    let mut file = File::create_new(&path).map_err(|source| {
        if source.kind() == ErrorKind::AlreadyExists {
            return EngineError::Exists {
                path: path.clone(),
                can_force: false,
            };
        }
        EngineError::Io {
            verb: "make",
            path: path.clone(),
            source,
        }
    })?;
    file.write_all(preset.text.as_bytes())
        .map_err(|source| EngineError::Io {
            verb: "write",
            path: path.clone(),
            source,
        })?;
    let path = path.display();
    Ok(print(&format!(
        "edit {path}, then run: selenite lab run {path} --dry-run"
    ))?)
}
