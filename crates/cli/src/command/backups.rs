//! `selenite backups`: those that are there.

mod list;
mod prune;
mod verify;

use selenite::{Access, DatabaseId};
use selenite_backup::Entry;

use crate::arguments::backups::BackupsCommand;
use crate::complaint::Complaint;

pub fn run(command: &BackupsCommand, access: &Access) -> Result<(), Complaint> {
    match command {
        BackupsCommand::List(arguments) => list::run(arguments, access),
        BackupsCommand::Verify(arguments) => verify::run(arguments, access),
        BackupsCommand::Prune(arguments) => prune::run(arguments, access),
    }
}

/// What to do where one of these was interrupted.
fn stopped() -> String {
    "no backup was left incomplete: run the same command again".to_owned()
}

/// `database 00ff...`, where another one begins.
fn heading(last: &mut Option<DatabaseId>, entry: &Entry) -> Option<String> {
    let id = entry.database_id;
    (last.replace(id) != Some(id)).then(|| format!("database {id}\n"))
}
