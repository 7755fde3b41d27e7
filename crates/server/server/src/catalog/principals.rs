//! The users and roles of a database, and who is in which role, in three tables of its file.

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::sqlite::tsql_error;

use crate::catalog::fixed_role::FixedRole;
use crate::catalog::grants::{self, Grant, GrantState};
use crate::catalog::permission_kind::{Class, PermissionKind};
use crate::master::{MASTER, TEMPDB};

/// The users and roles of a database, and their permissions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Principals {
    users: Vec<User>,
    roles: Vec<Role>,
    members: Vec<(i32, i32)>,
    grants: Vec<Grant>,
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

/// A role of CREATE ROLE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Role {
    /// Its principal id, from 5 up, which no user has.
    pub id: i32,
    /// Its name.
    pub name: String,
    /// The principal that owns it.
    pub owner: i32,
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
            let grants = grants::load(connection)?;
            if !has_table(connection, "selenite_user")? {
                return Ok(Self {
                    grants,
                    ..Self::default()
                });
            }
            let mut statement =
                connection.prepare("SELECT role, member FROM main.selenite_member ORDER BY role, member")?;
            let members = statement.query_map([], |row| Ok((row.get::<_, i32>(0)?, row.get::<_, i32>(1)?)))?;
            Ok(Self {
                users: load_users(connection)?,
                roles: load_roles(connection)?,
                members: members.collect::<Result<Vec<_>, _>>()?,
                grants,
            })
        };
        read().map_err(|error| tsql_error(&error))
    }

    /// All users, by rising id.
    pub fn users(&self) -> &[User] {
        &self.users
    }

    /// All roles of CREATE ROLE, by rising id.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// All memberships: a role's id, and that of a user or role in it.
    pub fn members(&self) -> &[(i32, i32)] {
        &self.members
    }

    /// All permissions that were granted or denied.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// The user of that name.
    pub fn named(&self, name: &str) -> Option<&User> {
        self.users.iter().find(|user| same_name(&user.name, name))
    }

    /// The role of that name, if CREATE ROLE made it.
    pub fn role_named(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| same_name(&role.name, name))
    }

    /// The id of the user or role of a name, of which every database may have one.
    pub fn any_id_of(&self, name: &str) -> Option<i32> {
        match name {
            name if same_name(name, "public") => Some(PUBLIC),
            name if same_name(name, "dbo") => Some(1),
            name => FixedRole::of_name(name).map(FixedRole::id).or_else(|| self.id_of(name)),
        }
    }

    /// The id of the user, or role of CREATE ROLE, of a name.
    pub fn id_of(&self, name: &str) -> Option<i32> {
        let role = || self.role_named(name).map(|role| role.id);
        self.named(name).map(|user| user.id).or_else(role)
    }

    /// The name of the user, or role of CREATE ROLE, of an id.
    pub fn name_of_id(&self, id: i32) -> Option<&str> {
        let user = self.users.iter().find(|user| user.id == id).map(|user| &user.name);
        let role = || self.roles.iter().find(|role| role.id == id).map(|role| &role.name);
        user.or_else(role).map(String::as_str)
    }

    /// The user of a login.
    pub fn of_login(&self, sid: &[u8]) -> Option<&User> {
        self.users.iter().find(|user| user.sid == sid)
    }

    /// The users and roles that own the database, or may in any number of steps: `dbo` and members of `db_owner`.
    pub fn owners(&self) -> Vec<i32> {
        self.leading_to(vec![DBO, FixedRole::Owner.id()])
    }

    /// The users and roles that have what `db_securityadmin` may not give, or may in any number of steps: the owners, who
    /// has CONTROL of the database, and who has a permission on a user. What everyone has leads to nothing more.
    pub fn above_security(&self) -> Vec<i32> {
        let is_above = |grant: &&Grant| match grant.on.class {
            Class::Database => grant.kind == PermissionKind::Control,
            Class::User => true,
            Class::Object
            | Class::Schema
            | Class::Type
            | Class::SymmetricKey
            | Class::Certificate
            | Class::AsymmetricKey => false,
        };
        let grants = self.grants.iter().filter(|grant| grant.state.is_granted());
        let above = grants.filter(is_above).map(|grant| grant.grantee);
        let above = above.filter(|grantee| *grantee != PUBLIC);
        self.leading_to([DBO, FixedRole::Owner.id()].into_iter().chain(above).collect())
    }

    /// These, and who may become one of them, in any number of steps: members, who may execute as one of them, and who
    /// owns a role of them.
    fn leading_to(&self, mut found: Vec<i32>) -> Vec<i32> {
        let mut at = 0;
        while let Some(own) = found.get(at).copied() {
            let members = self.members.iter().filter(|(role, _)| *role == own);
            let owners = self.roles.iter().filter(|role| role.id == own);
            let executes = |grant: &&Grant| {
                grant.state.is_granted()
                    && (grant.on.class, grant.on.major_id) == (Class::User, own)
                    && grant.kind.covers(Class::User, PermissionKind::Impersonate)
            };
            let grants = self.grants.iter().filter(executes);
            let members = members.map(|(_, member)| *member);
            let next = members.chain(owners.map(|role| role.owner));
            for id in next.chain(grants.map(|grant| grant.grantee)) {
                if !found.contains(&id) {
                    found.push(id);
                }
            }
            at += 1;
        }
        found
    }

    /// Whether a login may use the database: it has a user, or CONTROL SERVER, and CONNECT is not denied to it.
    pub fn lets_in(&self, sid: &[u8], has_control: bool) -> bool {
        let own = match self.of_login(sid) {
            Some(user) => self.with_roles(user.id),
            None if has_control => vec![GUEST, PUBLIC],
            None => return false,
        };
        let keeps_out = |grant: &Grant| {
            grant.on.class == Class::Database
                && grant.state == GrantState::Denied
                && grant.kind.covers(Class::Database, PermissionKind::Connect)
                && own.contains(&grant.grantee)
        };
        !self.grants.iter().any(keeps_out)
    }

    /// A principal and all roles that it is in, through other roles, too; everyone is in `public`.
    pub fn with_roles(&self, principal: i32) -> Vec<i32> {
        let mut found = vec![principal];
        let mut at = 0;
        while let Some(member) = found.get(at).copied() {
            for (role, _) in self.members.iter().filter(|(_, known)| *known == member) {
                if !found.contains(role) {
                    found.push(*role);
                }
            }
            at += 1;
        }
        found.push(PUBLIC);
        found
    }
}

