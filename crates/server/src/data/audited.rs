//! What a session does, in the audit log.

use super::data_bench::DataBench;
use crate::audit::{Audited, Event};
use crate::workbench::Patron;

impl DataBench<'_> {
    /// Writes what was done to the audit log; `error` is the number of what failed.
    pub(super) fn note_audited(&self, audited: &Audited, database: &str, error: Option<i32>) {
        let Patron {
            instance,
            visitor,
            entry,
            ..
        } = &self.patron;
        instance.audit().write(&Event {
            event: audited.event,
            error,
            reason: None,
            login: Some(&visitor.login),
            address: Some(entry.facts().peer.ip()),
            session: Some(entry.spid()),
            database: Some(database),
            object: audited.object.as_deref(),
        });
    }
}
