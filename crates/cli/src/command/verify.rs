//! `selenite verify`.

use std::path::Path;
use std::time::Instant;

use selenite::anchor::{Comparison, Verdict};
use selenite::folder::{Limits, ListingContext};
use selenite::storage::Disk;
use selenite::verify::{self, BadPage, PhysicalReport, Report, Verify};
use selenite::{Access, EngineError, Status, VerifyNotes, Watch, utc};
use serde_json::{Value, json};

use super::each::{self, Answer};
use super::status::{self, superblock_words, superblocks_json, warn_of_superblocks};
use crate::arguments;
use crate::cli_error::CliError;
use crate::lines::{Lines, bytes, count, counted, elapsed};
use crate::meter::Meter;
use crate::output::{note, print, print_json};
use crate::printable;

pub fn run(arguments: &arguments::Verify, access: &Access) -> Result<(), CliError> {
    let how = Verify {
        physical_only: arguments.physical_only,
        anchor: arguments.anchor.as_deref(),
        write_anchor: arguments.write_anchor.as_deref(),
    };
    let Some(path) = &arguments.database else {
        return each::run(arguments.files0_from.as_deref(), |path, asked| {
            let asked = arguments.with_status.then_some(asked);
            answer(path, access, &how, asked).unwrap_or_else(Answer::failed)
        });
    };
    let meter = Meter::start();
    let done = verify::verify(&Disk, path, access, &how, &meter.watch());
    meter.finish();
    let report = done?;
    if arguments.json {
        print_json(&json(path, &report))?;
    } else {
        print(&text(path, &report, arguments.physical_only))?;
    }
    warn_of_superblocks(report.physical.sealed.superblocks, path);
    list_bad_pages(&report);
    judge(&report)?;
    remember(|notes| notes.keep(path, &report));
    Ok(())
}

/// The answer about one of several databases, with the status of one for which that was asked.
fn answer(
    path: &Path,
    access: &Access,
    how: &Verify<'_>,
    status_asked: Option<Instant>,
) -> Result<Answer, EngineError> {
    let report = verify::verify(&Disk, path, access, how, &Watch::none())?;
    let error = judge(&report).err();
    if error.is_none() {
        remember(|notes| notes.keep(path, &report));
    }
    let mut result = json(path, &report);
    if let Some(asked) = status_asked {
        let status = Status::of_verified(&Disk, path, &report.physical)?;
        let context = ListingContext::keyless(Limits::default()).asked_at(asked);
        result["status"] = status::json(&status, &context.judge(&status));
    }
    Ok(Answer {
        result: Some(result),
        error,
    })
}

/// Records a verification for `selenite status`. A failure is a warning: the verification itself succeeded.
pub fn remember(keep: impl FnOnce(&VerifyNotes) -> Result<(), EngineError>) {
    if let Err(error) = VerifyNotes::load().and_then(|notes| keep(&notes)) {
        let error = printable::line(&error.to_string());
        say!(
            "warning: could not record this verification for selenite status: {error}\n next: set SELENITE_STATE to a writable folder"
        );
    }
}

/// Lists bad pages and faults on standard error, one per line.
fn list_bad_pages(report: &Report) {
    let physical = &report.physical;
    list(&physical.bad, physical.bad_count);
    if let Some(comparison) = &report.comparison {
        list(&comparison.older, comparison.older_count);
    }
    for fault in report.faults.as_deref().unwrap_or_default() {
        note(fault);
    }
}

/// What was found, as an error if it is not well.
fn judge(report: &Report) -> Result<(), CliError> {
    let physical = &report.physical;
    if !physical.is_good() {
        return Err(CliError::Found {
            what: format!("{} not authentic", counted(physical.bad_count, "place")),
            next: "restore these pages from a backup, and find out who could write to the file",
        });
    }
    if let Some(comparison) = report
        .comparison
        .as_ref()
        .filter(|found| found.verdict() == Verdict::Older)
    {
        return Err(CliError::Found {
            what: format!("older than the anchor: {}", age(comparison)),
            next: "find out who could put an old copy there, and restore the newest backup",
        });
    }
    let faults = report.faults.as_deref().unwrap_or_default();
    if faults.is_empty() {
        return Ok(());
    }
    Err(CliError::Found {
        what: "every page is authentic, but the database is not consistent".to_owned(),
        next: "the fault was in the program that wrote it, not the disk: restore a backup, or try .recover of SQLite's shell",
    })
}

fn list(places: &[BadPage], place_count: u64) {
    for place in places {
        note(&place.to_string());
    }
    let unlisted = place_count.saturating_sub(u64::try_from(places.len()).unwrap_or(u64::MAX));
    if unlisted > 0 {
        say!("and {} more", count(unlisted));
    }
}

/// The evidence that a database is older than its anchor.
fn age(found: &Comparison) -> String {
    let mut by = Vec::new();
    if found.older_count > 0 {
        by.push(counted(found.older_count, "page"));
    }
    if found.generation_is_lower() {
        let (then, now) = found.generation;
        by.push(format!("generation {} instead of {}", count(now), count(then)));
    }
    if found.change_counter_is_lower() {
        let (then, now) = found.change_counter;
        let now = now.map_or_else(String::new, |now| count(now.into()));
        by.push(format!("change counter {now} instead of {}", count(then.into())));
    }
    by.join("; ")
}

