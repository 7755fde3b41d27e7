//! The database file of one connection: its content, keys and locks. Its WAL and journal share it.
//!
//! - kind-checked-under-lock: the kind of the file is determined again whenever SHARED is taken,
//!   and before anything is created: another connection may have made it a database since (FORMAT
//!   2.6).
//! - generation-before-sealing: a connection that takes SQLite's write lock checks the generation
//!   before a page is sealed (FORMAT 3.8). So does a connection that begins to read. In WAL mode
//!   the last writer's mark makes reading the file unnecessary (`generation_mark.rs`).
//! - one-way-to-the-file: the file is opened, read and closed through the VFS below only: closing
//!   any other descriptor of it would release SQLite's locks (fcntl(2)).

mod expectation;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use selenite_cipher::Suite;
use selenite_format::State;
use selenite_keyring::{Config, Identity, KeyError, OriginPolicy, Trust, Unlocked};

use crate::close_lock::{CloseLock, FileId};
use crate::error::VfsError;
use crate::ffi::{Code, LockLevel, LowerFile, ShmRegion, SyncFlags};
use crate::frame_passthrough::FramePassthrough;
use crate::generation_mark::GenerationMark;
use crate::host::{Host, Identify, OpenGuard};
use crate::injected_bugs::{Bug, is_injected};
use crate::settings::Settings;
use crate::superblock_pair::{Heads, Prefix, SuperblockCopy, other_needs_rewrite, read_prefix, store, store_new};
use crate::view::View;
use expectation::check_expected;

/// The database behind one open main file.
pub struct Database {
    /// The copy of SQLite that opened the file.
    pub host: Arc<Host>,
    /// The settings from URI, environment and configuration.
    pub settings: Settings,
    /// The file's path, for messages.
    pub path: String,
    config: Config,
    /// Contains the keyring file as it was when it was last searched for the master key.
    trust: Mutex<Trust>,
    identities: Vec<Box<dyn Identity>>,
    inner: Mutex<Inner>,
    /// Is incremented with every new view: a file compares it before it uses its own copy of the
    /// view.
    view_no: AtomicU64,
    /// Is incremented when another file has taken the place of the one below.
    file_no: AtomicU64,
    /// Whether nothing was sealed since.
    has_just_moved: AtomicBool,
    /// Whether this connection has the WAL open.
    has_log: AtomicBool,
    /// Whether this connection holds the WAL's write lock.
    wal_write: AtomicBool,
    /// A page that a checkpoint is copying from the WAL into the database.
    pub(crate) passthrough: FramePassthrough,
    /// Counts the periods in which this connection writes to the WAL; see [`Database::turn`].
    turn: AtomicU64,
    /// The last field, so that it is dropped after the file below is closed.
    _open_guard: OpenGuard,
}

/// Configuration and identities, loaded before the file is opened, so that a missing key creates no
/// file.
pub struct Credentials {
    config: Config,
    trust: Trust,
    identities: Vec<Box<dyn Identity>>,
}

impl Credentials {
    /// Loads the selected identities, and the keyring file, for the database at `path`.
    ///
    /// # Errors
    /// Those of the keyring.
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

/// The kind of the file, as last determined.
#[derive(Clone)]
pub enum Content {
    /// No database yet.
    Empty,
    /// An unencrypted database that the settings allow.
    Plain,
    /// An encrypted database.
    Sealed(Arc<View>),
}

/// A file whose path another one has taken.
pub(crate) struct Predecessor {
    content: Content,
    heads: Option<Heads>,
    place: SuperblockCopy,
    lower: LowerFile,
    identity: Option<(u64, u64)>,
    close_lock: Arc<CloseLock>,
    level: LockLevel,
}

impl Predecessor {
    fn close(&mut self) {
        close(&mut self.lower, &self.close_lock);
    }
}

fn close(lower: &mut LowerFile, close_lock: &CloseLock) {
    let alone = (!is_injected(Bug::LockedWhileClosing)).then(|| close_lock.lock_for_close());
    lower.close();
    drop(alone);
}

impl Inner {
    fn close(&mut self) {
        close(&mut self.lower, &self.close_lock);
    }

