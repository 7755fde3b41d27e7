//! `selenite anchor-store`: short anchors in a folder or object store, each an object of its own.
//!
//! - newest-has-highest-number: an object is named by database and number, and never overwritten: a second writer of one
//!   database gets an error instead of the number.

use std::io::Read;

use selenite::EngineError;
use selenite::anchor::ShortAnchor;
use selenite_backup::{DatabaseId, Destination, StoreErrorKind};

use crate::arguments::anchor_store::{AnchorStore, Task};
use crate::cli_error::CliError;
use crate::destination;
use crate::output::print;

pub fn run(arguments: &AnchorStore) -> Result<(), CliError> {
    let destination = destination::open(&arguments.destination)?;
    let mut input = String::new();
    std::io::stdin()
        .take(ANCHOR_SIZE_MAX as u64 + 1)
        .read_to_string(&mut input)
        .map_err(|source| EngineError::Io {
            verb: "read",
            path: "standard input".into(),
            source,
        })?;
    match arguments.task {
        Task::AppendAnchor => append(destination.as_ref(), &input),
        Task::Anchor => newest(destination.as_ref(), &input),
    }
}

fn append(destination: &dyn Destination, text: &str) -> Result<(), CliError> {
    let anchor = ShortAnchor::parse(text.as_bytes()).map_err(|error| usage(format!("standard input: {error}")))?;
    let name = format!("{}{:020}", folder(anchor.database_id), anchor.number);
    let stored = destination.put_new(&name, text.as_bytes());
    Ok(stored.map_err(|error| EngineError::Backup(error.into()))?)
}

fn newest(destination: &dyn Destination, line: &str) -> Result<(), CliError> {
    let id = line
        .strip_prefix("database ")
        .and_then(|id| selenite_backup::parse_database_id(id.trim_end()));
    let id = id.ok_or_else(|| usage("standard input is not \"database \" and an id".to_owned()))?;
    let objects = match destination.list(&folder(id)) {
        // Nothing was stored yet.
        Err(error) if error.kind == StoreErrorKind::Missing => return Ok(()),
        listed => listed.map_err(|error| EngineError::Backup(error.into()))?,
    };
    let Some(last) = objects.iter().map(|object| &object.name).max() else {
        return Ok(());
    };
    let text = destination
        .get(last, ANCHOR_SIZE_MAX)
        .map_err(|error| EngineError::Backup(error.into()))?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(())
}

fn folder(id: DatabaseId) -> String {
    format!("anchors/{id}/")
}

fn usage(what: String) -> CliError {
    CliError::Engine(EngineError::Usage {
        what,
        next: "this command is for the configuration file: see selenite anchor-store --help".to_owned(),
    })
}

/// A short anchor has at most 1024 sessions and 65 pages.
const ANCHOR_SIZE_MAX: usize = 65_536;
