//! Re-encrypts every page, under a new data key or in another suite, while others read and write.
//!
//! - new-epoch-first: one change of the superblock lists the new epoch: from then on every writer
//!   seals under it. Then small write transactions dirty the pages that are still of the old
//!   epoch, as any client of SQLite could (`pages`).
//! - cursor-is-durable: all pages up to the cursor are in the database file, and synced; and no
//!   log holds a frame of the old epoch for any of them (`finish::Finish::save`).
//! - drop-under-lock: the old key is dropped under SQLite's write lock, in both superblocks, after
//!   a check of every page of the file and every frame of the log under that lock (`finish`).
//! - kill-loses-nothing: a kill at any moment loses no commit and no key; an interrupted
//!   re-encryption is continued with [`Goal::GoOn`], or with the same suite as the goal. A new key
//!   is never one that existed before.

mod checkpoint;
mod finish;
mod operation;
mod pace;
mod pages;
mod pause;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selenite_cipher::Suite;
use selenite_format::State;
use selenite_keyring::{KeyError, Unlocked, epoch_change, os_random, shell_word};
use selenite_vfs::injected_bugs::{Bug, is_injected};

use crate::database::KeyChange;
use crate::storage::Storage;
use crate::watch::Phase;
use crate::{Access, Database, EngineError, Watch, conversion, keys, lock_holders, sqlite};

use finish::Finish;
pub(crate) use operation::{Operation, is_held};
pub use operation::{Report, report};
use pace::Pace;
use pages::Pages;
pub use pause::{is_paused, pause, resume};

/// The suite to re-encrypt pages in, and under which key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// In this suite, under a new key.
    Suite(Suite),
    /// Under a new key, in the present suite.
    NewKey,
    /// Unencrypted, in this layout.
    Off,
    /// Continues a re-encryption that was begun before.
    GoOn,
}

/// The parameters of a re-encryption.
#[derive(Clone, Copy, Debug)]
pub struct Reencrypt {
    /// Its goal.
    pub goal: Goal,
    /// The rate limit: bytes of pages per second.
    pub rate_max: Option<u64>,
    /// How long one batch may keep a writer waiting, as the 99th percentile, without the time in
    /// syncs.
    pub lock_max: Duration,
    /// The share of time to work while others use the database, in percent, from 1 to 100.
    pub busy_share: u32,
    /// The maximum number of pages in one batch.
    pub batch_max: u32,
    /// After how many bytes of pages the log is copied and the cursor moved.
    pub save_every: u64,
}

impl Default for Reencrypt {
    fn default() -> Self {
        Self {
            goal: Goal::NewKey,
            rate_max: None,
            lock_max: Duration::from_millis(20),
            busy_share: 10,
            batch_max: 1024,
            save_every: 16 << 20,
        }
    }
}

/// The result of a re-encryption.
#[derive(Clone, Debug)]
pub struct Reencrypted {
    /// The database.
    pub path: PathBuf,
    /// The suite that its pages are sealed in now.
    pub suite: Suite,
    /// The epoch that is in use.
    pub epoch: u32,
    /// When the data key was made, in seconds since 1970-01-01 UTC, if this continued an earlier
    /// re-encryption.
    pub begun: Option<u64>,
    /// How many pages were re-encrypted here; others may have been written meanwhile.
    pub page_count: u64,
    /// Their size in bytes.
    pub size: u64,
    /// How many transactions that took.
    pub batch_count: u64,
    /// The 99th percentile of how long these transactions kept writers waiting, without syncs.
    pub lock_p99: Duration,
    /// The limit for that.
    pub lock_max: Duration,
    /// How long the final check of the whole file kept writers waiting.
    pub last_look: Duration,
    /// How long it took.
    pub elapsed: Duration,
}

