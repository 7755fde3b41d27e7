//! Handing the name of a database over to another one, encrypted or not, while other connections have it open: they move
//! over by themselves (`move_over.rs`).
//!
//! - no-commit-is-lost: the caller holds the write lock of the log throughout, and has copied all that was committed
//!   before.
//! - none-inside: all locks of the index are held when the name changes: no connection is in a transaction. Those that
//!   begin one meanwhile are told to wait (`CLOSING`).
//! - none-comes-in: the byte of PENDING is locked: no connection gets SHARED on it, whatever VFS it uses.
//! - old-is-whole: until the rename the old database is complete without its log: all frames are copied to the file
//!   before the log is emptied, and the index is invalid before that, so that it is read from the log again.
//! - announced-before: the index says so before the rename: connections look at the path from then on.
//! - retired-before: an unencrypted file is marked as retired before it loses its name: a process that opened it without
//!   the extension, and has no lock yet, must not write on in a file without a name, with the new file's log, if this
//!   process is killed. A file with its name is no such file: the mark is taken back (`move_over.rs`, mark-is-taken-back).
//!   A database that no other connection uses is marked in the same way (`announce_alone`).

use super::MainFile;
use super::move_over::{CHECKPOINT_LOCK, LOCK_COUNT, PENDING_BYTE, WRITE_LOCK, silence};
use super::retired_versions::{VERSIONS, VERSIONS_AT, WAL_VERSIONS, before_retired, retired};
use crate::database::Content;
use crate::error::VfsError;
use crate::ffi::{ByteLock, Code, ShmLock, ShmRegion, SyncFlags, descriptors_of, lock_byte_of_description};
use crate::generation_mark::{CLOSING, GONE, MOVED_TO_PLAIN, MOVED_TO_SEALED, set_word_of};
use crate::index_header::{BACKFILLED, IndexHeader, WORD_COUNT};

/// The file of a connection, while its name changes hands. The locks are taken below SQLite: the connection itself is in
/// no transaction.
pub struct HandOver<'a> {
    main: &'a mut MainFile,
    region: ShmRegion,
}

impl<'a> HandOver<'a> {
    /// For the connection of `main`, which has the log's index mapped.
    ///
    /// # Errors
    /// `SettingsMismatch` if it has not, or is in a transaction.
    pub(crate) fn new(main: &'a mut MainFile) -> Result<Self, VfsError> {
        let has_content = !matches!(main.database.content(), Content::Empty);
        let is_idle = main.read_lock.has_shm() && !main.read_lock.is_held();
        match main.region {
            Some(region) if has_content && is_idle => Ok(Self { main, region }),
            Some(_) | None => Err(VfsError::SettingsMismatch(
                "handing over needs a database in WAL mode, outside a transaction",
            )),
        }
    }

