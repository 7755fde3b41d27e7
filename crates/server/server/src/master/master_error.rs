//! Why master.db was not read or changed.

use std::{fmt, io};

use selenite::EngineError;

use crate::password::PasswordFault;

/// Why master.db was not read or changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum MasterError {
    /// The caller: the name exists already. SQL Server's 15025 for a login, 1801 for a database.
    Taken(String),
    /// The caller: nothing has that name. SQL Server's 15151 for a login, 911 or 3701 for a database.
    Unknown(String),
    /// The caller: an invalid name of a login or database.
    Name(String),
    /// The caller: the operation is not allowed on the server's own.
    Reserved(String),
    /// The machine: the password was not hashed.
    Password(PasswordFault),
    /// The file: it was written by a newer server. Its version.
    Version(i64),
    /// The file: it is a database, but not a master.db. The name of a table that no master.db has.
    NotMaster(String),
    /// The caller: the first password could not be announced.
    NotTold(io::Error),
    /// The file, the key, or the machine.
    Engine(EngineError),
    /// SQLite.
    Sqlite(rusqlite::Error),
}

impl From<EngineError> for MasterError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<rusqlite::Error> for MasterError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<PasswordFault> for MasterError {
    fn from(fault: PasswordFault) -> Self {
        Self::Password(fault)
    }
}

impl fmt::Display for MasterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(name) => write!(f, "{name} already exists"),
            Self::Unknown(name) => write!(f, "no {name}"),
            Self::Name(name) => write!(f, "{name:?} is not a valid name"),
            Self::Reserved(name) => write!(f, "{name} belongs to the server"),
            Self::Password(fault) => write!(f, "{fault}"),
            Self::Version(version) => write!(f, "master.db is of a newer server (version {version})"),
            Self::NotMaster(table) => write!(f, "master.db is another database, with the table {table:?}"),
            Self::NotTold(error) => write!(f, "cannot report the first password: {error}"),
            Self::Engine(error) => write!(f, "{error}"),
            Self::Sqlite(error) => write!(f, "master.db: {error}"),
        }
    }
}

impl std::error::Error for MasterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Taken(_)
            | Self::Unknown(_)
            | Self::Name(_)
            | Self::Reserved(_)
            | Self::Version(_)
            | Self::NotMaster(_) => None,
            Self::Password(fault) => Some(fault),
            Self::NotTold(error) => Some(error),
            Self::Engine(error) => Some(error),
            Self::Sqlite(error) => Some(error),
        }
    }
}
