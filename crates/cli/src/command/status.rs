//! `selenite status`.

use std::path::Path;

use selenite_engine::storage::Disk;
use selenite_engine::{Access, Sealed, Status, Superblocks, utc};
use serde_json::{Value, json};

use super::keys::{slot_json, slot_lines};
use crate::arguments;
use crate::complaint::Complaint;
use crate::lines::{Lines, bytes, count};
use crate::output::print;

pub fn run(arguments: &arguments::Status, access: &Access) -> Result<(), Complaint> {
    let status = selenite_engine::status(&Disk, &arguments.database, access)?;
    if let Some(sealed) = &status.sealed {
        warn_of_superblocks(sealed.superblocks, &arguments.database);
    }
    if arguments.json {
        return Ok(print(&json(&status).to_string())?);
    }
    let mut lines = Lines::default();
    lines.add("database", status.path.display().to_string());
    match &status.sealed {
        None => lines.add("encrypted", "no"),
        Some(sealed) => describe(&mut lines, sealed),
    }
    let files = status.files.iter();
    lines.add_all(
        "files",
        files.map(|file| format!("{}  {}", file.path.display(), bytes(file.size))),
    );
    Ok(print(&lines.text())?)
}

fn describe(lines: &mut Lines, sealed: &Sealed) {
    let is_encrypted = sealed.suite != "NONE";
    let encrypted = if is_encrypted { "yes" } else { "no (suite NONE)" };
    lines.add("encrypted", encrypted);
    match (&sealed.opened_by, &sealed.why_not) {
        (Some(slot), _) => lines.add(
            "authentic",
            format!("yes, opened by key slot {:.8}", slot.id.to_string()),
        ),
        (None, Some(why)) => lines.add("authentic", format!("not checked: {why}")),
        (None, None) => lines.add("authentic", "not checked"),
    }
    if let Some(is_pinned) = sealed.is_pinned {
        lines.add("pinned", if is_pinned { "yes" } else { "no" });
    }
    lines.add("superblocks", superblock_words(sealed.superblocks));
    lines.add("suite", sealed.suite);
    lines.add("state", sealed.state_word());
    if sealed.cursor > 0 {
        lines.add("done up to", format!("page {}", count(sealed.cursor.into())));
    }
    let size = u64::from(sealed.page_count) * u64::from(sealed.page_size);
    lines.add(
        "pages",
        format!(
            "{} of {} bytes, {}",
            count(sealed.page_count.into()),
            count(sealed.page_size.into()),
            bytes(size)
        ),
    );
    lines.add("database id", sealed.database_id.to_string());
    lines.add("generation", count(sealed.generation));
    lines.add("master key", format!("made {}", utc(sealed.master_created)));
    let epochs = sealed.epochs.iter().map(|epoch| {
        let sealing = if epoch.is_sealing {
            ""
        } else {
            ", no longer sealed under"
        };
        format!(
            "epoch {}, {}, made {}{sealing}",
            epoch.epoch,
            epoch.suite,
            utc(epoch.created)
        )
    });
    lines.add_all("data keys", epochs);
    lines.add_all("key slots", slot_lines(&sealed.slots));
}

/// Both, in a line.
pub fn superblock_words(found: Superblocks) -> String {
    format!("A {}, B {}", word(found.a_is_whole), word(found.b_is_whole))
}

pub fn superblocks_json(found: Superblocks) -> Value {
    json!({ "a": word(found.a_is_whole), "b": word(found.b_is_whole) })
}

fn word(is_whole: bool) -> &'static str {
    if is_whole { "ok" } else { "damaged" }
}

/// A database with one superblock opens as ever: nobody would notice before the other is lost, too.
pub fn warn_of_superblocks(found: Superblocks, path: &Path) {
    if !found.are_whole() {
        eprintln!(
            "warning: one of the two superblocks is damaged: if the other is, too, nobody opens the database\n \
             next: any change of keys writes it anew: selenite keys repair {}",
            path.display()
        );
    }
}

fn json(status: &Status) -> Value {
    let files: Vec<Value> = status
        .files
        .iter()
        .map(|file| json!({ "path": file.path.to_string_lossy(), "size": file.size }))
        .collect();
    let mut object = json!({
        "path": status.path.to_string_lossy(),
        "encrypted": status.sealed.as_ref().is_some_and(|sealed| sealed.suite != "NONE"),
        "files": files,
    });
    let Some(sealed) = &status.sealed else { return object };
    let epochs: Vec<Value> = sealed
        .epochs
        .iter()
        .map(|epoch| {
            json!({
                "epoch": epoch.epoch,
                "suite": epoch.suite,
                "created": utc(epoch.created),
                "sealing": epoch.is_sealing,
            })
        })
        .collect();
    object["superblock"] = json!({
        "authentic": sealed.authentic,
        "superblocks": superblocks_json(sealed.superblocks),
        "opened_by": sealed.opened_by.as_ref().map(|slot| slot.id.to_string()),
        "pinned": sealed.is_pinned,
        "suite": sealed.suite,
        "state": sealed.state_word(),
        "cursor": sealed.cursor,
        "page_size": sealed.page_size,
        "page_count": sealed.page_count,
        "database_id": sealed.database_id.to_string(),
        "generation": sealed.generation,
        "master_key_created": utc(sealed.master_created),
        "epochs": epochs,
        "slots": sealed.slots.iter().map(slot_json).collect::<Vec<_>>(),
    });
    object
}
