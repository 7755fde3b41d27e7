//! `selenite encrypt`.

use std::path::{Path, PathBuf};

use selenite::storage::Disk;
use selenite::{Access, Encrypt, Online, OnlineLimits, Outcome, Suite, Target, encrypt_online};
use serde_json::{Value, json};

use super::verify::remember;
use crate::arguments;
use crate::cli_error::CliError;
use crate::lines::{Lines, bytes, counted, elapsed};
use crate::meter::Meter;
use crate::output::{print, print_json};
use crate::printable;

pub fn run(arguments: &arguments::Encrypt, access: &Access) -> Result<(), CliError> {
    let how = Encrypt {
        target: target(arguments.to.as_deref()),
        suite: arguments.cipher,
        recipients: arguments.recipient.clone(),
    };
    let meter = Meter::start();
    let (database, watch) = (&arguments.database, meter.watch());
    let limits = OnlineLimits {
        lock_max: arguments.max_lock,
        ignores_unseen: arguments.ignore_unseen,
    };
    let done = if arguments.online {
        encrypt_online(&Disk, database, access, &how, limits, &watch).map(|done| (done.outcome, Some(done.online)))
    } else {
        selenite::encrypt(&Disk, database, access, &how, &watch).map(|outcome| (outcome, None))
    };
    meter.finish();
    let (outcome, online) = done?;
    if arguments.json {
        let mut json = json(&arguments.database, &outcome, Some(how.suite));
        add_online(&mut json, online.as_ref());
        print_json(&json)?;
    } else {
        let mut lines = Lines::default();
        lines.add("encrypted", name(&arguments.database, arguments.to.as_deref()));
        lines.add("suite", how.suite.name());
        show(&mut lines, &outcome, "every value compared, every page verified");
        show_online(&mut lines, online.as_ref());
        lines.add_all("key slots", outcome.slots.iter().map(ToString::to_string));
        print(&lines.text())?;
    }
    if let Some(made) = outcome.authenticated {
        remember(|notes| notes.keep_encrypted(&outcome.path, made));
    }
    if how.target == Target::InPlace {
        say!("\nFreed disk blocks still contain the unencrypted data until they are reused.");
    }
    Ok(())
}

/// The path of the result, as given by the user.
pub fn name(database: &Path, to: Option<&Path>) -> String {
    printable::path(to.unwrap_or(database))
}

/// The target of the result.
pub fn target(to: Option<&Path>) -> Target {
    to.map_or(Target::InPlace, |path| Target::New(path.to_owned()))
}

/// The output that encryption and decryption share.
pub fn show(lines: &mut Lines, outcome: &Outcome, checked: &str) {
    let tables = u64::try_from(outcome.table_count).unwrap_or(u64::MAX);
    let (tables, rows) = (counted(tables, "table"), counted(outcome.row_count, "row"));
    lines.add("contents", format!("{tables}, {rows}: {checked}"));
    lines.add("size", bytes(outcome.size));
    lines.add("took", elapsed(outcome.elapsed));
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| printable::path(path)).collect::<Vec<_>>();
    lines.add_all("removed", paths(&outcome.removed));
    lines.add_all("left over", paths(&outcome.leftovers));
    lines.add_all("not notified", outcome.not_retired.clone());
    lines.add_all("not kept", outcome.not_kept.clone());
}

/// What an online conversion adds to the output.
pub fn show_online(lines: &mut Lines, online: Option<&Online>) {
    if let Some(online) = online {
        let again = counted(online.copied_again, "row");
        lines.add("others waited", elapsed(online.locked));
        lines.add("followed", format!("{again} copied again in {} rounds", online.rounds));
        if online.is_left_in_wal {
            let how = "WAL, since others have it open: PRAGMA journal_mode = DELETE brings it back";
            lines.add("journal mode", how);
        }
    }
}

/// What an online conversion adds to the JSON.
pub fn add_online(json: &mut Value, online: Option<&Online>) {
    if let Some(online) = online {
        json["online"] = json!({
            "locked_seconds": online.locked.as_secs_f64(),
            "rounds": online.rounds,
            "rows_copied_again": online.copied_again,
            "left_in_wal_mode": online.is_left_in_wal,
        });
    }
}

/// The JSON that encryption and decryption share; a decrypted database has no suite.
pub fn json(database: &Path, outcome: &Outcome, suite: Option<Suite>) -> Value {
    let names = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
    };
    json!({
        "database": database.to_string_lossy(),
        "path": outcome.path.to_string_lossy(),
        "suite": suite.map(Suite::name),
        "tables": outcome.table_count,
        "rows": outcome.row_count,
        "size": outcome.size,
        "slots": outcome.slots.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "removed": names(&outcome.removed),
        "left_over": names(&outcome.leftovers),
        "not_notified": outcome.not_retired,
        "not_kept": outcome.not_kept,
        "seconds": outcome.elapsed.as_secs_f64(),
    })
}
