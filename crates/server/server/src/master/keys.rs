//! The master key, and which certificate or provider's key each database's encryption key belongs to.
//!
//! The data keys themselves are in the databases' own files, wrapped under the master key of each file, which a slot
//! of that certificate or key opens.

use rusqlite::{Connection, OptionalExtension, Row};
use zeroize::Zeroizing;

use super::{Master, MasterError, now};

/// The key that protects the private keys of certificates.
pub(crate) struct StoredMasterKey {
    /// The key: AES-256.
    pub secret: Zeroizing<Vec<u8>>,
    /// The same in an age file, encrypted with its password.
    pub by_password: Vec<u8>,
}

/// The master key, without its secrets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MasterKeyRecord {
    /// Its id.
    pub guid: [u8; 16],
    /// When it was created: seconds since 1970-01-01 UTC.
    pub created: i64,
    /// When it was last changed.
    pub modified: i64,
}

/// The result of a removal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Removal {
    /// It is removed.
    Done,
    /// It does not exist.
    Missing,
    /// This database or certificate needs it.
    Needed(String),
}

/// The id of what protects a database encryption key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProtectorId {
    /// A certificate's.
    Certificate(i64),
    /// That of a provider's key.
    AsymmetricKey(i64),
}

/// A database encryption key, as T-SQL has it: it may be created before anything is encrypted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncryptionKeyRecord {
    /// The database.
    pub database_id: i32,
    /// What opens the database in addition to the server's own identity.
    pub protector: ProtectorId,
    /// The algorithm that was requested last: a suite's name.
    pub algorithm: String,
    /// The key slot of the protector in the database's file, in hexadecimal digits.
    pub slot: String,
    /// When it was created: seconds since 1970-01-01 UTC, as all other times here.
    pub created: i64,
    /// When it was recreated.
    pub regenerated: i64,
    /// When it was last changed in any way.
    pub modified: i64,
    /// When encryption was last switched.
    pub set: i64,
    /// When a scan last began, ended, was suspended or resumed; 0 if there was none.
    pub scanned: i64,
    /// Whether the database is encrypted with it.
    pub tde: Tde,
}

/// Transparent data encryption of a database, as T-SQL switches it. Its file may be encrypted all the same: under the
/// server's identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tde {
    /// SET ENCRYPTION OFF, or never ON.
    Off,
    /// SET ENCRYPTION ON, whose scan has not ended.
    TurningOn,
    /// SET ENCRYPTION ON.
    On,
    /// ALTER DATABASE ENCRYPTION KEY REGENERATE, whose scan has not ended.
    ChangingKey,
    /// SET ENCRYPTION OFF, whose scan has not ended.
    TurningOff,
}

impl Tde {
    /// The state when its scan has ended.
    pub fn settled(self) -> Self {
        match self {
            Self::TurningOn | Self::On | Self::ChangingKey => Self::On,
            Self::Off | Self::TurningOff => Self::Off,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::TurningOn => "turning on",
            Self::On => "on",
            Self::ChangingKey => "changing key",
            Self::TurningOff => "turning off",
        }
    }

    fn of(word: &str) -> Self {
        let all = [Self::Off, Self::TurningOn, Self::ChangingKey, Self::TurningOff];
        all.into_iter().find(|one| one.word() == word).unwrap_or(Self::On)
    }
}

