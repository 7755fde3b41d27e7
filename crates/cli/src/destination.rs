//! Where backups are kept, and which, as they were named on the command line.

use std::sync::Arc;

use selenite::EngineError;
use selenite_backup::{ArchiveName, DatabaseId, Destination, parse_database_id};

use crate::complaint::Complaint;

pub use selenite_backup::is_far;

/// Opens it: a folder, or `s3://BUCKET/PREFIX`. Nothing is asked of it yet.
pub fn open(spec: &str) -> Result<Arc<dyn Destination>, Complaint> {
    Ok(selenite::open_destination(spec)?)
}

/// A database's id, if one was named.
pub fn database(text: Option<&str>) -> Result<Option<DatabaseId>, EngineError> {
    text.map(|text| parse_database_id(&text.to_ascii_lowercase()).ok_or(text))
        .transpose()
        .map_err(|text| EngineError::Usage {
            what: format!("{text:?} is not a database id (32 hexadecimal digits)"),
            next: "list them: selenite backups list".to_owned(),
        })
}

/// A backup's name, if one was named.
pub fn backup(text: Option<&str>) -> Result<Option<ArchiveName>, EngineError> {
    text.map(|text| text.parse().map_err(|()| text))
        .transpose()
        .map_err(|text| EngineError::Usage {
            what: format!("{text:?} is not the name of a backup"),
            next: "list them: selenite backups list".to_owned(),
        })
}