    /// As [`Database::content`], for a caller that holds the lock.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Sets the first region of the WAL index, or `None` when it is no longer mapped.
    pub fn set_index(&mut self, region: Option<ShmRegion>) {
        self.mark = region.map(GenerationMark::new);
        self.mark_at_refresh = None;
    }
}

/// The state behind the mutex; see [`Database::lock`].
pub struct Inner {
    /// The file below.
    pub lower: LowerFile,
    /// Device and inode, if they are known to belong to the open file.
    pub identity: Option<(u64, u64)>,
    /// Prevents first locks while the file is closed.
    pub(crate) close_lock: Arc<CloseLock>,
    /// SQLite's lock on the file.
    pub level: LockLevel,
    /// The number of pages, if known and no other connection can change it.
    pub page_count: Option<u32>,
    /// The mark in the WAL index, while that is mapped.
    mark: Option<GenerationMark>,
    /// The mark's value before a reader last read the superblocks.
    mark_at_refresh: Option<u32>,
    content: Content,
    place: SuperblockCopy,
    heads: Option<Heads>,
}

impl Database {
    /// Reads the prefix of a file that was just opened.
    ///
    /// # Errors
    /// See [`VfsError`].
    pub fn open(
        open_guard: OpenGuard,
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
        let host = open_guard.host().clone();
        let identity = identity_of(host.identify, &path, &mut lower);
        let close_lock = close_lock_of(&host, identity, &path);
        let database = Self {
            host,
            settings,
            path,
            config,
            trust: Mutex::new(trust),
            identities,
            inner: Mutex::new(Inner {
                lower,
                identity,
                close_lock,
                level: LockLevel::NONE,
                page_count: None,
                mark: None,
                mark_at_refresh: None,
                content: Content::Empty,
                place: SuperblockCopy::A,
                heads: None,
            }),
            view_no: AtomicU64::new(0),
            file_no: AtomicU64::new(0),
            has_just_moved: AtomicBool::new(false),
            has_log: AtomicBool::new(false),
            wal_write: AtomicBool::new(false),
            _open_guard: open_guard,
            passthrough: FramePassthrough::default(),
            turn: AtomicU64::new(0),
        };
        database.reload(&mut database.lock())?;
        check_expected(&database.settings, &mut database.lock())?;
        Ok(database)
    }

    /// The configuration with which it was opened.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Locks the state that the connection's files share. SQLite makes one call at a time: this
    /// never waits.
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that changes whenever the result of [`Database::content`] changes.
    pub fn view_no(&self) -> u64 {
        self.view_no.load(Ordering::Acquire)
    }

    /// A number that changes when the connection has moved to another file of the same path.
    pub fn file_no(&self) -> u64 {
        self.file_no.load(Ordering::Acquire)
    }

    /// Whether the connection has moved since this was last asked.
    pub fn take_has_just_moved(&self) -> bool {
        self.has_just_moved.load(Ordering::Acquire) && self.has_just_moved.swap(false, Ordering::AcqRel)
    }

    /// Puts another file of the same path in the place of the open one, without any lock.
    pub(crate) fn succeed(&self, inner: &mut Inner, mut lower: LowerFile) -> Predecessor {
        let identity = identity_of(self.host.identify, &self.path, &mut lower);
        let close_lock = close_lock_of(&self.host, identity, &self.path);
        Predecessor {
            content: std::mem::replace(&mut inner.content, Content::Empty),
            heads: inner.heads.take(),
            place: inner.place,
            lower: std::mem::replace(&mut inner.lower, lower),
            identity: std::mem::replace(&mut inner.identity, identity),
            close_lock: std::mem::replace(&mut inner.close_lock, close_lock),
            level: std::mem::replace(&mut inner.level, LockLevel::NONE),
        }
    }

    /// Takes a lock as the first one on the open file.
    pub(crate) fn lock_as_first(&self, inner: &mut Inner, level: LockLevel) -> Result<(), VfsError> {
        let close_lock = inner.close_lock.clone();
        let held_off = close_lock.lock_for_first_lock();
        inner.lower.lock(level.0)?;
        drop(held_off);
        inner.level = level;
        Ok(())
    }