    /// Syncs the database file, for less to be synced later.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn sync(&mut self) -> Result<(), VfsError> {
        Ok(self.main.database.lock().lower.sync(SyncFlags::FULL)?)
    }

    /// Takes the write lock. Returns whether it did, or another connection has it.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn try_begin(&mut self) -> Result<bool, VfsError> {
        self.try_lock_index(WRITE)
    }

    /// Releases the write lock.
    pub fn end(&mut self) {
        let release = ShmLock { lock: false, ..WRITE };
        let _ = self.main.database.lock().lower.shm_lock(release);
    }

    /// Lets other connections wait before they begin a transaction.
    pub fn close_doors(&self) {
        let database = &self.main.database;
        database.host.note_handing_over(&database.path, true);
        set_word_of(&self.region, CLOSING);
    }

    /// Whether every frame of the log is in the database file.
    #[must_use]
    pub fn is_log_copied(&self) -> bool {
        let end = IndexHeader::read(&self.region).map(|header| header.frame_count());
        end.is_some() && self.region.word(BACKFILLED) == end
    }

    /// Takes every lock of the index that is left. Returns whether it did, or another connection holds one of them.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn try_take_index(&mut self) -> Result<bool, VfsError> {
        self.try_lock_index(REST)
    }

    fn try_lock_index(&mut self, lock: ShmLock) -> Result<bool, VfsError> {
        match self.main.database.lock().lower.shm_lock(lock) {
            Ok(()) => Ok(true),
            Err(Code::BUSY) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Releases them.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn release_index(&mut self) -> Result<(), VfsError> {
        let release = ShmLock { lock: false, ..REST };
        Ok(self.main.database.lock().lower.shm_lock(release)?)
    }

    /// Keeps every connection from its first lock on the file (`none-comes-in`): each asks for PENDING for a moment.
    /// Returns whether it does, or one is about to have it.
    ///
    /// SQLite's own lock is no way there: os_unix.c refuses it to a file whose index other processes use
    /// (`unixIsSharingShmNode`).
    #[must_use]
    pub fn keep_out(&self) -> bool {
        self.lock_pending(ByteLock::Exclusive)
    }

    /// Of the one open file description that this connection has without doubt: any of this process is as good.
    fn lock_pending(&self, lock: ByteLock) -> bool {
        let inner = self.main.database.lock();
        let descriptor = descriptors_of(inner.identity).min();
        descriptor.is_some_and(|descriptor| lock_byte_of_description(descriptor, PENDING_BYTE, lock))
    }

    /// Makes the index invalid: the next reader reads the log instead. All locks are held.
    pub fn invalidate_index(&self) {
        for word in 0..2 * WORD_COUNT {
            self.region.set_word(word, 0);
        }
    }

    /// Announces the rename that follows, and marks an unencrypted file as retired. All locks are held, and the log is
    /// empty.
    ///
    /// # Errors
    /// Those of the VFS below; the rename must not follow then, and [`HandOver::withdraw`] has to.
    pub fn announce(&self) -> Result<(), VfsError> {
        let word = match self.main.database.content() {
            Content::Sealed(_) => MOVED_TO_PLAIN,
            Content::Plain | Content::Empty => {
                self.check_can_be_marked()?;
                MOVED_TO_SEALED
            }
        };
        set_word_of(&self.region, word);
        let mut inner = self.main.database.lock();
        match inner.content() {
            Content::Plain => retire_plain(&mut inner.lower),
            Content::Sealed(_) | Content::Empty => Ok(()),
        }
    }

    /// Whether the mark could be taken back.
    fn check_can_be_marked(&self) -> Result<(), VfsError> {
        let mut versions = [0; 2];
        self.main.database.lock().lower.read(&mut versions, VERSIONS_AT)?;
        if versions != WAL_VERSIONS || !self.main.has_its_name() {
            return Err(VfsError::SettingsMismatch(
                "handing over needs a database in WAL mode, which has its name",
            ));
        }
        Ok(())
    }

    /// Takes the mark back after a rename that failed.
    ///
    /// # Errors
    /// Those of the VFS below: connections of the VFS take it back.
    pub fn withdraw(&self) -> Result<(), VfsError> {
        match self.main.database.content() {
            Content::Plain => self.main.unretire_plain(),
            Content::Sealed(_) | Content::Empty => Ok(()),
        }
    }

    /// After the rename: deletes the old index, and marks an encrypted file as retired, so that connections that have it
    /// open get an error instead of old data. The name is no longer this file's.
    ///
    /// # Errors
    /// Those of the VFS below; the index is deleted nevertheless.
    pub fn complete(&self) -> Result<(), VfsError> {
        self.main.delete_index();
        set_word_of(&self.region, GONE);
        let database = &self.main.database;
        let mut inner = database.lock();
        if matches!(inner.content(), Content::Plain) {
            // retired-before
            return Ok(());
        }
        database.note_shm_lock(Some(true));
        // The word stays GONE: a connection must find it there whenever this process is killed. A change of the
        // superblock writes its mark in that place.
        inner.set_index(None);
        let retired = database.change_superblock(&mut inner, |unlocked| {
            let mut next = unlocked.with_generation(unlocked.superblock.generation + 1);
            next.retire();
            Ok((next, true))
        });
        inner.set_index(Some(self.region));
        database.note_shm_lock(Some(false));
        retired
    }

    /// Releases the locks but the write lock, and lets connections begin again, before the rename or after
    /// it.
    pub fn open_doors(&self, is_renamed: bool) {
        let database = &self.main.database;
        let mut inner = database.lock();
        if !is_renamed {
            set_word_of(&self.region, silence(inner.content()));
        }
        let _ = inner.lower.shm_lock(ShmLock { lock: false, ..REST });
        drop(inner);
        let _ = self.lock_pending(ByteLock::None);
        database.host.note_handing_over(&database.path, false);
    }
}

/// Marks an unencrypted file before another one takes its name (`is_next`), or takes the mark back after a rename that
/// failed. The connection has EXCLUSIVE, and there is no log. Where files can't be told apart by their names, nothing
/// could take the mark back later: there the file is marked after the rename alone.
///
/// # Errors
/// Those of the VFS below. The rename must not follow then.
pub(crate) fn announce_alone(main: &MainFile, is_next: bool) -> Result<(), VfsError> {
    match main.database.content() {
        Content::Plain if !is_next => main.unretire_plain(),
        Content::Plain if main.has_its_name() => retire_plain(&mut main.database.lock().lower),
        Content::Plain | Content::Sealed(_) | Content::Empty => Ok(()),
    }
}

/// Marks an unencrypted file that is being replaced, or was, unless it is marked.
pub(crate) fn retire_plain(lower: &mut crate::ffi::LowerFile) -> Result<(), VfsError> {
    let mut header = [0; 100];
    lower.read(&mut header, 0)?;
    let versions = [header[18], header[19]];
    if before_retired(&versions).is_some() {
        return Ok(());
    }
    header[VERSIONS].copy_from_slice(&retired(versions));
    // The change counter makes every connection read page 1 again.
    for counter in [24, 92] {
        let bytes = [
            header[counter],
            header[counter + 1],
            header[counter + 2],
            header[counter + 3],
        ];
        let next = u32::from_be_bytes(bytes).wrapping_add(1);
        header[counter..counter + 4].copy_from_slice(&next.to_be_bytes());
    }
    Ok(lower.write(&header, 0)?)
}

/// The write lock of the log.
const WRITE: ShmLock = ShmLock {
    first: WRITE_LOCK,
    count: 1,
    lock: true,
    exclusive: true,
};

/// All locks of the index but that.
const REST: ShmLock = ShmLock {
    first: CHECKPOINT_LOCK,
    count: LOCK_COUNT - 1,
    lock: true,
    exclusive: true,
};
