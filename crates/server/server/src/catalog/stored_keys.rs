//! The keys of a database that encrypt values, in two tables of its file: `selenite_key` and
//! `selenite_key_encryption`.
//!
//! - `secrets-are-wrapped`: no column has a secret that is not encrypted; `sealed` is what
//!   [`crate::key_wrap`] has made.
//! - `a-file-may-be-forged`: who writes to the file writes to these tables. Rows of unknown kinds and
//!   of sizes that the server does not write are left out, and the GUID of a key is part of all that
//!   is sealed, so that no row can take the place of another.

use rusqlite::{Connection, OptionalExtension, Row};
use selenite_compiler::{KeyClass, SqlError, same_name};
use selenite_runtime::sqlite::tsql_error;

use crate::catalog::grants;
use crate::catalog::permission_kind::Class;

/// The kind of a stored key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StoredKeyKind {
    /// The database master key.
    Master,
    /// A symmetric key.
    Symmetric,
    /// A key pair.
    Asymmetric,
    /// A certificate.
    Certificate,
}

impl StoredKeyKind {
    const ALL: [Self; 4] = [Self::Master, Self::Symmetric, Self::Asymmetric, Self::Certificate];

    fn word(self) -> &'static str {
        match self {
            Self::Master => "master",
            Self::Symmetric => "symmetric",
            Self::Asymmetric => "asymmetric",
            Self::Certificate => "certificate",
        }
    }

    /// The class of permissions on it: those on the database master key are on the database.
    pub fn class(self) -> Class {
        match self {
            Self::Master => Class::Database,
            Self::Symmetric => Class::SymmetricKey,
            Self::Asymmetric => Class::AsymmetricKey,
            Self::Certificate => Class::Certificate,
        }
    }

    /// As messages name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Master => "master key",
            Self::Symmetric => "symmetric key",
            Self::Asymmetric => "asymmetric key",
            Self::Certificate => "certificate",
        }
    }
}

/// The kind of the keys that permissions of a class are on.
pub fn stored_kind(class: Class) -> Option<StoredKeyKind> {
    StoredKeyKind::ALL.into_iter().find(|kind| kind.class() == class)
}

impl From<KeyClass> for StoredKeyKind {
    fn from(class: KeyClass) -> Self {
        match class {
            KeyClass::Symmetric => Self::Symmetric,
            KeyClass::Asymmetric => Self::Asymmetric,
            KeyClass::Certificate => Self::Certificate,
        }
    }
}

/// What a secret is encrypted by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyEncryptor {
    /// A password.
    Password,
    /// The service master key of the server.
    Service,
    /// The database master key.
    Master,
    /// A certificate of the database, by its number.
    Certificate(i32),
    /// A key pair of the database, by its number.
    Asymmetric(i32),
    /// A symmetric key of the database, by its number.
    Symmetric(i32),
}

impl KeyEncryptor {
    fn of(word: &str, id: i32) -> Option<Self> {
        let all = [
            Self::Password,
            Self::Service,
            Self::Master,
            Self::Certificate(id),
            Self::Asymmetric(id),
            Self::Symmetric(id),
        ];
        all.into_iter().find(|one| one.parts().0 == word)
    }

    fn parts(self) -> (&'static str, i32) {
        match self {
            Self::Password => ("password", 0),
            Self::Service => ("service", 0),
            Self::Master => ("master", 0),
            Self::Certificate(id) => ("certificate", id),
            Self::Asymmetric(id) => ("asymmetric", id),
            Self::Symmetric(id) => ("symmetric", id),
        }
    }

    /// The one of a key of the database.
    pub fn of_key(kind: StoredKeyKind, id: i32) -> Self {
        match kind {
            StoredKeyKind::Master => Self::Master,
            StoredKeyKind::Symmetric => Self::Symmetric(id),
            StoredKeyKind::Asymmetric => Self::Asymmetric(id),
            StoredKeyKind::Certificate => Self::Certificate(id),
        }
    }
}

