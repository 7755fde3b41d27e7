//! The encryption key of a database that was restored: its file says which certificate has a key slot in it (K3).

use selenite_engine::Suite;
use selenite_engine::restore::Restored;
use selenite_plan::PlanError;

use super::DataBench;
use super::database_key::label;
use crate::data::hall::of_master;
use crate::master::{DatabaseRecord, EncryptionKeyRecord};

impl DataBench<'_> {
    /// Notes what a restored file says, in the place of what was noted of the file before it.
    ///
    /// # Errors
    /// What master.db says.
    pub(in crate::data) fn note_restored(&self, record: &DatabaseRecord, restored: &Restored) -> Result<(), PlanError> {
        let master = self.patron.instance.master();
        let present = master.encryption_key(record.id).map_err(|fault| of_master(&fault))?;
        let certificates = master.certificates().map_err(|fault| of_master(&fault))?;
        let found = certificates.iter().find_map(|certificate| {
            let label = label(certificate);
            let slot = restored.slots.iter().find(|slot| slot.label == label)?;
            Some((certificate, slot))
        });
        let noted = match (found, present) {
            (None, None) => return Ok(()),
            (None, Some(_)) => None,
            (Some((certificate, slot)), present) => {
                let present = present.filter(|present| present.certificate_id == certificate.id);
                // In clear the algorithm that was asked for stands nowhere in the file.
                let algorithm = if restored.suite == Suite::None {
                    present.as_ref().map(|present| present.algorithm.clone())
                } else {
                    Some(restored.suite.name().to_owned())
                };
                let now = i64::try_from(selenite_engine::now()).unwrap_or(i64::MAX);
                let created = i64::try_from(slot.created).unwrap_or(i64::MAX);
                algorithm.map(|algorithm| EncryptionKeyRecord {
                    database_id: record.id,
                    certificate_id: certificate.id,
                    algorithm,
                    slot: slot.id.to_string(),
                    created,
                    // A restored file has a data key of its own.
                    regenerated: now,
                    modified: now,
                    set: present.map_or(created, |present| present.set),
                    scanned: 0,
                })
            }
        };
        let stored = match noted {
            Some(noted) => master.store_encryption_key(&noted),
            None => master.remove_encryption_key(record.id),
        };
        stored.map_err(|fault| of_master(&fault))
    }
}
