//! CREATE, ALTER and DROP USER.

use rusqlite::Connection;
use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{SqlError, same_name};
use selenite_runtime::sqlite::tsql_error;
use selenite_tsql::ast::{self, Setting, UserSource};

use super::{error, refused, special};
use crate::catalog::directory::Directory;
use crate::catalog::effective_permissions::{Permissions, Securable};
use crate::catalog::executing_modules;
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::grants;
use crate::catalog::permission_kind::{Class, PermissionKind};
use crate::catalog::principals::{NEXT_ID, Principals, User, ensure, not_there};
use crate::catalog::schema::Schema;
use crate::master::SA;
use crate::names::session_catalog::SessionCatalog;

/// What a change of users is carried out with.
pub(crate) struct UserWork<'a> {
    /// The database, in a transaction that writes.
    pub connection: &'a Connection,
    /// The users before it.
    pub present: &'a Principals,
    /// What there is in the database.
    pub schema: &'a Schema,
    /// The database's name.
    pub database: &'a str,
    /// The logins.
    pub directory: &'a Directory,
    /// What the session may do in the database.
    pub permissions: &'a Permissions,
    /// What names mean there.
    pub catalog: &'a SessionCatalog,
}

impl UserWork<'_> {
    pub fn create_user(&self, create: &ast::CreateUser) -> Result<(), SqlError> {
        let name = create.name.text.as_str();
        self.check_options(&create.options, "CREATE USER")?;
        let login = match &create.source {
            UserSource::SameName => name,
            UserSource::Login(login) => login.text.as_str(),
            UserSource::WithoutLogin => return Err(refused("CREATE USER WITHOUT LOGIN")),
        };
        self.check_free(name)?;
        let sid = self.free_login(login)?;
        self.check_name(name)?;
        ensure(self.connection)?;
        let now = now();
        self.execute(
            &format!(
                "INSERT INTO main.selenite_user (id, name, folded, sid, created, modified, default_schema) \
                 VALUES ({NEXT_ID}, ?1, ?2, ?3, ?4, ?4, ?5)"
            ),
            (
                name,
                crate::master::folded(name),
                sid,
                now,
                default_schema(&create.options),
            ),
        )
    }

    pub fn alter_user(&self, alter: &ast::AlterUser) -> Result<(), SqlError> {
        let user = self.known(&alter.name.text, "alter")?;
        self.check_options(&alter.options, "ALTER USER")?;
        self.check_control(user, &alter.options)?;
        ensure(self.connection)?;
        if let Some(schema) = default_schema(&alter.options) {
            self.execute(
                "UPDATE main.selenite_user SET default_schema = ?2, modified = ?3 WHERE id = ?1",
                (user.id, schema, now()),
            )?;
        }
        for option in &alter.options {
            let word = option.word().map(|word| word.text.as_str()).unwrap_or_default();
            if option.name.is("NAME") {
                if !same_name(word, &user.name) {
                    self.check_free(word)?;
                }
                self.check_name(word)?;
                let values = (user.id, word, crate::master::folded(word), now());
                self.execute(
                    "UPDATE main.selenite_user SET name = ?2, folded = ?3, modified = ?4 WHERE id = ?1",
                    values,
                )?;
            } else if option.name.is("LOGIN") {
                let sid = self.free_login(word)?;
                let values = (user.id, sid, now());
                self.execute(
                    "UPDATE main.selenite_user SET sid = ?2, modified = ?3 WHERE id = ?1",
                    values,
                )?;
            }
        }
        Ok(())
    }

    /// 15151: who may only alter users neither gives a user to another login, nor renames one that has CONTROL; one
    /// that may become the owner of the database is the owner's.
    fn check_control(&self, user: &User, options: &[Setting]) -> Result<(), SqlError> {
        let control = |permissions: &Permissions| permissions.may(PermissionKind::Control, Securable::Database);
        let gives = options.iter().any(|option| option.name.is("LOGIN"));
        let renames = options.iter().any(|option| option.name.is("NAME"));
        let is_controlled = || control(&Permissions::of_principal(user.id, self.schema));
        let is_owner = self.present.owners().contains(&user.id);
        let may = if is_owner {
            self.permissions.owns()
        } else {
            control(self.permissions)
        };
        match (gives || renames && (is_owner || is_controlled())) && !may {
            true => Err(not_there("alter", "user", &user.name)),
            false => Ok(()),
        }
    }

    pub fn drop_user(&self, name: &str, if_exists: bool) -> Result<(), SqlError> {
        if self.present.named(name).is_none() && if_exists && !is_reserved(name) {
            return Ok(());
        }
        if is_reserved(name) {
            return Err(error(15150, format!("Cannot drop the user '{name}'.")));
        }
        let user = self.known(name, "drop")?;
        self.check_owns_nothing(user.id)?;
        self.forget(user.id)?;
        self.execute("DELETE FROM main.selenite_user WHERE id = ?1", [user.id])
    }

    fn known(&self, name: &str, verb: &str) -> Result<&User, SqlError> {
        if is_reserved(name) {
            return Err(error(15150, format!("Cannot {verb} the user '{name}'.")));
        }
        self.present.named(name).ok_or_else(|| not_there(verb, "user", name))
    }

    /// 15138, 15284, 15421: a principal that owns something, or has granted it, stays.
    pub(super) fn check_owns_nothing(&self, id: i32) -> Result<(), SqlError> {
        if self.present.grants().iter().any(|grant| grant.grantor == Some(id)) {
            let text = "The database principal has granted or denied permissions to objects in the database and cannot be \
                        dropped.";
            return Err(error(15284, text.to_owned()));
        }
        let contexts = executing_modules::all(self.schema);
        if contexts.iter().any(|(_, context)| context.principal == id) {
            let text = "The database principal is set as the execution context of one or more procedures, functions, or event \
                        notifications and cannot be dropped.";
            return Err(error(15136, text.to_owned()));
        }
        if let Some(key) = self.schema.keys().owned_by(id) {
            let kind = key.kind.name();
            let text = format!("The database principal owns a {kind} in the database, and cannot be dropped.");
            return Err(error(15138, text));
        }
        if self.schema.names().all().iter().any(|schema| schema.owner == id) {
            let text = "The database principal owns a schema in the database, and cannot be dropped.";
            return Err(error(15138, text.to_owned()));
        }
        if self
            .present
            .roles()
            .iter()
            .any(|role| role.owner == id && role.id != id)
        {
            let text = "The database principal owns a database role and cannot be dropped.";
            return Err(error(15421, text.to_owned()));
        }
        Ok(())
    }

    /// A principal that is dropped is in no role, and has no permission.
    pub(super) fn forget(&self, id: i32) -> Result<(), SqlError> {
        ensure(self.connection)?;
        self.execute("DELETE FROM main.selenite_member WHERE member = ?1", [id])?;
        grants::forget(self.connection, Class::User, id)?;
        grants::forget_grantee(self.connection, id)
    }

    /// 15023.
    pub(super) fn check_free(&self, name: &str) -> Result<(), SqlError> {
        if self.present.id_of(name).is_none() && !is_reserved(name) && !is_fixed_role(name) {
            return Ok(());
        }
        let text = format!("User, group, or role '{name}' already exists in the current database.");
        Err(error(15023, text))
    }

    pub(super) fn check_name(&self, name: &str) -> Result<(), SqlError> {
        let is_good = !name.is_empty() && !name.contains(|sign: char| sign == '\\' || sign.is_control());
        match is_good {
            true => Ok(()),
            false => Err(error(
                15006,
                format!("'{name}' is not a valid name because it contains invalid characters."),
            )),
        }
    }

    /// The security id of a login that has no user here yet.
    fn free_login(&self, name: &str) -> Result<[u8; 16], SqlError> {
        let found = self.directory.records.iter().find(|login| same_name(&login.name, name));
        let Some(login) = found else {
            let text = format!("'{name}' is not a valid login or you do not have permission.");
            return Err(error(15007, text));
        };
        if login.id == SA {
            return Err(special(name));
        }
        if self.present.of_login(&login.sid).is_some() {
            let text = "The login already has an account under a different user name.";
            return Err(error(15063, text.to_owned()));
        }
        Ok(login.sid)
    }

    fn check_options(&self, options: &[Setting], statement: &str) -> Result<(), SqlError> {
        for option in options {
            let name = option.name.text.to_ascii_uppercase();
            let word = option.word().map(|word| word.text.as_str()).unwrap_or_default();
            let is_alter = statement == "ALTER USER";
            match name.as_str() {
                "DEFAULT_SCHEMA" if !word.is_empty() => {}
                "NAME" | "LOGIN" if is_alter && !word.is_empty() => {}
                "PASSWORD" => {
                    let text = "You can only create a user with a password in a contained database.";
                    return Err(error(33233, text.to_owned()));
                }
                _ => return Err(refused(&format!("{statement} WITH {name}"))),
            }
        }
        Ok(())
    }

    pub(super) fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), SqlError> {
        let done = self.connection.execute(sql, values);
        done.map(drop).map_err(|error| tsql_error(&error))
    }
}

/// DEFAULT_SCHEMA, which need not exist; NULL stands for the one of users who have none.
fn default_schema(options: &[Setting]) -> Option<&str> {
    let option = options.iter().find(|option| option.name.is("DEFAULT_SCHEMA"))?;
    let word = option.word()?;
    Some(match word.is_word("NULL") {
        true => SCHEMA,
        false => &word.text,
    })
}

/// Users that every database has.
pub(super) fn is_reserved(name: &str) -> bool {
    ["dbo", "guest", "sys", "INFORMATION_SCHEMA"]
        .iter()
        .any(|known| same_name(known, name))
}

pub(super) fn is_fixed_role(name: &str) -> bool {
    same_name(name, "public") || FixedRole::of_name(name).is_some()
}

pub(super) fn now() -> i64 {
    i64::try_from(selenite::now()).unwrap_or(i64::MAX)
}
