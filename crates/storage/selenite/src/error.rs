//! The errors of operations: whose fault they are, and what to do next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use selenite_backup::{BackupError, SourceError, StoreErrorKind};
use selenite_keyring::{KeyError, shell_word};
use selenite_vfs::error::VfsError;

use crate::bad_page::BadPage;

/// Why an operation failed. Nothing was changed then, unless the variant says otherwise.
#[derive(Debug)]
#[non_exhaustive]
pub enum EngineError {
    /// The caller: the request is invalid.
    Usage {
        /// What is wrong with it.
        what: String,
        /// What to do.
        next: String,
    },
    /// The file: it is not encrypted, or no database at all.
    NotEncrypted {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// The file: it is encrypted already.
    AlreadyEncrypted {
        /// The file.
        path: PathBuf,
    },
    /// The caller: the path of a new file is taken.
    Exists {
        /// The file.
        path: PathBuf,
        /// Whether `--force` would have replaced it.
        can_force: bool,
    },
    /// The caller, or the holder of the key.
    Key(KeyError),
    /// The caller: slots would be dropped, because no given identity opens them.
    WouldDrop {
        /// The slots, one to a line.
        slots: String,
    },
    /// The caller: a database in another product's format, which the given key does not open.
    Unopened {
        /// The file.
        path: PathBuf,
        /// The formats that were tried; empty for the one that the caller named.
        tried: String,
    },
    /// The master key was renewed, but the keyring file still lists the old one, too.
    PinNotKept(KeyError),
    /// The file: data that differs from what was written.
    Refused {
        /// What was refused.
        what: String,
        /// The pages, if they are known.
        pages: Vec<BadPage>,
    },
    /// The caller or the file: an anchor that is not accepted.
    Anchor {
        /// What is wrong with it.
        what: String,
        /// What to do.
        next: String,
    },
    /// The machine: the place of short anchors can't be read or written, or has none of this database.
    NoAnchor {
        /// What is wrong with it.
        what: String,
    },
    /// The file: no trace of page operations, or one that was altered.
    Trace {
        /// What is wrong with it.
        what: String,
    },
    /// The caller: no identity that opens a trace of page operations.
    TraceClosed {
        /// The file.
        path: PathBuf,
        /// Whether there is an identity at all.
        has_identity: bool,
    },
    /// The file: its copy differs.
    CopyDiffers {
        /// The first difference.
        what: String,
    },
    /// The machine.
    Io {
        /// The verb: `read`, `sync`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The machine: its disk is full, or a file may not grow.
    NoRoom {
        /// The file.
        path: PathBuf,
        /// The approximate number of bytes needed; 0 if unknown.
        needed: u64,
        /// How to continue after freeing space.
        next: String,
    },
    /// Another connection or process uses the file.
    Busy {
        /// The file.
        path: PathBuf,
        /// How it was detected.
        what: &'static str,
    },
    /// Another process follows this database to the same destination.
    Followed {
        /// The database.
        path: PathBuf,
        /// The process, if it is known.
        by: String,
        /// The destination.
        place: String,
    },
    /// Another process re-encrypts this database's pages.
    UnderWay {
        /// The database.
        path: PathBuf,
        /// The process.
        pid: u32,
        /// Since when: seconds since 1970-01-01 UTC.
        since: u64,
    },
    /// The caller: a new key was requested, but pages are being re-encrypted under one that was
    /// made before.
    Begun {
        /// The database.
        path: PathBuf,
        /// The epoch of that key.
        epoch: u32,
        /// When it was made: seconds since 1970-01-01 UTC.
        since: u64,
    },
    /// The caller asked to stop.
    Interrupted,
    /// The caller asked to stop. Completed work is kept, and the rest can be done later.
    Unfinished {
        /// The database.
        path: PathBuf,
    },
    /// The caller asked to stop. The compromised slot was removed, but its holder may still know
    /// the data key.
    StillCompromised {
        /// The database.
        path: PathBuf,
        /// The slot, as the caller named it.
        slot: String,
    },
    /// A backup could not be made, or is not available.
    Backup(BackupError),
    /// The destination: the base of an incremental backup is bad.
    BadBase {
        /// The database.
        path: PathBuf,
        /// The destination of its backups.
        place: String,
        /// What is wrong with the base.
        source: Box<BackupError>,
    },
    /// An error of SQLite or the VFS.
    Sqlite {
        /// Whose fault it is, by SQLite's result code.
        class: Class,
        /// The message.
        what: String,
        /// What to do.
        next: String,
    },
}

/// Whose fault an error is, which determines the exit status of the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// None of the others.
    Other,
    /// Invalid arguments.
    Usage,
    /// The file is not encrypted.
    NotEncrypted,
    /// No key, or a wrong one.
    Key,
    /// Data that differs from what was written.
    Data,
    /// Input or output.
    Io,
    /// In use by another connection or process.
    Busy,
    /// Interrupted.
    Interrupted,
}

impl Class {
    /// The exit status.
    #[must_use]
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Other => 1,
            Self::Usage => 2,
            Self::NotEncrypted => 3,
            Self::Key => 4,
            Self::Data => 5,
            Self::Io => 6,
            Self::Busy => 7,
            Self::Interrupted => 130,
        }
    }
}

