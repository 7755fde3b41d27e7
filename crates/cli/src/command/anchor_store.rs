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
    // In one line: its caller has the last one.
    carry_out(arguments).map_err(|error| match error.message() {
        Ok((what, next, status)) => CliError::KeyService {
            what: if next.is_empty() {
                what
            } else {
                format!("{what}: {next}")
            },
            next: "",
            status,
        },
        Err(status) => CliError::Answer(status),
    })
}

fn carry_out(arguments: &AnchorStore) -> Result<(), CliError> {
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
    let last = last(destination, anchor.database_id)?;
    let last_number = last.as_ref().map(|(number, _)| *number);
    if last_number.is_some_and(|last| last.checked_add(1) != Some(anchor.number)) {
        return Err(usage(format!(
            "the anchor has number {}, and the last one {}",
            anchor.number,
            last_number.unwrap_or_default()
        )));
    }
    let name = format!("{}{:0NUMBER_SIZE$}", folder(anchor.database_id), anchor.number);
    let stored = destination.put_new(&name, text.as_bytes());
    Ok(stored.map_err(|error| EngineError::Backup(error.into()))?)
}

fn newest(destination: &dyn Destination, line: &str) -> Result<(), CliError> {
    let id = line
        .strip_prefix("database ")
        .and_then(|id| selenite_backup::parse_database_id(id.trim_end()));
    let id = id.ok_or_else(|| usage("standard input is not \"database \" and an id".to_owned()))?;
    let Some((number, last)) = last(destination, id)? else {
        return Ok(());
    };
    let text = destination
        .get(&last, ANCHOR_SIZE_MAX)
        .map_err(|error| EngineError::Backup(error.into()))?;
    // An earlier one under a later name, alone or within another text, would be taken for the newest.
    if !ShortAnchor::parse(&text).is_ok_and(|anchor| anchor.number == number) {
        return Err(CliError::Engine(EngineError::Usage {
            what: format!("{last} is not the anchor with this number"),
            next: "find out who stored it, and remove the object".to_owned(),
        }));
    }
    print(&String::from_utf8_lossy(&text))?;
    Ok(())
}

/// Number and name of the newest anchor.
fn last(destination: &dyn Destination, id: DatabaseId) -> Result<Option<(u64, String)>, CliError> {
    let objects = match destination.list(&folder(id)) {
        // Nothing was stored yet.
        Err(error) if error.kind == StoreErrorKind::Missing => return Ok(None),
        listed => listed.map_err(|error| EngineError::Backup(error.into()))?,
    };
    let numbered = |name: String| {
        let digits = name.rsplit('/').next().filter(|digits| digits.len() == NUMBER_SIZE)?;
        Some((digits.parse().ok()?, name))
    };
    Ok(objects.into_iter().filter_map(|object| numbered(object.name)).max())
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

/// Digits of the number in a name.
const NUMBER_SIZE: usize = 20;
/// What a command may answer: more than an anchor of 1024 sessions and 257 pages.
const ANCHOR_SIZE_MAX: usize = 65_536;
