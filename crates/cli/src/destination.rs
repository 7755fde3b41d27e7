//! The destination of backups and the backups that the command line names.

use std::sync::Arc;

use selenite::EngineError;
use selenite_backup::{ArchiveName, DatabaseId, Destination, parse_database_id};

use crate::cli_error::CliError;

pub use selenite_backup::is_far;

/// Opens a destination: a folder, or `s3://BUCKET/PREFIX`. Does not access it yet.
pub fn open(spec: &str) -> Result<Arc<dyn Destination>, CliError> {
    Ok(selenite::open_destination(spec)?)
}

/// Parses a database's id, if given.
pub fn database(text: Option<&str>) -> Result<Option<DatabaseId>, EngineError> {
    text.map(|text| parse_database_id(&text.to_ascii_lowercase()).ok_or(text))
        .transpose()
        .map_err(|text| EngineError::Usage {
            what: format!("{text:?} is not a database id (32 hexadecimal digits)"),
            next: "list them: selenite backups list".to_owned(),
        })
}

/// Parses a backup's name, if given.
pub fn backup(text: Option<&str>) -> Result<Option<ArchiveName>, EngineError> {
    text.map(|text| text.parse().map_err(|()| text))
        .transpose()
        .map_err(|text| EngineError::Usage {
            what: format!("{text:?} is not the name of a backup"),
            next: "list them: selenite backups list".to_owned(),
        })
}
