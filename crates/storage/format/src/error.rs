//! The errors of parsing and encoding.

use std::fmt;

/// Why bytes could not be parsed, or a value could not be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The file: magic, length or checksum of a superblock is wrong (FORMAT 3.6). The superblock is
    /// torn, not tampered.
    NotWhole,
    /// The file: an intact superblock of a later format. Found before any key is used.
    UnsupportedVersion {
        /// The version in the superblock.
        version: u16,
    },
    /// The file: an intact superblock breaks a rule of FORMAT 3. No valid writer of this format made it.
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
        /// The number of bytes that it would have.
        size: usize,
    },
    /// The caller or the file: not a power of two from 1024 to 65536.
    PageSize {
        /// The page size requested.
        size: u32,
    },
    /// The file or the caller: these 32 bytes are not the header of a WAL.
    WalMagic,
    /// The file: the WAL's header has another version. Version 3007000 on disk is a WAL that is not sealed.
    WalVersion {
        /// The version in the header.
        version: u32,
    },
    /// The file: the checksum of the WAL's header is wrong. SQLite regards such a log as torn and thus empty.
    WalChecksum,
    /// The caller: this is no anchor.
    AnchorMagic,
    /// The caller: this is a short anchor, and an anchor of all pages is expected.
    ShortAnchor,
    /// The file: an anchor of a later format.
    AnchorVersion,
    /// The file: an anchor without its last line.
    AnchorCut,
    /// The file: a line of an anchor breaks a rule of FORMAT 10.
    AnchorLine {
        /// The number of the line, from 1.
        line: u64,
    },
    /// The caller: this is not the object `begun` of an archive of this version.
    ArchiveMagic,
    /// The file or the caller: an archive breaks a rule of FORMAT 12.
    Archive {
        /// The part of the archive.
        what: &'static str,
    },
    /// The file: a trace breaks a rule of FORMAT 14.
    Trace,
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
            Self::ShortAnchor => f.write_str("a short anchor, for anchor= and selenite follow alone"),
            Self::AnchorVersion => f.write_str("an anchor of a later version"),
            Self::AnchorCut => f.write_str("the anchor was cut off: its last line, the MAC, is missing"),
            Self::ArchiveMagic => f.write_str("not a backup archive of this version"),
            Self::Archive { what } => write!(f, "invalid archive: {what}"),
            Self::Trace => f.write_str("not a trace of this version"),
            Self::AnchorLine { line } => write!(f, "invalid anchor: line {line}"),
        }
    }
}

impl std::error::Error for FormatError {}
