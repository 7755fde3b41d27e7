//! master.db: logins, the ids of databases, the server's own certificate.
//!
//! - `encrypted-like-any-database`: master.db is encrypted like any other database, under the
//!   identity of the server.
//! - `held-for-one-statement`: sessions have connections of their own to it. The connection here is
//!   held for one statement, never while a password is hashed, and waits for other writers as long
//!   as any client would.
//! - `passwords-are-hashed`: a password is kept as a hash of Argon2id with its own salt and cost.
//! - `file-changes-are-noted-first`: what creates, replaces or removes a database's file is noted
//!   here before it is done and the note is removed afterwards (`Unfinished`): a start finds what
//!   a kill has left.
//!
//! Tables that begin with `selenite_` are the server's: no client reads or writes them.

mod backups;
mod certificate;
mod certificates;
mod commitment;
mod database_file;
mod database_name;
mod database_options;
mod databases;
mod key_management;
mod keys;
mod logins;
mod master_error;
mod protector;
mod schema;
mod server_permission;
mod server_principal;
mod server_role;
mod server_security;
mod service_key;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub use backups::BackupRecord;
pub use certificate::StoredCertificate;
pub use certificates::CertificateRecord;
pub(crate) use certificates::NewStoredCertificate;
pub(crate) use commitment::load_commitment;
pub(crate) use database_file::{DatabaseFile, Unfinished};
pub use database_name::DatabaseName;
pub use database_options::{DatabaseOptions, OptionFault, UserAccess};
pub use databases::DatabaseRecord;
pub(crate) use key_management::Mapping;
pub use key_management::{AsymmetricKeyRecord, CredentialRecord, ProviderRecord};
pub use keys::{EncryptionKeyRecord, MasterKeyRecord, ProtectorId, Tde};
pub(crate) use keys::{Removal, StoredMasterKey};
pub use logins::{Attempts, LoginRecord, NewLogin, SA};
pub use master_error::MasterError;
pub use protector::Protector;
pub(crate) use protector::{ASYMMETRIC_KEY, CERTIFICATE};
use rusqlite::{Connection, OpenFlags};
use selenite::storage::Disk;
use selenite::{Access, Database, Expected, Layout};
use selenite_compiler::NameKey;
use selenite_keyring::OriginPolicy;
pub use server_permission::{
    PUBLIC_SID, ServerGrant, ServerPermission, ServerRights, ServerRole, ServerSecurity, UNSUPPORTED_ROLES,
};
pub use server_role::UserServerRole;

use crate::password::PasswordHash;

/// The id of master.
pub const MASTER: i32 = 1;
/// The id of tempdb.
pub const TEMPDB: i32 = 2;

/// master.db, open.
pub struct Master {
    connection: Mutex<Connection>,
    path: PathBuf,
    expected: Expected,
}

impl Master {
    /// Whether the folder contains one.
    pub(crate) fn is_there(folder: &Path) -> bool {
        folder.join(FILE).exists()
    }

    /// Creates it, with the administrator `sa`. `tell` reports the password. It runs before the creation is
    /// committed, and can still cancel it.
    ///
    /// # Errors
    /// [`MasterError`]; the error of `tell`.
    pub(crate) fn create(
        folder: &Path,
        access: &Access,
        administrator: &PasswordHash,
        tell: impl FnOnce() -> std::io::Result<()>,
    ) -> Result<Self, MasterError> {
        let path = folder.join(FILE);
        let access = own(access);
        // What a start that was cut off has left is not a master.db yet: it has no schema.
        if !path.exists() {
            drop(Database::create(&Disk, &path, &access, &Layout::default())?);
        }
        let master = Self::connect(path, &access)?;
        master.with(schema::create)?;
        master.change(|transaction| {
            schema::fill(transaction, administrator)?;
            tell().map_err(MasterError::NotTold)
        })?;
        Ok(master)
    }

    /// Opens it. `None` if a start was cut off before it was complete: then it has to be created.
    ///
    /// # Errors
    /// [`MasterError`].
    pub(crate) fn open(folder: &Path, access: &Access) -> Result<Option<Self>, MasterError> {
        let path = folder.join(FILE);
        let access = own(access);
        // This describes what is wrong with the file, its origin or the key, if anything is.
        drop(Database::open(&Disk, &path, &access)?);
        let master = Self::connect(path, &access)?;
        let is_whole = master.with(schema::check)?;
        if is_whole {
            // Creates the tables that an older server did not have.
            master.with(schema::create)?;
        }
        Ok(is_whole.then_some(master))
    }

    fn connect(path: PathBuf, access: &Access) -> Result<Self, MasterError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let known = load_commitment(&path, access)?;
        let expected = Expected {
            database_id: known.map(|(id, _)| id),
            commitment: known.map(|(_, commitment)| commitment),
            is_encrypted: true,
        };
        let access = Access {
            expected,
            ..access.clone()
        };
        let uri = access.uri(&path);
        let connection = Connection::open_with_flags(uri.as_str(), flags)?;
        connection.busy_timeout(BUSY_WAIT)?;
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")?;
        Ok(Self {
            connection: Mutex::new(connection),
            path,
            expected,
        })
    }

    /// How sessions open it: only as the file that it was when the server started.
    pub(crate) fn access(&self, access: &Access) -> Access {
        Access {
            expected: self.expected,
            ..own(access)
        }
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `run` on its connection, exclusively. It must be short: logins wait for it.
    ///
    /// # Errors
    /// The error of `run`.
    pub fn with<R>(&self, run: impl FnOnce(&Connection) -> Result<R, MasterError>) -> Result<R, MasterError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        run(&connection)
    }

    /// The same in a transaction, which is rolled back if `run` fails.
    ///
    /// # Errors
    /// The error of `run`; SQLite's error.
    pub fn change<R>(&self, run: impl FnOnce(&Connection) -> Result<R, MasterError>) -> Result<R, MasterError> {
        self.with(|connection| {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            let done = run(connection).and_then(|done| {
                connection.execute_batch("COMMIT")?;
                Ok(done)
            });
            if done.is_err() && !connection.is_autocommit() {
                // The first error counts more; a transaction that can't be rolled back ends with the connection.
                let _ = connection.execute_batch("ROLLBACK");
            }
            done
        })
    }
}

/// The creator of a master.db creates its logins: a file without the origin mark of the server's own identity is
/// refused, whatever is configured for others.
fn own(access: &Access) -> Access {
    Access {
        origin: Some(OriginPolicy::Own),
        ..access.clone()
    }
}

/// A name as names are compared everywhere: two are equal if these are.
pub(crate) fn folded(name: &str) -> String {
    NameKey::new(name).as_str().to_owned()
}

/// Seconds since 1970-01-01 UTC, as an integer of SQLite.
fn now() -> i64 {
    i64::try_from(selenite::now()).unwrap_or(i64::MAX)
}

pub(crate) const FILE: &str = "master.db";
/// 5 s: a client that writes to master.db keeps logins waiting no longer.
const BUSY_WAIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
