//! CREATE, ALTER and DROP SERVER ROLE, and members of the server's roles.
//!
//! - `members-are-given-what-a-role-has`: who may add members to a role is decided with what the role leads to
//!   ([`may_alter_server_role`]).
//! - `administrators-are-logins`: a role is in no `sysadmin`, which is kept with each login.

use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{self, AlterRoleAction};

use super::login::{error_of, is_fixed_server_role, taken};
use super::procedure::not_allowed;
use super::server_work::ServerWork;
use super::{error, refused, special};
use crate::catalog::permission::{may_alter_server_role, may_change_members, may_own_server_role};
use crate::catalog::principals::not_there;
use crate::database_error::of_master;
use crate::master::{MasterError, SA, ServerGrant, ServerRole, UNSUPPORTED_ROLES, UserServerRole};

impl ServerWork<'_> {
    pub(super) fn create_server_role(&self, create: &ast::CreateRole) -> Result<(), SqlError> {
        let name = create.name.text.as_str();
        if is_fixed_server_role(name) {
            return Err(taken(name));
        }
        if self.directory.security.roles.len() >= ROLE_COUNT_MAX {
            return Err(refused("More than 1,000 roles of CREATE SERVER ROLE"));
        }
        let owner = match &create.authorization {
            Some(owner) => self.server_owner(&owner.text)?,
            None => self.identity.sid.clone(),
        };
        let made = self.master().add_server_role(name, &owner);
        made.map_err(|why| error_of(name, &why))
    }

    /// The security id of a login or role that may own a role of the session's.
    pub(super) fn server_owner(&self, name: &str) -> Result<Vec<u8>, SqlError> {
        let login = self.directory.records.iter().find(|login| same_name(&login.name, name));
        let own = || self.directory.security.role_named(name).map(|role| role.sid.clone());
        let fixed = || ServerRole::of_name(name).map(|role| role.sid().to_vec());
        let found = login.map(|login| login.sid.to_vec()).or_else(own).or_else(fixed);
        let found = found.filter(|sid| may_own_server_role(sid, &self.permissions, &self.directory));
        found.ok_or_else(|| not_there("find", "server principal", name))
    }

    pub(super) fn alter_server_role(&self, alter: &ast::AlterRole) -> Result<(), SqlError> {
        let name = alter.name.text.as_str();
        match &alter.action {
            AlterRoleAction::AddMember(member) => self.change_member((name, false), &member.text, true),
            AlterRoleAction::DropMember(member) => self.change_member((name, false), &member.text, false),
            AlterRoleAction::Rename(_) if is_fixed_server_role(name) => {
                Err(error(15150, format!("Cannot alter the server role '{name}'.")))
            }
            AlterRoleAction::Rename(new) => {
                let role = self.server_role(name, "alter")?;
                let new = new.text.as_str();
                if is_fixed_server_role(new) {
                    return Err(taken(new));
                }
                let renamed = self.master().rename_server_role(&role, new);
                renamed.map_err(|why| error_of(new, &why))
            }
        }
    }

    pub(super) fn drop_server_role(&self, name: &str) -> Result<(), SqlError> {
        if is_fixed_server_role(name) {
            return Err(error(15150, format!("Cannot drop the server role '{name}'.")));
        }
        let role = self.server_role(name, "drop")?;
        if self.directory.security.members.iter().any(|(of, _)| *of == role.id) {
            let text = "The role has members. It must be empty before it can be dropped.";
            return Err(error(15144, text.to_owned()));
        }
        self.check_owns_no_role(&role.sid)?;
        let removed = self.master().remove_server_role(&role);
        removed.map_err(|why| of_master(&why))
    }

    /// 15141: a login or role that owns a role stays.
    pub(super) fn check_owns_no_role(&self, sid: &[u8]) -> Result<(), SqlError> {
        if self.directory.security.roles.iter().any(|role| role.owner == sid) {
            let text = "The server principal owns one or more server role(s) and cannot be dropped.";
            return Err(error(15141, text.to_owned()));
        }
        Ok(())
    }

    /// A role of CREATE SERVER ROLE that the session may alter.
    fn server_role(&self, name: &str, verb: &str) -> Result<UserServerRole, SqlError> {
        let found = self.directory.security.role_named(name);
        let found = found.filter(|role| may_alter_server_role(role, &self.permissions, &self.directory));
        found.cloned().ok_or_else(|| not_there(verb, "server role", name))
    }

    /// Makes a login or role a member of a role of the server, or no longer one.
    ///
    /// # Errors
    /// 15151, 15247 for who may not; 15402 and 40510 for a role that there is not; 15413.
    pub(super) fn change_member(
        &self,
        (role, is_call): (&str, bool),
        member: &str,
        adds: bool,
    ) -> Result<(), SqlError> {
        let own = self.directory.security.role_named(role).filter(|_| !is_call);
        let fixed = ServerRole::of_name(role);
        let may = match (fixed, own) {
            (Some(fixed), _) => may_change_members(fixed, &self.permissions),
            (None, Some(own)) => may_alter_server_role(own, &self.permissions, &self.directory),
            (None, None) => self.permissions.is_administrator,
        };
        if !may {
            return Err(match is_call {
                true => not_allowed(),
                false => not_there("alter", "server role", role),
            });
        }
        let (id, sid) = match (fixed, own) {
            (Some(fixed), _) => (fixed.id(), fixed.sid()),
            (None, Some(own)) => (own.id, own.sid.as_slice()),
            (None, None) => return Err(no_role(role, is_call)),
        };
        let verb = if adds { "add" } else { "drop" };
        let login = self.login(member)?;
        let of_role = self.directory.security.role_named(member);
        let of_role = of_role.filter(|_| login.is_none());
        if fixed == Some(ServerRole::SysAdmin) {
            return match of_role {
                Some(_) => Err(refused("A server role as a member of sysadmin")),
                None => self.set_administrator(member, adds, verb),
            };
        }
        if is_fixed_server_role(member) {
            return Err(special(member));
        }
        let member = match (of_role, login) {
            (Some(own), _) => own.sid.clone(),
            (None, Some(login)) if login.id == SA => return Err(special(&login.name)),
            (None, Some(login)) => login.sid.to_vec(),
            (None, None) => return Err(not_there(verb, "principal", member)),
        };
        // A role is in itself.
        if adds && self.directory.security.with_roles(sid).contains(&member) {
            return Err(error(15413, "Cannot make a role a member of itself.".to_owned()));
        }
        if adds && self.directory.security.members.len() >= MEMBER_COUNT_MAX {
            return Err(refused("More than 10,000 memberships in roles of the server"));
        }
        let changed = self.master().set_server_member((id, sid), &member, adds);
        match changed {
            Err(MasterError::Unknown(_)) => Err(not_there("alter", "server role", role)),
            changed => changed.map_err(|why| of_master(&why)),
        }
    }

    /// Lets a login do everything, or no longer.
    ///
    /// # Errors
    /// 40510 for one on which IMPERSONATE was granted, which would let others do everything, too.
    fn set_administrator(&self, login: &str, is: bool, verb: &str) -> Result<(), SqlError> {
        let known = self.login(login)?;
        let is_on = |grant: &ServerGrant| known.as_ref().is_some_and(|login| grant.on == login.sid);
        let mut granted = self.directory.security.grants.iter().filter(|grant| !grant.is_denied);
        if is && granted.any(is_on) {
            return Err(refused("sysadmin for a login on which IMPERSONATE was granted"));
        }
        let changed = self.master().set_administrator(login, is);
        match changed {
            Err(MasterError::Unknown(_)) => Err(not_there(verb, "principal", login)),
            changed => changed.map_err(|error| error_of(login, &error)),
        }
    }
}

fn no_role(role: &str, is_call: bool) -> SqlError {
    let is_known = UNSUPPORTED_ROLES.iter().any(|known| same_name(known, role));
    match (is_known, is_call) {
        (true, _) => refused(&format!("The server role '{role}'")),
        (false, true) => error(15402, format!("'{role}' is not a fixed server role.")),
        (false, false) => not_there("alter", "server role", role),
    }
}

/// 1,000, and 10,000: who may create roles would otherwise make each statement of all others slow, for which it is
/// found out which roles they are in.
const ROLE_COUNT_MAX: usize = 1_000;
const MEMBER_COUNT_MAX: usize = 10_000;
