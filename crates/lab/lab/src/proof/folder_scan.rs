//! Evidence in the files of a server's data folder that is visible without a key.
//!
//! - every-file-is-searched: logs and temporary files, too, whatever the engine says of them.
//! - a-claim-names-files: an engine is held to the files that it claims to encrypt; rows in another
//!   one are a finding.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use selenite_worker::dataset::NAMES;
use selenite_worker::protocol::{EncryptedContent, OpenedDatabase};

use super::entropy::Entropy;
use super::file_scan::{check_marker, sample, search};
use super::{Claim, Proof, ProofError, check_clear};
use crate::database_files;

/// The scan of all files of a data folder whose server has stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderScan {
    path: PathBuf,
    marker: String,
    /// By their paths in the folder.
    files: BTreeMap<String, ScannedFile>,
}

#[derive(Clone, Debug, PartialEq)]
struct ScannedFile {
    /// The offset of the first occurrence of the marker.
    marker_at: Option<u64>,
    /// The first of [`NAMES`] that is in it.
    name: Option<&'static str>,
    bytes: u64,
    /// Of the blocks that are not all zero: those were never written.
    entropy: Entropy,
}

impl FolderScan {
    /// Scans every file of a folder.
    ///
    /// # Errors
    /// [`ProofError::ShortMarker`], [`ProofError::Io`].
    pub fn at(folder: &Path, marker: &str) -> Result<Self, ProofError> {
        check_marker(marker)?;
        let finder = Finder::new(marker.as_bytes());
        let mut files = BTreeMap::new();
        for path in database_files::files(folder, &[]).map_err(ProofError::io(folder))? {
            let inner = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            files.insert(inner, ScannedFile::at(&path, &finder).map_err(ProofError::io(&path))?);
        }
        Ok(Self {
            path: folder.to_owned(),
            marker: marker.to_owned(),
            files,
        })
    }

    fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }

    fn with_marker(&self) -> impl Iterator<Item = (&String, u64)> {
        self.files
            .iter()
            .filter_map(|(name, file)| Some((name, file.marker_at?)))
    }

    fn not_encrypted(&self, name: &str, found: String) -> ProofError {
        ProofError::NotEncrypted {
            path: self.path.join(name),
            found,
        }
    }
}

impl ScannedFile {
    fn at(path: &Path, marker: &Finder<'_>) -> std::io::Result<Self> {
        let (marker_at, _) = search(marker, File::open(path)?)?;
        let mut name = None;
        for known in NAMES {
            let found = search(&Finder::new(known.as_bytes()), File::open(path)?)?.0;
            name = name.or(found.map(|_| known));
        }
        let file = File::open(path)?;
        Ok(Self {
            marker_at,
            name,
            bytes: file.metadata()?.len(),
            entropy: sample(&file, true)?,
        })
    }
}

/// Checks the claim of an arm against its data folder. `plain` is the scan of the baseline's folder
/// for the same marker; `opened` is the engine's report.
///
/// # Errors
/// All but [`ProofError::Io`] and [`ProofError::ShortMarker`].
pub fn prove_folder(
    claim: Claim,
    arm: &FolderScan,
    plain: &FolderScan,
    opened: &OpenedDatabase,
) -> Result<Proof, ProofError> {
    match claim {
        Claim::Encrypted | Claim::EncryptedLogin => check_encrypted(arm, plain, opened)?,
        Claim::Clear | Claim::AuthenticatedClear => {
            let has_marker = arm.with_marker().next().is_some();
            check_clear(&arm.path, &arm.marker, has_marker, opened.encrypted)?;
        }
    }
    Ok(Proof {
        claim,
        facts: facts(claim, arm, plain, opened),
    })
}

