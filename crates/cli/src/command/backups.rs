//! `selenite backups`: operations on existing backups.

mod list;
mod prune;
mod verify;

use selenite::{Access, DatabaseId};
use selenite_backup::Entry;

use crate::arguments::backups::BackupsCommand;
use crate::cli_error::CliError;

pub fn run(command: &BackupsCommand, access: &Access) -> Result<(), CliError> {
    match command {
        BackupsCommand::List(arguments) => list::run(arguments, access),
        BackupsCommand::Verify(arguments) => verify::run(arguments, access),
        BackupsCommand::Prune(arguments) => prune::run(arguments, access),
    }
}

/// Advice after an interruption of one of these commands.
fn stopped() -> String {
    "no backup was left incomplete: run the same command again".to_owned()
}

/// `database 00ff...`, if the entry is the first of another database.
fn heading(last: &mut Option<DatabaseId>, entry: &Entry) -> Option<String> {
    let id = entry.database_id;
    (last.replace(id) != Some(id)).then(|| format!("database {id}\n"))
}
