//! Moving a connection to the database that has taken the name of its own: an encrypted one in the place of an
//! unencrypted one, or the reverse.
//!
//! While SQLite has the database open in WAL mode, it keeps three things: the file, the log, and the addresses of the
//! regions of the log's index. The file and the log are ours to open again; the regions are at addresses of ours
//! (`IndexAlias`), where the regions of the new index then appear. The page size is the same. The number of reserved
//! bytes is not: SQLite takes it from page 1 whenever a transaction begins and no page is cached (`lockBtree` in
//! btree.c).
//!
//! - told-by-the-index: the process that replaces the database writes into its index before (`hand_over.rs`): a
//!   connection that begins a transaction and finds that there looks whether its path has another file. So nothing is
//!   missed, wherever the other process was killed.
//! - cache-is-dropped: SQLite drops its cache of pages if the header of the index is not the one that it knows
//!   (`walIndexTryHdr` in wal.c). The new index may have that one: an empty log's is always the same. So SQLite is shown
//!   a header of random numbers in between: the first lock is only pretended; SQLite compares the header after it, finds
//!   another one, releases the lock and begins again (WAL_RETRY). With the next lock the connection moves.
//! - nothing-by-name: a connection that has not moved must not do anything with the files that have the database's name
//!   now. It gets no lock that a checkpoint or the end of the log needs.
//! - first-lock-moves: a connection that does not use a log moves with its lock on the file. SQLite then compares the
//!   change counter and what follows it with those that it knows, if it ever had that lock, and drops its cache if they
//!   differ (`sqlite3PagerSharedLock` in pager.c): so it is shown random numbers once. Page 1 it reads again, and the
//!   new log's index has another header than the one that it knows of none.
//! - waits-outside-of-SQLite: while a database is replaced, no lock of the index is to be had. `walTryBeginRead` takes
//!   SQLITE_BUSY for a read mark for a race that is over in a moment: it asks a hundred times in ten seconds, and then
//!   returns SQLITE_PROTOCOL, without the application's busy handler. SQLITE_BUSY_RECOVERY for the first read mark it
//!   returns at once, and the busy handler is asked. It asks for that mark first if the index has an empty log's header:
//!   so a connection that has to wait is shown one, that of random numbers, until it is moved or goes back to its index.
//! - looked-again: a process may be stopped after it has looked at the index and before it has its first lock there, for
//!   as long as a replacement takes. With that lock held no replacement can begin (it needs all of them): then the
//!   connection looks again, and gives the lock back if the database was replaced.
//! - only-if-told: any program may give the name to another file. A connection that neither the index nor its own file
//!   (retired) has told so moves only from an unencrypted database to an encrypted one, or the reverse. One that slept
//!   through both ways finds its own kind.
//! - no-log-in-rollback-mode: a connection that has a log open moves only to a database in WAL mode. A hot journal beside
//!   it may be that of a change to WAL mode which was not committed: SQLite looks for one only before it opens a log.
//! - mark-is-taken-back: an unencrypted file is marked as retired before it loses its name (`hand_over.rs`). One that is
//!   marked and has its name was left by a process that was killed in between: SQLite is shown what it was, and the mark
//!   is erased. With PENDING shared meanwhile no other process is about to replace it.
//! - no-log-by-name: a connection whose file has lost its name, and that does not move, opens no log: it would be that of
//!   the file which has the name.
//! - nothing-old-is-read: an encrypted file is retired only after another one has its name. A connection to it that has no
//!   log, and does not move, looks at the name with its first lock: a kill in between leaves a file that is not retired.
//! - index-unlinked: the new database has an index of its own. If the process that replaced the old one was killed
//!   before the old index was deleted, the next connection deletes it, under all its locks and once (`GONE`): two
//!   descriptors of one index in a process would release each other's locks.

use std::ffi::CString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use selenite_format::journal;

use super::MainFile;
use super::retired_versions::{VERSIONS, VERSIONS_AT, before_retired};
use crate::database::{Content, Inner};
use crate::error::VfsError;
use crate::ffi::{
    ByteLock, Code, IndexAlias, KeptName, LockLevel, OpenFlags, ShmLock, ShmRegion, descriptors_of,
    lock_byte_of_description, os_random,
};
use crate::generation_mark::{self, CLOSING, GONE, MOVED_TO_PLAIN, MOVED_TO_SEALED, UNKNOWN};
use crate::index_header;
use crate::own_descriptors;
use crate::role::Role;

