//! The key slots of a database.
//!
//! Every change writes one superblock under SQLite's write lock, while others continue. A change
//! that revokes access is in both copies, and synced, before it is reported (FORMAT 3.7).

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selenite_cipher::{DatabaseId, SlotId};
use selenite_keyring::change::{self, Report};
use selenite_keyring::{
    Cache, Config, Identity, KeyError, Keyring, Origin, Recipient, SlotSummary, Trust, Unlocked, absolute, find_slot,
    os_random,
};

use crate::database::KeyChange;
use crate::error::io_error;
use crate::storage::Storage;
use crate::superblock_file::{inspect, other_superblock};
use crate::{Access, Database, EngineError};

/// The slots of a database, unauthenticated.
#[derive(Clone, Debug)]
pub struct SlotList {
    /// The id of the database.
    pub database_id: DatabaseId,
    /// Its slots, as the file states them.
    pub slots: Vec<SlotSummary>,
    /// Its origin; `None` without a key.
    pub origin: Option<Origin>,
    /// The commitment of its master key (FORMAT 4.2); `None` without a key.
    pub commitment: Option<[u8; 32]>,
}

/// The result of a change.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The changes of slots.
    pub report: Report,
    /// How long it took, including requests for keys.
    pub elapsed: Duration,
    /// The keyring file that now has the new commitment, if one had the old.
    pub keyring: Option<PathBuf>,
    /// Whether no identity in force opens the database any more.
    pub revokes_caller: bool,
}

/// Lists the slots. Needs no key, and changes nothing.
///
/// # Errors
/// [`EngineError::NotEncrypted`]; [`EngineError::Key`] for a superblock that cannot be read; [`EngineError::Io`].
pub fn list(storage: &dyn Storage, path: &Path) -> Result<SlotList, EngineError> {
    list_by(&[], storage, path)
}

/// As [`list`]; with origin and commitment, if an identity in force can determine them without a
/// service or a passphrase.
///
/// # Errors
/// [`EngineError::NotEncrypted`]; [`EngineError::Key`] for a superblock that cannot be read; [`EngineError::Io`].
pub fn list_with_origin(storage: &dyn Storage, path: &Path, access: &Access) -> Result<SlotList, EngineError> {
    let identities = Access::config().and_then(|config| access.identities(&config));
    let mut identities = identities.unwrap_or_default();
    identities.retain(|identity| identity.is_quick());
    list_by(&identities, storage, path)
}

fn list_by(identities: &[Box<dyn Identity>], storage: &dyn Storage, path: &Path) -> Result<SlotList, EngineError> {
    let (bytes, superblock) = inspect(storage, path)?.sealed(path)?;
    let unlocked = selenite_keyring::unlock(&bytes, identities, &Trust::any(), &Cache::new()).ok();
    Ok(SlotList {
        database_id: superblock.database_id,
        slots: superblock.slots.iter().map(SlotSummary::new).collect(),
        origin: unlocked.as_ref().map(|unlocked| unlocked.origin),
        commitment: unlocked.map(|unlocked| unlocked.master.commitment()),
    })
}

/// Adds a slot for `recipient`: `age1...`, or the spec of an identity.
///
/// # Errors
/// [`EngineError::Usage`] if the recipient has a slot; [`EngineError::Key`] for errors of the
/// keyring; errors of SQLite.
pub fn add(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    recipient: &str,
    label: &str,
) -> Result<Changed, EngineError> {
    let recipient = access.recipient(recipient, &Access::config()?)?;
    let label = label.to_owned();
    apply(storage, path, access, move |unlocked| {
        if let Some(id) = slot_of(unlocked, recipient.as_ref())? {
            return Err(EngineError::usage(
                format!("{} already has a key slot: {id}", recipient.describe()),
                "nothing needs to be done",
            ));
        }
        Ok(change::add_slot(
            unlocked,
            recipient.as_ref(),
            &label,
            now(),
            &mut os_random,
        )?)
    })
}

/// Removes the slot that `named` names (`find_slot`), also from the superblock that is not in
/// force, if an earlier removal was interrupted between the two. With `force` it may be the only
/// slot of the identities in force.
///
/// # Errors
/// [`EngineError::Key`]: no such slot, several, or the last one; [`EngineError::Usage`]: the only
/// slot of the identities in force, without `force`; errors of SQLite.
pub fn remove(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    named: &str,
    force: bool,
) -> Result<Changed, EngineError> {
    // Read first: a change rewrites that superblock, even if it fails.
    let left = other_superblock(storage, path).ok().flatten();
    let wanted = named.to_owned();
    let identities = access.identities(&Access::config()?)?;
    let started = Instant::now();
    let removed = make(storage, path, access, move |unlocked| {
        let id = find_slot(&unlocked.superblock, &wanted)?.id;
        let changed = change::remove_slot(unlocked, id)?;
        let revokes_caller = !keeps_slot(unlocked, id, &identities)?;
        if revokes_caller && !force {
            return Err(EngineError::usage(
                format!("key slot {id} is the only one that this identity opens"),
                "use another identity, add a slot for a new one first (selenite keys add), or add --force",
            ));
        }
        let report = changed.report.clone();
        Ok((changed, (report, revokes_caller)))
    });
    let removed = removed.map(|(report, revokes_caller)| Changed {
        report,
        elapsed: started.elapsed(),
        keyring: None,
        revokes_caller,
    });
    let Err(EngineError::Key(KeyError::NoSuchSlot { .. })) = removed else {
        return removed;
    };
    let Some(slot) = left.and_then(|other| Some(SlotSummary::new(find_slot(&other, named).ok()?))) else {
        return removed;
    };
    let mut mended = repair(storage, path, access)?;
    mended.report.removed.push(slot);
    Ok(mended)
}

