//! Follows a database while others use it: makes a backup, and then sends what is committed shortly
//! afterwards.
//!
//! - nothing-is-left-out: the log's frames are read under a read mark of SQLite's. Before a mark is
//!   released, the next one is held, and everything up to the released one was sent. So no frame is
//!   overwritten before it was read:
//!   - On a mark other than 0, no connection restarts the log: `walRestartLog` and a checkpoint
//!     that truncates the log need all of these marks exclusively.
//!   - On mark 0, which a reader gets if all of the log is in the file, `walCheckpoint` cannot have
//!     it exclusively, and copies nothing. The log may restart once: before a second restart, the
//!     new log would have to be copied.
//!   - A connection that holds either for what was sent, and then takes another for more, does not
//!     get mark 0: nothing that came since was copied (`walCheckpoint` stops at the mark that is
//!     held). So the new frames are read before the log restarts.
//! - nothing-is-sent-twice: if no mark was held, for example after a kill, the log must have the
//!   same salts, and the frame before the position must have the recorded checksum: see
//!   [`selenite_vfs::snapshot::Snapshot::place_behind`]. Otherwise a new backup is made.
//! - writers-never-wait: no lock is taken that writers need, except in a PASSIVE checkpoint, which
//!   does not wait. While a mark other than 0 is held, the log grows. If it has grown long, and
//!   checkpoints do not reach its end, marks are released between turns, so that writers restart
//!   it. The pages that were committed in the old log are then determined from its file
//!   ([`selenite_vfs::snapshot::Snapshot::pages_since`]), or else a new backup is made.
//! - removed-keys-open-nothing-new: if the slots or the master key differ from those of the
//!   archive, a new one is begun.
//! - no-holes: if the archive was removed, or another process has added to it, it is abandoned: the
//!   destination is read again, and what is there is continued or replaced by a new backup. An
//!   unavailable destination is waited for.
//! - idle-is-free: without commits, a turn reads the WAL index, in memory, and determines which
//!   file is at the database's path; every few seconds it reads the keys, and once a minute it
//!   checks that the archive exists.

mod anchors;
mod claim;
mod failed;
mod log_view;
mod new_archive;
mod resume;
mod turn;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use selenite_backup::{ArchiveName, BackupError, Destination, LogWriter, StoreErrorKind};

use crate::backup::Backup;
use crate::draft::beside;
use crate::storage::Storage;
use crate::{Access, Class, Database, EngineError, Watch};

pub use anchors::Anchoring;
use anchors::Anchors;
use failed::Failed;
use log_view::LogView;
use new_archive::NewArchive;

/// How a database is followed.
pub struct Follow {
    /// How far the backup may be behind.
    pub lag: Duration,
    /// The interval after which a new backup is made at the latest.
    pub renew_every: Duration,
    /// The size in bytes that the database's log may reach while nothing can be sent.
    pub log_size_max: u64,
    /// Whether to end once everything was sent.
    pub once: bool,
    /// How backups are made.
    pub backup: Backup,
    /// How short anchors are written, if they are.
    pub anchoring: Option<Anchoring>,
}

/// The progress.
#[derive(Clone, Debug)]
pub struct Status {
    /// The archive that is followed; `None` before the first backup is complete.
    pub archive: Option<ArchiveName>,
    /// The number of objects that were added to it, and their size in bytes.
    pub objects: (u32, u64),
    /// The time since everything was known to be sent: what was committed before is at the destination.
    pub behind: Duration,
    /// Whether a new backup is being made.
    pub is_renewing: bool,
    /// Why the previous archive is no longer followed, until a new backup is complete.
    pub left: Option<&'static str>,
    /// The error whose end it waits for.
    pub waits_for: Option<String>,
    /// The error that delays a new backup, while the previous archive is followed.
    pub renewal_waits_for: Option<String>,
    /// The number of short anchors that were written.
    pub anchors: u64,
    /// The error that delays the next one.
    pub anchors_wait_for: Option<String>,
}

