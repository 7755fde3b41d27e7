//! Lists every database in a folder and below it, with warnings.
//!
//! - regular-files-only: only regular files of at least 16 bytes are opened, for reading, and none
//!   that this process has open: its POSIX locks would be lost ([`crate::raw_file`]). Links are not
//!   followed, except for the path of the folder itself.
//! - errors-are-listed: a file or folder that cannot be read is listed as such and does not end the
//!   listing of all others.
//! - unauthenticated-is-marked: without a key, everything reported is the file's own claim, and is
//!   marked so ([`crate::Sealed::authentic`]).

mod adjacent_files;
mod entry;
mod file_format;
mod walk;
mod warning;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use entry::{Entry, Kind};
pub use warning::{Limits, Warning};

use crate::draft::target_of_draft;
use crate::error::{Class, io_error};
use crate::last_verify::VerifyNotes;
use crate::raw_file::RawFile;
use crate::status::Keys;
use crate::storage::Disk;
use crate::superblock_file::FileContent;
use crate::{Access, EngineError, Status, now};
use adjacent_files::AdjacentFiles;
use file_format::{FileFormat, HEAD_SIZE};
use walk::{Names, Walk};

/// The databases in a folder.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The time of the listing: seconds since 1970-01-01 UTC.
    pub time: u64,
    /// The databases, by path.
    pub databases: Vec<Entry>,
    /// What could not be read, by path.
    pub unreadable: Vec<Unreadable>,
}

impl Listing {
    /// Whether there is a warning, or anything that could not be read.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        !self.unreadable.is_empty() || self.databases.iter().any(|database| !database.warnings.is_empty())
    }
}

/// A folder or file that could not be read: its contents are unknown.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// Its path.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// How databases are examined: with which keys, and against which limits.
pub struct ListingContext {
    keys: Keys,
    notes: VerifyNotes,
    limits: Limits,
    now: u64,
    asked: Instant,
}

impl ListingContext {
    /// Uses the identities in force, if any, and the present time.
    ///
    /// # Errors
    /// [`EngineError::Key`] for an identity or a configuration that cannot be read.
    pub fn new(access: &Access, limits: Limits) -> Result<Self, EngineError> {
        Ok(Self {
            keys: Keys::load(access)?,
            notes: VerifyNotes::load()?,
            limits,
            now: now(),
            asked: Instant::now(),
        })
    }

    /// Uses no key, to judge a status that was read before.
    #[must_use]
    pub fn keyless(limits: Limits) -> Self {
        Self {
            keys: Keys::none(),
            // An unreadable configuration was reported when the status was read, if it matters.
            notes: VerifyNotes::load().unwrap_or(VerifyNotes::of(None)),
            limits,
            now: now(),
            asked: Instant::now(),
        }
    }

    /// The same, with the verifications in these notes.
    #[must_use]
    pub fn with_notes(self, notes: VerifyNotes) -> Self {
        Self { notes, ..self }
    }

    /// The same, at another time.
    #[must_use]
    pub fn at(self, now: u64) -> Self {
        Self { now, ..self }
    }

    /// The same for what was asked at this moment, not later: the files of a folder are not listed again for it.
    #[must_use]
    pub fn asked_at(self, asked: Instant) -> Self {
        Self { asked, ..self }
    }

    /// Lists every database in `folder` and below.
    ///
    /// # Errors
    /// [`EngineError::Io`] for the folder itself; errors below it are listed (errors-are-listed).
    pub fn folder(&self, folder: &Path) -> Result<Listing, EngineError> {
        let mut listing = self.nothing();
        // An error here, because the listing would be empty.
        std::fs::read_dir(folder).map_err(io_error("list", folder))?;
        let mut walk = Walk::of(folder);
        while let Some(names) = walk.next(&mut listing.unreadable) {
            self.files(names, &mut listing);
        }
        if listing.databases.iter().any(Entry::is_encrypted) {
            for database in listing.databases.iter_mut().filter(|one| one.kind == Kind::Plain) {
                database.warnings.insert(0, Warning::InClear);
            }
        }
        listing.databases.sort_by(|a, b| a.path.cmp(&b.path));
        listing.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(listing)
    }

