//! `selenite restore`.

use std::path::Path;

use selenite::restore::{Restore, Restored, Which, hex, restore};
use selenite::storage::Disk;
use selenite::{Access, utc};
use selenite_backup::{ArchiveName, Destination, parse_database_id};
use serde_json::{Value, json};

use crate::arguments;
use crate::cli_error::CliError;
use crate::destination::{self, is_far};
use crate::lines::{Lines, bytes, count, counted, elapsed, origin, origin_said};
use crate::meter::Meter;
use crate::output::{note, print, print_json};
use crate::printable;

pub fn run(arguments: &arguments::restore::Restore, access: &Access) -> Result<(), CliError> {
    let opened = destination::open(&arguments.destination)?;
    let destination: &dyn Destination = opened.as_ref();
    let how = Restore {
        which: match (&arguments.backup, arguments.at) {
            (Some(name), _) => Which::Named(name.clone()),
            (None, Some(time)) => Which::At(time),
            (None, None) => Which::Newest,
        },
        database_id: arguments.database.as_deref().and_then(parse_database_id),
        force: arguments.force,
        recipients: arguments.recipient.clone(),
        allow_missing: arguments.allow_missing,
        unpinned: arguments.unpinned,
        // Objects of a local folder need not be kept: reading them again is as fast.
        keep_fetched: is_far(&arguments.destination),
        ..Restore::new(&arguments.to)
    };
    let meter = Meter::start();
    let done = restore(&Disk, destination, access, &how, &meter.watch());
    meter.finish();
    let restored = done.map_err(|error| CliError::of(error, || stopped(&how)))?;
    if arguments.json {
        print_json(&json(&restored))?;
    } else {
        print(&text(&arguments.to, destination, &restored))?;
    }
    warn(&arguments.to, &restored);
    report_missing_pages(&restored)
}

/// The state after an interruption, and how to continue.
fn stopped(how: &Restore) -> String {
    let next = if how.keep_fetched {
        "fetched objects are kept, and the same command continues from there"
    } else {
        "run the same command again"
    };
    let left = if how.force {
        "the existing file is unchanged"
    } else {
        "no file was created"
    };
    format!("{} was not restored, {left}: {next}", how.to.display())
}

fn text(to: &Path, destination: &dyn Destination, restored: &Restored) -> String {
    let mut lines = Lines::default();
    lines.add("restored", printable::path(to));
    lines.add("from", printable::line(&destination.place()));
    lines.add("backup", format!("{}, of {}", restored.name, utc(restored.made)));
    if restored.link_count > 1 {
        let below = u64::try_from(restored.link_count - 1).unwrap_or(u64::MAX);
        lines.add("rests on", counted(below, "backup"));
    }
    if restored.log_count > 0 {
        let count = u64::try_from(restored.log_count).unwrap_or(u64::MAX);
        lines.add(
            "followed by",
            format!("{} of what was committed after it", counted(count, "object")),
        );
    }
    if restored.has_new_master {
        lines.add(
            "database",
            format!("{}, with a new master key", hex(restored.database_id)),
        );
    } else {
        lines.add("database", hex(restored.database_id));
    }
    lines.add("origin", origin_said(restored.is_own));
    lines.add("suite", format!("{}, under a new key", restored.suite));
    lines.add(
        "pages",
        format!("{}: every page verified", counted(restored.page_count.into(), "page")),
    );
    lines.add("size", bytes(restored.size));
    let traffic = restored.traffic;
    let retries = if traffic.retries > 0 {
        format!(", {} again", count(traffic.retries))
    } else {
        String::new()
    };
    let requests = counted(traffic.requests, "request");
    lines.add(
        "received",
        format!("{} in {requests}{retries}", bytes(traffic.received)),
    );
    lines.add("took", elapsed(restored.elapsed));
    lines.add_all("key slots", restored.slots.iter().map(ToString::to_string));
    lines.add_all("removed", restored.removed.iter().map(|path| printable::path(path)));
    lines.add_all("not notified", restored.replaced.not_retired.clone());
    lines.add_all("not kept", restored.replaced.not_kept.clone());
    lines.text()
}

fn json(restored: &Restored) -> Value {
    json!({
        "path": restored.path.to_string_lossy(),
        "backup": restored.name.as_str(),
        "of": hex(restored.of),
        "database": hex(restored.database_id),
        "made": restored.made,
        "passed_over": restored.passed_over.iter().map(ArchiveName::as_str).collect::<Vec<_>>(),
        "unreachable": restored.unreachable.iter().map(|one| json!({
            "backup": one.archive.as_str(),
            "missing": one.object,
            "objects": one.count,
            "until": utc(one.made),
        })).collect::<Vec<_>>(),
        "backups_read": restored.link_count,
        "log_objects_read": restored.log_count,
        "origin": origin(restored.is_own),
        "suite": restored.suite.name(),
        "page_size": restored.page_size,
        "pages": restored.page_count,
        "pages_missing": restored.missing,
        "size": restored.size,
        "new_master_key": restored.has_new_master,
        "slots": restored.slots.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "refused_by_pin": restored.is_refused_by_pin,
        "replaced": restored.replaced.was_there,
        "not_opened": restored.replaced.unopened,
        "bytes_received": restored.traffic.received,
        "requests": restored.traffic.requests,
        "retries": restored.traffic.retries,
        "seconds": restored.elapsed.as_secs_f64(),
    })
}

fn warn(to: &Path, restored: &Restored) {
    note_passed_over(&restored.passed_over);
    for unreachable in &restored.unreachable {
        note(&format!(
            "backup {}: {} is missing; {} after it, of up to {}, cannot be restored",
            unreachable.archive,
            unreachable.object,
            counted(unreachable.count.into(), "object"),
            utc(unreachable.made)
        ));
    }
    if let Some(why) = &restored.replaced.unopened {
        note(&format!(
            "the existing file could not be opened and was replaced without a lock: {why}"
        ));
    }
    if restored.is_refused_by_pin {
        note(&format!(
            "the keyring file refuses this database; if it is the right one, run selenite keys pin {}",
            to.display()
        ));
    }
}

/// Reports backups with a time in the future, the latest first.
pub fn note_passed_over(names: &[ArchiveName]) {
    let Some(last) = names.first() else { return };
    let count = u64::try_from(names.len()).unwrap_or(u64::MAX);
    note(&format!(
        "skipped {} with a time in the future in its name (a clock was wrong); to restore the last: --backup {last}",
        counted(count, "backup")
    ));
}

/// Reports missing pages on standard error, one per line.
fn report_missing_pages(restored: &Restored) -> Result<(), CliError> {
    if restored.missing.is_empty() {
        return Ok(());
    }
    for page_no in restored.missing.iter().take(LISTED_MAX) {
        note(&format!(
            "page {page_no} is not in the backup; it was filled with zeros"
        ));
    }
    let missing = u64::try_from(restored.missing.len()).unwrap_or(u64::MAX);
    Err(CliError::Found {
        what: format!("the database is restored except for {}", counted(missing, "page")),
        next: "run PRAGMA integrity_check on it, or extract its rows with selenite salvage",
    })
}

const LISTED_MAX: usize = 100;
