//! The users of a database and the roles that they are in, in two tables of its file.

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::sqlite::tsql_error;

use crate::catalog::fixed_role::FixedRole;

/// The users of a database.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Principals {
    users: Vec<User>,
    members: Vec<(FixedRole, i32)>,
}

/// A user: a login in a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct User {
    /// Its principal id, from 5 up.
    pub id: i32,
    /// Its name.
    pub name: String,
    /// The security id of its login.
    pub sid: Vec<u8>,
    /// The schema of its names without one, which need not exist.
    pub default_schema: String,
    /// When it was created: seconds since 1970-01-01 UTC.
    pub created: i64,
    /// When it was last changed.
    pub modified: i64,
}

impl Principals {
    /// Reads those of a connection's `main`; empty if there never were any.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn load(connection: &Connection) -> Result<Self, SqlError> {
        let read = || -> rusqlite::Result<Self> {
            let table = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'selenite_user'";
            if connection.query_row(table, [], |_| Ok(())).optional()?.is_none() {
                return Ok(Self::default());
            }
            let schema = match has_default_schema(connection)? {
                true => "default_schema",
                false => "NULL",
            };
            let sql = format!("SELECT id, name, sid, created, modified, {schema} FROM main.selenite_user ORDER BY id");
            let mut statement = connection.prepare(&sql)?;
            let users = statement.query_map([], |row| {
                Ok(User {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    sid: row.get(2)?,
                    created: row.get(3)?,
                    modified: row.get(4)?,
                    default_schema: row.get::<_, Option<String>>(5)?.unwrap_or_else(|| SCHEMA.to_owned()),
                })
            })?;
            let users = users.collect::<Result<Vec<_>, _>>()?;
            let mut statement =
                connection.prepare("SELECT role, member FROM main.selenite_member ORDER BY role, member")?;
            let members = statement.query_map([], |row| Ok((row.get::<_, i32>(0)?, row.get::<_, i32>(1)?)))?;
            let members = members.collect::<Result<Vec<_>, _>>()?.into_iter();
            // A role of a later version has no meaning here.
            let members = members.filter_map(|(role, member)| Some((FixedRole::of_id(role)?, member)));
            Ok(Self {
                users,
                members: members.collect(),
            })
        };
        read().map_err(|error| tsql_error(&error))
    }

    /// All users, by rising id.
    pub fn users(&self) -> &[User] {
        &self.users
    }

    /// All memberships: a role, and a user's id.
    pub fn members(&self) -> &[(FixedRole, i32)] {
        &self.members
    }

    /// The user of that name.
    pub fn named(&self, name: &str) -> Option<&User> {
        self.users.iter().find(|user| same_name(&user.name, name))
    }

    /// The id of a user or role; 0 for `public`.
    pub fn id_of(&self, name: &str) -> Option<i32> {
        let user = || self.named(name).map(|user| user.id);
        match name {
            name if same_name(name, "public") => Some(0),
            name if same_name(name, "dbo") => Some(1),
            name => FixedRole::of_name(name).map(FixedRole::id).or_else(user),
        }
    }

    /// The user of a login.
    pub fn of_login(&self, sid: &[u8]) -> Option<&User> {
        self.users.iter().find(|user| user.sid == sid)
    }

    /// Whether a user is in a role.
    pub fn is_member(&self, role: FixedRole, user: i32) -> bool {
        self.members.contains(&(role, user))
    }
}

/// Creates the tables, if they do not exist; one of an earlier version gets the column that it lacks.
pub(crate) fn ensure(connection: &Connection) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        connection.execute_batch(TABLES)?;
        if !has_default_schema(connection)? {
            connection.execute_batch("ALTER TABLE main.selenite_user ADD COLUMN default_schema TEXT")?;
        }
        Ok(())
    };
    run().map_err(|error| tsql_error(&error))
}

fn has_default_schema(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM pragma_table_info('selenite_user', 'main') WHERE name = 'default_schema'";
    Ok(connection.query_row(sql, [], |_| Ok(())).optional()?.is_some())
}

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS main.selenite_user (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    sid BLOB NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    default_schema TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS main.selenite_member (
    role INTEGER NOT NULL,
    member INTEGER NOT NULL,
    PRIMARY KEY (role, member)
) STRICT, WITHOUT ROWID;
";

/// 15151: `verb` as in `alter`, `kind` as in `login`.
pub fn not_there(verb: &str, kind: &str, name: &str) -> SqlError {
    let text = format!("Cannot {verb} the {kind} '{name}', because it does not exist or you do not have permission.");
    SqlError::new(15151, Ends::Statement, text)
}
