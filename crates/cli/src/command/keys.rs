//! `selenite keys`: who can open a database.

mod accept;
mod exported_key;

use selenite::keys::{self, Changed};
use selenite::storage::Disk;
use selenite::{Access, utc};
use selenite_keyring::SlotSummary;
use serde_json::{Value, json};

use crate::arguments::{KeysCommand, KeysList};
use crate::cli_error::CliError;
use crate::lines::elapsed;
use crate::meter::Meter;
use crate::output::{note, print, print_json};
use crate::printable;

pub fn run(command: &KeysCommand, access: &Access) -> Result<(), CliError> {
    // A change is atomic: when the command ends, a removed slot is removed from both superblocks.
    let changing = || Access {
        watch: Meter::start().watch(),
        ..access.clone()
    };
    match command {
        KeysCommand::List(list) => show_list(list, access),
        KeysCommand::Add(add) => show(&keys::add(
            &Disk,
            &add.database,
            &changing(),
            &add.recipient,
            &add.label,
        )?),
        KeysCommand::Remove(remove) => {
            let changed = keys::remove(&Disk, &remove.database, &changing(), &remove.slot, remove.force)?;
            show(&changed)?;
            if changed.revokes_caller {
                say!("warning: this identity can no longer open the database");
            }
            remind();
            Ok(())
        }
        KeysCommand::Replace(one) => {
            show(&keys::replace(
                &Disk,
                &one.database,
                &changing(),
                &one.slot,
                &one.recipient,
                &one.label,
            )?)?;
            remind();
            Ok(())
        }
        KeysCommand::Renew(renew) => show(&keys::renew(
            &Disk,
            &renew.database,
            &changing(),
            &renew.recipient,
            renew.drop,
        )?),
        KeysCommand::Repair(repair) => {
            let changed = keys::repair(&Disk, &repair.database, &changing())?;
            let text = format!("both superblocks rewritten\ndone in {}", elapsed(changed.elapsed));
            Ok(print(&text)?)
        }
        KeysCommand::Export(export) => exported_key::export(export, &changing()),
        KeysCommand::Import(import) => exported_key::import(import, &changing()),
        KeysCommand::Accept(accept) => accept::run(accept, &changing()),
        KeysCommand::Pin(pin) => {
            let keyring = keys::pin(&Disk, &pin.database, access, pin.replace)?;
            Ok(print(&format!(
                "pinned {} in {}",
                printable::path(&pin.database),
                printable::path(&keyring)
            ))?)
        }
    }
}

fn show_list(arguments: &KeysList, access: &Access) -> Result<(), CliError> {
    let list = keys::list_with_origin(&Disk, &arguments.database, access)?;
    if arguments.json {
        let slots: Vec<Value> = list.slots.iter().map(slot_json).collect();
        let object = json!({
            "database_id": list.database_id.to_string(),
            "slots": slots,
            "origin": list.origin.map(|origin| origin.to_string()),
            "commitment": list.commitment.map(|commitment| hexadecimal(&commitment)),
        });
        return Ok(print_json(&object)?);
    }
    print(&slot_lines(&list.slots).join("\n"))?;
    if let (Some(origin), Some(commitment)) = (list.origin, list.commitment) {
        note(&format!("origin {origin}, commitment {}", hexadecimal(&commitment)));
    }
    Ok(())
}

fn show(changed: &Changed) -> Result<(), CliError> {
    let mut text = printable::lines(&changed.report.to_string());
    if let Some(keyring) = &changed.keyring {
        text.push_str(&format!("pinned again in {}\n", printable::path(keyring)));
    }
    text.push_str(&format!("done in {}\n", elapsed(changed.elapsed)));
    Ok(print(&text)?)
}

/// Two hexadecimal digits per byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Warns that the holder of a removed slot may still know the master key.
fn remind() {
    say!("\nIts holder may still know the master key: replace it with selenite keys renew.");
}

/// Slots in columns: id, kind, creation time, recipient, label.
pub fn slot_lines(slots: &[SlotSummary]) -> Vec<String> {
    let width = slots.iter().map(|slot| slot.who.chars().count()).max().unwrap_or(0);
    slots
        .iter()
        .map(|slot| {
            let line = format!(
                "{}  {}  {:width$}  {}",
                slot.id,
                utc(slot.created),
                slot.who,
                slot.label
            );
            printable::line(line.trim_end())
        })
        .collect()
}

pub fn slot_json(slot: &SlotSummary) -> Value {
    json!({
        "id": slot.id.to_string(),
        "who": slot.who,
        "label": slot.label,
        "created": utc(slot.created),
    })
}
