//! Cryptographic providers, credentials and the keys of providers, as T-SQL has them.
//!
//! `no-secrets-here`: no table has a column for a credential's secret. What authenticates to a provider is in the
//! configuration of its key command.

use rusqlite::{Connection, OptionalExtension, Row};

use super::keys::Removal;
use super::{Master, MasterError, folded, now};

/// A cryptographic provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderRecord {
    /// Its id.
    pub id: i64,
    /// Its name as it was created.
    pub name: String,
    /// Its GUID, drawn when it was created.
    pub guid: [u8; 16],
    /// The text of FROM FILE.
    pub path: String,
    /// Whether statements may use it.
    pub is_enabled: bool,
}

/// A credential for a provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CredentialRecord {
    /// Its id.
    pub id: i64,
    /// Its name as it was created.
    pub name: String,
    /// The text of IDENTITY.
    pub identity: String,
    /// The provider.
    pub provider_id: i64,
    /// When it was created: seconds since 1970-01-01 UTC.
    pub created: i64,
    /// When it was last changed.
    pub modified: i64,
}

/// A key of a provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsymmetricKeyRecord {
    /// Its id: from 256 up, as SQL Server numbers them.
    pub id: i64,
    /// Its name as it was created.
    pub name: String,
    /// The provider.
    pub provider_id: i64,
    /// The key command that wraps with it.
    pub command: String,
    /// What distinguishes it from all others.
    pub thumbprint: Vec<u8>,
}

/// A new mapping of a credential to a login.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mapping {
    /// It is noted.
    Done,
    /// The login has a credential for that provider.
    Taken,
}

/// Providers.
impl Master {
    /// All providers, by rising id.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn providers(&self) -> Result<Vec<ProviderRecord>, MasterError> {
        self.all(&format!("{PROVIDER} ORDER BY id"), provider)
    }

    /// Stores a new provider.
    ///
    /// # Errors
    /// [`MasterError::Taken`]; SQLite's error.
    pub(crate) fn add_provider(&self, name: &str, guid: [u8; 16], path: &str) -> Result<(), MasterError> {
        self.change(|connection| {
            check_free(connection, "selenite_provider", name)?;
            let sql = "INSERT INTO selenite_provider (id, name, folded, guid, path, is_enabled) VALUES \
                ((SELECT coalesce(max(id), 65536) + 1 FROM selenite_provider), ?1, ?2, ?3, ?4, 1)";
            connection.execute(sql, (name, folded(name), guid, path))?;
            Ok(())
        })
    }

    /// Changes a provider's path, and whether it is enabled.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn change_provider(&self, id: i64, path: &str, is_enabled: bool) -> Result<(), MasterError> {
        self.change(|connection| {
            let sql = "UPDATE selenite_provider SET path = ?2, is_enabled = ?3 WHERE id = ?1";
            connection.execute(sql, (id, path, is_enabled))?;
            Ok(())
        })
    }

    /// Removes a provider, unless a credential or a key needs it: then the kind of that is returned.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn remove_provider(&self, name: &str) -> Result<Removal, MasterError> {
        self.change(|connection| {
            let sql = "SELECT id FROM selenite_provider WHERE folded = ?1";
            let found: Option<i64> = connection.query_row(sql, [folded(name)], |row| row.get(0)).optional()?;
            let Some(id) = found else {
                return Ok(Removal::Missing);
            };
            for (table, kind) in [
                ("selenite_credential", "credential"),
                ("selenite_asymmetric_key", "asymmetric key"),
            ] {
                let sql = format!("SELECT 1 FROM {table} WHERE provider_id = ?1");
                if connection.prepare(&sql)?.exists([id])? {
                    return Ok(Removal::Needed(kind.to_owned()));
                }
            }
            connection.execute("DELETE FROM selenite_provider WHERE id = ?1", [id])?;
            Ok(Removal::Done)
        })
    }
}