    /// Reads the file that took the place of another. Returns whether the connection goes on in it: it is an encrypted
    /// database and the other one is not, or the reverse; or it is any database, and the connection `is_told`.
    ///
    /// # Errors
    /// The reason why it is refused.
    pub(crate) fn look_at_successor(
        &self,
        inner: &mut Inner,
        predecessor: &Predecessor,
        is_told: bool,
    ) -> Result<bool, VfsError> {
        self.reload(inner)?;
        check_expected(&self.settings, inner)?;
        let is_taken = match (&predecessor.content, &inner.content) {
            (Content::Plain, Content::Sealed(_)) | (Content::Sealed(_), Content::Plain) => true,
            (_, Content::Plain | Content::Sealed(_)) => is_told,
            (_, Content::Empty) => false,
        };
        if is_taken {
            self.file_no.fetch_add(1, Ordering::AcqRel);
            self.has_just_moved.store(true, Ordering::Release);
        }
        Ok(is_taken)
    }

    /// Closes the file that was replaced.
    pub(crate) fn give_up(&self, mut predecessor: Predecessor) {
        let _ = predecessor.lower.shm_unmap(false);
        let _ = predecessor.lower.unlock(LockLevel::NONE.0);
        predecessor.close();
    }

    /// Returns to the file that was replaced.
    pub(crate) fn take_back(&self, inner: &mut Inner, predecessor: Predecessor) {
        let _ = inner.lower.shm_unmap(false);
        let _ = inner.lower.unlock(LockLevel::NONE.0);
        inner.close();
        inner.lower = predecessor.lower;
        inner.identity = predecessor.identity;
        inner.close_lock = predecessor.close_lock;
        inner.level = predecessor.level;
        inner.heads = predecessor.heads;
        inner.place = predecessor.place;
        self.set_content(inner, predecessor.content);
    }

    /// The kind of the file, as this connection last determined it.
    pub fn content(&self) -> Content {
        self.lock().content.clone()
    }

    /// Notes that this connection is about to take or release locks of the WAL index. `write` is
    /// whether the write lock is taken or released, if it is among them.
    ///
    /// A turn ends with the write lock; and with any other lock that is taken or released without
    /// it, because nothing is being written then. (In exclusive mode SQLite takes no locks, and
    /// when that mode ends it takes a read lock.)
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

    /// The current turn. Two writes to the WAL in one turn may belong to one transaction; what was
    /// written in an earlier turn is committed, or was rolled back and may have been overwritten by
    /// others.
    pub fn turn(&self) -> u64 {
        self.turn.load(Ordering::Acquire)
    }

    /// Notes that the WAL was opened, or closed.
    pub fn set_log(&self, is_open: bool) {
        self.has_log.store(is_open, Ordering::Release);
    }

    /// Whether this connection has the WAL open, with or without shared memory.
    pub fn has_log(&self) -> bool {
        self.has_log.load(Ordering::Acquire)
    }

    /// Whether this connection may change the superblock.
    pub fn holds_write_lock(&self, inner: &Inner) -> bool {
        inner.level >= LockLevel::RESERVED || self.wal_write.load(Ordering::Acquire) || self.settings.takes_no_locks
    }

    /// Writes an error to SQLite's log, keeps it for `selenite_last_error()`, and returns SQLite's
    /// code for it.
    pub fn report(&self, error: &VfsError) -> Code {
        self.host.report(&self.path, error)
    }

    /// Reads the file again if it may have changed, and returns whether it had.
    ///
    /// # Errors
    /// The reason why the file is now refused.
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

    /// As [`Database::refresh`], after the caller took the write lock of the WAL.
    ///
    /// # Errors
    /// The reason why the file is now refused.
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

    /// As [`Database::refresh`], after the caller took a read mark of the WAL. If the superblock is
    /// unchanged, this costs one read of mapped memory.
    ///
    /// # Errors
    /// The reason why the file is now refused.
    pub fn refresh_as_reader(&self, inner: &mut Inner) -> Result<(), VfsError> {
        let (Content::Sealed(view), Some(mark)) = (&inner.content, inner.mark) else {
            return Ok(());
        };
        let value = mark.value();
        if mark.is_of(&view.unlocked.superblock) || (value.is_some() && value == inner.mark_at_refresh) {
            return Ok(());
        }
        inner.mark_at_refresh = None;
        self.refresh(inner)?;
        inner.mark_at_refresh = value;
        Ok(())
    }