/// Replaces the slot that `named` names (`find_slot`) by one for `recipient`, in one step.
///
/// # Errors
/// As [`add`] and [`remove`].
pub fn replace(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    named: &str,
    recipient: &str,
    label: &str,
) -> Result<Changed, EngineError> {
    let recipient = access.recipient(recipient, &Access::config()?)?;
    let (named, label) = (named.to_owned(), label.to_owned());
    apply(storage, path, access, move |unlocked| {
        let id = find_slot(&unlocked.superblock, &named)?.id;
        Ok(change::replace_slot(
            unlocked,
            id,
            recipient.as_ref(),
            &label,
            now(),
            &mut os_random,
        )?)
    })
}

/// Makes a new master key, and wraps it for every slot that can be recreated: age recipients without a plugin, the
/// identity in force, and `recipients`.
///
/// # Errors
/// [`EngineError::WouldDrop`] names the others, unless they are to be dropped; [`EngineError::Key`]
/// if a keyring file pins the database and cannot be changed; [`EngineError::PinNotKept`] if it can
/// no longer be changed after the key was renewed.
pub fn renew(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    recipients: &[String],
    drop_others: bool,
) -> Result<Changed, EngineError> {
    renew_without(storage, path, access, None, recipients, drop_others)
}

/// Removes the slot that `named` names (`find_slot`) and makes a new master key, in one step.
///
/// # Errors
/// As [`remove`] and [`renew`].
pub(crate) fn remove_and_renew(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    named: &str,
    recipients: &[String],
    drop_others: bool,
) -> Result<Changed, EngineError> {
    renew_without(storage, path, access, Some(named), recipients, drop_others)
}

fn renew_without(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    named: Option<&str>,
    recipients: &[String],
    drop_others: bool,
) -> Result<Changed, EngineError> {
    let config = Access::config()?;
    let mut known: Vec<Box<dyn Recipient>> = Vec::new();
    for identity in access.identities(&config)? {
        known.push(identity);
    }
    for recipient in recipients {
        known.push(access.recipient(recipient, &config)?);
    }
    let named = named.map(str::to_owned);
    let started = Instant::now();
    let keyring = config
        .keyring_path()
        .map(|keyring| (keyring.to_owned(), absolute(path)));
    let pins = keyring.clone();
    let (report, database_id, is_listed) = make(storage, path, access, move |unlocked| {
        let known: Vec<&dyn Recipient> = known.iter().map(AsRef::as_ref).collect();
        let changed = match &named {
            Some(named) => {
                let id = find_slot(&unlocked.superblock, named)?.id;
                change::revoke_slot(unlocked, id, &known, now(), &mut os_random)?
            }
            None => change::renew_master(unlocked, &known, now(), &mut os_random)?,
        };
        if !changed.report.dropped.is_empty() && !drop_others {
            let slots: Vec<String> = changed.report.dropped.iter().map(|slot| format!("  {slot}")).collect();
            return Err(EngineError::WouldDrop {
                slots: slots.join("\n"),
            });
        }
        // Before the superblock: a kill in between leaves no wrong pin.
        let is_listed = match &pins {
            Some((pins, path)) => expect((pins, path), unlocked, changed.unlocked.master.commitment())?,
            None => false,
        };
        let result = (changed.report.clone(), unlocked.superblock.database_id, is_listed);
        Ok((changed, result))
    })?;
    let keyring = match (report.commitment, keyring) {
        (Some(commitment), Some((keyring, path))) if is_listed => {
            let written = Keyring::update(&keyring, |pins| {
                pins.renewed(&path, database_id, commitment);
                Ok(())
            });
            written.map_err(EngineError::PinNotKept)?;
            Some(keyring)
        }
        _ => None,
    };
    Ok(Changed {
        report,
        elapsed: started.elapsed(),
        keyring,
        revokes_caller: false,
    })
}

/// Pins the commitment that a database is about to have, in addition to the present one, if the
/// keyring file lists the database. Returns whether it does.
fn expect((keyring, path): (&Path, &Path), unlocked: &Unlocked, next: [u8; 32]) -> Result<bool, KeyError> {
    let database_id = unlocked.superblock.database_id;
    if !Keyring::load_if_there(keyring)?.lists(path, database_id) {
        return Ok(false);
    }
    Keyring::update(keyring, |pins| {
        pins.expect(path, database_id, unlocked.master.commitment(), next);
        Ok(())
    })?;
    Ok(true)
}

