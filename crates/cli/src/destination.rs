//! The destination of backups and the backups that the command line names.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use selenite::EngineError;
use selenite_backup::{ArchiveName, DatabaseId, Destination, Folder, parse_database_id};

use crate::cli_error::CliError;

/// Opens a destination: a folder, or `s3://BUCKET/PREFIX`. Does not access it yet.
pub fn open(spec: &OsStr) -> Result<Arc<dyn Destination>, CliError> {
    match spec.to_str() {
        Some(spec) => Ok(selenite::open_destination(spec)?),
        // Only the path of a folder may be something else than UTF-8.
        None => Ok(Arc::new(Folder::new(Path::new(spec)))),
    }
}

/// Whether the destination is remote, so that a cache is useful.
pub fn is_far(spec: &OsStr) -> bool {
    spec.to_str().is_some_and(selenite_backup::is_far)
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
