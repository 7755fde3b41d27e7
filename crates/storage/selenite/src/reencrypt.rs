//! Every page re-encrypted, under a new data key or in another suite, while others read and write.
//!
//! - new-epoch-first: one change of the superblock lists the new epoch: from then on anyone who writes
//!   seals under it. Then small write transactions dirty the pages that are still of the old one,
//!   as any client of SQLite could (`pages`).
//! - cursor-is-durable: the cursor names pages that are in the database file, and synced; and while
//!   it stands no log holds a frame of theirs of the old epoch (`finish::Finish::save`).
//! - drop-under-lock: the old key is dropped under SQLite's write lock, in both superblocks, after
//!   a look at every page of the file and every frame of the log under that lock (`finish`).
//! - kill-loses-nothing: a kill at any moment loses no commit and no key; what was begun goes on
//!   with [`Goal::GoOn`], or with the same suite as the goal. A new key is never one that was there
//!   before.

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
use selenite_keyring::{KeyError, Unlocked, epoch_change, os_random};
use selenite_vfs::planted::{Bug, is_planted};

use crate::database::Next;
use crate::storage::Storage;
use crate::watch::Phase;
use crate::{Access, Database, EngineError, Watch, conversion, keys, lock_holders, sqlite};

use finish::Finish;
pub(crate) use operation::{Operation, is_held};
pub use operation::{Report, report};
use pace::Pace;
use pages::Pages;
pub use pause::{is_paused, pause, resume};

/// What pages are to be sealed in, and under which key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// In this suite, under a new key.
    Suite(Suite),
    /// Under a new key, in the suite that they are in.
    NewKey,
    /// In clear, in this layout.
    Off,
    /// As was begun before.
    GoOn,
}

/// How to go about it.
#[derive(Clone, Copy, Debug)]
pub struct Reencrypt {
    /// What for.
    pub goal: Goal,
    /// Bytes of pages a second, at most.
    pub rate_max: Option<u64>,
    /// How long one batch may keep a writer waiting, as the 99th percentile, without the time in syncs.
    pub lock_max: Duration,
    /// How much of the time to work while others use the database, in percent, from 1 to 100.
    pub busy_share: u32,
    /// Pages in one batch, at most.
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

/// What it came to.
#[derive(Clone, Debug)]
pub struct Reencrypted {
    /// The database.
    pub path: PathBuf,
    /// What its pages are sealed in now.
    pub suite: Suite,
    /// The epoch that is in use.
    pub epoch: u32,
    /// When its data key was made, if that was before: then this went on with what had been begun.
    /// Seconds since 1970-01-01 UTC.
    pub begun: Option<u64>,
    /// How many pages were re-encrypted here; others may have been written meanwhile.
    pub page_count: u64,
    /// Their bytes.
    pub size: u64,
    /// In how many transactions.
    pub batch_count: u64,
    /// The 99th percentile of how long these kept writers waiting, without syncs.
    pub lock_p99: Duration,
    /// How long that was allowed to be.
    pub lock_max: Duration,
    /// How long the last look at the whole file kept them waiting.
    pub last_look: Duration,
    /// How long it took.
    pub elapsed: Duration,
}

/// Re-encrypts every page. Others go on; at the end the old data key is gone.
///
/// # Errors
/// [`EngineError::UnderWay`] if another process is at it; [`EngineError::Begun`] where a new key is wanted and
/// another is under way; [`EngineError::Unfinished`] where it was stopped: what is done stays done;
/// [`EngineError::Key`]; what SQLite and the VFS say.
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
    // Who copies it offline has it locked: asked before that is waited for.
    operation::refuse_second(storage, &path)?;
    // A database in suite NONE is admitted to be encrypted, and one that is to be in NONE.
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
    let begun = begin(&database, how.goal, access)?;
    let is_wal = database.text("PRAGMA main.journal_mode")? == "wal";
    if is_wal {
        // A batch need not outlive a crash: what the cursor and the end promise is synced by checkpoints before.
        database.batch("PRAGMA main.synchronous = NORMAL")?;
    } else {
        // Others may keep the journal open ([`finish`]): it is never removed from under them.
        database.text("PRAGMA main.journal_mode = TRUNCATE")?;
    }
    // Where it waits for others itself, it does so outside of SQLite: which, cutting a log, waits with the write lock.
    database.batch("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192")?;
    database.wait_for_locks(how.lock_max / 2)?;
    let work = ReencryptionJob {
        storage,
        path: &path,
        database: &database,
        operation: &operation,
        watch,
        page_bytes: u64::from(begun.page_bytes),
        sealing_epoch: begun.sealing_epoch,
        save_every: how.save_every,
        slept: Cell::default(),
    };
    operation.describe(&begun.what);
    let mut pace = Pace::new(how, begun.page_bytes, is_wal);
    let done = convert(&work, &mut pace, begun.cursor);
    let last_look = match done {
        Ok(last_look) => last_look,
        Err(error) => {
            // What is done stays done; how far that is on disk, the next run learns.
            let _ = Finish::new(&work).save();
            return Err(unfinished(error, &work));
        }
    };
    Ok(Reencrypted {
        suite: begun.suite,
        epoch: begun.sealing_epoch,
        begun: begun.since,
        page_count: pace.page_count(),
        size: pace.page_count() * u64::from(begun.page_bytes),
        batch_count: pace.batch_count(),
        lock_p99: pace.lock_p99(),
        lock_max: how.lock_max,
        last_look,
        elapsed: started.elapsed(),
        path,
    })
}

