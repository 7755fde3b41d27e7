//! The errors of an archive's bytes.

use std::fmt;

/// Why an archive's bytes were refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ArchiveError {
    /// These bytes are not a part of an archive, or are of a later version.
    NotAPart,
    /// A part of another archive, of another kind or number.
    OtherPart,
    /// It cannot be opened: it was altered, truncated, or combined from several parts.
    Unauthentic,
    /// It opened, but was not sealed with the database's master key: a recipient of the archive
    /// could have made it.
    NotOfDatabase,
    /// It opened, but breaks a rule of FORMAT 12. No valid writer of this format made it.
    Malformed {
        /// The rule.
        what: &'static str,
    },
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPart => f.write_str("not a part of a backup of this version"),
            Self::OtherPart => f.write_str("a part of another backup, or another part of this one"),
            Self::Unauthentic => f.write_str("not authentic: altered, truncated, or assembled from several"),
            Self::NotOfDatabase => f.write_str(
                "not written by a holder of the database's master key, but by someone with the backup's key",
            ),
            Self::Malformed { what } => write!(f, "sealed by this format's key, and not as it has it: {what}"),
        }
    }
}

impl std::error::Error for ArchiveError {}
