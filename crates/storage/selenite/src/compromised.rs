//! The procedure after a key was compromised: three steps, each of which removes access that the
//! step before leaves.
//!
//! - remove-the-slot: the slot is removed: the identity no longer opens this database, but its
//!   former user knows the master key.
//! - renew-the-master-key: the master key is renewed: copies of the old superblock open nothing
//!   new, but a holder of the old master key knows the data key.
//! - replace-the-data-key: the data key is replaced and every page re-encrypted: neither pages that
//!   are written from then on, nor those that were there, open under the old keys. What was copied
//!   before stays readable with the old keys; no step changes that. The log key stays, and with it
//!   checksums of what is in a log: THREAT_MODEL 5 describes what they reveal, and that an offline
//!   copy has another log key.
//! - slot-and-master-in-one: slot and master key are changed in one change of the superblock. A
//!   data key that was made under the present master key was therefore never accessible by a slot
//!   that was removed with the master key before. Any other data key was, and is replaced: a
//!   re-encryption that was begun before is completed first, and its key is replaced then.
//! - no-clock: no clock decides which key is older ([`epoch_change::is_since_master`]).

use std::path::Path;

use selenite_cipher::SlotId;
use selenite_format::State;
use selenite_keyring::change::Report;
use selenite_keyring::{KeyError, SlotSummary, Unlocked, epoch_change, find_slot};

use crate::reencrypt::{Goal, Reencrypt, Reencrypted, reencrypt};
use crate::storage::Storage;
use crate::superblock_file::inspect;
use crate::{Access, Database, EngineError, Watch, keys};

/// A completed step.
#[derive(Clone, Debug)]
pub enum Step {
    /// The slot is removed, or was removed before.
    SlotRemoved(Report),
    /// The master key is renewed.
    MasterRenewed(Report),
    /// Both were done by an interrupted run; these slots open the database.
    DoneBefore(Vec<SlotSummary>),
    /// A re-encryption that was begun before is complete; its data key is not the final one.
    EarlierEnded(Box<Reencrypted>),
    /// The data key is replaced, and no page is left under the old one.
    DataKeyReplaced(Box<Reencrypted>),
}

/// The slot to be removed, and the parameters of the other steps.
#[derive(Clone, Debug)]
pub struct Compromised {
    /// The first digits of the slot's id, its label, or its recipient.
    pub slot: String,
    /// Further recipients that can open the database afterwards, besides age recipients and the
    /// identity in force.
    pub recipients: Vec<String>,
    /// Whether an interrupted run has removed the slot before.
    pub resume: bool,
    /// Whether slots that no given identity opens are dropped.
    pub drop_others: bool,
    /// How pages are re-encrypted; its goal is a new key.
    pub how: Reencrypt,
}

/// Removes all access of a compromised key, step by step; `done` is called after each step. After
/// an interruption, a call with `resume` continues. Without `resume`, a slot that does not exist
/// is an error, because its name may be mistyped.
///
/// # Errors
/// As [`keys::remove`], [`keys::renew`] and [`reencrypt`]; [`EngineError::StillCompromised`] if it
/// was interrupted after a step.
pub fn compromised(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    what: &Compromised,
    watch: &Watch,
    done: &mut dyn FnMut(Step),
) -> Result<(), EngineError> {
    let access = &Access {
        watch: watch.clone(),
        ..access.clone()
    };
    watch.check()?;
    inspect(storage, path)?.sealed(path)?;
    let unlocked = look(storage, path, access)?;
    let is_gone = match find_slot(&unlocked.superblock, &what.slot) {
        Ok(slot) => {
            check_stays(&unlocked, slot.id, access)?;
            false
        }
        Err(KeyError::NoSuchSlot { .. }) if what.resume => true,
        Err(error @ KeyError::NoSuchSlot { .. }) => {
            return Err(EngineError::usage(
                error.to_string(),
                "list the key slots; if an interrupted run removed this one, add --go-on",
            ));
        }
        Err(error) => return Err(error.into()),
    };
    // slot-and-master-in-one: otherwise the interrupted run did not get so far, or another
    // re-encryption was begun since.
    if is_gone && epoch_change::is_since_master(&unlocked.superblock) {
        let slots = unlocked.superblock.slots.iter().map(SlotSummary::new);
        done(Step::DoneBefore(slots.collect()));
    } else {
        remove_and_renew(storage, path, access, what, is_gone, done)?;
    }
    replace_data_key(storage, path, access, what, watch, done).map_err(|error| {
        // A run that was interrupted while it waited for locks counts as interrupted, too.
        let is_stopped = matches!(error, EngineError::Interrupted | EngineError::Unfinished { .. })
            || matches!(error, EngineError::Busy { .. }) && watch.is_interrupted();
        if is_stopped {
            return EngineError::StillCompromised {
                path: path.to_owned(),
                slot: what.slot.clone(),
            };
        }
        error
    })
}

/// Refuses to remove the last slot of the identities in force: the steps after the first need one.
fn check_stays(unlocked: &Unlocked, gone: SlotId, access: &Access) -> Result<(), EngineError> {
    if keys::keeps_slot(unlocked, gone, &access.identities(&Access::config()?)?)? {
        return Ok(());
    }
    Err(EngineError::usage(
        format!("key slot {gone} is the only one that this identity opens, and the later steps need one"),
        "use another identity, or add a slot for a new one first: selenite keys add",
    ))
}

/// remove-the-slot and renew-the-master-key.
fn remove_and_renew(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    what: &Compromised,
    is_gone: bool,
    done: &mut dyn FnMut(Step),
) -> Result<(), EngineError> {
    let changed = if is_gone {
        keys::renew(storage, path, access, &what.recipients, what.drop_others)?
    } else {
        keys::remove_and_renew(storage, path, access, &what.slot, &what.recipients, what.drop_others)?
    };
    let removed = changed.report.removed.clone();
    done(Step::SlotRemoved(Report {
        removed,
        ..Report::default()
    }));
    done(Step::MasterRenewed(Report {
        removed: Vec::new(),
        ..changed.report
    }));
    Ok(())
}

/// replace-the-data-key, after a re-encryption that was begun before.
fn replace_data_key(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    what: &Compromised,
    watch: &Watch,
    done: &mut dyn FnMut(Step),
) -> Result<(), EngineError> {
    loop {
        watch.check()?;
        let superblock = look(storage, path, access)?.superblock;
        let is_steady = superblock.state == State::Steady;
        let is_last = is_steady || epoch_change::is_since_master(&superblock);
        let goal = if is_steady { Goal::NewKey } else { Goal::GoOn };
        let sealed = match reencrypt(storage, path, access, &Reencrypt { goal, ..what.how }, watch) {
            // Another process has begun, or completed, one in between.
            Err(EngineError::Begun { .. }) if is_steady => continue,
            Err(EngineError::Key(KeyError::NotUnderWay)) if !is_steady => continue,
            sealed => Box::new(sealed?),
        };
        if is_last {
            done(Step::DataKeyReplaced(sealed));
            return Ok(());
        }
        done(Step::EarlierEnded(sealed));
    }
}

/// The keys, with the authenticated superblock.
fn look(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Unlocked, EngineError> {
    let looked = Database::open(storage, path, &access.allowing_plain()).and_then(|database| database.unlocked());
    match looked {
        Err(EngineError::Busy { .. }) => access.watch.check().and(looked),
        looked => looked,
    }
}
