//! The errors of backups, and who is at fault.

use std::borrow::Cow;
use std::fmt;

use selenite_cipher::DatabaseId;
use selenite_format::{FormatError, SourceError};
use selenite_keyring::KeyError;

use crate::archive::ArchiveError;
use crate::{
    destination::{StoreError, StoreErrorKind},
    names::ArchiveName,
};

/// Why a backup could not be made or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum BackupError {
    /// The caller: no such backup exists there.
    NotThere {
        /// The backup that was requested.
        what: String,
    },
    /// The caller or the key service: no given identity opens the archive, or a pin does not match.
    Key {
        /// The archive.
        archive: ArchiveName,
        /// The error of the key.
        source: KeyError,
    },
    /// The archive has no manifest: it was never finished, or is being written.
    Unfinished {
        /// The archive.
        archive: ArchiveName,
    },
    /// The destination: an object is not authentic.
    Unauthentic {
        /// The object.
        object: String,
        /// What is wrong with it.
        what: String,
    },
    /// The destination: a base of this archive is missing.
    MissingLink {
        /// The archive whose base is missing.
        archive: ArchiveName,
        /// The second half of the name of the missing archive.
        base: String,
    },
    /// An archive does not match the reference in one that is based on it.
    Chain {
        /// The archive that is based on it.
        archive: ArchiveName,
        /// What does not match.
        what: String,
    },
    /// The destination: an object that a manifest lists is missing.
    Missing {
        /// The object.
        object: String,
    },
    /// All that was opened is authentic, but it is not the whole database.
    Incomplete {
        /// The archive.
        archive: ArchiveName,
        /// What is missing.
        what: String,
    },
    /// The backup is complete, but lacks pages that were bad when it was made.
    LacksPages {
        /// The archive.
        archive: ArchiveName,
        /// What is missing.
        what: String,
    },
    /// An object opened, but breaks a rule of FORMAT 12: no valid writer of this format made it.
    Form {
        /// The object.
        object: String,
        /// The rule.
        what: String,
    },
    /// An error of the destination.
    Store(StoreError),
    /// An error of the database's pages.
    Source(SourceError),
    /// Another backup process writes to the same archive.
    WrittenByOther {
        /// The object that already existed.
        object: String,
    },
    /// While a backup was made, its first object or its base was removed.
    Removed {
        /// The object.
        object: String,
    },
    /// An archive whose log is written was removed, or the place was replaced.
    ArchiveRemoved {
        /// The archive.
        archive: ArchiveName,
    },
    /// The destination: an object of a log is missing, although later ones exist.
    Gap {
        /// The archive.
        archive: ArchiveName,
        /// The missing object.
        object: String,
        /// What is unreachable without it.
        beyond: String,
        /// What to do next.
        next: String,
    },
    /// The database's key slots were changed while a backup of it was begun.
    KeysChanged,
    /// An error of the machine.
    Machine {
        /// The message.
        what: String,
    },
    /// The consumer of the pages stopped.
    Stopped,
}

impl BackupError {
    /// The error for an object that cannot be opened or parsed.
    #[must_use]
    pub fn of_part(object: impl Into<String>, error: ArchiveError) -> Self {
        let (object, what) = (object.into(), error.to_string());
        if matches!(error, ArchiveError::Malformed { .. }) {
            return Self::Form { object, what };
        }
        Self::Unauthentic { object, what }
    }

    /// The error for a `begun` object or a manifest that cannot be parsed.
    #[must_use]
    pub fn of_form(object: impl Into<String>, error: FormatError) -> Self {
        Self::Form {
            object: object.into(),
            what: error.to_string(),
        }
    }

    /// The error that there is no backup of this database.
    #[must_use]
    pub fn none_of(id: DatabaseId, place: &str) -> Self {
        let id = crate::names::database_prefix(id);
        Self::NotThere {
            what: format!("{place} holds no backup of database {}", id.trim_end_matches('/')),
        }
    }