/// How often a database is opened again because another file has taken its name.
pub(crate) const REPLACED_MAX: u32 = 16;

/// What a connection needs to move.
pub struct MoveOver {
    name: KeptName,
    flags: OpenFlags,
    alias: IndexAlias,
    stage: Stage,
    /// The locks of the index that are held.
    held: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing has replaced the database, as far as is known.
    Staying,
    /// The last lock was only pretended, or refused: SQLite sees an index of this connection alone.
    Pretending,
    /// The same, but SQLite sees its index again, and finds that the header is another one.
    Returning,
}

impl MoveOver {
    /// For a database that was just opened under that name.
    pub fn new(name: KeptName, flags: OpenFlags) -> Self {
        Self {
            name,
            flags: OpenFlags(flags.0 & !OpenFlags::CREATE.0),
            alias: IndexAlias::default(),
            stage: Stage::Staying,
            held: 0,
        }
    }

    fn note(&mut self, lock: ShmLock) {
        let bits = ((1_u32 << lock.count.clamp(0, LOCK_COUNT)) - 1) << lock.first.clamp(0, LOCK_COUNT);
        if lock.lock {
            self.held |= bits;
        } else {
            self.held &= !bits;
        }
    }
}

/// Registers a connection that was opened with these descriptors ([`own_descriptors::noting`]) as one that moves: by a
/// lock on a byte of the database (`REGISTERED`). Returns whether it is registered.
///
/// None is a descriptor of a closed connection that is used again. If that one did not move, the process is refused.
pub fn register(descriptors: &[i32]) -> bool {
    set_registration(descriptors, ByteLock::Shared)
}

fn set_registration(descriptors: &[i32], lock: ByteLock) -> bool {
    let byte = REGISTERED + u64::from(std::process::id());
    let set = |descriptor: &i32| lock_byte_of_description(*descriptor, byte, lock);
    descriptors.iter().all(set)
}

impl MainFile {
    /// Whether this connection moves if another database takes the name of this one.
    fn may_move(&self) -> bool {
        self.move_over.is_some()
    }

    /// Maps the first region of the index of the database that has the name now.
    ///
    /// The VFS below opens the index by its name, which may be that of the new database's: closing it again must release
    /// no lock that another connection of this process has there. None has opened the new database as long as the gate is
    /// held.
    pub(super) fn map_first_region(&mut self, size: i32, extend: bool) -> Result<Option<ShmRegion>, VfsError> {
        let gate = self.may_move().then(own_descriptors::gate);
        self.move_or_refuse()?;
        let Some(first) = self.database.lock().lower.shm_map(0, size, extend)? else {
            return Ok(None);
        };
        let is_replaced = self.unlink_old_index(&first).map_err(wait_outside)?;
        if !is_replaced && !self.is_left_behind() {
            return Ok(Some(first));
        }
        self.database.lock().lower.shm_unmap(false)?;
        drop(gate);
        self.move_or_refuse()?;
        Ok(self.database.lock().lower.shm_map(0, size, extend)?)
    }

    /// `no-log-by-name`.
    fn move_or_refuse(&mut self) -> Result<(), VfsError> {
        if !self.is_left_behind() || self.move_at_once().map_err(wait_outside)? {
            return Ok(());
        }
        Err(VfsError::Retired)
    }

    /// Gives the region of the VFS below an address of ours, if this connection may have to move.
    pub(super) fn alias(&mut self, number: i32, below: Option<ShmRegion>) -> Result<Option<ShmRegion>, Code> {
        let (Some(over), Some(region)) = (&mut self.move_over, below) else {
            return Ok(below);
        };
        if let Some(shown) = over.alias.add(number, region) {
            return Ok(Some(shown));
        }
        if over.alias.regions().next().is_some() {
            return Err(Code::IOERR_SHMMAP);
        }
        // The index can't be written, or is no shared mapping: the connection stays where it is, and keeps others from
        // replacing the database.
        self.move_over = None;
        // Which of them is its own is no longer known.
        let _gate = own_descriptors::gate();
        let descriptors = own_descriptors::of(Path::new(&self.database.path));
        let _ = set_registration(&descriptors, ByteLock::None);
        Ok(below)
    }

    /// Called when SQLite no longer uses the regions.
    pub(super) fn drop_alias(&mut self) {
        if let Some(over) = &mut self.move_over {
            over.alias = IndexAlias::default();
            over.held = 0;
            over.stage = Stage::Staying;
        }
    }