    /// Lists one database.
    ///
    /// # Errors
    /// [`EngineError::Io`]; [`EngineError::NotEncrypted`] for a file that is no database. A damaged
    /// database is no error.
    pub fn file(&self, path: &Path) -> Result<Listing, EngineError> {
        let file = RawFile::open(&Disk, path)?;
        let format = FileFormat::of(&file)?;
        if format == FileFormat::Foreign {
            FileContent::Foreign.sealed(path)?;
        }
        let mut listing = self.nothing();
        let adjacent = AdjacentFiles::of(path, self.asked, &mut listing.unreadable);
        listing
            .databases
            .push(Entry::new(path, &file, format, &adjacent, self)?);
        Ok(listing)
    }

    /// Judges a database whose status was read before.
    #[must_use]
    pub fn judge(&self, status: &Status) -> Entry {
        let size = status.files.first().map_or(0, |file| file.size);
        let kind = if status.sealed.is_some() {
            Kind::Sealed
        } else {
            Kind::Plain
        };
        let adjacent = AdjacentFiles::of(&status.path, self.asked, &mut Vec::new());
        Entry::judged((&status.path, size, kind), status.sealed.clone(), None, &adjacent, self)
    }

    fn nothing(&self) -> Listing {
        Listing {
            time: self.now,
            databases: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    /// The databases among the files of one folder.
    fn files(&self, folder: Names, listing: &mut Listing) {
        let mut databases = Vec::new();
        for name in &folder.names {
            let path = folder.path.join(name);
            match look_into(&path) {
                Ok(Some(format)) => databases.push((name.clone(), format)),
                Ok(None) => {}
                Err(error) => listing.unreadable.push(unreadable(path, &error)),
            }
        }
        let plain = databases.iter().filter(|(_, format)| *format == FileFormat::Plain);
        let plain = plain.map(|(name, _)| name.clone()).collect();
        let adjacent = AdjacentFiles::new(folder, plain);
        // A draft is reported with its target database; if that does not exist, the draft is listed
        // itself.
        let is_listed = |target: &OsStr| databases.iter().any(|(name, _)| name == target);
        for (name, format) in &databases {
            if target_of_draft(name).is_some_and(is_listed) {
                continue;
            }
            let path = adjacent.path(name);
            let opened = RawFile::open_in_folder(&path);
            match opened.and_then(|file| Entry::new(&path, &file, *format, &adjacent, self)) {
                Ok(entry) => listing.databases.push(entry),
                Err(error) => listing.unreadable.push(unreadable(path, &error)),
            }
        }
    }
}

/// What a file is, if it is a database or has the name of one.
fn look_into(path: &Path) -> Result<Option<FileFormat>, EngineError> {
    let has_name = has_name_of_a_database(path);
    let file = match size_of(path).and_then(|size| {
        // Nothing shorter is a database. The kernel's own files report a size of 0, and reading
        // them may block.
        let is_worth_it = size >= HEAD_SIZE || has_name;
        is_worth_it.then(|| RawFile::open_in_folder(path)).transpose()
    }) {
        // Most likely the file to which standard output goes.
        Err(error) if error.class() == Class::Busy && !has_name => return Ok(None),
        // It was replaced by something else, or removed.
        Err(EngineError::Usage { .. }) => return Ok(None),
        Err(EngineError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let Some(file) = file else { return Ok(None) };
    let format = FileFormat::of(&file)?;
    let is_one = match format {
        FileFormat::Sealed | FileFormat::Plain => true,
        FileFormat::Empty | FileFormat::Foreign => has_name,
    };
    Ok(is_one.then_some(format))
}

/// Whether a file is a database of SQLite's or ours. A file that this process has open may be one,
/// and counts as one.
pub(crate) fn is_database(path: &Path) -> bool {
    match RawFile::open_in_folder(path).and_then(|file| FileFormat::of(&file)) {
        Ok(format) => matches!(format, FileFormat::Sealed | FileFormat::Plain),
        Err(error) => error.class() == Class::Busy,
    }
}

fn size_of(path: &Path) -> Result<u64, EngineError> {
    Ok(std::fs::symlink_metadata(path).map_err(io_error("read", path))?.len())
}

fn has_name_of_a_database(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["db", "sqlite", "sqlite3"]
        .into_iter()
        .any(|one| extension.eq_ignore_ascii_case(one))
}

fn unreadable(path: PathBuf, error: &EngineError) -> Unreadable {
    // Without the path, which is reported with it.
    let why = if let EngineError::Io { source, .. } = error {
        source.to_string()
    } else if let EngineError::Busy { what, .. } = error {
        (*what).to_owned()
    } else {
        error.to_string()
    };
    Unreadable { path, why }
}