/// What an operation works with.
struct ReencryptionJob<'a> {
    storage: &'a dyn Storage,
    path: &'a Path,
    database: &'a Database,
    operation: &'a Operation,
    watch: &'a Watch,
    page_bytes: u64,
    sealing_epoch: u32,
    save_every: u64,
    /// How long it rested and waited so far.
    slept: Cell<Duration>,
}

/// What the superblock says when it begins, or goes on.
struct Begun {
    cursor: u32,
    page_bytes: u32,
    suite: Suite,
    sealing_epoch: u32,
    what: String,
    /// When what it goes on with was begun.
    since: Option<u64>,
}

/// Lists the new epoch, unless it is listed.
fn begin(database: &Database, goal: Goal, access: &Access) -> Result<Begun, EngineError> {
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
                Ok(Next::Write(
                    Box::new(changed.unlocked),
                    changed.takes_rights_away,
                    begun,
                ))
            }
            (_, Goal::Suite(_) | Goal::Off) if suite != sealing_suite(unlocked) => Err(EngineError::usage(
                format!("a re-encryption to {} is in progress", sealing_suite(unlocked)),
                "finish that first: selenite reencrypt DB --resume",
            )),
            // Someone else's key would not be the new one that is meant: who knows it, no one here can say.
            (_, Goal::NewKey) => Err(EngineError::Begun {
                path,
                epoch: unlocked.superblock.sealing_epoch.0,
                since: begun_at(unlocked),
            }),
            _ => Ok(Next::Leave(Begun {
                since: Some(begun_at(unlocked)),
                ..describe(unlocked)
            })),
        }
    });
    begun.map_err(|error| lock_holders::name(error, database.path()))
}

fn sealing_suite(unlocked: &Unlocked) -> Suite {
    unlocked.superblock.sealing().map_or(Suite::None, |epoch| epoch.suite)
}

fn describe(unlocked: &Unlocked) -> Begun {
    let superblock = &unlocked.superblock;
    let from = superblock.epochs.first().map_or("", |epoch| epoch.suite.name());
    Begun {
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

/// Converts what is left, and ends it. Answers how long the last look kept writers waiting.
fn convert(work: &ReencryptionJob<'_>, pace: &mut Pace, cursor: u32) -> Result<Duration, EngineError> {
    let finish = Finish::new(work);
    let save = |page| finish.save_up_to(page);
    let mut pages = Pages::new(work);
    pages.convert_from(cursor.saturating_add(1), pace, &save)?;
    work.watch.report(Phase::Finishing, 0, 0);
    finish.note_all_done()?;
    pages.phase = Phase::Checking;
    loop {
        if is_planted(Bug::KeyDroppedBeforeScan) {
            return Ok(finish.try_end()?.unwrap_or_default());
        }
        finish.empty_log()?;
        // Without a lock first: the look under the lock finds its pages in memory, and nothing to do.
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
    // A checkpoint empties the log each time that so much was written to it, unless readers keep it from that. Of a
    // small database all pages are in the log before.
    let page_count = work.database.number("PRAGMA main.page_count");
    let size = page_count.map_or(u64::MAX, |count| count.saturating_mul(work.page_bytes));
    error.with_room(2 * work.save_every.min(size), || {
        let path = work.path.display();
        format!("continue with: selenite reencrypt {path} --resume; the database is sound and usable")
    })
}

/// `no` for an unencrypted database; one of ours in suite NONE has other words.
const ENCRYPTED: &str = "SELECT value FROM selenite_status WHERE section = 'database' AND name = 'encrypted'";