fn load_users(connection: &Connection) -> rusqlite::Result<Vec<User>> {
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
    users.collect()
}

fn load_roles(connection: &Connection) -> rusqlite::Result<Vec<Role>> {
    if !has_table(connection, "selenite_role")? {
        return Ok(Vec::new());
    }
    let sql = "SELECT id, name, owner, created, modified FROM main.selenite_role ORDER BY id";
    let mut statement = connection.prepare(sql)?;
    let roles = statement.query_map([], |row| {
        Ok(Role {
            id: row.get(0)?,
            name: row.get(1)?,
            owner: row.get(2)?,
            created: row.get(3)?,
            modified: row.get(4)?,
        })
    })?;
    roles.collect()
}

fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?1";
    Ok(connection.query_row(sql, [name], |_| Ok(())).optional()?.is_some())
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

/// Makes the login of a new database's creator a user of it, in `db_owner`.
///
/// # Errors
/// SQLite's error.
pub fn add_owner(connection: &Connection, (name, sid): (&str, &[u8]), now: i64) -> Result<(), SqlError> {
    ensure(connection)?;
    let run = || -> rusqlite::Result<()> {
        let sql = format!(
            "INSERT INTO main.selenite_user (id, name, folded, sid, created, modified, default_schema) \
             VALUES ({NEXT_ID}, ?1, ?2, ?3, ?4, ?4, ?5)"
        );
        connection.execute(&sql, (name, crate::master::folded(name), sid, now, SCHEMA))?;
        let sql =
            "INSERT INTO main.selenite_member (role, member) SELECT ?1, id FROM main.selenite_user WHERE sid = ?2";
        connection.execute(sql, (FixedRole::Owner.id(), sid)).map(drop)
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
CREATE TABLE IF NOT EXISTS main.selenite_role (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    owner INTEGER NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS main.selenite_member (
    role INTEGER NOT NULL,
    member INTEGER NOT NULL,
    PRIMARY KEY (role, member)
) STRICT, WITHOUT ROWID;
";

/// The id of a new user or role, of which none has the other's.
pub(crate) const NEXT_ID: &str = "(SELECT max(5, ifnull(max(id), 0) + 1) FROM \
     (SELECT id FROM main.selenite_user UNION ALL SELECT id FROM main.selenite_role))";

/// The role that everyone is in.
pub const PUBLIC: i32 = 0;

/// 15151: `verb` as in `alter`, `kind` as in `login`.
pub fn not_there(verb: &str, kind: &str, name: &str) -> SqlError {
    let text = format!("Cannot {verb} the {kind} '{name}', because it does not exist or you do not have permission.");
    SqlError::new(15151, Ends::Statement, text)
}

/// Whether logins without a user may use a database.
#[must_use]
pub fn has_guests(database_id: i32) -> bool {
    [MASTER, TEMPDB, MSDB].contains(&database_id)
}

/// Ids of SQL Server's.
pub const DBO: i32 = 1;
/// The user of logins without a user of their own.
pub const GUEST: i32 = 2;
const MSDB: i32 = 4;
