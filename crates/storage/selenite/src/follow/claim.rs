//! Ensures that only one process follows a database to a destination, as far as this machine can
//! determine.
//!
//! On another machine, or if the destination was named differently, both continue: each object is
//! written once, and a process that finds another's object in the place of its own reads the
//! destination again (`LogWriter`, resend-same-bytes).

use std::io::ErrorKind;
use std::path::Path;

use selenite_backup::Destination;

use crate::EngineError;
use crate::draft::{CLAIM, Draft, beside};
use crate::error::io_error;
use crate::storage::{Claim, Storage};

/// Takes the claim; `None` if no file can be created beside the database.
///
/// # Errors
/// [`EngineError::Followed`] if another process has it.
pub fn take(
    storage: &dyn Storage,
    path: &Path,
    destination: &dyn Destination,
) -> Result<Option<Box<dyn Claim>>, EngineError> {
    let path = storage.real_path(path).map_err(io_error("follow", path))?;
    let place = destination.place();
    let [first, second, third, fourth, ..] = selenite_cipher::sha256(place.as_bytes());
    let number = u32::from_be_bytes([first, second, third, fourth]);
    let file = beside(&Draft::path_of(&path, &format!("{number:08x}"))?, CLAIM);
    match storage.claim(&file) {
        Ok(Some(claim)) => {
            // For display only.
            let _ = claim.write(&std::process::id().to_string());
            Ok(Some(claim))
        }
        Ok(None) => Err(EngineError::Followed {
            by: follower(storage, &file),
            path,
            place,
        }),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(io_error("create", &file)(error)),
    }
}

fn follower(storage: &dyn Storage, file: &Path) -> String {
    let text = storage.read_claim(file).ok().flatten();
    let id = text.and_then(|text| text.trim().parse::<u32>().ok());
    id.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
}
