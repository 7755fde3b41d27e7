//! What can go wrong with keys, and what to do about it.
//!
//! - no-secret-in-errors: no variant holds a secret, what a key service printed, or the text of a
//!   key file. Paths, names, key ids and sizes may appear.
//! - advice-is-total: [`KeyError::advice`] is total: a program that shows an error can always show advice.

mod advice;
mod message;

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use std::{error, io};

use selenite_cipher::{DatabaseId, SlotId};
use selenite_format::FormatError;

/// Why a key could not be had, or not be changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// The caller: the file is encrypted and no identity was given.
    NoKey,
    /// The caller: a file is to be encrypted and no identity was given.
    NoKeyToMake,
    /// The caller: none of the identities given opens a key slot of this database.
    WrongKey,
    /// The machine or the peer: a key service had to be asked, did not help, and nothing else opened the file.
    KeyServiceAway {
        /// The service's name in the configuration, or the name of the age plugin.
        service: String,
        /// What it did instead.
        failure: ServiceFailure,
    },
    /// The file: a slot asks for more than a slot may (FORMAT 4.5). Nothing was spent on it.
    KeyRefused {
        /// The slot.
        slot: SlotId,
        /// What it asks for.
        refusal: Refusal,
    },
    /// The file: it is whole, and it is not what the holder of its keys wrote.
    Tampered {
        /// The rule that is broken.
        what: &'static str,
        /// The finding of the parser, if it was the parser that found it.
        source: Option<FormatError>,
    },
    /// The file: the superblock's checksum is wrong. Torn, not tampered.
    Damaged,
    /// The file: a later version of the format.
    UnsupportedVersion {
        /// The version that the file names.
        version: u16,
    },
    /// The file: it is not an encrypted database.
    NotEncrypted,
    /// The file: it was replaced by another of the same name (FORMAT 3.10).
    Retired,
    /// The file: its id is in the keyring file, with the commitment of another master key.
    DatabaseReplaced {
        /// The id that both have.
        database_id: DatabaseId,
    },
    /// The file: its id is not in the keyring file, which admits only the databases that it lists.
    NotListed {
        /// The id that is missing.
        database_id: DatabaseId,
    },
    /// The file: nothing shows that the holder of the identity that opens it made or accepted it.
    ForeignOrigin {
        /// The id that it has.
        database_id: DatabaseId,
    },
    /// The file: the identity that opens it can't tell who made it, and there is no path to pin.
    OriginUnknown {
        /// The id that it has.
        database_id: DatabaseId,
    },
    /// The backup: nothing shows that a holder of the database's master key made it. A recipient of
    /// one of its backups could have.
    ArchiveUnproved,
    /// The file: at this path another database was first used, or this one with another master key.
    PathReplaced {
        /// The path that the keyring file lists.
        path: PathBuf,
        /// The id of what is there now.
        database_id: DatabaseId,
    },
    /// The machine: the identity can't tell who made the database, and its first use could not be noted.
    NotPinned {
        /// What is wrong with the keyring file.
        source: Box<KeyError>,
    },
    /// The caller: a path that no keyring file can list.
    BadPath {
        /// The path, which is not UTF-8.
        path: PathBuf,
    },
    /// The caller: a policy of origins that there is not.
    BadOrigin {
        /// The word.
        value: String,
    },
    /// The caller: none of the identities given opens this exported key.
    ExportedClosed {
        /// The file.
        path: PathBuf,
    },
    /// The caller: an exported key is another database's.
    ExportedElsewhere {
        /// The database that it was exported from.
        exported: DatabaseId,
        /// The database that it was to open.
        database: DatabaseId,
    },
    /// The caller: the master key was renewed between the export and the database as it is.
    ExportedOther {
        /// When the exported master key was made: seconds since 1970-01-01 UTC.
        exported: u64,
        /// When the database's was, or so it says.
        database: u64,
    },
    /// The caller: text that should name an identity or a recipient does not.
    BadSpec {
        /// The text, but for one that holds a secret key.
        spec: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The caller: text that should name a recipient does not.
    BadRecipient {
        /// The text.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The caller: text that should name a recipient is none, nor is there a file of that name.
    UnknownRecipient {
        /// The text.
        text: String,
        /// What the system said of the file.
        source: io::Error,
    },
    /// The caller: no command of that name is in the configuration.
    UnknownCommand {
        /// The name.
        name: String,
        /// The known name that is spelt most like it.
        nearest: Option<String>,
    },
    /// The caller: a key file, the configuration or a keyring file does not hold what it should.
    BadFile {
        /// The file.
        path: PathBuf,
        /// The line, from 1, where one is to blame.
        line: Option<usize>,
        /// What is wrong with it; never what it says.
        problem: Cow<'static, str>,
    },
    /// The caller: the configuration or a keyring file does not say what it could say.
    BadConfig {
        /// The file.
        path: PathBuf,
        /// The line, from 1, where one is to blame.
        line: Option<usize>,
        /// What is wrong with it; never what it says.
        problem: Cow<'static, str>,
    },
    /// The caller: others can change a key file, the configuration or a keyring file, or put another in its place.
    Untrusted {
        /// The file, or the folder above it that others can change.
        path: PathBuf,
        /// What is wrong with it.
        problem: Distrust,
    },
    /// The caller: a process with elevated rights (set-user-ID, set-group-ID, file capabilities)
    /// takes keys from no program, and from nothing that who started it chose.
    Elevated {
        /// What was asked for.
        what: &'static str,
    },
    /// The machine: a key file, the configuration or a keyring file could not be read or written.
    Io {
        /// The verb: `read`, `write`, `look at`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The caller: this recipient can't be wrapped for.
    CannotWrap {
        /// The recipient, as [`crate::Recipient::describe`] says it.
        recipient: String,
        /// Why not.
        problem: &'static str,
    },
    /// The caller: no slot has this id, label or recipient.
    NoSuchSlot {
        /// What was asked for.
        wanted: String,
    },
    /// The caller: more slots than one have an id that begins so, this label or this recipient.
    AmbiguousSlot {
        /// What was asked for.
        wanted: String,
        /// Those slots, each as its summary shows it.
        slots: Vec<String>,
    },
    /// The caller: without this slot no one could open the database again.
    LastSlot,
    /// The caller: a database has to be created for someone.
    NoRecipient,
    /// The caller: a database has at most 32 slots.
    TooManySlots,
    /// The caller: a new superblock breaks a rule of the format (a label too long, too many slots).
    Unencodable(FormatError),
    /// The file: its generation is the highest there is.
    GenerationExhausted,
    /// The caller: pages are being re-encrypted already.
    UnderWay,
    /// The caller: no pages are being re-encrypted.
    NotUnderWay,
    /// The caller: the new suite encrypts nothing, and neither does the old.
    NothingToChange,
}

/// What a key service did instead of its work.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServiceFailure {
    /// It could not be started, or not be talked to.
    Io(io::Error),
    /// It did not finish in time, and was killed.
    TimedOut(Duration),
    /// It ended with another status than 0.
    Exited(ExitStatus),
    /// It answered with more bytes than an answer may have.
    AnswerTooLong(usize),
    /// It answered with this many bytes, which is no answer to the question.
    AnswerSize(usize),
    /// It did not give back what it was given to keep, or left it unencrypted.
    NotKept,
    /// The age plugin is not installed.
    NotInstalled,
    /// The age plugin said no. What it said is not repeated.
    Refused,
}

/// Why a file or folder is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distrust {
    /// Neither this process's user nor root owns it.
    OtherOwner,
    /// Users other than its owner can write to it.
    OthersWrite,
}

/// What a slot asks for that it will not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Memory, passes or lanes of a passphrase are outside the limits.
    Cost,
    /// A passphrase costs more than the configuration admits (`passphrase_cost_max`).
    CostLimit,
    /// All passphrase slots together would cost more than one of them may.
    CostOfAll,
    /// Parameters or wrapped key have another size than their kind has.
    Size,
    /// The machine has not the memory that a passphrase slot takes.
    OutOfMemory,
}

impl error::Error for KeyError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        if let Self::Io { source, .. }
        | Self::UnknownRecipient { source, .. }
        | Self::KeyServiceAway {
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
