//! Verifies a database: authenticates every page, without SQLite, and then runs SQLite's own
//! check.
//!
//! - read-twice: a page that does not open is read again before it counts: others may be writing to
//!   the file.
//! - bad-under-current-keys: a page that is bad with the keys of one superblock counts only while
//!   that superblock is the valid one (`keys`).
//! - pending-is-no-loss: a page that does not open while a log is about to rewrite it is not lost,
//!   and is reported as pending (`backfill`).
//! - plaintext-is-wiped: buffers of plaintext are zeroed after use.

mod backfill;
mod cut;
mod effective;
pub(crate) mod frame;
pub(crate) mod journal;
mod keys;
mod owner;
mod page_buffer;
mod pages;
mod pending_writes;
mod schema;
mod served;
mod tree;
pub(crate) mod wal;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use selenite_format::anchor::Anchor;
use selenite_keyring::Unlocked;
use selenite_vfs::view::View;

pub use journal::JournalReport;
pub use served::{ServedReport, served};
pub use wal::WalReport;

pub use crate::bad_page::{BAD_LISTED_MAX, BadPage, Findings, Origin, Owner};

use crate::anchor::{self, Comparison, Tallied, Tally, UnchangedFile, Written};
use crate::database::{Cell, Rows};
use crate::draft::beside;
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::watch::Phase;
use crate::{Access, Class, Database, EngineError, Sealed, Watch, sqlite};

use effective::Effective;
use keys::Keys;
use pending_writes::PendingWrites;

/// The result of authenticating all pages.
#[derive(Clone, Debug)]
pub struct PhysicalReport {
    /// The superblock whose keys were used.
    pub sealed: Sealed,
    /// How many pages the database file has.
    pub page_count: u32,
    /// How many bytes of it were read.
    pub size: u64,
    /// Its write-ahead log, if there is one.
    pub wal: Option<WalReport>,
    /// Its rollback journal, if there is one that is not empty.
    pub journal: Option<JournalReport>,
    /// The bad pages, at most [`BAD_LISTED_MAX`].
    pub bad: Vec<BadPage>,
    /// How many are bad.
    pub bad_count: u64,
    /// Pages that do not open in the file, but that the log or journal is about to rewrite: a
    /// checkpoint or commit was interrupted, or is running.
    pub pending: Vec<u32>,
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

/// The result of a full verification.
#[derive(Clone, Debug)]
pub struct Report {
    /// The result of authenticating all pages.
    pub physical: PhysicalReport,
    /// What SQLite's integrity check found; empty if there is no fault. `None` if it did not run,
    /// as a page is bad.
    pub faults: Option<Vec<String>>,
    /// The result of the comparison with the anchor, if one was given.
    pub comparison: Option<Comparison>,
    /// The anchor that was written: only if all pages are good and the database is not older than
    /// the known anchor.
    pub written: Option<Written>,
}

/// What to verify.
#[derive(Clone, Copy, Default, Debug)]
pub struct Verify<'a> {
    /// Omits SQLite's integrity check.
    pub physical_only: bool,
    /// An anchor to compare with.
    pub anchor: Option<&'a Path>,
    /// The path of an anchor to write.
    pub write_anchor: Option<&'a Path>,
}

/// A database that is verified.
pub(crate) struct Subject<'a> {
    storage: &'a dyn Storage,
    path: &'a Path,
    file: &'a RawFile,
    keys: &'a Keys<'a>,
    watch: &'a Watch,
    /// Whether it does not change, with all of its log copied: log and journal are then not read.
    is_still: bool,
}

