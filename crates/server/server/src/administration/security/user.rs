//! CREATE, ALTER and DROP USER, ALTER ROLE.

use rusqlite::Connection;
use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{SqlError, same_name};
use selenite_runtime::sqlite::tsql_error;
use selenite_tsql::ast::{self, AlterRoleAction, Setting, UserSource};

use super::{error, refused, special};
use crate::catalog::directory::Directory;
use crate::catalog::fixed_role::{FixedRole, UNSUPPORTED};
use crate::catalog::principals::{Principals, User, ensure, not_there};
use crate::catalog::schema_names::SchemaNames;

/// What a change of users is carried out with.
pub(crate) struct UserWork<'a> {
    /// The database, in a transaction that writes.
    pub connection: &'a Connection,
    /// The users before it.
    pub present: &'a Principals,
    /// The schemas.
    pub schemas: &'a SchemaNames,
    /// The logins.
    pub directory: &'a Directory,
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
            "INSERT INTO main.selenite_user (id, name, folded, sid, created, modified, default_schema) \
             VALUES ((SELECT max(5, ifnull(max(id), 0) + 1) FROM main.selenite_user), ?1, ?2, ?3, ?4, ?4, ?5)",
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

    pub fn drop_user(&self, name: &str, if_exists: bool) -> Result<(), SqlError> {
        if self.present.named(name).is_none() && if_exists && !is_reserved(name) {
            return Ok(());
        }
        if is_reserved(name) {
            return Err(error(15150, format!("Cannot drop the user '{name}'.")));
        }
        let user = self.known(name, "drop")?;
        if self.schemas.all().iter().any(|schema| schema.owner == user.id) {
            let text = "The database principal owns a schema in the database, and cannot be dropped.";
            return Err(error(15138, text.to_owned()));
        }
        self.execute("DELETE FROM main.selenite_member WHERE member = ?1", [user.id])?;
        self.execute("DELETE FROM main.selenite_user WHERE id = ?1", [user.id])
    }

    pub fn alter_role(&self, alter: &ast::AlterRole) -> Result<(), SqlError> {
        let name = alter.name.text.as_str();
        let Some(role) = FixedRole::of_name(name) else {
            return match UNSUPPORTED.iter().any(|known| same_name(known, name)) {
                true => Err(refused(&format!("The role '{name}'"))),
                false => Err(not_there("alter", "role", name)),
            };
        };
        match &alter.action {
            AlterRoleAction::AddMember(member) => self.add_member(role, &member.text),
            AlterRoleAction::DropMember(member) => self.drop_member(role, &member.text),
            AlterRoleAction::Rename(_) => Err(error(15150, format!("Cannot alter the role '{name}'."))),
        }
    }

    pub fn add_member(&self, role: FixedRole, member: &str) -> Result<(), SqlError> {
        let user = self.member(member, "add")?;
        let sql = "INSERT OR IGNORE INTO main.selenite_member (role, member) VALUES (?1, ?2)";
        self.execute(sql, (role.id(), user.id))
    }

    pub fn drop_member(&self, role: FixedRole, member: &str) -> Result<(), SqlError> {
        let user = self.member(member, "drop")?;
        let sql = "DELETE FROM main.selenite_member WHERE role = ?1 AND member = ?2";
        self.execute(sql, (role.id(), user.id))
    }

    fn member(&self, name: &str, verb: &str) -> Result<&User, SqlError> {
        if is_reserved(name) {
            return Err(special(name));
        }
        if is_role(name) {
            return Err(refused("A role in another role"));
        }
        self.present
            .named(name)
            .ok_or_else(|| not_there(verb, "principal", name))
    }

    fn known(&self, name: &str, verb: &str) -> Result<&User, SqlError> {
        if is_reserved(name) {
            return Err(error(15150, format!("Cannot {verb} the user '{name}'.")));
        }
        self.present.named(name).ok_or_else(|| not_there(verb, "user", name))
    }

    /// 15023.
    fn check_free(&self, name: &str) -> Result<(), SqlError> {
        if self.present.named(name).is_none() && !is_reserved(name) && !is_role(name) {
            return Ok(());
        }
        let text = format!("User, group, or role '{name}' already exists in the current database.");
        Err(error(15023, text))
    }

    fn check_name(&self, name: &str) -> Result<(), SqlError> {
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

    fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), SqlError> {
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
fn is_reserved(name: &str) -> bool {
    ["dbo", "guest", "sys", "INFORMATION_SCHEMA"]
        .iter()
        .any(|known| same_name(known, name))
}

fn is_role(name: &str) -> bool {
    same_name(name, "public")
        || FixedRole::of_name(name).is_some()
        || UNSUPPORTED.iter().any(|known| same_name(known, name))
}

fn now() -> i64 {
    i64::try_from(selenite::now()).unwrap_or(i64::MAX)
}

/// sa's principal id.
const SA: i64 = 1;
