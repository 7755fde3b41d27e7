//! Follows a database while others use it: a backup, and then what is committed, a moment later.
//!
//! - nothing-is-left-out: the log's frames are read under a read mark of SQLite's; before one is
//!   given back, the next is held, and everything up to the one before was sent. So no frame is
//!   overwritten before it was read:
//!   - On a mark other than 0, no connection restarts the log: `walRestartLog` and a checkpoint that
//!     truncates the log want all of these marks exclusively.
//!   - On mark 0, which a reader gets if all of the log is in the file, `walCheckpoint` cannot have
//!     it exclusively, and copies nothing. The log may restart, once: the new one could only follow
//!     another after it was copied.
//!   - A connection that holds either for what was sent, and then takes another for more, gets none
//!     that is 0: of what came since nothing was copied (`walCheckpoint` stops at the mark that is
//!     held). So more is read while the log stands.
//! - nothing-is-sent-twice: where no mark was
//!   held, after a kill say, the log has the same salts, and the frame before the place has the
//!   checksum that was noted: see [`selenite_vfs::snapshot::Snapshot::place_behind`]. Or else a new
//!   backup is made.
//! - writers-never-wait: no lock is taken that they want, but in a checkpoint
//!   of kind PASSIVE, which waits for no one. While a mark other than 0 is held the log grows;
//!   where it has grown long, and checkpoints don't come to its end, marks are let go between
//!   turns, so that writers begin it again: which pages were committed in the old log is then told
//!   by its file ([`selenite_vfs::snapshot::Snapshot::rest_behind`]), or else a new backup is made.
//! - removed-keys-open-nothing-new: when slots or
//!   master key are others than those of the archive, a new one is begun.
//! - no-holes: where the archive is gone, or another has added to it, it is
//!   left: what is there is looked at again, and gone on with or replaced by a new backup. Where
//!   the destination is away it is waited for.
//! - idle-is-free: where no one commits, a turn looks at the WAL index, in
//!   memory, and at which file bears the database's name; every few seconds at the keys, and once a
//!   minute whether the archive is there.

mod failed;
mod look;
mod new_archive;
mod resume;
mod sole;
mod turn;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use selenite_backup::{ArchiveName, BackupError, Destination, LogWriter, Trouble};

use crate::backup::Backup;
use crate::draft::beside;
use crate::storage::Storage;
use crate::{Access, Class, Database, EngineError, Watch};

use failed::Failed;
use look::Look;
use new_archive::NewArchive;

/// How a database is followed.
pub struct Follow {
    /// How far behind it may be.
    pub lag: Duration,
    /// When a new backup is made at the latest.
    pub renew_every: Duration,
    /// How many bytes the database's log may grow to while nothing can be sent.
    pub log_size_max: u64,
    /// Whether to end once everything was sent.
    pub once: bool,
    /// How backups are made.
    pub backup: Backup,
}

/// How far it is.
#[derive(Clone, Debug)]
pub struct Status {
    /// What is followed up to now; nothing before the first backup is there.
    pub archive: Option<ArchiveName>,
    /// How many objects were added to it, and their bytes.
    pub objects: (u32, u64),
    /// For how long nothing was known to be sent: what was committed before is there.
    pub behind: Duration,
    /// Whether a new backup is being made.
    pub is_renewing: bool,
    /// Why what was followed before is not followed any more, until a new backup is there.
    pub left: Option<&'static str>,
    /// What it waits for.
    pub waits_for: Option<String>,
    /// What a new backup waits for, while the one before is followed.
    pub renewal_waits_for: Option<String>,
}

/// Follows the database at `path` until `watch` says stop. `tell` hears after every turn how far it is.
///
/// # Errors
/// [`EngineError::Usage`] in rollback mode, and where another database took its place; [`EngineError::Io`] where it
/// was removed; [`EngineError::Followed`] where another process of this machine follows it to there; a page that is
/// not authentic. A destination that is away or full is no error, but for [`Follow::once`].
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
    let mut follower = Follower::open(&place)?;
    let _sole = sole::claim(storage, path, destination.as_ref())?;
    let mut trouble = Backoff::new(PAUSE_MAX);
    loop {
        // Asked before the turn: what was committed before is sent.
        let is_last = watch.is_interrupted();
        let failed = match follower.turn(&place, (how.renew_every, how.log_size_max), is_last) {
            Ok(()) => {
                trouble = Backoff::new(PAUSE_MAX);
                None
            }
            // The next backup is under the keys of now.
            Err(EngineError::Backup(BackupError::KeysChanged)) => None,
            Err(error) if how.once || !is_passing(&error) => return Err(error),
            Err(error) => Some(error.to_string()),
        };
        let has_failed = failed.is_some();
        let is_done = how.once && follower.is_up_to_date();
        let status = follower.status(failed);
        tell(&status);
        if is_done || is_last {
            return Ok(status);
        }
        let pause = match (has_failed, follower.has_let_go()) {
            (true, _) => trouble.next(),
            (false, true) => LET_GO,
            (false, false) if how.once => LISTEN,
            (false, false) => how.lag / 2,
        };
        wait(pause, watch);
    }
}