impl<'a> Subject<'a> {
    /// A database that others may be writing to.
    fn in_use(
        (storage, path, file): (&'a dyn Storage, &'a Path, &'a RawFile),
        (keys, watch): (&'a Keys<'a>, &'a Watch),
    ) -> Self {
        Self {
            storage,
            path,
            file,
            keys,
            watch,
            is_still: false,
        }
    }
}

/// The result of authenticating all pages, and the inputs of an anchor.
struct PhysicalCheck {
    report: PhysicalReport,
    comparison: Option<Comparison>,
    tallied: Tallied,
    change_counter: Option<u32>,
}

/// Authenticates every page of a database, its log and its journal, on all cores.
///
/// # Errors
/// [`EngineError::NotEncrypted`]; [`EngineError::Key`]; [`EngineError::Io`];
/// [`EngineError::Interrupted`]. Bad pages are not an error: see the report.
pub fn physical(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    watch: &Watch,
) -> Result<PhysicalReport, EngineError> {
    check_file(storage, path, &Keys::ask(path, access)?, watch)
}

/// As [`physical`], with given keys, for a database that no other connection uses.
pub(crate) fn pages(
    storage: &dyn Storage,
    path: &Path,
    unlocked: &Unlocked,
    access: &Access,
    watch: &Watch,
) -> Result<PhysicalReport, EngineError> {
    check_file(storage, path, &Keys::given(path, access, unlocked), watch)
}

fn check_file(
    storage: &dyn Storage,
    path: &Path,
    keys: &Keys<'_>,
    watch: &Watch,
) -> Result<PhysicalReport, EngineError> {
    let file = RawFile::open(storage, path)?;
    let subject = Subject::in_use((storage, path, &file), (keys, watch));
    Ok(check_physical(&subject, None)?.report)
}

/// Authenticates every page of a new file, which has neither log nor journal; returns the bad
/// ones, as many as are listed, and how many there are.
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

/// Authenticates every page. On request, compares them with an anchor, runs SQLite's integrity
/// check, and writes an anchor.
///
/// # Errors
/// As [`physical`]; [`EngineError::Anchor`] for an anchor that is not authentic;
/// [`EngineError::Exists`] if the path of the new one has something else; the errors of SQLite.
pub fn verify(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    how: &Verify<'_>,
    watch: &Watch,
) -> Result<Report, EngineError> {
    sqlite::install()?;
    let keys = &Keys::ask(path, access)?;
    let bytes = how.anchor.map(anchor::read).transpose()?;
    let known = match (how.anchor, &bytes) {
        (Some(anchor_path), Some(bytes)) => {
            let view = keys.view(&RawFile::open(storage, path)?)?;
            Some(anchor::open(bytes, anchor_path, &view.unlocked)?)
        }
        _ => None,
    };
    let (seen, new) = match how.write_anchor {
        Some(target) => check_still((storage, path, access), (keys, watch), known.as_ref(), target)?,
        None => {
            let file = RawFile::open(storage, path)?;
            let subject = Subject::in_use((storage, path, &file), (keys, watch));
            (check_physical(&subject, known.as_ref())?, None)
        }
    };
    let mut report = Report {
        physical: seen.report,
        faults: None,
        comparison: seen.comparison,
        written: None,
    };
    if !report.physical.is_good() {
        return Ok(report);
    }
    if !how.physical_only {
        report.faults = Some(integrity(storage, path, access, watch)?);
    }
    let is_old = report
        .comparison
        .as_ref()
        .is_some_and(|found| found.verdict() == anchor::Verdict::Older);
    let is_sound = report.faults.as_ref().is_none_or(Vec::is_empty);
    if let (Some(target), Some((text, written)), false, true) = (how.write_anchor, new, is_old, is_sound) {
        anchor::write(storage, target, &text)?;
        report.written = Some(written);
    }
    Ok(report)
}

/// Verifies a database while it is kept unchanged; returns the text of its anchor, too, if there
/// can be one.
fn check_still(
    (storage, path, access): (&dyn Storage, &Path, &Access),
    (keys, watch): (&Keys<'_>, &Watch),
    known: Option<&Anchor>,
    target: &Path,
) -> Result<(PhysicalCheck, Option<(String, Written)>), EngineError> {
    let view = keys.view(&RawFile::open(storage, path)?)?;
    anchor::check_room(target, view.unlocked.superblock.database_id)?;
    let loose = |file: &RawFile| {
        let subject = Subject::in_use((storage, path, file), (keys, watch));
        check_physical(&subject, known)
    };
    let file = RawFile::open(storage, path)?;
    if is_log_bad(&file, (storage, path), (keys, watch))? {
        // SQLite would copy the part of such a log that it can read, and remove the rest.
        let seen = loose(&file)?;
        if !seen.report.is_good() {
            return Ok((seen, None));
        }
    }
    drop(file);
    let unchanged = match UnchangedFile::hold(storage, path, access, watch) {
        Ok(unchanged) => unchanged,
        // SQLite found a bad page: the result then lists which pages are bad.
        Err(error) if error.class() == Class::Data => {
            let seen = loose(&RawFile::open(storage, path)?)?;
            return if seen.report.is_good() {
                Err(error)
            } else {
                Ok((seen, None))
            };
        }
        Err(error) => return Err(error),
    };
    let file = unchanged.file();
    let subject = Subject {
        storage,
        path,
        file,
        keys,
        watch,
        is_still: true,
    };
    let mut seen = check_physical(&subject, known)?;
    let Some(change_counter) = seen.change_counter.filter(|_| seen.report.is_good()) else {
        return Ok((seen, None));
    };
    // The present keys: an anchor under former keys would be rejected from the start.
    let view = keys.view(file)?;
    let tallied = std::mem::take(&mut seen.tallied);
    let new = new_anchor(&view, tallied, change_counter, known);
    let written = Written {
        page_count: new.page_count(),
        session_count: u64::try_from(new.sessions.len()).unwrap_or(u64::MAX),
        generation: new.generation,
    };
    let key = view.unlocked.master.anchor_key();
    Ok((seen, Some((new.encode(|bytes| key.mac(bytes)), written))))
}

/// Whether the log or the journal has a fault.
fn is_log_bad(
    file: &RawFile,
    (storage, path): (&dyn Storage, &Path),
    (keys, watch): (&Keys<'_>, &Watch),
) -> Result<bool, EngineError> {
    let subject = Subject::in_use((storage, path, file), (keys, watch));
    let mut view = keys.view(file)?;
    let mut findings = Findings::default();
    wal::check(&subject, &mut view, &mut findings)?;
    journal::check(&subject, &mut view, &mut findings)?;
    Ok(!findings.are_none())
}

fn new_anchor(view: &View, tallied: Tallied, change_counter: u32, known: Option<&Anchor>) -> Anchor {
    let superblock = &view.unlocked.superblock;
    let mut sessions = tallied.sessions;
    // Sessions in the former anchor are kept (sessions-accumulate in anchor.rs).
    for (&session, &counter) in known.iter().flat_map(|known| &known.sessions) {
        let highest = sessions.entry(session).or_insert(counter);
        *highest = counter.max(*highest);
    }
    Anchor {
        database_id: superblock.database_id,
        key_id: view.unlocked.master.anchor_key().id(),
        made: crate::now(),
        generation: superblock.generation,
        page_size: superblock.page_size,
        change_counter,
        root: tallied.root,
        sessions,
        marks: tallied.marks,
    }
}

/// Authenticates all pages, and compares them with an anchor.
fn check_physical(subject: &Subject<'_>, known: Option<&Anchor>) -> Result<PhysicalCheck, EngineError> {
    let started = Instant::now();
    let (mut view, superblocks) = subject.keys.view_and_superblocks(subject.file)?;
    let mut findings = Findings::default();
    let is_for_anchor = known.is_some() || subject.is_still;
    let tally = is_for_anchor.then(|| Tally::new(view.geometry, known));
    let (page_count, size, suspects) = pages::check(subject, &mut view, tally.as_ref())?;
    let (mut wal, mut journal) = (None, None);
    if !subject.is_still {
        wal = wal::check(subject, &mut view, &mut findings)?;
        journal = journal::check(subject, &mut view, &mut findings)?;
    }
    cut::check(subject, &mut view, (&mut wal, &mut journal), &mut findings)?;
    let (pending, bad) = split_pending(subject, suspects, wal.as_ref(), journal.as_ref())?;
    pages::report_bad(subject.file, &view, &bad, &mut findings)?;
    let elapsed = started.elapsed();

    let tallied = tally.map(Tally::finish).unwrap_or_default();
    let mut effective = Effective::new(subject, &view, (wal.as_ref(), journal.as_ref()), page_count);
    let change_counter = is_for_anchor.then(|| effective.change_counter()).flatten();
    let mut comparison = known.map(|known| {
        let present = (view.unlocked.superblock.generation, page_count);
        let mut comparison = Comparison::new(known, &tallied, present);
        comparison.set_change_counter(change_counter);
        compare_logs(&mut comparison, known, &tallied, (wal.as_ref(), journal.as_ref()));
        comparison
    });
    let (mut bad, bad_count) = findings.into_sorted();
    name_owners(&mut effective, &mut bad);
    if let Some(comparison) = &mut comparison {
        name_owners(&mut effective, &mut comparison.older);
    }
    let report = PhysicalReport {
        sealed: subject.keys.sealed(&view, (superblocks, size)),
        page_count,
        size,
        wal: wal.map(|found| found.report),
        journal: journal.map(|found| found.report),
        bad,
        bad_count,
        pending,
        elapsed,
    };
    Ok(PhysicalCheck {
        report,
        comparison,
        tallied,
        change_counter,
    })
}

/// `pending-is-no-loss`: divides the pages into those that a log is about to rewrite, and those
/// that are bad.
fn split_pending(
    subject: &Subject<'_>,
    suspects: Vec<u32>,
    wal: Option<&wal::LogFrames>,
    journal: Option<&journal::JournalRecords>,
) -> Result<(Vec<u32>, Vec<u32>), EngineError> {
    if suspects.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let pending = PendingWrites::new(subject, wal, journal)?;
    Ok(suspects.into_iter().partition(|&page_no| pending.holds(page_no)))
}

/// Compares the images that a reader would get from the log or journal.
fn compare_logs(
    comparison: &mut Comparison,
    known: &Anchor,
    tallied: &Tallied,
    (wal, journal): (Option<&wal::LogFrames>, Option<&journal::JournalRecords>),
) {
    let counted: BTreeSet<u32> = match (wal, journal) {
        (None, None) => return,
        _ => tallied.differing.pages.iter().copied().collect(),
    };
    for (&page_no, frame) in wal.iter().flat_map(|wal| &wal.frames) {
        let image = (Origin::Wal, frame.index);
        comparison.add_image(known, image, page_no, &frame.trailer, counted.contains(&page_no));
    }
    for (&page_no, record) in journal.iter().flat_map(|journal| &journal.records) {
        let image = (Origin::Journal, record.index);
        comparison.add_image(known, image, page_no, &record.trailer, counted.contains(&page_no));
    }
}

/// Sets the owners of the pages.
fn name_owners(effective: &mut Effective<'_>, places: &mut [BadPage]) {
    let wanted: BTreeSet<u32> = places
        .iter()
        .map(|place| place.page_no)
        .filter(|&page_no| page_no > 0)
        .collect();
    if wanted.is_empty() {
        return;
    }
    let owners = owner::owners(effective, &wanted);
    for place in places {
        place.owner = owners.get(&place.page_no).cloned();
    }
}

/// The faults that SQLite's integrity check finds; empty if there are none.
pub(crate) fn integrity(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    watch: &Watch,
) -> Result<Vec<String>, EngineError> {
    watch.report(Phase::CheckingIntegrity, 0, 0);
    let has_log = storage
        .attributes(&beside(path, "-wal"))
        .is_ok_and(|attributes| attributes.size > 0);
    let mut database = Database::open(storage, path, access)?;
    database.watch(watch)?;
    if has_log {
        // Otherwise the last connection that is closed would copy the log, as far as SQLite reads
        // it, and remove it (sqlite3WalClose in wal.c).
        let kept = database
            .connection()
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        kept.map_err(|error| database.error(error))?;
    }
    let mut faults = Faults(Vec::new());
    database.run("PRAGMA integrity_check", &mut faults)?;
    faults.0.retain(|fault| fault != "ok");
    Ok(faults.0)
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
