//! SQLite's locks on the database file: whenever one is taken, the file may have changed.
//!
//! - superblock-reread-on-lock: when SHARED, a read mark or the write lock was taken, the
//!   superblocks are checked again (kind-checked-under-lock and generation-before-sealing in
//!   `database.rs`). If that fails, the lock is released.
//! - pages-exist-before-unlock: a transaction that stored the first pages records this before its
//!   lock is released (FORMAT 3.9).
//! - buffer-dropped-at-unlock: frames buffered for the WAL are dropped before its write lock is
//!   released (`Database::turn`).
//! - read-ahead-ends-at-unlock: pages read ahead under a lock are dropped before that lock is
//!   released.

use super::MainFile;
use super::append::Append;
use super::read_lock::has_mark;
use crate::database::{Content, Inner};
use crate::error::VfsError;
use crate::ffi::{Code, LockLevel, ShmLock};
use crate::injected_bugs::{Bug, is_injected};

impl MainFile {
    pub(super) fn try_lock(&mut self, level: LockLevel) -> Result<(), VfsError> {
        self.was_locked = true;
        self.check_lock_before_anchor(level)?;
        self.was_reserved |= level >= LockLevel::RESERVED;
        if level >= LockLevel::RESERVED && self.database.lock().level < LockLevel::RESERVED {
            self.sealer.begin();
        }
        let database = self.database.clone();
        let mut inner = database.lock();
        let before = inner.level;
        if level > LockLevel::SHARED && before == LockLevel::SHARED && self.read_lock.has_shm() {
            drop(inner);
            if self.is_refused_above_shared() {
                return Err(Code::BUSY.into());
            }
            inner = database.lock();
        }
        let close_lock = inner.close_lock.clone();
        let held_off = (before == LockLevel::NONE).then(|| close_lock.lock_for_first_lock());
        inner.lower.lock(level.0)?;
        drop(held_off);
        let was_held = self.read_lock.is_held();
        inner.level = level.max(before);
        inner.page_count = None;
        self.read_lock.set_level(inner.level);
        if !was_held && self.read_lock.is_held() {
            inner.lower.note_transaction(true);
        }
        self.pool_handle.forget();
        self.trailer = None;
        drop(inner);
        let first_shared = before == LockLevel::NONE;
        let first_write = before < LockLevel::RESERVED && level >= LockLevel::RESERVED;
        if let Err(error) = self.enter(first_shared && !self.read_lock.has_shm(), first_shared || first_write) {
            let mut inner = database.lock();
            inner.level = before;
            self.read_lock.set_level(before);
            inner.lower.unlock(before.0)?;
            return Err(error);
        }
        Ok(())
    }

    /// Called after a lock was taken: moves to the database that has taken the name of this one if the connection
    /// `may_move_at_once`, and checks the superblocks (kind-checked-under-lock, generation-before-sealing).
    fn enter(&mut self, may_move_at_once: bool, is_first: bool) -> Result<(), VfsError> {
        if may_move_at_once {
            self.move_or_stay()?;
        }
        if !is_first {
            return Ok(());
        }
        let refreshed = self.database.refresh(&mut self.database.lock());
        match refreshed {
            // It was replaced in between.
            Err(error) if may_move_at_once && error.is_retired() && self.move_at_once()? => {
                self.database.refresh(&mut self.database.lock()).map(drop)
            }
            other => other.map(drop),
        }
    }

    /// Called when the shared memory of a WAL is about to be mapped or unmapped: the journal mode
    /// and the locks change.
    pub(super) fn set_shm(&mut self, has_shm: bool) {
        if self.read_lock.has_shm() != has_shm {
            self.drop_ahead();
            self.region = None;
            self.database.lock().set_index(None);
            self.pool_handle.leave_log();
            self.read_lock.set_shm(has_shm);
        }
    }

    pub(super) fn try_unlock(&mut self, level: LockLevel) -> Result<(), VfsError> {
        self.end_of_append();
        self.end_of_lock();
        let mut inner = self.database.lock();
        if level <= LockLevel::SHARED && inner.level >= LockLevel::RESERVED {
            self.note_pages_before_unlock(&mut inner);
        }
        if level <= LockLevel::SHARED && std::mem::take(&mut self.has_written) {
            inner.lower.note_rollback_commit();
        }
        inner.page_count = None;
        inner.level = level.min(inner.level);
        self.read_lock.set_level(inner.level);
        Ok(inner.lower.unlock(level.0)?)
    }

    /// A committed transaction has nothing buffered (error-before-commit in `append.rs`). One that
    /// was not committed is truncated, or its journal is hot: pages that can't be written then
    /// belong to no transaction.
    fn end_of_append(&mut self) {
        if let Err(error) = self.flush() {
            self.database.report(&error);
            self.append = Append::default();
        }
    }