/// Follows the database at `path` until `watch` interrupts it. `tell` receives the progress after
/// every turn.
///
/// # Errors
/// [`EngineError::Usage`] in rollback mode, and if another database replaced this one;
/// [`EngineError::Io`] if it was removed; [`EngineError::Followed`] if another process of this
/// machine follows it to the same destination; a page that is not authentic. An unavailable or full
/// destination is an error only with [`Follow::once`].
pub fn follow(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    how: Follow,
    destination: &Arc<dyn Destination>,
    watch: &Watch,
    tell: &mut dyn FnMut(&Status),
) -> Result<Status, EngineError> {
    let place = FollowContext {
        storage,
        path,
        access,
        destination: destination.clone(),
        watch: watch.clone(),
        backup: Arc::new(how.backup),
    };
    // First: its connection keeps the others from playing a journal back.
    let mut anchors = Anchors::open(storage, path, access, how.anchoring)?;
    let mut follower = Follower::open(&place)?;
    let _claim = claim::take(storage, path, destination.as_ref())?;
    let mut backoff = Backoff::new(PAUSE_MAX);
    loop {
        // Read before the turn: what was committed before is sent in it.
        let is_last = watch.is_interrupted();
        // If the last anchor is not written, that is said after what is left was sent.
        let (anchored, unwritten) = match anchors.turn(storage, is_last || how.once) {
            Err(error) if is_last && !how.once => (Ok(()), Some(error)),
            anchored => (anchored, None),
        };
        let anchors_wait_for = waits_for(anchored, how.once)?;
        let failed = match follower.turn(&place, (how.renew_every, how.log_size_max), is_last) {
            Ok(()) => {
                backoff = Backoff::new(PAUSE_MAX);
                None
            }
            // The next backup uses the present keys.
            Err(EngineError::Backup(BackupError::KeysChanged)) => None,
            Err(error) if how.once || !is_passing(&error) => return Err(error),
            Err(error) => Some(error.to_string()),
        };
        let has_failed = failed.is_some();
        let is_done = how.once && follower.is_up_to_date();
        let mut status = follower.status(failed);
        status.anchors = anchors.written();
        status.anchors_wait_for = anchors_wait_for;
        tell(&status);
        if is_done || is_last {
            return unwritten.map_or(Ok(status), Err);
        }
        let pause = match (has_failed, follower.is_released()) {
            (true, _) => backoff.next(),
            (false, true) => RELEASE_TIME,
            (false, false) if how.once => INTERRUPT_CHECK_INTERVAL,
            (false, false) => how.lag / 2,
        };
        wait(pause, watch);
    }
}

/// Writes short anchors of the database at `path` until `watch` interrupts it, or once. `tell` receives their number
/// and the error that delays the next one.
///
/// # Errors
/// [`EngineError::Usage`] in rollback mode; the database is older than its newest anchor; a page that is not authentic.
/// A place that can't be written is an error only if it is done `once`.
pub fn write_anchors(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    (how, once): (Anchoring, bool),
    watch: &Watch,
    tell: &mut dyn FnMut(u64, Option<&str>),
) -> Result<u64, EngineError> {
    let pause = how.every;
    let mut anchors = Anchors::open(storage, path, access, Some(how))?;
    loop {
        let is_last = watch.is_interrupted() || once;
        // One who ends it has to learn that the last anchor is not written.
        let failed = waits_for(anchors.turn(storage, is_last), is_last)?;
        tell(anchors.written(), failed.as_deref());
        if is_last {
            return Ok(anchors.written());
        }
        wait(pause, watch);
    }
}

/// The error whose end is waited for, if it is one.
fn waits_for(anchored: Result<(), EngineError>, once: bool) -> Result<Option<String>, EngineError> {
    match anchored {
        Ok(()) => Ok(None),
        Err(error) if once || !(is_passing(&error) || matches!(error, EngineError::NoAnchor { .. })) => Err(error),
        Err(error) => Ok(Some(error.to_string())),
    }
}

/// The parameters, which do not change.
struct FollowContext<'a> {
    storage: &'a dyn Storage,
    path: &'a Path,
    access: &'a Access,
    destination: Arc<dyn Destination>,
    watch: Watch,
    backup: Arc<Backup>,
}

