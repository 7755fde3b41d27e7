//! What to do when someone has a key who should not: three steps, each of which takes away what the one before leaves.
//!
//! - remove-the-slot: the slot goes: the identity opens this database no longer, but who used it
//!   knows the master key.
//! - renew-the-master-key: the master key is renewed: copies of the old superblock open nothing
//!   new, but who had it knows the data key.
//! - replace-the-data-key: the data key is replaced and every page re-encrypted: what is written
//!   from then on, and what lay there, is out of reach. What was copied before stays readable to
//!   who has the old keys; no step takes that back. The log key stays, and with it checksums of
//!   what is in a log: THREAT_MODEL 5 says what they tell, and that an offline copy has another.
//! - slot-and-master-in-one: slot and master key go in one change of the superblock. So a data key
//!   that was made under the present master key was never within reach of a slot that went with the
//!   one before; any other was, and is replaced: a change of pages that was begun before is first
//!   brought to its end, and its key replaced then.
//! - no-clock: which key is older is not asked of a clock ([`epoch_change::is_since_master`]).

use std::path::Path;

use selenite_cipher::SlotId;
use selenite_format::State;
use selenite_keyring::change::Report;
use selenite_keyring::{KeyError, SlotSummary, Unlocked, epoch_change, find_slot};

use crate::reencrypt::{Goal, Reencrypt, Reencrypted, reencrypt};
use crate::storage::Storage;
use crate::superblock_file::inspect;
use crate::{Access, Database, EngineError, Watch, keys};

/// A step that was done.
#[derive(Clone, Debug)]
pub enum Step {
    /// The slot is gone, or was so before.
    SlotRemoved(Report),
    /// The master key is another.
    MasterRenewed(Report),
    /// Both were done by a run that was stopped; these slots open the database.
    DoneBefore(Vec<SlotSummary>),
    /// What someone had begun before is at its end; its data key is not the last.
    EarlierEnded(Box<Reencrypted>),
    /// The data key is another, and nothing is left under the old one.
    DataKeyReplaced(Box<Reencrypted>),
}

/// Whose slot goes, and how the rest is done.
#[derive(Clone, Debug)]
pub struct Compromised {
    /// The first digits of the slot's id, its label, or its recipient.
    pub slot: String,
    /// Who else is to open the database afterwards, besides age recipients and the identity in force.
    pub recipients: Vec<String>,
    /// Whether a run that was stopped has removed the slot before.
    pub goes_on: bool,
    /// Whether slots that no one who was named opens are dropped.
    pub drop_others: bool,
    /// How pages are re-encrypted; its goal is a new key.
    pub how: Reencrypt,
}

/// Shuts someone out, step by step; `done` hears of each. Stopped after the first, it goes on when
/// it is called again with `goes_on`. A slot that there is not is an error otherwise: someone
/// mistyped it.
///
/// # Errors
/// As [`keys::remove`], [`keys::renew`] and [`reencrypt`]; [`EngineError::StillCompromised`] where it was stopped
/// after a step.
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
        Err(KeyError::NoSuchSlot { .. }) if what.goes_on => true,
        Err(error @ KeyError::NoSuchSlot { .. }) => {
            return Err(EngineError::usage(
                error.to_string(),
                "list the key slots; if an interrupted run removed this one, add --go-on",
            ));
        }
        Err(error) => return Err(error.into()),
    };
    // slot-and-master-in-one: else the run that was stopped has not come so far, or others have begun something since.
    if is_gone && epoch_change::is_since_master(&unlocked.superblock) {
        let slots = unlocked.superblock.slots.iter().map(SlotSummary::new);
        done(Step::DoneBefore(slots.collect()));
    } else {
        shut_out(storage, path, access, what, is_gone, done)?;
    }
    replace_data_key(storage, path, access, what, watch, done).map_err(|error| {
        // Who waited for others in vain, and was told to stop meanwhile, has stopped, too.
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
fn shut_out(
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
        keys::shut_out(storage, path, access, &what.slot, &what.recipients, what.drop_others)?
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

/// replace-the-data-key, after what others have begun.
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
            // Others have begun, or ended, one in between.
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

/// What the superblock says, authenticated.
fn look(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Unlocked, EngineError> {
    let looked = Database::open(storage, path, &access.passing()).and_then(|database| database.unlocked());
    match looked {
        Err(EngineError::Busy { .. }) => access.watch.check().and(looked),
        looked => looked,
    }
}
