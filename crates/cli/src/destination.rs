//! Where backups are kept, as an argument names it.

use std::path::Path;
use std::sync::Arc;

use selenite_backup::{ArchiveName, Destination, Folder, parse_database_id};
use selenite_engine::{DatabaseId, EngineError};

/// Opens it. Nothing is asked of it yet.
pub fn open(text: &str) -> Arc<dyn Destination> {
    Arc::new(Folder::new(Path::new(text)))
}

/// A database's id, if one was named.
pub fn database(text: Option<&str>) -> Result<Option<DatabaseId>, EngineError> {
    text.map(|text| parse_database_id(&text.to_ascii_lowercase()).ok_or(text))
        .transpose()
        .map_err(|text| EngineError::Usage {
            what: format!("{text:?} is no database id: those have 32 hexadecimal digits"),
            next: "see which there are: selenite backups list".to_owned(),
        })
}

/// A backup's name, if one was named.
pub fn backup(text: Option<&str>) -> Result<Option<ArchiveName>, EngineError> {
    text.map(|text| text.parse().map_err(|()| text))
        .transpose()
        .map_err(|text| EngineError::Usage {
            what: format!("{text:?} is no backup's name"),
            next: "see which there are: selenite backups list".to_owned(),
        })
}