    /// The next step for the user: a sentence without its full stop; may be empty.
    #[must_use]
    pub fn advice(&self) -> Cow<'_, str> {
        let Self::Key { source, .. } = self else {
            return self.own_advice().into();
        };
        if matches!(source, KeyError::DatabaseReplaced { .. } | KeyError::NotListed { .. }) {
            return UNPINNED_ADVICE.into();
        }
        source.advice()
    }

    fn own_advice(&self) -> &str {
        match self {
            Self::NotThere { .. } => "see what is there: selenite backups list",
            Self::Stopped | Self::Key { .. } => "",
            Self::Unfinished { .. } => "use another backup, or finish it: selenite backup --resume",
            Self::Unauthentic { .. } | Self::Form { .. } | Self::Chain { .. } | Self::Incomplete { .. } => {
                "use another backup, and find out who could write to the destination"
            }
            Self::Missing { .. } => "use another backup, and find out who could delete objects there",
            Self::MissingLink { .. } => "use a backup that does not depend on it, and check what was deleted there",
            Self::LacksPages { .. } => "use another backup, or accept what is there: --allow-missing",
            Self::Store(error) => match error.kind {
                StoreErrorKind::Missing => "check the destination's name",
                StoreErrorKind::Denied => "check the permissions there",
                StoreErrorKind::Full => "free space there, then try again",
                StoreErrorKind::InvalidResponse => "check the network, then try again",
                StoreErrorKind::Exists
                | StoreErrorKind::Unreachable
                | StoreErrorKind::Usage
                | StoreErrorKind::Other => "check the destination, then try again",
            },
            Self::Source(_) => "find out which pages are bad: selenite verify",
            Self::WrittenByOther { .. } => "wait for the other one to finish, then try again",
            Self::Removed { .. } => "do not prune while a backup is being made; make a full backup now",
            Self::Gap { next, .. } => next,
            Self::ArchiveRemoved { .. } | Self::KeysChanged | Self::Machine { .. } => "try again",
        }
    }
}

/// An error of the machine, or of a part of this program.
pub(crate) fn machine(error: impl fmt::Display) -> BackupError {
    BackupError::Machine {
        what: error.to_string(),
    }
}

impl From<StoreError> for BackupError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<SourceError> for BackupError {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere { what } | Self::Machine { what } => f.write_str(what),
            Self::Key { archive, source } => write!(f, "backup {archive}: {source}"),
            Self::Unfinished { archive } => write!(f, "backup {archive} was never finished"),
            Self::Unauthentic { object, what } => write!(f, "{object}: {what}"),
            Self::MissingLink { archive, base } => {
                write!(
                    f,
                    "backup {archive} depends on a missing one, whose name ends in {base}"
                )
            }
            Self::Missing { object } => write!(f, "{object} is missing"),
            Self::Chain { archive, what } | Self::Incomplete { archive, what } | Self::LacksPages { archive, what } => {
                write!(f, "backup {archive}: {what}")
            }
            Self::Form { object, what } => write!(f, "{object}: {what}"),
            Self::Store(error) => write!(f, "{error}"),
            Self::Source(error) => write!(f, "{error}"),
            Self::WrittenByOther { object } => {
                write!(f, "{object} already exists: another process is writing this backup")
            }
            Self::Removed { object } => write!(
                f,
                "{object} was removed while this backup was made: the backup is incomplete"
            ),
            Self::ArchiveRemoved { archive } => write!(f, "backup {archive} no longer exists"),
            Self::Gap {
                archive,
                object,
                beyond,
                ..
            } => write!(f, "backup {archive}: {object} is missing: {beyond}"),
            Self::KeysChanged => f.write_str("the database's keys were changed while the backup was begun"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for BackupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Key { source, .. } => Some(source),
            Self::Store(error) => Some(error),
            Self::Source(error) => Some(error),
            Self::NotThere { .. }
            | Self::Unfinished { .. }
            | Self::Unauthentic { .. }
            | Self::MissingLink { .. }
            | Self::Chain { .. }
            | Self::Missing { .. }
            | Self::Incomplete { .. }
            | Self::LacksPages { .. }
            | Self::Form { .. }
            | Self::WrittenByOther { .. }
            | Self::Removed { .. }
            | Self::ArchiveRemoved { .. }
            | Self::Gap { .. }
            | Self::KeysChanged
            | Self::Machine { .. }
            | Self::Stopped => None,
        }
    }
}

const UNPINNED_ADVICE: &str = "if it was made before the master key was renewed, and you trust everyone who could write to \
    the destination since, add --unpinned";