impl Master {
    /// The master key, with its secrets.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn stored_master_key(&self) -> Result<Option<StoredMasterKey>, MasterError> {
        self.with(|connection| {
            let sql = "SELECT secret, by_password FROM selenite_master_key";
            let kept = connection.query_row(sql, [], |row| {
                Ok(StoredMasterKey {
                    secret: Zeroizing::new(row.get(0)?),
                    by_password: row.get(1)?,
                })
            });
            Ok(kept.optional()?)
        })
    }

    /// The master key, without its secrets.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn master_key(&self) -> Result<Option<MasterKeyRecord>, MasterError> {
        self.with(|connection| {
            let sql = "SELECT guid, created, modified FROM selenite_master_key";
            let kept = connection.query_row(sql, [], |row| {
                Ok(MasterKeyRecord {
                    guid: row.get(0)?,
                    created: row.get(1)?,
                    modified: row.get(2)?,
                })
            });
            Ok(kept.optional()?)
        })
    }

    /// Stores a new master key. Returns whether there was none.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn add_master_key(&self, new: &StoredMasterKey, guid: [u8; 16]) -> Result<bool, MasterError> {
        self.change(|connection| {
            let sql = "INSERT OR IGNORE INTO selenite_master_key (id, guid, secret, by_password, created, modified) \
                VALUES (1, ?1, ?2, ?3, ?4, ?4)";
            let count = connection.execute(sql, (guid, &*new.secret, &new.by_password, now()))?;
            Ok(count == 1)
        })
    }

    /// Replaces the present master key, with what `seal` makes of each certificate's private part: all of them or
    /// none.
    ///
    /// # Errors
    /// The error of `seal`; SQLite's error.
    pub(crate) fn replace_master_key(
        &self,
        new: &StoredMasterKey,
        mut seal: impl FnMut(&[u8], &[u8]) -> Result<Vec<u8>, MasterError>,
    ) -> Result<(), MasterError> {
        self.change(|connection| {
            let mut asked = connection.prepare("SELECT id, thumbprint, sealed FROM selenite_certificate")?;
            let rows = asked.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let certificates: Vec<(i64, Vec<u8>, Vec<u8>)> = rows.collect::<Result<_, _>>()?;
            for (id, thumbprint, sealed) in certificates {
                let sealed = seal(&thumbprint, &sealed)?;
                connection.execute(
                    "UPDATE selenite_certificate SET sealed = ?2 WHERE id = ?1",
                    (id, sealed),
                )?;
            }
            let sql = "UPDATE selenite_master_key SET secret = ?1, by_password = ?2, modified = ?3";
            connection.execute(sql, (&*new.secret, &new.by_password, now()))?;
            Ok(())
        })
    }

    /// Removes the master key, unless a certificate needs it.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn remove_master_key(&self) -> Result<Removal, MasterError> {
        self.change(|connection| {
            let sql = "SELECT name FROM selenite_certificate ORDER BY id LIMIT 1";
            let needed: Option<String> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
            if let Some(name) = needed {
                return Ok(Removal::Needed(name));
            }
            match connection.execute("DELETE FROM selenite_master_key", [])? {
                0 => Ok(Removal::Missing),
                _ => Ok(Removal::Done),
            }
        })
    }

    /// All database encryption keys, by the ids of their databases.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn encryption_keys(&self) -> Result<Vec<EncryptionKeyRecord>, MasterError> {
        self.with(|connection| {
            let mut asked = connection.prepare_cached(&format!("{SELECT} ORDER BY database_id"))?;
            let rows = asked.query_map([], record)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// A database's encryption key.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn encryption_key(&self, database_id: i32) -> Result<Option<EncryptionKeyRecord>, MasterError> {
        self.with(|connection| {
            let mut asked = connection.prepare_cached(&format!("{SELECT} WHERE database_id = ?1"))?;
            Ok(asked.query_row([database_id], record).optional()?)
        })
    }

    /// Stores a database encryption key, in place of the one that the database had.
    ///
    /// # Errors
    /// SQLite's error; also if the protector or the database is gone.
    pub(crate) fn store_encryption_key(&self, new: &EncryptionKeyRecord) -> Result<(), MasterError> {
        self.change(|connection| store(connection, new))
    }

    /// Changes an existing database encryption key.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn change_encryption_key(
        &self,
        database_id: i32,
        change: impl FnOnce(&mut EncryptionKeyRecord, i64),
    ) -> Result<(), MasterError> {
        self.change(|connection| {
            let found = connection
                .query_row(&format!("{SELECT} WHERE database_id = ?1"), [database_id], record)
                .optional()?;
            match found {
                Some(mut found) => {
                    change(&mut found, now());
                    store(connection, &found)
                }
                None => Ok(()),
            }
        })
    }

    /// Removes a database encryption key.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn remove_encryption_key(&self, database_id: i32) -> Result<(), MasterError> {
        self.change(|connection| {
            let sql = "DELETE FROM selenite_encryption_key WHERE database_id = ?1";
            connection.execute(sql, [database_id])?;
            Ok(())
        })
    }
}

