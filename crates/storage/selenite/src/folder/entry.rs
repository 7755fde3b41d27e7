//! One database of a listing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use selenite_cipher::Suite;
use selenite_format::State;
use selenite_keyring::{KeyError, Origin};

use super::ListingContext;
use super::adjacent_files::{AdjacentFiles, is_claimed};
use super::file_format::FileFormat;
use super::warning::Warning;
use crate::age::Age;
use crate::draft::target_of_draft;
use crate::error::Class;
use crate::last_verify::LastVerify;
use crate::raw_file::RawFile;
use crate::reencrypt;
use crate::sealed::summary;
use crate::status::sealed_status;
use crate::superblock_file::{Copies, FileContent};
use crate::{EngineError, Sealed};

/// What a listed file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// In our layout; of a later version nothing more is known.
    Sealed,
    /// An unencrypted SQLite database.
    Plain,
    /// In our layout, but nothing can open it.
    Damaged,
    /// Named like a database, but neither SQLite's nor ours: another product may have encrypted it.
    Foreign,
    /// Named like a database, and still empty.
    Empty,
}

/// A database of a listing.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its path.
    pub path: PathBuf,
    /// The file's size in bytes.
    pub size: u64,
    /// The kind of file.
    pub kind: Kind,
    /// The content of its superblock, if that can be read.
    pub sealed: Option<Sealed>,
    /// The age of its data key.
    pub data_key_age: Option<Age>,
    /// The age of its master key.
    pub master_key_age: Option<Age>,
    /// Its last known verification, and the age of that.
    pub last_verify: Option<(LastVerify, Age)>,
    /// Why it is damaged or refused.
    pub problem: Option<String>,
    /// The warnings, the worst first.
    pub warnings: Vec<Warning>,
}

impl Entry {
    /// Whether its pages were re-encrypted, or began to be, after its last verification.
    #[must_use]
    pub fn is_reencrypted_since_verify(&self) -> bool {
        let both = self.sealed.as_ref().zip(self.last_verify.as_ref());
        both.is_some_and(|(sealed, (verify, _))| verify.is_before_reencryption(sealed))
    }

