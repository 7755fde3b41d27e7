//! Errors of a store.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why a store could not be created, opened, read or written.
#[derive(Debug)]
pub enum StoreError {
    /// The caller: the file exists already.
    Exists(PathBuf),
    /// The caller: the file does not exist.
    Missing(PathBuf),
    /// The file: it is not a store.
    NotAStore(PathBuf),
    /// The file: a store of another version.
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The file: its contents are invalid.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The invalid part.
        what: String,
    },
    /// The caller: a study is running on it.
    Running(PathBuf),
    /// The machine: an error of SQLite.
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The machine: an I/O error.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl StoreError {
    pub(super) fn sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::NotAStore(path),
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged {
                path,
                what: source.to_string(),
            },
            _ => StoreError::Sqlite { path, source },
        }
    }

    pub(super) fn damaged(path: &Path, what: impl fmt::Display) -> StoreError {
        StoreError::Damaged {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }

    pub(super) fn io(path: &Path, source: io::Error) -> StoreError {
        StoreError::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// Advice on what to do next; empty if there is no advice beyond the obvious.
    #[must_use]
    pub fn next(&self) -> &'static str {
        match self {
            StoreError::Exists(_) => "choose another name, or continue it with `selenite lab resume`",
            StoreError::Missing(_) => "create one with `selenite lab run`",
            StoreError::NotAStore(_) => "give the .lab.db file of a `selenite lab run`",
            StoreError::Version { .. } => "use the version of selenite that made it",
            StoreError::Damaged { .. } => "restore an earlier copy; its results cannot be trusted",
            StoreError::Running(_) => "wait until it ends, or stop it with `selenite lab control --stop`",
            StoreError::Sqlite { .. } | StoreError::Io { .. } => "",
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Exists(path) => write!(out, "{} already exists", path.display()),
            StoreError::Missing(path) => write!(out, "{} does not exist", path.display()),
            StoreError::NotAStore(path) => write!(out, "{} is not the store of a study", path.display()),
            StoreError::Version { path, found } => {
                write!(out, "{} is a store of version {found}, not {VERSION}", path.display())
            }
            StoreError::Damaged { path, what } => write!(out, "{} is damaged: {what}", path.display()),
            StoreError::Running(path) => write!(out, "a study is already running on {}", path.display()),
            StoreError::Sqlite { path, source } => write!(out, "{}: {source}", path.display()),
            StoreError::Io { path, source } => write!(out, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Sqlite { source, .. } => Some(source),
            StoreError::Io { source, .. } => Some(source),
            StoreError::Exists(_)
            | StoreError::Missing(_)
            | StoreError::NotAStore(_)
            | StoreError::Version { .. }
            | StoreError::Damaged { .. }
            | StoreError::Running(_) => None,
        }
    }
}

/// The version of the store format that this program reads and writes.
pub(super) const VERSION: i64 = 1;
