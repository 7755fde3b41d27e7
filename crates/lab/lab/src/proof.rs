//! Checks on its bytes whether a database file is encrypted.
//!
//! - claims-prove-nothing: an engine's report proves nothing. A text that is in the rows has to be
//!   found in the baseline database by the same search that does not find it in the encrypted one.
//! - bounded-memory: files are read in bounded memory; no process may be writing them.

mod entropy;
mod file_scan;
mod folder_scan;
mod reencrypted;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use selenite_worker::protocol::{OpenedDatabase, PLAIN};

use crate::config::arm::TRANSIT;

pub use entropy::{Entropy, RANDOM_BITS_MIN};
pub use file_scan::FileScan;
pub use folder_scan::{FolderScan, IN_CLEAR, prove_folder};
pub use reencrypted::prove_pages_reencrypted;

/// The encryption that an arm claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Unencrypted.
    Clear,
    /// Unencrypted, but every page is authenticated (Selenite's suite NONE).
    AuthenticatedClear,
    /// Encrypted.
    Encrypted,
    /// Only the login of a connection is encrypted, and only the login was recorded; everything
    /// else is unencrypted.
    EncryptedLogin,
}

/// A proved claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The claim.
    pub claim: Claim,
    /// The checks and their results, for display and the record.
    pub facts: Vec<(String, String)>,
}

/// Why a claim is not proved.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProofError {
    /// The search proves nothing, because it does not find the marker in the baseline database either.
    Void {
        /// The baseline database.
        path: PathBuf,
        /// The marker.
        marker: String,
    },
    /// The caller: a marker so short that it may occur in any file by chance.
    ShortMarker {
        /// The marker.
        marker: String,
    },
    /// The arm: it claims to be encrypted, and is not.
    NotEncrypted {
        /// Its file.
        path: PathBuf,
        /// The evidence and its location.
        found: String,
    },
    /// The arm: it claims to be unencrypted, and is not.
    NotClear {
        /// Its file.
        path: PathBuf,
        /// The evidence.
        found: String,
    },
    /// The administrator's program: it reports that every page was re-encrypted, and some are unchanged.
    NotReencrypted {
        /// The file.
        path: PathBuf,
        /// The number of unchanged pages.
        count: u64,
        /// The file offset of the first one, in bytes.
        first: u64,
    },
    /// The machine: an I/O error.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Claim {
    /// The claim of an arm with this engine and cipher.
    #[must_use]
    pub fn of(engine: &str, cipher: &str) -> Self {
        match (engine, cipher) {
            (_, PLAIN) => Self::Clear,
            ("selenite", "NONE") => Self::AuthenticatedClear,
            (TRANSIT, "optional") => Self::EncryptedLogin,
            _ => Self::Encrypted,
        }
    }

    /// The claim as text.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Clear => "in clear",
            Self::AuthenticatedClear => "authenticated, not encrypted",
            Self::Encrypted => "encrypted",
            Self::EncryptedLogin => "only its login is encrypted",
        }
    }
}

/// Checks the claim of an arm against its file. `plain` is the scan of the baseline database for
/// the same marker; `opened` is the engine's report.
///
/// # Errors
/// All but [`ProofError::Io`] and [`ProofError::ShortMarker`].
pub fn prove(claim: Claim, arm: &FileScan, plain: &FileScan, opened: &OpenedDatabase) -> Result<Proof, ProofError> {
    if plain.marker_at.is_none() || plain.marker != arm.marker {
        return Err(ProofError::Void {
            path: plain.path.clone(),
            marker: arm.marker.clone(),
        });
    }
    match claim {
        Claim::Encrypted => check_encrypted(arm, opened)?,
        Claim::EncryptedLogin => check_login(arm, opened)?,
        Claim::Clear => check_clear(&arm.path, &arm.marker, arm.marker_at.is_some(), opened.encrypted)?,
        Claim::AuthenticatedClear => check_clear(&arm.path, &arm.marker, arm.marker_at.is_some(), false)?,
    }
    Ok(Proof {
        claim,
        facts: facts(claim, arm, plain, opened),
    })
}

fn check_encrypted(arm: &FileScan, opened: &OpenedDatabase) -> Result<(), ProofError> {
    let entropy = &arm.entropy;
    let found = if let Some((file, offset)) = &arm.marker_at {
        format!("the text {:?} at byte {offset} of {}", arm.marker, file.display())
    } else if let Some(offset) = entropy.first_clear.filter(|_| !entropy.is_random()) {
        format!(
            "{} of {} blocks that are not random, the first at byte {offset}",
            entropy.clear, entropy.blocks
        )
    } else if let Some(offset) = entropy.first_repeat.filter(|_| entropy.is_repetitive()) {
        format!(
            "{} of {} aligned 16 bytes repeated, the first at byte {offset}, as a cipher without a chain leaves them",
            entropy.repeats, entropy.cells
        )
    } else if entropy.blocks == 0 {
        "too little to judge".to_owned()
    } else if !opened.encrypted {
        "an engine that reports an unencrypted database".to_owned()
    } else {
        return Ok(());
    };
    Err(ProofError::NotEncrypted {
        path: arm.path.clone(),
        found,
    })
}