    /// Notes locks of the index that were taken or released.
    pub(super) fn note_index_lock(&mut self, lock: ShmLock) {
        if let Some(over) = &mut self.move_over {
            over.note(lock);
        }
    }

    /// Called before locks of the index are taken or released. Returns whether there is nothing left to do.
    pub(super) fn move_before(&mut self, lock: ShmLock) -> Result<bool, VfsError> {
        let Some(over) = &self.move_over else { return Ok(false) };
        match over.stage {
            Stage::Pretending if !lock.lock => Ok(true),
            Stage::Pretending if lock != FIRST_READ_MARK => Err(Code::BUSY.into()),
            Stage::Pretending => self.move_or_wait(),
            Stage::Returning if !lock.lock => {
                self.set_stage(Stage::Staying);
                Ok(true)
            }
            Stage::Staying | Stage::Returning if !lock.lock || over.held != 0 => Ok(false),
            Stage::Staying | Stage::Returning => {
                match self.region.and_then(|region| Some((self.said(&region)?, region))) {
                    None => Ok(false),
                    Some((word, _)) if word != CLOSING && self.is_left_behind() => {
                        // nothing-by-name: a checkpoint asks for this lock first. It is retried after a read transaction.
                        if lock.covers(CHECKPOINT_LOCK) {
                            return Err(Code::BUSY.into());
                        }
                        self.pretend().map(|()| true)
                    }
                    Some((_, region)) if self.is_being_replaced(&region) => {
                        if !lock.covers(CHECKPOINT_LOCK) {
                            self.pretend()?;
                        }
                        Err(Code::BUSY.into())
                    }
                    Some(_) => Ok(false),
                }
            }
        }
    }

    fn set_stage(&mut self, stage: Stage) {
        if let Some(over) = &mut self.move_over {
            over.stage = stage;
        }
    }

    /// Called for the first read mark after a lock that was pretended, or refused. Returns whether it is pretended, too
    /// (waits-outside-of-SQLite). SQLite asks for this mark before all others whenever it has read the header of the index:
    /// so it has read the one that it is shown, and finds another one in the index to which this connection goes.
    fn move_or_wait(&mut self) -> Result<bool, VfsError> {
        let index = self.index_below()?;
        if !self.is_left_behind() {
            if self.said(&index).is_some() && self.is_being_replaced(&index) {
                return Err(Code::BUSY_RECOVERY.into());
            }
            let over = self.move_over.as_ref();
            if !over.is_some_and(|over| over.alias.retarget(0, index)) {
                return Err(Code::IOERR_SHMMAP.into());
            }
            self.set_stage(Stage::Returning);
            return Ok(true);
        }
        let moved = self
            .unlink_old_index(&index)
            .and_then(|_| self.move_to_successor(true))
            .map_err(wait_outside)?;
        if !moved {
            return Err(VfsError::Replaced("by a file that this connection can't go on in"));
        }
        Ok(false)
    }

    /// The first region of the index that the open file has.
    fn index_below(&self) -> Result<ShmRegion, VfsError> {
        let first = self.move_over.as_ref().and_then(|over| over.alias.regions().next());
        let (number, size) = first.ok_or(Code::IOERR_SHMMAP)?;
        let size = i32::try_from(size).map_err(|_| Code::IOERR_SHMMAP)?;
        let below = self.database.lock().lower.shm_map(number, size, false)?;
        Ok(below.ok_or(Code::IOERR_SHMMAP)?)
    }

    /// What the index says to a connection that begins a transaction, if anything. That of an encrypted database has its
    /// generation there otherwise.
    fn said(&self, region: &ShmRegion) -> Option<u32> {
        let word = generation_mark::word_of(region)?;
        let is_said = match self.database.content() {
            Content::Plain => word != 0,
            Content::Sealed(_) => (GONE..UNKNOWN).contains(&word),
            Content::Empty => false,
        };
        is_said.then_some(word)
    }

    /// Whether another file now has the database's name.
    fn is_left_behind(&self) -> bool {
        let own = self.database.lock().identity;
        let now = (self.database.host.identify)(Path::new(&self.database.path));
        matches!((own, now), (Some(own), Some(now)) if own != now)
    }

