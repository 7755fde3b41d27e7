//! Advice for the user about each error.

use std::borrow::Cow;
use std::io;

use crate::shell_word;

use super::{Distrust, KeyError, Refusal, ServiceFailure};

impl KeyError {
    /// The next step for the user: a sentence without its full stop.
    pub fn advice(&self) -> Cow<'static, str> {
        let Self::Untrusted { path, problem } = self else {
            return self.fixed_advice().into();
        };
        let path = shell_word(path);
        let advice = match problem {
            Distrust::OtherOwner => format!("make the user or root its owner: chown USER {path}"),
            Distrust::OthersWrite => {
                format!("remove the write permission of its group and of others: chmod go-w {path}")
            }
        };
        advice.into()
    }

    /// Advice that is the same for every file.
    fn fixed_advice(&self) -> &'static str {
        match self {
            Self::NoKey | Self::NoKeyToMake => {
                "set an identity: --identity, SELENITE_IDENTITY, selenite_identity= in the URI, or the configuration file"
            }
            Self::WrongKey => "compare the key slots (selenite keys list, which needs no key) with your identities",
            Self::KeyServiceUnavailable { failure, .. } => failure.advice(),
            Self::KeyRefused { refusal, .. } => refusal.advice(),
            Self::Tampered { .. } => "restore the file from a backup, and find out who could write to it",
            Self::Damaged => "restore the file from a backup",
            Self::UnsupportedVersion { .. } => "use a newer selenite",
            Self::NotEncrypted => "encrypt it first, or check that this is the file you meant",
            Self::Retired => "close the database and reopen it by name",
            Self::DatabaseReplaced { .. } => {
                "if its master key was renewed, replace its line in the keyring file; if not, do not trust this file"
            }
            Self::NotListed { .. } => "if you trust this file, add it to the keyring file",
            Self::ForeignOrigin { .. } | Self::PathReplaced { .. } => {
                "if you know who made it, run `selenite keys accept DB` (for a backup, add --origin any); if not, do not use it"
            }
            Self::OriginUnknown { .. } | Self::ArchiveUnproved => "if you know who made it, add --origin any",
            Self::NotPinned { .. } => {
                "make the keyring file writable, name another (SELENITE_KEYRING), or set origin=any"
            }
            Self::BadPath { .. } => "give the file another name",
            Self::BadOrigin { .. } => "use own or any",
            Self::ExportedClosed { .. } => "use the identity of the recipient of the export: --identity",
            Self::ExportedElsewhere { .. } => "look for the key that was exported from this database",
            Self::ExportedOther { .. } => {
                "look for a key that was exported since, or for a copy of the database from before"
            }
            Self::BadSpec { .. } => {
                "an identity is a file (as selenite keygen writes it), age:PATH, raw:PATH, passphrase:PATH or command:NAME"
            }
            Self::BadRecipient { .. } | Self::UnknownRecipient { .. } => {
                "a recipient is an age public key (age1..., see selenite keygen), or an identity: PATH, age:PATH, raw:PATH, passphrase:PATH or command:NAME"
            }
            Self::UnknownCommand { .. } => "name the command under [commands] in the configuration",
            Self::BadFile { .. } => "correct the file, or name another",
            Self::BadConfig { .. } => "correct the file, or the variable that names it",
            Self::Untrusted { .. } => "let only the user and root write there",
            Self::Elevated { .. } => "name a key file in the URI: selenite_identity=",
            Self::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                "choose another name: keys are never overwritten"
            }
            Self::Io { .. } => "check the path and its permissions",
            Self::CannotWrap { .. } => "give the public recipient (age1...) instead",
            Self::NoSuchSlot { .. } => {
                "see the key slots: selenite keys list DB; give the first digits of an id, a label, or a recipient (age1...)"
            }
            Self::AmbiguousSlot { .. } => "give the id of one of them, or more of its digits",
            Self::LastSlot => "add another slot first, or replace this one",
            Self::NoRecipient => "name at least one recipient",
            Self::TooManySlots => "remove or replace a key slot",
            Self::Unencodable(_) => "use fewer key slots, or shorter labels",
            Self::UnderWay => "finish that first: selenite reencrypt DB --resume",
            Self::NotUnderWay => "nothing needs to be done",
            Self::NothingToChange => "choose a suite that encrypts",
            Self::NotApproved { .. } => {
                "docs/FIPS.md lists what this build does: AES_256_CTR_HMAC, raw keys, passphrases of 14 bytes and more, key commands; the normal build converts databases: selenite reencrypt DB --cipher AES_256_CTR_HMAC"
            }
            Self::GenerationExhausted => "copy the data into a new database",
        }
    }
}

impl Refusal {
    fn advice(self) -> &'static str {
        match self {
            Self::NotApproved => "use another identity; the normal build opens this slot",
            Self::OutOfMemory => "use another identity, or a machine with more memory",
            Self::OtherKey => {
                "check that the command asks the service that wrapped the key; if it does, find out who wrote this slot"
            }
            Self::CostLimit => "if you trust the file, raise passphrase_cost_max in the configuration file",
            Self::Cost | Self::CostOfAll | Self::Size => {
                "use another identity; this slot was not written by selenite: find out who wrote it"
            }
        }
    }
}

impl ServiceFailure {
    fn advice(&self) -> &'static str {
        match self {
            Self::Io(_) => "check its path in the configuration, and that it is executable",
            Self::TimedOut(_) => "check that the service can be reached, then try again",
            Self::Exited(_) => "run it by hand to see its output, then try again",
            Self::StatusLost => {
                "set SIGCHLD to SIG_DFL in the application, or run the command by hand to see its output"
            }
            Self::AnswerTooLong(_) | Self::AnswerSize(_) | Self::RoundTripFailed => {
                "it must write raw bytes to stdout and nothing else; test `wrap` and `unwrap` by hand"
            }
            Self::NotInstalled => "install the age plugin somewhere in PATH",
            Self::Refused => "try the plugin with age by hand: it may need a touch, a PIN or a terminal",
        }
    }
}