fn check_encrypted(arm: &FolderScan, plain: &FolderScan, opened: &OpenedDatabase) -> Result<(), ProofError> {
    if !opened.encrypted {
        let found = "an engine that reports an unencrypted database".to_owned();
        return Err(arm.not_encrypted("", found));
    }
    if opened.encrypted_files.is_empty() {
        return Err(arm.not_encrypted("", "an engine that names no encrypted file".to_owned()));
    }
    // The search has to find the marker where the baseline has it, in a file of the claim.
    let baseline = |name: &String| plain.files.get(name).is_some_and(|file| file.marker_at.is_some());
    if plain.marker != arm.marker || !opened.encrypted_files.keys().any(baseline) {
        return Err(ProofError::Void {
            path: plain.path.clone(),
            marker: arm.marker.clone(),
        });
    }
    let mut blocks = 0;
    for (name, content) in &opened.encrypted_files {
        let Some(file) = arm.files.get(name) else {
            return Err(arm.not_encrypted(name, "no such file".to_owned()));
        };
        if let Some(offset) = file.marker_at {
            return Err(arm.not_encrypted(name, format!("the text {:?} at byte {offset}", arm.marker)));
        }
        if *content == EncryptedContent::Pages {
            check_pages(arm, name, &file.entropy)?;
            blocks += file.entropy.blocks;
        }
    }
    match blocks {
        0 => Err(arm.not_encrypted("", "too little to judge".to_owned())),
        _ => Ok(()),
    }
}

fn check_pages(arm: &FolderScan, name: &str, entropy: &Entropy) -> Result<(), ProofError> {
    let found = match (entropy.first_clear, entropy.first_repeat) {
        (Some(offset), _) if !entropy.is_random() => format!(
            "{} of {} blocks that are not random, the first at byte {offset}",
            entropy.clear, entropy.blocks
        ),
        (_, Some(offset)) if entropy.is_repetitive() => format!(
            "{} of {} aligned 16 bytes repeated, the first at byte {offset}, as a cipher without a chain leaves them",
            entropy.repeats, entropy.cells
        ),
        _ => return Ok(()),
    };
    Err(arm.not_encrypted(name, found))
}

fn facts(claim: Claim, arm: &FolderScan, plain: &FolderScan, opened: &OpenedDatabase) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let names = |scan: &FolderScan| match scan.with_marker().map(|(name, _)| name.as_str()).collect::<Vec<_>>() {
        found if found.is_empty() => "in no file".to_owned(),
        found => format!("in {}", found.join(", ")),
    };
    let says = if opened.encrypted { "encrypted" } else { "not encrypted" };
    let mut facts = vec![
        fact("verdict", claim.label().to_owned()),
        fact("marker searched for", format!("{:?}", arm.marker)),
        fact("marker", names(arm)),
        fact("marker in the unencrypted copy", names(plain)),
        fact("searched", format!("{} files, {} bytes", arm.files.len(), arm.bytes())),
        fact("the engine says", says.to_owned()),
    ];
    for (name, content) in &opened.encrypted_files {
        let entropy = arm
            .files
            .get(name)
            .map(|file| file.entropy.to_string())
            .unwrap_or_default();
        let what = match content {
            EncryptedContent::Pages => format!("pages: {entropy}"),
            EncryptedContent::Records => "records".to_owned(),
        };
        facts.push((format!("encrypted: {name}"), what));
    }
    for (name, offset) in arm.with_marker() {
        facts.push((
            format!("{IN_CLEAR}{name}"),
            format!("rows: the marker at byte {offset}"),
        ));
    }
    for (name, file) in arm.files.iter().filter(|(_, file)| file.marker_at.is_none()) {
        let named = file.name.map(|known| format!("names of tables or columns: {known:?}"));
        facts.extend(named.map(|what| (format!("{IN_CLEAR}{name}"), what)));
    }
    let said = opened.status.iter();
    facts.extend(said.map(|(name, value)| (format!("engine: {name}"), value.clone())));
    facts
}

/// The start of a fact about a file that holds something in clear.
pub const IN_CLEAR: &str = "in clear: ";

#[cfg(test)]
mod tests;
