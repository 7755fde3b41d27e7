//! Exports the master key to a recipient for escrow, and imports it if every identity is lost.
//!
//! - export-is-a-read: exporting changes nothing, and takes no lock: it reads the superblock as any
//!   reader does.
//! - import-is-a-key-change: importing is a change of keys like any other (`keys`): under SQLite's
//!   write lock, and based on the superblock at that time.
//! - databases-are-not-replaced: an exported key never replaces a database, whatever the options:
//!   neither the one that is exported, nor another.

use std::path::Path;
use std::time::{Duration, Instant};

use selenite_cipher::DatabaseId;
use selenite_keyring::{AgeRecipient, Cache, ExportedKey, KeyError, Recipient, change, os_random};

use crate::keys::{Changed, apply, now, slot_of};
use crate::storage::Storage;
use crate::superblock_file::{FileContent, inspect};
use crate::{Access, EngineError};

/// The result of an export.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The id of the database.
    pub database_id: DatabaseId,
    /// The recipient for which the key was encrypted.
    pub recipient: String,
    /// When the master key was made: seconds since 1970-01-01 UTC.
    pub master_created: u64,
    /// Its commitment (FORMAT 4.2).
    pub commitment: [u8; 32],
    /// How long it took, including requests for keys.
    pub elapsed: Duration,
}

/// The result of an import. An exported key does not prove who made it: importing it accepts the
/// database.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The id of the database.
    pub database_id: DatabaseId,
    /// The commitment of its master key (FORMAT 4.2).
    pub commitment: [u8; 32],
    /// The new slots. Those of identities have origin marks.
    pub changed: Changed,
}

/// Encrypts a database's master key to an age recipient, into a new file. With `replace` the file
/// may replace another one.
///
/// # Errors
/// [`EngineError::Exists`]; [`EngineError::Usage`] if a database would be replaced;
/// [`EngineError::Key`] for errors of the keyring, and for a text that is no age recipient;
/// [`EngineError::Io`].
pub fn export(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    recipient: &str,
    (to, replace): (&Path, bool),
) -> Result<Exported, EngineError> {
    let started = Instant::now();
    let recipient: AgeRecipient = recipient.parse()?;
    let config = Access::config()?;
    let identities = access.identities(&config)?;
    if !replace && to.symlink_metadata().is_ok() {
        return Err(exists(to));
    }
    check_replaceable(storage, path, to)?;
    let trust = access.trust(&config, path)?;
    let (bytes, _) = inspect(storage, path)?.sealed(path)?;
    let unlocked = selenite_keyring::unlock(&bytes, &identities, &trust, &Cache::new())?;
    access.watch.check()?;
    let exported = ExportedKey::of(&unlocked, now());
    match exported.store(to, &recipient, replace) {
        Err(error) if error.is_exists() => return Err(exists(to)),
        stored => stored?,
    }
    Ok(Exported {
        database_id: exported.database_id,
        recipient: recipient.describe(),
        master_created: exported.master_created,
        commitment: exported.commitment(),
        elapsed: started.elapsed(),
    })
}

/// Enforces `databases-are-not-replaced`.
fn check_replaceable(storage: &dyn Storage, path: &Path, to: &Path) -> Result<(), EngineError> {
    let Ok(named) = to.symlink_metadata() else {
        return Ok(());
    };
    let refused = |what: &str| {
        let what = format!("{}: {what}", to.display());
        Err(EngineError::usage(what, "choose another name for the exported key"))
    };
    let identity = |path: &Path| storage.attributes(path).ok().map(|attributes| attributes.identity);
    if let Some(own) = identity(path)
        && identity(to) == Some(own)
    {
        return refused("it is the database itself");
    }
    // A link is replaced itself; its target is unchanged.
    if named.is_symlink() {
        return Ok(());
    }
    if !named.is_file() {
        return refused("not a file");
    }
    match inspect(storage, to) {
        Ok(FileContent::Empty | FileContent::Foreign) => Ok(()),
        Ok(FileContent::Plain | FileContent::Sealed { .. }) => refused("it is a database"),
        // Damaged, of a later version, or in use here.
        Err(EngineError::Key(_) | EngineError::Busy { .. }) => refused("it is a database"),
        Err(error) => Err(error),
    }
}

fn exists(to: &Path) -> EngineError {
    EngineError::Exists {
        path: to.to_owned(),
        can_force: true,
    }
}

/// Adds a slot for each of `recipients` to the database whose master key was exported to `from`.
/// `access` names the identity that opens that file; it need not open the database.
///
/// # Errors
/// [`EngineError::Usage`] without recipients, and if one of them has a slot; [`EngineError::Key`]
/// for a file that is no exported key or that of another database, a key that was renewed since,
/// and too many slots; errors of SQLite.
pub fn import(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    from: &Path,
    (recipients, label): (&[String], &str),
) -> Result<Imported, EngineError> {
    let config = Access::config()?;
    let recipients = access.recipients(recipients, &config)?;
    if recipients.is_empty() {
        return Err(EngineError::usage("no recipient given", "add --for age1..."));
    }
    let exported = ExportedKey::load(from, &access.identities(&config)?)?;
    let (bytes, superblock) = inspect(storage, path)?.sealed(path)?;
    exported.check(&bytes, &superblock)?;
    // The exported key opens the database, not the identity that opened the file.
    let held = exported.hold();
    let access = Access {
        identity: Some(held.spec()),
        ..access.clone()
    };
    let commitment = exported.commitment();
    let label = label.to_owned();
    let changed = apply(storage, path, &access, move |unlocked| {
        if unlocked.master.commitment() != commitment {
            return Err(KeyError::WrongKey.into());
        }
        let mut wanted: Vec<&dyn Recipient> = Vec::new();
        for recipient in &recipients {
            if let Some(id) = slot_of(unlocked, recipient.as_ref())? {
                return Err(EngineError::usage(
                    format!("{} already has a key slot: {id}", recipient.describe()),
                    "omit it, or remove the slot first",
                ));
            }
            wanted.push(recipient.as_ref());
        }
        Ok(change::add_slots(unlocked, &wanted, &label, now(), &mut os_random)?)
    })?;
    Ok(Imported {
        database_id: superblock.database_id,
        commitment,
        changed,
    })
}
