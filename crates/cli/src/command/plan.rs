//! `selenite plan`: one file for each of its commands.

pub mod calibrate;
mod observe;
mod predict;
mod validate;

use std::path::Path;

use selenite::{Access, EngineError};
use selenite_plan::PlanError;

use crate::arguments::plan::PlanCommand;
use crate::cli_error::CliError;

pub fn run(command: &PlanCommand, access: &Access) -> Result<(), CliError> {
    match command {
        PlanCommand::Calibrate(calibrate) => calibrate::run(calibrate),
        PlanCommand::Observe(observe) => observe::run(observe, access),
        PlanCommand::Predict(predict) => predict::run(predict),
        PlanCommand::Validate(validate) => validate::run(validate),
    }
}

fn read(path: &Path) -> Result<String, CliError> {
    let bytes = std::fs::read(path).map_err(|source| EngineError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    })?;
    decoded(bytes).ok_or_else(|| CliError::Lab {
        what: format!("{}: it is no text", path.display()),
        next: String::new(),
        status: DATA,
    })
}

/// UTF-8, or UTF-16 with a byte order mark, which Windows writes.
fn decoded(bytes: Vec<u8>) -> Option<String> {
    let wide = |bytes: &[u8], of: fn([u8; 2]) -> u16| {
        let pairs = bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
        String::from_utf16(&pairs.collect::<Vec<_>>()).ok()
    };
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => String::from_utf8(bytes).ok(),
    }
}

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        let (status, next) = match &error {
            PlanError::Input { .. } => (USAGE, ""),
            PlanError::Reset { .. } => (DATA, "leave out the snapshots from before the restart"),
            PlanError::Calibration(_) => (DATA, "selenite plan calibrate"),
            PlanError::OutOfRange(_) => (DATA, "measure it: selenite lab"),
            _ => (OTHER, ""),
        };
        Self::Lab {
            what: error.to_string(),
            next: next.to_owned(),
            status,
        }
    }
}

const OTHER: u8 = 1;
const USAGE: u8 = 2;
const DATA: u8 = 5;