    /// Enforces `read-ahead-ends-at-unlock`.
    fn end_of_lock(&mut self) {
        if !is_injected(Bug::WindowOutlivesItsLock) {
            self.drop_ahead();
        }
    }

    /// As at the release of a lock, if SQLite takes no locks.
    pub(super) fn note_pages_at_end(&self) {
        self.note_pages_before_unlock(&mut self.database.lock());
    }

    /// A failure here is not a failure of the transaction, which is committed: the next transaction
    /// tries again.
    fn note_pages_before_unlock(&self, inner: &mut Inner) {
        let Content::Sealed(view) = inner.content().clone() else {
            return;
        };
        let may_write = inner.level >= LockLevel::EXCLUSIVE || self.database.settings.takes_no_locks;
        if view.unlocked.superblock.pages_exist || !may_write {
            return;
        }
        let has_pages = inner.lower.size().is_ok_and(|size| view.geometry.page_count(size) > 0);
        if has_pages && let Err(error) = self.database.note_pages(inner, true) {
            self.database.report(&error);
        }
    }

    pub(super) fn try_shm_lock(&mut self, lock: ShmLock) -> Result<(), VfsError> {
        if self.move_before(lock)? {
            return Ok(());
        }
        let is_first = lock.lock && self.holds_no_index_lock();
        match self.take_or_release(lock) {
            // looked-again: SQLite asks again, and then the connection moves.
            Err(error) if is_first && error.is_retired() => return Err(Code::BUSY.into()),
            taken => taken?,
        }
        if is_first && self.was_replaced_meanwhile() {
            self.take_or_release(ShmLock { lock: false, ..lock })?;
            return Err(Code::BUSY.into());
        }
        self.note_index_lock(lock);
        if lock.lock
            && !lock.exclusive
            && has_mark(lock)
            && let Err(error) = self.check_anchor()
        {
            let back = ShmLock { lock: false, ..lock };
            self.take_or_release(back)?;
            self.note_index_lock(back);
            return Err(error);
        }
        Ok(())
    }

    fn take_or_release(&mut self, lock: ShmLock) -> Result<(), VfsError> {
        let takes_write = lock.lock && (lock.covers(WAL_WRITE_LOCK) || lock.covers(WAL_CHECKPOINT_LOCK));
        if lock.exclusive && takes_write {
            self.sealer.begin();
        }
        if !lock.lock && has_mark(lock) {
            self.end_of_lock();
            self.read_lock.note(lock, self.region.as_ref());
        }
        let mut inner = self.database.lock();
        let is_write = lock.exclusive && lock.covers(WAL_WRITE_LOCK);
        if !lock.lock {
            // Before the lock is released: from then on others may write where this connection did
            // (buffer-dropped-at-unlock).
            self.database.note_shm_lock(is_write.then_some(false));
            if is_write {
                self.read_lock.note_end(self.region.as_ref());
            }
            if lock.covers(WAL_CHECKPOINT_LOCK) {
                // SQLite does not send SQLITE_FCNTL_CKPT_DONE after every failure.
                self.database.passthrough.close();
            }
        }
        inner.lower.shm_lock(lock)?;
        if lock.lock {
            let was_held = self.read_lock.is_held();
            self.read_lock.note(lock, self.region.as_ref());
            if !was_held && self.read_lock.is_held() {
                inner.lower.note_transaction(false);
            }
            self.database.note_shm_lock(is_write.then_some(true));
        }
        // generation-before-sealing.
        if lock.lock
            && !lock.exclusive
            && has_mark(lock)
            && let Err(error) = self.database.refresh_as_reader(&mut inner)
        {
            let back = ShmLock { lock: false, ..lock };
            self.read_lock.note(back, None);
            let _ = inner.lower.shm_lock(back);
            return Err(error);
        }
        if lock.exclusive && takes_write {
            inner.page_count = None;
            let refreshed = if is_write {
                self.database.refresh_as_writer(&mut inner)
            } else {
                self.database.refresh(&mut inner)
            };
            if let Err(error) = refreshed {
                self.database.note_shm_lock(is_write.then_some(false));
                let _ = inner.lower.shm_lock(ShmLock { lock: false, ..lock });
                return Err(error);
            }
        }
        Ok(())
    }
}

/// WAL_WRITE_LOCK and WAL_CKPT_LOCK (sqlite.org/walformat.html, section 2.3).
const WAL_WRITE_LOCK: i32 = 0;
const WAL_CHECKPOINT_LOCK: i32 = 1;