/// A key without its secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredKey {
    /// Its kind.
    pub kind: StoredKeyKind,
    /// Its number among those of its kind.
    pub id: i32,
    /// Its name.
    pub name: String,
    /// The principal that owns it.
    pub owner: i32,
    /// `AES_256`, `RSA_2048` and others.
    pub algorithm: String,
    /// Drawn when it was created.
    pub guid: [u8; 16],
    /// The public key in DER (SubjectPublicKeyInfo); empty for a symmetric one.
    pub public: Vec<u8>,
    /// The X.509 certificate in DER; empty for other keys.
    pub certificate: Vec<u8>,
    /// Of a certificate.
    pub subject: String,
    /// Of a certificate.
    pub serial: Vec<u8>,
    /// The validity of a certificate: seconds since 1970-01-01 UTC.
    pub validity: (i64, i64),
    /// When it was created, and changed last: seconds since 1970-01-01 UTC.
    pub times: (i64, i64),
}

impl StoredKey {
    /// A new key that has a secret and nothing public, before it is stored.
    pub fn of_secret(
        kind: StoredKeyKind,
        (name, owner): (&str, i32),
        algorithm: &str,
        guid: [u8; 16],
        now: i64,
    ) -> Self {
        Self {
            kind,
            id: 0,
            name: name.to_owned(),
            owner,
            algorithm: algorithm.to_owned(),
            guid,
            public: Vec::new(),
            certificate: Vec::new(),
            subject: String::new(),
            serial: Vec::new(),
            validity: (0, 0),
            times: (now, now),
        }
    }
}

/// A secret, encrypted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyEncryption {
    /// Its number, by which it is removed; 0 before it is stored.
    pub number: i64,
    /// The key that the secret is of.
    pub key: (StoredKeyKind, i32),
    /// What it is encrypted by.
    pub encryptor: KeyEncryptor,
    /// What [`crate::key_wrap`] has made of it.
    pub sealed: Vec<u8>,
}

/// All keys of a database.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StoredKeys {
    keys: Vec<StoredKey>,
    encryptions: Vec<KeyEncryption>,
}

impl StoredKeys {
    /// Reads those of a connection's `main`; none if there never were any.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn load(connection: &Connection) -> Result<Self, SqlError> {
        let read = || -> rusqlite::Result<Self> {
            let sql = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'selenite_key_encryption'";
            if connection.query_row(sql, [], |_| Ok(())).optional()?.is_none() {
                return Ok(Self::default());
            }
            let mut keys = connection.prepare(KEYS)?;
            let keys = keys.query_map([SIZE_MAX], key)?;
            let mut encryptions = connection.prepare(ENCRYPTIONS)?;
            let encryptions = encryptions.query_map([SIZE_MAX], encryption)?;
            Ok(Self {
                keys: keys.filter_map(Result::transpose).collect::<Result<_, _>>()?,
                encryptions: encryptions.filter_map(Result::transpose).collect::<Result<_, _>>()?,
            })
        };
        read().map_err(|error| tsql_error(&error))
    }

    /// Those of a kind, by rising number.
    pub fn of_kind(&self, kind: StoredKeyKind) -> impl Iterator<Item = &StoredKey> {
        self.keys.iter().filter(move |key| key.kind == kind)
    }

    /// The database master key.
    pub fn master(&self) -> Option<&StoredKey> {
        self.of_kind(StoredKeyKind::Master).next()
    }

    /// The key of a kind that has a name.
    pub fn named(&self, kind: StoredKeyKind, name: &str) -> Option<&StoredKey> {
        self.of_kind(kind).find(|key| same_name(&key.name, name))
    }

    /// The key of a kind that has a number.
    pub fn of_id(&self, kind: StoredKeyKind, id: i32) -> Option<&StoredKey> {
        self.of_kind(kind).find(|key| key.id == id)
    }

    /// The symmetric key of a GUID.
    pub fn of_guid(&self, guid: &[u8; 16]) -> Option<&StoredKey> {
        self.of_kind(StoredKeyKind::Symmetric).find(|key| key.guid == *guid)
    }

    /// A key that a principal owns.
    pub fn owned_by(&self, principal: i32) -> Option<&StoredKey> {
        self.keys.iter().find(|key| key.owner == principal)
    }

    /// The encryptions of a key's secret.
    pub fn encryptions_of(&self, key: &StoredKey) -> impl Iterator<Item = &KeyEncryption> {
        let key = (key.kind, key.id);
        self.encryptions.iter().filter(move |one| one.key == key)
    }

    /// How many passwords encrypt a key's secret.
    pub fn password_count(&self, key: &StoredKey) -> usize {
        self.encryptions_of(key)
            .filter(|one| one.encryptor == KeyEncryptor::Password)
            .count()
    }

    /// The number of an encryption that was read before, if it is still there.
    pub fn number_of(&self, seen: &KeyEncryption) -> Option<i64> {
        self.encryptions.contains(seen).then_some(seen.number)
    }

    /// All encryptions.
    pub fn encryptions(&self) -> &[KeyEncryption] {
        &self.encryptions
    }

    /// A key whose secret is encrypted by something.
    pub fn first_encrypted_by(&self, encryptor: KeyEncryptor) -> Option<&StoredKey> {
        let found = self.encryptions.iter().find(|one| one.encryptor == encryptor)?;
        self.of_id(found.key.0, found.key.1)
    }
}

