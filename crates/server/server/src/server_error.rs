//! Why a server did not start.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::{fmt, io};

use selenite::{Class, EngineError};
use selenite_keyring::KeyError;

use crate::master::MasterError;

/// Why a server did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerError {
    /// The caller: the request does not make sense.
    Usage {
        /// What is wrong with it.
        what: String,
        /// What to do.
        next: String,
    },
    /// The caller: another server has the data folder.
    InUse {
        /// The folder.
        path: PathBuf,
        /// Its process, if it has recorded it.
        by: Option<u32>,
    },
    /// The machine: the address can't be listened at.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The file: a certificate or key that can't be used.
    Certificate {
        /// What is wrong.
        what: String,
    },
    /// master.db.
    Master(MasterError),
    /// The key, or the search for it.
    Engine(EngineError),
    /// The machine.
    Io {
        /// The verb: `read`, `lock`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The machine: no thread, no name, no randomness.
    Machine(String),
}

impl ServerError {
    /// Who is at fault.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::Usage { .. } => Class::Usage,
            Self::InUse { .. } => Class::Busy,
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => Class::Busy,
            Self::Listen { .. } | Self::Io { .. } => Class::Io,
            Self::Certificate { .. } => Class::Usage,
            Self::Engine(error) | Self::Master(MasterError::Engine(error)) => error.class(),
            Self::Master(_) | Self::Machine(_) => Class::Other,
        }
    }

    /// What to do next, for people; empty where there is nothing to say.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            Self::Usage { next, .. } => next.clone(),
            Self::InUse { .. } => "stop that server first, or use another folder: --data".to_owned(),
            Self::Listen { source, .. } => advice_of_listening(source).to_owned(),
            Self::Certificate { .. } => {
                "check --tls-cert and --tls-key; without them the server makes a self-signed certificate".to_owned()
            }
            Self::Engine(error) | Self::Master(MasterError::Engine(error)) => error.advice(),
            Self::Master(MasterError::Version(_)) => "use the newer program".to_owned(),
            Self::Master(MasterError::NotMaster(_)) => {
                "restore the right master.db, and find out who could write to the folder".to_owned()
            }
            Self::Master(MasterError::NotTold(_)) => {
                "start again when the password can be written, or name another file: --password-file".to_owned()
            }
            Self::Io { .. } => "check the path and its permissions".to_owned(),
            Self::Master(_) | Self::Machine(_) => String::new(),
        }
    }
}

fn advice_of_listening(source: &io::Error) -> &'static str {
    if source.kind() == io::ErrorKind::AddrInUse {
        "another program is using this port: stop it, or choose another: --listen 127.0.0.1:1434"
    } else if source.kind() == io::ErrorKind::AddrNotAvailable {
        "this machine has no such address; choose another: --listen 127.0.0.1:1433"
    } else if source.kind() == io::ErrorKind::PermissionDenied {
        "a port below 1024 needs privileges; choose another: --listen 127.0.0.1:1433"
    } else {
        "choose another address: --listen 127.0.0.1:1433"
    }
}

impl From<MasterError> for ServerError {
    fn from(error: MasterError) -> Self {
        Self::Master(error)
    }
}

impl From<EngineError> for ServerError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<KeyError> for ServerError {
    fn from(error: KeyError) -> Self {
        Self::Engine(error.into())
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { what, .. } => f.write_str(what),
            Self::InUse { path, by: Some(by) } => write!(f, "{}: in use by the server of process {by}", path.display()),
            Self::InUse { path, by: None } => write!(f, "{}: in use by another server", path.display()),
            Self::Listen { address, source } => write!(f, "cannot listen on {address}: {source}"),
            Self::Certificate { what } | Self::Machine(what) => f.write_str(what),
            Self::Master(error) => write!(f, "{error}"),
            Self::Engine(error) => write!(f, "{error}"),
            Self::Io { verb, path, source } => write!(f, "can't {verb} {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for ServerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Usage { .. } | Self::InUse { .. } | Self::Certificate { .. } | Self::Machine(_) => None,
            Self::Listen { source, .. } | Self::Io { source, .. } => Some(source),
            Self::Master(error) => Some(error),
            Self::Engine(error) => Some(error),
        }
    }
}
