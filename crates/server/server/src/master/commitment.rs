//! Which master key a database has: its commitment, which can't be chosen without that key (FORMAT 4.2).

use std::path::Path;

use selenite::storage::Disk;
use selenite::{Access, DatabaseId, EngineError, status};
use selenite_keyring::{KeyError, Origin, OriginPolicy};

/// The id and the commitment of a database that is not open in this process; `None` for an unencrypted file without a
/// superblock.
///
/// # Errors
/// [`EngineError`]: also for a file whose origin `access` does not accept.
pub fn load_commitment(path: &Path, access: &Access) -> Result<Option<(DatabaseId, [u8; 32])>, EngineError> {
    let Some(sealed) = status(&Disk, path, access)?.sealed else {
        return Ok(None);
    };
    let database_id = sealed.database_id;
    let commitment = sealed.commitment.ok_or(EngineError::Key(KeyError::WrongKey))?;
    // From the same superblock: a file that was put there meanwhile is not taken for the one that was checked.
    let is_foreign = sealed.origin.is_none_or(|origin| origin == Origin::Foreign) && sealed.is_pinned != Some(true);
    if is_foreign && access.origin != Some(OriginPolicy::Any) {
        return Err(EngineError::Key(KeyError::ForeignOrigin { database_id }));
    }
    Ok(Some((database_id, commitment)))
}