/// `None` for a row that this server did not write.
fn key(row: &Row<'_>) -> rusqlite::Result<Option<StoredKey>> {
    let word: String = row.get(0)?;
    let kind = StoredKeyKind::ALL.into_iter().find(|kind| kind.word() == word);
    let guid: Result<[u8; 16], _> = row.get::<_, Vec<u8>>(5)?.try_into();
    let (Some(kind), Ok(guid)) = (kind, guid) else {
        return Ok(None);
    };
    Ok(Some(StoredKey {
        kind,
        id: row.get(1)?,
        name: row.get(2)?,
        owner: row.get(3)?,
        algorithm: row.get(4)?,
        guid,
        public: row.get(6)?,
        certificate: row.get(7)?,
        subject: row.get(8)?,
        serial: row.get(9)?,
        validity: (row.get(10)?, row.get(11)?),
        times: (row.get(12)?, row.get(13)?),
    }))
}

fn encryption(row: &Row<'_>) -> rusqlite::Result<Option<KeyEncryption>> {
    let (word, by): (String, String) = (row.get(1)?, row.get(3)?);
    let kind = StoredKeyKind::ALL.into_iter().find(|kind| kind.word() == word);
    let (Some(kind), Some(encryptor)) = (kind, KeyEncryptor::of(&by, row.get(4)?)) else {
        return Ok(None);
    };
    Ok(Some(KeyEncryption {
        number: row.get(0)?,
        key: (kind, row.get(2)?),
        encryptor,
        sealed: row.get(5)?,
    }))
}

/// Stores a key, whose number is chosen here, and the encryptions of its secret.
///
/// # Errors
/// SQLite's error.
pub fn add(connection: &Connection, new: &StoredKey, encryptions: &[(KeyEncryptor, Vec<u8>)]) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        connection.execute_batch(TABLES)?;
        let sql = "INSERT INTO main.selenite_key (kind, id, name, owner, algorithm, guid, public, certificate, subject, \
            serial, not_before, not_after, created, modified) VALUES (?1, (SELECT coalesce(max(id) + 1, ?2) \
            FROM main.selenite_key WHERE kind = ?1), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) RETURNING id";
        let first_id = match new.kind {
            StoredKeyKind::Master => MASTER_KEY_ID,
            StoredKeyKind::Symmetric | StoredKeyKind::Asymmetric | StoredKeyKind::Certificate => FIRST_ID,
        };
        let values = rusqlite::params![
            new.kind.word(),
            first_id,
            new.name,
            new.owner,
            new.algorithm,
            new.guid,
            new.public,
            new.certificate,
            new.subject,
            new.serial,
            new.validity.0,
            new.validity.1,
            new.times.0,
            new.times.1,
        ];
        let id: i32 = connection.query_row(sql, values, |row| row.get(0))?;
        for (encryptor, sealed) in encryptions {
            insert_encryption(connection, (new.kind, id), *encryptor, sealed)?;
        }
        Ok(())
    };
    run().map_err(|error| tsql_error(&error))
}

fn insert_encryption(
    connection: &Connection,
    (kind, id): (StoredKeyKind, i32),
    encryptor: KeyEncryptor,
    sealed: &[u8],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO main.selenite_key_encryption (kind, id, encryptor, encryptor_id, sealed) \
        VALUES (?1, ?2, ?3, ?4, ?5)";
    let (word, by) = encryptor.parts();
    connection.execute(sql, (kind.word(), id, word, by, sealed)).map(drop)
}