/// Credentials.
impl Master {
    /// All credentials, by rising id.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn credentials(&self) -> Result<Vec<CredentialRecord>, MasterError> {
        self.all(&format!("{CREDENTIAL} ORDER BY id"), credential)
    }

    /// The ids of logins with those of their credentials.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn login_credentials(&self) -> Result<Vec<(i64, i64)>, MasterError> {
        let sql = "SELECT login_id, credential_id FROM selenite_login_credential ORDER BY login_id, credential_id";
        self.all(sql, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Stores a new credential.
    ///
    /// # Errors
    /// [`MasterError::Taken`]; SQLite's error.
    pub(crate) fn add_credential(&self, name: &str, identity: &str, provider_id: i64) -> Result<(), MasterError> {
        self.change(|connection| {
            check_free(connection, "selenite_credential", name)?;
            let sql = "INSERT INTO selenite_credential (id, name, folded, identity, provider_id, created, modified) VALUES \
                ((SELECT coalesce(max(id), 65535) + 1 FROM selenite_credential), ?1, ?2, ?3, ?4, ?5, ?5)";
            connection.execute(sql, (name, folded(name), identity, provider_id, now()))?;
            Ok(())
        })
    }

    /// Changes a credential's identity. Returns whether it exists.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn change_credential(&self, name: &str, identity: &str) -> Result<bool, MasterError> {
        self.change(|connection| {
            let sql = "UPDATE selenite_credential SET identity = ?2, modified = ?3 WHERE folded = ?1";
            Ok(connection.execute(sql, (folded(name), identity, now()))? == 1)
        })
    }

    /// Removes a credential, unless a login has it: then the login's name is returned.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn remove_credential(&self, name: &str) -> Result<Removal, MasterError> {
        self.change(|connection| {
            let sql = "SELECT selenite_login.name FROM selenite_credential AS c JOIN selenite_login_credential \
                ON credential_id = c.id JOIN selenite_login ON selenite_login.id = login_id WHERE c.folded = ?1 LIMIT 1";
            let needed: Option<String> = connection
                .query_row(sql, [folded(name)], |row| row.get(0))
                .optional()?;
            if let Some(login) = needed {
                return Ok(Removal::Needed(login));
            }
            let sql = "DELETE FROM selenite_credential WHERE folded = ?1";
            match connection.execute(sql, [folded(name)])? {
                0 => Ok(Removal::Missing),
                _ => Ok(Removal::Done),
            }
        })
    }

    /// Gives a credential to a login: at most one for each provider.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn map_credential(&self, login_id: i64, credential: &CredentialRecord) -> Result<Mapping, MasterError> {
        self.change(|connection| {
            let sql = "SELECT 1 FROM selenite_login_credential JOIN selenite_credential ON id = credential_id \
                WHERE login_id = ?1 AND provider_id = ?2";
            if connection.prepare(sql)?.exists((login_id, credential.provider_id))? {
                return Ok(Mapping::Taken);
            }
            let sql = "INSERT INTO selenite_login_credential (login_id, credential_id) VALUES (?1, ?2)";
            connection.execute(sql, (login_id, credential.id))?;
            Ok(Mapping::Done)
        })
    }

    /// Takes a credential from a login. Returns whether the login had it.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn unmap_credential(&self, login_id: i64, credential_id: i64) -> Result<bool, MasterError> {
        self.change(|connection| {
            let sql = "DELETE FROM selenite_login_credential WHERE login_id = ?1 AND credential_id = ?2";
            Ok(connection.execute(sql, (login_id, credential_id))? == 1)
        })
    }
}

