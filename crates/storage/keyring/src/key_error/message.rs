//! The messages of errors: without secrets, output of key services, or text of key files.

use std::fmt;

use crate::rfc3339;

use super::{Distrust, KeyError, Refusal, ServiceFailure};

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKey => f.write_str("no key given for an encrypted database"),
            Self::NoKeyToMake => f.write_str("no key given for a new encrypted database"),
            Self::WrongKey => f.write_str("none of the keys given opens this database"),
            Self::KeyServiceUnavailable { service, failure } => {
                write!(f, "key service {service:?} {failure}")
            }
            Self::KeyRefused { slot, refusal } => {
                write!(f, "key slot {} refused: {refusal}", slot)
            }
            Self::Tampered { what, .. } => write!(f, "superblock was tampered with: {what}"),
            Self::Damaged => f.write_str("superblock is damaged"),
            Self::UnsupportedVersion { version } => {
                write!(f, "format version {version} is not supported")
            }
            Self::NotEncrypted => f.write_str("not an encrypted database"),
            Self::Retired => f.write_str("database was replaced by another file of the same name"),
            Self::DatabaseReplaced { database_id } => write!(
                f,
                "the master key of database {} is not the one in the keyring file",
                database_id
            ),
            Self::NotListed { database_id } => {
                write!(f, "database {} is not in the keyring file", database_id)
            }
            Self::ForeignOrigin { .. }
            | Self::OriginUnknown { .. }
            | Self::ArchiveUnproved
            | Self::PathReplaced { .. }
            | Self::NotPinned { .. }
            | Self::BadPath { .. }
            | Self::BadOrigin { .. } => self.fmt_origin(f),
            Self::ExportedClosed { path } => {
                write!(f, "none of the keys given opens the exported key {}", path.display())
            }
            Self::ExportedElsewhere { .. } | Self::ExportedOther { .. } => self.fmt_exported(f),
            Self::BadSpec { .. }
            | Self::BadRecipient { .. }
            | Self::UnknownRecipient { .. }
            | Self::UnknownCommand { .. } => self.fmt_spec(f),
            Self::BadFile { path, line, problem } | Self::BadConfig { path, line, problem } => {
                write!(f, "{}", path.display())?;
                line.iter().try_for_each(|line| write!(f, ", line {line}"))?;
                write!(f, ": {problem}")
            }
            Self::Untrusted { path, problem } => write!(f, "{} is not trusted: {problem}", path.display()),
            Self::NotApproved { what } => write!(f, "{what}: not approved in the FIPS build"),
            Self::Elevated { what } => write!(
                f,
                "{what} is refused in a process with elevated rights (set-user-ID, set-group-ID or capabilities)"
            ),
            Self::Io { verb, path, source } => {
                write!(f, "can't {verb} {}: {source}", path.display())
            }
            Self::CannotWrap { recipient, problem } => write!(f, "{recipient}: {problem}"),
            Self::NoSuchSlot { wanted } => write!(f, "no key slot has the id, label or recipient {wanted:?}"),
            Self::AmbiguousSlot { wanted, slots } => {
                write!(f, "{wanted:?} names {} key slots: {}", slots.len(), slots.join(", "))
            }
            Self::LastSlot => f.write_str("cannot remove the last key slot"),
            Self::NoRecipient => f.write_str("no recipient given for a new database"),
            Self::TooManySlots => f.write_str("a database has at most 32 key slots"),
            Self::Unencodable(source) => write!(f, "{source}"),
            Self::UnderWay => f.write_str("a re-encryption is already in progress"),
            Self::NotUnderWay => f.write_str("no re-encryption is in progress"),
            Self::NothingToChange => f.write_str("its pages are already unencrypted"),
            Self::GenerationExhausted => f.write_str("the superblock's generation number is exhausted"),
        }
    }
}

impl KeyError {
    #[expect(clippy::wildcard_enum_match_arm, reason = "Display sends these here, and has all")]
    fn fmt_origin(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignOrigin { database_id } => write!(
                f,
                "database {database_id} is of foreign origin: no key slot has an origin mark of the identity that opens it"
            ),
            Self::OriginUnknown { database_id } => write!(
                f,
                "the origin of database {database_id} is unknown: the key that opens it cannot prove who made it"
            ),
            Self::ArchiveUnproved => f.write_str(
                "no proof that a holder of the database's master key made it: it is from before origin MACs, or forged",
            ),
            Self::PathReplaced { path, database_id } => write!(
                f,
                "the keyring file lists another database, or another master key, for {}: it is now database {database_id}",
                path.display()
            ),
            Self::NotPinned { source } => write!(f, "cannot pin the database on first use: {source}"),
            Self::BadPath { path } => write!(f, "{}: the path is not UTF-8", path.display()),
            Self::BadOrigin { value } => write!(f, "invalid origin {value:?}: the values are own and any"),
            _ => Ok(()),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "Display sends these here, and has all")]
    fn fmt_spec(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadSpec { spec, problem } => write!(f, "{spec:?}: {problem}"),
            Self::BadRecipient { text, problem } => write!(f, "{text:?}: {problem}"),
            Self::UnknownRecipient { text, source } => {
                write!(f, "{text:?} is neither a recipient nor a file: {source}")
            }
            Self::UnknownCommand { name, nearest } => {
                write!(f, "no command {name:?} in the configuration")?;
                nearest
                    .iter()
                    .try_for_each(|near| write!(f, " (did you mean {near:?}?)"))
            }
            _ => Ok(()),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "Display sends these here, and has all")]
    fn fmt_exported(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExportedElsewhere { exported, database } => {
                write!(f, "the exported key is of database {exported}, not of {database}")
            }
            Self::ExportedOther { exported, database } => write!(
                f,
                "the exported master key was made {}, this database's {}: it was renewed in between",
                rfc3339(*exported),
                rfc3339(*database)
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for ServiceFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(source) => write!(f, "could not be run: {source}"),
            Self::TimedOut(limit) => write!(f, "gave no answer within {limit:?}"),
            Self::Exited(status) => write!(f, "ended with {status}"),
            Self::StatusLost => {
                f.write_str("answered nothing, and its exit status is not known: this process ignores SIGCHLD")
            }
            Self::AnswerTooLong(max) => write!(f, "answered more than {max} bytes"),
            Self::AnswerSize(size) => write!(f, "answered {size} bytes, which is not a wrapped key"),
            Self::RoundTripFailed => f.write_str("did not return the key that it was given, or left it unencrypted"),
            Self::NotInstalled => f.write_str("is not installed"),
            Self::Refused => f.write_str("refused"),
        }
    }
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherOwner => "it belongs to another user",
            Self::OthersWrite => "users other than its owner can write there",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cost => "its passphrase cost is outside the limits",
            Self::CostLimit => "its passphrase costs more than the configuration admits",
            Self::CostOfAll => "the passphrase slots together cost more than the limit",
            Self::Size => "its parameters or wrapped key have the wrong size",
            Self::OutOfMemory => "not enough memory for its passphrase",
            Self::NotApproved => "its passphrase is stretched with Argon2id, which is not approved in the FIPS build",
            Self::OtherKey => "its key service answered what is not the key of this slot",
        })
    }
}
