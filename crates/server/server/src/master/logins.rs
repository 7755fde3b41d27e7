//! Logins.

use rusqlite::{Connection, OptionalExtension, Row};
use selenite_keyring::os_random;

use super::server_principal::{check_free, check_name, forget_principal, next_id};
use super::{Master, MasterError, folded, now};
use crate::password::{PasswordCost, PasswordHash};

/// A login as it is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoginRecord {
    /// Its principal id: sa is 1.
    pub id: i64,
    /// Its name as it was created.
    pub name: String,
    /// Its security id.
    pub sid: [u8; 16],
    /// Whether it is an administrator.
    pub is_administrator: bool,
    /// Whether it is disabled.
    pub is_disabled: bool,
    /// Whether a new password has to be chosen before anything else.
    pub must_change: bool,
    /// Its default database.
    pub default_database: String,
    /// When it was created: seconds since 1970-01-01 UTC.
    pub created: i64,
    /// When it was last changed.
    pub modified: i64,
    /// When its password was set.
    pub password_set: i64,
    /// Failed logins from addresses without an earlier success of this login.
    pub attempts: Attempts,
    /// CHECK_POLICY: whether a new password must satisfy the policy.
    pub checks_policy: bool,
    /// CHECK_EXPIRATION: whether its password expires.
    pub checks_expiration: bool,
}

impl LoginRecord {
    /// Whether its password has expired. `now` is in seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn is_expired(&self, now: i64) -> bool {
        self.checks_expiration && now > self.password_set.saturating_add(PASSWORD_AGE_SECONDS_MAX)
    }
}

/// Consecutive failed logins.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Attempts {
    /// How many there were since the last success.
    pub failure_count: u32,
    /// The time of the last one: seconds since 1970-01-01 UTC.
    pub failure_last: i64,
    /// Until when the login is locked; 0 if it is not.
    pub locked_until: i64,
}

/// A login to be created.
pub struct NewLogin<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its security id; random if none is given.
    pub sid: Option<[u8; 16]>,
    /// The hash of its password.
    pub password: &'a PasswordHash,
    /// Whether it has to be changed at the first login.
    pub must_change: bool,
    /// Its default database.
    pub default_database: &'a str,
}

impl Master {
    /// All logins, by rising id.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn logins(&self) -> Result<Vec<LoginRecord>, MasterError> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} {FROM} ORDER BY id"))?;
            let rows = statement.query_map([], record)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The login of that name, case-insensitively.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn login(&self, name: &str) -> Result<Option<LoginRecord>, MasterError> {
        self.with(|connection| find(connection, name))
    }

    /// The login of that name with its password's hash.
    pub(crate) fn login_and_hash(&self, name: &str) -> Result<Option<(LoginRecord, PasswordHash)>, MasterError> {
        // One query, whether or not there is such a login.
        self.with(|connection| {
            let mut asked = connection.prepare_cached(&format!("SELECT {COLUMNS}, {HASH} WHERE folded = ?1"))?;
            let found = asked.query_row([folded(name)], |row| {
                let hash = PasswordHash {
                    hash: row.get("hash")?,
                    salt: row.get("salt")?,
                    cost: PasswordCost {
                        memory_kib: row.get("memory_kib")?,
                        passes: row.get("passes")?,
                    },
                };
                Ok((record(row)?, hash))
            });
            Ok(found.optional()?)
        })
    }

    /// Creates a login.
    ///
    /// # Errors
    /// [`MasterError::Taken`] for its name or security id; [`MasterError::Name`]; SQLite's error.
    pub fn add_login(&self, new: &NewLogin<'_>) -> Result<LoginRecord, MasterError> {
        check_name(new.name)?;
        let sid = new.sid.unwrap_or_else(|| {
            let mut sid = [0; 16];
            os_random(&mut sid);
            sid
        });
        self.change(|connection| {
            check_free(connection, new.name, &sid)?;
            let id = next_id(connection)?;
            connection.execute(
                "INSERT INTO selenite_login (id, name, folded, sid, default_database, created, modified) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                (id, new.name, folded(new.name), sid, new.default_database, now()),
            )?;
            store_password(connection, id, new.password, new.must_change)?;
            find(connection, new.name)?.ok_or_else(|| MasterError::Unknown(new.name.to_owned()))
        })
    }

