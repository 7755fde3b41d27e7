//! The key slots of the new database: those of the old one, as far as they can be recreated
//! without their owners.

use selenite_keyring::{AgeRecipient, Identity, Recipient, SlotSummary, Unlocked};

use crate::encrypt::add_recipients;
use crate::{Database, EngineError};

/// The slots to create and to drop.
pub struct Slots {
    wanted: Vec<(Box<dyn Recipient>, String)>,
    dropped: Vec<SlotSummary>,
}

impl Slots {
    /// From the old slots: that of an age recipient is recreated; slots that belong to `named`
    /// recipients or to the identity in force are covered by the new ones; all others are dropped.
    /// The new database has its own keys; none are copied.
    ///
    /// # Errors
    /// The errors of the keyring.
    pub fn plan(
        old: &Unlocked,
        identities: &[Box<dyn Identity>],
        named: Vec<Box<dyn Recipient>>,
    ) -> Result<Self, EngineError> {
        let database_id = old.superblock.database_id;
        let mut wanted: Vec<(Box<dyn Recipient>, String)> =
            named.into_iter().map(|recipient| (recipient, String::new())).collect();
        let mut dropped = Vec::new();
        for slot in &old.superblock.slots {
            if let Some(recipient) = AgeRecipient::native_of(slot) {
                wanted.push((Box::new(recipient), slot.label.clone()));
                continue;
            }
            let mut is_owned = slot.id == old.slot;
            for identity in identities {
                is_owned |= identity.owns(database_id, slot)?;
            }
            for (recipient, _) in &wanted {
                is_owned |= recipient.owns(database_id, slot)?;
            }
            if !is_owned {
                dropped.push(SlotSummary::new(slot));
            }
        }
        Ok(Self { wanted, dropped })
    }

    /// Creates them; returns the keys of the new database, and the dropped slots.
    ///
    /// # Errors
    /// The errors of the keyring and of SQLite.
    pub fn make(self, database: &Database) -> Result<(Unlocked, Vec<SlotSummary>), EngineError> {
        add_recipients(database, self.wanted)?;
        Ok((database.unlocked()?, self.dropped))
    }
}
