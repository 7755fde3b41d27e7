//! The database file.
//!
//! - sealed-copy: a page is sealed into our buffer, never into SQLite's: that buffer is its page
//!   cache.
//! - header-from-superblock: what SQLite reads before page 1 can be trusted is taken from the
//!   authenticated superblock: page 1 may be torn, and the journal that repairs it not yet read.
//! - nothing-unsealed: only sealed data is written: whole pages, whose last 48 bytes are zero.
//! - gaps-are-sealed: a page that SQLite skips is written as a sealed page of zeros before any page
//!   after it (FORMAT 2.5).
//! - appends-are-buffered: pages after the end of the file are buffered (`append.rs`).
//! - mapped-and-copied: if the application sets `PRAGMA mmap_size`, the VFS below maps the file when
//!   SQLite would, and unmaps it when SQLite says so. A page is copied from the mapping before it is
//!   authenticated: another process may write there meanwhile (docs/decisions/0020-mapped-reads.md).
//! - passthrough-from-log: a page that a checkpoint copies from the WAL is written with the seal
//!   that it has there, if it is identical (`frame_passthrough.rs`).
//!
//! Sealing pages is left to `Sealer`; the kind of the file and changes of keys to [`Database`].

pub(crate) mod anchor_check;
mod append;
mod control;
mod epoch_census;
mod epochs;
pub(crate) mod hand_over;
mod locks;
pub(crate) mod move_over;
mod pages_since;
mod pool_handle;
mod pragma;
mod read;
mod read_ahead;
mod read_lock;
mod retired_versions;
mod snapshot;
pub(crate) mod status;
mod write;

use std::any::Any;
use std::ffi::{CString, c_int};
use std::sync::Arc;

use selenite_cipher::{PageNo, TRAILER_SIZE};
use selenite_keyring::KeyError;
use zeroize::Zeroize;

use crate::database::{Content, Database};
use crate::device;
use crate::error::VfsError;
use crate::ffi::{Code, File, LockLevel, RawControl, ShmLock, ShmRegion, SyncFlags};
use crate::index_header::IndexHeader;
use crate::page_buffer::PageBuffer;
use crate::role::Role;
use crate::sealer::Sealer;
use anchor_check::AnchorCheck;
use append::Append;
pub(crate) use epoch_census::EpochPages;
pub use hand_over::HandOver;
use move_over::MoveOver;
pub use pages_since::PagesSince;
use pool_handle::PoolHandle;
use read_ahead::ReadAhead;
use read_lock::ReadLock;
pub use snapshot::Snapshot;

/// An open database file.
pub struct MainFile {
    /// The state shared with the WAL and the journal.
    pub database: Arc<Database>,
    sealer: Sealer,
    /// The sealed image of the current page.
    image: PageBuffer,
    append: Append,
    read_lock: ReadLock,
    ahead: ReadAhead,
    pool_handle: PoolHandle,
    /// The first region of the WAL index, while it is mapped.
    region: Option<ShmRegion>,
    /// The trailer of page 1, if it was read under the current lock.
    trailer: Option<[u8; TRAILER_SIZE]>,
    /// The opened page, if SQLite reads a part of it.
    page: Vec<u8>,
    /// Bytes 24 to 40 of page 1, and the trailer of the image that contained them: SQLite reads
    /// them at the start of every read transaction in rollback mode.
    change_counter: Option<([u8; TRAILER_SIZE], [u8; 16])>,
    /// For a connection that moves to an encrypted database in the place of this one.
    move_over: Option<MoveOver>,
    /// What it is compared with before its first transaction.
    anchor_check: Option<Box<AnchorCheck>>,
    /// Whether the VFS below was asked to map the file since SQLite last discarded the mapping.
    is_mapped: bool,
    /// Whether a lock was ever asked for.
    was_locked: bool,
    /// Whether SQLite is shown another change counter than that of the file, once (`first-lock-moves`).
    hides_change_counter: bool,
    /// Whether a lock for writing was ever taken.
    was_reserved: bool,
    /// Whether the current transaction in rollback mode has written.
    has_written: bool,
    /// Whether opening the file created it.
    is_made: bool,
    /// Whether it is the target of a VACUUM INTO that was refused.
    is_refused_copy: bool,
    /// Whether `Control::Connection` has been received.
    is_connection_known: bool,
    /// Why all reads and writes fail (see `Control::Connection`). In shared-cache mode this applies
    /// to all connections that share the file, until they have closed it.
    refusal: Option<Refusal>,
}