/// What does not change.
struct FollowContext<'a> {
    storage: &'a dyn Storage,
    path: &'a Path,
    access: &'a Access,
    destination: Arc<dyn Destination>,
    watch: Watch,
    backup: Arc<Backup>,
}

/// Who follows.
struct Follower {
    /// In a read transaction, unless it was let go.
    holder: Database,
    /// Takes the next one.
    other: Database,
    /// What `holder` sees.
    look: Look,
    /// `idle-is-free`: when a transaction was begun last.
    looked: Instant,
    /// writers-never-wait: no transaction is held.
    is_let_go: bool,
    /// What was committed while none was held is not sent yet.
    is_apart: bool,
    archive: Option<Followed>,
    new: Option<NewArchive>,
    /// The last new one, where it failed.
    failed: Option<Failed>,
    /// `no-holes`: why the one before was left.
    left: Option<&'static str>,
    /// Which file it is.
    identity: (u64, u64),
    /// Since when not everything was sent.
    sent: Instant,
    /// Whether nothing came in the last turn.
    is_quiet: bool,
    /// How long the log was when a checkpoint was tried last.
    tried: u32,
    /// In how many more turns marks are let go.
    windows: u32,
}

/// An archive that is followed.
struct Followed {
    writer: Arc<Mutex<LogWriter>>,
    /// Enforces `removed-keys-open-nothing-new`.
    keys: look::Keys,
    since: Instant,
    /// When it was seen to be there.
    seen: Instant,
    name: ArchiveName,
}

impl Follower {
    fn open(place: &FollowContext<'_>) -> Result<Self, EngineError> {
        let identity = identity(place)?;
        let (holder, other) = (connect(place)?, connect(place)?);
        let look = look::look(&holder)?;
        holder.end_any_read();
        Ok(Self {
            holder,
            other,
            look,
            looked: Instant::now(),
            is_let_go: false,
            is_apart: false,
            archive: None,
            new: None,
            failed: None,
            left: None,
            identity,
            sent: Instant::now(),
            is_quiet: false,
            tried: 0,
            windows: 0,
        })
    }

    fn is_up_to_date(&self) -> bool {
        self.archive.is_some() && self.new.is_none()
    }

    fn has_let_go(&self) -> bool {
        self.is_let_go
    }

    /// `no-holes`: does not go on with the archive.
    fn leave(&mut self, why: &'static str) {
        self.archive = None;
        self.left = Some(why);
    }

    fn status(&self, failed: Option<String>) -> Status {
        let why = self.failed.as_ref().map(|failed| failed.why().to_owned());
        // What it is tried in vain for is said until it goes well.
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
        }
    }
}

fn connect(place: &FollowContext<'_>) -> Result<Database, EngineError> {
    let database = Database::open(place.storage, place.path, place.access)?;
    // Who closes the database last would copy the log and remove it, and with it the place where to go on.
    database.keep_log_on_close()?;
    database.batch("PRAGMA cache_size = -256")?;
    Ok(database)
}

/// Which file bears the database's name.
fn identity(place: &FollowContext<'_>) -> Result<(u64, u64), EngineError> {
    let attributes = place.storage.attributes(place.path);
    Ok(attributes
        .map_err(crate::error::io_error("follow", place.path))?
        .identity)
}

/// The size of the log's file.
fn log_size(place: &FollowContext<'_>) -> u64 {
    let attributes = place.storage.attributes(&beside(place.path, "-wal"));
    attributes.map_or(0, |attributes| attributes.size)
}

/// Whether it may be well again by itself.
fn is_passing(error: &EngineError) -> bool {
    if let EngineError::Backup(BackupError::Store(error)) = error {
        return error.trouble != Trouble::Usage;
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
        sleep(left.min(LISTEN));
    }
}

/// How long to wait after trouble: longer each time.
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

/// How long to wait after trouble at most.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How often one who waits listens for the end.
const LISTEN: Duration = Duration::from_millis(50);
/// writers-never-wait: how long marks are let go: a writer's commit, its checkpoint and the next commit.
const LET_GO: Duration = Duration::from_millis(50);
