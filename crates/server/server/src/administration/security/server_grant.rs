//! GRANT, DENY and REVOKE of permissions on the server.
//!
//! - `administrators-are-out-of-reach`: what may be done with a login that is in `sysadmin`, or may execute as one that
//!   is, `sysadmin` alone does; with one that has CONTROL SERVER, who has it, too.

use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{PermissionAction, PermissionChange, StatementKind};

use super::grant::word;
use super::login::is_fixed_server_role;
use super::server_work::ServerWork;
use super::{error, refused};
use crate::administration::Administration;
use crate::catalog::permission::{may_alter_login, may_change_grantee, may_grant_on_server};
use crate::catalog::principals::not_there;
use crate::database_error::of_master;
use crate::master::{LoginRecord, MASTER, PUBLIC_SID, SA, ServerGrant, ServerPermission};

/// Whether permissions are changed on the server, or on a login.
pub(super) fn is_of_server(change: &PermissionChange) -> bool {
    match &change.securable {
        Some(securable) => (securable.class.as_deref()).is_some_and(|class| class.eq_ignore_ascii_case("LOGIN")),
        None => {
            let mut names = change.permissions.iter();
            names.any(|permission| {
                ServerPermission::of_name(&permission.name).is_some_and(|kind| {
                    // Of a database or user it is another permission.
                    kind != ServerPermission::Impersonate
                })
            })
        }
    }
}

impl Administration<'_, '_> {
    pub(super) fn change_server_permissions(
        &self,
        change: &PermissionChange,
        kind: &StatementKind,
    ) -> Result<(), SqlError> {
        if self.transactions.current != MASTER {
            let text = "Permissions at the server scope can only be granted when the current database is master";
            return Err(error(4621, text.to_owned()));
        }
        if change.grant_option || change.cascade || change.grantor.is_some() {
            return Err(refused("A grant option, CASCADE or AS of permissions on the server"));
        }
        let words = word(change.action);
        self.on_server((words, Some(kind)), |work| work.change_permissions(change))
    }
}

impl ServerWork<'_> {
    fn change_permissions(&self, change: &PermissionChange) -> Result<(), SqlError> {
        let target = match &change.securable {
            Some(securable) => Some(self.login_of(&securable.name.name.text)?),
            None => None,
        };
        let kinds = self.server_kinds(change, target.as_ref())?;
        let mut grants = Vec::new();
        for name in &change.principals {
            let grantee = self.server_grantee(&name.text, target.as_ref())?;
            if !may_change_grantee(&grantee, &self.permissions, &self.directory) {
                return Err(not_granted());
            }
            for kind in &kinds {
                grants.push(ServerGrant {
                    kind: *kind,
                    on: target.as_ref().map(|login| login.sid.to_vec()).unwrap_or_default(),
                    grantee: grantee.clone(),
                    is_denied: change.action == PermissionAction::Deny,
                });
            }
        }
        let is_kept = change.action != PermissionAction::Revoke;
        let changed = self.master().set_server_grants(&grants, is_kept);
        changed.map_err(|why| of_master(&why))
    }

    /// The permissions that are changed, which the session may change.
    fn server_kinds(
        &self,
        change: &PermissionChange,
        target: Option<&LoginRecord>,
    ) -> Result<Vec<ServerPermission>, SqlError> {
        let word = word(change.action);
        let mut kinds = Vec::new();
        for permission in &change.permissions {
            let kind = ServerPermission::of_name(&permission.name);
            let kind = kind.filter(|kind| (*kind == ServerPermission::Impersonate) == target.is_some());
            let Some(kind) = kind else {
                let on = if target.is_some() { " on a login" } else { "" };
                return Err(refused(&format!("{word} {}{on}", permission.name.to_ascii_uppercase())));
            };
            if !permission.columns.is_empty() {
                let text = "Sub-entity lists (such as column or security expressions) cannot be specified for \
                            entity-level permissions.";
                return Err(error(1020, text.to_owned()).with_severity(15));
            }
            let on = target.map(|login| login.sid.as_slice());
            if !may_grant_on_server(kind, on, (&self.permissions, &self.directory)) {
                return Err(match target {
                    Some(login) => not_there("find", "login", &login.name),
                    None => not_granted(),
                });
            }
            if kind == ServerPermission::ConnectSql && change.action == PermissionAction::Revoke {
                self.check_denied(change)?;
            }
            kinds.push(kind);
        }
        match kinds.is_empty() {
            true => Err(refused(&format!("{word} ALL on the server"))),
            false => Ok(kinds),
        }
    }

    /// A login has CONNECT SQL unless it is denied, which REVOKE takes back.
    fn check_denied(&self, change: &PermissionChange) -> Result<(), SqlError> {
        for name in &change.principals {
            let login = self
                .directory
                .records
                .iter()
                .find(|login| same_name(&login.name, &name.text));
            let is_denied = |grant: &ServerGrant| {
                grant.kind == ServerPermission::ConnectSql
                    && grant.is_denied
                    && login.is_some_and(|login| grant.grantee == login.sid)
            };
            if login.is_some() && !self.directory.security.grants.iter().any(is_denied) {
                return Err(refused("REVOKE CONNECT SQL, unlike DENY CONNECT SQL,"));
            }
        }
        Ok(())
    }

    /// 4617, 4624, 15151.
    fn server_grantee(&self, name: &str, target: Option<&LoginRecord>) -> Result<Vec<u8>, SqlError> {
        if same_name(name, "public") {
            return Ok(PUBLIC_SID.to_vec());
        }
        if is_fixed_server_role(name) {
            let text = "Cannot grant, deny or revoke permissions to or from special roles.";
            return Err(error(4617, text.to_owned()));
        }
        let role = self.directory.security.role_named(name);
        if let Some(role) = role.filter(|_| !matches!(self.login(name), Ok(Some(_)))) {
            return Ok(role.sid.clone());
        }
        let login = self.login_of(name)?;
        let is_own = self.permissions.server.sid() == login.sid;
        if login.id == SA || is_own || target.is_some_and(|target| target.id == login.id) {
            let text = "Cannot grant, deny, or revoke permissions to sa, dbo, entity owner, information_schema, sys, or \
                        yourself.";
            return Err(error(4624, text.to_owned()));
        }
        self.check_in_reach(&login, "find")?;
        Ok(login.sid.to_vec())
    }

    fn login_of(&self, name: &str) -> Result<LoginRecord, SqlError> {
        self.login(name)?.ok_or_else(|| not_there("find", "login", name))
    }

    /// `administrators-are-out-of-reach`.
    ///
    /// # Errors
    /// 15151, as for a login that there is not.
    pub(super) fn check_in_reach(&self, login: &LoginRecord, verb: &str) -> Result<(), SqlError> {
        match may_alter_login(&login.sid, &self.permissions, &self.directory) {
            true => Ok(()),
            false => Err(not_there(verb, "login", &login.name)),
        }
    }
}

fn not_granted() -> SqlError {
    error(4613, "Grantor does not have GRANT permission.".to_owned())
}
