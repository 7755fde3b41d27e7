//! Who can open the new database: those who could open the old one, as far as that can be done without them.

use selenite_keyring::{AgeRecipient, Identity, Recipient, SlotSummary, Unlocked};

use crate::encrypt::add_recipients;
use crate::{Database, EngineError};

/// What is to be done.
pub struct Slots {
    wanted: Vec<(Box<dyn Recipient>, String)>,
    dropped: Vec<SlotSummary>,
}

impl Slots {
    /// By the old slots: an age recipient's is recreated, those of `named` recipients and of the identity in force are
    /// theirs, and all others are dropped. A new database has keys of its own: nothing is carried over.
    ///
    /// # Errors
    /// As the keyring has it.
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

    /// Makes them; answers the keys of the new database, and whose slot was dropped.
    ///
    /// # Errors
    /// As the keyring has it; what SQLite says.
    pub fn make(self, database: &Database) -> Result<(Unlocked, Vec<SlotSummary>), EngineError> {
        add_recipients(database, self.wanted)?;
        Ok((database.unlocked()?, self.dropped))
    }
}
