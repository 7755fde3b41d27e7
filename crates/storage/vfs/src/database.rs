//! One connection's database file: what it is, its keys, its locks. Its WAL and journal share it.
//!
//! - kind-checked-under-lock: what the file is, is decided again whenever SHARED is taken, and
//!   before anything is created: another connection may have made it a database since (FORMAT 2.6).
//! - generation-before-sealing: a connection that takes SQLite's write lock looks at the generation before a
//!   page is sealed (FORMAT 3.8). So does one that begins to read. In WAL mode the last writer's
//!   mark saves looking (`generation_mark.rs`).
//! - one-way-to-the-file: the file below is opened, read and closed through the VFS below only:
//!   closing any other descriptor of it would drop SQLite's locks (fcntl(2)).

mod expectation;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use selenite_cipher::Suite;
use selenite_format::State;
use selenite_keyring::{Config, Identity, KeyError, OriginPolicy, Trust, Unlocked};

use crate::closing::{Closing, FileId};
use crate::error::VfsError;
use crate::ffi::{Code, LockLevel, LowerFile, ShmRegion, SyncFlags};
use crate::frame_passthrough::FramePassthrough;
use crate::generation_mark::GenerationMark;
use crate::host::{Host, Identify, Presence};
use crate::planted::{Bug, is_planted};
use crate::settings::Settings;
use crate::superblock_pair::{Heads, Prefix, SuperblockCopy, is_behind, read_prefix, store, store_new};
use crate::view::View;
use expectation::check_expected;

/// The database behind one open main file.
pub struct Database {
    /// The copy of SQLite that opened it.
    pub host: Arc<Host>,
    /// Keeps its closes and first locks apart.
    pub(crate) closing: Arc<Closing>,
    /// What the caller asked for.
    pub settings: Settings,
    /// Its path, for messages.
    pub path: String,
    /// Device and inode, where they are known to be those of the file that is open.
    pub identity: Option<(u64, u64)>,
    config: Config,
    /// With the keyring file as it was when a master key was last found in it, or not.
    trust: Mutex<Trust>,
    identities: Vec<Box<dyn Identity>>,
    inner: Mutex<Inner>,
    /// Counts the views: a file compares it before it uses the view that it holds.
    view_no: AtomicU64,
    /// Whether this connection has the WAL open.
    has_log: AtomicBool,
    /// Whether this connection holds the WAL's write lock.
    wal_write: AtomicBool,
    /// A page on its way from the WAL into the database.
    pub(crate) passthrough: FramePassthrough,
    /// Counts the turns in which this connection writes to the WAL.
    turn: AtomicU64,
    /// The last field: it is dropped when the file below is closed.
    _presence: Presence,
}

/// With what a database is opened: loaded before its file is, so that a missing key makes no file.
pub struct Credentials {
    config: Config,
    trust: Trust,
    identities: Vec<Box<dyn Identity>>,
}

impl Credentials {
    /// Loads the identities that are in force, and the keyring file, for the database at `path`.
    ///
    /// # Errors
    /// As the keyring has it.
    pub fn load(config: Config, settings: &Settings, path: &Path, is_linked: bool) -> Result<Self, VfsError> {
        let identities = match &settings.identity {
            Some(spec) => selenite_keyring::load(spec, &config)?,
            None => Vec::new(),
        };
        let mut trust = Trust::load(&config, settings.origin, Some(path))?;
        trust.commitment = settings.expected_commitment;
        if is_linked {
            trust.set_linked();
        }
        Ok(Self {
            config,
            trust,
            identities,
        })
    }
}

/// What the file was, when last looked at.
#[derive(Clone)]
pub enum Content {
    /// No database yet.
    Empty,
    /// An unencrypted database, admitted.
    Plain,
    /// A database of ours.
    Sealed(Arc<View>),
}

impl Inner {
    /// As [`Database::content`], for who holds the lock.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Notes the first region of the WAL index, or that it is no longer mapped.
    pub fn set_index(&mut self, region: Option<ShmRegion>) {
        self.mark = region.map(GenerationMark::new);
        self.mark_at_look = None;
    }
}