/// Re-encrypts every page while others use the database. At the end the old data key is dropped.
///
/// # Errors
/// [`EngineError::UnderWay`] if another process re-encrypts it; [`EngineError::Begun`] for
/// [`Goal::NewKey`] if a re-encryption under another key was begun; [`EngineError::Unfinished`] if
/// it was interrupted: completed pages stay done; [`EngineError::Key`]; the errors of SQLite and
/// the VFS.
pub fn reencrypt(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    how: &Reencrypt,
    watch: &Watch,
) -> Result<Reencrypted, EngineError> {
    let started = Instant::now();
    sqlite::install()?;
    let path = conversion::real_path(storage, path)?;
    // An offline re-encryption has the database locked: checked before waiting for that lock.
    operation::refuse_second(storage, &path)?;
    // A database in suite NONE is accepted, as this may encrypt it; so is one that will be in
    // NONE.
    let access = &Access {
        allow_plain: true,
        ..access.clone()
    };
    let database = Database::open(storage, &path, access)?;
    pages::check_sqlite(&database)?;
    if database.text(ENCRYPTED)? == "no" {
        return Err(EngineError::NotEncrypted {
            path,
            what: "it is an unencrypted database",
        });
    }
    let operation = Operation::begin(storage, &path)?;
    let start = begin(&database, how.goal, access)?;
    let is_wal = database.text("PRAGMA main.journal_mode")? == "wal";
    if is_wal {
        // A batch need not survive a crash: checkpoints sync what the cursor and the end depend
        // on.
        database.batch("PRAGMA main.synchronous = NORMAL")?;
    } else {
        // Others may keep the journal open ([`finish`]), so it is never removed while they do.
        database.text("PRAGMA main.journal_mode = TRUNCATE")?;
    }
    // This waits for others outside of SQLite: SQLite, when truncating a log, waits with the write
    // lock held.
    database.batch("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192")?;
    database.wait_for_locks(how.lock_max / 2)?;
    let work = ReencryptionJob {
        storage,
        path: &path,
        database: &database,
        operation: &operation,
        watch,
        page_bytes: u64::from(start.page_bytes),
        sealing_epoch: start.sealing_epoch,
        save_every: how.save_every,
        slept: Cell::default(),
    };
    operation.describe(&start.what);
    let mut pace = Pace::new(how, start.page_bytes, is_wal);
    let done = convert(&work, &mut pace, start.cursor);
    let last_look = match done {
        Ok(last_look) => last_look,
        Err(error) => {
            // Completed pages stay done; the next run determines how many of them are on disk.
            let _ = Finish::new(&work).save();
            return Err(unfinished(error, &work));
        }
    };
    Ok(Reencrypted {
        suite: start.suite,
        epoch: start.sealing_epoch,
        begun: start.since,
        page_count: pace.page_count(),
        size: pace.page_count() * u64::from(start.page_bytes),
        batch_count: pace.batch_count(),
        lock_p99: pace.lock_p99(),
        lock_max: how.lock_max,
        last_look,
        elapsed: started.elapsed(),
        path,
    })
}

/// What an operation needs.
struct ReencryptionJob<'a> {
    storage: &'a dyn Storage,
    path: &'a Path,
    database: &'a Database,
    operation: &'a Operation,
    watch: &'a Watch,
    page_bytes: u64,
    sealing_epoch: u32,
    save_every: u64,
    /// The total time of pauses and waits so far.
    slept: Cell<Duration>,
}

/// The superblock's state when the operation begins or continues.
struct StartState {
    cursor: u32,
    page_bytes: u32,
    suite: Suite,
    sealing_epoch: u32,
    what: String,
    /// When the re-encryption that this continues was begun.
    since: Option<u64>,
}

