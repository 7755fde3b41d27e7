//! Warnings about a database.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use selenite_keyring::shell_word;

/// Age limits, in days; 0 is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The data key that new pages are sealed under.
    pub data_key_days: u64,
    /// The master key.
    pub master_key_days: u64,
    /// The last successful verification.
    pub verify_days: u64,
}

impl Default for Limits {
    /// Two years for the data key, the maximum of SP 800-57 (5.3.6) for a key that encrypts data;
    /// one year for the master key, whose renewal costs nothing; a month for a verification.
    fn default() -> Self {
        Self {
            data_key_days: 730,
            master_key_days: 365,
            verify_days: 30,
        }
    }
}

/// A reason to examine a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Warning {
    /// It is unencrypted, but others in the listing are encrypted.
    InClear,
    /// In our layout, and damaged or altered; the entry says why.
    Damaged,
    /// The keyring file, or another setting of the user, refuses it; the entry says why.
    Refused,
    /// Nothing shows that the holder of the identity in force made or accepted it, and it is not pinned.
    Foreign,
    /// It was replaced by another of the same name, and must no longer be used.
    Retired,
    /// Pages are, or may be, unencrypted.
    SuiteNone,
    /// Pages are, or may be, encrypted with a deprecated suite.
    SuiteDeprecated,
    /// The data key is older than the limit.
    DataKeyOld,
    /// The master key is older than the limit.
    MasterKeyOld,
    /// No verification of it is known.
    NeverVerified,
    /// The last verification was longer ago than the limit.
    VerifyOld,
    /// This time is in the future by the present clock.
    InFuture(&'static str),
    /// Its keys or state are older than at its last verification: an old copy was put in its place.
    SetBack,
    /// One of its two superblocks is damaged.
    SuperblockDamaged,
    /// One of its two superblocks lists a key that was dropped.
    SuperblockBehind,
    /// An unencrypted log or journal is beside it.
    LogInClear(PathBuf),
    /// An unencrypted copy, or a database named like one, is beside it.
    PlainCopy(PathBuf),
    /// A draft that an encryption, a decryption or an offline copy left when it was killed, or is
    /// making now.
    Draft(PathBuf),
    /// Its pages were being re-encrypted, and no process continues.
    Unfinished,
    /// Users other than its owner can read the key file that opens it.
    KeyReadable(PathBuf),
}

impl Warning {
    /// The code of the warning, which never changes.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InClear => "in_clear",
            Self::Damaged => "damaged",
            Self::Refused => "refused",
            Self::Foreign => "foreign",
            Self::Retired => "retired",
            Self::SuiteNone => "suite_none",
            Self::SuiteDeprecated => "suite_deprecated",
            Self::DataKeyOld => "data_key_old",
            Self::MasterKeyOld => "master_key_old",
            Self::NeverVerified => "never_verified",
            Self::VerifyOld => "verify_old",
            Self::InFuture(_) => "time_in_future",
            Self::SetBack => "set_back",
            Self::SuperblockDamaged => "superblock_damaged",
            Self::SuperblockBehind => "superblock_behind",
            Self::LogInClear(_) => "log_in_clear",
            Self::PlainCopy(_) => "plain_copy",
            Self::Draft(_) => "draft",
            Self::Unfinished => "unfinished",
            Self::KeyReadable(_) => "key_readable",
        }
    }

    /// The file that it is about, if that is not the database.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::LogInClear(path) | Self::PlainCopy(path) | Self::Draft(path) | Self::KeyReadable(path) => Some(path),
            Self::InClear
            | Self::Damaged
            | Self::Refused
            | Self::Foreign
            | Self::Retired
            | Self::SuiteNone
            | Self::SuiteDeprecated
            | Self::DataKeyOld
            | Self::MasterKeyOld
            | Self::NeverVerified
            | Self::VerifyOld
            | Self::InFuture(_)
            | Self::SetBack
            | Self::SuperblockDamaged
            | Self::SuperblockBehind
            | Self::Unfinished => None,
        }
    }
}

/// A short text. The name of a file is included unchanged, whatever it contains.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |path: &Path| {
            path.file_name()
                .unwrap_or(OsStr::new("?"))
                .to_string_lossy()
                .into_owned()
        };
        match self {
            Self::InClear => f.write_str("unencrypted among encrypted databases"),
            Self::Damaged => f.write_str("damaged"),
            Self::Refused => f.write_str("refused"),
            Self::Foreign => f.write_str("foreign origin: selenite keys accept DB if you know who made it"),
            Self::Retired => f.write_str("was replaced by another file"),
            Self::SuiteNone => f.write_str("suite NONE"),
            Self::SuiteDeprecated => f.write_str("suite deprecated"),
            Self::DataKeyOld => f.write_str("data key old"),
            Self::MasterKeyOld => f.write_str("master key old"),
            Self::NeverVerified => f.write_str("never verified"),
            Self::VerifyOld => f.write_str("verified long ago"),
            Self::InFuture(what) => write!(f, "{what} in the future"),
            Self::SetBack => f.write_str("older than at its last verification"),
            Self::SuperblockDamaged => f.write_str("one superblock is damaged"),
            Self::SuperblockBehind => f.write_str("one superblock lists a dropped key"),
            Self::LogInClear(path) => write!(f, "unencrypted log: {}", name(path)),
            Self::PlainCopy(path) => write!(f, "unencrypted copy: {}", name(path)),
            Self::Draft(path) => write!(f, "draft: {}", name(path)),
            Self::KeyReadable(path) => write!(f, "key file can be read by others: chmod go-r {}", shell_word(path)),
            Self::Unfinished => f.write_str("re-encryption was interrupted: selenite reencrypt DB --resume"),
        }
    }
}
