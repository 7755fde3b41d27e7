//! The keys of a restored database.
//!
//! - new-data-and-log-key: the data key and the log key are new: neither ever decrypts a page or a
//!   log of another file of the same database.
//! - identity-kept-or-new: database id, master key and slots are as in the backup. If the file is
//!   for other recipients, or the master key is unknown, it is another database with its own id,
//!   which a pin of the old one does not cover. Additional slots (`add_own_slot`) exist before the
//!   file has its name.
//! - epoch-and-generation-above: epoch and generation are above those of the archive, and above
//!   those of the file that it replaces, if that can be opened and is of the same database.

use selenite_backup::{Backup, OpenedBy};
use selenite_cipher::{Epoch, Suite};
use selenite_format::Superblock;
use selenite_keyring::{Identity, KeyError, Recipient, Unlocked, change, create, os_random, sole_epoch};

use crate::{EngineError, keys};

/// The keys of a restored database.
pub struct NewKeys {
    /// Both superblocks; the second is the valid one.
    pub superblocks: [Unlocked; 2],
    /// Whether it is another database, with another master key.
    pub is_new: bool,
}

impl NewKeys {
    /// Draws the keys: for `recipients`, or with the slots of the backup and `own` identities.
    /// `present` is the superblock of the file that is replaced; unencrypted pages stay so only
    /// with `keep_clear`.
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
        // FORMAT 3.9: this keeps others from opening it before its pages are in it.
        first.set_pages_exist(facts.page_count > 0);
        let generation = first.superblock.generation.checked_add(1);
        let second = first.with_generation(generation.ok_or(KeyError::GenerationExhausted)?);
        Ok(Self {
            superblocks: [first, second],
            is_new,
        })
    }
}

/// Adds slots for the user's own identities, unless one of them has a slot.
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

/// The suite to seal pages in: the backup's, if it encrypts, or if `keep_clear`.
fn suite_of(backup: &Backup, allow_deprecated: bool, keep_clear: bool) -> Result<Suite, EngineError> {
    // It is authentic: the MAC of the archive's key covers it.
    let superblock = Superblock::parse(&backup.archive.begun.superblock).ok();
    let sealing = superblock.and_then(|superblock| superblock.sealing().map(|epoch| epoch.suite));
    let suite = sealing
        .filter(|suite| keep_clear || *suite != Suite::None)
        .unwrap_or(Suite::DEFAULT);
    if suite.is_deprecated() && !allow_deprecated {
        return Err(EngineError::usage(
            format!("the database was sealed in {suite}, which is deprecated"),
            "add --allow-deprecated, then reencrypt it",
        ));
    }
    Ok(suite)
}