/// The reason that is reported, here and in the VFS, for a file that is neither SQLite's nor ours.
pub(crate) const NO_DATABASE: &str = "it is not an SQLite database";

/// FORMAT 2.6: what is shorter than its superblocks may be a database that was cut short.
pub(crate) const EMPTY: &str = "it has no page: it is empty, or was cut short";

/// The first words of the VFS's error for a database that `reencrypt --off` has made.
pub(crate) const ONLY_NONE: &str = "its only suite is NONE";

/// The advice for such a database.
pub(crate) fn only_none_advice(path: &Path) -> String {
    format!(
        "set SELENITE_PLAIN=allow, or encrypt it again: selenite reencrypt {} --on",
        shell_word(path)
    )
}

impl EngineError {
    /// Whose fault it is.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::Usage { .. } | Self::Begun { .. } | Self::Exists { .. } => Class::Usage,
            Self::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => Class::Usage,
            Self::NotEncrypted { .. } => Class::NotEncrypted,
            Self::Key(error) => class_of_key(error),
            Self::Unopened { .. } | Self::TraceClosed { .. } => Class::Key,
            Self::Backup(error) => class_of_backup(error),
            Self::Refused { .. } | Self::Anchor { .. } | Self::Trace { .. } | Self::BadBase { .. } => Class::Data,
            Self::Io { .. } | Self::NoRoom { .. } | Self::NoAnchor { .. } => Class::Io,
            Self::Busy { .. } | Self::UnderWay { .. } | Self::Followed { .. } => Class::Busy,
            Self::Interrupted | Self::Unfinished { .. } | Self::StillCompromised { .. } => Class::Interrupted,
            Self::Sqlite { class, .. } => *class,
            Self::AlreadyEncrypted { .. } | Self::WouldDrop { .. } | Self::PinNotKept(_) | Self::CopyDiffers { .. } => {
                Class::Other
            }
        }
    }

    /// What to do next, for users: a sentence without its full stop; empty if there is no advice.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            Self::Usage { next, .. } | Self::Sqlite { next, .. } | Self::Anchor { next, .. } => next.clone(),
            Self::NoAnchor { .. } => {
                "check the place and who may read and write there; selenite follow --anchor-to writes anchors"
                    .to_owned()
            }
            Self::NotEncrypted { what, .. } if *what == NO_DATABASE => {
                "check that this is the file you meant".to_owned()
            }
            Self::NotEncrypted { path, what } if *what == ONLY_NONE => only_none_advice(path),
            Self::NotEncrypted { path, .. } => {
                format!(
                    "check that this is the file you meant, or encrypt it: selenite encrypt {}",
                    shell_word(path)
                )
            }
            Self::AlreadyEncrypted { .. } => "to change who can open it, use selenite keys".to_owned(),
            Self::Exists { can_force: true, .. } => "choose another name, or replace it: --force".to_owned(),
            Self::Exists { .. } => "choose another name: existing files are not overwritten".to_owned(),
            Self::Key(error) => error.advice().into_owned(),
            Self::Unopened { tried, .. } if tried.is_empty() => {
                "check the key, and the settings that differ from the format's defaults: --set".to_owned()
            }
            Self::Unopened { .. } => {
                "check the key; if the application sets parameters with its key, name them: --format, --set".to_owned()
            }
            Self::Backup(error) => error.advice().into_owned(),
            Self::BadBase { path, place, .. } => format!(
                "make a full backup now: selenite backup {} {place}; then find out who could write there",
                shell_word(path)
            ),
            Self::WouldDrop { .. } => {
                "keep them with --recipient or their identities, or drop them with --drop".to_owned()
            }
            Self::PinNotKept(error) => {
                format!("{}, then run selenite keys pin", error.advice())
            }
            Self::Refused { .. } => {
                "restore these pages from a backup, and find out who could write to the file".to_owned()
            }
            Self::TraceClosed { .. } => {
                "give the identity whose recipient it was recorded for: -i FILE, before the command or behind it"
                    .to_owned()
            }
            Self::Trace { .. } => "copy it again from where it was recorded, or record another one".to_owned(),
            Self::CopyDiffers { .. } => "the database is unchanged; run PRAGMA integrity_check on it".to_owned(),
            Self::Io { source, .. } => advice_of_io(source).to_owned(),
            Self::NoRoom { next, .. } if next.is_empty() => "free space there, then try again".to_owned(),
            Self::NoRoom { needed, next, .. } => {
                let mebibytes = needed.div_ceil(1 << 20);
                format!("free about {mebibytes} MiB there, then {next}")
            }
            Self::Busy { .. } => "close the programs that use it, then try again".to_owned(),
            Self::Followed { .. } => "stop that process first".to_owned(),
            Self::UnderWay { path, .. } => {
                format!("see its progress: selenite reencrypt {} --status", shell_word(path))
            }
            Self::Begun { path, .. } => format!("finish it first: selenite reencrypt {} --resume", shell_word(path)),
            Self::Interrupted => "the database is unchanged: run the same command again".to_owned(),
            Self::Unfinished { path } => format!(
                "the database is sound and usable; to continue: selenite reencrypt {} --resume",
                shell_word(path)
            ),
            Self::StillCompromised { path, slot } => format!(
                "the database is sound and usable; to continue: selenite compromised {} {slot} --go-on",
                shell_word(path)
            ),
        }
    }

    /// Converts an error of the VFS that SQLite did not report.
    pub(crate) fn of_vfs(error: &VfsError, path: &Path) -> Self {
        if matches!(error, VfsError::Retired) {
            return Self::Key(KeyError::Retired);
        }
        if let VfsError::Older(by) = error {
            return Self::Anchor {
                what: format!("{} is older than its anchor: {by}", path.display()),
                next: "find out who could put an old copy there, and restore the newest backup; after a restore on \
                    purpose: --accept-older --once"
                    .to_owned(),
            };
        }
        if let VfsError::NoAnchor(why) = error {
            return Self::NoAnchor {
                what: format!("anchors of {}: {why}", path.display()),
            };
        }
        Self::Refused {
            what: format!("{}: {error}", path.display()),
            pages: Vec::new(),
        }
    }

    /// Adds to the error of a full disk how much room is needed there, and how to continue then.
    /// Any other error is returned unchanged.
    pub(crate) fn with_room(self, needed: u64, next: impl FnOnce() -> String) -> Self {
        let is_full = |source: &io::Error| {
            matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
            )
        };
        let path = if let Self::NoRoom { path, .. } = &self {
            path.clone()
        } else if let Self::Io { path, source, .. } = &self
            && is_full(source)
        {
            path.clone()
        } else {
            return self;
        };
        let next = next();
        Self::NoRoom { path, needed, next }
    }

    pub(crate) fn usage(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self::Usage {
            what: what.into(),
            next: next.into(),
        }
    }
}

