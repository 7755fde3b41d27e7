//! Errors of keys, and advice for each.
//!
//! - no-secret-in-errors: no variant contains a secret, the output of a key service, or the text of
//!   a key file. Paths, names, key ids and sizes may appear.
//! - advice-is-total: [`KeyError::advice`] is total: a program that shows an error can always show advice.

mod advice;
mod message;

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use std::{error, io};

use selenite_cipher::{DatabaseId, IS_FIPS, SlotId, Suite, fips_module};
use selenite_format::FormatError;

/// Why a key could not be obtained or changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// The caller: the file is encrypted and no identity was given.
    NoKey,
    /// The caller: a file is to be encrypted and no identity was given.
    NoKeyToMake,
    /// The caller: none of the identities given opens a key slot of this database.
    WrongKey,
    /// The machine or the peer: a required key service failed, and no other identity opened the file.
    KeyServiceUnavailable {
        /// The service's name in the configuration, or the name of the age plugin.
        service: String,
        /// The failure.
        failure: ServiceFailure,
    },
    /// A slot requests more than a slot may (FORMAT 4.5), and nothing was spent on it, or its key service answered
    /// another key.
    KeyRefused {
        /// The slot.
        slot: SlotId,
        /// The request that is refused.
        refusal: Refusal,
    },
    /// The file: it is intact, but was not written by a holder of its keys.
    Tampered {
        /// The rule that is broken.
        what: &'static str,
        /// The error of the parser, if the parser found it.
        source: Option<FormatError>,
    },
    /// The file: the superblock's checksum is wrong. It is torn, not tampered.
    Damaged,
    /// The file: a later version of the format.
    UnsupportedVersion {
        /// The version in the file.
        version: u16,
    },
    /// The file: it is not an encrypted database.
    NotEncrypted,
    /// The file: it was replaced by another of the same name (FORMAT 3.10).
    Retired,
    /// The file: its id is in the keyring file, with the commitment of another master key.
    DatabaseReplaced {
        /// The id of both databases.
        database_id: DatabaseId,
    },
    /// The file: its id is not in the keyring file, which accepts only the databases that it lists.
    NotListed {
        /// The missing id.
        database_id: DatabaseId,
    },
    /// The file: there is no proof that the holder of the identity that opens it made or accepted it.
    ForeignOrigin {
        /// The id of the database.
        database_id: DatabaseId,
    },
    /// The file: the identity that opens it cannot determine its origin, and there is no path to pin.
    OriginUnknown {
        /// The id of the database.
        database_id: DatabaseId,
    },
    /// The backup: there is no proof that a holder of the database's master key made it. A
    /// recipient of one of its backups could have made it.
    ArchiveUnproved,
    /// The file: at this path another database was first used, or this one with another master key.
    PathReplaced {
        /// The path in the keyring file.
        path: PathBuf,
        /// The id of the present database.
        database_id: DatabaseId,
    },
    /// The machine: the identity cannot determine the origin of the database, and its first use
    /// could not be recorded.
    NotPinned {
        /// The error of the keyring file.
        source: Box<KeyError>,
    },
    /// The caller: a path that cannot be listed in a keyring file.
    BadPath {
        /// The path, which is not UTF-8.
        path: PathBuf,
    },
    /// The caller: an unknown origin policy.
    BadOrigin {
        /// The text given.
        value: String,
    },
    /// The caller: none of the given identities opens this exported key.
    ExportedClosed {
        /// The file.
        path: PathBuf,
    },
    /// The caller: an exported key belongs to another database.
    ExportedElsewhere {
        /// The database that it was exported from.
        exported: DatabaseId,
        /// The database that was to be opened.
        database: DatabaseId,
    },
    /// The caller: the exported master key is not the database's: it was renewed in between.
    ExportedOther {
        /// Creation time of the exported master key: seconds since 1970-01-01 UTC.
        exported: u64,
        /// Creation time of the master key in the superblock, which may be forged.
        database: u64,
    },
    /// The caller: text that should specify an identity or a recipient does not.
    BadSpec {
        /// The text, unless it contains a secret key.
        spec: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The caller: text that should specify a recipient does not.
    BadRecipient {
        /// The text.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The caller: text that should specify a recipient does not, and there is no file of that name.
    UnknownRecipient {
        /// The text.
        text: String,
        /// The error of the system for that file.
        source: io::Error,
    },
    /// The caller: no command of that name is in the configuration.
    UnknownCommand {
        /// The name.
        name: String,
        /// The known name with the most similar spelling.
        nearest: Option<String>,
    },
    /// The caller: the content of a key file, the configuration or a keyring file is not valid.
    BadFile {
        /// The file.
        path: PathBuf,
        /// The line, from 1, if the error is on one.
        line: Option<usize>,
        /// What is wrong with it; never its content.
        problem: Cow<'static, str>,
    },
    /// The caller: a value in the configuration or a keyring file is not valid.
    BadConfig {
        /// The file.
        path: PathBuf,
        /// The line, from 1, if the error is on one.
        line: Option<usize>,
        /// What is wrong with it; never its content.
        problem: Cow<'static, str>,
    },
    /// The caller: other users can change or replace a key file, the configuration or a keyring file.
    Untrusted {
        /// The file, or a folder above it that other users can change.
        path: PathBuf,
        /// What is wrong with it.
        problem: Distrust,
    },
    /// The caller: a process with elevated rights (set-user-ID, set-group-ID, file capabilities)
    /// takes no keys from programs, nor from sources that the user who started it controls.
    Elevated {
        /// The source that was requested.
        what: &'static str,
    },
    /// The machine: a key file, the configuration or a keyring file could not be read or written.
    Io {
        /// The verb: `read`, `write`, `look at`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The caller: a key cannot be wrapped for this recipient.
    CannotWrap {
        /// The recipient, as returned by [`crate::Recipient::describe`].
        recipient: String,
        /// The reason.
        problem: &'static str,
    },
    /// The caller: no slot has this id, label or recipient.
    NoSuchSlot {
        /// The text to be found.
        wanted: String,
    },
    /// The caller: several slots have an id with this prefix, this label or this recipient.
    AmbiguousSlot {
        /// The text to be found.
        wanted: String,
        /// The matching slots, each in the form of its summary.
        slots: Vec<String>,
    },
    /// The caller: without this slot the database could not be opened any more.
    LastSlot,
    /// The caller: a database needs at least one recipient when it is created.
    NoRecipient,
    /// The caller: a database has at most 32 slots.
    TooManySlots,
    /// The caller: a new superblock breaks a rule of the format (a label too long, too many slots).
    Unencodable(FormatError),
    /// The file: its generation has the maximum value.
    GenerationExhausted,
    /// The caller: pages are already being re-encrypted.
    UnderWay,
    /// The caller: no pages are being re-encrypted.
    NotUnderWay,
    /// The caller: neither the new suite nor the old one encrypts.
    NothingToChange,
    /// The build: the FIPS build does not do this (docs/FIPS.md).
    NotApproved {
        /// What: a suite, a kind of key, a command.
        what: String,
    },
}

/// How a key service failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServiceFailure {
    /// It could not be started, or communication with it failed.
    Io(io::Error),
    /// It did not finish in time, and was killed.
    TimedOut(Duration),
    /// It exited with a status other than 0.
    Exited(ExitStatus),
    /// This process ignores SIGCHLD, so that the system keeps no exit status, and the command answered nothing.
    StatusLost,
    /// Its answer has more bytes than allowed.
    AnswerTooLong(usize),
    /// Its answer has this many bytes, which is not a valid size.
    AnswerSize(usize),
    /// Unwrapping did not return the wrapped bytes, or the wrapped bytes were not encrypted.
    RoundTripFailed,
    /// The age plugin is not installed.
    NotInstalled,
    /// The age plugin refused. Its message is not repeated.
    Refused,
}

/// Why a file or folder is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distrust {
    /// Its owner is neither this process's user nor root.
    OtherOwner,
    /// Users other than its owner can write to it.
    OthersWrite,
}