    /// Makes an empty file a database, with superblocks that are synced before its first page
    /// (FORMAT 2.6). The caller holds SQLite's write lock.
    ///
    /// # Errors
    /// `NoKey` if there is no identity; errors of the VFS below.
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

    /// Replaces the superblock. The caller holds SQLite's write lock; `change` gets the superblock
    /// that is on disk now.
    ///
    /// # Errors
    /// Those of `change`, and those of the VFS below.
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
        self.complete_interrupted_change(inner)?;
        let Content::Sealed(view) = inner.content.clone() else {
            return Err(VfsError::NotEncrypted("it has no keys to change"));
        };
        let (new, revokes_access) = change(&view.unlocked)?;
        // The new superblock's statement about pages may depend on pages written under
        // `synchronous = OFF`.
        self.host.sync_clock.time(|| inner.lower.sync(SyncFlags::FULL))?;
        let (new, place) = store(&mut inner.lower, inner.place, new, revokes_access)?;
        let is_retired = new.superblock.state == State::Retired;
        self.adopt(inner, new, place)?;
        if let (Content::Sealed(view), Some(mark), false) = (&inner.content, inner.mark, is_retired) {
            mark.set(&view.unlocked.superblock);
        }
        Ok(())
    }

    /// Records in the superblock whether the database has pages, if it says otherwise (FORMAT 3.9).
    ///
    /// # Errors
    /// Those of the VFS below.
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

    /// Checks that the file has the pages that the superblock records: otherwise the file was
    /// truncated (FORMAT 3.9).
    ///
    /// # Errors
    /// `NotEncrypted` if there are none.
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
                // Heads are kept only for a superblock that was adopted: one that is refused now is
                // read and refused again.
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

    /// Opens a superblock. If the master key was renewed, the keyring file on disk has the new one,
    /// and the copy in memory does not.
    fn unlock(&self, bytes: &[u8]) -> Result<Unlocked, VfsError> {
        let mut trust = self.trust();
        match self.host.unlock(bytes, &self.identities, &trust) {
            Err(KeyError::DatabaseReplaced { .. }) => trust.keyring = self.config.load_keyring()?,
            unlocked => return Ok(unlocked?),
        }
        Ok(self.host.unlock(bytes, &self.identities, &trust)?)
    }

    /// Checks the origin of the open database again, without the permissions that only its own URI
    /// gives; `main_origin` is the policy in the main database's URI. The database keeps these
    /// settings.
    ///
    /// # Errors
    /// `ForeignOrigin`, `OriginUnknown`, `PathReplaced` or `NotPinned`: see [`Trust`].
    pub(crate) fn recheck_origin(
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

    /// The requirements on the file's origin.
    fn trust(&self) -> MutexGuard<'_, Trust> {
        self.trust.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `cut-off-is-completed`: completes a change that was interrupted between its two writes: the
    /// superblock that is not in force is rewritten.
    fn complete_interrupted_change(&self, inner: &mut Inner) -> Result<(), VfsError> {
        let Content::Sealed(view) = inner.content.clone() else {
            return Ok(());
        };
        if !other_needs_rewrite(&mut inner.lower)? {
            return Ok(());
        }
        let generation = view.unlocked.superblock.generation.checked_add(1);
        let same = view
            .unlocked
            .with_generation(generation.ok_or(KeyError::GenerationExhausted)?);
        let (same, place) = store(&mut inner.lower, inner.place, same, false)?;
        self.adopt(inner, same, place)
    }

    /// Adopts a superblock that this connection wrote.
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
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).close();
    }
}

fn close_lock_of(host: &Host, identity: Option<(u64, u64)>, path: &str) -> Arc<CloseLock> {
    let file = identity.map_or_else(|| FileId::Path(path.to_owned()), FileId::Inode);
    host.close_locks.of(file)
}

/// `superblock-moves-forward`: while a database is open, its superblock stays that of this
/// database, and its generation never decreases.
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

/// Device and inode of the open file: those of its path, if the VFS below confirms that it is still
/// the same file, and the path did not change meanwhile.
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