/// What is used under the lock; see [`Database::lock`].
pub struct Inner {
    /// The file below.
    pub lower: LowerFile,
    /// SQLite's lock on it.
    pub level: LockLevel,
    /// How many pages it has, where that is known to be so: no other connection can change it meanwhile.
    pub page_count: Option<u32>,
    /// The mark in the WAL index, while that is mapped.
    mark: Option<GenerationMark>,
    /// What it said before a reader looked at the superblocks last.
    mark_at_look: Option<u32>,
    content: Content,
    place: SuperblockCopy,
    heads: Option<Heads>,
}

impl Database {
    /// Looks at a file that was just opened.
    ///
    /// # Errors
    /// Whatever refuses the file: see [`VfsError`].
    pub fn open(
        presence: Presence,
        credentials: Credentials,
        settings: Settings,
        path: String,
        mut lower: LowerFile,
    ) -> Result<Self, VfsError> {
        let Credentials {
            config,
            trust,
            identities,
        } = credentials;
        let host = presence.host().clone();
        let identity = identity_of(host.identify, &path, &mut lower);
        let file = identity.map_or_else(|| FileId::Path(path.clone()), FileId::Inode);
        let database = Self {
            closing: host.closings.of(file),
            host,
            identity,
            settings,
            path,
            config,
            trust: Mutex::new(trust),
            identities,
            inner: Mutex::new(Inner {
                lower,
                level: LockLevel::NONE,
                page_count: None,
                mark: None,
                mark_at_look: None,
                content: Content::Empty,
                place: SuperblockCopy::A,
                heads: None,
            }),
            view_no: AtomicU64::new(0),
            has_log: AtomicBool::new(false),
            wal_write: AtomicBool::new(false),
            _presence: presence,
            passthrough: FramePassthrough::default(),
            turn: AtomicU64::new(0),
        };
        database.reload(&mut database.lock())?;
        check_expected(&database.settings, &mut database.lock())?;
        Ok(database)
    }

    /// The state that its calls share. SQLite makes one call at a time: no one ever waits here.
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes whenever the answer of [`Database::content`] does.
    pub fn view_no(&self) -> u64 {
        self.view_no.load(Ordering::Acquire)
    }

    /// What the file is, as far as this connection knows.
    pub fn content(&self) -> Content {
        self.lock().content.clone()
    }

