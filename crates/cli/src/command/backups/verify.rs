//! `selenite backups verify`.

use selenite::backups::{self, ArchiveOutcome, Checked, Verification, Verify};
use selenite::{Access, utc};
use selenite_backup::BackupError;
use serde_json::{Value, json};

use super::heading;
use crate::arguments::backups::BackupsVerify;
use crate::cli_error::CliError;
use crate::destination;
use crate::lines::{bytes, counted};
use crate::meter::Meter;
use crate::output::{note, print, print_json};
use crate::printable;

pub fn run(arguments: &BackupsVerify, access: &Access) -> Result<(), CliError> {
    let place = destination::open(&arguments.destination)?;
    let what = Verify {
        database_id: destination::database(arguments.database.as_deref())?,
        name: destination::backup(arguments.backup.as_deref())?,
        unpinned: arguments.unpinned,
    };
    let meter = Meter::start();
    let done = backups::verify(place.as_ref(), access, &what, &meter.watch());
    meter.finish();
    let found = done.map_err(|error| CliError::of(error, super::stopped))?;
    if arguments.json {
        print_json(&json(&found))?;
    } else {
        print(&text(&found))?;
    }
    report_bad_backups(found, arguments.backup.is_some(), &place.place())
}

fn text(found: &Verification) -> String {
    let (mut text, mut last) = (String::new(), None);
    for one in &found.archives {
        text.extend(heading(&mut last, &one.entry));
        let words = words(&one.outcome);
        text.push_str(&printable::line(&format!(
            "{}  {}  {words}",
            one.entry.name,
            bytes(one.entry.size)
        )));
        text.push('\n');
    }
    text.push_str(&format!("{} good, {} bad", found.good_count(), found.bad_count()));
    if found.closed_count() > 0 {
        text.push_str(&format!(", {} that the given keys do not open", found.closed_count()));
    }
    text.push('\n');
    text
}

fn words(outcome: &ArchiveOutcome) -> String {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    match outcome {
        ArchiveOutcome::Good {
            is_own,
            page_count,
            own_count,
            missing_count,
            below_count,
            followed_until,
        } => {
            let mut words = format!("good: {}", counted((*page_count).into(), "page"));
            if *below_count > 0 {
                let below = counted(number(*below_count), "other");
                words.push_str(&format!(
                    ", {} of its own, based on {below}",
                    counted(*own_count, "page")
                ));
            }
            if *missing_count > 0 {
                let pages = counted(number(*missing_count), "page");
                words.push_str(&format!(", without {pages} that were bad when it was made"));
            }
            if let Some(until) = followed_until {
                words.push_str(&format!(", followed until {}", utc(until / 1000)));
            }
            if !is_own {
                words.push_str(", of UNKNOWN origin");
            }
            words
        }
        ArchiveOutcome::Bad(faults) => format!("BAD: {}", counted(number(faults.len()), "fault")),
        ArchiveOutcome::Unfinished => "unfinished: no backup".to_owned(),
        ArchiveOutcome::Closed(_) => "not opened".to_owned(),
        ArchiveOutcome::OnClosed(base) => format!("authentic, and based on {base}, which the given keys do not open"),
    }
}

/// Reports bad backups on standard error, one per line.
fn report_bad_backups(found: Verification, was_named: bool, place: &str) -> Result<(), CliError> {
    for one in &found.archives {
        match &one.outcome {
            ArchiveOutcome::Bad(faults) => faults
                .iter()
                .for_each(|fault| note(&format!("{}: {}", fault.object, fault.what))),
            ArchiveOutcome::Closed(error) => note(&error.to_string()),
            ArchiveOutcome::Good { .. } | ArchiveOutcome::Unfinished | ArchiveOutcome::OnClosed(_) => {}
        }
    }
    let (good, bad) = (found.good_count(), u64::try_from(found.bad_count()).unwrap_or(u64::MAX));
    if bad > 0 {
        return Err(CliError::Found {
            what: format!("{} not good", counted(bad, "backup")),
            next: "make a full backup now, and find out who could write to the destination",
        });
    }
    if let Some(error) = found.closed() {
        return Err(CliError::Engine(error.into()));
    }
    if good == 0 && was_named {
        return Err(CliError::Found {
            what: "the backup is unfinished".to_owned(),
            next: "finish it: selenite backup --resume",
        });
    }
    if good == 0 {
        let what = format!("{place}: no finished backup");
        return Err(CliError::Engine(BackupError::NotThere { what }.into()));
    }
    Ok(())
}

fn json(found: &Verification) -> Value {
    let archive = |one: &Checked| {
        let faults = match &one.outcome {
            ArchiveOutcome::Bad(faults) => faults.as_slice(),
            ArchiveOutcome::Good { .. }
            | ArchiveOutcome::Unfinished
            | ArchiveOutcome::Closed(_)
            | ArchiveOutcome::OnClosed(_) => &[],
        };
        let verdict = match &one.outcome {
            ArchiveOutcome::Good { .. } => "good",
            ArchiveOutcome::Bad(_) => "bad",
            ArchiveOutcome::Unfinished => "unfinished",
            ArchiveOutcome::Closed(_) | ArchiveOutcome::OnClosed(_) => "closed",
        };
        let counts = match one.outcome {
            ArchiveOutcome::Good {
                page_count,
                own_count,
                missing_count,
                below_count,
                followed_until,
                ..
            } => Some((page_count, own_count, missing_count, below_count, followed_until)),
            ArchiveOutcome::Bad(_)
            | ArchiveOutcome::Unfinished
            | ArchiveOutcome::Closed(_)
            | ArchiveOutcome::OnClosed(_) => None,
        };
        let origin = match one.outcome {
            ArchiveOutcome::Good { is_own, .. } => Some(crate::lines::origin(is_own)),
            ArchiveOutcome::Bad(_)
            | ArchiveOutcome::Unfinished
            | ArchiveOutcome::Closed(_)
            | ArchiveOutcome::OnClosed(_) => None,
        };
        json!({
            "origin": origin,
            "database_id": one.entry.database_id.to_string(),
            "name": one.entry.name.as_str(),
            "size": one.entry.size,
            "verdict": verdict,
            "pages": counts.map(|counts| counts.0),
            "pages_of_its_own": counts.map(|counts| counts.1),
            "pages_missing": counts.map(|counts| counts.2),
            "rests_on": counts.map(|counts| counts.3),
            "followed_until": counts.and_then(|counts| counts.4).map(|until| utc(until / 1000)),
            "faults": faults.iter().map(|fault| json!({ "object": fault.object, "what": fault.what })).collect::<Vec<_>>(),
        })
    };
    json!({
        "backups": found.archives.iter().map(archive).collect::<Vec<_>>(),
        "good": found.good_count(),
        "bad": found.bad_count(),
        "closed": found.closed_count(),
        "foreign_objects": found.foreign_count,
    })
}
