//! Accepts databases of foreign or unknown origin: afterwards they are the accepting identity's own
//! (FORMAT 4.7).
//!
//! Accepting adds a right and removes none. It puts an origin mark into each slot that an identity
//! in force opens. If no identity that derives origin tokens opens a slot, it pins the path in the
//! keyring file instead.

use std::path::{Path, PathBuf};

use selenite_cipher::DatabaseId;
use selenite_keyring::{
    Identity, Origin, OriginPolicy, SlotSummary, Unlocked, absolute, change, os_random, pin_path, replace_path_pin,
};

use crate::database::KeyChange;
use crate::storage::Storage;
use crate::{Access, Database, EngineError};

/// The result of accepting a database, for display.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The absolute path of the file, without symbolic links.
    pub path: PathBuf,
    /// The id of the database.
    pub database_id: DatabaseId,
    /// The commitment of its master key (FORMAT 4.2).
    pub commitment: [u8; 32],
    /// The origin before it was accepted.
    pub origin: Origin,
    /// The slots that got an origin mark.
    pub marked: Vec<SlotSummary>,
    /// All other slots. Their holders can read the database, too.
    pub others: Vec<SlotSummary>,
    /// The keyring file in which the path was pinned, if it was.
    pub pinned_in: Option<PathBuf>,
}

/// Accepts the database at `path`, whatever its origin. Other connections may use it meanwhile.
///
/// # Errors
/// [`EngineError::Key`] if no identity in force opens it, or if a pin cannot be written; errors of
/// SQLite.
pub fn accept(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Accepted, EngineError> {
    let config = Access::config()?;
    let identities = access.identities(&config)?;
    let access = Access {
        origin: Some(OriginPolicy::Any),
        ..access.clone()
    };
    let database = Database::open(storage, path, &access)?;
    let (unlocked, marked) = database.change(move |unlocked| mark(unlocked, &identities))?;
    drop(database);
    let origin = unlocked.origin;
    let keyring = config.keyring_path();
    let pinned_in = match (origin, keyring) {
        (Origin::Foreign | Origin::Unknown, _) if !marked.is_empty() => None,
        (Origin::Foreign | Origin::Unknown, Some(keyring)) => {
            pin_path(keyring, path, &unlocked)?;
            Some(keyring.to_owned())
        }
        (Origin::Foreign | Origin::Unknown, None) => {
            return Err(EngineError::usage(
                "no folder for a keyring file",
                "set SELENITE_KEYRING",
            ));
        }
        (Origin::Own, _) => None,
    };
    if let (None, Some(keyring)) = (&pinned_in, keyring) {
        replace_path_pin(keyring, path, &unlocked)?;
    }
    let is_other = |slot: &SlotSummary| marked.iter().all(|marked| marked.id != slot.id);
    let slots = unlocked.superblock.slots.iter().map(SlotSummary::new);
    Ok(Accepted {
        path: absolute(path),
        database_id: unlocked.superblock.database_id,
        commitment: unlocked.master.commitment(),
        origin,
        others: slots
            .filter(|slot| slot.id != unlocked.slot && is_other(slot))
            .collect(),
        marked,
        pinned_in,
    })
}

/// Marks the slots of a database that is not the identities' own. Returns the keys as they were,
/// and the marked slots.
fn mark(
    unlocked: &Unlocked,
    identities: &[Box<dyn Identity>],
) -> Result<KeyChange<(Unlocked, Vec<SlotSummary>)>, EngineError> {
    let accepted = change::accept(unlocked, identities, &mut os_random)?;
    let marked = accepted.report.accepted;
    let result = (unlocked.duplicate(), marked.clone());
    if marked.is_empty() {
        return Ok(KeyChange::Keep(result));
    }
    Ok(KeyChange::Write(
        Box::new(accepted.unlocked),
        accepted.revokes_access,
        result,
    ))
}