/// Lists the new epoch in the superblock, unless it is listed.
fn begin(database: &Database, goal: Goal, access: &Access) -> Result<StartState, EngineError> {
    let allow_deprecated = access.allow_deprecated;
    let path = database.path().to_owned();
    let begun = database.change(move |unlocked| {
        let present = unlocked
            .superblock
            .epochs
            .first()
            .map_or(Suite::None, |epoch| epoch.suite);
        let suite = match goal {
            Goal::Suite(suite) => suite,
            Goal::NewKey => present,
            Goal::Off => Suite::None,
            Goal::GoOn => sealing_suite(unlocked),
        };
        if goal == Goal::Suite(Suite::None) {
            return Err(EngineError::usage(
                "the suite NONE encrypts nothing",
                "choose another suite, or use selenite reencrypt DB --off",
            ));
        }
        if suite.is_deprecated() && !allow_deprecated {
            return Err(EngineError::usage(
                format!("{suite} is deprecated"),
                "choose another suite, or add --allow-deprecated",
            ));
        }
        match (unlocked.superblock.state, goal) {
            (State::Steady, Goal::GoOn) => Err(KeyError::NotUnderWay.into()),
            (State::Steady, Goal::NewKey) if suite == Suite::None => Err(EngineError::usage(
                "its pages are unencrypted",
                "use selenite reencrypt DB --on",
            )),
            (State::Steady, _) => {
                let changed = epoch_change::begin(unlocked, suite, keys::now(), &mut os_random)?;
                let begun = describe(&changed.unlocked);
                Ok(KeyChange::Write(
                    Box::new(changed.unlocked),
                    changed.revokes_access,
                    begun,
                ))
            }
            (_, Goal::Suite(_) | Goal::Off) if suite != sealing_suite(unlocked) => Err(EngineError::usage(
                format!("a re-encryption to {} is in progress", sealing_suite(unlocked)),
                "finish that first: selenite reencrypt DB --resume",
            )),
            // The key of another operation is not the new one that was asked for: it is unknown
            // who has that key.
            (_, Goal::NewKey) => Err(EngineError::Begun {
                path,
                epoch: unlocked.superblock.sealing_epoch.0,
                since: begun_at(unlocked),
            }),
            _ => Ok(KeyChange::Keep(StartState {
                since: Some(begun_at(unlocked)),
                ..describe(unlocked)
            })),
        }
    });
    begun.map_err(|error| lock_holders::with_lock_holders(error, database.path()))
}

fn sealing_suite(unlocked: &Unlocked) -> Suite {
    unlocked.superblock.sealing().map_or(Suite::None, |epoch| epoch.suite)
}

fn describe(unlocked: &Unlocked) -> StartState {
    let superblock = &unlocked.superblock;
    let from = superblock.epochs.first().map_or("", |epoch| epoch.suite.name());
    StartState {
        cursor: superblock.cursor,
        page_bytes: superblock.page_size.as_u32(),
        suite: sealing_suite(unlocked),
        sealing_epoch: superblock.sealing_epoch.0,
        what: format!(
            "{from} to {}, epoch {}",
            sealing_suite(unlocked),
            superblock.sealing_epoch.0
        ),
        since: None,
    }
}

fn begun_at(unlocked: &Unlocked) -> u64 {
    unlocked.superblock.sealing().map_or(0, |epoch| epoch.created)
}

/// Re-encrypts the remaining pages, and ends the operation. Returns how long the final check kept
/// writers waiting.
fn convert(work: &ReencryptionJob<'_>, pace: &mut Pace, cursor: u32) -> Result<Duration, EngineError> {
    let finish = Finish::new(work);
    let save = |page| finish.save_up_to(page);
    let mut pages = Pages::new(work);
    pages.convert_from(cursor.saturating_add(1), pace, &save)?;
    work.watch.report(Phase::Finishing, 0, 0);
    finish.note_all_done()?;
    pages.phase = Phase::Checking;
    loop {
        if is_injected(Bug::KeyDroppedBeforeScan) {
            return Ok(finish.try_end()?.unwrap_or_default());
        }
        finish.empty_log()?;
        // Without a lock first: the check under the lock then finds the pages in memory, and no
        // old one.
        if pages.convert_from(1, pace, &save)? > 0 {
            continue;
        }
        if let Some(last_look) = finish.try_end()? {
            return Ok(last_look);
        }
    }
}

fn unfinished(error: EngineError, work: &ReencryptionJob<'_>) -> EngineError {
    if matches!(error, EngineError::Interrupted) {
        return EngineError::Unfinished {
            path: work.path.to_owned(),
        };
    }
    // A checkpoint empties the log each time that `save_every` bytes were written to it, unless
    // readers prevent that. For a small database, the log has all pages before that.
    let page_count = work.database.number("PRAGMA main.page_count");
    let size = page_count.map_or(u64::MAX, |count| count.saturating_mul(work.page_bytes));
    error.with_room(2 * work.save_every.min(size), || {
        let path = shell_word(work.path);
        format!("continue with: selenite reencrypt {path} --resume; the database is sound and usable")
    })
}

/// The value is `no` for an unencrypted database, but not for one of this format in suite NONE.
const ENCRYPTED: &str = "SELECT value FROM selenite_status WHERE section = 'database' AND name = 'encrypted'";
