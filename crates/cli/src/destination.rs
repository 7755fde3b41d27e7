//! Where backups are kept, and which, as they were named on the command line.

use std::sync::Arc;

use selenite_backup::{ArchiveName, BackupError, DatabaseId, Destination, Trouble, parse_database_id};
use selenite_engine::EngineError;

use crate::complaint::Complaint;

pub use selenite_store::is_far;

/// Opens it: a folder, or `s3://BUCKET/PREFIX`. Nothing is asked of it yet.
pub fn open(spec: &str) -> Result<Arc<dyn Destination>, Complaint> {
    match selenite_store::open(spec) {
        Ok(destination) => Ok(Arc::from(destination)),
        Err(error) if error.trouble == Trouble::Usage => Err(Complaint::Engine(EngineError::Usage {
            what: error.to_string(),
            next: "use a folder, or s3://BUCKET/PREFIX with the AWS_* variables or a profile in ~/.aws: docs/CONFIGURATION.md".to_owned(),
        })),
        Err(error) => Err(Complaint::Engine(EngineError::Backup(BackupError::Store(error)))),
    }
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
