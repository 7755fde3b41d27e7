//! Every database in a folder and below it, and what there is to worry about.
//!
//! - regular-files-only: nothing is opened but regular files of at least 16 bytes, for reading, and
//!   none that this process has open: its POSIX locks would go ([`crate::raw_file`]). Links are not
//!   followed, but for the folder's own name.
//! - errors-are-listed: what can't be looked into is listed as such and ends nothing: a look at a
//!   thousand databases is not lost over one.
//! - unauthenticated-is-marked: without a key everything said is the file's own word, and says so
//!   ([`crate::Sealed::authentic`]).

mod entry;
mod nature;
mod neighbours;
mod walk;
mod warning;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

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
use nature::{HEAD_SIZE, Nature};
use neighbours::Neighbours;
use walk::{Names, Walk};

/// What is in a folder.
#[derive(Clone, Debug)]
pub struct Listing {
    /// When it was looked at: seconds since 1970-01-01 UTC.
    pub time: u64,
    /// The databases, by path.
    pub databases: Vec<Entry>,
    /// What could not be looked into, by path.
    pub unreadable: Vec<Unreadable>,
}

impl Listing {
    /// Whether there is anything to worry about.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        !self.unreadable.is_empty() || self.databases.iter().any(|database| !database.warnings.is_empty())
    }
}

/// A folder or file that could not be looked into: there may be anything in it.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// Which.
    pub path: PathBuf,
    /// Why not.
    pub why: String,
}

/// How databases are looked at: with whose keys, and against what limits.
pub struct Look {
    keys: Keys,
    notes: VerifyNotes,
    limits: Limits,
    now: u64,
}

impl Look {
    /// With the identities in force, if any, and by the clock of now.
    ///
    /// # Errors
    /// [`EngineError::Key`] for an identity or a configuration that can't be read.
    pub fn new(access: &Access, limits: Limits) -> Result<Self, EngineError> {
        Ok(Self {
            keys: Keys::load(access)?,
            notes: VerifyNotes::load()?,
            limits,
            now: now(),
        })
    }

    /// Without any key, to judge what was looked at before.
    #[must_use]
    pub fn keyless(limits: Limits) -> Self {
        Self {
            keys: Keys::none(),
            // A configuration that can't be read was complained of when the database was looked at, if it matters.
            notes: VerifyNotes::load().unwrap_or(VerifyNotes::of(None)),
            limits,
            now: now(),
        }
    }

    /// The same, with the verifies that these notes know of.
    #[must_use]
    pub fn with_notes(self, notes: VerifyNotes) -> Self {
        Self { notes, ..self }
    }

    /// The same at another time.
    #[must_use]
    pub fn at(self, now: u64) -> Self {
        Self { now, ..self }
    }

    /// Every database in `folder` and below.
    ///
    /// # Errors
    /// [`EngineError::Io`] for the folder itself; what is below can't fail (errors-are-listed).
    pub fn folder(&self, folder: &Path) -> Result<Listing, EngineError> {
        let mut listing = self.nothing();
        // Told here, since no one wants a list of nothing.
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

    /// One database, as a listing of one.
    ///
    /// # Errors
    /// [`EngineError::Io`]; [`EngineError::NotEncrypted`] for a file that is no database. A damaged one is none.
    pub fn file(&self, path: &Path) -> Result<Listing, EngineError> {
        let file = RawFile::open(&Disk, path)?;
        let nature = Nature::of(&file)?;
        if nature == Nature::Foreign {
            FileContent::Foreign.sealed(path)?;
        }
        let mut listing = self.nothing();
        let neighbours = Neighbours::of(path, &mut listing.unreadable);
        listing
            .databases
            .push(Entry::new(path, &file, nature, &neighbours, self)?);
        Ok(listing)
    }

    /// What there is to worry about with a database that was looked at already.
    #[must_use]
    pub fn judge(&self, status: &Status) -> Entry {
        let size = status.files.first().map_or(0, |file| file.size);
        let kind = if status.sealed.is_some() {
            Kind::Sealed
        } else {
            Kind::Plain
        };
        let neighbours = Neighbours::of(&status.path, &mut Vec::new());
        Entry::judged(
            (&status.path, size, kind),
            status.sealed.clone(),
            None,
            &neighbours,
            self,
        )
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
                Ok(Some(nature)) => databases.push((name.clone(), nature)),
                Ok(None) => {}
                Err(error) => listing.unreadable.push(unreadable(path, &error)),
            }
        }
        let plain = databases.iter().filter(|(_, nature)| *nature == Nature::Plain);
        let plain = plain.map(|(name, _)| name.clone()).collect();
        let neighbours = Neighbours::new(folder, plain);
        // A draft is a matter of the database that it was to be; of one that is not there it is its own.
        let is_listed = |target: &OsStr| databases.iter().any(|(name, _)| name == target);
        for (name, nature) in &databases {
            if target_of_draft(name).is_some_and(is_listed) {
                continue;
            }
            let path = neighbours.path(name);
            let opened = RawFile::open_in_folder(&path);
            match opened.and_then(|file| Entry::new(&path, &file, *nature, &neighbours, self)) {
                Ok(entry) => listing.databases.push(entry),
                Err(error) => listing.unreadable.push(unreadable(path, &error)),
            }
        }
    }
}

/// What a file is, if it is a database or named like one.
fn look_into(path: &Path) -> Result<Option<Nature>, EngineError> {
    let has_name = has_name_of_a_database(path);
    let file = match size_of(path).and_then(|size| {
        // Nothing so short is a database, and the kernel's own files say that they have no bytes:
        // reading them may wait.
        let is_worth_it = size >= HEAD_SIZE || has_name;
        is_worth_it.then(|| RawFile::open_in_folder(path)).transpose()
    }) {
        // Where standard output goes, most likely.
        Err(error) if error.class() == Class::Busy && !has_name => return Ok(None),
        // It is something else now, or gone.
        Err(EngineError::Usage { .. }) => return Ok(None),
        Err(EngineError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let Some(file) = file else { return Ok(None) };
    let nature = Nature::of(&file)?;
    let is_one = match nature {
        Nature::Sealed | Nature::Plain => true,
        Nature::Empty | Nature::Foreign => has_name,
    };
    Ok(is_one.then_some(nature))
}

/// Whether a file is a database of SQLite's or ours, as far as can be told: one that this process has open may be.
pub(crate) fn is_database(path: &Path) -> bool {
    match RawFile::open_in_folder(path).and_then(|file| Nature::of(&file)) {
        Ok(nature) => matches!(nature, Nature::Sealed | Nature::Plain),
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
    // What the path does not have to be said again for.
    let why = if let EngineError::Io { source, .. } = error {
        source.to_string()
    } else if let EngineError::Busy { what, .. } = error {
        (*what).to_owned()
    } else {
        error.to_string()
    };
    Unreadable { path, why }
}
