//! One file's pages in the pool, and which generation of them is the present one.
//!
//! Beside foreign changes, each of which makes a new generation, there are four of our own which the generation outlives.
//! To see why, be a page of the generation *stale* if its bytes are not what the file holds now. What holds at any moment
//! at which the label that was noted is the file's:
//!
//! Q.  Every page that is stale has a committed frame in the log above nBackfill. Who begins to read now finds a frame of
//!     it (`walFindFrame`, from `minFrame` to `mxFrame`), and does not ask the file for it. (`label.rs` shows Q where the
//!     label was left and has come back.)
//! R.  A page that a connection in a read transaction asks the file for is the same from the beginning to the end of the
//!     transaction (A3 in `main_file/read_ahead.rs`). So whoever is in the generation already, with whatever snapshot,
//!     asks for no page that a checkpoint writes meanwhile, and puts none in: what it read before and offers after is
//!     what the file holds.
//!
//! O1. *Our own checkpoint.* Between taking WAL_CKPT_LOCK exclusively and giving it back nobody else writes the file
//!     (`sqlite3WalCheckpoint`). If at the first moment the file's label is the one noted, Q holds then. Every page that
//!     is written is suspended before it is written, and is put in again after, as it was written, or forgotten: it is
//!     not stale. By R nobody else puts it in. nBackfill rises only after all newest frames up to mxSafeFrame were copied
//!     (`walCheckpoint`): a stale page's frame was copied, and the page is not stale any more, or a newer one lies above
//!     mxSafeFrame. After an error nBackfill stays, and the frames are still above it. So Q holds all the time, whatever
//!     else the label does: others that append or begin the log anew (only when nBackfill is mxFrame: by Q no page is
//!     stale then) do not write the file; SQLITE_CHECKPOINT_TRUNCATE does the same under this lock. Therefore who looks
//!     at the label meanwhile joins the generation, and the label that is found at the end, before the lock is given
//!     back, is noted for it. Where the checkpoint cuts the file the generation ends: its pages may come back unwritten.
//!     (A frame of a page beyond the database's end is not copied; nobody asks for that page before it is written again.)
//! O2. *Our own restart of the log.* `walRestartLog`: the connection holds WAL_WRITE_LOCK, and WAL_READ_LOCK(0), which
//!     keeps all checkpoints from writing the file, and takes WAL_READ_LOCK(1) to (4) exclusively. If the label noted is
//!     the file's then, and the label at the moment before they are given back is that of the log begun anew (salt 1 is
//!     one more, nothing is in it), Q holds for it: nBackfill was mxFrame, so no page was stale, and none has become so.
//! O3. *Our own first commit to an empty log*, which gives it its salts (`walFrames`). The connection holds WAL_WRITE_LOCK, so
//!     that nobody else recovers or begins the log. If at the first moment the label noted is the file's and that of an
//!     empty log, no page is stale then; if before the lock goes nBackfill is 0, whatever a checkpoint may have copied
//!     since is in this log, above nBackfill: Q holds.
//! O4. *Our own transaction in rollback mode.* Whoever writes the file holds EXCLUSIVE, and nobody else reads or writes
//!     meanwhile. If the trailer of page 1 at the first moment is the one noted, nobody has committed since, and no page
//!     is stale but those that a transaction that was cut short has left behind: they are played back from its journal
//!     before anybody reads, so that they are again what the pool has. All that is written is suspended and renewed as
//!     in O1. If page 1 has another trailer before EXCLUSIVE goes, that is noted: no page is stale then, and should the
//!     journal still be there and be played back by another process, page 1 is among its pages, and gets a third one. If
//!     page 1 is as it was though the file was written (a transaction was rolled back, or could not be: its journal is
//!     hot, and may be played back without page 1), or the file was cut, the generation ends.
//! O5. These moments are looked at under the lock of `Present`, as is a joiner's look at the label in WAL mode: who
//!     finds an own checkpoint under way finds it before WAL_CKPT_LOCK goes. Two connections of one process can't be in
//!     checkpoints of one file at once. Another copy of SQLite can't have the file open (H2 in `host.rs`).
//! O6. Where the generation has changed since such a change began, its end notes nothing.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::label::Label;
use super::shard::PageKey;
use super::tables::Tables;
use super::{Pool, lock};
use crate::planted::{Bug, is_planted};