/// Whether one of the identities has a slot other than `gone`.
pub(crate) fn keeps_slot(
    unlocked: &Unlocked,
    gone: SlotId,
    identities: &[Box<dyn Identity>],
) -> Result<bool, KeyError> {
    let superblock = &unlocked.superblock;
    for slot in superblock.slots.iter().filter(|slot| slot.id != gone) {
        for identity in identities {
            if identity.owns(superblock.database_id, slot)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Rewrites both superblocks, with the same keys: for a database that has lost one of them.
///
/// # Errors
/// [`EngineError::Key`] for errors of the keyring; errors of SQLite.
pub fn repair(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Changed, EngineError> {
    rewrite(storage, path, access, 0)
}

/// As [`repair`], under this generation or a higher one.
pub(crate) fn rewrite(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    generation: u64,
) -> Result<Changed, EngineError> {
    apply(storage, path, access, move |unlocked| {
        let next = unlocked.superblock.generation.checked_add(1);
        let next = next.ok_or(KeyError::GenerationExhausted)?.max(generation);
        Ok(change::Change {
            unlocked: unlocked.with_generation(next),
            // No right is taken away, but only such changes are written to both copies.
            revokes_access: true,
            report: Report::default(),
        })
    })
}

/// Pins a database in the keyring file: from then on only its present master key is accepted for
/// it. Returns the path of that file.
///
/// `replace` replaces any other pin, for a master key that was renewed elsewhere.
///
/// # Errors
/// [`EngineError::Key`] if the key is wrong, or another one is pinned; [`EngineError::Usage`] if
/// there is no folder for a keyring file; [`EngineError::Io`].
pub fn pin(storage: &dyn Storage, path: &Path, access: &Access, replace: bool) -> Result<PathBuf, EngineError> {
    let config = Access::config()?;
    let identities = access.identities(&config)?;
    let keyring_path = config
        .keyring_path()
        .ok_or_else(|| EngineError::usage("no folder for a keyring file", "set SELENITE_KEYRING"))?;
    let (bytes, _) = inspect(storage, path)?.sealed(path)?;
    // A database that is not listed yet is not refused here: pinning it declares that it is trusted.
    let unlocked = selenite_keyring::unlock(&bytes, &identities, &Trust::any(), &Cache::new())?;
    let (id, commitment) = (unlocked.superblock.database_id, unlocked.master.commitment());
    if let Some(folder) = keyring_path.parent() {
        std::fs::create_dir_all(folder).map_err(io_error("create", folder))?;
    }
    Keyring::update(keyring_path, |pins| {
        if replace {
            pins.replace(id, commitment);
            return Ok(());
        }
        pins.add(id, commitment)
    })?;
    Ok(keyring_path.to_owned())
}

/// Records in the keyring file that another database is at this path now, if it lists the path.
pub(crate) fn replace_path_pin(config: &Config, path: &Path, unlocked: &Unlocked) -> Result<(), EngineError> {
    match config.keyring_path() {
        Some(keyring) => Ok(selenite_keyring::replace_path_pin(keyring, path, unlocked)?),
        None => Ok(()),
    }
}

/// The slot of this recipient, if it has one.
pub(crate) fn slot_of(unlocked: &Unlocked, recipient: &dyn Recipient) -> Result<Option<SlotId>, KeyError> {
    let superblock = &unlocked.superblock;
    for slot in &superblock.slots {
        if recipient.owns(superblock.database_id, slot)? {
            return Ok(Some(slot.id));
        }
    }
    Ok(None)
}

pub(crate) fn now() -> u64 {
    selenite_vfs::database::now()
}

pub(crate) fn apply(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    change: impl FnOnce(&Unlocked) -> Result<change::Change, EngineError> + Send + 'static,
) -> Result<Changed, EngineError> {
    let started = Instant::now();
    let report = make(storage, path, access, move |unlocked| {
        let changed = change(unlocked)?;
        let report = changed.report.clone();
        Ok((changed, report))
    })?;
    Ok(Changed {
        report,
        elapsed: started.elapsed(),
        keyring: None,
        revokes_caller: false,
    })
}

/// Makes a change completely. It can be interrupted until it begins to be written.
fn make<R: Send + 'static>(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    change: impl FnOnce(&Unlocked) -> Result<(change::Change, R), EngineError> + Send + 'static,
) -> Result<R, EngineError> {
    access.watch.check()?;
    let watch = access.watch.clone();
    let changed = Database::open(storage, path, access).and_then(|database| {
        database.change(move |unlocked| {
            let (changed, result) = change(unlocked)?;
            watch.check()?;
            Ok(KeyChange::Write(
                Box::new(changed.unlocked),
                changed.revokes_access,
                result,
            ))
        })
    });
    match changed {
        // An operation that was interrupted while it waited for locks counts as interrupted.
        Err(EngineError::Busy { .. }) => access.watch.check().and(changed),
        changed => changed,
    }
}