/// The result of the comparison, in a line.
fn comparison_words(found: &Comparison) -> String {
    let made = utc(found.made);
    match found.verdict() {
        Verdict::Same => format!("same as the anchor of {made}"),
        Verdict::Changed => {
            let changed = counted(found.changed_count, "page");
            let unknown = match found.unknown_count {
                0 => String::new(),
                unknown => format!(", {} of them by unknown processes", count(unknown)),
            };
            format!("changed since the anchor of {made}: {changed} differ{unknown}")
        }
        Verdict::Older => format!("OLDER than the anchor of {made}: {}", age(found)),
    }
}

fn comparison_json(found: &Comparison) -> Value {
    json!({
        "verdict": found.verdict().word(),
        "made": utc(found.made),
        "generation": { "then": found.generation.0, "now": found.generation.1 },
        "change_counter": { "then": found.change_counter.0, "now": found.change_counter.1 },
        "page_count": { "then": found.page_count.0, "now": found.page_count.1 },
        "changed_count": found.changed_count,
        "unknown_session_count": found.unknown_count,
        "older_count": found.older_count,
        "older": places_json(&found.older),
    })
}

fn places_json(places: &[BadPage]) -> Vec<Value> {
    let place = |bad: &BadPage| {
        json!({
            "file": bad.origin.word(),
            "page": bad.page_no,
            "index": bad.index,
            "why": bad.why,
            "owner": bad.owner.as_ref().map(|owner| json!({ "kind": owner.word(), "name": owner.name() })),
        })
    };
    places.iter().map(place).collect()
}

fn text(path: &Path, report: &Report, physical_only: bool) -> String {
    let physical = &report.physical;
    let mut lines = Lines::default();
    lines.add("database", printable::path(path));
    let pages = counted(physical.page_count.into(), "page");
    lines.add("pages", format!("{pages}, {}", bytes(physical.size)));
    if let Some(wal) = &physical.wal {
        let frames = counted(wal.committed_count, "committed frame");
        let open = match wal.uncommitted_count {
            0 => String::new(),
            more => format!(", {} not committed", count(more)),
        };
        lines.add("wal", format!("{frames}{open}, {}", bytes(wal.size)));
    }
    if let Some(journal) = &physical.journal {
        lines.add(
            "journal",
            format!("{}, {}", counted(journal.record_count, "record"), bytes(journal.size)),
        );
    }
    if let Some(origin) = physical.sealed.origin {
        lines.add("origin", origin.to_string());
    }
    lines.add("superblocks", superblock_words(physical.sealed.superblocks));
    lines.add("authentic", verdict(physical));
    if !physical.pending.is_empty() {
        let pages = counted(u64::try_from(physical.pending.len()).unwrap_or(u64::MAX), "page");
        lines.add(
            "pending",
            format!("{pages} partly written, which the log or journal rewrites"),
        );
    }
    if let Some(comparison) = &report.comparison {
        lines.add("anchor", comparison_words(comparison));
    }
    let integrity = match &report.faults {
        Some(faults) if faults.is_empty() => "ok".to_owned(),
        Some(faults) => counted(u64::try_from(faults.len()).unwrap_or(u64::MAX), "fault"),
        None if physical_only => "not checked".to_owned(),
        None => "not checked, because of bad pages".to_owned(),
    };
    lines.add("integrity", integrity);
    lines.add("took", speed(physical));
    if let Some(written) = &report.written {
        let pages = counted(written.page_count.into(), "page");
        let sessions = counted(written.session_count, "session");
        lines.add(
            "new anchor",
            format!("{pages}, {sessions}, generation {}", count(written.generation)),
        );
    }
    lines.text()
}

fn verdict(physical: &PhysicalReport) -> String {
    match physical.bad_count {
        0 => "all of it".to_owned(),
        bad => format!("no: {}", counted(bad, "bad place")),
    }
}

fn speed(physical: &PhysicalReport) -> String {
    let seconds = physical.elapsed.as_secs_f64();
    let took = elapsed(physical.elapsed);
    // For shorter runs, the rate would be determined by the page cache and the clock.
    if seconds < 1.0 {
        return took;
    }
    let size = u128::from(physical.size) * 1000 / physical.elapsed.as_millis().max(1);
    format!(
        "{took} for the pages, {}/s",
        bytes(u64::try_from(size).unwrap_or(u64::MAX))
    )
}

fn json(path: &Path, report: &Report) -> Value {
    let physical = &report.physical;
    json!({
        "path": path.to_string_lossy(),
        "authentic": physical.is_good(),
        "origin": physical.sealed.origin.map(|origin| origin.to_string()),
        "superblocks": superblocks_json(physical.sealed.superblocks),
        "page_count": physical.page_count,
        "size": physical.size,
        "wal": physical.wal.map(|wal| json!({
            "committed_frames": wal.committed_count,
            "uncommitted_frames": wal.uncommitted_count,
            "size": wal.size,
        })),
        "journal": physical.journal.map(|journal| json!({
            "records": journal.record_count,
            "size": journal.size,
        })),
        "bad_count": physical.bad_count,
        "bad": places_json(&physical.bad),
        "pending": physical.pending,
        "anchor": report.comparison.as_ref().map(comparison_json),
        "new_anchor": report.written.map(|written| json!({
            "page_count": written.page_count,
            "session_count": written.session_count,
            "generation": written.generation,
        })),
        "integrity_check": report.faults,
        "ms": u64::try_from(physical.elapsed.as_millis()).unwrap_or(u64::MAX),
    })
}