    /// Notes that this connection is about to take or give back locks of the WAL index: `write`
    /// tells of its write lock, where that is among them.
    ///
    /// A turn ends with the write lock; and with any other lock that is taken or given back without it, for nothing is
    /// being written then. (In exclusive mode SQLite takes no locks, and when that ends it takes one for reading.)
    pub fn note_shm_lock(&self, write: Option<bool>) {
        let was_held = match write {
            Some(held) => {
                self.wal_write.store(held, Ordering::Release);
                false
            }
            None => self.wal_write.load(Ordering::Acquire),
        };
        if !was_held {
            self.turn.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Two writes to the WAL in one turn may be of one transaction; what was written in an earlier
    /// turn is committed, or was rolled back and may have been written over by others.
    pub fn turn(&self) -> u64 {
        self.turn.load(Ordering::Acquire)
    }

    /// Notes that the WAL was opened, or closed.
    pub fn set_log(&self, is_open: bool) {
        self.has_log.store(is_open, Ordering::Release);
    }

    /// Whether this connection has the WAL open: with or without shared memory.
    pub fn has_log(&self) -> bool {
        self.has_log.load(Ordering::Acquire)
    }

    /// Whether this connection may change the superblock.
    pub fn holds_write_lock(&self, inner: &Inner) -> bool {
        inner.level >= LockLevel::RESERVED || self.wal_write.load(Ordering::Acquire) || self.settings.takes_no_locks
    }

    /// Tells SQLite's log and `selenite_last_error()` why something was refused, and gives SQLite's code for it.
    pub fn report(&self, error: &VfsError) -> Code {
        self.host.report(&self.path, error)
    }

    /// Looks at the file again if it may have changed, and says whether it had.
    ///
    /// # Errors
    /// Whatever refuses the file now.
    pub fn refresh(&self, inner: &mut Inner) -> Result<bool, VfsError> {
        let unchanged = match (&inner.content, &inner.heads) {
            (Content::Sealed(_), Some(heads)) => Heads::read(&mut inner.lower)? == *heads,
            (Content::Plain, _) => true,
            (Content::Sealed(_) | Content::Empty, _) => false,
        };
        if unchanged {
            return Ok(false);
        }
        self.reload(inner)?;
        Ok(true)
    }

    /// As [`Database::refresh`], for who has just taken the write lock of the WAL.
    ///
    /// # Errors
    /// Whatever refuses the file now.
    pub fn refresh_as_writer(&self, inner: &mut Inner) -> Result<bool, VfsError> {
        let is_marked = |inner: &Inner| match (&inner.content, inner.mark) {
            (Content::Sealed(view), Some(mark)) => mark.is_of(&view.unlocked.superblock),
            (Content::Sealed(_) | Content::Plain | Content::Empty, _) => false,
        };
        if is_marked(inner) {
            return Ok(false);
        }
        let changed = self.refresh(inner)?;
        if let (Content::Sealed(view), Some(mark)) = (&inner.content, inner.mark) {
            mark.set(&view.unlocked.superblock);
        }
        Ok(changed)
    }

    /// As [`Database::refresh`], for who has just taken a read mark of the WAL. Where no one has
    /// changed the superblock this costs one read of mapped memory.
    ///
    /// # Errors
    /// Whatever refuses the file now.
    pub fn refresh_as_reader(&self, inner: &mut Inner) -> Result<(), VfsError> {
        let (Content::Sealed(view), Some(mark)) = (&inner.content, inner.mark) else {
            return Ok(());
        };
        let value = mark.value();
        if mark.is_of(&view.unlocked.superblock) || (value.is_some() && value == inner.mark_at_look) {
            return Ok(());
        }
        inner.mark_at_look = None;
        self.refresh(inner)?;
        inner.mark_at_look = value;
        Ok(())
    }

    /// Makes an empty file a database, with superblocks that are synced before its first page (FORMAT 2.6). The caller
    /// holds SQLite's write lock.
    ///
    /// # Errors
    /// `NoKey` where no identity says for whom; whatever the VFS below says.
    pub fn create(&self, inner: &mut Inner) -> Result<(), VfsError> {
        self.reload(inner)?;
        match &inner.content {
            Content::Sealed(_) | Content::Plain => return Ok(()),
            Content::Empty => {}
        }
        if !self.holds_write_lock(inner) {
            return Err(VfsError::SettingsMismatch("a new database written without a lock"));
        }
        self.settings.check_new()?;
        let suite = self.settings.suite;
        let new = Host::create_keys(
            self.settings.identity.as_ref(),
            &self.config,
            self.settings.page_size,
            suite,
            now(),
        )?;
        let trust = self.trust();
        if trust.policy == OriginPolicy::Own {
            trust.note_created(&new)?;
        }
        drop(trust);
        let (new, place) = store_new(&mut inner.lower, new)?;
        inner.page_count = Some(0);
        self.adopt(inner, new, place)
    }

    /// Replaces the superblock. The caller holds SQLite's write lock; `change` sees what is on disk now.
    ///
    /// # Errors
    /// What `change` says, and whatever the VFS below says.
    pub fn change_superblock(
        &self,
        inner: &mut Inner,
        change: impl FnOnce(&Unlocked) -> Result<(Unlocked, bool), VfsError>,
    ) -> Result<(), VfsError> {
        if !self.holds_write_lock(inner) {
            return Err(VfsError::SettingsMismatch(
                "keys can only be changed inside BEGIN IMMEDIATE",
            ));
        }
        self.refresh(inner)?;
        if let Some(mark) = inner.mark {
            mark.clear();
        }
        self.mend_twin(inner)?;
        let Content::Sealed(view) = inner.content.clone() else {
            return Err(VfsError::NotEncrypted("it has no keys to change"));
        };
        let (new, takes_rights_away) = change(&view.unlocked)?;
        // What it says of pages may rest on what someone wrote under `synchronous = OFF`.
        self.host.sync_clock.time(|| inner.lower.sync(SyncFlags::FULL))?;
        let (new, place) = store(&mut inner.lower, inner.place, new, takes_rights_away)?;
        let is_retired = new.superblock.state == State::Retired;
        self.adopt(inner, new, place)?;
        if let (Content::Sealed(view), Some(mark), false) = (&inner.content, inner.mark, is_retired) {
            mark.set(&view.unlocked.superblock);
        }
        Ok(())
    }

    /// Notes in the superblock whether there are pages, if it says otherwise (FORMAT 3.9).
    ///
    /// # Errors
    /// Whatever the VFS below says.
    pub fn note_pages(&self, inner: &mut Inner, exist: bool) -> Result<(), VfsError> {
        let Content::Sealed(view) = &inner.content else {
            return Ok(());
        };
        if view.unlocked.superblock.pages_exist == exist {
            return Ok(());
        }
        self.change_superblock(inner, |unlocked| {
            let mut next = unlocked.with_generation(unlocked.superblock.generation + 1);
            next.set_pages_exist(exist);
            Ok((next, false))
        })
    }

    /// Whether the superblock promises pages that the file does not have: it was emptied by someone (FORMAT 3.9).
    ///
    /// # Errors
    /// `NotEncrypted` then.
    pub fn check_not_emptied(&self, inner: &mut Inner) -> Result<(), VfsError> {
        let Content::Sealed(view) = &inner.content else {
            return Ok(());
        };
        let size = inner.lower.size()?;
        if view.unlocked.superblock.pages_exist && view.geometry.page_count(size) == 0 && !self.settings.allow_plain {
            return Err(VfsError::NotEncrypted("all its pages were truncated"));
        }
        Ok(())
    }

    fn reload(&self, inner: &mut Inner) -> Result<(), VfsError> {
        let in_force = !self.identities.is_empty();
        match read_prefix(&mut inner.lower)? {
            Prefix::Sealed { bytes, place, heads } => {
                // Only what was adopted counts as seen: what is refused now is refused the next time, too.
                inner.heads = None;
                let unlocked = self.unlock(&bytes)?;
                check_successor(&inner.content, &unlocked)?;
                self.adopt_read(inner, unlocked, place)?;
                self.check_not_emptied(inner)?;
                inner.heads = Some(heads);
                Ok(())
            }
            Prefix::Empty => {
                if matches!(inner.content, Content::Sealed(_)) {
                    return Err(VfsError::NotEncrypted("its superblocks were truncated"));
                }
                self.set_content(inner, Content::Empty);
                Ok(())
            }
            Prefix::Plain if matches!(inner.content, Content::Sealed(_)) => {
                Err(VfsError::Replaced("by an unencrypted database"))
            }
            Prefix::Plain if in_force && !self.settings.allow_plain => Err(VfsError::NotEncrypted(
                "it is an unencrypted database, and an identity is set; encrypt it (selenite encrypt), or admit it with plain=allow in the URI",
            )),
            Prefix::Plain => {
                self.set_content(inner, Content::Plain);
                Ok(())
            }
            Prefix::Foreign => Err(VfsError::NotEncrypted("it is not an SQLite database")),
            Prefix::Torn => Err(VfsError::BothDamaged),
        }
    }

    /// Opens a superblock. A master key that was renewed is in the keyring file by now, not in what
    /// was read of it before.
    fn unlock(&self, bytes: &[u8]) -> Result<Unlocked, VfsError> {
        let mut trust = self.trust();
        match self.host.unlock(bytes, &self.identities, &trust) {
            Err(KeyError::DatabaseReplaced { .. }) => trust.keyring = self.config.load_keyring()?,
            unlocked => return Ok(unlocked?),
        }
        Ok(self.host.unlock(bytes, &self.identities, &trust)?)
    }

    /// Judges the origin of what is open once more, without what only its own URI says;
    /// `main_origin` is what the main database's says. The database is opened so from here on.
    ///
    /// # Errors
    /// `ForeignOrigin`, `OriginUnknown`, `PathReplaced` or `NotPinned`: see [`Trust`].
    pub(crate) fn judge_again(
        &self,
        (keeps_policy, keeps_commitment): (bool, bool),
        main_origin: Option<OriginPolicy>,
    ) -> Result<(), KeyError> {
        let mut trust = self.trust();
        if !keeps_policy {
            trust.policy = main_origin.unwrap_or(self.config.origin());
        }
        if !keeps_commitment {
            trust.commitment = None;
        }
        match self.content() {
            Content::Sealed(view) => trust.admit(&view.unlocked),
            Content::Plain | Content::Empty => Ok(()),
        }
    }

    /// What is demanded of the file's origin.
    fn trust(&self) -> MutexGuard<'_, Trust> {
        self.trust.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `cut-off-is-completed`: ends a change that was cut off between its two writes: the
    /// superblock that does not count is rewritten.
    fn mend_twin(&self, inner: &mut Inner) -> Result<(), VfsError> {
        let Content::Sealed(view) = inner.content.clone() else {
            return Ok(());
        };
        if !is_behind(&mut inner.lower)? {
            return Ok(());
        }
        let generation = view.unlocked.superblock.generation.checked_add(1);
        let same = view
            .unlocked
            .with_generation(generation.ok_or(KeyError::GenerationExhausted)?);
        let (same, place) = store(&mut inner.lower, inner.place, same, false)?;
        self.adopt(inner, same, place)
    }

    /// Goes on with a superblock that this connection wrote.
    fn adopt(&self, inner: &mut Inner, unlocked: Unlocked, place: SuperblockCopy) -> Result<(), VfsError> {
        inner.heads = Some(Heads::read(&mut inner.lower)?);
        if unlocked.superblock.state == State::Retired {
            return Ok(());
        }
        self.adopt_read(inner, unlocked, place)
    }

    fn adopt_read(&self, inner: &mut Inner, unlocked: Unlocked, place: SuperblockCopy) -> Result<(), VfsError> {
        let view = self.view_of(unlocked)?;
        inner.place = place;
        self.set_content(inner, Content::Sealed(Arc::new(view)));
        Ok(())
    }

    fn set_content(&self, inner: &mut Inner, content: Content) {
        inner.content = content;
        self.view_no.fetch_add(1, Ordering::AcqRel);
    }

    fn view_of(&self, unlocked: Unlocked) -> Result<View, VfsError> {
        let superblock = &unlocked.superblock;
        let only_none = superblock.epochs.iter().all(|epoch| epoch.suite == Suite::None);
        let in_force = !self.identities.is_empty();
        if only_none && in_force && !self.settings.allow_plain {
            return Err(VfsError::NotEncrypted(
                "its only suite is NONE; encrypt it (selenite reencrypt --on), or admit it with plain=allow in the URI or SELENITE_PLAIN=allow",
            ));
        }
        View::new(unlocked, self.settings.allow_plain, self.settings.allow_deprecated)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let alone = (!is_planted(Bug::LockedWhileClosing)).then(|| self.closing.begin());
        self.inner
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .lower
            .close();
        drop(alone);
    }
}

/// `superblock-moves-forward`: while a database is open its superblock only ever moves on: it stays
/// that of this database, and no generation comes back.
fn check_successor(known: &Content, next: &Unlocked) -> Result<(), VfsError> {
    let Content::Sealed(view) = known else { return Ok(()) };
    let known = &view.unlocked.superblock;
    if known.database_id != next.superblock.database_id {
        return Err(VfsError::Replaced("by that of another database"));
    }
    if known.generation > next.superblock.generation {
        return Err(VfsError::Replaced("by an older one"));
    }
    Ok(())
}

/// Device and inode of the open file: those that its path has, if the VFS below says that it is
/// still the same file, and the path did not change meanwhile.
fn identity_of(identify: Identify, path: &str, lower: &mut LowerFile) -> Option<(u64, u64)> {
    let path = Path::new(path);
    let before = identify(path)?;
    (!lower.has_moved() && identify(path) == Some(before)).then_some(before)
}

/// Seconds since 1970, UTC.
#[must_use]
pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
