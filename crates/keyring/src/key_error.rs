//! What can go wrong with keys, and what to do about it.
//!
//! E1. No variant holds a secret, what a key service printed, or the text of a key file. Paths, names, key ids
//!     and sizes may appear.
//! E2. [`KeyError::advice`] is total: whoever shows an error can show the way on.

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use std::{error, fmt, io};

use selenite_cipher::{DatabaseId, SlotId};
use selenite_format::FormatError;

use crate::hex;

/// Why a key could not be had, or not be changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// The caller: the file is encrypted and no identity was given.
    NoKey,
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
    /// The caller: text that should name an identity or a recipient does not.
    BadSpec {
        /// The text, but for one that holds a secret key.
        spec: String,
        /// What is wrong with it.
        problem: &'static str,
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
    /// The machine: a key file, the configuration or a keyring file could not be read or written.
    Io {
        /// The verb: `read`, `write`.
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
    /// The caller: no slot's id begins so.
    NoSuchSlot {
        /// What was asked for.
        prefix: String,
    },
    /// The caller: more slots than one begin so.
    AmbiguousSlot {
        /// What was asked for.
        prefix: String,
        /// How many there are.
        count: usize,
    },
    /// The caller: without this slot nobody could open the database again.
    LastSlot,
    /// The caller: a database has to be created for somebody.
    NoRecipient,
    /// The caller: a database has at most 32 slots.
    TooManySlots,
    /// The caller: a new superblock breaks a rule of the format (a label too long, too many slots).
    Unencodable(FormatError),
    /// The file: its generation is the highest there is.
    GenerationExhausted,
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
    /// It did not give back what it was given to keep, or kept it in the clear.
    NotKept,
    /// The age plugin is not installed.
    NotInstalled,
    /// The age plugin said no. What it said is not repeated.
    Refused,
}

/// What a slot asks for that it will not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Memory, passes or lanes of a passphrase are outside the limits.
    Cost,
    /// All passphrase slots together would cost more than one of them may.
    CostOfAll,
    /// Parameters or wrapped key have another size than their kind has.
    Size,
    /// The machine has not the memory that a passphrase slot takes.
    OutOfMemory,
}

impl KeyError {
    /// What to do next, for people: a sentence without its full stop.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NoKey => "give an identity, on the command line or as `identity` in the configuration",
            Self::WrongKey => {
                "compare the key slots, which can be listed without a key, with the identities that you have"
            }
            Self::KeyServiceAway { failure, .. } => failure.advice(),
            Self::KeyRefused {
                refusal: Refusal::OutOfMemory,
                ..
            } => "use another identity, or a machine with more memory",
            Self::KeyRefused { .. } => {
                "use another identity; if none is left, find out who wrote this slot, for it was not selenite"
            }
            Self::Tampered { .. } => "restore the file from a backup, and find out who could write to it",
            Self::Damaged => "restore the file from a backup",
            Self::UnsupportedVersion { .. } => "use a newer selenite",
            Self::NotEncrypted => "encrypt it first, or check that this is the file you meant",
            Self::Retired => "close the database and open it again by its name",
            Self::DatabaseReplaced { .. } => {
                "if its master key was renewed, replace its line in the keyring file; if not, do not trust this file"
            }
            Self::NotListed { .. } => "if you trust this file, add it to the keyring file",
            Self::BadSpec { .. } => {
                "use PATH, age:PATH, raw:PATH, passphrase:PATH or command:NAME; a recipient may also be age1..."
            }
            Self::UnknownCommand { .. } => "name the command under [commands] in the configuration",
            Self::BadFile { .. } => "correct the file, or name another",
            Self::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                "choose another name: keys are never overwritten"
            }
            Self::Io { .. } => "check the path and its permissions",
            Self::CannotWrap { .. } => "give the public recipient (age1...) instead",
            Self::NoSuchSlot { .. } => "list the key slots",
            Self::AmbiguousSlot { .. } => "give more digits",
            Self::LastSlot => "add another slot first, or replace this one",
            Self::NoRecipient => "name at least one recipient",
            Self::TooManySlots => "remove or replace a key slot",
            Self::Unencodable(_) => "use fewer key slots, or shorter labels",
            Self::GenerationExhausted => "copy the data into a new database",
        }
    }
}