/// A request of a slot that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Memory, passes or lanes of a passphrase are outside the limits.
    Cost,
    /// A passphrase costs more than the configuration allows (`passphrase_cost_max`).
    CostLimit,
    /// All passphrase slots together would cost more than one of them may.
    CostOfAll,
    /// Parameters or wrapped key do not have the size of their kind.
    Size,
    /// The machine lacks the memory that a passphrase slot requires.
    OutOfMemory,
    /// A passphrase is stretched with Argon2id, and this is the FIPS build.
    NotApproved,
    /// The slot's service answered what is not the key that the slot was made for, or it is a slot of another database.
    OtherKey,
}

impl KeyError {
    /// Refuses what the FIPS build does not do; `Ok` in the normal build.
    ///
    /// `NotApproved`.
    pub fn refuse_in_fips(what: &str) -> Result<(), KeyError> {
        if IS_FIPS {
            return Err(KeyError::NotApproved { what: what.to_owned() });
        }
        Ok(())
    }

    /// Refuses a suite in which this build does not seal.
    ///
    /// `NotApproved`; also if this is the FIPS build and its module is not in FIPS mode.
    pub(crate) fn check_sealing(suite: Suite) -> Result<(), KeyError> {
        Self::check_suite(suite, suite.is_sealed_here())
    }

    /// As [`KeyError::check_sealing`], of a suite in which this build opens.
    pub(crate) fn check_opening(suite: Suite) -> Result<(), KeyError> {
        Self::check_suite(suite, suite.is_opened_here())
    }

    fn check_suite(suite: Suite, is_approved: bool) -> Result<(), KeyError> {
        fips_module().map_err(|error| KeyError::NotApproved {
            what: error.to_string(),
        })?;
        if !is_approved {
            return Err(KeyError::NotApproved {
                what: format!("the suite {suite}"),
            });
        }
        Ok(())
    }
}

impl error::Error for KeyError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        if let Self::Io { source, .. }
        | Self::UnknownRecipient { source, .. }
        | Self::KeyServiceUnavailable {
            failure: ServiceFailure::Io(source),
            ..
        } = self
        {
            return Some(source);
        }
        if let Self::Unencodable(source)
        | Self::Tampered {
            source: Some(source), ..
        } = self
        {
            return Some(source);
        }
        if let Self::NotPinned { source } = self {
            return Some(source.as_ref());
        }
        None
    }
}

#[cfg(test)]
mod tests;
