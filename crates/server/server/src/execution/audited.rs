//! What a session does, in the audit log.

use std::sync::Arc;
use std::time::Instant;

use selenite_runtime::machine::Failure;

use crate::audit::{Audited, Event};
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::SessionInfo;

impl SessionExecutor<'_> {
    /// Writes to the audit log that a file was loaded.
    pub(crate) fn note_bulk_insert<R>(&mut self, file: &str, done: &Result<R, Failure>) {
        let audited = Audited {
            event: "BULK INSERT",
            object: Some(file.to_owned()),
        };
        let database = self.current_database().name;
        self.note_audited(&audited, &database, Audited::error(done));
    }

    /// Writes the files that OPENROWSET has read.
    pub(crate) fn note_bulk_files(&mut self) {
        for (file, error) in self.objects().bulk_files.take() {
            let audited = Audited {
                event: "OPENROWSET",
                object: Some(file),
            };
            let database = self.current_database().name;
            self.note_audited(&audited, &database, error);
        }
    }

    /// Writes what was done to the audit log; `error` is the number of what failed. Of a minute's refused calls only
    /// the first have entries of their own.
    pub(crate) fn note_audited(&mut self, audited: &Audited, database: &str, error: Option<i32>) {
        self.note_left_out(Instant::now());
        if !self.refused.admits(error, Instant::now()) {
            return;
        }
        self.write_event(&Event {
            event: audited.event,
            error,
            database: Some(database),
            object: audited.object.as_deref(),
            ..Event::default()
        });
    }

    /// Writes how many refused calls of the last minute had no entry, if it has ended.
    pub(crate) fn note_left_out(&mut self, now: Instant) {
        let left_out = self.refused.take_left_out(now);
        self.write_left_out(left_out);
    }

    /// Writes how many refused calls had no entry. The session ends.
    pub(crate) fn note_rest(&mut self) {
        let left_out = self.refused.take_rest();
        self.write_left_out(left_out);
    }

    fn write_left_out(&self, left_out: Option<u64>) {
        if left_out.is_some() {
            self.write_event(&Event {
                event: "REFUSED CALLS",
                error: Some(SEVERAL),
                count: left_out,
                ..Event::default()
            });
        }
    }

    /// The name of whom the session executes as, if it is not its login.
    fn executes_as(&self) -> Option<Arc<str>> {
        let (own, identity) = (self.contexts.below(0), self.contexts.current());
        if own == identity {
            return None;
        }
        let schema = &self.scope.objects.catalog.schema;
        let user = identity.user.filter(|_| identity.login.is_empty());
        let mut users = schema.principals().users().iter();
        let user = user.and_then(|(_, id)| users.find(|user| user.id == id));
        Some(user.map_or_else(|| Arc::clone(&identity.login), |user| Arc::from(user.name.as_str())))
    }

    /// Writes an event of the session's.
    fn write_event(&self, event: &Event<'_>) {
        let SessionInfo {
            instance,
            login_info,
            entry,
            ..
        } = &self.session;
        instance.audit().write(&Event {
            login: Some(&login_info.login),
            executes_as: self.executes_as().as_deref(),
            address: Some(entry.facts().peer.ip()),
            session: Some(entry.spid()),
            ..*event
        });
    }
}

/// Not a number of SQL Server's: several calls, with numbers of their own.
const SEVERAL: i32 = 0;
