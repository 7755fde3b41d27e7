//! One file's pages in the pool, and which generation of them is the present one.
//!
//! A generation ends with every change of the file's label, by whomever. To let it outlive the
//! checkpoints and transactions of this process's own connections was tried, and left:
//! docs/decisions/0006-page-pool.md.

use std::sync::Arc;

use super::filter::PageAddress;
use super::label::Label;
use super::tables::Tables;
use super::{Pool, lock};
use crate::atomics::{AtomicU64, AtomicUsize, Mutex, Ordering};

/// A file whose pages are in the pool, as long as a connection has it open.
pub struct PooledFile {
    pool: Arc<Pool>,
    number: u32,
    present: Mutex<CurrentGeneration>,
    /// Connections that have the WAL index mapped: a log is another one once the last of them has gone.
    log_users: AtomicUsize,
    /// The present generation, to be looked at without the lock.
    generation: AtomicU64,
}

#[derive(Default)]
struct CurrentGeneration {
    label: Option<Label>,
    /// 0 before the first.
    generation: u64,
}

/// What a connection shares in one read transaction: one generation of a file's pages.
pub struct Share {
    file: Arc<PooledFile>,
    tables: Arc<Tables>,
    generation: u64,
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
    /// label is read under; `look` calls nothing (no-lock-across-calls in `pool.rs`).
    pub fn share(self: &Arc<Self>, look: impl FnOnce() -> Option<Label>) -> Option<Share> {
        let tables = self.pool.tables()?;
        let mut present = lock(&self.present);
        let label = look()?;
        if present.label != Some(label) {
            present.label = Some(label);
            present.generation = self.pool.generations.fetch_add(1, Ordering::SeqCst) + 1;
            self.generation.store(present.generation, Ordering::SeqCst);
        }
        Some(self.share_of(tables, present.generation))
    }

    /// A connection begins to use the log.
    pub fn enter_log(&self) {
        self.log_users.fetch_add(1, Ordering::SeqCst);
    }

    /// A connection that used the log no longer does.
    pub fn leave_log(&self) {
        if self.log_users.fetch_sub(1, Ordering::SeqCst) == 1 && self.pool.is_own_process() {
            lock(&self.present).label = None;
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

    /// Takes in a page that SQLite asked for, and that was not here (requested-pages-only,
    /// admitted-on-second-read in `pool.rs`).
    pub fn offer(&self, page: u32, bytes: &[u8], is_of_scan: bool) {
        if self.is_on() && self.is_present() {
            self.tables.offer(self.key(page), self.generation, bytes, is_of_scan);
        }
    }

    /// Whether who begins to read now would share this.
    fn is_present(&self) -> bool {
        self.file.generation.load(Ordering::Relaxed) == self.generation
    }

    fn is_on(&self) -> bool {
        self.file.pool.is_own_process()
    }

    fn key(&self, page: u32) -> PageAddress {
        PageAddress {
            file: self.file.number,
            page,
        }
    }
}