/// Adds verb and path to an error of the system: `.map_err(io_error("sync", path))`.
pub(crate) fn io_error<'a>(verb: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> EngineError + 'a {
    move |source| EngineError::Io {
        verb,
        path: path.to_owned(),
        source,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "KeyError may grow: a key is to blame unless it is listed here"
)]
fn class_of_key(error: &KeyError) -> Class {
    match error {
        KeyError::NotEncrypted => Class::NotEncrypted,
        KeyError::Tampered { .. } | KeyError::Damaged | KeyError::UnsupportedVersion { .. } | KeyError::Retired => {
            Class::Data
        }
        KeyError::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => Class::Usage,
        KeyError::BadSpec { .. }
        | KeyError::BadRecipient { .. }
        | KeyError::BadConfig { .. }
        | KeyError::Elevated { .. }
        | KeyError::NotApproved { .. }
        | KeyError::UnknownCommand { .. }
        | KeyError::BadOrigin { .. }
        | KeyError::BadPath { .. }
        | KeyError::NoSuchSlot { .. }
        | KeyError::AmbiguousSlot { .. }
        | KeyError::NoRecipient
        | KeyError::UnderWay
        | KeyError::NotUnderWay
        | KeyError::NothingToChange => Class::Usage,
        KeyError::Io { .. } | KeyError::UnknownRecipient { .. } => Class::Io,
        KeyError::LastSlot
        | KeyError::TooManySlots
        | KeyError::CannotWrap { .. }
        | KeyError::Unencodable(_)
        | KeyError::GenerationExhausted => Class::Other,
        // No key, a wrong one, an unavailable service, a pin that does not match.
        _ => Class::Key,
    }
}

