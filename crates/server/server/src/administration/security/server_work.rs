//! A change of logins, of roles of the server, and of permissions on it.
//!
//! - `checked-as-it-is-written`: such changes are made one at a time, and what the session may do is found out again
//!   when its turn has come: nothing that decides whether a change is allowed is changed before it is written. A
//!   password is stretched before, since that takes long.
//! - `outside-transactions`: what is written to master.db is not undone by a ROLLBACK, so it is refused in a
//!   transaction.

use std::cell::Cell;
use std::sync::{Arc, MutexGuard};

use selenite_compiler::SqlError;
use selenite_tsql::ast::StatementKind;

use crate::administration::Administration;
use crate::catalog::directory::Directory;
use crate::catalog::effective_permissions::Permissions;
use crate::catalog::permission::check;
use crate::database::database_registry::DatabaseRegistry;
use crate::database_error::of_master;
use crate::execution_context::SessionInfo;
use crate::master::{LoginRecord, Master};
use crate::names::identity::Identity;

/// What such a change is carried out with, while no other one is.
pub(super) struct ServerWork<'a> {
    /// The session.
    pub session: &'a SessionInfo<'a>,
    /// Whom it acts as.
    pub identity: &'a Identity,
    /// What that may do now.
    pub permissions: Permissions,
    /// The logins, roles and permissions before the change.
    pub directory: Arc<Directory>,
    registry: &'a DatabaseRegistry,
    has_written: Cell<bool>,
    _turn: MutexGuard<'a, ()>,
}

impl Administration<'_, '_> {
    /// Changes the server's principals; `statement` is its words, and the statement itself unless it is a call.
    ///
    /// # Errors
    /// 226 in a transaction; those of [`check`]; the error of `change`.
    pub(super) fn on_server<R>(
        &self,
        (words, kind): (&str, Option<&StatementKind>),
        change: impl FnOnce(&ServerWork<'_>) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        self.transactions.check_none(words)?;
        let turn = self.registry.begin_server_change();
        let directory = self.registry.directory(self.session.instance)?;
        let (current, schema) = (self.transactions.current, &self.catalog.schema);
        let permissions = self.identity.permissions(&directory, current, schema);
        if let Some(kind) = kind {
            let session = (&*self.identity.login, &*self.catalog.database);
            check(kind, (&permissions, &|_| None), session)?;
        }
        change(&ServerWork {
            session: self.session,
            identity: self.identity,
            permissions,
            directory,
            registry: self.registry,
            has_written: Cell::new(false),
            _turn: turn,
        })
    }
}

impl ServerWork<'_> {
    /// master.db, to be written.
    pub fn master(&self) -> &Master {
        self.has_written.set(true);
        self.session.instance.master()
    }

    /// The login of a name.
    pub fn login(&self, name: &str) -> Result<Option<LoginRecord>, SqlError> {
        let found = self.session.instance.master().login(name);
        found.map_err(|error| of_master(&error))
    }
}

impl Drop for ServerWork<'_> {
    /// Before the next one begins, also after an error: some of it may be written.
    fn drop(&mut self) {
        if self.has_written.get() {
            self.registry.reload();
        }
    }
}
