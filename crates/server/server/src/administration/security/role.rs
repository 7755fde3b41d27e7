//! CREATE, ALTER and DROP ROLE.

use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{self, AlterRoleAction};

use super::procedure::not_allowed;
use super::user::{UserWork, is_fixed_role, is_reserved, now};
use super::{error, special};
use crate::catalog::effective_permissions::Securable;
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::permission::may_impersonate;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::principals::{DBO, NEXT_ID, Role, ensure, not_there};

impl UserWork<'_> {
    pub fn create_role(&self, create: &ast::CreateRole) -> Result<(), SqlError> {
        let name = create.name.text.as_str();
        self.check_free(name)?;
        self.check_name(name)?;
        let owner = match &create.authorization {
            Some(owner) => self.owner(&owner.text)?,
            None => self.permissions.new_owner(),
        };
        ensure(self.connection)?;
        let sql = format!(
            "INSERT INTO main.selenite_role (id, name, folded, owner, created, modified) \
             VALUES ({NEXT_ID}, ?1, ?2, ?3, ?4, ?4)"
        );
        self.execute(&sql, (name, crate::master::folded(name), owner, now()))
    }

    /// A role or schema may be owned by a principal that the session is, is a member of, or may execute as.
    pub(super) fn owner(&self, name: &str) -> Result<i32, SqlError> {
        let found = match same_name(name, "dbo") {
            true => Some(DBO),
            false => self
                .present
                .id_of(name)
                .or_else(|| FixedRole::of_name(name).map(FixedRole::id)),
        };
        let may = |id: &i32| {
            let permissions = self.permissions;
            permissions.owns() || permissions.is_or_is_in(*id) || may_impersonate(*id, permissions)
        };
        found.filter(may).ok_or_else(|| not_there("find", "principal", name))
    }

    pub fn alter_role(&self, alter: &ast::AlterRole) -> Result<(), SqlError> {
        let name = alter.name.text.as_str();
        match &alter.action {
            AlterRoleAction::AddMember(member) => self.add_member(name, &member.text),
            AlterRoleAction::DropMember(member) => self.drop_member(name, &member.text),
            AlterRoleAction::Rename(_) if is_fixed_role(name) => {
                Err(error(15150, format!("Cannot alter the role '{name}'.")))
            }
            AlterRoleAction::Rename(new) => {
                let role = self.own_role(name, "alter")?;
                // Who exchanges the names of two roles decides whom the owner makes a member of which.
                self.check_gives_no_more(name)?;
                if !same_name(&new.text, &role.name) {
                    self.check_free(&new.text)?;
                }
                self.check_name(&new.text)?;
                let sql = "UPDATE main.selenite_role SET name = ?2, folded = ?3, modified = ?4 WHERE id = ?1";
                self.execute(sql, (role.id, &new.text, crate::master::folded(&new.text), now()))
            }
        }
    }

    pub fn drop_role(&self, name: &str, if_exists: bool) -> Result<(), SqlError> {
        if is_fixed_role(name) {
            return Err(error(15150, format!("Cannot drop the role '{name}'.")));
        }
        if if_exists && self.present.role_named(name).is_none() {
            return Ok(());
        }
        let role = self.own_role(name, "drop")?;
        if self.present.members().iter().any(|(of, _)| *of == role.id) {
            let text = "The role has members. It must be empty before it can be dropped.";
            return Err(error(15144, text.to_owned()));
        }
        self.check_owns_nothing(role.id)?;
        self.forget(role.id)?;
        self.execute("DELETE FROM main.selenite_role WHERE id = ?1", [role.id])
    }

    pub fn add_member(&self, role: &str, member: &str) -> Result<(), SqlError> {
        self.check_gives_no_more(role)?;
        let (role, member) = (self.role_of_members(role)?, self.member(member, "add")?);
        // A role is in itself.
        if self.present.with_roles(role).contains(&member) {
            return Err(error(15413, "Cannot make a role a member of itself.".to_owned()));
        }
        ensure(self.connection)?;
        let sql = "INSERT OR IGNORE INTO main.selenite_member (role, member) VALUES (?1, ?2)";
        self.execute(sql, (role, member))
    }

    pub fn drop_member(&self, role: &str, member: &str) -> Result<(), SqlError> {
        let (role, member) = (self.role_of_members(role)?, self.member(member, "drop")?);
        ensure(self.connection)?;
        let sql = "DELETE FROM main.selenite_member WHERE role = ?1 AND member = ?2";
        self.execute(sql, (role, member))
    }

    /// sp_addrolemember and sp_droprolemember, which have numbers of their own for what is not there.
    pub fn call_member(&self, role: &str, member: &str, adds: bool) -> Result<(), SqlError> {
        let is_known = is_fixed_role(role) || self.present.role_named(role).is_some();
        if !is_known {
            return Err(error(15409, format!("'{role}' is not a role.")));
        }
        self.role_of_members(role).map_err(|why| match why.number() {
            15151 => not_allowed(),
            _ => why,
        })?;
        if self.member(member, "add").is_err_and(|why| why.number() == 15151) {
            let text = format!("User or role '{member}' does not exist in this database.");
            return Err(error(15410, text));
        }
        match adds {
            true => self.add_member(role, member),
            false => self.drop_member(role, member),
        }
    }

    /// The role whose members change: those of fixed roles are the owner's alone.
    fn role_of_members(&self, name: &str) -> Result<i32, SqlError> {
        if same_name(name, "public") {
            let text = "Membership of the public role cannot be changed.";
            return Err(error(15081, text.to_owned()));
        }
        match FixedRole::of_name(name) {
            Some(role) if self.permissions.owns() => Ok(role.id()),
            Some(_) => Err(not_there("alter", "role", name)),
            None => Ok(self.own_role(name, "alter")?.id),
        }
    }

    /// 15151: what `db_securityadmin` may not grant, it does not give by way of a role that has it, or owns one that has,
    /// either, unless the role is its own.
    fn check_gives_no_more(&self, name: &str) -> Result<(), SqlError> {
        let Some(role) = self.present.role_named(name) else {
            return Ok(());
        };
        let is_own = self
            .permissions
            .user
            .as_ref()
            .is_some_and(|(own, _)| *own == role.owner);
        let is_member = self.permissions.is_or_is_in(role.owner);
        let is_security = self.permissions.may(PermissionKind::AlterAnyRole, Securable::Database);
        let is_owner = self.present.owners().contains(&role.id);
        let is_above = if is_owner {
            self.permissions.owns()
        } else {
            self.permissions.may(PermissionKind::Control, Securable::Database)
        };
        if is_own || is_member && !is_security || is_above {
            return Ok(());
        }
        match self.present.above_security().contains(&role.id) {
            true => Err(not_there("alter", "role", name)),
            false => Ok(()),
        }
    }

    /// A role of CREATE ROLE that the session may change.
    fn own_role(&self, name: &str, verb: &str) -> Result<&Role, SqlError> {
        let may = |role: &&Role| {
            self.permissions.may(PermissionKind::AlterAnyRole, Securable::Database)
                || self.permissions.is_or_is_in(role.owner)
        };
        let found = self.present.role_named(name).filter(may);
        found.ok_or_else(|| not_there(verb, "role", name))
    }

    fn member(&self, name: &str, verb: &str) -> Result<i32, SqlError> {
        if is_reserved(name) || is_fixed_role(name) {
            return Err(special(name));
        }
        self.present
            .id_of(name)
            .ok_or_else(|| not_there(verb, "principal", name))
    }
}