fn class_of_backup(error: &BackupError) -> Class {
    match error {
        BackupError::NotThere { .. } => Class::Usage,
        BackupError::Store(error) if error.kind == StoreErrorKind::Usage => Class::Usage,
        BackupError::Key { source, .. } => class_of_key(source),
        BackupError::Unauthentic { .. }
        | BackupError::MissingLink { .. }
        | BackupError::Chain { .. }
        | BackupError::Missing { .. }
        | BackupError::Gap { .. }
        | BackupError::Incomplete { .. }
        | BackupError::LacksPages { .. }
        | BackupError::Form { .. }
        | BackupError::Source(SourceError::Unauthentic { .. }) => Class::Data,
        BackupError::Store(_) | BackupError::Source(SourceError::Read { .. }) => Class::Io,
        BackupError::WrittenByOther { .. }
        | BackupError::KeysChanged
        | BackupError::Removed { .. }
        | BackupError::ArchiveRemoved { .. } => Class::Busy,
        BackupError::Stopped => Class::Interrupted,
        BackupError::Unfinished { .. } | BackupError::Machine { .. } | _ => Class::Other,
    }
}

fn advice_of_io(source: &io::Error) -> &'static str {
    if source.kind() == io::ErrorKind::NotFound {
        "check the path"
    } else if source.kind() == io::ErrorKind::PermissionDenied {
        "check the permissions there"
    } else if source.kind() == io::ErrorKind::StorageFull {
        "free space there, then try again"
    } else {
        "check the disk, then try again"
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { what, .. }
            | Self::Sqlite { what, .. }
            | Self::Refused { what, .. }
            | Self::Anchor { what, .. }
            | Self::NoAnchor { what }
            | Self::Trace { what } => f.write_str(what),
            Self::TraceClosed {
                path,
                has_identity: true,
            } => {
                write!(f, "{}: the identity given does not open this trace", path.display())
            }
            Self::TraceClosed {
                path,
                has_identity: false,
            } => {
                write!(f, "{}: a trace is encrypted, and no identity was given", path.display())
            }
            Self::NotEncrypted { path, what } => write!(f, "{}: not encrypted: {what}", path.display()),
            Self::AlreadyEncrypted { path } => write!(f, "{}: already encrypted", path.display()),
            Self::Exists { path, .. } => write!(f, "{}: already exists", path.display()),
            Self::Key(error) => write!(f, "{error}"),
            Self::Unopened { path, tried } if tried.is_empty() => {
                write!(f, "{}: not opened by this key in this format", path.display())
            }
            Self::Unopened { path, tried } => {
                write!(f, "{}: not opened by this key in any format: {tried}", path.display())
            }
            Self::Backup(error) => write!(f, "{error}"),
            Self::BadBase { source, .. } => {
                write!(f, "the base backup is bad: {source}")
            }
            Self::WouldDrop { slots } => write!(f, "none of the given identities opens these key slots:\n{slots}"),
            Self::PinNotKept(error) => {
                write!(
                    f,
                    "the master key was renewed, but the keyring file still lists the old one, too: {error}"
                )
            }
            Self::CopyDiffers { what } => write!(f, "the copy differs from the database: {what}"),
            Self::Io { verb, path, source } => write!(f, "can't {verb} {}: {source}", path.display()),
            Self::NoRoom { path, .. } => write!(f, "{}: disk full, or file size limit reached", path.display()),
            Self::Busy { path, what } => write!(f, "{}: in use: {what}", path.display()),
            Self::Followed { path, by, place } => write!(f, "{}: already followed to {place} by {by}", path.display()),
            Self::UnderWay { path, pid: 0, .. } => {
                write!(f, "{}: another process is re-encrypting it", path.display())
            }
            Self::UnderWay { path, pid, since } => write!(
                f,
                "{}: process {pid} has been re-encrypting it since {}",
                path.display(),
                crate::utc(*since)
            ),
            Self::Begun { path, epoch, since } => write!(
                f,
                "{}: a re-encryption under the key of epoch {epoch}, made {}, is in progress",
                path.display(),
                crate::utc(*since)
            ),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Unfinished { path } => {
                write!(f, "{}: interrupted before all pages were re-encrypted", path.display())
            }
            Self::StillCompromised { path, slot } => write!(
                f,
                "{}: interrupted after key slot {slot} was removed and before the data key was replaced",
                path.display()
            ),
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Key(error) | Self::PinNotKept(error) => Some(error),
            Self::Backup(error) => Some(error),
            Self::BadBase { source, .. } => Some(source.as_ref()),
            Self::Io { source, .. } => Some(source),
            Self::Usage { .. }
            | Self::NotEncrypted { .. }
            | Self::NoAnchor { .. }
            | Self::AlreadyEncrypted { .. }
            | Self::Exists { .. }
            | Self::WouldDrop { .. }
            | Self::Unopened { .. }
            | Self::Refused { .. }
            | Self::Anchor { .. }
            | Self::Trace { .. }
            | Self::TraceClosed { .. }
            | Self::CopyDiffers { .. }
            | Self::NoRoom { .. }
            | Self::Busy { .. }
            | Self::UnderWay { .. }
            | Self::Begun { .. }
            | Self::Interrupted
            | Self::Unfinished { .. }
            | Self::StillCompromised { .. }
            | Self::Followed { .. }
            | Self::Sqlite { .. } => None,
        }
    }
}

impl From<KeyError> for EngineError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<BackupError> for EngineError {
    fn from(error: BackupError) -> Self {
        if matches!(error, BackupError::Stopped) {
            return Self::Interrupted;
        }
        Self::Backup(error)
    }
}
