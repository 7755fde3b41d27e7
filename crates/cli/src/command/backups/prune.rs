//! `selenite backups prune`.

use selenite::backups::{self, KeptBackup, Prune, Pruned, Reason, RemovedBackup};
use selenite::{Access, utc};
use serde_json::{Value, json};

use crate::arguments::backups::BackupsPrune;
use crate::cli_error::CliError;
use crate::destination;
use crate::lines::{bytes, counted};
use crate::meter::Meter;
use crate::output::{note, print, print_json};
use crate::printable;

pub fn run(arguments: &BackupsPrune, access: &Access) -> Result<(), CliError> {
    let place = destination::open(&arguments.destination)?;
    let what = Prune {
        database_id: destination::database(arguments.database.as_deref())?,
        rules: arguments.keep.rules(),
        dry_run: arguments.dry_run,
        unpinned: arguments.unpinned,
    };
    let meter = Meter::start();
    let done = backups::prune(place.as_ref(), access, &what, &meter.watch());
    meter.finish();
    let pruned = done.map_err(|error| CliError::of(error, super::stopped))?;
    if arguments.json {
        print_json(&json(&pruned, arguments.dry_run))?;
    } else {
        print(&text(&pruned, arguments.dry_run))?;
    }
    for kept in &pruned.kept {
        if let Some(why_not) = &kept.why_not {
            note(why_not);
        }
    }
    if pruned
        .kept
        .iter()
        .any(|kept| kept.reasons.contains(&Reason::Unreadable))
    {
        note(
            "No backup of a database is removed while one of its backups cannot be read: see --unpinned, and selenite backups verify.",
        );
    }
    Ok(())
}

fn text(pruned: &Pruned, dry_run: bool) -> String {
    let mut text = String::new();
    for kept in &pruned.kept {
        text.push_str(&format!("kept     {}  {}\n", kept.entry.name, reasons(kept).join(", ")));
    }
    let verb = if dry_run { "would go" } else { "removed" };
    for gone in &pruned.removed {
        let what = gone
            .made
            .map_or("never finished".to_owned(), |made| format!("made {}", utc(made)));
        text.push_str(&format!(
            "{verb:8} {}  {what}, {}\n",
            gone.entry.name,
            bytes(gone.entry.size)
        ));
    }
    let size = pruned.removed.iter().map(|gone| gone.entry.size).sum();
    let count = |count: usize| counted(u64::try_from(count).unwrap_or(u64::MAX), "backup");
    let (kept, removed) = (count(pruned.kept.len()), count(pruned.removed.len()));
    let verb = if dry_run { "would be removed" } else { "removed" };
    text.push_str(&format!("{kept} kept, {removed} {verb}, {}\n", bytes(size)));
    printable::lines(&text)
}

fn reasons(kept: &KeptBackup) -> Vec<String> {
    kept.reasons.iter().map(ToString::to_string).collect()
}

fn json(pruned: &Pruned, dry_run: bool) -> Value {
    let kept = |one: &KeptBackup| {
        json!({
            "database_id": one.entry.database_id.to_string(),
            "name": one.entry.name.as_str(),
            "size": one.entry.size,
            "reasons": reasons(one),
            "why_not_read": one.why_not,
        })
    };
    let gone = |one: &RemovedBackup| {
        json!({
            "database_id": one.entry.database_id.to_string(),
            "name": one.entry.name.as_str(),
            "size": one.entry.size,
            "made": one.made.map(utc),
        })
    };
    json!({
        "dry_run": dry_run,
        "kept": pruned.kept.iter().map(kept).collect::<Vec<_>>(),
        "removed": pruned.removed.iter().map(gone).collect::<Vec<_>>(),
        "foreign_objects": pruned.foreign_count,
    })
}