    /// Whether the process that replaces the database still holds the write lock. If not, and it was killed before the
    /// database was replaced, what it said is erased.
    fn is_being_replaced(&self, region: &ShmRegion) -> bool {
        if self.database.host.is_handing_over(&self.database.path) {
            return false;
        }
        let write = ShmLock {
            first: WRITE_LOCK,
            count: 1,
            lock: true,
            exclusive: true,
        };
        if self.database.lock().lower.shm_lock(write).is_err() {
            return true;
        }
        let is_stale = match generation_mark::word_of(region) {
            Some(CLOSING) => true,
            Some(MOVED_TO_SEALED | MOVED_TO_PLAIN) => !self.is_left_behind(),
            Some(_) | None => false,
        };
        let mut inner = self.database.lock();
        if is_stale {
            generation_mark::set_word_of(region, silence(inner.content()));
        }
        let _ = inner.lower.shm_lock(ShmLock { lock: false, ..write });
        false
    }

    /// `cache-is-dropped`.
    fn pretend(&mut self) -> Result<(), VfsError> {
        let Some(region) = self.region else { return Ok(()) };
        // isInit, bigEndCksum and szPage.
        let format = region.word(3).unwrap_or(0);
        let Some(over) = &mut self.move_over else { return Ok(()) };
        let shown = over.alias.blank_first().ok_or(Code::IOERR_SHMMAP)?;
        let mut words = [0; index_header::WORD_COUNT];
        words[0] = index_header::VERSION;
        for word in &mut words[index_header::SALTS - 1..index_header::CHECKSUM] {
            let mut random = [0; 4];
            os_random(&mut random)?;
            *word = u32::from_ne_bytes(random);
        }
        let mut format = format.to_ne_bytes();
        format[0] = 1;
        words[3] = u32::from_ne_bytes(format);
        let sum = index_header::checksum(&words[..index_header::CHECKSUM]);
        words[index_header::CHECKSUM..].copy_from_slice(&sum);
        for (index, word) in words.into_iter().enumerate() {
            shown.set_word(index, word);
            shown.set_word(index_header::WORD_COUNT + index, word);
        }
        over.stage = Stage::Pretending;
        Ok(())
    }

    /// `index-unlinked`.
    pub(super) fn unlink_old_index(&self, region: &ShmRegion) -> Result<bool, VfsError> {
        let word = generation_mark::word_of(region);
        let is_old = match (self.database.content(), word) {
            (Content::Sealed(_), Some(MOVED_TO_SEALED)) | (Content::Plain, Some(MOVED_TO_PLAIN)) => true,
            (_, Some(MOVED_TO_SEALED | MOVED_TO_PLAIN)) => self.is_left_behind(),
            (_, Some(_) | None) => false,
        };
        if !is_old {
            return Ok(false);
        }
        let _gate = own_descriptors::gate();
        let all = ShmLock {
            first: WRITE_LOCK,
            count: LOCK_COUNT,
            lock: true,
            exclusive: true,
        };
        let mut inner = self.database.lock();
        inner.lower.shm_lock(all)?;
        if generation_mark::word_of(region) == word {
            self.delete_index();
            generation_mark::set_word_of(region, GONE);
        }
        inner.lower.shm_lock(ShmLock { lock: false, ..all })?;
        Ok(true)
    }

    /// Deletes the index at the database's path, of which this connection holds all locks.
    pub(super) fn delete_index(&self) {
        if let Ok(path) = CString::new(format!("{}-shm", self.database.path)) {
            let _ = self.database.host.lower.delete(&path, false);
        }
    }

    /// `first-lock-moves`, `nothing-old-is-read`: called after a lock was taken, and before the log is opened.
    pub(super) fn move_or_stay(&mut self) -> Result<(), VfsError> {
        let is_sealed = matches!(self.database.lock().content(), Content::Sealed(_));
        if !is_sealed {
            return self.move_at_once().map(drop);
        }
        if self.is_left_behind() && !self.move_at_once()? {
            return Err(VfsError::Retired);
        }
        Ok(())
    }

    /// `first-lock-moves`. Returns whether it moved.
    pub(super) fn move_at_once(&mut self) -> Result<bool, VfsError> {
        if !self.may_move() || !self.is_left_behind() {
            return Ok(false);
        }
        let is_told = self.is_retired();
        self.move_to_successor(is_told)
    }

