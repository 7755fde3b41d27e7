//! This connection's use of the pool: which generation of the file's pages it may share in its read
//! transaction.
//!
//! - generation-per-transaction: the generation is determined at the first page of a read
//!   transaction and dropped with every lock that is released or raised, every write to the file,
//!   every checkpoint and every change of the journal mode.
//! - label-under-lock: in WAL mode a read mark is held meanwhile (`Label::of_log`); without shared
//!   memory SHARED and no more: a connection that is about to write does not use the pool. Without
//!   an observed lock there is no label: immutable, nolock, exclusive WAL.

use std::sync::Arc;

use selenite_cipher::{PageNo, TRAILER_SIZE};
use selenite_format::Geometry;

use super::MainFile;
use crate::database::Content;
use crate::ffi::LockLevel;
use crate::pool::FileKey;
use crate::pool::label::Label;
use crate::pool::pooled_file::{PooledFile, Share};

/// A connection's handle of the pool.
#[derive(Default)]
pub struct PoolHandle {
    file: Option<Arc<PooledFile>>,
    /// The view under which it attached to the pool.
    view_no: u64,
    /// The superblock's generation.
    superblock_generation: u64,
    present: TransactionShare,
    /// Whether the pooled file counts this connection among the users of the log.
    uses_log: bool,
}

#[derive(Default)]
enum TransactionShare {
    /// Not determined yet.
    #[default]
    Unknown,
    /// There is no label.
    Off,
    On(Share),
}

impl PoolHandle {
    /// Enforces `generation-per-transaction`.
    pub fn forget(&mut self) {
        self.present = TransactionShare::Unknown;
    }

    /// Notes that the log is no longer used: its index was unmapped.
    pub fn leave_log(&mut self) {
        self.forget();
        if let Some(file) = &self.file
            && std::mem::take(&mut self.uses_log)
        {
            file.leave_log();
        }
    }

    fn use_log(&mut self) {
        if let Some(file) = &self.file
            && !std::mem::replace(&mut self.uses_log, true)
        {
            file.enter_log();
        }
    }
}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        self.leave_log();
    }
}

impl MainFile {
    /// Reads a page from the pool, and returns whether it was there.
    pub(super) fn read_pooled(&mut self, number: PageNo, out: &mut [u8], geometry: Geometry) -> bool {
        // SQLite reads page 1 before it knows that there is a log (`lockBtree`): it is not in the
        // pool.
        if number == PageNo(1) {
            return false;
        }
        if matches!(self.pool_handle.present, TransactionShare::Unknown) {
            self.find_share(geometry);
        }
        let TransactionShare::On(share) = &self.pool_handle.present else {
            return false;
        };
        let hit = share.read(number.0, out);
        self.sealer.count_pool(hit);
        hit
    }

    /// Offers a page that was read for SQLite to the pool.
    pub(super) fn offer(&self, number: PageNo, bytes: &[u8], is_of_scan: bool) {
        if let TransactionShare::On(share) = &self.pool_handle.present
            && number != PageNo(1)
        {
            share.offer(number.0, bytes, is_of_scan);
        }
    }

    /// Determines what this read transaction shares: nothing without a label, a pool or a lock.
    fn find_share(&mut self, geometry: Geometry) {
        let is_reader = self.read_lock.is_held() && (self.read_lock.has_shm() || self.level() == LockLevel::SHARED);
        if is_reader {
            self.pool_handle.present = match self.share(geometry) {
                Some(share) => TransactionShare::On(share),
                None => TransactionShare::Off,
            };
        }
    }

    fn share(&mut self, geometry: Geometry) -> Option<Share> {
        self.attach_pool()?;
        let generation = self.pool_handle.superblock_generation;
        if self.read_lock.has_shm() {
            self.pool_handle.use_log();
            let region = self.region?;
            return self
                .pool_handle
                .file
                .as_ref()?
                .share(|| Label::of_log(generation, &region));
        }
        let label = Label::of_trailer(generation, self.trailer(geometry)?);
        self.pool_handle.file.as_ref()?.share(|| Some(label))
    }

    /// Attaches to the file's pages in the pool, and again if the keys have changed.
    fn attach_pool(&mut self) -> Option<()> {
        if !self.database.host.pool.is_on() {
            return None;
        }
        let view_no = self.database.view_no();
        if self.pool_handle.file.is_some() && self.pool_handle.view_no == view_no {
            return Some(());
        }
        let Content::Sealed(view) = self.database.content() else {
            return None;
        };
        let superblock = &view.unlocked.superblock;
        let settings = &self.database.settings;
        let key = FileKey {
            file: self.database.lock().identity?,
            database: superblock.database_id,
            rights: (settings.allow_plain, settings.allow_deprecated),
        };
        self.pool_handle.leave_log();
        self.pool_handle.superblock_generation = superblock.generation;
        self.pool_handle.view_no = view_no;
        self.pool_handle.file = Some(self.database.host.pool.join(key));
        Some(())
    }

    /// The trailer of page 1: as read by SQLite's check of the change counter under this lock, or
    /// read now.
    fn trailer(&mut self, geometry: Geometry) -> Option<[u8; TRAILER_SIZE]> {
        if self.trailer.is_none() {
            let mut trailer = [0; TRAILER_SIZE];
            let place = super::read::trailer_place(geometry);
            self.database.lock().lower.read(&mut trailer, place).ok()?;
            self.trailer = Some(trailer);
        }
        self.trailer
    }

    fn level(&self) -> LockLevel {
        self.read_lock.level()
    }
}