    /// Sets a login's password.
    ///
    /// # Errors
    /// [`MasterError::Unknown`], also if another login has its name by now; SQLite's error.
    pub fn set_password(
        &self,
        login: &LoginRecord,
        password: &PasswordHash,
        must_change: bool,
    ) -> Result<(), MasterError> {
        self.change(|connection| match known(connection, &login.name)? {
            now if now.sid == login.sid => store_password(connection, now.id, password, must_change),
            other => Err(MasterError::Unknown(other.name)),
        })
    }

    /// Sets whether a new password must satisfy the policy, and whether it expires.
    ///
    /// # Errors
    /// [`MasterError::Unknown`]; SQLite's error.
    pub fn set_policy(&self, name: &str, checks_policy: bool, checks_expiration: bool) -> Result<(), MasterError> {
        self.change(|connection| {
            let login = known(connection, name)?;
            let sql =
                "UPDATE selenite_login SET checks_policy = ?2, checks_expiration = ?3, modified = ?4 WHERE id = ?1";
            connection.execute(sql, (login.id, checks_policy, checks_expiration, now()))?;
            Ok(())
        })
    }

    /// Disables or enables it.
    ///
    /// # Errors
    /// [`MasterError::Unknown`]; SQLite's error.
    pub fn set_disabled(&self, name: &str, is_disabled: bool) -> Result<(), MasterError> {
        self.set(name, "is_disabled", &is_disabled)
    }

    /// Makes it an administrator, or ends that.
    ///
    /// # Errors
    /// [`MasterError::Unknown`]; [`MasterError::Reserved`] for sa, which always may; SQLite's error.
    pub fn set_administrator(&self, name: &str, is_administrator: bool) -> Result<(), MasterError> {
        if !is_administrator && self.with(|connection| known(connection, name))?.id == SA {
            return Err(MasterError::Reserved(name.to_owned()));
        }
        self.set(name, "is_administrator", &is_administrator)
    }

    /// Sets its default database.
    ///
    /// # Errors
    /// [`MasterError::Unknown`]; SQLite's error.
    pub fn set_default_database(&self, name: &str, database: &str) -> Result<(), MasterError> {
        self.set(name, "default_database", &database)
    }

    /// Renames it.
    ///
    /// # Errors
    /// [`MasterError::Unknown`]; [`MasterError::Taken`]; [`MasterError::Name`]; SQLite's error.
    pub fn rename_login(&self, name: &str, new_name: &str) -> Result<(), MasterError> {
        check_name(new_name)?;
        self.change(|connection| {
            let login = known(connection, name)?;
            if folded(new_name) != folded(&login.name) {
                check_free(connection, new_name, &[])?;
            }
            connection.execute(
                "UPDATE selenite_login SET name = ?2, folded = ?3, modified = ?4 WHERE id = ?1",
                (login.id, new_name, folded(new_name), now()),
            )?;
            Ok(())
        })
    }

    /// Removes it.
    ///
    /// # Errors
    /// [`MasterError::Unknown`]; [`MasterError::Reserved`] for sa; SQLite's error.
    pub fn remove_login(&self, name: &str) -> Result<(), MasterError> {
        self.change(|connection| {
            let login = known(connection, name)?;
            if login.id == SA {
                return Err(MasterError::Reserved(login.name));
            }
            forget_principal(connection, &login.sid)?;
            connection.execute("DELETE FROM selenite_login WHERE id = ?1", [login.id])?;
            Ok(())
        })
    }

