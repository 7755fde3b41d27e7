//! What to do when somebody has a key who should not: three steps, each of which takes away what the one before leaves.
//!
//! C1. The slot goes: the identity opens this database no longer, but who used it knows the master key.
//! C2. The master key is renewed: copies of the old superblock open nothing new, but who had it knows the data key.
//! C3. The data key is replaced and every page sealed anew: what is written from then on, and what lay there, is out of
//!     reach. What was copied before stays readable to who has the old keys; no step takes that back. The log key stays, and
//!     with it checksums of what is in a log: THREAT_MODEL 5 says what they tell.

use std::path::Path;

use selenite_format::State;
use selenite_keyring::KeyError;
use selenite_keyring::change::Report;

use crate::reencrypt::{Goal, Reencrypt, Reencrypted, reencrypt};
use crate::storage::Storage;
use crate::superblock_file::inspect;
use crate::{Access, EngineError, Watch, keys};

/// A step that was done.
#[derive(Clone, Debug)]
pub enum Step {
    /// The slot is gone, or was so before.
    SlotRemoved(Report),
    /// The master key is another.
    MasterRenewed(Report),
    /// The data key is another, and nothing is left under the old one.
    DataKeyReplaced(Box<Reencrypted>),
}

/// Whose slot goes, and how the rest is done.
#[derive(Clone, Debug)]
pub struct Compromised {
    /// The first digits of the slot's id.
    pub slot: String,
    /// Who else is to open the database afterwards, besides age recipients and the identity in force.
    pub recipients: Vec<String>,
    /// Whether a run that was stopped has removed the slot before.
    pub goes_on: bool,
    /// Whether slots that nobody who was named opens are dropped.
    pub drop_others: bool,
    /// How pages are sealed anew; its goal is a new key.
    pub how: Reencrypt,
}

/// Shuts somebody out, step by step; `done` hears of each. Stopped in the last step, it goes on when it is called again;
/// before that, with `goes_on`. A slot that there is not is an error otherwise: somebody mistyped it.
///
/// # Errors
/// As [`keys::remove`], [`keys::renew`] and [`reencrypt`].
pub fn compromised(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    what: &Compromised,
    watch: &Watch,
    done: &mut dyn FnMut(Step),
) -> Result<(), EngineError> {
    let (_, superblock) = inspect(storage, path)?.sealed(path)?;
    // Only the third step takes long: it is the one that was stopped.
    let is_under_way = superblock.state != State::Steady;
    if !is_under_way {
        let removed = match keys::remove(storage, path, access, &what.slot) {
            Ok(changed) => changed.report,
            Err(EngineError::Key(KeyError::NoSuchSlot { .. })) if what.goes_on => Report::default(),
            Err(error) => return Err(error),
        };
        done(Step::SlotRemoved(removed));
        watch.check()?;
        let renewed = keys::renew(storage, path, access, &what.recipients, what.drop_others)?;
        done(Step::MasterRenewed(renewed.report));
        watch.check()?;
    }
    let goal = if is_under_way { Goal::GoOn } else { Goal::NewKey };
    let sealed = reencrypt(storage, path, access, &Reencrypt { goal, ..what.how }, watch)?;
    done(Step::DataKeyReplaced(Box::new(sealed)));
    Ok(())
}
