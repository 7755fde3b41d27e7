//! The server's tables in master.db.

use rusqlite::{Connection, OptionalExtension};
use selenite_keyring::os_random;

use super::{MasterError, folded, now};
use crate::password::PasswordHash;

/// Creates the tables, if they do not exist, and adds what those of the first servers do not have.
pub fn create(connection: &Connection) -> Result<(), MasterError> {
    connection.execute_batch(TABLES)?;
    connection.execute_batch(super::key_management::TABLES)?;
    connection.execute_batch(super::keys::TABLES)?;
    connection.execute_batch(super::server_security::TABLES)?;
    connection.execute_batch(super::server_role::TABLES)?;
    upgrade(connection)?;
    super::keys::upgrade(connection)?;
    fold_again(connection)
}

/// The contents of a new server's tables.
pub fn fill(connection: &Connection, administrator: &PasswordHash) -> Result<(), MasterError> {
    let now = now();
    for (id, name) in RESERVED {
        connection.execute(
            "INSERT INTO selenite_database (id, name, folded, created) VALUES (?1, ?2, ?2, ?3)",
            (id, name, now),
        )?;
    }
    // The first byte of sa's security id is the same in all of SQL Server's servers.
    let mut sid = [0; 16];
    sid[0] = 1;
    connection.execute(
        "INSERT INTO selenite_login (id, name, folded, sid, is_administrator, default_database, created, modified) \
         VALUES (1, 'sa', 'sa', ?1, 1, 'master', ?2, ?2)",
        (sid, now),
    )?;
    super::logins::store_password(connection, 1, administrator, false)?;
    let mut instance = [0; 16];
    os_random(&mut instance);
    connection.execute(
        "INSERT INTO selenite_setting (name, value) VALUES ('instance', ?1)",
        [instance],
    )?;
    connection.execute(
        "INSERT INTO selenite_setting (name, value) VALUES (?1, 1)",
        [COMMITMENTS],
    )?;
    connection.execute(
        "INSERT INTO selenite_setting (name, value) VALUES ('version', ?1)",
        [VERSION],
    )?;
    Ok(())
}

/// Whether the commitments of databases are noted. An older server has noted none.
pub fn has_commitments(connection: &Connection) -> Result<bool, MasterError> {
    let sql = "SELECT 1 FROM selenite_setting WHERE name = ?1";
    Ok(connection
        .query_row(sql, [COMMITMENTS], |_| Ok(()))
        .optional()?
        .is_some())
}

/// They are noted from now on.
pub fn set_commitments(connection: &Connection) -> Result<(), MasterError> {
    let sql = "INSERT OR IGNORE INTO selenite_setting (name, value) VALUES (?1, 1)";
    connection.execute(sql, [COMMITMENTS])?;
    Ok(())
}

/// Whether the tables exist and are filled. A start that was cut off leaves them otherwise.
///
/// `NotMaster` for a database that has others and no version: one of the server's own databases, say, that was renamed.
pub fn check(connection: &Connection) -> Result<bool, MasterError> {
    let Some(version) = version(connection)? else {
        return check_unfinished(connection).map(|()| false);
    };
    match version {
        VERSION => Ok(true),
        version => Err(MasterError::Version(version)),
    }
}