/// The state of following.
struct Follower {
    /// In a read transaction, unless that was released.
    holder: Database,
    /// Begins the next one.
    other: Database,
    /// The log and keys that `holder` sees.
    view: LogView,
    /// `idle-is-free`: when the last transaction was begun.
    begun: Instant,
    /// writers-never-wait: no transaction is held.
    is_released: bool,
    /// What was committed while no transaction was held is not sent yet.
    has_unsent_rest: bool,
    archive: Option<Followed>,
    new: Option<NewArchive>,
    /// The last attempt at a new archive, if it failed.
    failed: Option<Failed>,
    /// `no-holes`: why the previous archive was abandoned.
    left: Option<&'static str>,
    /// Device and inode of the file.
    identity: (u64, u64),
    /// The moment up to which everything is known to be sent.
    sent: Instant,
    /// Whether the last turn found nothing new.
    is_quiet: bool,
    /// The length of the log, in frames, at the last attempt at a checkpoint.
    tried: u32,
    /// The number of further turns after which marks are released.
    release_turn_count: u32,
}

/// An archive that is followed.
struct Followed {
    writer: Arc<Mutex<LogWriter>>,
    /// Enforces `removed-keys-open-nothing-new`.
    keys: log_view::Keys,
    since: Instant,
    /// When it was last found to exist.
    seen: Instant,
    name: ArchiveName,
}

impl Follower {
    fn open(place: &FollowContext<'_>) -> Result<Self, EngineError> {
        let identity = anchors::identity(place.storage, place.path)?;
        let (holder, other) = (connect(place)?, connect(place)?);
        let view = log_view::begin(&holder)?;
        holder.end_any_read();
        Ok(Self {
            holder,
            other,
            view,
            begun: Instant::now(),
            is_released: false,
            has_unsent_rest: false,
            archive: None,
            new: None,
            failed: None,
            left: None,
            identity,
            sent: Instant::now(),
            is_quiet: false,
            tried: 0,
            release_turn_count: 0,
        })
    }

    fn is_up_to_date(&self) -> bool {
        self.archive.is_some() && self.new.is_none()
    }

    fn is_released(&self) -> bool {
        self.is_released
    }

    /// `no-holes`: abandons the archive.
    fn leave(&mut self, why: &'static str) {
        self.archive = None;
        self.left = Some(why);
    }

    fn status(&self, failed: Option<String>) -> Status {
        let why = self.failed.as_ref().map(|failed| failed.why().to_owned());
        // The reason of failed attempts is reported until one succeeds.
        let (waits_for, renewal_waits_for) = match &self.archive {
            None => (why.or(failed), None),
            Some(_) => (failed, why),
        };
        let objects = self.archive.as_ref().map_or((0, 0), |archive| {
            let writer = turn::locked(&archive.writer);
            (writer.count(), writer.size())
        });
        Status {
            archive: self.archive.as_ref().map(|archive| archive.name.clone()),
            objects,
            behind: self.sent.elapsed(),
            is_renewing: self.new.is_some(),
            left: self.left,
            waits_for,
            renewal_waits_for,
            anchors: 0,
            anchors_wait_for: None,
        }
    }
}

fn connect(place: &FollowContext<'_>) -> Result<Database, EngineError> {
    let database = Database::open(place.storage, place.path, place.access)?;
    // Closing the last connection would copy the log and remove it, and with it the position to
    // continue from.
    database.keep_log_on_close()?;
    database.batch("PRAGMA cache_size = -256")?;
    Ok(database)
}

/// The size of the log's file.
fn log_size(place: &FollowContext<'_>) -> u64 {
    let attributes = place.storage.attributes(&beside(place.path, "-wal"));
    attributes.map_or(0, |attributes| attributes.size)
}

/// Whether the cause of the error may disappear without action.
fn is_passing(error: &EngineError) -> bool {
    if let EngineError::Backup(BackupError::Store(error)) = error {
        return error.kind != StoreErrorKind::Usage;
    }
    error.class() == Class::Busy
}

fn wait(pause: Duration, watch: &Watch) {
    let until = Instant::now() + pause;
    while !watch.is_interrupted() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        sleep(left.min(INTERRUPT_CHECK_INTERVAL));
    }
}

/// The pause after an error, which doubles each time.
struct Backoff {
    pause: Duration,
    max: Duration,
}

impl Backoff {
    fn new(max: Duration) -> Self {
        let pause = Duration::from_millis(500);
        Self { pause, max }
    }

    fn next(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(self.max);
        pause
    }
}

/// The longest pause after an error.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How often interruption is checked during a pause.
const INTERRUPT_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// writers-never-wait: how long marks are released: a writer's commit, its checkpoint and the next
/// commit.
const RELEASE_TIME: Duration = Duration::from_millis(50);