/// Keys of providers.
impl Master {
    /// All keys of providers, by rising id.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn asymmetric_keys(&self) -> Result<Vec<AsymmetricKeyRecord>, MasterError> {
        self.all(&format!("{KEY} ORDER BY id"), asymmetric_key)
    }

    /// Stores a new key, whose id is chosen here.
    ///
    /// # Errors
    /// [`MasterError::Taken`] if there is one of that name or that very key; SQLite's error.
    pub(crate) fn add_asymmetric_key(&self, new: &AsymmetricKeyRecord) -> Result<(), MasterError> {
        self.change(|connection| {
            let sql = "SELECT 1 FROM selenite_asymmetric_key WHERE folded = ?1 OR thumbprint = ?2";
            if connection.prepare(sql)?.exists((folded(&new.name), &new.thumbprint))? {
                return Err(MasterError::Taken(new.name.clone()));
            }
            let sql = "INSERT INTO selenite_asymmetric_key (id, name, folded, provider_id, command, thumbprint) VALUES \
                ((SELECT coalesce(max(id), 255) + 1 FROM selenite_asymmetric_key), ?1, ?2, ?3, ?4, ?5)";
            let row = (
                &new.name,
                folded(&new.name),
                new.provider_id,
                &new.command,
                &new.thumbprint,
            );
            connection.execute(sql, row)?;
            Ok(())
        })
    }

    /// Removes a key, unless a database encryption key needs it: then the database's name is returned.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn remove_asymmetric_key(&self, name: &str) -> Result<Removal, MasterError> {
        self.change(|connection| {
            let sql = "SELECT d.name FROM selenite_asymmetric_key AS k JOIN selenite_encryption_key ON \
                asymmetric_key_id = k.id JOIN selenite_database AS d ON d.id = database_id WHERE k.folded = ?1 LIMIT 1";
            let needed: Option<String> = connection.query_row(sql, [folded(name)], |row| row.get(0)).optional()?;
            if let Some(database) = needed {
                return Ok(Removal::Needed(database));
            }
            let sql = "DELETE FROM selenite_asymmetric_key WHERE folded = ?1";
            match connection.execute(sql, [folded(name)])? {
                0 => Ok(Removal::Missing),
                _ => Ok(Removal::Done),
            }
        })
    }

    fn all<R>(&self, sql: &str, record: fn(&Row<'_>) -> rusqlite::Result<R>) -> Result<Vec<R>, MasterError> {
        self.with(|connection| {
            let mut asked = connection.prepare_cached(sql)?;
            let rows = asked.query_map([], record)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// [`MasterError::Taken`] if a table has a row of that name, case-insensitively.
fn check_free(connection: &Connection, table: &str, name: &str) -> Result<(), MasterError> {
    let sql = format!("SELECT 1 FROM {table} WHERE folded = ?1");
    match connection.prepare(&sql)?.exists([folded(name)])? {
        true => Err(MasterError::Taken(name.to_owned())),
        false => Ok(()),
    }
}

fn provider(row: &Row<'_>) -> rusqlite::Result<ProviderRecord> {
    Ok(ProviderRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        guid: row.get(2)?,
        path: row.get(3)?,
        is_enabled: row.get(4)?,
    })
}

fn credential(row: &Row<'_>) -> rusqlite::Result<CredentialRecord> {
    Ok(CredentialRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        identity: row.get(2)?,
        provider_id: row.get(3)?,
        created: row.get(4)?,
        modified: row.get(5)?,
    })
}

fn asymmetric_key(row: &Row<'_>) -> rusqlite::Result<AsymmetricKeyRecord> {
    Ok(AsymmetricKeyRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        provider_id: row.get(2)?,
        command: row.get(3)?,
        thumbprint: row.get(4)?,
    })
}

const PROVIDER: &str = "SELECT id, name, guid, path, is_enabled FROM selenite_provider";
const CREDENTIAL: &str = "SELECT id, name, identity, provider_id, created, modified FROM selenite_credential";
const KEY: &str = "SELECT id, name, provider_id, command, thumbprint FROM selenite_asymmetric_key";

/// A login's mappings are removed with it.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS selenite_provider (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    guid BLOB NOT NULL,
    path TEXT NOT NULL,
    is_enabled INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS selenite_credential (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL,
    provider_id INTEGER NOT NULL REFERENCES selenite_provider (id),
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS selenite_login_credential (
    login_id INTEGER NOT NULL REFERENCES selenite_login (id) ON DELETE CASCADE,
    credential_id INTEGER NOT NULL REFERENCES selenite_credential (id),
    PRIMARY KEY (login_id, credential_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS selenite_asymmetric_key (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    provider_id INTEGER NOT NULL REFERENCES selenite_provider (id),
    command TEXT NOT NULL,
    thumbprint BLOB NOT NULL UNIQUE
) STRICT;
";

#[cfg(test)]
mod tests;
