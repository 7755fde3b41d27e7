//! Errors of a worker.

use std::fmt;
use std::path::PathBuf;

/// Why a request could not be carried out. It is the text of an `error` answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum WorkerError {
    /// The line is not a request.
    NoRequest(String),
    /// The request came in a wrong order, or asks for something unavailable.
    Refused(String),
    /// An error of SQLite.
    Sqlite(rusqlite::Error),
    /// An error of the operating system.
    Io {
        /// The operation, for example `read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// An error of the engine, in its own words.
    Engine(String),
    /// A result of the database is wrong.
    Wrong(String),
}

impl WorkerError {
    /// A closure for `map_err`.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// Whether another connection had the database locked.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        let Self::Sqlite(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
        )
    }
}

impl fmt::Display for WorkerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRequest(what) => write!(formatter, "this is no request: {what}"),
            Self::Refused(what) | Self::Engine(what) | Self::Wrong(what) => formatter.write_str(what),
            Self::Sqlite(error) => write!(formatter, "SQLite: {error}"),
            Self::Io { action, path, source } => write!(formatter, "could not {action} {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for WorkerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sqlite(error) => Some(error),
            Self::Io { source, .. } => Some(source),
            Self::NoRequest(_) | Self::Refused(_) | Self::Engine(_) | Self::Wrong(_) => None,
        }
    }
}

impl From<rusqlite::Error> for WorkerError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}