/// A file whose pages are in the pool, as long as a connection has it open.
pub struct PooledFile {
    pool: Arc<Pool>,
    number: u32,
    present: Mutex<Present>,
    /// Connections that have the WAL index mapped: a log is another one once the last of them has gone.
    log_users: AtomicUsize,
    /// The present generation, to be looked at without the lock.
    generation: AtomicU64,
}

#[derive(Default)]
struct Present {
    label: Option<Label>,
    /// 0 before the first.
    generation: u64,
    /// A checkpoint of our own is under way, in the generation above (O1).
    is_checkpointing: bool,
}

/// What a connection shares in one read transaction or checkpoint: one generation of a file's pages.
pub struct Share {
    file: Arc<PooledFile>,
    tables: Arc<Tables>,
    generation: u64,
}

/// An own change that has begun, and may leave the generation as it is.
pub struct OwnChange {
    /// The generation that it began in.
    pub share: Share,
    /// The label that was noted when it began, and the file's: the same, but for planted bugs.
    before: Label,
    found: Label,
}

impl PooledFile {
    pub(super) fn new(pool: Arc<Pool>, number: u32) -> Self {
        Self {
            pool,
            number,
            present: Mutex::default(),
            log_users: AtomicUsize::new(0),
            generation: AtomicU64::new(0),
        }
    }

    /// The generation of the label that `look` finds: the present one, or a new one. The caller holds the lock that the
    /// label is read under; `look` calls nothing (P4 in `pool.rs`).
    pub fn share(self: &Arc<Self>, look: impl FnOnce() -> Option<Label>) -> Option<Share> {
        let tables = self.pool.tables()?;
        let mut present = lock(&self.present);
        let label = look()?;
        let is_present = present.label.is_some_and(|known| {
            known == label
                || (present.is_checkpointing && known.has_keys_of(label))
                || (is_planted(Bug::PoolOutlivesForeignRestart) && label.is_restart_of(known))
        });
        if !is_present {
            present.label = Some(label);
            present.is_checkpointing = false;
            present.generation = self.pool.generations.fetch_add(1, Ordering::SeqCst) + 1;
            self.generation.store(present.generation, Ordering::SeqCst);
        }
        Some(self.share_of(tables, present.generation))
    }

    /// O1 begins: WAL_CKPT_LOCK was taken.
    pub fn begin_checkpoint(self: &Arc<Self>, look: impl FnOnce() -> Option<Label>) -> Option<OwnChange> {
        self.begin(true, look)
    }

    /// O1 ends: WAL_CKPT_LOCK is about to be given back. With no label, or where the file was cut, the generation does.
    pub fn end_checkpoint(&self, change: &OwnChange, look: impl FnOnce() -> Option<Label>) {
        let mut present = lock(&self.present);
        if present.generation == change.share.generation && present.is_checkpointing {
            present.is_checkpointing = false;
            present.label = look();
        }
    }

    /// O2 begins: the read locks were taken.
    pub fn begin_restart(self: &Arc<Self>, look: impl FnOnce() -> Option<Label>) -> Option<OwnChange> {
        self.begin(false, look)
    }

    /// O2 ends: they are about to be given back.
    pub fn end_restart(&self, change: &OwnChange, look: impl FnOnce() -> Option<Label>) {
        self.end(change, look, Label::is_restart_of);
    }

    /// O3 begins: WAL_WRITE_LOCK was taken.
    pub fn begin_log(self: &Arc<Self>, look: impl FnOnce() -> Option<Label>) -> Option<OwnChange> {
        let is_empty = lock(&self.present).label.is_some_and(Label::is_of_empty_log);
        if is_empty { self.begin(false, look) } else { None }
    }

    /// O3 ends: WAL_WRITE_LOCK is about to be given back.
    pub fn end_log(&self, change: &OwnChange, look: impl FnOnce() -> Option<Label>) {
        self.end(change, look, Label::has_copied_nothing_of);
    }

    /// O4 begins: EXCLUSIVE was taken.
    pub fn begin_commit(self: &Arc<Self>, label: Label) -> Option<OwnChange> {
        self.begin(false, || Some(label))
    }

