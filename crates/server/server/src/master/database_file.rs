//! What master.db holds about a database's file: which it is, whether it has to be encrypted, and what was begun with
//! it and not finished.
//!
//! - `required-only-when-complete`: `must_be_encrypted` is cleared before the first page is
//!   decrypted, and set when all are encrypted. A kill in between leaves a database that can be
//!   opened, and the next start notes what its file says.
//! - `known-by-id`: a file is identified by the id in its superblock, which the database's master
//!   key authenticates.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row};
use selenite::DatabaseId;

use super::{DatabaseName, Master, MasterError};

/// An unfinished operation on a database's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unfinished {
    /// It is being created: by CREATE DATABASE, or by RESTORE DATABASE of one that did not exist.
    Creation,
    /// It is being removed.
    Removal,
    /// Another file is about to replace it.
    Restore,
}

/// A database's file, as master.db knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DatabaseFile {
    /// The database.
    pub database_id: i32,
    /// Its name.
    pub name: String,
    /// The name that the file has, if the database was renamed.
    pub file_name: String,
    /// The unfinished operation.
    pub unfinished: Option<Unfinished>,
    /// The id in its superblock, if it is known.
    pub file_id: Option<DatabaseId>,
    /// The commitment of its master key, if it is known. Only a holder of the master key can make another file that
    /// has it.
    pub commitment: Option<[u8; 32]>,
    /// The id of the file that is about to replace it.
    pub next_file_id: Option<DatabaseId>,
    /// Whether no page of it may be in clear.
    pub must_be_encrypted: bool,
    /// Whether an administrator chose a suite for it that is deprecated.
    pub allows_deprecated: bool,
}

impl DatabaseFile {
    /// Its path in the data folder.
    ///
    /// # Errors
    /// [`MasterError::Name`].
    pub fn path(&self, folder: &Path) -> Result<PathBuf, MasterError> {
        DatabaseName::path_of((&self.name, &self.file_name), folder)
    }
}

impl Unfinished {
    /// Its text in master.db.
    pub fn word(self) -> &'static str {
        match self {
            Self::Creation => "create",
            Self::Removal => "drop",
            Self::Restore => "restore",
        }
    }

    fn of(word: &str) -> Option<Self> {
        let all = [Self::Creation, Self::Removal, Self::Restore];
        all.into_iter().find(|one| one.word() == word)
    }
}

impl Master {
    /// What is known of a database's file, also of one that is being created or removed.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn file(&self, database_id: i32) -> Result<Option<DatabaseFile>, MasterError> {
        self.with(|connection| {
            let mut asked = connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?;
            Ok(asked.query_row([database_id], file).optional()?)
        })
    }

    /// Like [`Master::file`], for all databases except the server's own, in the order of ids.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn files(&self) -> Result<Vec<DatabaseFile>, MasterError> {
        self.with(|connection| {
            let mut asked = connection.prepare(&format!("{SELECT} WHERE id > 4 ORDER BY id"))?;
            let rows = asked.query_map([], file)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Notes the id of a file that is being created or was not known.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn note_file_id(&self, database_id: i32, file_id: DatabaseId) -> Result<(), MasterError> {
        self.update("file_id = ?2", database_id, &file_id.0.as_slice())
    }

    /// Notes the commitment of its file's master key.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn note_commitment(&self, database_id: i32, commitment: [u8; 32]) -> Result<(), MasterError> {
        self.update("commitment = ?2", database_id, &commitment.as_slice())
    }

    /// Whether the commitments of databases are noted. If not, an older server has created them all.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn has_commitments(&self) -> Result<bool, MasterError> {
        self.with(super::schema::has_commitments)
    }

    /// They are noted from now on.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn set_commitments(&self) -> Result<(), MasterError> {
        self.with(super::schema::set_commitments)
    }

    /// Notes that a database's file is being removed.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn begin_removal(&self, database_id: i32) -> Result<(), MasterError> {
        self.update("unfinished = ?2", database_id, &Unfinished::Removal.word())
    }

    /// Notes that a database's file is about to be replaced by that one, which may be in clear.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn begin_restore(&self, database_id: i32, next: DatabaseId) -> Result<(), MasterError> {
        self.change(|connection| {
            let sql = "UPDATE selenite_database SET unfinished = ?2, next_file_id = ?3 WHERE id = ?1";
            connection.execute(sql, (database_id, Unfinished::Restore.word(), next.0.as_slice()))?;
            Ok(())
        })
    }

    /// Notes that an operation on a database's file has ended without a change.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn finish_file(&self, database_id: i32) -> Result<(), MasterError> {
        self.change(|connection| finish(connection, database_id))
    }

    /// Notes that an operation has ended, and which file there is now.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn settle_file(
        &self,
        database_id: i32,
        (file_id, commitment): (DatabaseId, Option<[u8; 32]>),
        must_be_encrypted: bool,
    ) -> Result<(), MasterError> {
        self.change(|connection| {
            let sql =
                "UPDATE selenite_database SET file_id = ?2, commitment = ?3, must_be_encrypted = ?4 WHERE id = ?1";
            let commitment = commitment.as_ref().map(<[u8; 32]>::as_slice);
            connection.execute(sql, (database_id, file_id.0.as_slice(), commitment, must_be_encrypted))?;
            finish(connection, database_id)
        })
    }

    /// `required-only-when-complete`: notes whether a file has to be encrypted.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn require_encryption(&self, database_id: i32, is_required: bool) -> Result<(), MasterError> {
        self.update("must_be_encrypted = ?2", database_id, &is_required)
    }

    /// Notes that an administrator chose a deprecated suite for a database, or that it has none any more.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn allow_deprecated(&self, database_id: i32, is_allowed: bool) -> Result<(), MasterError> {
        self.update("allows_deprecated = ?2", database_id, &is_allowed)
    }

    fn update(&self, what: &str, database_id: i32, value: &dyn rusqlite::ToSql) -> Result<(), MasterError> {
        self.change(|connection| {
            let sql = format!("UPDATE selenite_database SET {what} WHERE id = ?1");
            connection.execute(&sql, rusqlite::params![database_id, value])?;
            Ok(())
        })
    }
}

fn finish(connection: &Connection, database_id: i32) -> Result<(), MasterError> {
    let sql = "UPDATE selenite_database SET unfinished = '', next_file_id = NULL WHERE id = ?1";
    connection.execute(sql, [database_id])?;
    Ok(())
}

fn file(row: &Row<'_>) -> rusqlite::Result<DatabaseFile> {
    let id = |bytes: Option<[u8; 16]>| bytes.map(DatabaseId);
    let word: String = row.get(2)?;
    Ok(DatabaseFile {
        database_id: row.get(0)?,
        name: row.get(1)?,
        unfinished: Unfinished::of(&word),
        file_id: id(row.get(3)?),
        next_file_id: id(row.get(4)?),
        must_be_encrypted: row.get(5)?,
        allows_deprecated: row.get(6)?,
        commitment: row.get(7)?,
        file_name: row.get(8)?,
    })
}

const SELECT: &str = "SELECT id, name, unfinished, file_id, next_file_id, must_be_encrypted, allows_deprecated, \
    commitment, file_name FROM selenite_database";
