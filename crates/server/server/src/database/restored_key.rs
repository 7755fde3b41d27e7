//! The encryption key of a database that was restored: its file says which certificate or provider's key has a key
//! slot in it (`encryption-is-read-from-the-file`).

use selenite::Suite;
use selenite_keyring::SlotSummary;

use crate::master::{EncryptionKeyRecord, Master, MasterError, Tde};

/// Notes what a restored file contains, in place of what was noted of the file before it.
///
/// # Errors
/// The error of master.db.
pub fn note_key(master: &Master, database_id: i32, suite: Suite, slots: &[SlotSummary]) -> Result<(), MasterError> {
    let present = master.encryption_key(database_id)?;
    let found = master.protectors()?.into_iter().find_map(|protector| {
        let label = protector.label();
        let slot = slots.iter().find(|slot| slot.label == label)?;
        Some((protector.id(), slot))
    });
    let noted = match (found, present) {
        (None, None) => return Ok(()),
        (None, Some(_)) => None,
        (Some((protector, slot)), present) => {
            let present = present.filter(|present| present.protector == protector);
            // If the file is in clear, the requested algorithm is not recorded in it.
            let algorithm = if suite == Suite::None {
                present.as_ref().map(|present| present.algorithm.clone())
            } else {
                Some(suite.name().to_owned())
            };
            let now = i64::try_from(selenite::now()).unwrap_or(i64::MAX);
            let created = i64::try_from(slot.created).unwrap_or(i64::MAX);
            algorithm.map(|algorithm| EncryptionKeyRecord {
                database_id,
                protector,
                algorithm,
                slot: slot.id.to_string(),
                created,
                // A restored file has a data key of its own.
                regenerated: now,
                modified: now,
                set: present.as_ref().map_or(created, |present| present.set),
                scanned: 0,
                // Whether it was switched on is recorded in no file.
                tde: match (&present, suite) {
                    (_, Suite::None) => Tde::Off,
                    (Some(present), _) => present.tde.settled(),
                    (None, _) => Tde::On,
                },
            })
        }
    };
    match noted {
        Some(noted) => master.store_encryption_key(&noted),
        None => master.remove_encryption_key(database_id),
    }
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
