//! `selenite trace`: runs a program whose extension records its calls.

use std::os::unix::process::CommandExt;
use std::process::Command;

use selenite::{AgeRecipient, EngineError, FILE_VARIABLE, LIMIT_VARIABLE, RECIPIENT_VARIABLE};

use crate::arguments::Trace;
use crate::cli_error::CliError;

/// Becomes the program: its signals and exit status are its own.
pub fn run(arguments: &Trace) -> Result<(), CliError> {
    let recipient: AgeRecipient = arguments.recipient.parse().map_err(EngineError::Key)?;
    let output = std::path::absolute(&arguments.output).map_err(|source| EngineError::Io {
        verb: "find",
        path: arguments.output.clone(),
        source,
    })?;
    let folder = output.parent().unwrap_or(&output);
    if !folder.is_dir() {
        return Err(EngineError::Usage {
            what: format!("{} is not a folder", folder.display()),
            next: "choose an existing folder: --output".to_owned(),
        }
        .into());
    }
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(|source| EngineError::Io {
        verb: "make a file in",
        path: folder.to_owned(),
        source: source.into(),
    })?;
    let Some((program, rest)) = arguments.command.split_first() else {
        return Ok(());
    };
    let source = Command::new(program)
        .args(rest)
        .env(FILE_VARIABLE, &output)
        .env(RECIPIENT_VARIABLE, recipient.text())
        .env(LIMIT_VARIABLE, arguments.limit.to_string())
        .exec();
    Err(EngineError::Io {
        verb: "run",
        path: program.into(),
        source,
    }
    .into())
}
