//! Whether a database is what was written: every page authenticated, without SQLite; then SQLite's own check.
//!
//! V1. A page that does not open is read again before it counts: others may be writing to the file.
//! V2. What is found bad with the keys of one superblock counts only while that superblock does.
//! V3. Plaintext is wiped from the buffers when they are done with.

mod bad_page;
pub(crate) mod journal;
mod pages;
pub(crate) mod wal;

use std::path::Path;
use std::time::{Duration, Instant};

use selenite_cipher::DatabaseId;
use selenite_cipher::Suite;
use selenite_keyring::{Cache, Unlocked};
use selenite_vfs::view::View;

pub use bad_page::{BAD_LISTED_MAX, BadPage, Findings, Origin};
pub use journal::JournalReport;
pub use wal::WalReport;

use crate::database::{Cell, Rows};
use crate::draft::beside;
use crate::error::ONLY_NONE;
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::superblock_file::{Superblocks, unlock};
use crate::watch::Phase;
use crate::{Access, Database, EngineError, Watch, sqlite};

/// What authenticating all pages came to.
#[derive(Clone, Debug)]
pub struct PhysicalReport {
    /// The database.
    pub database_id: DatabaseId,
    /// The generation of the superblock whose keys were used.
    pub generation: u64,
    /// Which of its two superblocks are whole.
    pub superblocks: Superblocks,
    /// How many pages the database file has.
    pub page_count: u32,
    /// How many bytes were read of it.
    pub size: u64,
    /// Its write-ahead log, if there is one.
    pub wal: Option<WalReport>,
    /// Its rollback journal, if there is one with something in it.
    pub journal: Option<JournalReport>,
    /// The places that are bad, as many as are listed ([`BAD_LISTED_MAX`]).
    pub bad: Vec<BadPage>,
    /// How many are bad.
    pub bad_count: u64,
    /// How long it took.
    pub elapsed: Duration,
}

impl PhysicalReport {
    /// Whether everything is authentic.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.bad_count == 0
    }
}

/// What a full verification came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// Page by page.
    pub physical: PhysicalReport,
    /// What SQLite's integrity check found; nothing if all is well. Not asked where a page is bad.
    pub faults: Option<Vec<String>>,
}

/// Authenticates every page of a database, its log and its journal, on all cores.
///
/// # Errors
/// [`EngineError::NotEncrypted`]; [`EngineError::Key`]; [`EngineError::Io`]; [`EngineError::Interrupted`]. What is found
/// bad is no error: see the report.
pub fn physical(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    watch: &Watch,
) -> Result<PhysicalReport, EngineError> {
    let config = Access::config()?;
    let identities = access.identities(&config)?;
    let keyring = config.load_keyring()?;
    let cache = Cache::new();
    let mut attempt_count = 0;
    loop {
        attempt_count += 1;
        let file = RawFile::open(storage, path)?;
        let unlocked = unlock(path, &file, &identities, &keyring, &cache)?;
        let generation = unlocked.superblock.generation;
        drop(file);
        let report = pages(storage, path, &unlocked, access, watch)?;
        if report.is_good() || attempt_count == ATTEMPT_COUNT_MAX {
            return Ok(report);
        }
        // V2.
        let file = RawFile::open(storage, path)?;
        let present = unlock(path, &file, &identities, &keyring, &cache)?;
        if present.superblock.generation == generation {
            return Ok(report);
        }
    }
}

/// As [`physical`], with keys that are at hand.
pub(crate) fn pages(
    storage: &dyn Storage,
    path: &Path,
    unlocked: &Unlocked,
    access: &Access,
    watch: &Watch,
) -> Result<PhysicalReport, EngineError> {
    let started = Instant::now();
    let epochs = &unlocked.superblock.epochs;
    if epochs.iter().all(|epoch| epoch.suite == Suite::None) && !access.allow_plain {
        return Err(EngineError::NotEncrypted {
            path: path.to_owned(),
            what: ONLY_NONE,
        });
    }
    let view = View::new(unlocked.duplicate(), access.allow_plain, access.allow_deprecated)
        .map_err(|error| EngineError::of_vfs(&error, path))?;
    let superblocks = Superblocks::load(&RawFile::open(storage, path)?)?;
    let mut findings = Findings::default();
    let (page_count, size) = pages::check(storage, path, &view, watch, &mut findings)?;
    let wal = wal::check(storage, &beside(path, "-wal"), &view, watch, &mut findings)?;
    let journal = journal::check(storage, &beside(path, "-journal"), &view, watch, &mut findings)?;
    if wal.is_none() && journal.is_none() {
        pages::check_count(storage, path, &view, &mut findings)?;
    }
    let (bad, bad_count) = findings.into_sorted();
    Ok(PhysicalReport {
        database_id: unlocked.superblock.database_id,
        generation: unlocked.superblock.generation,
        superblocks,
        page_count,
        size,
        wal,
        journal,
        bad,
        bad_count,
        elapsed: started.elapsed(),
    })
}

/// Authenticates every page of a new file, which has neither log nor journal; answers those that are bad, as many as are
/// listed, and how many are.
pub(crate) fn draft(
    file: &RawFile,
    path: &Path,
    view: &View,
    watch: &Watch,
) -> Result<(Vec<BadPage>, u64), EngineError> {
    let mut findings = Findings::default();
    pages::check_file(file, path, view, watch, &mut findings)?;
    Ok(findings.into_sorted())
}

/// Authenticates every page, and then has SQLite check that they make a database.
///
/// # Errors
/// As [`physical`]; what SQLite says.
pub fn verify(storage: &dyn Storage, path: &Path, access: &Access, watch: &Watch) -> Result<Report, EngineError> {
    sqlite::install()?;
    access.check()?;
    let physical = physical(storage, path, access, watch)?;
    if !physical.is_good() {
        return Ok(Report { physical, faults: None });
    }
    watch.report(Phase::CheckingIntegrity, 0, 0);
    let mut database = Database::open(storage, path, access)?;
    database.watch(watch)?;
    let mut faults = Faults(Vec::new());
    database.run("PRAGMA integrity_check", &mut faults)?;
    faults.0.retain(|fault| fault != "ok");
    Ok(Report {
        physical,
        faults: Some(faults.0),
    })
}

struct Faults(Vec<String>);

impl Rows for Faults {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, cells: Vec<Cell>) -> bool {
        for cell in cells {
            if let Cell::Text(text) = cell {
                self.0.push(text);
            }
        }
        true
    }

    fn end(&mut self) {}
}

/// Somebody who changes keys three times while a database is read is not waited for.
const ATTEMPT_COUNT_MAX: u32 = 3;
