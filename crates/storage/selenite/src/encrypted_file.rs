//! The interface for applications: one database file, and the operations on it as a whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use selenite_backup::{BackupError, Destination, StoreErrorKind};

use crate::backup::{self, Backup};
use crate::restore::{self, Restore, Restored};
use crate::storage::Disk;
use crate::verify::{self, Verify};
use crate::{Access, Database, Encrypt, EngineError, Layout, Outcome, Status, Target};

/// An encrypted database file.
///
/// It holds a path and an [`Access`], no open file: each method opens what it needs and closes it.
/// A connection that [`EncryptedFile::open`] returns is the application's own.
///
/// Operations run in the calling thread until they are done. [`Access::watch`] reports their
/// progress, and can stop them.
#[derive(Clone, Debug)]
pub struct EncryptedFile {
    path: PathBuf,
    access: Access,
}

impl EncryptedFile {
    /// The file at `path`, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, access: Access) -> Self {
        Self {
            path: path.into(),
            access,
        }
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a connection to the existing database.
    ///
    /// The connection is rusqlite's own: a connection to the SQLite that is linked into this program,
    /// through the VFS `selenite`. Its busy timeout is [`Access::busy_wait`].
    ///
    /// ```
    /// # use selenite::{Access, EncryptedFile};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// # let key = folder.join("key.txt");
    /// # selenite::create_identity(&key)?;
    /// let database = EncryptedFile::new(folder.join("app.db"), Access::with_identity(&key));
    /// # database.create(&selenite::Layout::default())?.execute_batch("CREATE TABLE note (text TEXT)")?;
    /// let connection = database.open()?;
    /// connection.execute("INSERT INTO note VALUES (?1)", ["for my eyes only"])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`EngineError::NotEncrypted`] for an unencrypted database; [`EngineError::Key`] if no identity opens it;
    /// [`EngineError::Refused`] for pages that are not authentic; [`EngineError::Io`]; [`EngineError::Sqlite`].
    pub fn open(&self) -> Result<Connection, EngineError> {
        Ok(Database::open(&Disk, &self.path, &self.access)?.into_connection())
    }

    /// Creates the database, and opens a connection to it. The identity in force gets its first key slot.
    ///
    /// # Errors
    /// [`EngineError::Exists`] if the file exists already; [`EngineError::Key`] without an identity;
    /// [`EngineError::Io`]; [`EngineError::Sqlite`].
    pub fn create(&self, layout: &Layout) -> Result<Connection, EngineError> {
        Ok(Database::create(&Disk, &self.path, &self.access, layout)?.into_connection())
    }

    /// Encrypts an unencrypted database: in place, while no other connection uses it, or to a new file.
    ///
    /// The copy is compared with the original row by row before it replaces it. If the operation fails, or the
    /// process is killed, the database is as it was.
    ///
    /// ```
    /// # use selenite::{Access, EncryptedFile};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// # let key = folder.join("key.txt");
    /// # selenite::create_identity(&key)?;
    /// let path = folder.join("old.db");
    /// let connection = selenite::rusqlite::Connection::open(&path)?;
    /// connection.execute_batch("CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('secret')")?;
    /// drop(connection);
    ///
    /// let database = EncryptedFile::new(&path, Access::with_identity(&key));
    /// let outcome = database.encrypt(&selenite::Encrypt::default())?;
    /// assert_eq!(outcome.row_count, 1);
    /// assert!(!std::fs::read(&path)?.windows(6).any(|bytes| bytes == b"secret"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`EngineError::Busy`] if it is in use; [`EngineError::AlreadyEncrypted`]; [`EngineError::NotEncrypted`] for a
    /// file that is no database; [`EngineError::Key`] without an identity; [`EngineError::Exists`] for a target that
    /// exists; [`EngineError::CopyDiffers`] if the disk did not keep the copy; [`EngineError::Io`].
    pub fn encrypt(&self, how: &Encrypt) -> Result<Outcome, EngineError> {
        crate::encrypt::encrypt(&Disk, &self.path, &self.access, how, &self.access.watch)
    }

    /// Decrypts the database: in place, while no other connection uses it, or to a new file.
    ///
    /// # Errors
    /// As [`EncryptedFile::encrypt`]; [`EngineError::NotEncrypted`] if there is nothing to decrypt.
    pub fn decrypt(&self, target: &Target) -> Result<Outcome, EngineError> {
        crate::decrypt::decrypt(&Disk, &self.path, &self.access, target, &self.access.watch)
    }

    /// Describes the database: its files, suite, key slots and state. Without a key it is what the file states about
    /// itself, unauthenticated.
    ///
    /// # Errors
    /// [`EngineError::Io`]; errors of a damaged superblock.
    pub fn status(&self) -> Result<Status, EngineError> {
        crate::status::status(&Disk, &self.path, &self.access)
    }

