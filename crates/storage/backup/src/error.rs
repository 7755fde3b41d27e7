//! What can be wrong with a backup, and whose fault it is.

use std::borrow::Cow;
use std::fmt;

use selenite_cipher::DatabaseId;
use selenite_format::{FormatError, SourceError};
use selenite_keyring::KeyError;

use crate::archive::ArchiveError;
use crate::{
    destination::{StoreError, Trouble},
    names::ArchiveName,
};

/// Why a backup was not made, or is not to be had.
#[derive(Debug)]
#[non_exhaustive]
pub enum BackupError {
    /// The caller: there is no backup of that kind there.
    NotThere {
        /// What was looked for.
        what: String,
    },
    /// The caller or the key's keeper: no one who was named opens it, or a pin does not fit.
    Key {
        /// The archive.
        archive: ArchiveName,
        /// Why not.
        source: KeyError,
    },
    /// The archive has no manifest: it was never finished, or is being written.
    Unfinished {
        /// The archive.
        archive: ArchiveName,
    },
    /// The destination: an object is not what was written there.
    Unauthentic {
        /// The object.
        object: String,
        /// What is wrong with it.
        what: String,
    },
    /// The destination: an archive that this one rests on is not there.
    MissingLink {
        /// The archive that rests on it.
        archive: ArchiveName,
        /// The second half of the name of the one that is missing.
        base: String,
    },
    /// An archive does not fit the one that rests on it.
    Chain {
        /// The one that rests on it.
        archive: ArchiveName,
        /// What does not fit.
        what: String,
    },
    /// The destination: an object that a manifest lists is not there.
    Missing {
        /// The object.
        object: String,
    },
    /// All that opened is authentic, and not all of the database.
    Incomplete {
        /// The archive.
        archive: ArchiveName,
        /// What is missing.
        what: String,
    },
    /// It is whole, and lacks pages that were bad when it was made.
    Lacking {
        /// The archive.
        archive: ArchiveName,
        /// What it lacks.
        what: String,
    },
    /// It opened, and breaks a rule of FORMAT 12: no one who writes this format made it.
    Form {
        /// The object.
        object: String,
        /// The rule.
        what: String,
    },
    /// The destination can't be used.
    Store(StoreError),
    /// The database's pages can't be had.
    Source(SourceError),
    /// Another backup goes on with the same archive.
    Taken {
        /// The object that was there already.
        object: String,
    },
    /// Someone removed, while a backup was made, what it rests on or what opens it.
    Removed {
        /// The object.
        object: String,
    },
    /// Someone removed an archive that was added to, or put another place where it was.
    Gone {
        /// The archive.
        archive: ArchiveName,
    },
    /// The destination: an object of a log is missing, and others that were written behind it are there.
    Gap {
        /// The archive.
        archive: ArchiveName,
        /// The object.
        object: String,
        /// What can't be reached without it.
        beyond: String,
        /// What to do next.
        next: String,
    },
    /// Who may open the database was changed while a backup of it was begun.
    KeysChanged,
    /// The machine.
    Machine {
        /// What it said.
        what: String,
    },
    /// Who took the pages wants no more of them.
    Stopped,
}

impl BackupError {
    /// An object that does not open, or is not of its form.
    #[must_use]
    pub fn of_part(object: impl Into<String>, error: ArchiveError) -> Self {
        let (object, what) = (object.into(), error.to_string());
        if matches!(error, ArchiveError::Malformed { .. }) {
            return Self::Form { object, what };
        }
        Self::Unauthentic { object, what }
    }

    /// What opens an archive, or its manifest, does not have its form.
    #[must_use]
    pub fn of_form(object: impl Into<String>, error: FormatError) -> Self {
        Self::Form {
            object: object.into(),
            what: error.to_string(),
        }
    }

    /// There is no backup of this database.
    #[must_use]
    pub fn none_of(id: DatabaseId, place: &str) -> Self {
        let id = crate::names::database_prefix(id);
        Self::NotThere {
            what: format!("{place} holds no backup of database {}", id.trim_end_matches('/')),
        }
    }

    /// What to do next, for people: a sentence without its full stop; empty where there is nothing to say.
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
            Self::Lacking { .. } => "use another backup, or accept what is there: --allow-missing",
            Self::Store(error) => match error.trouble {
                Trouble::Missing => "check the destination's name",
                Trouble::Denied => "check the permissions there",
                Trouble::Full => "free space there, then try again",
                Trouble::Lying => "check the network, then try again",
                Trouble::Exists | Trouble::Away | Trouble::Usage | Trouble::Other => {
                    "check the destination, then try again"
                }
            },
            Self::Source(_) => "find out which pages are bad: selenite verify",
            Self::Taken { .. } => "wait for the other one to finish, then try again",
            Self::Removed { .. } => "do not prune while a backup is being made; make a full backup now",
            Self::Gap { next, .. } => next,
            Self::Gone { .. } | Self::KeysChanged | Self::Machine { .. } => "try again",
        }
    }
}

/// What the machine, or a part of this program, could not do.
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
            Self::Chain { archive, what } | Self::Incomplete { archive, what } | Self::Lacking { archive, what } => {
                write!(f, "backup {archive}: {what}")
            }
            Self::Form { object, what } => write!(f, "{object}: {what}"),
            Self::Store(error) => write!(f, "{error}"),
            Self::Source(error) => write!(f, "{error}"),
            Self::Taken { object } => write!(f, "{object} already exists: another process is writing this backup"),
            Self::Removed { object } => write!(
                f,
                "{object} was removed while this backup was made: the backup is incomplete"
            ),
            Self::Gone { archive } => write!(f, "backup {archive} no longer exists"),
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
            | Self::Lacking { .. }
            | Self::Form { .. }
            | Self::Taken { .. }
            | Self::Removed { .. }
            | Self::Gone { .. }
            | Self::Gap { .. }
            | Self::KeysChanged
            | Self::Machine { .. }
            | Self::Stopped => None,
        }
    }
}

const UNPINNED_ADVICE: &str = "if it was made before the master key was renewed, and you trust everyone who could write to \
    the destination since, add --unpinned";
