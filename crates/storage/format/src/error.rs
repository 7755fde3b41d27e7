//! What can be wrong with bytes.

use std::fmt;

/// Why bytes were not parsed, or a value was not encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The file: magic, length or checksum of a superblock is wrong (FORMAT 3.6). Torn, not tampered.
    NotWhole,
    /// The file: a whole superblock of a later format. Found before any key is used.
    UnsupportedVersion {
        /// The version that the superblock names.
        version: u16,
    },
    /// The file: a whole superblock breaks a rule of FORMAT 3. No one who writes this format made it.
    Tampered {
        /// The field or rule that is broken.
        what: &'static str,
    },
    /// The caller: a superblock to be encoded breaks a rule of FORMAT 3; [`crate::Superblock::parse`] would refuse it.
    Invalid {
        /// The field or rule that is broken.
        what: &'static str,
    },
    /// The caller: the slots do not fit into one superblock.
    TooLarge {
        /// How many bytes it would have.
        size: usize,
    },
    /// The caller or the file: not a power of two from 1024 to 65536.
    PageSize {
        /// What was asked for.
        size: u32,
    },
    /// The file or the caller: these 32 bytes are not the header of a WAL.
    WalMagic,
    /// The file: the WAL's header is of another version. 3007000 on disk is a WAL that no one sealed.
    WalVersion {
        /// The version that the header names.
        version: u32,
    },
    /// The file: the checksum of the WAL's header is wrong. Torn, as SQLite sees it: such a log is empty.
    WalChecksum,
    /// The caller: this is no anchor.
    AnchorMagic,
    /// The file: an anchor of a later format.
    AnchorVersion,
    /// The file: an anchor without its last line.
    AnchorCut,
    /// The file: a line of an anchor breaks a rule of FORMAT 10.
    AnchorLine {
        /// Which, from 1.
        line: u64,
    },
    /// The caller: this opens no archive of this version.
    ArchiveMagic,
    /// The file or the caller: an archive breaks a rule of FORMAT 12.
    Archive {
        /// Where.
        what: &'static str,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotWhole => f.write_str("superblock is damaged"),
            Self::UnsupportedVersion { version } => {
                write!(f, "format version {version} is not supported")
            }
            Self::Tampered { what } => write!(f, "superblock was tampered with: {what}"),
            Self::Invalid { what } => write!(f, "superblock would be refused: {what}"),
            Self::TooLarge { size } => write!(f, "superblock of {size} bytes is too large: fewer or smaller key slots"),
            Self::PageSize { size } => write!(f, "page size {size} is not a power of two from 1024 to 65536"),
            Self::WalMagic => f.write_str("not the header of a WAL"),
            Self::WalVersion { version } => {
                write!(f, "WAL version {version} is not that of an encrypted WAL")
            }
            Self::WalChecksum => f.write_str("checksum of the WAL header is wrong"),
            Self::AnchorMagic => f.write_str("not an anchor"),
            Self::AnchorVersion => f.write_str("an anchor of a later version"),
            Self::AnchorCut => f.write_str("the anchor was cut off: its last line, the MAC, is missing"),
            Self::ArchiveMagic => f.write_str("not a backup archive of this version"),
            Self::Archive { what } => write!(f, "invalid archive: {what}"),
            Self::AnchorLine { line } => write!(f, "invalid anchor: line {line}"),
        }
    }
}

impl std::error::Error for FormatError {}