    /// Authenticates every page, then runs SQLite's integrity check. Other processes may use the database
    /// meanwhile; this one must have no connection to it.
    ///
    /// Bad pages are not an error: see [`VerifyReport`](crate::VerifyReport).
    ///
    /// ```
    /// # use selenite::{Access, EncryptedFile};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// # let key = folder.join("key.txt");
    /// # selenite::create_identity(&key)?;
    /// # let database = EncryptedFile::new(folder.join("app.db"), Access::with_identity(&key));
    /// # database.create(&selenite::Layout::default())?.execute_batch("CREATE TABLE note (text TEXT)")?;
    /// let report = database.verify()?;
    /// assert!(report.physical.is_good());
    /// assert_eq!(report.faults, Some(vec![]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`EngineError::NotEncrypted`]; [`EngineError::Key`]; [`EngineError::Busy`] if this process has it open;
    /// [`EngineError::Io`]; [`EngineError::Interrupted`].
    pub fn verify(&self) -> Result<verify::Report, EngineError> {
        verify::verify(&Disk, &self.path, &self.access, &Verify::default(), &self.access.watch)
    }

    /// Backs up the database, online, compressed and encrypted. `destination` is a folder, a `file:` URL, or
    /// `s3://BUCKET/PREFIX` with the feature `s3`.
    ///
    /// ```
    /// # use selenite::{Access, EncryptedFile};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// # let key = folder.join("key.txt");
    /// # selenite::create_identity(&key)?;
    /// # let database = EncryptedFile::new(folder.join("app.db"), Access::with_identity(&key));
    /// # database.create(&selenite::Layout::default())?.execute_batch("CREATE TABLE note (text TEXT)")?;
    /// # let access = Access::with_identity(&key);
    /// # let backups = format!("file://{}/backups", folder.display());
    /// let full = database.backup(&backups, selenite::BackupOptions::default())?;
    /// assert!(full.missing.is_empty());
    ///
    /// let restored = EncryptedFile::new(folder.join("restored.db"), access);
    /// restored.restore(&backups)?;
    /// assert!(restored.verify()?.physical.is_good());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`EngineError::Usage`] for a destination that is not understood; [`EngineError::Backup`]; as
    /// [`EncryptedFile::open`].
    pub fn backup(&self, destination: &str, how: Backup) -> Result<backup::Report, EngineError> {
        let destination = open_destination(destination)?;
        backup::backup(&Disk, &self.path, &self.access, how, &destination, &self.access.watch)
    }

    /// Restores the newest backup at `destination` to this file, which must not exist yet.
    ///
    /// # Errors
    /// As [`EncryptedFile::restore_with`].
    pub fn restore(&self, destination: &str) -> Result<Restored, EngineError> {
        self.restore_with(destination, &Restore::new(&self.path))
    }

    /// Restores a backup; `how` specifies which one, to which path, for which recipients. Every page is authenticated,
    /// and encrypted under a new data key.
    ///
    /// # Errors
    /// [`EngineError::Backup`]; [`EngineError::Exists`]; [`EngineError::Busy`] if the file that is to be replaced is
    /// in use; [`EngineError::Key`]; [`EngineError::Io`]; [`EngineError::NoRoom`]. There is then no new file.
    pub fn restore_with(&self, destination: &str, how: &Restore) -> Result<Restored, EngineError> {
        let destination = open_destination(destination)?;
        restore::restore(&Disk, destination.as_ref(), &self.access, how, &self.access.watch)
    }
}

/// Creates the file of a new identity, an age key, readable by its owner only. Returns its recipient, `age1...`.
///
/// Keep a copy of the file elsewhere: without it, nothing can be opened that is encrypted for it.
///
/// # Errors
/// [`EngineError::Key`] if the file exists or cannot be written.
pub fn create_identity(path: &Path) -> Result<String, EngineError> {
    selenite_keyring::KeyError::refuse_in_fips("an age identity")?;
    let new = selenite_keyring::keygen(crate::now());
    selenite_keyring::write_key_file(path, new.text.as_bytes())?;
    Ok(new.recipient)
}

/// Opens the destination of backups that `spec` names, without a request to it.
///
/// # Errors
/// [`EngineError::Usage`] for a text that names none; [`EngineError::Backup`].
#[doc(hidden)]
pub fn open_destination(spec: &str) -> Result<Arc<dyn Destination>, EngineError> {
    match selenite_backup::open(spec) {
        Ok(destination) => Ok(Arc::from(destination)),
        Err(error) if error.kind == StoreErrorKind::Usage => Err(EngineError::Usage {
            what: error.to_string(),
            next: "use a folder, or s3://BUCKET/PREFIX with the AWS_* variables or a profile in ~/.aws: docs/CONFIGURATION.md".to_owned(),
        }),
        Err(error) => Err(EngineError::Backup(BackupError::Store(error))),
    }
}