/// Why an open file is refused once its connection is known.
enum Refusal {
    /// It is attached to a main database on another VFS.
    MainOnOtherVfs,
    /// It is attached, and only the URI in the ATTACH allows its origin.
    Origin(Arc<KeyError>),
}

impl Refusal {
    fn error(&self) -> VfsError {
        match self {
            Self::MainOnOtherVfs => VfsError::MainOnOtherVfs,
            Self::Origin(error) => VfsError::Attached(error.clone()),
        }
    }
}

impl MainFile {
    /// A file that was just opened.
    ///
    /// # Errors
    /// If the system's random number generator fails.
    pub fn new(database: Arc<Database>) -> Result<Self, VfsError> {
        let sealer = Sealer::new(Role::Main)?;
        Ok(Self {
            database,
            sealer,
            image: PageBuffer::default(),
            append: Append::default(),
            read_lock: ReadLock::new(),
            ahead: ReadAhead::default(),
            pool_handle: PoolHandle::default(),
            region: None,
            trailer: None,
            page: Vec::new(),
            change_counter: None,
            move_over: None,
            anchor_check: None,
            is_mapped: false,
            was_locked: false,
            hides_change_counter: false,
            was_reserved: false,
            has_written: false,
            is_made: false,
            is_refused_copy: false,
            is_connection_known: false,
            refusal: None,
        })
    }

    /// Before 3.53 SQLite cannot VACUUM INTO a file whose page size is fixed:
    /// sqlite3BtreeSetPageSize returns SQLITE_READONLY, which becomes SQLITE_NOMEM, an error
    /// without a text. Only VACUUM INTO reads the size of an empty file without any lock
    /// (vacuum.c), and treats an error as "output file already exists": that is SQLITE_ERROR, and
    /// `selenite_last_error()` has the reason. By then it has read the schema of the file, under a
    /// lock. A VFS above this one, such as SQLite's multiplexor, reads the size in its xOpen,
    /// before any lock.
    fn refuse_vacuum_into(&mut self) -> Result<(), VfsError> {
        let is_unlocked = self.was_locked && self.database.lock().level == LockLevel::NONE;
        let host = &self.database.host;
        let takes_no_locks = self.database.settings.takes_no_locks;
        if !is_unlocked || takes_no_locks || self.was_reserved || host.api.version() >= 3_053_000 {
            return Ok(());
        }
        host.advise(
            &self.database.path,
            "nothing was written: VACUUM INTO an encrypted file needs SQLite 3.53; use selenite encrypt --to, or the backup API",
        );
        self.is_refused_copy = true;
        Err(VfsError::Lower(Code::ERROR))
    }

    /// Lets the connection move to an encrypted database that takes the name of this one.
    pub(crate) fn set_move_over(&mut self, move_over: MoveOver) {
        self.move_over = Some(move_over);
    }

    /// The end of the log in the present read transaction; `None` without one, or in rollback mode.
    pub(crate) fn log_end(&self) -> Option<IndexHeader> {
        self.read_lock.log_end().map(|(index, _)| index)
    }

    /// Notes that opening the file created it.
    pub fn note_made(&mut self) {
        self.is_made = true;
    }

    /// Removes the empty file that a refused VACUUM INTO made.
    fn remove_refused_copy(&mut self) {
        let is_ours = self.is_refused_copy && self.is_made && !self.was_reserved;
        if !is_ours || !matches!(self.database.content(), Content::Empty) {
            return;
        }
        let mut inner = self.database.lock();
        if inner.lower.size() == Ok(0)
            && let Ok(path) = CString::new(self.database.path.as_bytes())
        {
            // If this fails, an empty file remains, as without the refusal.
            let _ = self.database.host.lower.delete(&path, false);
        }
    }

    /// Adopts changes of keys and state that other connections made since the last check.
    ///
    /// # Errors
    /// The reason why the database is now refused; the known state then remains.
    pub(crate) fn refresh(&self) -> Result<(), VfsError> {
        let mut inner = self.database.lock();
        match inner.content() {
            Content::Sealed(_) if self.refusal.is_none() => self.database.refresh(&mut inner).map(drop),
            Content::Sealed(_) | Content::Plain | Content::Empty => Ok(()),
        }
    }

