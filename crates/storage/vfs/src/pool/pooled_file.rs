//! The pages of one file in the pool, and their current generation.
//!
//! A generation ends with every change of the file's label, by any process. Keeping it across
//! checkpoints and transactions of this process's own connections was tried, and abandoned:
//! docs/decisions/0006-page-pool.md.

use std::sync::Arc;

use super::filter::PageAddress;
use super::label::Label;
use super::tables::Tables;
use super::{Pool, lock};
use crate::atomics::{AtomicU64, AtomicUsize, Mutex, Ordering};

/// A file with pages in the pool, as long as a connection has it open.
pub struct PooledFile {
    pool: Arc<Pool>,
    number: u32,
    present: Mutex<CurrentGeneration>,
    /// Connections that have the WAL index mapped: after the last of them has unmapped it, the log
    /// may be a new one.
    log_users: AtomicUsize,
    /// The current generation, readable without the lock.
    generation: AtomicU64,
}

#[derive(Default)]
struct CurrentGeneration {
    label: Option<Label>,
    /// 0 before the first generation.
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

    /// The generation of the label that `look` returns: the current one, or a new one. The caller
    /// holds the lock under which the label is read; `look` calls neither SQLite nor the VFS below
    /// (no-lock-across-calls in `pool.rs`).
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

    /// Notes that a connection begins to use the log.
    pub fn enter_log(&self) {
        self.log_users.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that a connection no longer uses the log.
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
    /// Copies a page for SQLite, if it is in the pool.
    #[must_use]
    pub fn read(&self, page: u32, out: &mut [u8]) -> bool {
        self.is_on() && self.tables.read(self.key(page), self.generation, out)
    }

    /// Stores a page that SQLite requested, and that was not here (requested-pages-only,
    /// admitted-on-second-read in `pool.rs`).
    pub fn offer(&self, page: u32, bytes: &[u8], is_of_scan: bool) {
        if self.is_on() && self.is_present() {
            self.tables.offer(self.key(page), self.generation, bytes, is_of_scan);
        }
    }

    /// Whether a reader that begins now would share this generation.
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
