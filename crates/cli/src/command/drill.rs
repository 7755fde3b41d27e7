//! `selenite drill`.

use selenite::drill::{self, Drill, Drilled, Rows};
use selenite::restore::Which;
use selenite::{Access, utc};
use selenite_backup::ArchiveName;
use serde_json::{Value, json};

use super::restore::note_passed_over;
use crate::arguments;
use crate::cli_error::CliError;
use crate::destination;
use crate::lines::{Lines, bytes, counted, elapsed, origin, origin_said};
use crate::meter::Meter;
use crate::output::{note, print, print_json};
use crate::printable;

pub fn run(arguments: &arguments::backups::Drill, access: &Access) -> Result<(), CliError> {
    let place = destination::open(&arguments.destination)?;
    let what = Drill {
        database_id: destination::database(arguments.database.as_deref())?,
        which: destination::backup(arguments.backup.as_deref())?.map_or(Which::Newest, Which::Named),
        allow_missing: arguments.allow_missing,
        place: arguments.scratch.clone(),
    };
    let meter = Meter::start();
    let done = drill::drill(place.as_ref(), access, &what, &meter.watch());
    meter.finish();
    let drilled = done.map_err(|error| {
        CliError::of(error, || {
            "nothing was left behind: run the same command again".to_owned()
        })
    })?;
    if arguments.json {
        print_json(&json(&drilled))?;
    } else {
        print(&text(&drilled))?;
    }
    report_faults(&drilled)
}

fn text(drilled: &Drilled) -> String {
    let restored = &drilled.restored;
    let took = &drilled.times;
    let mut lines = Lines::default();
    lines.add("backup", restored.name.as_str());
    lines.add("database", restored.of.to_string());
    lines.add("as it was", utc(restored.made));
    let others = restored.link_count.saturating_sub(1);
    if others > 0 {
        lines.add("rests on", counted(u64::try_from(others).unwrap_or(u64::MAX), "other"));
    }
    lines.add("origin", origin_said(restored.is_own));
    lines.add("fetched", bytes(restored.traffic.received));
    let pages = counted(restored.page_count.into(), "page");
    lines.add(
        "restored",
        format!("{pages}, {}, in {}", bytes(restored.size), elapsed(took.restore)),
    );
    let authentic = match drilled.physical.bad_count {
        0 => "all of it".to_owned(),
        bad => format!("no: {}", counted(bad, "bad place")),
    };
    lines.add("authentic", format!("{authentic}, in {}", elapsed(took.pages)));
    let integrity = match drilled.faults.as_deref() {
        None => "not checked, because of bad pages".to_owned(),
        Some([]) => format!("ok, in {}", elapsed(took.integrity)),
        Some(faults) => counted(u64::try_from(faults.len()).unwrap_or(u64::MAX), "fault"),
    };
    lines.add("integrity", integrity);
    let rows = match drilled.rows {
        Rows::Same => format!("as they were, in {}", elapsed(took.rows)),
        Rows::Differ => "NOT as they were".to_owned(),
        Rows::Unknown => "not compared: the backup has no digest (make one with selenite backup --digest)".to_owned(),
    };
    lines.add("rows", rows);
    lines.add("time to restore", elapsed(took.restore));
    lines.text()
}

fn report_faults(drilled: &Drilled) -> Result<(), CliError> {
    note_passed_over(&drilled.restored.passed_over);
    if drilled.by_recipient {
        note("This identity opens only the backup: a restore needs --for, and makes a database with a new id.");
    }
    for path in &drilled.removed {
        note(&format!(
            "removed the remains of an earlier drill: {}",
            printable::path(path)
        ));
    }
    for page_no in drilled.restored.missing.iter().take(LISTED_MAX) {
        note(&format!(
            "page {page_no} is not in the backup; it was filled with zeros"
        ));
    }
    drilled.faults.iter().flatten().for_each(|fault| note(fault));
    let missing = u64::try_from(drilled.restored.missing.len()).unwrap_or(u64::MAX);
    if drilled.is_good() && missing == 0 {
        return Ok(());
    }
    if missing > 0 {
        return Err(CliError::Found {
            what: format!("the backup was restored, without {}", counted(missing, "page")),
            next: "make a full backup of a sound database, and keep this one; for details: selenite backups verify",
        });
    }
    Err(CliError::Found {
        what: "the restored database failed the checks".to_owned(),
        next: "make a full backup now, and keep this one; for details: selenite backups verify",
    })
}

fn json(drilled: &Drilled) -> Value {
    let restored = &drilled.restored;
    let took = &drilled.times;
    json!({
        "backup": restored.name.as_str(),
        "database_id": restored.of.to_string(),
        "made": utc(restored.made),
        "passed_over": restored.passed_over.iter().map(ArchiveName::as_str).collect::<Vec<_>>(),
        "origin": origin(restored.is_own),
        "backups_read": restored.link_count,
        "bytes_received": restored.traffic.received,
        "pages": restored.page_count,
        "page_size": restored.page_size,
        "pages_missing": restored.missing,
        "size": restored.size,
        "by_recipient": drilled.by_recipient,
        "bad_count": drilled.physical.bad_count,
        "integrity_check": drilled.faults,
        "rows": match drilled.rows {
            Rows::Same => Some(true),
            Rows::Differ => Some(false),
            Rows::Unknown => None,
        },
        "good": drilled.is_good() && restored.missing.is_empty(),
        "seconds": {
            "restore": took.restore.as_secs_f64(),
            "pages": took.pages.as_secs_f64(),
            "integrity": took.integrity.as_secs_f64(),
            "rows": took.rows.as_secs_f64(),
        },
    })
}

const LISTED_MAX: usize = 100;
