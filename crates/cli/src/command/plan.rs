//! `selenite plan`: one file for each of its commands.

pub mod calibrate;
mod observe;
mod predict;
mod replay;
mod validate;

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

use selenite::trace::{TraceEnd, TraceRecord};
use selenite::{Access, EngineError, trace};
use selenite_plan::{Calibration, PlanError};

use crate::arguments::plan::PlanCommand;
use crate::cli_error::CliError;
use crate::printable;

pub fn run(command: &PlanCommand, access: &Access) -> Result<(), CliError> {
    match command {
        PlanCommand::Calibrate(calibrate) => calibrate::run(calibrate, access),
        PlanCommand::Observe(observe) => observe::run(observe, access),
        PlanCommand::Predict(predict) => predict::run(predict, access),
        PlanCommand::Validate(validate) => validate::run(validate, access),
        PlanCommand::Replay(replay) => replay::run(replay, access),
    }
}

/// Passes the records of a trace to `section`, and refuses a trace that is among `known`. Adds it to them.
fn read_trace(
    path: &Path,
    access: &Access,
    known: &mut BTreeSet<[u8; 16]>,
    section: &mut dyn FnMut(&[TraceRecord]),
) -> Result<TraceEnd, CliError> {
    let facts = trace::read(path, access, section)?;
    match known.insert(facts.id) {
        true => Ok(facts.end),
        false => Err(CliError::Lab {
            what: format!("{}: this trace is given twice", printable::path(path)),
            next: "name each trace once".to_owned(),
            status: USAGE,
        }),
    }
}

/// Reads a calibration, which was made before now.
fn calibration(path: &Path) -> Result<Calibration, CliError> {
    let refused = |what: String| CliError::Lab {
        what: format!("{}: {what}", printable::path(path)),
        next: "selenite plan calibrate".to_owned(),
        status: DATA,
    };
    let text = match std::fs::exists(path) {
        Ok(false) => {
            return Err(CliError::Lab {
                what: format!("{}: there is no calibration", printable::path(path)),
                next: "selenite plan calibrate".to_owned(),
                status: IO,
            });
        }
        Ok(true) | Err(_) => read(path)?,
    };
    let calibration = Calibration::parse(&text).map_err(|error| refused(error.to_string()))?;
    let Some(made) = selenite::parse_utc(&calibration.made) else {
        return Err(refused(format!(
            "calibration, made: {:?} is not a time as 2026-01-31T12:00:00Z",
            calibration.made
        )));
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // The clocks of two machines differ.
    match now.is_ok_and(|now| made > now.as_secs() + CLOCK_ERROR) {
        true => Err(refused(format!(
            "calibration, made: {} is in the future",
            calibration.made
        ))),
        false => Ok(calibration),
    }
}

fn read(path: &Path) -> Result<String, CliError> {
    let failed = |source| EngineError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(SIZE_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > SIZE_MAX {
        return Err(CliError::Lab {
            what: format!("{}: it is larger than 256 MiB", printable::path(path)),
            next: String::new(),
            status: DATA,
        });
    }
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
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        [0xFF, 0xFE, rest @ ..] | [0xFE, 0xFF, rest @ ..] if rest.len() % 2 == 1 => None,
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
            PlanError::Saturated(_) => (
                DATA,
                "ask for what it serves: --load FACTOR, or more cores: --cores NUMBER",
            ),
            _ => (OTHER, ""),
        };
        Self::Lab {
            what: error.to_string(),
            next: next.to_owned(),
            status,
        }
    }
}

/// Seconds: a day.
const CLOCK_ERROR: u64 = 86_400;
/// The largest input: snapshots of a week.
const SIZE_MAX: u64 = 256 << 20;
const OTHER: u8 = 1;
const USAGE: u8 = 2;
const IO: u8 = 6;
const DATA: u8 = 5;
