//! `selenite keys accept`.

use selenite::storage::Disk;
use selenite::{Accepted, Access, accept};

use super::{hexadecimal, slot_lines};
use crate::arguments::KeysAccept;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::output::print;
use crate::printable;

/// Accepts the databases in order, up to the first error.
pub fn run(arguments: &KeysAccept, access: &Access) -> Result<(), CliError> {
    for path in &arguments.database {
        print(&text(&accept(&Disk, path, access)?))?;
    }
    Ok(())
}

fn text(accepted: &Accepted) -> String {
    let mut lines = Lines::default();
    lines.add("database", printable::path(&accepted.path));
    lines.add("database id", accepted.database_id.to_string());
    lines.add("commitment", hexadecimal(&accepted.commitment));
    lines.add("origin", format!("{}, {}", accepted.origin, what_was_done(accepted)));
    lines.add_all("accepted", slot_lines(&accepted.marked));
    lines.add_all("other slots", slot_lines(&accepted.others));
    lines.text()
}

fn what_was_done(accepted: &Accepted) -> String {
    match &accepted.pinned_in {
        Some(keyring) => format!("pinned in {}", printable::path(keyring)),
        None if accepted.marked.is_empty() => "nothing to do".to_owned(),
        None => "accepted".to_owned(),
    }
}
