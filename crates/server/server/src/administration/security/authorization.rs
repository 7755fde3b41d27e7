//! ALTER AUTHORIZATION: another owner.
//!
//! - `only-to-oneself`: what has an owner is given to whom the session is, is a member of, or may execute as, since
//!   what is in a schema is used by its owner's permissions.
//! - `permissions-go-with-the-owner`: those on what gets another owner are dropped, with those on all that is in a
//!   schema.
//! - `objects-have-no-owner`: the owner of an object or type is that of its schema: TO SCHEMA OWNER changes nothing,
//!   and another owner is refused by name, as is that of a database but `sa`.

use selenite_compiler::{SqlError, same_name};
use selenite_runtime::machine::Failure;
use selenite_tsql::ast::{AlterAuthorization, Name};

use super::grant_rows::forget_in;
use super::login::is_fixed_server_role;
use super::server_work::ServerWork;
use super::user::{UserWork, is_fixed_role, now};
use super::{error, refused};
use crate::administration::Administration;
use crate::administration::cell_keys::not_of_a_role;
use crate::catalog::effective_permissions::Securable;
use crate::catalog::permission::may_alter_server_role;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::principals::{DBO, Role, ensure, not_there};
use crate::catalog::schema_names::{self, SchemaRecord, no_schema};
use crate::catalog::stored_keys::{self, StoredKey, StoredKeyKind};
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::master::{SA, ServerPermission, UserServerRole};
use crate::names::session_keys::securable;

impl Administration<'_, '_> {
    /// Gives what a statement names to another owner.
    ///
    /// # Errors
    /// 15151 for what is not there or not the session's to give, 15150 for what keeps its owner, 15109; 40510.
    pub(super) fn alter_authorization(
        &mut self,
        alter: &AlterAuthorization,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let name = alter.securable.name.name.text.as_str();
        let class = alter
            .securable
            .class
            .as_deref()
            .unwrap_or("OBJECT")
            .to_ascii_uppercase();
        if ["OBJECT", "TYPE"].contains(&class.as_str()) {
            return self.in_file((None, execution), |work| work.keep_owner(alter, &class));
        }
        let Some(owner) = &alter.owner else {
            return Err(refused(&format!("ALTER AUTHORIZATION ON {class} TO SCHEMA OWNER")).into());
        };
        match class.as_str() {
            "SCHEMA" => self.in_file((None, execution), |work| work.give_schema(name, owner)),
            "ROLE" => self.in_file((None, execution), |work| work.give_role(name, owner)),
            "SYMMETRIC KEY" => self.in_file((None, execution), |work| {
                work.give_key(StoredKeyKind::Symmetric, name, owner)
            }),
            "ASYMMETRIC KEY" => self.in_file((None, execution), |work| {
                work.give_key(StoredKeyKind::Asymmetric, name, owner)
            }),
            "CERTIFICATE" => self.in_file((None, execution), |work| {
                work.give_key(StoredKeyKind::Certificate, name, owner)
            }),
            "SERVER ROLE" => {
                let words = ("ALTER AUTHORIZATION ON SERVER ROLE", None);
                Ok(self.on_server(words, |work| work.give_server_role(name, owner))?)
            }
            "DATABASE" => Ok(self.give_database(name, owner)?),
            _ => Err(refused(&format!("ALTER AUTHORIZATION ON {class}")).into()),
        }
    }

    /// Every database is `sa`'s.
    fn give_database(&self, name: &str, owner: &Name) -> Result<(), SqlError> {
        let directory = self.registry.directory(self.session.instance)?;
        let mut known = directory.databases.iter();
        let is_known = known.any(|record| same_name(&record.name, name));
        if !is_known || !self.permissions.is_administrator {
            return Err(not_there("find", "database", name));
        }
        if ["master", "model", "tempdb"]
            .iter()
            .any(|system| same_name(system, name))
        {
            let text = "Cannot change the owner of the master, model, tempdb or distribution database.";
            // 15109: another owner of a database of the system.
            return Err(error(15109, text.to_owned()));
        }
        let login = self.session.instance.master().login(&owner.text);
        match login.map_err(|why| of_master(&why))? {
            None => Err(not_there("find", "principal", &owner.text)),
            Some(login) if login.id == SA => Ok(()),
            Some(_) => Err(refused("ALTER AUTHORIZATION ON DATABASE to another login than sa")),
        }
    }
}