    fn try_truncate(&mut self, size: u64) -> Result<(), VfsError> {
        let Some(view) = self.sealer.view(&self.database) else {
            return Ok(self.database.lock().lower.truncate(size)?);
        };
        let pages = size.div_ceil(view.geometry.page_size().as_u64());
        let pages = u32::try_from(pages).map_err(|_| Code::IOERR_TRUNCATE)?;
        self.append.cut(view.geometry.size_for(pages));
        self.flush()?;
        self.drop_ahead();
        let mut inner = self.database.lock();
        if pages == 0 {
            self.database.note_pages(&mut inner, false)?;
        }
        inner.page_count = None;
        Ok(inner.lower.truncate(view.geometry.size_for(pages))?)
    }

    fn try_sync(&mut self, flags: SyncFlags) -> Result<(), VfsError> {
        self.flush()?;
        if self.database.settings.takes_no_locks {
            // No lock marks the end of a transaction.
            self.note_pages_at_end();
        }
        let mut inner = self.database.lock();
        Ok(self.database.host.sync_clock.time(|| inner.lower.sync(flags))?)
    }

    fn try_size(&mut self) -> Result<u64, VfsError> {
        let Some(view) = self.sealer.view(&self.database) else {
            return match self.database.content() {
                Content::Plain => Ok(self.database.lock().lower.size()?),
                Content::Empty => self.refuse_vacuum_into().map(|()| 0),
                Content::Sealed(_) => Ok(0),
            };
        };
        let mut inner = self.database.lock();
        let size = inner.lower.size()?.max(self.append.end());
        let count = view.geometry.page_count(size);
        if count == 0 {
            self.database.check_not_emptied(&mut inner)?;
        }
        Ok(u64::from(count) * view.geometry.page_size().as_u64())
    }
}

impl File for MainFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        self.try_read(out, offset).map_err(|error| self.database.report(&error))
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        self.try_write(data, offset)
            .map_err(|error| self.database.report(&error))
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        self.try_truncate(size).map_err(|error| self.database.report(&error))
    }

    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        self.try_sync(flags).map_err(|error| self.database.report(&error))
    }

    fn size(&mut self) -> Result<u64, Code> {
        self.try_size().map_err(|error| self.database.report(&error))
    }

    fn lock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.try_lock(level).map_err(|error| self.database.report(&error))
    }

    fn unlock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.try_unlock(level).map_err(|error| self.database.report(&error))
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        self.database.lock().lower.check_reserved_lock()
    }

    fn control(&mut self, control: &mut RawControl) -> Result<(), Code> {
        self.try_control(control).map_err(|error| self.database.report(&error))
    }

    fn sector_size(&mut self) -> c_int {
        self.database.lock().lower.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        let is_plain = matches!(self.database.content(), Content::Plain);
        device::characteristics(self.database.lock().lower.device_characteristics(), is_plain)
    }

    fn shm_map(&mut self, region: c_int, size: c_int, extend: bool) -> Result<Option<ShmRegion>, Code> {
        let below = if region == 0 {
            self.set_shm(true);
            let mapped = self.map_first_region(size, extend);
            mapped.map_err(|error| self.database.report(&error))?
        } else {
            self.database.lock().lower.shm_map(region, size, extend)?
        };
        let mapped = self.alias(region, below)?;
        if region == 0 {
            self.region = mapped;
            self.database.lock().set_index(mapped);
        }
        Ok(mapped)
    }

    fn shm_lock(&mut self, lock: ShmLock) -> Result<(), Code> {
        self.try_shm_lock(lock).map_err(|error| self.database.report(&error))
    }

    fn shm_barrier(&mut self) {
        self.database.lock().lower.shm_barrier();
    }

    fn shm_unmap(&mut self, delete: bool) -> Result<(), Code> {
        self.set_shm(false);
        self.drop_alias();
        self.database.lock().lower.shm_unmap(delete)
    }

    fn map(&mut self) -> Result<(), Code> {
        if !self.is_mapped {
            self.database.lock().lower.map()?;
            self.is_mapped = true;
        }
        Ok(())
    }

    fn unmap(&mut self) -> Result<(), Code> {
        self.is_mapped = false;
        self.database.lock().lower.unmap()
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Drop for MainFile {
    fn drop(&mut self) {
        self.remove_refused_copy();
        self.drop_ahead();
        self.page.zeroize();
        if let Some((_, bytes)) = &mut self.change_counter {
            bytes.zeroize();
        }
    }
}

/// Page numbers start at 1, and have SQLite's maximum.
fn page_no(index: u64) -> Result<PageNo, VfsError> {
    u32::try_from(index + 1)
        .map(PageNo)
        .map_err(|_| VfsError::Lower(Code::IOERR_READ))
}