    /// Stores the state of failed logins.
    pub(crate) fn store_attempts(&self, id: i64, attempts: Attempts) -> Result<(), MasterError> {
        self.with(|connection| {
            connection.execute(
                "UPDATE selenite_login SET failure_count = ?2, failure_last = ?3, locked_until = ?4 WHERE id = ?1",
                (id, attempts.failure_count, attempts.failure_last, attempts.locked_until),
            )?;
            Ok(())
        })
    }

    /// Counts an attempt of a login that does not exist.
    pub(crate) fn count_unknown_login(&self) -> Result<(), MasterError> {
        self.with(|connection| {
            connection.execute(
                "INSERT INTO selenite_setting (name, value) VALUES ('unknown_login_count', 1) \
                 ON CONFLICT (name) DO UPDATE SET value = value + 1",
                [],
            )?;
            Ok(())
        })
    }

    fn set(&self, name: &str, column: &'static str, value: &dyn rusqlite::ToSql) -> Result<(), MasterError> {
        self.change(|connection| {
            let login = known(connection, name)?;
            let sql = format!("UPDATE selenite_login SET {column} = ?2, modified = ?3 WHERE id = ?1");
            connection.execute(&sql, (login.id, value, now()))?;
            Ok(())
        })
    }
}

pub(super) fn store_password(
    connection: &Connection,
    id: i64,
    password: &PasswordHash,
    must_change: bool,
) -> Result<(), MasterError> {
    let sql = "UPDATE selenite_login SET hash = ?2, salt = ?3, memory_kib = ?4, passes = ?5, must_change = ?6, \
        password_set = ?7, modified = ?7 WHERE id = ?1";
    let PasswordCost { memory_kib, passes } = password.cost;
    connection.execute(
        sql,
        (id, password.hash, password.salt, memory_kib, passes, must_change, now()),
    )?;
    Ok(())
}

/// A database has another name: the logins that begin in it still do.
pub(super) fn rename_default_database(connection: &Connection, name: &str, new: &str) -> Result<(), MasterError> {
    let mut asked = connection.prepare("SELECT id, default_database FROM selenite_login")?;
    let logins = asked.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let logins: Vec<(i64, String)> = logins.collect::<Result<_, _>>()?;
    for (id, database) in logins {
        if folded(&database) == folded(name) {
            connection.execute(
                "UPDATE selenite_login SET default_database = ?2 WHERE id = ?1",
                (id, new),
            )?;
        }
    }
    Ok(())
}

fn known(connection: &Connection, name: &str) -> Result<LoginRecord, MasterError> {
    find(connection, name)?.ok_or_else(|| MasterError::Unknown(name.to_owned()))
}

fn find(connection: &Connection, name: &str) -> Result<Option<LoginRecord>, MasterError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} {FROM} WHERE folded = ?1"))?;
    Ok(statement.query_row([folded(name)], record).optional()?)
}

fn record(row: &Row<'_>) -> rusqlite::Result<LoginRecord> {
    Ok(LoginRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        sid: row.get(2)?,
        is_administrator: row.get(3)?,
        is_disabled: row.get(4)?,
        must_change: row.get(5)?,
        default_database: row.get(6)?,
        created: row.get(7)?,
        modified: row.get(8)?,
        password_set: row.get(9)?,
        attempts: Attempts {
            failure_count: row.get(10)?,
            failure_last: row.get(11)?,
            locked_until: row.get(12)?,
        },
        checks_policy: row.get(13)?,
        checks_expiration: row.get(14)?,
    })
}

const COLUMNS: &str = "id, name, sid, is_administrator, is_disabled, must_change, default_database, created, modified, \
    password_set, failure_count, failure_last, locked_until, checks_policy, checks_expiration";
const FROM: &str = "FROM selenite_login";
const HASH: &str = "hash, salt, memory_kib, passes FROM selenite_login";
/// 42 days: Windows' own default, which SQL Server adopts.
const PASSWORD_AGE_SECONDS_MAX: i64 = 42 * 86_400;
/// sa's principal id.
pub const SA: i64 = 1;