    /// Called with what was read from an unencrypted file. Returns whether it is page 1 of a retired one, and the
    /// connection has moved: the page is to be read again.
    pub(super) fn move_from_retired(&mut self, read: &mut [u8], offset: u64) -> Result<bool, VfsError> {
        let Some(versions) = read.get_mut(VERSIONS).filter(|_| offset == 0) else {
            return Ok(false);
        };
        let Some(before) = before_retired(versions) else {
            return Ok(false);
        };
        let is_locked = self.read_lock.level() != LockLevel::NONE;
        if self.has_its_name() {
            versions.copy_from_slice(&before);
            if is_locked {
                self.erase_mark();
            }
            return Ok(false);
        }
        Ok(is_locked && !self.read_lock.has_shm() && self.move_at_once()?)
    }

    pub(super) fn has_its_name(&self) -> bool {
        let own = self.database.lock().identity;
        own.is_some() && own == (self.database.host.identify)(Path::new(&self.database.path))
    }

    /// `mark-is-taken-back`, if it can be written.
    fn erase_mark(&self) {
        // The hand-over of this process has PENDING by the same open file description.
        if self.database.host.is_handing_over(&self.database.path) {
            return;
        }
        let _gate = own_descriptors::gate();
        let identity = self.database.lock().identity;
        let Some(descriptor) = descriptors_of(identity).min() else {
            return;
        };
        if lock_byte_of_description(descriptor, PENDING_BYTE, ByteLock::Shared) {
            let _ = self.unretire_plain();
            let _ = lock_byte_of_description(descriptor, PENDING_BYTE, ByteLock::None);
        }
    }

    /// Takes the mark back that an unencrypted file is retired, unless it has lost its name. Others may write page 1
    /// meanwhile if the database is in WAL mode: it is as long as this connection has SHARED, and they write the same
    /// there.
    pub(super) fn unretire_plain(&self) -> Result<(), VfsError> {
        if !self.has_its_name() {
            return Ok(());
        }
        let mut inner = self.database.lock();
        let mut versions = [0; 2];
        inner.lower.read(&mut versions, VERSIONS_AT)?;
        if let Some(before) = before_retired(&versions) {
            inner.lower.write(&before, VERSIONS_AT)?;
        }
        Ok(())
    }

    /// Whether the connection may move, and holds no lock of the index.
    pub(super) fn holds_no_index_lock(&self) -> bool {
        self.move_over.as_ref().is_some_and(|over| over.held == 0)
    }

    /// `looked-again`: whether the database was replaced before the lock was taken that is held now.
    pub(super) fn was_replaced_meanwhile(&self) -> bool {
        let word = self.region.and_then(|region| self.said(&region));
        word.is_some_and(|word| word != CLOSING) && self.is_left_behind()
    }

    /// Whether the file says that another one has its name (FORMAT 3.10).
    fn is_retired(&self) -> bool {
        let mut inner = self.database.lock();
        match inner.content() {
            Content::Plain => {
                let mut header = [0; 20];
                inner.lower.read(&mut header, 0).is_ok() && before_retired(&header[VERSIONS]).is_some()
            }
            Content::Sealed(_) => self.database.refresh(&mut inner).is_err_and(|error| error.is_retired()),
            Content::Empty => false,
        }
    }

    /// `nothing-by-name`: whether a lock above SHARED has to be refused.
    pub(super) fn is_refused_above_shared(&self) -> bool {
        self.may_move() && self.read_lock.has_shm() && self.is_left_behind()
    }

    /// Opens the file that now has the name, with the lock that is held, and gives the old one up. Returns whether it
    /// did (only-if-told). Until this connection is registered at that file, that one may be replaced, too.
    fn move_to_successor(&mut self, is_told: bool) -> Result<bool, VfsError> {
        for _ in 0..REPLACED_MAX {
            match self.try_successor(is_told) {
                Err(error) if error.is_retired() => {}
                taken => return taken,
            }
        }
        self.try_successor(is_told)
    }

