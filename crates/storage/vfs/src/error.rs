//! Errors of an encrypted database, and SQLite's code for each.

use std::fmt;
use std::sync::Arc;

use selenite_cipher::PageError;
use selenite_format::FormatError;
use selenite_keyring::KeyError;

use crate::{ffi::Code, role::Role};

/// Why a file was refused. The text goes to SQLite's error log and to `selenite_last_error()`.
#[derive(Debug)]
#[non_exhaustive]
pub enum VfsError {
    /// The file: unencrypted, although an identity is set.
    NotEncrypted(&'static str),
    /// The caller, or the source of the key.
    Key(KeyError),
    /// The caller: a new database is to be created without an identity.
    NoKeyToMake,
    /// The file: a page that was not sealed as this page of this database.
    Unauthentic {
        /// The role of the file that contains the page.
        role: Role,
        /// The page.
        page_no: u32,
    },
    /// The file: a page of a key epoch that is not in the superblock.
    UnknownEpoch {
        /// The role of the file that contains the page.
        role: Role,
        /// The page.
        page_no: u32,
        /// The epoch.
        epoch: u32,
    },
    /// The file: both superblocks are damaged, or the one in force is malformed.
    Superblock(FormatError),
    /// The file: both superblocks are damaged.
    BothDamaged,
    /// The file: another file of the same name has replaced it.
    Retired,
    /// The file: its superblock was replaced while it was open.
    Replaced(&'static str),
    /// The file: not the expected database.
    Unexpected(&'static str),
    /// The file: older than its anchor.
    Older(String),
    /// The anchor: it can't be read, or is not of this database.
    NoAnchor(String),
    /// The caller: a write that is impossible in an encrypted database.
    SettingsMismatch(&'static str),
    /// The caller: a statement that took the size of a page's content from the database of which another one has taken the
    /// name. It can be repeated.
    HasMoved,
    /// The caller: a deprecated suite that the settings do not allow.
    DeprecatedSuite,
    /// The caller: another copy of SQLite in this process has the file open.
    OtherSqlite,
    /// The caller: the temporary files of the connection would be unencrypted.
    MainOnOtherVfs,
    /// The caller: an attached database whose origin is allowed only by the URI in the ATTACH.
    Attached(Arc<KeyError>),
    /// The caller: a key in SQL, as in other products.
    KeyPragma,
    /// The caller: an invalid parameter of the URI or the environment.
    Setting(String),
    /// The machine: an error of the VFS below.
    Lower(Code),
}

impl VfsError {
    /// Whether another file of the same name has replaced the database.
    #[must_use]
    pub fn is_retired(&self) -> bool {
        matches!(self, Self::Retired | Self::Key(KeyError::Retired))
    }

    /// SQLite's code for this error.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotEncrypted(_) => Code::NOTADB,
            Self::Key(error) => match error {
                KeyError::KeyServiceUnavailable { .. } => Code::IOERR_AUTH,
                KeyError::ForeignOrigin { .. }
                | KeyError::OriginUnknown { .. }
                | KeyError::ArchiveUnproved
                | KeyError::PathReplaced { .. }
                | KeyError::NotPinned { .. } => Code::AUTH_USER,
                KeyError::Tampered { .. } | KeyError::Damaged => Code::CORRUPT,
                KeyError::UnsupportedVersion { .. } => Code::CANTOPEN,
                KeyError::NotEncrypted => Code::NOTADB,
                KeyError::NotApproved { .. } => Code::PERM,
                KeyError::Retired => Code::IOERR_VNODE,
                KeyError::BadSpec { .. }
                | KeyError::BadRecipient { .. }
                | KeyError::UnknownRecipient { .. }
                | KeyError::UnknownCommand { .. }
                | KeyError::BadFile { .. }
                | KeyError::BadConfig { .. }
                | KeyError::Untrusted { .. }
                | KeyError::Elevated { .. }
                | KeyError::BadPath { .. }
                | KeyError::BadOrigin { .. }
                | KeyError::Io { .. } => Code::CANTOPEN,
                KeyError::NoKey
                | KeyError::WrongKey
                | KeyError::KeyRefused { .. }
                | KeyError::DatabaseReplaced { .. }
                | KeyError::NotListed { .. }
                | KeyError::CannotWrap { .. }
                | KeyError::NoSuchSlot { .. }
                | KeyError::AmbiguousSlot { .. }
                | KeyError::LastSlot
                | KeyError::NoRecipient
                | KeyError::TooManySlots
                | KeyError::Unencodable(_)
                | KeyError::GenerationExhausted
                | _ => Code::IOERR_BADKEY,
            },
            Self::Unauthentic { .. } | Self::UnknownEpoch { .. } => Code::IOERR_DATA,
            Self::Superblock(FormatError::UnsupportedVersion { .. }) => Code::CANTOPEN,
            Self::Superblock(_) | Self::BothDamaged | Self::Replaced(_) => Code::CORRUPT,
            Self::Retired | Self::Unexpected(_) | Self::Older(_) => Code::IOERR_VNODE,
            Self::NoAnchor(_) => Code::IOERR_AUTH,
            Self::HasMoved => Code::BUSY,
            Self::SettingsMismatch(_) => Code::IOERR_CODEC,
            Self::Setting(_) | Self::NoKeyToMake => Code::CANTOPEN,
            Self::DeprecatedSuite | Self::MainOnOtherVfs => Code::PERM,
            Self::KeyPragma => Code::ERROR,
            Self::OtherSqlite => Code::CANTOPEN,
            Self::Attached(_) => Code::AUTH_USER,
            Self::Lower(code) => *code,
        }
    }

    /// The code for an error on opening a file. Programs that use encrypted SQLite databases know a
    /// missing or wrong key as "file is not a database". On a file that is already open the codes
    /// are I/O errors: after any other code SQLite's pager would continue the transaction
    /// (`pager_error` in pager.c).
    #[must_use]
    pub fn code_of_opening(&self) -> Code {
        match self.code() {
            Code::IOERR_BADKEY => Code::NOTADB,
            code => code,
        }
    }

    /// Whether the cause is a missing or wrong key: the file itself may be intact.
    #[must_use]
    pub fn is_of_key(&self) -> bool {
        match self {
            Self::NoKeyToMake | Self::Attached(_) => true,
            Self::Key(_) => [Code::IOERR_AUTH, Code::IOERR_BADKEY, Code::AUTH_USER].contains(&self.code()),
            Self::NotEncrypted(_)
            | Self::Unauthentic { .. }
            | Self::UnknownEpoch { .. }
            | Self::Superblock(_)
            | Self::BothDamaged
            | Self::Retired
            | Self::Replaced(_)
            | Self::HasMoved
            | Self::Unexpected(_)
            | Self::Older(_)
            | Self::NoAnchor(_)
            | Self::SettingsMismatch(_)
            | Self::DeprecatedSuite
            | Self::OtherSqlite
            | Self::MainOnOtherVfs
            | Self::KeyPragma
            | Self::Setting(_)
            | Self::Lower(_) => false,
        }
    }

    /// Converts an error of sealing or opening a page.
    #[must_use]
    pub fn of_page(error: PageError, role: Role, page_no: u32) -> Self {
        match error {
            PageError::UnknownEpoch { epoch, .. } => Self::UnknownEpoch {
                role,
                page_no,
                epoch: epoch.0,
            },
            PageError::DeprecatedSuite => Self::DeprecatedSuite,
            PageError::NotApproved(suite) => Self::Key(KeyError::NotApproved {
                what: format!("the suite {suite}"),
            }),
            PageError::SettingsMismatch => Self::SettingsMismatch("page size or reserved bytes"),
            PageError::Unauthentic | _ => Self::Unauthentic { role, page_no },
        }
    }
}

impl fmt::Display for VfsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEncrypted(what) => write!(f, "not encrypted: {what}"),
            Self::Key(error) => write!(f, "{error}; {}", error.advice()),
            Self::NoKeyToMake => write!(f, "no key given for a new encrypted database; {}", KeyError::NoKey.advice()),
            Self::Unauthentic { role, page_no } => write!(f, "page {page_no} of the {role} is not authentic"),
            Self::UnknownEpoch { role, page_no, epoch } => {
                write!(f, "page {page_no} of the {role} is of key epoch {epoch}, which this database does not list")
            }
            Self::Superblock(error) => write!(f, "superblock refused: {error}"),
            Self::HasMoved => f.write_str("the connection has just moved to the encrypted database: repeat the statement"),
            Self::BothDamaged => f.write_str("both superblocks are damaged"),
            Self::Retired => f.write_str("the file was replaced by another of the same name: open it again"),
            Self::Replaced(by) => write!(f, "the superblock was replaced {by} while the database was open"),
            Self::Unexpected(what) => write!(f, "not the database that is expected here: {what}"),
            Self::Older(by) => write!(
                f,
                "older than its anchor: {by}; find out who could put an old copy there, and restore the newest backup \
                    (after a restore on purpose: selenite follow DB --anchor-to PLACE --accept-older --once)"
            ),
            Self::NoAnchor(why) => write!(
                f,
                "no anchor to compare with: {why}; if the database never had one, selenite follow --first-anchor writes it, \
                    else find out what became of it (anchor_missing=allow opens without one)"
            ),
            Self::SettingsMismatch(what) => write!(f, "settings mismatch: {what}; nothing was written"),
            Self::DeprecatedSuite => f.write_str("TRIPLE_DES_3KEY is deprecated: add deprecated=allow to the URI"),
            Self::OtherSqlite => {
                f.write_str("this process has the file open without vfs=selenite, or in another copy of SQLite: when that connection is closed, this one's locks are lost; close it first, and open the file with vfs=selenite everywhere")
            }
            Self::KeyPragma => f.write_str(KEY_PRAGMA),
            Self::MainOnOtherVfs => f.write_str(
                "attached to a main database on another VFS, whose temporary files would be unencrypted: open \
                    main with vfs=selenite",
            ),
            Self::Attached(error) => write!(
                f,
                "{error}; for an attached database, origin=any counts only if the main database's URI has it, \
                    and commitment= admits nothing"
            ),
            Self::Setting(what) => f.write_str(what),
            Self::Lower(code) => write!(f, "{code} from the VFS below"),
        }
    }
}

impl std::error::Error for VfsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Key(error) => Some(error),
            Self::Superblock(error) => Some(error),
            Self::Lower(code) => Some(code),
            Self::Attached(error) => Some(error.as_ref()),
            Self::NotEncrypted(_)
            | Self::NoKeyToMake
            | Self::Unauthentic { .. }
            | Self::UnknownEpoch { .. }
            | Self::BothDamaged
            | Self::Retired
            | Self::Replaced(_)
            | Self::HasMoved
            | Self::Unexpected(_)
            | Self::Older(_)
            | Self::NoAnchor(_)
            | Self::SettingsMismatch(_)
            | Self::DeprecatedSuite
            | Self::OtherSqlite
            | Self::MainOnOtherVfs
            | Self::KeyPragma
            | Self::Setting(_) => None,
        }
    }
}

impl From<Code> for VfsError {
    fn from(code: Code) -> Self {
        Self::Lower(code)
    }
}

impl From<KeyError> for VfsError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

/// The answer to `PRAGMA key`.
pub const KEY_PRAGMA: &str =
    "keys cannot be given in SQL: set an identity with selenite_identity= in the URI or SELENITE_IDENTITY";
