//! The keys of a restored database.
//!
//! - new-data-and-log-key: the data key and the log key are new: no page and no log of another file
//!   of the same database is ever read with it.
//! - identity-kept-or-new: database id, master key and slots are as they were when it was backed
//!   up; or, where others are to open it or no one knows the master key, it is another database,
//!   with an id of its own: a pin of the old one does not speak of it. Who is to have a slot
//!   besides (`add_own_slot`) has it before the file has its name.
//! - epoch-and-generation-above: epoch and generation are above those of the archive, and above
//!   those of the file whose place it takes, if that can be opened and is of the same database.

use selenite_backup::{Backup, OpenedBy};
use selenite_cipher::{Epoch, Suite};
use selenite_format::Superblock;
use selenite_keyring::{Identity, KeyError, Recipient, Unlocked, change, create, os_random, sole_epoch};

use crate::{EngineError, keys};

/// The keys of a restored database.
pub struct NewKeys {
    /// Both superblocks, the one that counts behind the other.
    pub superblocks: [Unlocked; 2],
    /// Whether it is another database, with another master key.
    pub is_new: bool,
}

impl NewKeys {
    /// Draws them: for others, or for whom they were, and one's `own` identities. `present` is what
    /// the file has whose place it takes; what was in clear stays so only with `keep_clear`.
    pub fn draw(
        backup: &Backup,
        recipients: &[Box<dyn Recipient>],
        own: &[Box<dyn Identity>],
        present: Option<&Superblock>,
        (allow_deprecated, keep_clear): (bool, bool),
    ) -> Result<Self, EngineError> {
        let facts = &backup.facts;
        let suite = suite_of(backup, allow_deprecated, keep_clear)?;
        let now = keys::now();
        let (mut first, is_new) = match &backup.archive.by {
            OpenedBy::Slot(unlocked) if recipients.is_empty() => {
                let from = above(unlocked, present);
                let record = sole_epoch::draw(&from, suite, now, &mut os_random)?;
                let log_key = sole_epoch::draw_log_key(&from, &mut os_random);
                (
                    with_own_slot(sole_epoch::superblock(&from, record, log_key)?, own)?,
                    false,
                )
            }
            OpenedBy::Slot(_) | OpenedBy::Master | OpenedBy::Recipient => {
                if recipients.is_empty() {
                    return Err(EngineError::usage(
                        "the identity opens this backup but none of its database's key slots, so no one could open \
                            the restored database",
                        "add a key holder: --for age1...",
                    ));
                }
                let made = create(facts.page_size, suite, recipients, now, &mut os_random)?;
                (made, true)
            }
        };
        if first.superblock.page_size != facts.page_size {
            return Err(EngineError::Refused {
                what: format!("backup {}: its page size is not its database's", backup.name()),
                pages: Vec::new(),
            });
        }
        // FORMAT 3.9: no one opens it before its pages are in it.
        first.set_pages_exist(facts.page_count > 0);
        let generation = first.superblock.generation.checked_add(1);
        let second = first.with_generation(generation.ok_or(KeyError::GenerationExhausted)?);
        Ok(Self {
            superblocks: [first, second],
            is_new,
        })
    }
}

/// Adds slots for one's own identities, unless one of them has one.
fn with_own_slot(made: Unlocked, own: &[Box<dyn Identity>]) -> Result<Unlocked, EngineError> {
    for identity in own {
        if keys::slot_of(&made, identity.as_ref())?.is_some() {
            return Ok(made);
        }
    }
    if own.is_empty() {
        return Ok(made);
    }
    let recipients: Vec<&dyn Recipient> = own
        .iter()
        .map(|identity| -> &dyn Recipient { identity.as_ref() })
        .collect();
    Ok(change::add_slots(&made, &recipients, "", keys::now(), &mut os_random)?.unlocked)
}

/// Enforces `epoch-and-generation-above`.
fn above(unlocked: &Unlocked, present: Option<&Superblock>) -> Unlocked {
    let mut from = unlocked.duplicate();
    if let Some(present) = present.filter(|present| present.database_id == from.superblock.database_id) {
        let superblock = &mut from.superblock;
        superblock.generation = superblock.generation.max(present.generation);
        superblock.epoch_max = Epoch(superblock.epoch_max.0.max(present.epoch_max.0));
    }
    from
}

/// What pages are sealed in: what they were, if that is a suite that encrypts, or they may stay in clear.
fn suite_of(backup: &Backup, allow_deprecated: bool, keep_clear: bool) -> Result<Suite, EngineError> {
    // The MAC of what opens the archive covers it.
    let superblock = Superblock::parse(&backup.archive.begun.superblock).ok();
    let sealing = superblock.and_then(|superblock| superblock.sealing().map(|epoch| epoch.suite));
    let suite = sealing
        .filter(|suite| keep_clear || *suite != Suite::None)
        .unwrap_or(Suite::Aes256);
    if suite.is_deprecated() && !allow_deprecated {
        return Err(EngineError::usage(
            format!("the database was sealed in {suite}, which is deprecated"),
            "add --allow-deprecated, then reencrypt it",
        ));
    }
    Ok(suite)
}
