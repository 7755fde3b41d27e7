//! The budget: the CPU time of a page read and of a commit, by class of code.
//!
//! `scripts/budget.sh` builds it and runs `budget measure`: a child of this program runs an
//! operation, once alone for its CPU time and once under `perf record` for its shares, alternating
//! between stock SQLite and three suites. `budget page` makes docs/studies/budget.md from the
//! record.
//!
//! - time-without-perf: nanoseconds come from a run without perf; only shares come from samples.
//! - samples-between-readings: a sample counts if it is between two readings of the clock around
//!   the operation, and every counted sample has a class: one that no rule matches is shown as
//!   unknown.
#![forbid(unsafe_code)]

mod class;
mod limit;
mod measure;
mod page;
mod profile;
mod record;
mod work;

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("budget: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["measure", folder, turns, out] => {
            let record = measure::measure(Path::new(folder), turns.parse()?)?;
            std::fs::write(out, serde_json::to_string_pretty(&record)? + "\n")?;
        }
        ["page", record] => {
            let record = serde_json::from_str(&std::fs::read_to_string(record)?)?;
            stdout().write_all(page::markdown(&record).as_bytes())?;
        }
        ["symbols", record] => {
            let record = serde_json::from_str(&std::fs::read_to_string(record)?)?;
            stdout().write_all(page::symbols(&record).as_bytes())?;
        }
        ["work", operation, arm, folder] => {
            let phases = work::run(operation.parse()?, arm, Path::new(folder))?;
            println!("{}", serde_json::to_string(&phases)?);
        }
        _ => return Err("usage: budget measure FOLDER TURNS OUT | page RECORD | symbols RECORD".into()),
    }
    Ok(())
}
