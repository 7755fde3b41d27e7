//! `selenite verify`.

use selenite_engine::storage::Disk;
use selenite_engine::verify::{self, PhysicalReport, Report};
use selenite_engine::{Access, VerifyNotes};
use serde_json::{Value, json};

use super::status::{superblock_words, superblocks_json, warn_of_superblocks};
use crate::arguments;
use crate::complaint::Complaint;
use crate::lines::{Lines, bytes, count, counted, elapsed};
use crate::meter::Meter;
use crate::output::print;
use crate::printable;

pub fn run(arguments: &arguments::Verify, access: &Access) -> Result<(), Complaint> {
    let meter = Meter::start();
    let path = &arguments.database;
    let done = if arguments.physical_only {
        verify::physical(&Disk, path, access, &meter.watch()).map(|physical| Report { physical, faults: None })
    } else {
        verify::verify(&Disk, path, access, &meter.watch())
    };
    meter.finish();
    let report = done?;
    if arguments.json {
        print(&json(path, &report).to_string())?;
    } else {
        print(&text(path, &report, arguments.physical_only))?;
    }
    warn_of_superblocks(report.physical.superblocks, path);
    complain(&report)?;
    remember(path, &report);
    Ok(())
}

/// For selenite status, later. That nobody may write there takes nothing from what was found.
fn remember(path: &std::path::Path, report: &Report) {
    if let Err(error) = VerifyNotes::load().and_then(|notes| notes.keep(path, report)) {
        let error = printable::line(&error.to_string());
        eprintln!(
            "warning: status will not know of this verify: {error}\n next: set SELENITE_STATE to a folder to write to"
        );
    }
}

/// The bad places go to standard error, one to a line.
fn complain(report: &Report) -> Result<(), Complaint> {
    let physical = &report.physical;
    for bad in &physical.bad {
        eprintln!("{bad}");
    }
    let unlisted = physical
        .bad_count
        .saturating_sub(u64::try_from(physical.bad.len()).unwrap_or(u64::MAX));
    if unlisted > 0 {
        eprintln!("and {} more", count(unlisted));
    }
    if !physical.is_good() {
        return Err(Complaint::Found {
            what: format!("{} not authentic", counted(physical.bad_count, "place")),
            next: "restore these pages from a backup, and find out who could write to the file",
        });
    }
    let faults = report.faults.as_deref().unwrap_or_default();
    for fault in faults {
        eprintln!("{fault}");
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(Complaint::Found {
        what: "every page is authentic, but together they are no sound database".to_owned(),
        next: "what wrote it was at fault, not the disk: restore it from a backup, or try .recover of SQLite's shell",
    })
}

fn text(path: &std::path::Path, report: &Report, physical_only: bool) -> String {
    let physical = &report.physical;
    let mut lines = Lines::default();
    lines.add("database", path.display().to_string());
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
    lines.add("superblocks", superblock_words(physical.superblocks));
    lines.add("authentic", verdict(physical));
    let integrity = match &report.faults {
        Some(faults) if faults.is_empty() => "ok".to_owned(),
        Some(faults) => counted(u64::try_from(faults.len()).unwrap_or(u64::MAX), "fault"),
        None if physical_only => "not checked".to_owned(),
        None => "not checked: bad pages come first".to_owned(),
    };
    lines.add("integrity", integrity);
    lines.add("took", speed(physical));
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
    if seconds < 0.1 {
        return took;
    }
    let size = u128::from(physical.size) * 1000 / physical.elapsed.as_millis().max(1);
    format!(
        "{took} for the pages, {}/s",
        bytes(u64::try_from(size).unwrap_or(u64::MAX))
    )
}

fn json(path: &std::path::Path, report: &Report) -> Value {
    let physical = &report.physical;
    let bad: Vec<Value> = physical
        .bad
        .iter()
        .map(|bad| json!({ "file": bad.origin.word(), "page": bad.page_no, "index": bad.index, "why": bad.why }))
        .collect();
    json!({
        "path": path.to_string_lossy(),
        "authentic": physical.is_good(),
        "superblocks": superblocks_json(physical.superblocks),
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
        "bad": bad,
        "integrity_check": report.faults,
        "ms": u64::try_from(physical.elapsed.as_millis()).unwrap_or(u64::MAX),
    })
}
