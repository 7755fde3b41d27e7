//! Where backups are kept, as it was named on the command line.

use std::sync::Arc;

use selenite_backup::{BackupError, Destination, Trouble};
use selenite_engine::EngineError;

use crate::complaint::Complaint;

pub use selenite_store::is_far;

/// Opens it: a folder, or `s3://BUCKET/PREFIX`. Nothing is asked of it yet.
pub fn destination(spec: &str) -> Result<Arc<dyn Destination>, Complaint> {
    match selenite_store::open(spec) {
        Ok(destination) => Ok(Arc::from(destination)),
        Err(error) if error.trouble == Trouble::Usage => Err(Complaint::Engine(EngineError::Usage {
            what: error.to_string(),
            next: "name a folder, or s3://BUCKET/PREFIX with the AWS_* variables or a profile in ~/.aws: docs/CONFIGURATION.md".to_owned(),
        })),
        Err(error) => Err(Complaint::Engine(EngineError::Backup(BackupError::Store(error)))),
    }
}