/// Removes encryptions of a key's secret, and adds others.
///
/// # Errors
/// SQLite's error.
pub fn change_encryptions(
    connection: &Connection,
    key: (StoredKeyKind, i32),
    removed: &[i64],
    added: &[(KeyEncryptor, Vec<u8>)],
    now: i64,
) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        for number in removed {
            let sql = "DELETE FROM main.selenite_key_encryption WHERE number = ?1 AND kind = ?2 AND id = ?3";
            connection.execute(sql, (number, key.0.word(), key.1))?;
        }
        for (encryptor, sealed) in added {
            insert_encryption(connection, key, *encryptor, sealed)?;
        }
        let sql = "UPDATE main.selenite_key SET modified = ?3 WHERE kind = ?1 AND id = ?2";
        connection.execute(sql, (key.0.word(), key.1, now))?;
        Ok(())
    };
    run().map_err(|error| tsql_error(&error))
}

/// Gives a key another GUID: that of another secret.
///
/// # Errors
/// SQLite's error.
pub fn set_guid(connection: &Connection, key: &StoredKey, guid: &[u8; 16]) -> Result<(), SqlError> {
    let sql = "UPDATE main.selenite_key SET guid = ?3 WHERE kind = ?1 AND id = ?2";
    let changed = connection.execute(sql, (key.kind.word(), key.id, guid));
    changed.map(drop).map_err(|error| tsql_error(&error))
}

/// Gives a key to another principal; the permissions on it go, as in SQL Server.
///
/// # Errors
/// SQLite's error.
pub fn set_owner(connection: &Connection, key: &StoredKey, owner: i32) -> Result<(), SqlError> {
    let sql = "UPDATE main.selenite_key SET owner = ?3 WHERE kind = ?1 AND id = ?2";
    let changed = connection.execute(sql, (key.kind.word(), key.id, owner));
    changed.map_err(|error| tsql_error(&error))?;
    grants::forget(connection, key.kind.class(), key.id)
}

/// Removes a key and the encryptions of its secret.
///
/// # Errors
/// SQLite's error.
pub fn remove(connection: &Connection, key: &StoredKey) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        for table in ["selenite_key_encryption", "selenite_key"] {
            let sql = format!("DELETE FROM main.{table} WHERE kind = ?1 AND id = ?2");
            connection.execute(&sql, (key.kind.word(), key.id))?;
        }
        Ok(())
    };
    run().map_err(|error| tsql_error(&error))
}

const KEYS: &str = "SELECT kind, id, name, owner, algorithm, guid, public, certificate, subject, serial, not_before, \
    not_after, created, modified FROM main.selenite_key WHERE length(name) <= 128 AND length(algorithm) <= 128 \
    AND length(guid) = 16 AND length(public) <= ?1 AND length(certificate) <= ?1 AND length(subject) <= 4000 \
    AND length(serial) <= 64 ORDER BY kind, id";
const ENCRYPTIONS: &str = "SELECT number, kind, id, encryptor, encryptor_id, sealed FROM main.selenite_key_encryption \
    WHERE length(sealed) <= ?1 ORDER BY number";
/// 16 KiB: a private key of RSA_4096 has 2.4 KiB, a certificate at most 8000 bytes.
const SIZE_MAX: i64 = 16_384;
/// SQL Server's number of the database master key.
const MASTER_KEY_ID: i32 = 101;
/// Below are keys of SQL Server's own.
const FIRST_ID: i32 = 256;
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS main.selenite_key (
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    owner INTEGER NOT NULL,
    algorithm TEXT NOT NULL,
    guid BLOB NOT NULL,
    public BLOB NOT NULL,
    certificate BLOB NOT NULL,
    subject TEXT NOT NULL,
    serial BLOB NOT NULL,
    not_before INTEGER NOT NULL,
    not_after INTEGER NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT;
CREATE TABLE IF NOT EXISTS main.selenite_key_encryption (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,
    encryptor TEXT NOT NULL,
    encryptor_id INTEGER NOT NULL,
    sealed BLOB NOT NULL
) STRICT;
";
