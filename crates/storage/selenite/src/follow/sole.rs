//! That one alone follows a database to a place, as far as this machine can tell.
//!
//! On another machine, or where the place was named otherwise, both go on: each object is written
//! once, and who finds another's in the place of its own looks again at what is there (`LogWriter`,
//! resend-same-bytes).

use std::io::ErrorKind;
use std::path::Path;

use selenite_backup::Destination;

use crate::EngineError;
use crate::draft::{CLAIM, Draft, beside};
use crate::error::io_error;
use crate::storage::{Claim, Storage};

/// Takes the claim; nothing where no one may make a file beside the database.
///
/// # Errors
/// [`EngineError::Followed`] where another has it.
pub fn claim(
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
            // For people alone.
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