    /// Whether its pages are encrypted, as far as is known.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.sealed.as_ref().is_some_and(Sealed::is_encrypted)
    }

    pub(super) fn new(
        path: &Path,
        file: &RawFile,
        format: FileFormat,
        adjacent: &AdjacentFiles,
        with: &ListingContext,
    ) -> Result<Self, EngineError> {
        let size = file.size()?;
        let (kind, sealed, problem) = match format {
            FileFormat::Plain => (Kind::Plain, None, None),
            FileFormat::Empty => (Kind::Empty, None, None),
            FileFormat::Foreign => (Kind::Foreign, None, None),
            FileFormat::Sealed => open(file, with)?,
        };
        Ok(Self::judged((path, size, kind), sealed, problem, adjacent, with))
    }

    /// An entry with its warnings.
    pub(super) fn judged(
        (path, size, kind): (&Path, u64, Kind),
        sealed: Option<Sealed>,
        problem: Option<String>,
        adjacent: &AdjacentFiles,
        with: &ListingContext,
    ) -> Self {
        let age = |moment| Age::between(moment, with.now);
        let is_encrypted = sealed.as_ref().is_some_and(Sealed::is_encrypted);
        let sealing = sealed.as_ref().filter(|_| is_encrypted);
        let note = sealed
            .as_ref()
            .and_then(|sealed| with.notes.find(sealed.database_id, path));
        let mut entry = Self {
            path: path.to_owned(),
            size,
            kind,
            data_key_age: sealing.and_then(Sealed::data_key_created).map(age),
            master_key_age: sealed.as_ref().map(|sealed| age(sealed.master_created)),
            last_verify: note.map(|note| (note, age(note.time))),
            sealed,
            problem,
            warnings: Vec::new(),
        };
        let mut warnings = Vec::new();
        entry.warn_of_contents(&mut warnings);
        entry.warn_of_ages(with, &mut warnings);
        entry.warn_of_adjacent_files(adjacent, &mut warnings);
        entry.warnings = warnings;
        entry
    }

    fn is_draft(&self) -> bool {
        self.path
            .file_name()
            .is_some_and(|name| target_of_draft(name).is_some())
    }

    fn warn_of_contents(&self, warnings: &mut Vec<Warning>) {
        let sealed = self.sealed.as_ref();
        let is_retired = sealed.is_some_and(|sealed| sealed.state == State::Retired);
        if self.kind == Kind::Damaged {
            warnings.push(Warning::Damaged);
        } else if is_retired {
            warnings.push(Warning::Retired);
        } else if self.problem.is_some() {
            warnings.push(Warning::Refused);
        }
        let Some(sealed) = sealed else { return };
        if sealed.origin == Some(Origin::Foreign) && sealed.is_pinned != Some(true) {
            warnings.push(Warning::Foreign);
        }
        let has = |is_such: fn(Suite) -> bool| {
            let mut suites = sealed.epochs.iter().filter_map(|epoch| Suite::from_name(epoch.suite));
            suites.any(is_such)
        };
        if has(|suite| suite == Suite::None) {
            warnings.push(Warning::SuiteNone);
        }
        if has(Suite::is_deprecated) {
            warnings.push(Warning::SuiteDeprecated);
        }
        if !sealed.superblocks.are_whole() {
            warnings.push(Warning::SuperblockDamaged);
        }
        if sealed.superblocks.keeps_dropped {
            warnings.push(Warning::SuperblockBehind);
        }
        if let Some(path) = &sealed.key_readable {
            warnings.push(Warning::KeyReadable(path.clone()));
        }
        if sealed.state.has_cursor() && !reencrypt::is_held(&self.path) {
            warnings.push(Warning::Unfinished);
        }
    }

    fn warn_of_ages(&self, with: &ListingContext, warnings: &mut Vec<Warning>) {
        // These two will not be changed any more.
        let is_retired = self
            .sealed
            .as_ref()
            .is_some_and(|sealed| sealed.state == State::Retired);
        if is_retired || self.is_draft() {
            return;
        }
        let keys = [
            (
                self.data_key_age,
                with.limits.data_key_days,
                Warning::DataKeyOld,
                "data key",
            ),
            (
                self.master_key_age,
                with.limits.master_key_days,
                Warning::MasterKeyOld,
                "master key",
            ),
        ];
        for (age, limit, warning, what) in keys {
            match age {
                Some(Age::Future(_)) => warnings.push(Warning::InFuture(what)),
                Some(age) if age.exceeds_days(limit) => warnings.push(warning),
                Some(Age::Seconds(_)) | None => {}
            }
        }
        let Some((note, age)) = &self.last_verify else {
            if self.is_encrypted() && with.limits.verify_days > 0 {
                warnings.push(Warning::NeverVerified);
            }
            return;
        };
        match age {
            Age::Future(_) => warnings.push(Warning::InFuture("last verify")),
            age if age.exceeds_days(with.limits.verify_days) => warnings.push(Warning::VerifyOld),
            Age::Seconds(_) => {}
        }
        if self
            .sealed
            .as_ref()
            .is_some_and(|sealed| sealed.generation < note.generation)
        {
            warnings.push(Warning::SetBack);
        }
    }

    fn warn_of_adjacent_files(&self, adjacent: &AdjacentFiles, warnings: &mut Vec<Warning>) {
        let name = self.path.file_name().unwrap_or(OsStr::new("")).to_owned();
        if self.is_encrypted() {
            warnings.extend(adjacent.logs_in_clear(&name).into_iter().map(Warning::LogInClear));
            warnings.extend(adjacent.copies_of(&name).into_iter().map(Warning::PlainCopy));
        }
        warnings.extend(adjacent.drafts_of(&name).into_iter().map(Warning::Draft));
        if self.is_draft() && !is_claimed(&self.path) {
            warnings.push(Warning::Draft(self.path.clone()));
        }
    }
}

/// Reads a superblock, and what is wrong with it.
fn open(file: &RawFile, with: &ListingContext) -> Result<(Kind, Option<Sealed>, Option<String>), EngineError> {
    let copies = Copies::load(file)?;
    let (bytes, superblock) = match copies.content(file) {
        Ok(FileContent::Sealed { bytes, superblock }) => (bytes, superblock),
        Ok(FileContent::Plain) => return Ok((Kind::Plain, None, None)),
        Ok(FileContent::Empty) => return Ok((Kind::Empty, None, None)),
        Ok(FileContent::Foreign) => return Ok((Kind::Foreign, None, None)),
        Err(EngineError::Key(error)) => {
            let is_later = matches!(error, KeyError::UnsupportedVersion { .. });
            let kind = if is_later { Kind::Sealed } else { Kind::Damaged };
            return Ok((kind, None, Some(error.to_string())));
        }
        Err(error) => return Err(error),
    };
    let seen = (copies.superblocks(file)?, copies.file_size());
    match sealed_status((&bytes, &superblock), seen, &with.keys) {
        Ok(sealed) if sealed.page_count == 0 && superblock.pages_exist => {
            let what = "all its pages were truncated";
            Ok((Kind::Damaged, Some(sealed), Some(what.to_owned())))
        }
        Ok(sealed) => Ok((Kind::Sealed, Some(sealed), None)),
        Err(error @ EngineError::Key(_)) => {
            // Refused because of a key or the keyring file; the unencrypted fields of the
            // superblock are known.
            let mut sealed = summary(&superblock, seen.0, seen.1);
            sealed.why_not = Some(error.to_string());
            let is_retired = superblock.state == State::Retired;
            let is_damaged = error.class() == Class::Data && !is_retired;
            let kind = if is_damaged { Kind::Damaged } else { Kind::Sealed };
            Ok((kind, Some(sealed), Some(error.to_string())))
        }
        Err(error) => Err(error),
    }
}
