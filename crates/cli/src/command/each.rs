//! Databases whose names are in a list: a line of JSON for each.
//!
//! - answered-in-time: answers are written before the process waits for another name, so that a
//!   program can ask for one after another without starting a process for each; while there are
//!   names, at least every 50 ms.
//! - errors-are-answers: an error of one database is its answer, and the others go on.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use selenite::{EngineError, keep_freed_memory};
use serde_json::{Value, json};

use crate::cli_error::CliError;
use crate::output::Output;
use crate::printable;

/// The answer about one database: its result, and its error. One that is damaged has both.
pub struct Answer {
    pub result: Option<Value>,
    pub error: Option<CliError>,
}

impl Answer {
    /// The answer about a database that could not be looked at.
    pub fn failed(error: EngineError) -> Self {
        Self {
            result: None,
            error: Some(error.into()),
        }
    }
}

/// Prints an answer for each name in a file, or in standard input if that is `-`. `answer` is told when the name was read
/// at the latest.
///
/// # Errors
/// [`CliError::Answer`] with the exit status of the first error of a database;
/// [`EngineError::Io`] if the list cannot be read.
pub fn run(list: Option<&Path>, mut answer: impl FnMut(&Path, Instant) -> Answer) -> Result<(), CliError> {
    // The command line has either a database or a list.
    let Some(list) = list else { return Ok(()) };
    let cannot_read = |source| EngineError::Io {
        verb: "read",
        path: list.to_owned(),
        source,
    };
    keep_freed_memory();
    let names: Box<dyn Read> = if list == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(list).map_err(cannot_read)?)
    };
    let mut names = BufReader::new(names);
    let mut output = Output::take();
    let mut written = Instant::now();
    let mut asked = None;
    let mut first_error = 0;
    let mut name = Vec::new();
    while names.read_until(0, &mut name).map_err(cannot_read)? > 0 {
        if name.last() == Some(&0) {
            name.pop();
        }
        let path = Path::new(OsStr::from_bytes(&name));
        let asked_at = *asked.get_or_insert_with(Instant::now);
        let (text, status) = text_of(path, answer(path, asked_at));
        output.line(&text)?;
        if first_error == 0 {
            first_error = status;
        }
        name.clear();
        let is_last_read = !names.buffer().contains(&0);
        if is_last_read {
            asked = None;
        }
        if is_last_read || written.elapsed() > WRITE_INTERVAL {
            output.flush()?;
            written = Instant::now();
        }
    }
    output.finish()?;
    match first_error {
        0 => Ok(()),
        status => Err(CliError::Answer(status)),
    }
}

fn text_of(path: &Path, answer: Answer) -> (String, u8) {
    let (error, status) = match answer.error.map(CliError::message) {
        None => (Value::Null, 0),
        Some(Ok((what, next, status))) => (json!({ "message": what, "advice": next }), status),
        Some(Err(status)) => (Value::Null, status),
    };
    let text = printable::json(&json!({
        "path": path.to_string_lossy(),
        "exit_status": status,
        "result": answer.result,
        "error": error,
    }));
    (text, status)
}

const WRITE_INTERVAL: Duration = Duration::from_millis(50);
