//! Roles of the server that CREATE SERVER ROLE makes.
//!
//! `known-by-security-ids`: what a role was granted is kept by its security id, which is random and never given again.

use rusqlite::Connection;
use selenite_keyring::os_random;

use super::server_principal::{check_free, check_name, forget_principal, next_id};
use super::{Master, MasterError, folded, now};

/// A role of CREATE SERVER ROLE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UserServerRole {
    /// Its principal id, which no login has.
    pub id: i32,
    /// Its name as it was created.
    pub name: String,
    /// Its security id.
    pub sid: Vec<u8>,
    /// The security id of the login or role that owns it.
    pub owner: Vec<u8>,
    /// When it was created: seconds since 1970-01-01 UTC.
    pub created: i64,
    /// When it was last changed.
    pub modified: i64,
}

impl Master {
    /// Creates a role.
    ///
    /// # Errors
    /// [`MasterError::Taken`] for the name of a login or role; [`MasterError::Name`]; SQLite's error.
    pub fn add_server_role(&self, name: &str, owner: &[u8]) -> Result<(), MasterError> {
        check_name(name)?;
        let mut sid = [0; 16];
        os_random(&mut sid);
        self.change(|connection| {
            check_free(connection, name, &sid)?;
            let id = next_id(connection)?;
            connection.execute("DELETE FROM selenite_server_member WHERE role = ?1", [id])?;
            connection.execute(
                "INSERT INTO selenite_server_role (id, name, folded, sid, owner, created, modified) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                (id, name, folded(name), sid, owner, now()),
            )?;
            Ok(())
        })
    }

    /// Renames a role.
    ///
    /// # Errors
    /// [`MasterError::Taken`] for the name of another login or role; [`MasterError::Name`]; SQLite's error.
    pub fn rename_server_role(&self, role: &UserServerRole, new: &str) -> Result<(), MasterError> {
        check_name(new)?;
        self.change(|connection| {
            if folded(new) != folded(&role.name) {
                check_free(connection, new, &[])?;
            }
            connection.execute(
                "UPDATE selenite_server_role SET name = ?2, folded = ?3, modified = ?4 WHERE sid = ?1",
                (&role.sid, new, folded(new), now()),
            )?;
            Ok(())
        })
    }

    /// Gives a role to another login or role.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn set_server_role_owner(&self, role: &UserServerRole, owner: &[u8]) -> Result<(), MasterError> {
        self.change(|connection| {
            connection.execute(
                "UPDATE selenite_server_role SET owner = ?2, modified = ?3 WHERE sid = ?1",
                (&role.sid, owner, now()),
            )?;
            Ok(())
        })
    }

    /// Removes a role, what it was granted, and its memberships.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn remove_server_role(&self, role: &UserServerRole) -> Result<(), MasterError> {
        self.change(|connection| {
            forget_principal(connection, &role.sid)?;
            connection.execute("DELETE FROM selenite_server_member WHERE role = ?1", [role.id])?;
            connection.execute("DELETE FROM selenite_server_role WHERE sid = ?1", [&role.sid])?;
            Ok(())
        })
    }
}

/// All of them, by rising number.
pub(super) fn load(connection: &Connection) -> Result<Vec<UserServerRole>, MasterError> {
    let sql = "SELECT id, name, sid, owner, created, modified FROM selenite_server_role ORDER BY id";
    let mut asked = connection.prepare_cached(sql)?;
    let roles = asked.query_map([], |row| {
        Ok(UserServerRole {
            id: row.get(0)?,
            name: row.get(1)?,
            sid: row.get(2)?,
            owner: row.get(3)?,
            created: row.get(4)?,
            modified: row.get(5)?,
        })
    })?;
    Ok(roles.collect::<Result<_, _>>()?)
}

pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS selenite_last_principal (id INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS selenite_server_role (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    sid BLOB NOT NULL UNIQUE,
    owner BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL
) STRICT;
";