    fn try_successor(&mut self, is_told: bool) -> Result<bool, VfsError> {
        let database = self.database.clone();
        let host = &database.host;
        let Some(over) = &self.move_over else { return Ok(false) };
        self.pool_handle.leave_log();
        let mut inner = database.lock();
        let open = || host.lower.open(Some(over.name.get()), over.flags);
        let ((mut lower, _), descriptors) = own_descriptors::noting(Path::new(&database.path), open)?;
        lower.set_meter(host.meter(&database.settings, &database.path, Role::Main));
        let level = inner.level;
        let predecessor = database.succeed(&mut inner, lower);
        let has_log = over.alias.regions().next().is_some();
        let mut taken = database
            .lock_as_first(&mut inner, level)
            .and_then(|()| database.look_at_successor(&mut inner, &predecessor, is_told))
            .and_then(|is_other| match is_other {
                true => Self::show_new_index(over, &mut inner).map(|()| true),
                false => Ok(false),
            });
        if has_log && matches!(taken, Ok(true)) {
            drop(inner);
            taken = self.check_has_log().map(|()| true);
            inner = database.lock();
        }
        match taken {
            Ok(true) => {
                database.give_up(predecessor);
                if has_log {
                    inner.set_index(self.region);
                }
                self.hides_change_counter = !self.read_lock.has_shm();
                inner.page_count = None;
                drop(inner);
                // It may be moved again. Without being registered, no one does.
                let _ = register(&descriptors);
                if let Some(over) = &mut self.move_over {
                    over.stage = Stage::Staying;
                    over.held = 0;
                }
                self.trailer = None;
                self.change_counter = None;
                self.is_mapped = false;
                host.remark(&database.path, "moved to the database that has taken its name");
                Ok(true)
            }
            Ok(false) | Err(_) => {
                database.take_back(&mut inner, predecessor);
                drop(inner);
                if self
                    .move_over
                    .as_ref()
                    .is_some_and(|over| over.stage == Stage::Pretending)
                {
                    self.pretend()?;
                }
                taken
            }
        }
    }

    /// `no-log-in-rollback-mode`: with SHARED held none leaves WAL mode, and page 1 of the file says which it is, if no
    /// journal restores another one.
    fn check_has_log(&mut self) -> Result<(), VfsError> {
        let mut header = [0; 20];
        self.try_read(&mut header, 0)?;
        if header[19] != 2 {
            return Err(VfsError::Unexpected("it is in rollback mode now: open it again"));
        }
        if self.has_hot_journal() {
            return Err(VfsError::Unexpected(
                "it has a journal that was not rolled back: open it again",
            ));
        }
        Ok(())
    }

    /// As `hasHotJournal` in pager.c, where no connection is in a transaction. The first byte of an encrypted one is 0
    /// (FORMAT 7.1).
    fn has_hot_journal(&self) -> bool {
        let path = format!("{}-journal", self.database.path);
        let mut start = [0; journal::MAGIC.len()];
        match File::open(path).and_then(|mut file| file.read(&mut start)) {
            Ok(size) => start[..size].iter().any(|&byte| byte != 0),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }

    /// Lets the regions that SQLite knows show those of the new index.
    fn show_new_index(over: &MoveOver, inner: &mut Inner) -> Result<(), VfsError> {
        for (number, size) in over.alias.regions() {
            let size = i32::try_from(size).map_err(|_| Code::IOERR_SHMMAP)?;
            let region = inner.lower.shm_map(number, size, true)?.ok_or(Code::IOERR_SHMMAP)?;
            if !over.alias.retarget(number, region) {
                return Err(Code::IOERR_SHMMAP.into());
            }
        }
        Ok(())
    }
}

/// `waits-outside-of-SQLite`: other locks than that of the first read mark are no busy handler's, either.
fn wait_outside(error: VfsError) -> VfsError {
    if matches!(error, VfsError::Lower(Code::BUSY)) {
        return Code::BUSY_RECOVERY.into();
    }
    error
}

/// What the index of such a database says when there is nothing to say.
pub fn silence(content: &Content) -> u32 {
    match content {
        // 0 never recurs (`generation_mark.rs`, readers-do-not-set).
        Content::Sealed(_) => UNKNOWN,
        Content::Plain | Content::Empty => 0,
    }
}

/// PENDING_BYTE (os.h).
pub(super) const PENDING_BYTE: u64 = 0x4000_0000;

/// WAL_READ_LOCK(0), for a reader.
const FIRST_READ_MARK: ShmLock = ShmLock {
    first: 3,
    count: 1,
    lock: true,
    exclusive: false,
};

/// WAL_WRITE_LOCK, WAL_CKPT_LOCK and SQLITE_SHM_NLOCK (sqlite.org/walformat.html, section 2.3).
pub(super) const WRITE_LOCK: i32 = 0;
pub(super) const CHECKPOINT_LOCK: i32 = 1;
pub(super) const LOCK_COUNT: i32 = 8;

/// The first of the bytes whose locks register processes, by process id: behind SQLite's own lock bytes.
pub const REGISTERED: u64 = 0x4001_0000;