fn version(connection: &Connection) -> Result<Option<i64>, MasterError> {
    let table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'selenite_setting'";
    if connection.query_row(table, [], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    let version = "SELECT value FROM selenite_setting WHERE name = 'version'";
    Ok(connection.query_row(version, [], |row| row.get(0)).optional()?)
}

/// A start that was cut off leaves no tables but those of a master.db.
fn check_unfinished(connection: &Connection) -> Result<(), MasterError> {
    let ours = Connection::open_in_memory()?;
    create(&ours)?;
    let ours = tables(&ours)?;
    match tables(connection)?.into_iter().find(|table| !ours.contains(table)) {
        Some(table) => Err(MasterError::NotMaster(table)),
        None => Ok(()),
    }
}

fn tables(connection: &Connection) -> Result<Vec<String>, MasterError> {
    let mut asked = connection.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger')")?;
    let names = asked.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Adds what the first servers did not have. They can still read it.
fn upgrade(connection: &Connection) -> Result<(), MasterError> {
    for (table, column, declared) in ADDED {
        let there = "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2";
        if connection
            .query_row(there, [table, column], |_| Ok(()))
            .optional()?
            .is_none()
        {
            connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {declared}"))?;
            if column == "allows_deprecated" {
                connection.execute_batch(CHOSEN_BEFORE)?;
            }
        }
    }
    Ok(())
}

/// Earlier servers folded a final sigma otherwise than names are compared. A name that is taken now keeps what it had.
fn fold_again(connection: &Connection) -> Result<(), MasterError> {
    let tables = "SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name = 'folded'";
    let mut asked = connection.prepare(tables)?;
    let tables = asked.query_map([], |row| row.get::<_, String>(0))?;
    for table in tables.collect::<Result<Vec<_>, _>>()? {
        let mut asked = connection.prepare(&format!("SELECT id, name, folded FROM {table}"))?;
        let rows = asked.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for (id, name, kept) in rows.collect::<Result<Vec<(i64, String, String)>, _>>()? {
            if folded(&name) != kept {
                let sql = format!("UPDATE OR IGNORE {table} SET folded = ?2 WHERE id = ?1");
                connection.execute(&sql, (id, folded(&name)))?;
            }
        }
    }
    Ok(())
}

/// The setting that records it.
const COMMITMENTS: &str = "commitments";

/// What the first servers did not have.
const ADDED: [(&str, &str, &str); 11] = [
    ("selenite_login", "checks_policy", "INTEGER NOT NULL DEFAULT 1"),
    ("selenite_login", "checks_expiration", "INTEGER NOT NULL DEFAULT 0"),
    ("selenite_database", "unfinished", "TEXT NOT NULL DEFAULT ''"),
    ("selenite_database", "file_id", "BLOB"),
    ("selenite_database", "next_file_id", "BLOB"),
    ("selenite_database", "must_be_encrypted", "INTEGER NOT NULL DEFAULT 0"),
    ("selenite_database", "allows_deprecated", "INTEGER NOT NULL DEFAULT 0"),
    ("selenite_database", "commitment", "BLOB"),
    ("selenite_database", "options", "TEXT NOT NULL DEFAULT ''"),
    ("selenite_database", "file_name", "TEXT NOT NULL DEFAULT ''"),
    // An earlier key belongs to a database that is encrypted, unless its file says otherwise.
    ("selenite_encryption_key", "tde", "TEXT NOT NULL DEFAULT 'on'"),
];

/// Databases that were encrypted with a deprecated suite before that was noted.
const CHOSEN_BEFORE: &str = "UPDATE selenite_database SET allows_deprecated = 1 WHERE id IN \
    (SELECT database_id FROM selenite_encryption_key WHERE algorithm = 'TRIPLE_DES_3KEY')";

/// The first layout of these tables.
const VERSION: i64 = 1;

/// SQL Server's ids of its own databases.
const RESERVED: [(i32, &str); 4] = [(1, "master"), (2, "tempdb"), (3, "model"), (4, "msdb")];

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS selenite_setting (
    name TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS selenite_database (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    unfinished TEXT NOT NULL DEFAULT '',
    file_id BLOB,
    next_file_id BLOB,
    must_be_encrypted INTEGER NOT NULL DEFAULT 0,
    allows_deprecated INTEGER NOT NULL DEFAULT 0,
    commitment BLOB,
    options TEXT NOT NULL DEFAULT '',
    file_name TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE IF NOT EXISTS selenite_login (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    sid BLOB NOT NULL UNIQUE,
    is_administrator INTEGER NOT NULL DEFAULT 0,
    is_disabled INTEGER NOT NULL DEFAULT 0,
    must_change INTEGER NOT NULL DEFAULT 0,
    default_database TEXT NOT NULL,
    hash BLOB NOT NULL DEFAULT x'',
    salt BLOB NOT NULL DEFAULT x'',
    memory_kib INTEGER NOT NULL DEFAULT 0,
    passes INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    password_set INTEGER NOT NULL DEFAULT 0,
    failure_count INTEGER NOT NULL DEFAULT 0,
    failure_last INTEGER NOT NULL DEFAULT 0,
    locked_until INTEGER NOT NULL DEFAULT 0,
    checks_policy INTEGER NOT NULL DEFAULT 1,
    checks_expiration INTEGER NOT NULL DEFAULT 0
) STRICT;
";