impl ServiceFailure {
    fn advice(&self) -> &'static str {
        match self {
            Self::Io(_) => "check its path in the configuration, and that it may be run",
            Self::TimedOut(_) => "check that the service can be reached, then try again",
            Self::Exited(_) => "run it by hand to see what it says, then try again",
            Self::AnswerTooLong(_) | Self::AnswerSize(_) | Self::NotKept => {
                "it must answer raw bytes on stdout and nothing else; test `wrap` and `unwrap` by hand"
            }
            Self::NotInstalled => "install the age plugin somewhere in PATH",
            Self::Refused => "try the plugin with age by hand: it may want a touch, a PIN or a terminal",
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKey => f.write_str("no key given for an encrypted database"),
            Self::WrongKey => f.write_str("none of the keys given opens this database"),
            Self::KeyServiceAway { service, failure } => write!(f, "key service {service:?} {failure}"),
            Self::KeyRefused { slot, refusal } => {
                write!(f, "key slot {} refused: {refusal}", slot)
            }
            Self::Tampered { what, .. } => write!(f, "superblock was tampered with: {what}"),
            Self::Damaged => f.write_str("superblock is damaged"),
            Self::UnsupportedVersion { version } => write!(f, "format version {version} is not supported"),
            Self::NotEncrypted => f.write_str("not an encrypted database"),
            Self::Retired => f.write_str("database was replaced by another of the same name"),
            Self::DatabaseReplaced { database_id } => write!(
                f,
                "database {} has another master key than the keyring file says",
                database_id
            ),
            Self::NotListed { database_id } => {
                write!(f, "database {} is not in the keyring file", database_id)
            }
            Self::BadSpec { spec, problem } => write!(f, "{spec:?}: {problem}"),
            Self::UnknownCommand { name, nearest } => {
                write!(f, "the configuration has no command {name:?}")?;
                nearest
                    .iter()
                    .try_for_each(|near| write!(f, ", but one named {near:?}"))
            }
            Self::BadFile { path, line, problem } => {
                write!(f, "{}", path.display())?;
                line.iter().try_for_each(|line| write!(f, ", line {line}"))?;
                write!(f, ": {problem}")
            }
            Self::Io { verb, path, source } => write!(f, "can't {verb} {}: {source}", path.display()),
            Self::CannotWrap { recipient, problem } => write!(f, "{recipient}: {problem}"),
            Self::NoSuchSlot { prefix } => write!(f, "no key slot's id begins with {prefix:?}"),
            Self::AmbiguousSlot { prefix, count } => {
                write!(f, "the ids of {count} key slots begin with {prefix:?}")
            }
            Self::LastSlot => f.write_str("the last key slot can't be removed"),
            Self::NoRecipient => f.write_str("no recipient given for a new database"),
            Self::TooManySlots => f.write_str("a database has at most 32 key slots"),
            Self::Unencodable(source) => write!(f, "{source}"),
            Self::GenerationExhausted => f.write_str("the superblock's generation is the highest there is"),
        }
    }
}

impl fmt::Display for ServiceFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(source) => write!(f, "could not be run: {source}"),
            Self::TimedOut(limit) => write!(f, "gave no answer within {limit:?}"),
            Self::Exited(status) => write!(f, "ended with {status}"),
            Self::AnswerTooLong(max) => write!(f, "answered more than {max} bytes"),
            Self::AnswerSize(size) => write!(f, "answered {size} bytes, which is no wrapped key"),
            Self::NotKept => f.write_str("did not keep the key it was given"),
            Self::NotInstalled => f.write_str("is not installed"),
            Self::Refused => f.write_str("refused"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cost => "its passphrase cost is outside the limits",
            Self::CostOfAll => "the passphrase slots together cost more than one may",
            Self::Size => "its parameters or its wrapped key have a wrong size",
            Self::OutOfMemory => "this machine has not the memory that its passphrase takes",
        })
    }
}

impl error::Error for KeyError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        if let Self::Io { source, .. }
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
        None
    }
}