/// A login has too few bytes for a test of randomness.
fn check_login(arm: &FileScan, opened: &OpenedDatabase) -> Result<(), ProofError> {
    let found = if let Some((file, offset)) = &arm.marker_at {
        format!("the text {:?} at byte {offset} of {}", arm.marker, file.display())
    } else if !opened.encrypted {
        "an engine that reports no encryption".to_owned()
    } else {
        return Ok(());
    };
    Err(ProofError::NotEncrypted {
        path: arm.path.clone(),
        found,
    })
}

/// An unencrypted file or folder holds its marker, and its engine agrees.
fn check_clear(path: &Path, marker: &str, has_marker: bool, says_encrypted: bool) -> Result<(), ProofError> {
    let found = if !has_marker {
        format!("the text {marker:?} of its rows nowhere")
    } else if says_encrypted {
        "an engine that reports an encrypted database".to_owned()
    } else {
        return Ok(());
    };
    Err(ProofError::NotClear {
        path: path.to_owned(),
        found,
    })
}

fn facts(claim: Claim, arm: &FileScan, plain: &FileScan, opened: &OpenedDatabase) -> Vec<(String, String)> {
    let mut facts = vec![
        ("verdict".to_owned(), claim.label().to_owned()),
        ("marker searched for".to_owned(), format!("{:?}", arm.marker)),
        ("marker in the file".to_owned(), arm.place_of_marker()),
        ("marker in the unencrypted copy".to_owned(), plain.place_of_marker()),
        ("bytes searched".to_owned(), arm.bytes.to_string()),
        (
            "SQLite's header in clear".to_owned(),
            if arm.has_header { "yes" } else { "no" }.to_owned(),
        ),
        ("entropy".to_owned(), arm.entropy.to_string()),
        ("entropy of the unencrypted copy".to_owned(), plain.entropy.to_string()),
        (
            "the engine says".to_owned(),
            if opened.encrypted { "encrypted" } else { "not encrypted" }.to_owned(),
        ),
    ];
    let said: &BTreeMap<String, String> = &opened.status;
    facts.extend(
        said.iter()
            .map(|(name, value)| (format!("engine: {name}"), value.clone())),
    );
    facts
}

impl ProofError {
    fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            path: path.clone(),
            source,
        }
    }

    /// Advice on what to do next.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Void { .. } | Self::ShortMarker { .. } => {
                "load the databases again; if it persists, the worker of the plain arm names a marker that it does not write"
            }
            Self::NotEncrypted { .. } => {
                "check the arm's cipher, settings and key: its results would not be of encryption"
            }
            Self::NotClear { .. } => "check the settings of the plain arm: it must not encrypt",
            Self::NotReencrypted { .. } => {
                "check the administrator's program: its results would be of less work than it reports"
            }
            Self::Io { .. } => "check the path and its permissions",
        }
    }
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void { path, marker } => write!(
                f,
                "the proof is void: {marker:?} was not found in {}, which is unencrypted",
                path.display()
            ),
            Self::ShortMarker { marker } => write!(
                f,
                "{marker:?} is too short to be searched for: it needs {MARKER_BYTES_MIN} bytes"
            ),
            Self::NotEncrypted { path, found } => {
                write!(
                    f,
                    "{} is reported as encrypted, but is not: found {found}",
                    path.display()
                )
            }
            Self::NotClear { path, found } => {
                write!(
                    f,
                    "{} is reported as unencrypted, but is not: found {found}",
                    path.display()
                )
            }
            Self::NotReencrypted { path, count, first } => {
                write!(
                    f,
                    "{} is reported as re-encrypted, but is not: {count} pages are unchanged, the first at byte {first}",
                    path.display()
                )
            }
            Self::Io { path, source } => write!(f, "{}: read: {source}", path.display()),
        }
    }
}

impl std::error::Error for ProofError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Void { .. }
            | Self::ShortMarker { .. }
            | Self::NotEncrypted { .. }
            | Self::NotClear { .. }
            | Self::NotReencrypted { .. } => None,
        }
    }
}

/// By chance, 6 given bytes occur in 1 GiB of random ones once in 260000 files.
const MARKER_BYTES_MIN: usize = 6;

#[cfg(test)]
mod tests;