impl ServerWork<'_> {
    fn give_server_role(&self, name: &str, owner: &Name) -> Result<(), SqlError> {
        if is_fixed_server_role(name) {
            return Err(error(15150, format!("Cannot alter the server role '{name}'.")));
        }
        let (permissions, server) = (&self.permissions, &self.permissions.server);
        let is_own = |role: &&UserServerRole| {
            let controls = server.may(ServerPermission::ControlServer) || server.is_or_is_in(&role.owner);
            permissions.is_administrator || controls && may_alter_server_role(role, permissions, &self.directory)
        };
        let role = self.directory.security.role_named(name).filter(is_own);
        let role = role.ok_or_else(|| not_there("find", "server role", name))?;
        let owner = self.server_owner(&owner.text)?;
        let given = self.master().set_server_role_owner(role, &owner);
        given.map_err(|why| of_master(&why))
    }
}

impl UserWork<'_> {
    fn give_schema(&self, name: &str, owner: &Name) -> Result<(), SqlError> {
        let may = |schema: &&SchemaRecord| {
            self.permissions
                .may(PermissionKind::Control, Securable::Schema(&schema.name))
        };
        let schema = self.schema.names().named(name).filter(may);
        let schema = schema.ok_or_else(|| no_schema("find", name))?;
        if schema.is_fixed() {
            return Err(error(15150, format!("Cannot alter the schema '{name}'.")));
        }
        let owner = self.owner(&owner.text)?;
        if owner == schema.owner {
            return Ok(());
        }
        forget_in(self.connection, &schema.name, self.schema)?;
        schema_names::set_owner(self.connection, schema.id, owner)
    }

    /// Who may change every role, or has CONTROL of the database, does not give away what others own.
    fn give_role(&self, name: &str, owner: &Name) -> Result<(), SqlError> {
        if is_fixed_role(name) {
            return Err(error(15150, format!("Cannot alter the role '{name}'.")));
        }
        let may = |role: &&Role| self.permissions.owns() || self.permissions.is_or_is_in(role.owner);
        let role = self.present.role_named(name).filter(may);
        let role = role.ok_or_else(|| not_there("find", "role", name))?;
        let owner = self.owner(&owner.text)?;
        ensure(self.connection)?;
        let sql = "UPDATE main.selenite_role SET owner = ?2, modified = ?3 WHERE id = ?1";
        self.execute(sql, (role.id, owner, now()))
    }

    fn give_key(&self, kind: StoredKeyKind, name: &str, owner: &Name) -> Result<(), SqlError> {
        let may = |key: &&StoredKey| self.permissions.may_on_key(PermissionKind::Control, securable(key));
        let key = self.schema.keys().named(kind, name).filter(may);
        let key = key.ok_or_else(|| not_there("find", kind.name(), name))?;
        let owner = self.owner(&owner.text)?;
        let is_user = owner == DBO || self.present.users().iter().any(|user| user.id == owner);
        if !is_user && kind != StoredKeyKind::Symmetric {
            return Err(not_of_a_role(kind));
        }
        match owner == key.owner {
            true => Ok(()),
            false => stored_keys::set_owner(self.connection, key, owner),
        }
    }

    /// `objects-have-no-owner`.
    fn keep_owner(&self, alter: &AlterAuthorization, class: &str) -> Result<(), SqlError> {
        let name = &alter.securable.name;
        let target = match class {
            "TYPE" => self.type_target(name)?,
            _ => self.object_target(name)?,
        };
        if !self.permissions.may(PermissionKind::Control, target.securable()) {
            return Err(target.not_permitted());
        }
        match &alter.owner {
            None => Ok(()),
            Some(_) => Err(refused(&format!(
                "ALTER AUTHORIZATION ON {class} to another owner than that of the schema"
            ))),
        }
    }
}