fn store(connection: &Connection, new: &EncryptionKeyRecord) -> Result<(), MasterError> {
    let sql = "INSERT OR REPLACE INTO selenite_encryption_key (database_id, certificate_id, asymmetric_key_id, algorithm, \
        slot, created, regenerated, modified, switched, scanned, tde) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let (certificate_id, asymmetric_key_id) = match new.protector {
        ProtectorId::Certificate(id) => (Some(id), None),
        ProtectorId::AsymmetricKey(id) => (None, Some(id)),
    };
    connection.execute(
        sql,
        (
            new.database_id,
            certificate_id,
            asymmetric_key_id,
            &new.algorithm,
            &new.slot,
            new.created,
            new.regenerated,
            new.modified,
            new.set,
            new.scanned,
            new.tde.word(),
        ),
    )?;
    Ok(())
}

fn record(row: &Row<'_>) -> rusqlite::Result<EncryptionKeyRecord> {
    Ok(EncryptionKeyRecord {
        database_id: row.get(0)?,
        protector: match row.get(10)? {
            Some(id) => ProtectorId::AsymmetricKey(id),
            None => ProtectorId::Certificate(row.get(1)?),
        },
        algorithm: row.get(2)?,
        slot: row.get(3)?,
        created: row.get(4)?,
        regenerated: row.get(5)?,
        modified: row.get(6)?,
        set: row.get(7)?,
        scanned: row.get(8)?,
        tde: Tde::of(&row.get::<_, String>(9)?),
    })
}

const SELECT: &str = "SELECT database_id, certificate_id, algorithm, slot, created, regenerated, modified, switched, \
    scanned, tde, asymmetric_key_id FROM selenite_encryption_key";

/// An older server's table has only certificates. It is replaced by one that has keys of providers, too.
pub(super) fn upgrade(connection: &Connection) -> Result<(), MasterError> {
    let sql = "SELECT 1 FROM pragma_table_info('selenite_encryption_key') WHERE name = 'asymmetric_key_id'";
    if connection.prepare(sql)?.exists([])? {
        return Ok(());
    }
    let columns =
        "database_id, certificate_id, algorithm, slot, created, regenerated, modified, switched, scanned, tde";
    let done = connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; ALTER TABLE selenite_encryption_key RENAME TO selenite_old_encryption_key; {TABLES}
        INSERT INTO selenite_encryption_key ({columns}) SELECT {columns} FROM selenite_old_encryption_key;
        DROP TABLE selenite_old_encryption_key; COMMIT"
    ));
    if done.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    Ok(done?)
}

/// A database's key is removed with it; a protector can't be removed while a key names it.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS selenite_master_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    guid BLOB NOT NULL,
    secret BLOB NOT NULL,
    by_password BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS selenite_certificate (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    certificate BLOB NOT NULL,
    thumbprint BLOB NOT NULL UNIQUE,
    serial BLOB NOT NULL,
    subject TEXT NOT NULL,
    recipient TEXT NOT NULL,
    not_before INTEGER NOT NULL,
    not_after INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    backed_up INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS selenite_encryption_key (
    database_id INTEGER PRIMARY KEY REFERENCES selenite_database (id) ON DELETE CASCADE,
    certificate_id INTEGER REFERENCES selenite_certificate (id),
    asymmetric_key_id INTEGER REFERENCES selenite_asymmetric_key (id),
    algorithm TEXT NOT NULL,
    slot TEXT NOT NULL,
    created INTEGER NOT NULL,
    regenerated INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    switched INTEGER NOT NULL,
    scanned INTEGER NOT NULL,
    tde TEXT NOT NULL DEFAULT 'on',
    CHECK ((certificate_id IS NULL) <> (asymmetric_key_id IS NULL))
) STRICT;
";

#[cfg(test)]
mod tests;