    /// O4 ends: EXCLUSIVE is about to be given back, and the file was written. Without a label, or where it is the one
    /// that it began with, the generation ends.
    pub fn end_commit(&self, change: &OwnChange, label: Option<Label>) {
        let mut present = lock(&self.present);
        if present.generation == change.share.generation && present.label == Some(change.before) {
            present.label = label.filter(|label| label.is_without_log_as(change.found) && *label != change.found);
        }
    }

    /// Whether a label is noted: else no change of our own can leave the generation as it is.
    pub fn has_label(&self) -> bool {
        lock(&self.present).label.is_some()
    }

    /// A connection begins to use the log.
    pub fn enter_log(&self) {
        self.log_users.fetch_add(1, Ordering::SeqCst);
    }

    /// A connection that used the log no longer does.
    pub fn leave_log(&self) {
        if self.log_users.fetch_sub(1, Ordering::SeqCst) == 1 && self.pool.is_own_process() {
            let mut present = lock(&self.present);
            present.label = None;
            present.is_checkpointing = false;
        }
    }

    /// Where the label that is found is the one noted.
    fn begin(self: &Arc<Self>, is_checkpoint: bool, look: impl FnOnce() -> Option<Label>) -> Option<OwnChange> {
        let tables = self.pool.tables()?;
        let mut present = lock(&self.present);
        let (found, before) = (look()?, present.label?);
        if found != before && !is_planted(Bug::PoolTakesForeignWritesForOwn) {
            return None;
        }
        present.is_checkpointing |= is_checkpoint;
        Some(OwnChange {
            share: self.share_of(tables, present.generation),
            before,
            found,
        })
    }

    /// O2 to O4: where what was noted is still noted, and what is found follows from what was found.
    fn end(
        &self,
        change: &OwnChange,
        look: impl FnOnce() -> Option<Label>,
        follows: impl FnOnce(Label, Label) -> bool,
    ) {
        let mut present = lock(&self.present);
        let is_same = present.generation == change.share.generation && present.label == Some(change.before);
        if let Some(after) = look()
            && is_same
            && follows(after, change.found)
        {
            present.label = Some(after);
        }
    }

    fn share_of(self: &Arc<Self>, tables: Arc<Tables>, generation: u64) -> Share {
        Share {
            file: self.clone(),
            tables,
            generation,
        }
    }
}

impl Drop for PooledFile {
    fn drop(&mut self) {
        if self.pool.is_own_process() {
            self.pool.leave(self.number);
        }
    }
}

impl Share {
    /// Gives a page to SQLite, if it is here.
    #[must_use]
    pub fn read(&self, page: u32, out: &mut [u8]) -> bool {
        self.is_on() && self.tables.read(self.key(page), self.generation, out)
    }

    /// Takes in a page that SQLite asked for, and that was not here (P2, P5 in `pool.rs`).
    pub fn offer(&self, page: u32, bytes: &[u8], is_of_scan: bool) {
        if self.is_on() && self.is_present() {
            self.tables.offer(self.key(page), self.generation, bytes, is_of_scan);
        }
    }

    /// A page is about to be written by a connection of ours; answers whether it is here (O1, O4).
    #[must_use]
    pub fn suspend(&self, page: u32, page_bytes: usize) -> bool {
        self.is_on() && !is_planted(Bug::PoolKeepsWhatIsWritten) && self.tables.suspend(self.key(page), page_bytes)
    }

    /// A page that was suspended was written.
    pub fn renew(&self, page: u32, bytes: &[u8]) {
        if self.is_on() {
            self.tables.renew(self.key(page), self.generation, bytes);
        }
    }

    /// A page that was suspended could not be written: who knows what lies there.
    pub fn forget(&self, page: u32, page_bytes: usize) {
        if self.is_on() {
            self.tables.forget(self.key(page), page_bytes);
        }
    }

    /// Whether who begins to read now would share this.
    fn is_present(&self) -> bool {
        self.file.generation.load(Ordering::Relaxed) == self.generation
    }

    fn is_on(&self) -> bool {
        self.file.pool.is_own_process()
    }

    fn key(&self, page: u32) -> PageKey {
        PageKey {
            file: self.file.number,
            page,
        }
    }
}
